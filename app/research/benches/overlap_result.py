"""Results of `bench overlap`: which questions that were spoken over the app were recognised, and the table."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import jiwer
import numpy as np

from app.diagnostics.tables import markdown

TAIL_SECONDS = 3.0
"""The conversation goes on for this long after the question, so that its turn can end."""
ALONE_SECONDS = 14.0
"""The app speaks alone for this long, to learn the echo path and to show that it doesn't interrupt itself."""
LATER_SECONDS = 0.0073
"""How much later the echo comes in a second talk with the same devices, which start at different moments."""
WHOLE = 0.7
"""Share of the clean pass's words from which a question counts as recognised: tiny.en recognises one word in five
otherwise if the same telephone sentence begins elsewhere."""


@dataclass(frozen=True, slots=True)
class Place:
    """A room, by `Room`'s arguments."""

    name: str
    room: dict[str, Any]

    @property
    def with_headphones(self) -> Place:
        """The same room without an echo."""
        return Place("headphones", {**self.room, "attenuation_db": None})

    @property
    def later(self) -> Place:
        """The same room in a second talk."""
        delay = self.room["delay_seconds"] + LATER_SECONDS
        return Place("loudspeaker, a conversation before", {**self.room, "delay_seconds": delay})


@dataclass(frozen=True, slots=True)
class CleanQuestion:
    """A spoken question without silence around it: float32 24 kHz, at `LEVEL_DBFS`; `clean`: its words as recognised in
    one pass.
    """

    name: str
    samples: np.ndarray
    clean: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question that began at second `at`.

    `heard`: the final words of all turns that began with it or later; `sound`: one pass over the microphone's sound as
    the recogniser received it; `itself`: how often the app took something else for the user before the question.
    """

    place: Place
    asked: CleanQuestion
    at: float
    heard: tuple[str, ...]
    sound: tuple[str, ...]
    interrupted: bool
    itself: int

    @property
    def vanished(self) -> bool:
        """Whether none of its words was recognised."""
        return self._aligned[1] == 0

    @property
    def beginning_lost(self) -> bool:
        """Whether it was recognised without its first word."""
        return not self.vanished and self._aligned[0] > 0

    @property
    def whole(self) -> bool:
        """Whether it was recognised from its first word on, nearly as in the clean pass."""
        return self._is_whole(*self._aligned)

    @property
    def sound_whole(self) -> bool:
        """Whether it is whole in the sound that the recogniser received."""
        return self._is_whole(*_aligned(self.asked.clean, self.sound))

    @property
    def share(self) -> float:
        """Share of the clean pass's words that were recognised."""
        return self._aligned[1] / len(self.asked.clean)

    @property
    def _aligned(self) -> tuple[int, int]:
        return _aligned(self.asked.clean, self.heard)

    def _is_whole(self, missing: int, heard: int) -> bool:
        return missing == 0 and heard >= WHOLE * len(self.asked.clean)


def _aligned(clean: tuple[str, ...], heard: tuple[str, ...]) -> tuple[int, int]:
    """The number of words that are missing at the beginning of `clean`, and of those that were recognised."""
    if not heard:
        return len(clean), 0
    [pieces] = jiwer.process_words(" ".join(clean), " ".join(heard)).alignments
    missing = 0
    for piece in itertools.takewhile(lambda piece: piece.type != "equal", pieces):
        missing += (piece.ref_end_idx - piece.ref_start_idx) - (piece.hyp_end_idx - piece.hyp_start_idx)
    return max(0, missing), sum(piece.ref_end_idx - piece.ref_start_idx for piece in pieces if piece.type == "equal")


@dataclass(slots=True)
class OverlapResult:
    """Outcomes of all questions; `alone`: how often the app interrupted itself in each conversation without a
    question.
    """

    over: list[Outcome] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)

    def table(self) -> str:
        """The result as a Markdown table."""
        head = (
            "spoken over a fresh talk",
            "questions",
            "interrupted",
            "heard whole",
            "beginning lost",
            "vanished",
            "words",
            "sound whole",
            "itself",
        )
        rows = [
            (name, *{**row, "words": f"{100 * row['words']:.0f} %"}.values()) for name, row in self.figures().items()
        ]
        told = (
            f"The app interrupted itself {sum(self.alone)} times in {len(self.alone)} talks of "
            f"{ALONE_SECONDS + TAIL_SECONDS:.0f} s over a loudspeaker in which nobody else spoke."
        )
        return "\n".join([*markdown(head, rows), "", told])

    def figures(self) -> dict[str, dict[str, Any]]:
        """Counts by place, in the order of the table's columns."""
        groups: dict[str, list[Outcome]] = {}
        for one in self.over:
            groups.setdefault(one.place.name, []).append(one)
        return {
            name: {
                "questions": len(group),
                "interrupted": sum(one.interrupted for one in group),
                "whole": sum(one.whole for one in group),
                "beginning_lost": sum(one.beginning_lost for one in group),
                "vanished": sum(one.vanished for one in group),
                "words": round(float(np.mean([one.share for one in group])), 3),
                "sound_whole": sum(one.sound_whole for one in group),
                "itself": sum(one.itself for one in group),
            }
            for name, group in groups.items()
        }

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "places": self.figures(),
            "alone": self.alone,
            "not_whole": [
                {
                    "place": one.place.name,
                    "room": one.place.room,
                    "question": one.asked.name,
                    "at": round(one.at, 2),
                    "clean": " ".join(one.asked.clean),
                    "heard": " ".join(one.heard),
                    "sound": " ".join(one.sound),
                }
                for one in self.over
                if not (one.whole and one.sound_whole)
            ],
        }
