"""Hostile input for every boundary."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.boundaries import BOUNDARIES
from tests.fuzz.boundary import Boundary
from tests.fuzz.harness import Defect, Fuzzer, cases_of

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
