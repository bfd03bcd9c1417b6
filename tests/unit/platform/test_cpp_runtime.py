"""Tests that Windows finds the C++ runtime in PySide6."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from app.platform.cpp_runtime import add_cpp_runtime

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


def test_nothing_is_done_where_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert add_cpp_runtime() is None


@pytest.mark.skipif(sys.platform != "win32", reason="only Windows lacks its C++ runtime")
def test_pyside6_brings_all_that_is_needed() -> None:
    from shiboken6 import Shiboken

    folder = Path(Shiboken.__file__).parent
    assert [name for name in NEEDED if not (folder / name).is_file()] == []
