"""Tests that no library that the app loads reports its use to a server or a file."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.support.child import run_python

ROOT = Path(__file__).resolve().parents[3]

LOADED = """
import sys
import app
from app.models.locations import default_model
from app.stt.silero import SileroVoiceActivity
from app.stt.pooled import SmartTurn
from app.stt.whisper_decoder import WhisperDecoder
from app.tts.voices import make_voice
SileroVoiceActivity().load()
SmartTurn(default_model("endpointing"))
WhisperDecoder(default_model("stt"))
voice = make_voice().__enter__()
print("loaded", flush=True)
sys.stdin.read()
voice.__exit__(None, None, None)
"""
"""Speech recognition and voice, in processes of their own that end with their standard input."""


REPORTED_AFTER_SECONDS = 12.0
"""It contacts its server 9 s after its import."""


class Proxy:
    """A proxy on loopback that notes what is requested through it."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = threading.Thread(target=self._listen, name="proxy")
        self._thread.start()

    def _listen(self) -> None:
        with self._server:
            while True:
                connection, _ = self._server.accept()
                with connection:
                    if not connection.recv(1):
                        return
                    self.asked.set()

    def close(self) -> None:
        socket.create_connection(self._server.getsockname()).close()  # who asks for nothing ends it
        self._thread.join()


@pytest.fixture
def proxy() -> Iterator[Proxy]:
    one = Proxy()
    yield one
    one.close()


def _environment(home: Path, proxy: Proxy) -> Mapping[str, str]:
    """This process's environment with an empty home and with `proxy` for all connections."""
    # On a machine that says that it is for continuous integration the library is silent by itself.
    silencing = ("ORT_", "HF_HUB_", "DO_NOT_TRACK", "XDG_", "NO_PROXY", "no_proxy", "CI")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(silencing)}
    ways = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
    return {**kept, **dict.fromkeys(ways, proxy.address), "HOME": str(home), "LOCALAPPDATA": str(home)}


def _run(script: str, home: Path, proxy: Proxy, seconds: float) -> bool:
    """Whether a process that runs `script` contacts a server within `seconds` after loading."""
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=ROOT,
        env=_environment(home, proxy),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert child.stdin is not None and child.stdout is not None
    with child:
        assert child.stdout.readline().strip() == b"loaded"
        return proxy.asked.wait(seconds)


@pytest.mark.slow
def test_what_the_app_loads_reports_nothing(tmp_path: Path, proxy: Proxy) -> None:
    assert not _run(LOADED, tmp_path, proxy, REPORTED_AFTER_SECONDS)
    assert list(tmp_path.rglob("*")) == []


@pytest.mark.parametrize("before", ["0", ""])
def test_reports_stay_off_whatever_the_environment_says(before: str) -> None:
    names = ["ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY", "DO_NOT_TRACK"]
    script = f"import os, app; print([os.environ[name] for name in {names}])"
    said = run_python("-c", script, env={**os.environ, **dict.fromkeys(names, before)}, check=True)
    assert said.stdout.strip() == "['1', '1', '1']"
