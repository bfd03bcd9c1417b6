"""What `bench turns` found: which speakers were cut off, how soon after the end the floor was taken, and the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.evaluation.listening import FIRST_SOUND_SECONDS
from app.evaluation.pauses import Case
from app.evaluation.timed_transcriber import DECODE_SECONDS, JUDGE_SECONDS, WORDS_SECONDS

AUDIBLE_SECONDS = 0.2
"""An answer that sounds longer than this into what the speaker goes on to say has audibly cut the speaker off."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A turn that was ended `at` seconds though its speaker went on at `resumed`. `silent_at`: when the answer, which
    sounds from FIRST_SOUND_SECONDS behind the turn's end on, was silenced; None if it was not.
    """

    at: float
    resumed: float
    silent_at: float | None

    @property
    def audible(self) -> bool:
        """Whether the answer sounded into what the speaker went on to say."""
        begin = max(self.resumed, self.at + FIRST_SOUND_SECONDS)
        return self.silent_at is None or self.silent_at - begin > AUDIBLE_SECONDS


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a case. `cuts`: turns that were ended before the true end; `delay`: from the true end to the
    turn's end (None: it never ended); `words`: as they were at that end.
    """

    case: Case
    cuts: tuple[Cut, ...]
    delay: float | None
    words: str
    reason: str = ""

    @property
    def audible(self) -> bool:
        """Whether the speaker was audibly cut off."""
        return any(cut.audible for cut in self.cuts)


@dataclass(slots=True)
class TurnsResult:
    """What a run of the bench gave."""

    heard: list[Heard] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def rows(self) -> list[tuple[str, list[Heard]]]:
        """The groups that the table shows, by name."""
        people = [one for one in self.heard if one.case.speaker]
        spoken = [one for one in self.heard if not one.case.speaker]
        # A question that is whole before the pause may be all: nobody can tell, so these are told apart.
        told = [one for one in spoken if one.case.kind not in ("phrase", "plain")]
        groups: dict[str, list[Heard]] = {}
        for one in told:
            for name in (one.case.voice, one.case.making, f"kind: {one.case.kind}"):
                groups.setdefault(name, []).append(one)
        out = [("**people**", people), ("**synthetic questions and requests**", told), *sorted(groups.items())]
        out.append(("whole before the pause", [one for one in spoken if one.case.kind == "phrase"]))
        out.append(("plain statements", [one for one in spoken if one.case.kind == "plain"]))
        return [(name, group) for name, group in out if group]

    def table(self) -> str:
        """For people: Markdown."""
        lines = [
            "| who and what | turns | cut off | audibly | missed | delay p25, ms | p50 | p75 | p90 |",
            "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
        ]
        for name, group in self.rows():
            f = figures(group)
            lines.append(
                f"| {name} | {f['cases']} | {f['cut_off']} ({100 * f['share']:.1f} %) |"
                f" {f['audible']} ({100 * f['audible_share']:.1f} %) | {f['missed']} |"
                + "".join(f" {1000 * f[key]:.0f} |" for key in ("p25", "p50", "p75", "p90"))
            )
        for sentence in self.left_out:
            lines += ["", sentence]
        return "\n".join(lines)

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "decode_seconds": DECODE_SECONDS,
            "judge_seconds": JUDGE_SECONDS,
            "words_seconds": WORDS_SECONDS,
            "groups": {name.strip("*"): figures(group) for name, group in self.rows()},
            "cut_off": [
                {
                    "case": one.case.name,
                    "text": one.case.text,
                    "at": [round(cut.at, 3) for cut in one.cuts],
                    "audible": one.audible,
                }
                for one in self.heard
                if one.cuts
            ],
            "left_out": self.left_out,
        }


def figures(group: Sequence[Heard]) -> dict[str, Any]:
    """Turns, how many were cut off at least once, and audibly, how many were missed, and the delays in seconds; a turn
    that never ended counts as 9 s.
    """
    delays = [9.0 if one.delay is None else one.delay for one in group]
    cut, audible = sum(bool(one.cuts) for one in group), sum(one.audible for one in group)
    return {
        "cases": len(group),
        "cut_off": cut,
        "share": round(cut / max(1, len(group)), 4),
        "audible": audible,
        "audible_share": round(audible / max(1, len(group)), 4),
        "missed": sum(one.delay is None for one in group),
        **{f"p{q}": round(float(np.quantile(delays, q / 100)), 3) for q in (25, 50, 75, 90)},
    }
