"""Tests uv and pip behind a proxy that opens every connection with a certificate of its own."""

import os
import socket
import sys
from pathlib import Path

import pytest
import trustme

from installation import steps as steps_module
from installation.problems import ToolFailed, problem_of
from installation.steps import HASHED, Steps
from tests.unit.packaging.card_installation import UV, Index
from tests.unit.packaging.fakes import posix_only
from tests.unit.packaging.intercepting_proxy import intercepting_proxy

pytestmark = posix_only


@pytest.fixture
def index():
    index = Index()
    yield index
    index.close()


@pytest.fixture
def authority():
    return trustme.CA()


@pytest.fixture
def proxy(authority, index):
    port = int(index.url.split(":")[2].partition("/")[0])
    with intercepting_proxy(authority, lambda _host, _port: socket.create_connection(("127.0.0.1", port))) as proxy:
        yield proxy


@pytest.fixture
def env(proxy, tmp_path):
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "HTTPS_PROXY": proxy.url,
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_DEFAULT_INDEX": "https://registry.invalid/simple",
        "PIP_INDEX_URL": "https://registry.invalid/simple",
        "PIP_RETRIES": "0",
    }


def use_bundle(path: Path, monkeypatch, *authorities: trustme.CA) -> None:
    """Lets the system trust these authorities alone."""
    path.write_bytes(b"".join(authority.cert_pem.bytes() for authority in authorities))
    monkeypatch.setattr(steps_module, "BUNDLES", (str(path.with_name("missing.pem")), str(path)))


def install(tool: str, steps: Steps, env, folder: Path, lock: str) -> None:
    folder.mkdir()
    (folder / "lock.txt").write_text(lock)
    command = {
        "uv": [UV, "pip", "install", "--python", sys.executable],
        "pip": [sys.executable, "-m", "pip", "install"],
    }
    steps.run([*command[tool], "--no-deps", *HASHED, "--target", folder, "-r", folder / "lock.txt"], env)


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_the_systems_trust_is_taken_at_the_first_refusal(tool, proxy, index, authority, env, tmp_path, monkeypatch):
    use_bundle(tmp_path / "system.pem", monkeypatch, trustme.CA(), authority)
    steps = Steps(tmp_path / "log", lambda text: None)
    install(tool, steps, env, tmp_path / "first", index.add("one", "1.0"))
    assert (tmp_path / "first" / "one.py").exists()
    refused = proxy.refused
    assert refused >= 1
    install(tool, steps, env, tmp_path / "second", index.add("two", "1.0"))
    assert (tmp_path / "second" / "two.py").exists()
    assert proxy.refused == refused
    assert set(proxy.hosts) == {"registry.invalid"}


@pytest.mark.slow
@pytest.mark.parametrize(("named", "tool"), [("PIP_CERT", "uv"), ("SSL_CERT_FILE", "pip")])
def test_a_file_named_for_one_tool_serves_the_other(named, tool, index, authority, env, tmp_path, monkeypatch):
    use_bundle(tmp_path / "system.pem", monkeypatch, trustme.CA())
    authority.cert_pem.write_to_path(tmp_path / "own.pem")
    steps = Steps(tmp_path / "log", lambda text: None)
    install(tool, steps, {**env, named: str(tmp_path / "own.pem")}, tmp_path / "target", index.add("one", "1.0"))
    assert (tmp_path / "target" / "one.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["uv", "pip"])
def test_what_nobody_trusts_is_refused_in_sentences(tool, index, env, tmp_path, monkeypatch):
    use_bundle(tmp_path / "system.pem", monkeypatch, trustme.CA())
    steps = Steps(tmp_path / "log", lambda text: None)
    with pytest.raises(ToolFailed) as caught:
        install(tool, steps, env, tmp_path / "target", index.add("one", "1.0"))
    problem = problem_of("Installing", caught.value, steps.log)
    assert problem.meaning == "The package registry's certificate is none that this system trusts."
    assert "SSL_CERT_FILE" in problem.remedy and "run the same command again" in problem.remedy
    assert not (tmp_path / "target" / "one.py").exists()
