"""Scores trials: whether the value that the oracle told is in the text and in the speech, and how soon it began."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from app.diagnostics.tables import machine, markdown, quantile
from app.research.benches.word_errors import normalised
from app.research.training.nano.facts import Fact
from app.research.training.nano.trial import Kind, TrialResult

ALIKE = 0.75
"""How alike the letters of a name as it was read back and as it is spelt must be (a ratio of 0 to 1): recognisers don't
know how invented facts are spelt. It must also be more like the right name than like any other of its kind."""
_DRAWS = 400
"""Draws from a kind of fact that find about all values that it can have."""
_PRICE = re.compile(r"\$(\d+)(?:\.00)?")
_TIME = re.compile(r"\b(\d{1,2})[.:](\d\d)(?:\s?[ap](?:\.?m)?\b\.?)?", re.IGNORECASE)


@dataclass(slots=True)
class KindScore:
    """Results of one kind of trial. `spoken_right` is None where nothing was read back."""

    kind: Kind
    trials: int = 0
    text_right: int = 0
    spoken_right: int | None = None
    first_sounds: list[float] = field(default_factory=list)
    broke_in: int = 0
    silent: int = 0


@dataclass(slots=True)
class TrialScore:
    """Results of all kinds. `speaker`: who asked, for the report."""

    speaker: str
    kinds: list[KindScore] = field(default_factory=list)
    step_seconds: list[float] = field(default_factory=list)

    def table(self) -> str:
        """The results as text."""
        head = ["oracle", "trials", "text right", "heard right", "first sound p50 / p90, s", "broke in", "silent"]
        rows = []
        for score in self.kinds:
            heard = "–" if score.spoken_right is None else f"{score.spoken_right / score.trials:.0%}"
            p50, p90 = (quantile(score.first_sounds, share, 2) for share in (0.5, 0.9))
            rows.append(
                [
                    score.kind,
                    score.trials,
                    f"{score.text_right / score.trials:.0%}",
                    heard,
                    f"{p50} / {p90}",
                    score.broke_in,
                    score.silent,
                ]
            )
        p50, p99 = (quantile(self.step_seconds, share, 4) * 1e3 for share in (0.5, 0.99))
        times = f"A step took {p50:.1f} ms, p99 {p99:.1f} ms; {self.speaker}; {machine()}."
        return "\n".join([*markdown(head, rows), "", times])

    def document(self) -> dict[str, Any]:
        """The results as JSON."""
        return {
            "kinds": {
                score.kind: {
                    "trials": score.trials,
                    "text_right": score.text_right,
                    "heard_right": score.spoken_right,
                    "first_sound_p50": quantile(score.first_sounds, 0.5),
                    "first_sound_p90": quantile(score.first_sounds, 0.9),
                    "broke_in": score.broke_in,
                    "silent": score.silent,
                }
                for score in self.kinds
            },
            "speaker": self.speaker,
            "step_p50": quantile(self.step_seconds, 0.5, 5),
            "step_p99": quantile(self.step_seconds, 0.99, 5),
        }


def score_trials(results: Sequence[TrialResult], read: Callable[[np.ndarray], str] | None) -> KindScore:
    """Scores trials of one kind. `read`: transcribes float32 24 kHz."""
    score = KindScore(results[0].kind, len(results), spoken_right=None if read is None else 0)
    for result in results:
        score.text_right += says(result.text, result.fact)
        if read is not None:
            assert score.spoken_right is not None
            score.spoken_right += says(read(result.samples), result.fact)
        if result.first_sound is None:
            score.silent += 1
        else:
            score.first_sounds.append(result.first_sound)
            score.broke_in += result.first_sound < 0
    return score


def says(text: str, fact: Fact) -> bool:
    """Whether a text says the fact's value: its digits exactly, words by their letters."""
    value, found = _folded(fact.value), _folded(text)
    if re.search(r"\d", value):
        return f" {value} " in f" {found} "
    return _nearest(found, value, fact)


def _nearest(found: str, value: str, fact: Fact) -> bool:
    """Whether the words of `found` that are most like the value are more like it than like any other of its kind."""
    own = _likeness(found, value)
    if own < ALIKE:
        return False
    return own == 1 or all(_likeness(found, other) <= own for other in _others(fact) if other != value)


def _likeness(found: str, value: str) -> float:
    words, size = found.split(), len(value.split())
    windows = [" ".join(words[place : place + size]) for place in range(max(1, len(words) - size + 1))]
    return max((SequenceMatcher(None, window, value, autojunk=False).ratio() for window in windows), default=0.0)


def _others(fact: Fact) -> set[str]:
    """The values that this kind of fact can have."""
    if fact.relation is None:
        return set()
    draw = random.Random(0)
    return {_folded(fact.relation.value(draw)) for _ in range(_DRAWS)}


def _folded(text: str) -> str:
    """Lower case without marks, numbers in digits, digits that follow each other as one number.

    Prices and times become the words that they are spoken as: recognisers write "$27", "11.30" and "3:20 p.m.".
    """
    text = _PRICE.sub(r"\1 dollars", text)
    text = _TIME.sub(r"\1 \2", text)
    words = normalised(text.replace("'s", "s"))
    out: list[str] = []
    for word in words:
        if word.isdigit() and out and out[-1].isdigit():
            out[-1] += word
        else:
            out.append(word)
    return " ".join(out)
