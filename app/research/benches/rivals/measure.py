"""Asks an assistant one question, and measures its answer by what its loudspeaker plays.

The comparison's figures and table.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import machine, markdown, quantile, rounded
from app.research.benches.reader import normalised, word_distance
from app.research.benches.rivals.process import FLOOR, AssistantProcess


@dataclass(slots=True)
class Measured:
    """One assistant. `processor`: its processor seconds a second of the talk; `model_processor`: the same of the
    language model's server; `memory`: bytes at the end.
    """

    name: str
    what: str
    outcomes: list[Outcome] = field(default_factory=list)
    processor: float = 0.0
    model_processor: float = 0.0
    memory: int = 0
    trouble: str = ""

    def of(self, kind: str) -> list[Outcome]:
        """Its outcomes with one kind of speaker."""
        return [one for one in self.outcomes if one.kind == kind]

    def document(self) -> dict[str, Any]:
        """The figures for JSON."""
        kinds = {kind: figures(self.of(kind)) for kind in dict.fromkeys(one.kind for one in self.outcomes)}
        document: dict[str, Any] = rounded(
            {
                "name": self.name,
                **kinds,
                "processor": self.processor,
                "model_processor": self.model_processor,
                "memory": self.memory,
                "trouble": self.trouble,
                "answers": [one.document() for one in self.outcomes],
            }
        )
        return document


_SHARES = {"first_sound_p50": 0.5, "first_sound_p75": 0.75, "first_sound_worst": 1.0}


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """The figures of one kind of speaker. What begins before the question's end is no quick answer, so its seconds
    don't count.
    """
    sounds = [one.first_sound for one in outcomes if one.first_sound is not None and not one.early]
    seconds = {name: quantile(sounds, share) if sounds else None for name, share in _SHARES.items()}
    return {
        "asked": len(outcomes),
        **seconds,
        "early": sum(one.early for one in outcomes),
        "talked_over": sum(one.talked_over > AUDIBLE_SECONDS for one in outcomes),
        "unanswered": sum(one.first_sound is None and not one.early for one in outcomes),
        "wrong": sum(one.wrong for one in outcomes),
        "words": sum(one.words for one in outcomes),
    }


@dataclass(slots=True)
class RivalsResult:
    """All assistants' figures, in the order in which they were asked. `model`: the language model that all ask."""

    model: str
    measured: list[Measured] = field(default_factory=list)

    def table(self) -> str:
        """The result as a Markdown table, one row for an assistant and a kind of speaker."""
        head: tuple[str, ...] = ("", "who asks", "asked", "first sound p50, s", "p75", "worst", "began before the end")
        head += ("talked over", "no answer", "words wrong, %", "processor s per s", "model's", "memory, MB")
        rows: list[tuple[object, ...]] = []
        for one in self.measured:
            for kind in dict.fromkeys(outcome.kind for outcome in one.outcomes):
                f = figures(one.of(kind))
                rows.append(
                    (
                        *(one.name, kind, f["asked"]),
                        *("–" if f[name] is None else f"{f[name]:.2f}" for name in _SHARES),
                        *(f[name] for name in ("early", "talked_over", "unanswered")),
                        f"{100 * f['wrong'] / max(1, f['words']):.1f}",
                        f"{one.processor:.2f}",
                        f"{one.model_processor:.2f}",
                        round(one.memory / 1e6),
                    )
                )
        lines = [f"Assistants side by side in real time, all with {self.model}, {machine()}", ""]
        lines += markdown(head, rows, text_columns=2)
        lines += ["", *(f"- {one.name}: {one.what}" for one in self.measured)]
        return "\n".join([*lines, *(f"{one.name}: {one.trouble}" for one in self.measured if one.trouble)])

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        return {
            "bench": "rivals",
            "machine": machine(),
            "model": self.model,
            "rivals": [one.document() for one in self.measured],
        }


PATIENCE_SECONDS = 15.0
"""How long a first sound is waited for."""
SETTLE_SECONDS = 2.0
"""Silence after which an answer is over."""
LONGEST_ANSWER = 40.0
AUDIBLE_SECONDS = 0.2
"""A shorter sound over the user is not noticed."""


@dataclass(frozen=True, slots=True)
class Item:
    """Something to ask: float32 24 kHz in which the voice ends at second `end`. `kind`: who speaks."""

    name: str
    kind: str
    text: str
    samples: np.ndarray
    end: float


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds from the question's end: `first_sound`, the first that is heard after it; None without. `early`: it began
    to answer before the end; `talked_over`: for how many seconds. `wrong` of `words` were recognised wrongly.
    """

    item: str
    kind: str
    first_sound: float | None
    early: bool
    talked_over: float
    heard: str
    wrong: int
    words: int

    def document(self) -> dict[str, Any]:
        """The outcome for JSON."""
        document: dict[str, Any] = rounded(asdict(self))
        return document


def ask(process: AssistantProcess, item: Item) -> Outcome:
    """Asks, and waits until the answer is over, no answer comes, or the process has ended."""
    told = len(process.words)
    begin = process.say(item.samples)
    end = begin + item.end
    time.sleep(max(0.0, end - time.perf_counter()))
    sounded = False
    while process.alive:
        time.sleep(0.05)
        now = time.perf_counter()
        sounded = sounded or process.loudspeaker.quiet_for < 0
        waited = now - end
        if waited > LONGEST_ANSWER or (not sounded and waited > PATIENCE_SECONDS):
            break
        if sounded and process.loudspeaker.quiet_for > SETTLE_SECONDS and waited > SETTLE_SECONDS:
            break
    turns = {turn: words.strip() for at, turn, words in process.words[told:] if at >= begin}
    heard = " ".join(turns[turn] for turn in sorted(turns))
    reference = normalised(item.text)
    return Outcome(
        item.name,
        item.kind,
        *_timing(process, begin, end),
        heard,
        word_distance(reference, normalised(heard)),
        len(reference),
    )


def _timing(process: AssistantProcess, begin: float, end: float) -> tuple[float | None, bool, float]:
    """The first sound after the end, whether there was one before it, and for how long."""
    during = np.abs(process.loudspeaker.played(begin + 0.3, end)) > FLOOR
    over = _seconds(during)
    after = np.abs(process.loudspeaker.played(end, time.perf_counter())) > FLOOR
    places = np.flatnonzero(after)
    return (float(places[0]) / SAMPLE_RATE if len(places) else None), over > 0.02, over


def _seconds(loud: np.ndarray) -> float:
    """How long something sounds, in blocks of 20 ms."""
    block = SAMPLE_RATE // 50
    return float(loud[: len(loud) // block * block].reshape(-1, block).any(axis=1).sum()) * 0.02
