"""What a child process is given of the environment."""

from __future__ import annotations

import os

import pytest

from app.platform.children import child_environment, quiet_child, start_lasting

NEEDED = {
    "PATH": "/bin",
    "HOME": "/home/ann",
    "LC_ALL": "C.UTF-8",
    "SystemRoot": "C:\\Windows",
    "XDG_RUNTIME_DIR": "/run/user/1",
    "PULSE_SERVER": "unix:/x",
    "CUDA_VISIBLE_DEVICES": "0",
    "XAUTHORITY": "/home/ann/.Xauthority",
    "KAME_DESKTOP_ENVIRONMENT": "/x",
    "WINEPREFIX": "/wine",
    "SPA_PLUGIN_DIR": "/nix/spa",
    "HIP_VISIBLE_DEVICES": "0",
}
KEYS = (
    "OPENAI_API_KEY",
    "ANTHROPIC_API_KEY",
    "HF_TOKEN",
    "KAME_KEY_X",
    "NVIDIA_API_KEY",
    "GGML_TOKEN",
    "MY_OWN",
    "UV_PUBLISH_TOKEN",
)
OF_THE_NETWORK = {
    "HTTPS_PROXY": "http://proxy",
    "https_proxy": "http://proxy",
    "PIP_INDEX_URL": "https://x",
    "UV_INDEX_X_PASSWORD": "x",
    "UV_KEYRING_PROVIDER": "subprocess",
    "CURL_CA_BUNDLE": "/ca.pem",
}


def test_a_child_gets_what_it_needs_and_no_key() -> None:
    there = {**NEEDED, **OF_THE_NETWORK, **dict.fromkeys(KEYS, "secret")}
    assert child_environment(environment=there) == NEEDED
    assert child_environment(network=True, environment=there) == {**NEEDED, **OF_THE_NETWORK}


def test_quiet_children_get_no_key_but_the_app_that_starts_again_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "OPENAI_API_KEY" not in quiet_child()["env"] and "OPENAI_API_KEY" not in quiet_child(network=True)["env"]
    given: dict[str, str] = {}
    monkeypatch.setattr("subprocess.Popen", lambda command, env, **options: given.update(env))
    start_lasting(["app"])
    assert given["OPENAI_API_KEY"] == "secret" and given["PYTHONIOENCODING"] == "utf-8"
    assert given["PATH"] == os.environ["PATH"]
