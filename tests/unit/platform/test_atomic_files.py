"""How JSON files are written, which file names Windows takes for devices, and paths that others may have written."""

import json
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from app.backend.base import BackendError
from app.backend.embedded_models import model_file
from app.platform import files
from app.platform.files import delete_file, is_device, is_local_file, move_file, write_json
from tests.support.tables import cases


def test_it_is_written_with_its_folder_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "file.json"
    for value in ({"a": "ä"}, ["half a pair: \ud800"]):
        write_json(path, value)
        assert json.loads(path.read_text("utf-8")) == value and path.read_bytes().endswith(b"\n")
    assert os.listdir(path.parent) == ["file.json"]


class Busy:
    """Makes moving and deleting fail for the first `times`, as if another process had the file open."""

    def __init__(self, times: int) -> None:
        self.times = times

    def __call__(self, act: Callable[..., None]) -> Callable[..., None]:
        def tried(*arguments: object, **options: object) -> None:
            self.times -= 1
            if self.times >= 0:
                raise PermissionError(13, "used by another process")
            act(*arguments, **options)

        return tried


def test_windows_waits_for_a_file_that_somebody_looks_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file.json"
    path.write_text("before")
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "replace", Busy(3)(os.replace))
    write_json(path, {})
    assert path.read_text() == "{}\n" and os.listdir(tmp_path) == ["file.json"]
    monkeypatch.setattr(Path, "unlink", Busy(3)(Path.unlink))
    delete_file(path)
    assert os.listdir(tmp_path) == []


def test_it_does_not_wait_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BUSY_SECONDS", 0.02)
    monkeypatch.setattr(os, "replace", Busy(10**6)(os.replace))
    for system in ("win32", "linux"):
        monkeypatch.setattr(sys, "platform", system)
        with pytest.raises(PermissionError):
            move_file(tmp_path / "a", tmp_path / "b")


@pytest.mark.skipif(sys.platform != "win32", reason="elsewhere an open file can be moved")
def test_a_file_that_is_open_for_a_moment_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text("before")
    reader = path.open("rb")
    threading.Timer(0.2, reader.close).start()
    write_json(path, {})
    assert reader.closed and path.read_text() == "{}\n"


@pytest.mark.parametrize("name", ["CON", "nul", "aux.json", "Com1.txt", "LPT².md", "prn .md", "NUL.tar.gz"])
def test_devices(name: str) -> None:
    assert is_device(name)


@pytest.mark.parametrize("name", ["", "CONsole", "com", "com10", "lpt.txt", "my aux", ".nul", "notes.con"])
def test_files(name: str) -> None:
    assert not is_device(name)


@cases(
    "path",
    "\\\\evil.example\\share\\m.gguf",
    "//evil.example/share/m.gguf",
    "\\/evil.example/share/m.gguf",
    "\\\\?\\UNC\\evil.example\\share\\m.gguf",
    "\\\\.\\pipe\\m.gguf",
    "CON",
    "nul.gguf",
    "C:\\models\\COM1.gguf",
    "/dev/zero",
    "/dev/null",
    "m\0.gguf",
    "",
    ".",
)
def test_what_is_no_file_here_is_no_model(path: str) -> None:
    assert not is_local_file(path)
    if path:
        with pytest.raises(BackendError, match="no model file"):
            model_file(path)


def test_a_file_here_is_one(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    assert is_local_file(tmp_path / "m.gguf") and is_local_file(str(tmp_path / "m.gguf"))
    assert not is_local_file(tmp_path) and not is_local_file(tmp_path / "other.gguf")
