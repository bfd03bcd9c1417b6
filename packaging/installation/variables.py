"""Prepare the environment variables for package tools, the app and the tests."""

from __future__ import annotations

import atexit
import os
import ssl
import tempfile
from collections.abc import Mapping

from installation.system import WINDOWS

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


BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",
)
"""Where Linux distributions keep the certificates that the system trusts."""


def system_certificates(env: Mapping[str, str]) -> dict[str, str]:
    """Return variables with which uv and pip trust what the system, or a file of the user's, trusts.

    By default uv trusts only the certificates that it contains, and so did pip until version 24.2. The certificate of a
    company's proxy is among the system's, or in a file that the user has named for one of the two tools.
    """
    files = [env[name] for name in ("SSL_CERT_FILE", "PIP_CERT") if os.path.isfile(env.get(name, ""))]
    if WINDOWS:
        # uv asks the system; before version 0.10 another variable told it to.
        more = {"UV_SYSTEM_CERTS": "1", "UV_NATIVE_TLS": "1"}
        trusted = ssl.create_default_context().get_ca_certs(binary_form=True)
        texts = ["".join(map(ssl.DER_cert_to_PEM_cert, trusted))]
        names = ["PIP_CERT"]
    else:
        more, texts, names = {}, [], ["SSL_CERT_FILE", "PIP_CERT"]
        files += list(filter(os.path.isfile, BUNDLES))[:1]
    for file in files:
        with open(file, encoding="utf-8", errors="replace") as stream:
            texts.append(stream.read())
    if not any(texts):
        return more
    descriptor, path = tempfile.mkstemp(suffix=".pem")
    atexit.register(os.unlink, path)
    with open(descriptor, "w", encoding="utf-8") as stream:
        stream.write("\n".join(texts))
    return {**more, **dict.fromkeys(names, path)}
