"""Results of `bench turns`: which speakers were cut off, how soon after the end the turn ended, and the table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from app.diagnostics.tables import markdown, paragraphs, quantile
from app.research.benches.listening import FIRST_SOUND_SECONDS
from app.research.benches.pauses import Case
from app.research.benches.timed_transcriber import DECODE_SECONDS, HEARING_COSTS, JUDGE_SECONDS, WORDS_SECONDS

AUDIBLE_SECONDS = 0.2
"""An answer that sounds longer than this into what the speaker goes on to say has audibly cut the speaker off."""
NEVER_SECONDS = 9.0
"""The delay of a turn that never ended."""


@dataclass(frozen=True, slots=True)
class Cut:
    """A turn that was ended at second `at` though its speaker went on at `resumed`. `silent_at`: when its answer, which
    sounds from FIRST_SOUND_SECONDS after the turn's end, was silenced; None if it was not.
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
class Outcome:
    """What became of a case. `cuts`: turns that were ended before the true end; `delay`: seconds from the true end to
    the turn's end (None: it never ended); `words`: as they were at that end.
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
class EndpointingResult:
    """Outcomes of all cases; `left_out`: sentences on what is missing."""

    outcomes: list[Outcome] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)

    def rows(self) -> list[tuple[str, list[Outcome]]]:
        """The groups of the table, by name."""
        people = [one for one in self.outcomes if one.case.speaker]
        spoken = [one for one in self.outcomes if not one.case.speaker]
        # After a complete question nobody can know that more follows, so these cases are kept apart.
        clear = [one for one in spoken if one.case.kind not in ("phrase", "plain")]
        groups: dict[str, list[Outcome]] = {}
        for one in clear:
            for name in (one.case.voice, one.case.making, f"kind: {one.case.kind}"):
                groups.setdefault(name, []).append(one)
        out = [("**people**", people), ("**synthetic questions and requests**", clear), *sorted(groups.items())]
        out.append(("whole before the pause", [one for one in spoken if one.case.kind == "phrase"]))
        out.append(("plain statements", [one for one in spoken if one.case.kind == "plain"]))
        return [(name, group) for name, group in out if group]

    def table(self) -> str:
        """The result as a Markdown table."""
        rows = []
        for name, group in self.rows():
            f = figures(group)
            counts = (f"{f[count]} ({100 * f[share]:.1f} %)" for count, share in SHARES)
            delays = (f"{1000 * f[key]:.0f}" for key in ("p25", "p50", "p75", "p90"))
            rows.append((name, f["cases"], *counts, f["missed"], *delays))
        head = ("who and what", "turns", "cut off", "audibly", "missed", "delay p25, ms", "p50", "p75", "p90")
        return "\n".join(
            [*markdown(head, rows), *paragraphs([f"In the sound's own time {HEARING_COSTS}.", *self.left_out])]
        )

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
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
                for one in self.outcomes
                if one.cuts
            ],
            "left_out": self.left_out,
        }


SHARES = (("cut_off", "share"), ("audible", "audible_share"))


def figures(group: Sequence[Outcome]) -> dict[str, Any]:
    """Turns, how many were cut off at least once, and audibly, how many never ended, and the delays in seconds."""
    delays = [NEVER_SECONDS if one.delay is None else one.delay for one in group]
    cut, audible = sum(bool(one.cuts) for one in group), sum(one.audible for one in group)
    return {
        "cases": len(group),
        "cut_off": cut,
        "share": round(cut / max(1, len(group)), 4),
        "audible": audible,
        "audible_share": round(audible / max(1, len(group)), 4),
        "missed": sum(one.delay is None for one in group),
        **{f"p{q}": quantile(delays, q / 100) for q in (25, 50, 75, 90)},
    }
