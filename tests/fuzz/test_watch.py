"""What the fuzzer's watch reports as a defect, and what it leaves alone."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

import pytest

from tests.fuzz.watch import Watch


def test_a_late_import_is_not_reported_and_a_file_outside_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "late_module.py").write_text("value = 1\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path / "cache"))
    (tmp_path / "allowed").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "allowed"))
    watch = Watch([tmp_path / "allowed"])
    with watch.watching():
        importlib.import_module("late_module")
    assert watch.found == []
    assert not sys.dont_write_bytecode
    with watch.watching():
        (tmp_path / "outside").write_text("x", "utf-8")
    assert len(watch.found) == 1
