"""Whether words make a whole turn: what a small language model expects behind them.

A model that has learned to answer knows where a user's turn ends. Asked what comes behind the words, it tells how
likely a closing mark or the turn's end is, and how likely the turn's end is behind that mark. This is how detectors
of ends of turns are made; here the model that ships with the app is asked as it is. Each text is asked about twice:
as it was heard, and without the marks inside it, which a recogniser sets wherever the voice rests.

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

from app.childprocess import end_child, python_module_command, quiet_child
from app.conversation.complete import completeness, ends_open
from app.conversation.words import fold
from app.offline_models import model_path

START_SECONDS = 30.0
"""How long the child may take to load the model."""
_MARKS = ".?!…,;:- "


@dataclass(frozen=True, slots=True)
class WordOdds:
    """Log-odds: `close` of a closing mark or the end behind the words, `over` of the turn's end behind that mark."""

    close: float
    over: float


def as_heard(text: str) -> str:
    """`text` without the mark at its end, and with a capital: as the model is asked."""
    text = text.strip().rstrip(_MARKS)
    return text[:1].upper() + text[1:]


def without_marks(text: str) -> str:
    """`as_heard`, and without marks and capitals inside, where the recogniser may have put them into a sentence."""
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
    return as_heard(" ".join(out))


def probability(text: str, odds: WordOdds | None, sound: float) -> float:
    """That a turn ends with `text`, in [0, 1]: a logistic regression on what words and sound tell.

    `odds` None: there is no language model, and the kind of the words (see `completeness`) stands in. The weights
    were fitted (ridge 3) to the pauses of the first two parts of `bench turns`; see `app.evaluation.pauses`.
    """
    kind = completeness(text)
    sound = min(0.99, max(0.01, sound))
    heard = math.log(sound / (1 - sound))
    told = (
        kind == "open", ends_open(text), kind == "statement", kind == "question", kind == "request",
        len(fold(text)) <= 3,
    )  # fmt: skip
    if odds is None:
        weights, values = _WITHOUT_MODEL, (1.0, heard, *told)
    else:
        weights, values = _WEIGHTS, (1.0, odds.close, odds.over, heard, *told)
    total = sum(weight * float(value) for weight, value in zip(weights, values, strict=True))
    share = 1 / (1 + math.exp(-max(-30.0, min(30.0, total))))
    # "How long did it take to build the": misheard words mislead the model, but nobody ends like that.
    return min(share, _OPEN_AT_MOST) if kind == "open" and ends_open(text) else share


_WEIGHTS = (0.42, 0.54, 0.60, 0.25, -0.42, -0.41, -1.95, 0.76, 0.76, -1.47)
"""Of: always, `close`, `over`, the sound's log-odds; and of words that are open, that end on a word that nobody ends
on, that are a statement, a question, a request, and that are three or fewer."""
_OPEN_AT_MOST = 0.5
_WITHOUT_MODEL = (-0.26, 0.24, -1.72, -0.94, -2.74, 1.38, 0.96, -1.69)
"""The same without the language model."""


def load() -> FinishedWords | None:
    """The judge over the model that ships with the app, open; None where that can't be run."""
    model = model_path("brain")
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

    A first text takes some 10 ms a word on one core, one that goes on from the last some 30 ms.
    """

    KEPT = 32

    def __init__(self, model: Path) -> None:
        self._file = model
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._known: dict[str, WordOdds] = {}

    def open(self) -> None:
        """Starts the child and waits until it answers. Raises OSError or ValueError."""
        command = python_module_command("app.stt.finished_words_server", str(self._file))
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
        )
        timer = threading.Timer(START_SECONDS, self._child.kill)
        timer.start()
        try:
            for way, text in enumerate(("Hello", "Hello there")):  # the examples are read for both ways
                self._ask(text, way)
        except BaseException:
            self.close()
            raise
        finally:
            timer.cancel()

    def odds(self, text: str) -> WordOdds | None:
        """What the model makes of `text`, of both ways to write it the surer one; None if it can't tell."""
        ways = [way for way in dict.fromkeys((as_heard(text), without_marks(text))) if way]
        with self._lock:
            if self._child is None or not ways:
                return None
            try:
                found = [self._ask(text, place) for place, text in enumerate(ways)]
            except (OSError, ValueError):
                return None
        return WordOdds(max(one.close for one in found), max(one.over for one in found))

    def close(self) -> None:
        """Ends the child."""
        child, self._child = self._child, None
        if child is not None:
            end_child(child)

    def _ask(self, text: str, way: int = 0) -> WordOdds:
        if text in self._known:
            return self._known[text]
        if self._child is None or self._child.stdin is None or self._child.stdout is None:
            raise OSError("the language model is gone")
        self._child.stdin.write(json.dumps([text, way]).encode() + b"\n")
        self._child.stdin.flush()
        close, over = json.loads(self._child.stdout.readline())
        if len(self._known) >= self.KEPT:
            self._known.pop(next(iter(self._known)))
        self._known[text] = WordOdds(float(close), float(over))
        return self._known[text]
