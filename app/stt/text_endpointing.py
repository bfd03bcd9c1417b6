"""Judges whether English words make a whole turn, by what a small language model expects after them.

A model that was trained to answer knows where a user's turn ends. Its next-token probabilities after the words tell how
likely a closing mark or the turn's end is, and how likely the turn's end is after that mark. The model that ships with
the app is used as it is. Marks in the text are removed first, since a recogniser sets them wherever the voice rests:
without them it errs less.

The model runs in a child process (`text_endpointing_worker`), which ends with the app.
"""

from __future__ import annotations

import importlib.util
import json
import math
import threading
from pathlib import Path
from typing import IO

from app.conversation.completeness import completeness, ends_open
from app.conversation.words import fold
from app.models.locations import default_model
from app.platform.children import ChildError, ChildWorker
from app.stt.base import WordOdds
from app.stt.endpointing_weights import word_weights
from app.untrusted.files import read_json_line
from app.untrusted.limits import CHILD_LINE

_MARKS = ".?!…,;:- "


def without_marks(text: str) -> str:
    """`text` without marks, and without the capitals after them but the first: the form that the model is given."""
    out: list[str] = []
    for word in text.split():
        if out and out[-1][-1] in ".?!…,-":
            out[-1] = out[-1].rstrip(".?!…,-")
            if not out[-1]:
                out.pop()
            if word != "I" and not word.startswith("I'"):
                word = word[:1].lower() + word[1:]
        if word:
            out.append(word)
    said = " ".join(out).rstrip(_MARKS)
    return said[:1].upper() + said[1:]


def probability(text: str, odds: WordOdds | None, sound: float) -> float:
    """The probability that a turn ends with `text`: a logistic regression on words and sound at a pause.

    `odds` None: without a language model only the kind of the words (`completeness`) counts. `sound`: the probability
    by the sound. `app.research.training.endpointing` has fitted the weights.
    """
    weights = word_weights("words" if odds is not None else "words alone")
    total = sum(weights[name] * value for name, value in clues(text, odds, sound).items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def probability_by_sound(sound: float) -> float:
    """The probability that a turn ends here by its sound alone, for languages whose words aren't judged."""
    weights = word_weights("sound alone")
    return 1 / (1 + math.exp(-weights["always"] - weights["sound"] * sound_clue(sound)))


def sound_clue(sound: float) -> float:
    """The bounded log-odds of the probability by the sound."""
    sound = min(0.99, max(0.01, sound))
    return math.log(sound / (1 - sound))


def clues(text: str, odds: WordOdds | None, sound: float) -> dict[str, float]:
    """The inputs of the regression, by name."""
    kind, words = completeness(text), fold(text)
    values = {
        "always": 1.0,
        "sound": sound_clue(sound),
        "open": float(kind == "open"),
        "tail": float(ends_open(text)),
        "statement": float(kind == "statement"),
        "question": float(kind == "question"),
        "request": float(kind == "request"),
        "few words": float(len(words) <= 3),
        "misheard": float(words[-1:] in _OFTEN_MISHEARD),
    }
    if odds is None:
        return values
    close, over, by_sound = max(odds.close, -6.0), odds.over, values["sound"]
    products = {"close x over": close * over, "close x sound": close * by_sound, "over x sound": over * by_sound}
    return {**values, "close": odds.close, "over": over, **products}


_OFTEN_MISHEARD = (("it",), ("you",), ("that",))
"""What a recogniser makes of an "a", a "the" or a "to" with nothing after it: "what's the best way to | get from the"
becomes "… from it"."""


def load(model: Path | None = None) -> TextEndpointing | None:
    """Starts the judge with `model`, by default the one that ships with the app; None where that can't be run."""
    model = model or default_model("llm")
    if not model.is_file() or importlib.util.find_spec("xllamacpp") is None:
        return None
    judge = TextEndpointing(model)
    try:
        judge.open()
    except ChildError:
        return None
    return judge


class TextEndpointing:
    """A `WordsJudge` over the language model in `model` (GGUF), in a child process. Safe between threads.

    Call `open` first. A first text takes some 10 ms a word on one core, one that continues the last some 20 ms.
    """

    KEPT = 32
    STUCK_SECONDS = 1.0
    """A child that has not answered for so long is stuck."""

    def __init__(self, model: Path) -> None:
        self._child = ChildWorker("app.stt.text_endpointing_worker", str(model))
        self._lock = threading.Lock()
        self._known: dict[str, WordOdds] = {}

    def open(self) -> None:
        """Starts the child and waits until it is ready. Raises ChildError."""
        try:
            self._child.start()
        except ChildError:
            self.close()
            raise

    def odds(self, text: str) -> WordOdds | None:
        """The odds of `text`, as `WordsJudge.odds`; None, too, while the child can't be started again."""
        said = without_marks(text)

        def exchange(to_child: IO[bytes], from_child: IO[bytes]) -> WordOdds:
            to_child.write(json.dumps(said).encode() + b"\n")
            to_child.flush()
            close, over = read_json_line(from_child, CHILD_LINE)
            return WordOdds(float(close), float(over))

        with self._lock:
            if said and said not in self._known:
                try:
                    answer = self._child.ask(exchange)
                except ChildError:
                    return None
                if len(self._known) >= self.KEPT:
                    self._known.pop(next(iter(self._known)))
                self._known[said] = answer
            return self._known.get(said)

    def alive(self) -> bool:
        """Whether the child runs; may wait for a pending answer."""
        if not self._lock.acquire(timeout=self.STUCK_SECONDS):
            return False
        self._lock.release()
        return self._child.alive()

    def close(self) -> None:
        """Ends the child."""
        self._child.close()
