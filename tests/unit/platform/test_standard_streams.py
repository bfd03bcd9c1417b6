"""Tests that the app starts without any standard stream, as from a shortcut on Windows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.platform import standard_streams

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


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), (["replay", "there is no such folder", "--json"], 2)])
def test_commands_run_without_streams(arguments: list[str], code: int) -> None:
    assert _without_streams("-m", "app", *arguments) == code


def test_a_wrong_option_ends_as_with_a_terminal() -> None:
    assert _without_streams("-m", "app", "--no-such-option") == 2


def test_pipes_get_utf_8_whatever_the_code_page_is() -> None:
    script = "from app.platform.standard_streams import ready_streams; ready_streams(); print('„…” → ✓')"
    said = subprocess.run(
        [sys.executable, "-X", "utf8=0", "-c", script],
        cwd=ROOT,
        capture_output=True,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "cp1252"},
    )
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
