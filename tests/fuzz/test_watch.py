"""What the fuzzer's watch takes for a defect, and what not."""

from __future__ import annotations

import importlib
import sys
import tempfile
from pathlib import Path

import pytest

from tests.fuzz.watch import Watch


def test_a_module_that_is_first_imported_meanwhile_is_no_file_outside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
