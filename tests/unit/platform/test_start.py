"""Tests a start without standard streams, the C++ runtime on Windows, and a child's environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.platform import standard_streams
from app.platform.children import child_environment, quiet_child, start_lasting
from app.platform.cpp_runtime import add_cpp_runtime
from tests.support.child import run_python
from tests.support.tables import cases

ROOT = Path(__file__).resolve().parents[3]


def _without_streams(*arguments: str) -> int:
    """Runs this Python without standard streams; returns the exit code."""
    if sys.platform == "win32":
        command = [str(Path(sys.executable).with_name("pythonw.exe")), *arguments]
        none = subprocess.STARTUPINFO(dwFlags=subprocess.STARTF_USESTDHANDLES)
        return subprocess.run(command, cwd=ROOT, startupinfo=none, timeout=120).returncode
    command = ["sh", "-c", 'exec "$0" "$@" <&- >&- 2>&-', sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, timeout=120).returncode


REPORT = """
import json, sys, warnings
from pathlib import Path
before = [stream is None for stream in (sys.stdin, sys.stdout, sys.stderr)]
from app.platform.standard_streams import ready_streams
ready_streams()
print("„äöü” …")
print("also here", file=sys.stderr)
warnings.warn("and here")
sys.stdout.buffer.write(b"bytes")
found = [sys.stdin.read(), sys.stdin.buffer.read().decode(), sys.stderr.isatty(), sys.stdin.isatty()]
Path(sys.argv[1]).write_text(json.dumps([before, found, sys.stdout.fileno() >= 0]), "utf-8")
"""


def test_missing_streams_are_replaced(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    assert _without_streams("-c", REPORT, str(report)) == 0
    assert json.loads(report.read_text("utf-8")) == [[True, True, True], ["", "", False, False], True]


@cases("arguments, code", (["--help"], 0), (["replay", "nowhere", "--json"], 2), (["--no-option"], 2))
def test_commands_run_without_streams(arguments: list[str], code: int) -> None:
    assert _without_streams("-m", "app", *arguments) == code


def test_pipes_get_utf_8_whatever_the_code_page_is() -> None:
    script = "from app.platform.standard_streams import ready_streams; ready_streams(); print('„…” → ✓')"
    said = run_python("-X", "utf8=0", "-c", script, env={**os.environ, "PYTHONIOENCODING": "cp1252"}, text=False)
    assert (said.stdout.decode("utf-8").strip(), said.returncode) == ("„…” → ✓", 0)


def test_a_last_sentence_is_shown_only_where_nobody_reads_the_error_output(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    box = type("Box", (), {"MessageBoxW": staticmethod(lambda _owner, text, _title, _kind: shown.append(text))})
    monkeypatch.setattr("ctypes.windll", type("Windll", (), {"user32": box}), raising=False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(standard_streams, "_unseen", False)
    standard_streams.show_unseen("It failed.")
    monkeypatch.setattr(standard_streams, "_unseen", True)
    standard_streams.show_unseen("It failed, unseen.")
    assert shown == ["It failed, unseen."]


NEEDED = ("msvcp140.dll", "msvcp140_1.dll", "vcomp140.dll", "vcruntime140.dll", "vcruntime140_1.dll")
"""What the wheels of soxr, onnxruntime, ctranslate2 and xllamacpp are linked to."""


def test_the_folder_with_the_runtime_is_added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "first" / "shiboken6").mkdir(parents=True)  # of another system: nothing in it
    (tmp_path / "second" / "shiboken6").mkdir(parents=True)
    (tmp_path / "second" / "shiboken6" / "msvcp140.dll").touch()
    added: list[str] = []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "path", [str(tmp_path / "first"), str(tmp_path / "second"), str(tmp_path)])
    monkeypatch.setattr(os, "add_dll_directory", lambda folder: added.append(folder) or folder, raising=False)
    assert add_cpp_runtime() == str(tmp_path / "second" / "shiboken6")
    assert added == [str(tmp_path / "second" / "shiboken6")]


@pytest.mark.skipif(sys.platform != "win32", reason="only Windows lacks its C++ runtime")
def test_pyside6_brings_all_that_is_needed() -> None:
    from shiboken6 import Shiboken

    folder = Path(Shiboken.__file__).parent
    assert [name for name in NEEDED if not (folder / name).is_file()] == []


KEPT = {
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
KEYS = "OPENAI_API_KEY ANTHROPIC_API_KEY HF_TOKEN KAME_KEY_X NVIDIA_API_KEY GGML_TOKEN MY_OWN UV_PUBLISH_TOKEN".split()
OF_THE_NETWORK = {
    "HTTPS_PROXY": "http://proxy",
    "https_proxy": "http://proxy",
    "PIP_INDEX_URL": "https://x",
    "UV_INDEX_X_PASSWORD": "x",
    "UV_KEYRING_PROVIDER": "subprocess",
    "CURL_CA_BUNDLE": "/ca.pem",
}


def test_children_get_what_they_need_and_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {**KEPT, **OF_THE_NETWORK, **dict.fromkeys(KEYS, "secret")}
    assert child_environment(environment=there) == KEPT
    assert child_environment(network=True, environment=there) == {**KEPT, **OF_THE_NETWORK}
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert "OPENAI_API_KEY" not in quiet_child()["env"] and "OPENAI_API_KEY" not in quiet_child(network=True)["env"]
    given: dict[str, str] = {}
    monkeypatch.setattr("subprocess.Popen", lambda command, env, **options: given.update(env))
    start_lasting(["app"])
    assert given["OPENAI_API_KEY"] == "secret" and given["PYTHONIOENCODING"] == "utf-8"
    assert given["PATH"] == os.environ["PATH"]
