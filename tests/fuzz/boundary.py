"""What a boundary is to the fuzzer: where its input comes from, and what takes it in."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from hypothesis.strategies import SearchStrategy

from app.untrusted.text import harmless

LONGEST_SENTENCE = 2_000


@dataclass(frozen=True)
class Boundary:
    """One way by which input comes in. `take` gets the input and an empty folder that is the only place where it may
    write. It returns what was told to the user ("" when the input was taken without a word); whatever it raises is a
    defect."""

    name: str
    inputs: SearchStrategy[bytes]
    take: Callable[[bytes, Path], Awaitable[str]]


def check_told(told: str) -> None:
    """Raises AssertionError where what the user is told is not fit to be shown."""
    assert told == harmless(told), f"not harmless: {told[:200]!r}"
    assert len(told) <= LONGEST_SENTENCE, f"too long: {told[:200]!r}"
    assert "Traceback" not in told and "object at 0x" not in told, told[:200]
    assert not told or told.rstrip().endswith((".", ")", "”")), f"no sentence: {told[-200:]!r}"
