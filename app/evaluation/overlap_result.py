"""What `bench overlap` found: what became of each question that was spoken over the app, and the table."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import jiwer
import numpy as np

TAIL_SECONDS = 3.0
"""The talk goes on for so long behind the question: its last word's turn is over by then."""
ALONE_SECONDS = 14.0
"""The app speaks so long alone, to learn the echo's way and to show that it doesn't interrupt itself."""
LATER_SECONDS = 0.0073
"""How much later the echo comes in a second talk with the same devices: they begin at different moments."""
WHOLE = 0.7
"""Share of the clean look's words from which a question counts as heard: tiny.en has one in five otherwise when it
hears the same telephone sentence at another beginning."""


@dataclass(frozen=True, slots=True)
class Place:
    """A room, by `Room`'s arguments."""

    name: str
    room: dict[str, Any]

    @property
    def with_headphones(self) -> Place:
        """The same without an echo."""
        return Place("headphones", {**self.room, "attenuation_db": None})

    @property
    def later(self) -> Place:
        """The same in another talk."""
        delay = self.room["delay_seconds"] + LATER_SECONDS
        return Place("loudspeaker, a talk before", {**self.room, "delay_seconds": delay})


@dataclass(frozen=True, slots=True)
class Asked:
    """A spoken question without silence around it: float32 24 kHz, at `LEVEL_DBFS`; `clean`: one look at it."""

    name: str
    samples: np.ndarray
    clean: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Over:
    """What became of a question. `heard`: the final words of all turns that began with it or later; `sound`: those of
    one look at the microphone's sound as it came to the ears.
    """

    place: Place
    asked: Asked
    at: float
    heard: tuple[str, ...]
    sound: tuple[str, ...]
    interrupted: bool
    itself: int
    """How often the app took something else for the user before the question began."""

    @property
    def vanished(self) -> bool:
        """Whether none of its words came."""
        return self._aligned[1] == 0

    @property
    def beginning_lost(self) -> bool:
        """Whether it came, but without its first word."""
        return not self.vanished and self._aligned[0] > 0

    @property
    def whole(self) -> bool:
        """Whether it came from its first word on, nearly as in the clean look."""
        return self._is_whole(*self._aligned)

    @property
    def sound_whole(self) -> bool:
        """Whether the ears were given it whole."""
        return self._is_whole(*_aligned(self.asked.clean, self.sound))

    @property
    def share(self) -> float:
        """Share of the clean look's words that were heard."""
        return self._aligned[1] / len(self.asked.clean)

    @property
    def _aligned(self) -> tuple[int, int]:
        return _aligned(self.asked.clean, self.heard)

    def _is_whole(self, missing: int, heard: int) -> bool:
        return missing == 0 and heard >= WHOLE * len(self.asked.clean)


def _aligned(clean: tuple[str, ...], heard: tuple[str, ...]) -> tuple[int, int]:
    """Words of the clean look that are missing at its beginning, and those that were heard."""
    if not heard:
        return len(clean), 0
    [pieces] = jiwer.process_words(" ".join(clean), " ".join(heard)).alignments
    missing = 0
    for piece in itertools.takewhile(lambda piece: piece.type != "equal", pieces):
        missing += (piece.ref_end_idx - piece.ref_start_idx) - (piece.hyp_end_idx - piece.hyp_start_idx)
    return max(0, missing), sum(piece.ref_end_idx - piece.ref_start_idx for piece in pieces if piece.type == "equal")


@dataclass(slots=True)
class OverlapResult:
    """What a run of the bench gave."""

    over: list[Over] = field(default_factory=list)
    alone: list[int] = field(default_factory=list)
    """How often the app interrupted itself in each talk in which nobody spoke over it."""

    def table(self) -> str:
        """For people: Markdown."""
        lines = [
            "| spoken over a fresh talk | questions | interrupted | heard whole | beginning lost | vanished |"
            " words | sound whole | itself |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for name, row in self.figures().items():
            lines.append(
                f"| {name} | {row['questions']} | {row['interrupted']} | {row['whole']} | {row['beginning_lost']} |"
                f" {row['vanished']} | {100 * row['words']:.0f} % | {row['sound_whole']} | {row['itself']} |"
            )
        lines += [
            "",
            f"The app interrupted itself {sum(self.alone)} times in {len(self.alone)} talks of "
            f"{ALONE_SECONDS + TAIL_SECONDS:.0f} s over a loudspeaker in which nobody else spoke.",
        ]
        return "\n".join(lines)

    def figures(self) -> dict[str, dict[str, Any]]:
        """By place. `itself`: how often the app interrupted itself."""
        groups: dict[str, list[Over]] = {}
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
        """For programs."""
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
