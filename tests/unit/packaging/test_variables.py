"""Tests which environment variables are removed."""

from installation import steps


def test_misleading_variables_are_removed_and_network_settings_kept():
    leaking = {
        "PYTHONHOME": "/x",
        "PYTHONPATH": "/x",
        "VIRTUAL_ENV": "/x",
        "CONDA_PREFIX": "/x",
        "CONDA_DEFAULT_ENV": "base",
        "PIP_TARGET": "/x",
        "PIP_PREFIX": "/x",
        "UV_PYTHON": "3.9",
        "UV_SYSTEM_PYTHON": "1",
        "UV_REQUIRE_HASHES": "1",
        "UV_PYTHON_PREFERENCE": "only-managed",
        "UV_PROJECT_ENVIRONMENT": "/x",
    }
    kept = {
        "PATH": "/bin",
        "HTTPS_PROXY": "proxy:3128",
        "PIP_INDEX_URL": "mirror",
        "UV_INDEX_URL": "mirror",
        "SSL_CERT_FILE": "/c.pem",
        "PIP_CERT": "/c.pem",
        "UV_CACHE_DIR": "/cache",
        "DISPLAY": ":0",
    }
    cleaned = steps.clean_environment({**leaking, **kept, "PIP_USER": "1"})
    assert not leaking.keys() & cleaned.keys()
    assert kept.items() <= cleaned.items()
    assert cleaned["PIP_USER"] == "0"


def test_telemetry_of_onnxruntime_is_off_whatever_was_set():
    assert steps.clean_environment({"ORT_DISABLE_TELEMETRY": "0"})["ORT_DISABLE_TELEMETRY"] == "1"
