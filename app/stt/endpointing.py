"""Estimates, at a pause, the probability that the turn is finished, from its audio and, in English, its words."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import numpy as np

from app.stt.base import EndOfTurn, WordsJudge
from app.stt.text_endpointing import WordOdds, probability, probability_by_sound

COVERED_SECONDS = 0.16
"""Words may lag behind the audio by this much and still be evaluated, as only the decay of the last one is missing."""


class Endpointing:
    """Evaluates one turn at a time on two worker threads. `on_finished`: see `Transcriber.on_finished`.

    The owner sets `turn`, `pause` (the speech_end of the current pause) and `language` (that of the latest words).
    """

    def __init__(
        self, call_soon: Callable[[Callable[[], None]], object], on_finished: Callable[[int, float, float], None]
    ) -> None:
        self.turn = 0
        self.pause: float | None = None
        self.language = ""
        self._call_soon = call_soon
        self._on_finished = on_finished
        self._sound_judge: EndOfTurn | None = None
        self._words_judge: WordsJudge | None = None
        self._sound_jobs = 0
        self._text, self._text_until = "", -1e9  # the turn's words, and the end of the audio they cover
        self._judged_words: tuple[str, WordOdds | None] = ("", None)
        self._judging_words = ""  # being evaluated; the latest words follow
        self.judged_sound: tuple[float, float] | None = None
        """The last pause whose audio was evaluated, and the resulting probability."""
        self._reported: tuple[float, float] | None = None  # the pause, and the probability

    # -- lifecycle ---------------------------------------------------------------------------------

    def start(self, load_words: Callable[[], WordsJudge | None]) -> Future[WordsJudge | None]:
        """Starts the worker threads and loads the words judge on one of them; the returned future provides it."""
        self.sound_worker = ThreadPoolExecutor(1, "end-of-turn")
        self.words_worker = ThreadPoolExecutor(1, "end-of-words")
        return self.words_worker.submit(load_words)

    def set_judges(self, sound: EndOfTurn | None, words: WordsJudge | None) -> None:
        """Sets the judges. If `sound` is None, nothing is reported."""
        self._sound_judge, self._words_judge = sound, words

    def stop(self, unload: Callable[[], None]) -> None:
        """Stops the workers. Calls `unload` before waiting for the words judge, which may have hung."""
        self._text = ""
        self.sound_worker.shutdown(wait=True, cancel_futures=True)
        self.words_worker.shutdown(wait=False, cancel_futures=True)
        unload()
        self.words_worker.shutdown(wait=True)
        self._sound_judge = self._words_judge = None

    @property
    def busy(self) -> bool:
        """Whether an evaluation is in progress."""
        return self._sound_jobs > 0 or bool(self._judging_words)

    # -- inputs ------------------------------------------------------------------------------------

    def start_turn(self, turn: int) -> None:
        """Starts a turn and discards the state of the previous one."""
        self.turn, self.pause = turn, None
        self._text, self._text_until, self.judged_sound, self._reported = "", -1e9, None, None

    def set_words(self, text: str, until: float) -> None:
        """Sets the turn's words, which cover its audio up to `until`. Evaluation doesn't wait for a pause."""
        self._text, self._text_until = text, until
        self._judge_words()
        self.report()

    @property
    def judges_sound(self) -> bool:
        """Whether a sound judge is set."""
        return self._sound_judge is not None

    @property
    def judging_sound(self) -> bool:
        """Whether audio is being evaluated."""
        return self._sound_jobs > 0

    def set_sound(self, samples: np.ndarray) -> None:
        """Evaluates `samples`, the end of the turn's audio, for the current pause. No-op if there is no pause."""
        if self.pause is not None:
            self._sound_jobs += 1
            self.sound_worker.submit(self._run_sound, self.turn, self.pause, samples)

    def _run_sound(self, turn: int, pause: float, samples: np.ndarray) -> None:
        assert self._sound_judge is not None
        try:
            finished = self._sound_judge.probability(samples)
        except Exception:
            finished = 0.5  # neutral, so that the words and the silence decide
        self._call_soon(lambda: self._on_sound_judged(turn, pause, finished))

    def _on_sound_judged(self, turn: int, pause: float, finished: float) -> None:
        self._sound_jobs -= 1
        if turn == self.turn:
            self.judged_sound = (pause, finished)
            self.report()

    def _judge_words(self) -> None:
        same = self._text in ("", self._judged_words[0])
        if self._words_judge is None or not self._english or self._judging_words or same:
            return
        self._judging_words = self._text
        self.words_worker.submit(self._run_words, self._words_judge, self._text)

    def _run_words(self, judge: WordsJudge, text: str) -> None:
        odds = None
        with contextlib.suppress(Exception):
            odds = judge.odds(text)
        self._call_soon(lambda: self._on_words_judged(text, odds))

    def _on_words_judged(self, text: str, odds: WordOdds | None) -> None:
        self._judged_words, self._judging_words = (text, odds), ""
        self._judge_words()
        self.report()

    # -- the result --------------------------------------------------------------------------------

    def report(self) -> None:
        """Reports the probability once the words and audio of the pause are evaluated, and whenever it changes."""
        pause = self.pause
        if pause is None or self.judged_sound is None or self.judged_sound[0] != pause:
            return
        finished = self._probability(pause, self.judged_sound[1])
        if finished is not None and (pause, finished) != self._reported:
            self._reported = (pause, finished)
            self._on_finished(self.turn, finished, pause)

    def _probability(self, pause: float, by_sound: float) -> float | None:
        """Returns the probability from audio and words; None until the words up to `pause` have been evaluated."""
        if not self._english:
            return probability_by_sound(by_sound)
        words = self.judged_words(pause)
        return probability(*words, by_sound) if words is not None else None

    def judged_words(self, pause: float) -> tuple[str, WordOdds | None] | None:
        """Returns the turn's words and their odds; None until the words up to `pause` have been evaluated."""
        if not self._text or self._text_until < pause - COVERED_SECONDS:
            return None
        if self._words_judge is None:
            return self._text, None
        return self._judged_words if self._judged_words[0] == self._text else None

    @property
    def _english(self) -> bool:
        """Whether the words can be evaluated, which is only possible in English."""
        return self.language == "en"
