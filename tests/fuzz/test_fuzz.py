"""Hostile input for every boundary, and what the fuzzer's watch reports as a defect."""

import importlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.boundaries import BOUNDARIES
from tests.fuzz.boundary import Boundary
from tests.fuzz.harness import Defect, Fuzzer, cases_of
from tests.fuzz.watch import Watch

EXAMPLES = 30
each = pytest.mark.parametrize("boundary", BOUNDARIES, ids=lambda boundary: boundary.name)


@pytest.fixture(scope="module")
def fuzzer() -> Iterator[Fuzzer]:
    fuzzer = Fuzzer()
    yield fuzzer
    fuzzer.close()


@each
def test_stands_what_was_found(boundary: Boundary, fuzzer: Fuzzer) -> None:
    for case in cases_of(boundary):
        fuzzer.check(boundary, case.read_bytes())


@pytest.mark.slow
@each
def test_stands_hostile_input(boundary: Boundary, fuzzer: Fuzzer) -> None:
    def on_defect(case: Path, told: str) -> None:
        case.unlink()
        raise Defect(told)

    fuzzer.search(boundary, EXAMPLES, 20, on_defect)
    assert fuzzer.inputs[boundary.name] >= EXAMPLES // 2


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
