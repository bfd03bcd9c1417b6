"""What is said in `bench turns` and where the speaker stops, read from `resources/bench/sayings.json`.

In the texts `|` marks a pause, `|*` a pause that follows a complete question or request whatever the kind of the rest,
and `^` a place where a recording is cut in two. All texts but MT-Bench's questions were written for this bench.
"""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

from app.platform.resources import resource


@dataclass(frozen=True, slots=True)
class Saying:
    """A text that is spoken with a pause between each two of its `parts`.

    `kind` tells where the pauses are: `clause` in the middle of a clause, `um` after a filled hesitation, `phrase`
    where one of them follows a complete question or request, `statement` between a statement and the question or
    request about it; `whole` is a question or a request without a pause, and `plain` a complete statement, with a
    pause inside a clause or without one.
    """

    kind: str
    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The whole text without the pauses."""
        return " ".join(self.parts)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A stretch of one of the bench's own recordings, from second `begin` to `end`, with its text."""

    file: str
    begin: float
    end: float
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """A spoken turn of MT-Bench that the bench's own recordings do not include, by its file name.

    `whole_inside`: those of its stretches (counted from 0) in which the speaker rests after a complete question.
    """

    file: str
    text: str
    whole_inside: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sayings:
    """All texts of the bench. `fresh` was written later: a quarter goes to each of the first two parts, half to the
    third.
    """

    spoken: tuple[Saying, ...]
    fresh: tuple[Saying, ...]
    bench: tuple[Excerpt, ...]
    recorded: tuple[Recorded, ...]


@functools.cache
def sayings() -> Sayings:
    """All texts, in the file's order."""
    found = json.loads(resource("bench", "sayings.json").read_text("utf-8"))
    return Sayings(
        _sayings(found["spoken"]),
        _sayings(found["fresh"]),
        tuple(Excerpt(**entry) for entry in found["bench"]),
        tuple(_recorded(**entry) for entry in found["recorded"]),
    )


def _sayings(kinds: dict[str, list[str]]) -> tuple[Saying, ...]:
    return tuple(
        Saying("phrase" if "|*" in text else kind, tuple(part.strip() for part in text.replace("|*", "|").split("|")))
        for kind, texts in kinds.items()
        for text in texts
    )


def _recorded(file: str, text: str, whole_inside: Any = ()) -> Recorded:
    return Recorded(file, text, tuple(whole_inside))
