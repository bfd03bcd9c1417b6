"""Streaming recognition: looks at the growing utterance again and again, and settles it at its pauses.

Keeps the sound of the current turn only, cut at the user's pauses into stretches whose words are
settled, so that a look costs the same however long the turn or the talk. One worker thread; the newest
sound wins: a look that is overtaken is skipped and counted, never queued.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE, Frame
from app.stt.base import EndOfTurn, TranscriptUpdate
from app.stt.finished_words import WordOdds, probability
from app.stt.stable import StableWords

RATE = 16_000
PREROLL_SECONDS = 0.4
"""Sound kept before the voice was noticed: an onset takes 64 to 100 ms to notice, and a consonant leads it."""
LOOK_SECONDS = 0.24
"""New sound after which the utterance is looked at again: three frames, so that 300 ms are never exceeded."""
CUT_PAUSE_SECONDS = 0.24
"""A pause of this length ends a stretch..."""
CUT_STRETCH_SECONDS = 2.0
"""... that is at least this long: shorter ones give Whisper too little to go by."""
FORCED_CUT_SECONDS = 16.0
"""A stretch without a pause is cut at its quietest place behind this length."""
LINGER_SECONDS = 2.0
"""How long the sound of an ended turn is kept, in case the user goes on with it."""
COVERED_SECONDS = 0.16
"""Words that account for this much less than the sound are judged: what is missing is the last one's fading end."""


class Decoder(Protocol):
    """Sound to words; see `WhisperDecoder`."""

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples`: float32 at 16 kHz."""
        ...


class WordsJudge(Protocol):
    """Tells from the words whether they make a whole turn; see `FinishedWords`."""

    def odds(self, text: str) -> WordOdds | None:
        """None: it can't tell."""
        ...

    def close(self) -> None:
        """Frees what it holds."""
        ...


class _Stretch:
    """A piece of a turn's sound, from sample `start` (16 kHz, session time) on, and its words so far."""

    def __init__(self, start: int) -> None:
        self.start = start
        self.words = StableWords()


class StreamingTranscriber:
    """A `Transcriber` over a `Decoder`. `load` makes the decoder and the end-of-turn judge when entered.

    `call_soon` hands a callback from the worker to the event loop (`loop.call_soon_threadsafe`).
    """

    shed: int

    def __init__(
        self,
        name: str,
        load: Callable[[], tuple[Decoder, EndOfTurn | None]],
        call_soon: Callable[[Callable[[], None]], object],
        load_words: Callable[[], WordsJudge | None] = lambda: None,
    ) -> None:
        self.name = name
        self.shed = 0
        self.on_update: Callable[[TranscriptUpdate], None] = lambda update: None
        self.on_finished: Callable[[int, float, float], None] = lambda turn, probability, end: None
        self.on_failure: Callable[[str], None] = lambda sentence: None
        self._load = load
        self._load_words = load_words
        self._call_soon = call_soon
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, RATE, 1, dtype="float32", quality="MQ")
        self._blocks: deque[np.ndarray] = deque()
        self._first = 0  # session sample (16 kHz) of the first block kept
        self._last = 0  # session sample behind the last block
        self._now = 0.0
        self._turn = 0
        self._open = False
        self._ended_at = -1e9
        self._settled: list[str] = []
        self._stretch = _Stretch(0)
        self._looked_until = 0  # sample up to which the last look reached
        self._pause: float | None = None  # speech_end of the pause that is going on
        self._settled_at: float | None = None  # speech_end that the words are settled for
        self._wants_final: float | None = None
        self._job: Future[None] | None = None
        self._next: Callable[[], Future[None]] | None = None
        self._judging = 0
        self._due_skipped = False
        self._words_judge: WordsJudge | None = None
        self._text, self._text_until = "", -1e9  # the turn's words by the last look, and the sound they account for
        self._odds: tuple[str, WordOdds | None] = ("", None)  # the newest judgement of words: on which, and what
        self._weighing = ""  # the words that are being judged; the newest are next
        self._heard: tuple[float, float] | None = None  # the pause that was judged by its sound, and how
        self._told: tuple[float, float] | None = None  # the pause that was told of, and how finished it was

    # -- the protocol ------------------------------------------------------------------------------

    def __enter__(self) -> StreamingTranscriber:
        """Loads the model, on the calling thread. Raises TranscriberError."""
        self._worker = ThreadPoolExecutor(1, "ears")
        self._judge_worker = ThreadPoolExecutor(1, "end-of-turn")
        self._words_worker = ThreadPoolExecutor(1, "end-of-words")
        words = self._words_worker.submit(self._load_words)  # first: it may have a child, which loads beside the rest
        try:
            self._decoder, self._judge = self._load()
            # The first look is slow (buffers, caches): have it before the user speaks.
            self._worker.submit(self._decoder.decode, np.zeros(RATE, np.float32)).result()
            if self._judge is not None:
                self._judge_worker.submit(self._judge.probability, np.zeros(RATE, np.float32)).result()
        except BaseException:
            self._end_workers(words)
            raise
        self._words_judge = words.result()
        if self._judge is None and self._words_judge is not None:
            self._words_judge.close()  # nobody asks it where the sound isn't judged
            self._words_judge = None
        return self

    def __exit__(self, *exc: object) -> None:
        self._turn, self._open, self._next, self._text = -1, False, None, ""
        if self._words_judge is not None:
            self._words_judge.close()  # before its worker is waited for, which waits for it
        self._end_workers()

    def _end_workers(self, words: Future[WordsJudge | None] | None = None) -> None:
        """Waits for them. `words`: the judge that one of them is loading, and that is not wanted any more."""
        if words is not None and not words.cancel() and words.exception() is None and (judge := words.result()):
            judge.close()
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._judge_worker.shutdown(wait=True, cancel_futures=True)
        self._words_worker.shutdown(wait=True, cancel_futures=True)

    @property
    def busy(self) -> bool:
        """See `Transcriber.busy`."""
        return self._job is not None or self._next is not None or self._judging > 0 or bool(self._weighing)

    def push(self, frame: Frame, voiced: bool) -> None:
        """See `Transcriber.push`."""
        block = self._resampler.resample_chunk(frame.samples)
        self._blocks.append(block)
        self._last += len(block)
        self._now = frame.at
        if not self._open:
            linger = self._now - self._ended_at <= LINGER_SECONDS
            if not linger:
                self._forget_before(self._last - int(PREROLL_SECONDS * 1.5 * RATE))
            return
        if voiced and self._pause is not None:
            self._go_on_after_pause()
        if self._pause is None and self._last - self._looked_until >= LOOK_SECONDS * RATE - RATE // 50:
            self._force_cut()
            if self._job is None:
                self._due_skipped = False
                self._look(settle=False)
            elif self._last - self._looked_until >= 2 * LOOK_SECONDS * RATE and not self._due_skipped:
                self._due_skipped = True
                self.shed += 1

    def begin(self, turn: int, at: float) -> None:
        """See `Transcriber.begin`."""
        start = max(self._first, int((at - PREROLL_SECONDS) * RATE))
        self._forget_before(start)
        self._turn, self._open, self._settled = turn, True, []
        self._stretch = _Stretch(max(start, self._first))
        self._looked_until = self._last
        self._pause = self._settled_at = self._wants_final = None
        self._next = None
        self._text, self._text_until, self._heard, self._told = "", -1e9, None, None

    def pause(self, turn: int, speech_end: float) -> None:
        """See `Transcriber.pause`."""
        if turn != self._turn or not self._open:
            return
        again = speech_end == self._pause
        if not again:
            self._pause = speech_end
            self._look(settle=True)
        if self._judge is not None and not (again and self._judging):
            self._judging += 1
            samples = self._sound(max(self._first, self._last - 8 * RATE), self._last)
            self._judge_worker.submit(self._run_judge, turn, speech_end, samples)

    def resume(self, turn: int) -> None:
        """See `Transcriber.resume`."""
        if turn == self._turn:
            self._open = True
            self._wants_final = None
            if self._pause is not None:
                self._go_on_after_pause()

    def end(self, turn: int, speech_end: float) -> None:
        """See `Transcriber.end`."""
        if turn != self._turn or not self._open:
            return
        self._open = False
        self._ended_at = self._now
        self._wants_final = speech_end
        if self._settled_at == speech_end and self._pause == speech_end:
            self._publish(final=True)
        elif self._pause != speech_end or (self._job is None and self._next is None):
            self._pause = speech_end
            self._look(settle=True)

    def discard(self, turn: int) -> None:
        """See `Transcriber.discard`."""
        if turn == self._turn:
            self._open, self._wants_final, self._next = False, None, None
            self._ended_at = -1e9

    # -- sound -------------------------------------------------------------------------------------

    def _forget_before(self, sample: int) -> None:
        while self._blocks and self._first + len(self._blocks[0]) <= sample:
            self._first += len(self._blocks.popleft())

    def _sound(self, start: int, end: int) -> np.ndarray:
        if not self._blocks:
            return np.zeros(0, np.float32)
        joined = np.concatenate(self._blocks)
        return joined[max(0, start - self._first) : max(0, end - self._first)]

    def _go_on_after_pause(self) -> None:
        """The user speaks again: a settled stretch that was long enough is closed at the pause."""
        pause, self._pause = self._pause, None
        if pause is None or self._settled_at != pause:
            return
        cut = int((pause + 0.1) * RATE)
        if self._now - pause >= CUT_PAUSE_SECONDS and cut - self._stretch.start >= CUT_STRETCH_SECONDS * RATE:
            self._close_stretch(cut)

    def _close_stretch(self, cut: int) -> None:
        words = self._stretch.words.all
        self._settled.append(words)
        self._stretch = _Stretch(cut)
        self._forget_before(cut - int(0.1 * RATE))

    def _force_cut(self) -> None:
        """Bounds the cost of somebody who never pauses: cuts at the quietest tenth of a second."""
        length = self._last - self._stretch.start
        if length < FORCED_CUT_SECONDS * RATE or self._job is not None:
            return
        lead = int(FORCED_CUT_SECONDS * 0.6 * RATE)
        sound = self._sound(self._stretch.start + lead, self._last - RATE // 2)
        step = RATE // 10
        energy = [float(np.square(sound[i : i + step]).sum()) for i in range(0, max(1, len(sound) - step), step)]
        cut = self._stretch.start + lead + int(np.argmin(energy)) * step + step // 2
        stretch, turn = self._stretch, self._turn
        samples = self._sound(stretch.start, cut)
        self._stretch = _Stretch(cut)
        place = len(self._settled)
        self._settled.append(stretch.words.all)

        def settle(words: str) -> None:
            if turn == self._turn and place < len(self._settled):
                self._settled[place] = words

        self._submit(samples, settle)

    # -- looking -----------------------------------------------------------------------------------

    def _look(self, *, settle: bool) -> None:
        """Looks at the current stretch up to now; after the look that is under way, if there is one."""
        turn, stretch, end, at = self._turn, self._stretch, self._last, self._now
        pause = self._pause if settle else None
        samples = self._sound(stretch.start, end)
        self._looked_until = end

        def take(words: str) -> None:
            if turn != self._turn or stretch is not self._stretch:
                return
            if pause is None or pause not in (self._pause, self._wants_final):
                # The user still speaks, or speaks again: the newest words may be half of a longer one.
                stable, unstable = stretch.words.update(words)
                if self._open:
                    self._publish(stable, unstable, until=at)
                return
            stretch.words.settle(words)
            self._settled_at = pause
            if self._wants_final == pause:
                self._publish(final=True)
            elif self._pause == pause:
                self._publish(settled=True, until=at)

        def start() -> Future[None]:
            return self._submit(samples, take)

        if self._job is None:
            start()
            return
        if self._next is not None:
            self.shed += 1
        self._next = start

    def _submit(self, samples: np.ndarray, take: Callable[[str], None]) -> Future[None]:
        self._job = self._worker.submit(self._run, samples, take)
        return self._job

    def _run(self, samples: np.ndarray, take: Callable[[str], None]) -> None:
        """On the worker: looks, and hands the words to the loop."""
        words, problem = "", ""
        try:
            words = self._decoder.decode(samples)
        except Exception as error:
            problem = (
                f"The ears failed ({type(error).__name__}), so some words may be missing from the transcript. "
                "If it happens again, start the talk anew."
            )
        self._call_soon(lambda: self._done(words, problem, take))

    def _done(self, words: str, problem: str, take: Callable[[str], None]) -> None:
        self._job = None
        if problem:
            self.on_failure(problem)
        following, self._next = self._next, None
        if following is not None:
            following()
        take(words)

    def _run_judge(self, turn: int, speech_end: float, samples: np.ndarray) -> None:
        try:
            probability = self._judge.probability(samples)  # type: ignore[union-attr]
        except Exception:
            probability = 0.5  # no opinion; the words and the silence decide alone
        self._call_soon(lambda: self._judged(turn, speech_end, probability))

    def _judged(self, turn: int, speech_end: float, probability: float) -> None:
        self._judging -= 1
        if turn == self._turn:
            self._heard = (speech_end, probability)
            self._tell()

    # -- whether it is finished ---------------------------------------------------------------------

    def _weigh(self, text: str) -> None:
        """Has the words judged as they come, so that what is said of them is known when the pause begins."""
        if self._words_judge is None or self._weighing or text in ("", self._odds[0]):
            return
        self._weighing = text
        self._words_worker.submit(self._run_words, text)

    def _run_words(self, text: str) -> None:
        odds = None
        with contextlib.suppress(Exception):
            odds = self._words_judge.odds(text)  # type: ignore[union-attr]
        self._call_soon(lambda: self._weighed(text, odds))

    def _weighed(self, text: str, odds: WordOdds | None) -> None:
        self._odds, self._weighing = (text, odds), ""
        self._weigh(self._text)
        self._tell()

    def _tell(self) -> None:
        """Tells how finished the turn is, once words and sound of this pause are judged, and whenever that changes."""
        pause = self._pause
        if pause is None or self._heard is None or self._heard[0] != pause:
            return
        text = self._words_covering(pause)
        if text is None or (self._words_judge is not None and self._odds[0] != text):
            return
        told = (pause, probability(text, self._odds[1] if self._words_judge is not None else None, self._heard[1]))
        if told != self._told:
            self._told = told
            self.on_finished(self._turn, told[1], pause)

    def _words_covering(self, pause: float) -> str | None:
        """The words so far, if they account for the sound up to `pause`."""
        return self._text if self._text and self._text_until >= pause - COVERED_SECONDS else None

    def _publish(
        self, stable: str = "", unstable: str = "", *, settled: bool = False, final: bool = False, until: float = 0.0
    ) -> None:
        before = " ".join(part for part in self._settled if part)
        if settled or final:
            stable, unstable = self._stretch.words.all, ""
        stable = " ".join(part for part in (before, stable) if part)
        if final:
            until, self._wants_final = self._now, None
        self.on_update(TranscriptUpdate(self._turn, stable, unstable, until, settled or final, final))
        if not final:
            self._text, self._text_until = " ".join(part for part in (stable, unstable) if part), until
            self._weigh(self._text)
            self._tell()

