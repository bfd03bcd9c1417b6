"""Streaming recognition: looks at the growing utterance again and again, and settles it at its pauses.

A look takes in the whole turn. Of a turn longer than `WINDOW_SECONDS` it takes in a window, which overlaps the one
before and is joined to it by the words that both have, so that a look costs the same however long the turn or the
talk. One worker thread; the newest sound wins: a look that is overtaken is skipped and counted, never queued.

Whether a turn is finished is judged by its sound and, where it is English, by its words.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Protocol

import numpy as np
import soxr

from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame
from app.conversation.words import same_words
from app.stt.base import EndOfTurn, TranscriptUpdate
from app.stt.finished_words import WordOdds, probability, probability_by_sound
from app.stt.hallucinations import without_masked_end
from app.stt.silences import quiet_before, quietest
from app.stt.stable_words import StableWords
from app.stt.window_overlap import joined

RATE = 16_000
PREROLL_SECONDS = 0.4
"""Sound kept before the voice was noticed, whoever speaks: an onset takes 64 to 100 ms to notice, and a consonant leads
it."""
LONGEST_PREROLL_SECONDS = 2.5
"""Where the app was silent, the sound begins in the last silence before that, at most so far back: the detector may
have missed a soft first word."""
LOOK_SECONDS = ((0.0, 0.24), (1.5, 0.4), (5.0, 0.64))
"""(Length of the window, new sound after which it is looked at again.) The first words come at once, since they tell
speech from laughter. A long window takes twice as long to look at as a short one, and its end is looked at in the pause
anyway. With 0.24 s up to 5 s and 0.4 s beyond, the looks took most of the app's processor time."""
PAUSE_LOOK_SECONDS = 0.28
"""A pause is looked at once more at this length: the last word's fading end, or a soft word behind it, came since."""
SILENT_SECONDS = 0.03
"""A look that is under way when a pause is noticed, and reaches so far into it, is taken for the pause's first one."""
WINDOW_SECONDS = 10.0
"""A longer window is followed by one that begins..."""
OVERLAP_SECONDS = (3.0, 6.0)
"""... so long before its end, at the quietest place."""
LONGEST_SECONDS = 20.0
"""What one look takes in at most, where looks were late: Whisper takes 22 s."""
LINGER_SECONDS = 2.0
"""How long the sound of an ended turn is kept, in case the user goes on with it."""
JUDGED_SECONDS = 8
"""What the judge of the sound hears of a turn."""
COVERED_SECONDS = 0.16
"""Words that account for this much less than the sound are judged: what is missing is the last one's fading end."""


class Decoder(Protocol):
    """Sound to words; see `WhisperDecoder`."""

    language: str
    """Of the words, by its two letters; empty while it is to be found out and not heard yet."""

    def decode(self, samples: np.ndarray) -> str:
        """The words of `samples`: float32 at 16 kHz."""
        ...

    def close(self) -> None:
        """Frees what it holds; nothing is decoded afterwards."""
        ...


class WordsJudge(Protocol):
    """Tells from English words whether they make a whole turn; see `FinishedWords`."""

    def odds(self, text: str) -> WordOdds | None:
        """None: it can't tell."""
        ...


class _Window:
    """The turn's sound from sample `start` (16 kHz, session time) on; `before` are the words up to sample `until`, some
    of which lie in the window.
    """

    def __init__(self, start: int, before: str = "", until: int = 0) -> None:
        self.start = start
        self.before = before
        self.until = until


class StreamingTranscriber:
    """A `Transcriber` over a `Decoder`. `load` makes the decoder and the end-of-turn judge when entered; `load_words`
    makes the judge of the words; `unload` takes back what they made.

    `call_soon` hands a callback from the worker to the event loop (`loop.call_soon_threadsafe`).
    """

    shed: int

    def __init__(
        self,
        name: str,
        load: Callable[[], tuple[Decoder, EndOfTurn | None]],
        call_soon: Callable[[Callable[[], None]], object],
        load_words: Callable[[], WordsJudge | None] = lambda: None,
        unload: Callable[[], None] = lambda: None,
    ) -> None:
        self.name = name
        self.shed = 0
        self.on_update: Callable[[TranscriptUpdate], None] = lambda update: None
        self.on_finished: Callable[[int, float, float], None] = lambda turn, probability, end: None
        self.on_failure: Callable[[str], None] = lambda sentence: None
        self._load = load
        self._load_words = load_words
        self._unload = unload
        self._call_soon = call_soon
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, RATE, 1, dtype="float32", quality="MQ")
        self._blocks: deque[np.ndarray] = deque()
        self._begun = False  # it may be entered in mid-talk
        self._first = 0  # session sample (16 kHz) of the first block kept
        self._last = 0  # session sample behind the last block
        self._now = 0.0
        self._turn = 0
        self._open = False
        self._ended_at = -1e9
        self._not_before = 0  # sample before which the sound is an earlier turn's
        self._words = StableWords()
        self._window = _Window(0)
        self._looked_until = 0  # sample up to which the last look reached
        self._pause: float | None = None  # speech_end of the pause that is going on
        self._settled_at: float | None = None  # speech_end that the words are settled for
        self._looked_again = False  # in this pause
        self._wants_final: float | None = None
        self._job: Future[None] | None = None
        self._next: Callable[[], Future[None]] | None = None
        self._judging = 0
        self._due_skipped = False
        self._words_judge: WordsJudge | None = None
        self._language = ""  # of the words of the last look
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
            self._words_judge = words.result()
        except BaseException:
            if not words.cancel():
                words.exception()  # what is being loaded is there before it is taken back
            self._end_workers()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self._turn, self._open, self._next, self._text = -1, False, None, ""
        self._end_workers()
        self._judge = self._words_judge = None
        del self._decoder  # whoever keeps the ears of an ended talk keeps no model

    def _end_workers(self) -> None:
        """Waits for them, and has what they worked with taken back."""
        self._worker.shutdown(wait=True, cancel_futures=True)
        self._judge_worker.shutdown(wait=True, cancel_futures=True)
        self._words_worker.shutdown(wait=False, cancel_futures=True)
        self._unload()  # before this worker is waited for, which may wait for a child that gives no answer
        self._words_worker.shutdown(wait=True)

    @property
    def busy(self) -> bool:
        """See `Transcriber.busy`."""
        return self._job is not None or self._next is not None or self._judging > 0 or bool(self._weighing)

    def push(self, frame: Frame, voiced: bool) -> None:
        """See `Transcriber.push`."""
        if not self._begun:
            self._begun = True
            self._first = self._last = frame.index * FRAME_SAMPLES * RATE // SAMPLE_RATE
        block = self._resampler.resample_chunk(frame.samples)
        self._blocks.append(block)
        self._last += len(block)
        self._now = frame.at
        if not self._open:
            linger = self._now - self._ended_at <= LINGER_SECONDS
            if not linger:
                self._forget_before(self._last - int(LONGEST_PREROLL_SECONDS * RATE))
            return
        if voiced and self._pause is not None:
            self._go_on_after_pause()
        if self._pause is not None:
            self._look_again()
            return
        length = self._last - self._window.start
        due = next(seconds for least, seconds in reversed(LOOK_SECONDS) if length >= least * RATE)
        if self._last - self._looked_until >= due * RATE - RATE // 50:
            if self._job is None:
                self._due_skipped = False
                self._look(settle=False)
            elif self._last - self._looked_until >= 2 * due * RATE and not self._due_skipped:
                self._due_skipped = True
                self.shed += 1

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        """See `Transcriber.begin`."""
        start = self._beginning(at, silent_since)
        self._forget_before(start)
        self._turn, self._open, self._words = turn, True, StableWords()
        self._window = _Window(start)
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
            self._pause, self._looked_again = speech_end, False
            if self._job is None or not _reaches_into(self._looked_until, speech_end):
                self._look(settle=True)
        if self._judge is not None and not (again and self._judging):
            self._judging += 1
            samples = self._sound(max(self._first, self._last - JUDGED_SECONDS * RATE), self._last)
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
        self._ended_at, self._not_before = self._now, self._last
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
            self._ended_at, self._not_before = self._now, self._last  # who goes on soon goes on with these words

    # -- sound -------------------------------------------------------------------------------------

    def _forget_before(self, sample: int) -> None:
        while self._blocks and self._first + len(self._blocks[0]) <= sample:
            self._first += len(self._blocks.popleft())

    def _sound(self, start: int, end: int) -> np.ndarray:
        if not self._blocks:
            return np.zeros(0, np.float32)
        joined = np.concatenate(self._blocks)
        return joined[max(0, start - self._first) : max(0, end - self._first)]

    def _beginning(self, at: float, silent_since: float) -> int:
        """The sample at which a turn's sound begins whose voice was noticed at `at`."""
        earliest = max(self._first, self._not_before)
        start = max(earliest, int((at - PREROLL_SECONDS) * RATE))
        clear = max(earliest, int(silent_since * RATE), int((at - LONGEST_PREROLL_SECONDS) * RATE))
        if clear >= start:
            return start
        return clear + quiet_before(self._sound(clear, self._last), start - clear)

    def _go_on_after_pause(self) -> None:
        """The user speaks again."""
        self._pause = None
        self._words.reopen()

    def _move_window(self, window: _Window, end: int) -> None:
        """Lets the next look begin later, once the turn's words are known up to sample `end`, where `window` ends."""
        if window is not self._window or end - window.start < WINDOW_SECONDS * RATE:
            return
        least, most = (int(seconds * RATE) for seconds in OVERLAP_SECONDS)
        start = end - most + quietest(self._sound(end - most, end - least))
        self._window = _Window(start, self._words.all, end)
        self._forget_before(min(start, end - JUDGED_SECONDS * RATE))

    # -- looking -----------------------------------------------------------------------------------

    def _look_again(self) -> None:
        """Looks once more at a pause that lasts."""
        assert self._pause is not None
        if self._looked_again or self._now - self._pause < PAUSE_LOOK_SECONDS or self._settled_at != self._pause:
            return
        self._looked_again = True
        if self._job is None:
            self._look(settle=True)

    def _look(self, *, settle: bool) -> None:
        """Looks at the current window up to now; after the look that is under way, if there is one."""
        turn, window, at = self._turn, self._window, self._now
        end = min(self._last, window.start + int(LONGEST_SECONDS * RATE))
        more = end < self._last
        begun_in = self._pause if settle else None
        samples = self._sound(window.start, end)
        self._looked_until = end

        def take(words: str) -> None:
            if turn != self._turn or not (self._open or self._wants_final is not None):
                return
            words = joined(window.before, words, (window.until - window.start) / max(1, end - window.start))
            # One that ends early, as Whisper does at times, doesn't tell what the sound up to here holds.
            tells = len(words.split()) >= len(self._words.all.split()) > 0
            pause = self._pause if self._wants_final is None else self._wants_final
            if more or pause is None or (begun_in != pause and not _reaches_into(end, pause)):
                # The user still speaks, or speaks again: the newest words may be half of a longer one.
                stable, unstable = self._words.update(without_masked_end(words))
                if tells or more:
                    self._move_window(window, end)
                if self._open:
                    self._publish(stable, unstable, until=at)
                if more and self._job is None:
                    self._look(settle=settle)
                return
            if self._settled_at == pause and same_words(words, self._words.all):
                return  # the second look at this pause has found nothing new
            self._words.settle(words)
            if tells:
                self._move_window(window, end)
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
        words, language, problem = "", self._language, ""
        try:
            words = self._decoder.decode(samples)
            language = self._decoder.language
        except Exception as error:
            problem = (
                f"The ears failed ({type(error).__name__}), so some words may be missing from the transcript. "
                "If it happens again, start the talk anew."
            )
        self._call_soon(lambda: self._done(words, language, problem, take))

    def _done(self, words: str, language: str, problem: str, take: Callable[[str], None]) -> None:
        self._job, self._language = None, language
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
        if self._words_judge is None or not self._english or self._weighing or text in ("", self._odds[0]):
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
        sound = self._heard[1]
        if self._english:
            text = self._words_covering(pause)
            if text is None or (self._words_judge is not None and self._odds[0] != text):
                return
            told = (pause, probability(text, self._odds[1] if self._words_judge is not None else None, sound))
        else:
            told = (pause, probability_by_sound(sound))
        if told != self._told:
            self._told = told
            self.on_finished(self._turn, told[1], pause)

    @property
    def _english(self) -> bool:
        """Whether the app can judge the words."""
        return self._language == "en"

    def _words_covering(self, pause: float) -> str | None:
        """The words so far, if they account for the sound up to `pause`."""
        return self._text if self._text and self._text_until >= pause - COVERED_SECONDS else None

    def _publish(
        self, stable: str = "", unstable: str = "", *, settled: bool = False, final: bool = False, until: float = 0.0
    ) -> None:
        if settled or final:
            stable, unstable = self._words.all, ""
        if final:
            until, self._wants_final = self._now, None
        self.on_update(TranscriptUpdate(self._turn, stable, unstable, until, settled or final, final, self._language))
        if not final:
            self._text, self._text_until = " ".join(part for part in (stable, unstable) if part), until
            self._weigh(self._text)
            self._tell()


def _reaches_into(sample: int, pause: float) -> bool:
    """Whether a look that ends at `sample` hears enough of the pause that begins at `pause` to be its first one."""
    return sample >= (pause + SILENT_SECONDS) * RATE
