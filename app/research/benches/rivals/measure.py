"""Asks an assistant one question, and measures its answer by what its loudspeaker plays."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import rounded
from app.research.benches.rivals.loudspeaker import FLOOR
from app.research.benches.rivals.process import AssistantProcess
from app.research.benches.word_errors import normalised, word_distance

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
