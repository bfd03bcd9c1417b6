"""Divides an answer that was heard into what was said, what was taken back, and what was said in its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from app.conversation.correction import taken_back


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive words of an answer, with the space around them.

    `withdrawn`: the voice took them back. `replaces`: it said them in place of those that it took back.
    """

    text: str
    withdrawn: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class CorrectionPoint:
    """The point in an answer at which the voice corrected itself: letter `at`. `newer`: the whole answer that it went
    over to, in its spoken form and its `language`.
    """

    at: int
    newer: str
    language: str


def passages(text: str, begin: int, corrections: Iterable[CorrectionPoint]) -> tuple[Passage, ...]:
    """Divides `text`, whose passages joined are `text` again. From letter `begin` on it is the answer; before that
    there is an opening, which is never taken back.
    """
    points = sorted(corrections, key=lambda one: one.at)
    words = [(match.start(), match.group()) for match in re.finditer(r"\S+\s*", text)]
    withdrawn: set[int] = set()
    for point in points:
        said = [(start, word) for start, word in words if begin <= start < point.at]
        flags = taken_back("".join(word for _, word in said), newer=point.newer, code=point.language)
        withdrawn |= {start for (start, _), taken in zip(said, flags, strict=True) if taken}

    def kind(word: tuple[int, str]) -> tuple[bool, bool]:
        taken = word[0] in withdrawn
        return taken, not taken and any(word[0] >= point.at for point in points)

    out, space = [], ""
    for (taken, replaces), group in groupby(words, key=kind):
        joined = space + "".join(word for _, word in group)
        shown = joined.rstrip() if taken else joined  # a line through a word ends with it
        space = joined[len(shown) :]
        out.append(Passage(shown, taken, replaces))
    return tuple(out)
