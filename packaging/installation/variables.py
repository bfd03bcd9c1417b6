"""Prepare the environment variables for package tools, the app and the tests."""

from __future__ import annotations

from collections.abc import Mapping

# These are meant for another Python. A proxy, a mirror of the package registry, a certificate and a cache stay: without
# them the user's network may not be usable.
LEAKING = frozenset(
    """
    PYTHONHOME PYTHONPATH PYTHONEXECUTABLE PYTHONPLATLIBDIR PYTHONUSERBASE __PYVENV_LAUNCHER__ VIRTUAL_ENV
    VIRTUAL_ENV_PROMPT PIP_TARGET PIP_PREFIX PIP_ROOT PIP_USER PIP_PYTHON PIP_CONSTRAINT PIP_BUILD_CONSTRAINT
    PIP_REQUIREMENT PIP_EDITABLE PIP_REQUIRE_VIRTUALENV PIP_NO_BINARY PIP_ONLY_BINARY PIP_PLATFORM
    PIP_PYTHON_VERSION PIP_DRY_RUN PIP_SRC PIP_IGNORE_INSTALLED PIP_UPGRADE PIP_PRE UV_PYTHON UV_SYSTEM_PYTHON
    UV_TARGET UV_PREFIX UV_PROJECT UV_PROJECT_ENVIRONMENT UV_WORKING_DIR UV_WORKING_DIRECTORY UV_CONSTRAINT
    UV_BUILD_CONSTRAINT UV_OVERRIDE UV_EXCLUDE UV_EXCLUDE_NEWER UV_NO_BINARY UV_NO_BINARY_PACKAGE UV_PRERELEASE
    UV_RESOLUTION UV_TORCH_BACKEND UV_MANAGED_PYTHON UV_NO_MANAGED_PYTHON UV_ENV_FILE UV_PYTHON_PREFERENCE
    UV_REQUIRE_HASHES UV_NO_VERIFY_HASHES
    """.split()
)


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Copy the environment without variables that would lead a package tool or the app to another Python.

    The copy switches onnxruntime's telemetry off: nothing may leave the user's machine.
    """
    kept = {
        name: value
        for name, value in environ.items()
        if name.upper() not in LEAKING and not name.upper().startswith("CONDA_")
    }
    # A configuration file may ask for a user install, which fails inside a virtual environment.
    kept["PIP_USER"] = "0"
    kept["PIP_NO_INPUT"] = "1"
    kept["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    kept["UV_NO_PROGRESS"] = "1"
    kept.setdefault("UV_HTTP_TIMEOUT", "120")
    # onnxruntime reads this while it is imported; its function that switches telemetry off comes too late.
    kept["ORT_DISABLE_TELEMETRY"] = "1"
    return kept
