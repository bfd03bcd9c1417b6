"""Estimates whether English words form a complete turn, using the predictions of a small language model.

A chat model has learned where a user's turn ends. Its next-token probabilities give the likelihood that the words are
followed by closing punctuation or the end of the turn, and that the turn ends after that punctuation. The model that
ships with the app is used without fine-tuning. Punctuation is first removed from the text, because recognisers insert
it at every pause and the estimate is more accurate without it.

The model runs in a child process (`text_endpointing_worker`), which ends with the app. The fitted weights
of endpointing are read from `resources/turn_ends.json`.
"""

from __future__ import annotations

import importlib.util
import json
import math
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

from app.conversation.turns.completeness import completeness, ends_open
from app.conversation.turns.endpointing import EndWeights
from app.conversation.words import fold
from app.platform.children import ChildError, ChildWorker
from app.platform.installation import resource
from app.stt.base import WordOdds


@cache
def word_weights(kind: str) -> dict[str, float]:
    """Returns the regression weights for words and audio, keyed by name.

    `kind`: "words"; "words alone" without a language model; "sound alone" if the words aren't evaluated.
    """
    return _weights()[kind]


@cache
def end_weights() -> EndWeights:
    """Returns the weights for the silence, the speaker's pauses, and the probability from words and audio."""
    return EndWeights(**_weights()["silence"])


@cache
def _weights() -> dict[str, dict[str, float]]:
    return json.loads(resource("turn_ends.json").read_text(encoding="utf-8"))


_MARKS = ".?!…,;:- "


def without_marks(text: str) -> str:
    """Returns `text` as passed to the model: without punctuation between words, and capitalised only at the start."""
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
    """Returns the probability that a turn ends with `text`, from a logistic regression on the words and the audio.

    `odds`: the language model's odds, or None to use only the type of utterance (`completeness`). `sound`: the
    probability from the audio. The weights are fitted by `app.research.training.endpointing`.
    """
    weights = word_weights("words" if odds is not None else "words alone")
    total = sum(weights[name] * value for name, value in clues(text, odds, sound).items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def probability_by_sound(sound: float) -> float:
    """Returns the end-of-turn probability from the audio alone, for languages whose words aren't evaluated."""
    weights = word_weights("sound alone")
    return 1 / (1 + math.exp(-weights["always"] - weights["sound"] * sound_clue(sound)))


def sound_clue(sound: float) -> float:
    """Returns the log-odds of the probability from the audio, which is first clipped to [0.01, 0.99]."""
    sound = min(0.99, max(0.01, sound))
    return math.log(sound / (1 - sound))


def clues(text: str, odds: WordOdds | None, sound: float) -> dict[str, float]:
    """Returns the regression's inputs, keyed by name."""
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
"""Words that recognisers often output for a trailing "a", "the" or "to": "get from the" becomes "get from it"."""


def open_judge(model: Path) -> TextEndpointing:
    """Starts a judge that uses `model`. Raises ChildError."""
    if not model.is_file() or importlib.util.find_spec("xllamacpp") is None:
        raise ChildError("its model is not installed")
    judge = TextEndpointing(model)
    judge.open()
    return judge


STOPPED = (
    "The check whether your words form a complete sentence has stopped ({cause}), so for now only the sound of your "
    "voice and your pauses decide when you have finished."
)


class TextEndpointing:
    """A `WordsJudge` that runs the language model in the GGUF file `model` in a child process. Thread-safe.

    Call `open` first. On one core, a new text takes about 10 ms per word, and one that continues the previous text
    about 20 ms in total.
    """

    KEPT = 32
    ASK_SECONDS = 5.0
    """Time limit for a text. A long one takes 2 s on a slow core."""
    STUCK_SECONDS = 1.0
    """A child that hasn't replied within this time is considered hung."""

    def __init__(self, model: Path) -> None:
        self._child = ChildWorker("app.stt.text_endpointing_worker", str(model))
        self._lock = threading.Lock()
        self._known: dict[str, WordOdds] = {}
        self._failed = False
        self.on_notice: Callable[[str], None] = lambda sentence: None
        """Called on any thread with a sentence for the user, once, if the child can't be restarted for now."""

    def open(self) -> None:
        """Starts the child and waits until it is ready. Raises ChildError."""
        try:
            self._child.start()
        except ChildError:
            self.close()
            raise

    def odds(self, text: str) -> WordOdds | None:
        """Returns the odds for `text`; None if it contains no words, or if the child failed and can't be restarted."""
        said = without_marks(text)
        with self._lock:
            if said and said not in self._known:
                try:
                    odds, _ = self._child.ask(json.dumps(said).encode() + b"\n", self.ASK_SECONDS)
                except ChildError as error:
                    if not self._failed:
                        self._failed = True
                        self.on_notice(STOPPED.format(cause=error))
                    return None
                self._failed = False
                if len(self._known) >= self.KEPT:
                    self._known.pop(next(iter(self._known)))
                self._known[said] = WordOdds(*odds)
            return self._known.get(said)

    def alive(self) -> bool:
        """Whether the child is running. May wait up to `STUCK_SECONDS` for a pending reply."""
        if not self._lock.acquire(timeout=self.STUCK_SECONDS):
            return False
        self._lock.release()
        return self._child.alive()

    def close(self) -> None:
        """Stops the child."""
        self._child.close()
