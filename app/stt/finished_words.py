"""Whether English words make a whole turn: what a small language model expects behind them.

A model that has learned to answer knows where a user's turn ends. Asked what comes behind the words, it tells how
likely a closing mark or the turn's end is, and how likely the turn's end is behind that mark. This is how detectors
of ends of turns are made; here the model that ships with the app is asked as it is, but for the marks in a text, which
a recogniser sets wherever the voice rests: without them it errs less.

The model runs in a child process (see `finished_words_server`), which ends with the app.
"""

from __future__ import annotations

import importlib.util
import json
import math
import subprocess
import threading
from dataclasses import dataclass
from pathlib import Path

from app.conversation.completeness import completeness, ends_open
from app.conversation.words import fold
from app.models.locations import default_model
from app.platform.children import end_child, killed_after, python_module_command, quiet_child
from app.stt.endpointing_weights import word_weights

_MARKS = ".?!…,;:- "


@dataclass(frozen=True, slots=True)
class WordOdds:
    """Log-odds: `close` of a closing mark or the end behind the words, `over` of the turn's end behind that mark."""

    close: float
    over: float


def without_marks(text: str) -> str:
    """`text` as the model is asked: without marks, and with no capital but its first that a mark may have brought."""
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
    """That a turn ends with `text`, in [0, 1]: a logistic regression on what words and sound tell at a pause.

    `odds` None: there is no language model, and the kind of the words (see `completeness`) stands in.
    `app.training.turn_ends` has fitted the weights.
    """
    weights = word_weights("words" if odds is not None else "words alone")
    total = sum(weights[name] * value for name, value in clues(text, odds, sound).items())
    return 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))


def probability_by_sound(sound: float) -> float:
    """That a turn ends here, in [0, 1], by the judge of the sound alone: for languages whose words aren't judged."""
    weights = word_weights("sound alone")
    return 1 / (1 + math.exp(-weights["always"] - weights["sound"] * sound_clue(sound)))


def sound_clue(sound: float) -> float:
    """The log-odds of what the judge of the sound said, bounded."""
    sound = min(0.99, max(0.01, sound))
    return math.log(sound / (1 - sound))


def clues(text: str, odds: WordOdds | None, sound: float) -> dict[str, float]:
    """What the regression looks at, by name."""
    kind, words = completeness(text), fold(text)
    told = {
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
        return told
    close, over, heard = max(odds.close, -6.0), odds.over, told["sound"]
    products = {"close x over": close * over, "close x sound": close * heard, "over x sound": over * heard}
    return {**told, "close": odds.close, "over": over, **products}


_OFTEN_MISHEARD = (("it",), ("you",), ("that",))
"""What a recogniser makes of an "a", a "the" or a "to" that nothing follows: "what's the best way to | get from the"
becomes "… from it"."""


def load(model: Path | None = None) -> FinishedWords | None:
    """The judge over `model`, by default the one that ships with the app, open; None where that can't be run."""
    model = model or default_model("llm")
    if not model.is_file() or importlib.util.find_spec("xllamacpp") is None:
        return None
    judge = FinishedWords(model)
    try:
        judge.open()
    except (OSError, ValueError):
        return None
    return judge


class FinishedWords:
    """Asks the language model in `model` (GGUF) from a child process. Not before `open`; safe between threads.

    A first text takes some 10 ms a word on one core, one that goes on from the last some 20 ms.
    """

    KEPT = 32
    STUCK_SECONDS = 1.0
    """A child that has owed an answer for so long gives none."""

    def __init__(self, model: Path) -> None:
        self._file = model
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._known: dict[str, WordOdds] = {}
        self._failed = False

    def open(self) -> None:
        """Starts the child and waits until it answers. Raises OSError or ValueError."""
        command = python_module_command("app.stt.finished_words_server", str(self._file))
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
        )
        try:
            with killed_after(self._child):
                self._ask("Hello")
        except BaseException:
            self.close()
            raise

    def odds(self, text: str) -> WordOdds | None:
        """What the model makes of `text`; None if it can't tell."""
        said = without_marks(text)
        with self._lock:
            if self._child is None or not said:
                return None
            try:
                return self._ask(said)
            except (OSError, ValueError):
                self._failed = True
                return None

    def alive(self) -> bool:
        """Whether it can be asked; may wait for the answer that it owes."""
        if not self._lock.acquire(timeout=self.STUCK_SECONDS):
            return False
        self._lock.release()
        return not self._failed and self._child is not None and self._child.poll() is None

    def close(self) -> None:
        """Ends the child."""
        child, self._child = self._child, None
        if child is not None:
            end_child(child)

    def _ask(self, text: str) -> WordOdds:
        if text in self._known:
            return self._known[text]
        if self._child is None or self._child.stdin is None or self._child.stdout is None:
            raise OSError("the language model is gone")
        self._child.stdin.write(json.dumps(text).encode() + b"\n")
        self._child.stdin.flush()
        close, over = json.loads(self._child.stdout.readline())
        if len(self._known) >= self.KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[text] = WordOdds(float(close), float(over))
        return self._known[text]
