"""Streaming recognition: decodes a growing utterance repeatedly and settles its words at pauses.

A pass decodes the whole turn. If the turn is longer than `WINDOW_SECONDS`, the pass decodes a window that overlaps the
previous one, and joins the two at their common words, so that its cost doesn't grow with the turn. The pass that
settles a pause runs in parallel with the one in progress. Otherwise, the newest audio takes precedence: a pass that is
superseded before it starts is skipped and counted, and the words of one that ends late are dropped. `SoundBuffer`
buffers the user's latest audio at 16 kHz and finds the start of a turn in it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import soxr

from app.conversation.frame import SAMPLE_RATE, Frame, Position
from app.conversation.words import same_words
from app.stt.base import RATE, Decoder, EndOfTurn, TranscriberError, TranscriptUpdate, WordsJudge
from app.stt.endpointing import Endpointing
from app.stt.loudness import quiet_before, quietest
from app.stt.stable_words import StableWords, joined
from app.stt.transcript_cleanup import without_masked_end

PASS_SECONDS = ((0.0, 0.24), (1.5, 0.4), (5.0, 0.64))
"""Pairs of (window length from which the entry applies, amount of new audio that triggers the next pass), in seconds.
The first words are decoded early, because they distinguish speech from laughter. A long window takes twice as long to
decode as a short one, and its end is decoded at the pause anyway. With 0.24 s up to 5 s and 0.4 s beyond, decoding used
most of the app's CPU time."""
PASSES_AT_ONCE = 2
"""How many passes may run at the same time: a second one only to settle a pause, whose words are urgent."""
PAUSE_PASS_SECONDS = 0.28
"""Length of a pause at which it is decoded once more, to include the last word's decay or a soft word after it, unless
the first pass over it found the words of the pass before."""
SURELY_FINISHED = 0.8
"""If the audio alone ends the turn with this probability, it isn't evaluated again later in the pause."""
SILENT_SECONDS = 0.03
"""A pass already running when a pause is detected counts as the pause's first one if it extends this far into it."""
WINDOW_SECONDS = 10.0
"""Window length at which a new window is started."""
OVERLAP_SECONDS = (3.0, 6.0)
"""Minimum and maximum overlap of consecutive windows. The new window starts at the quietest point in this range."""
LONGEST_SECONDS = 20.0
"""Maximum length of audio decoded in one pass, reached only if passes are late. Whisper accepts 22 s."""


@dataclass(frozen=True, slots=True)
class Window:
    """The turn's audio from sample `start` on (16 kHz, session time).

    `before`: the words up to sample `until`, some of which lie in this window.
    """

    start: int
    before: str = ""
    until: int = 0


@dataclass(slots=True, eq=False)
class Utterance:
    """What is known of the audio and the words of one turn.

    - `decoded_until`: sample up to which the last pass reached; `used_until`: the same of the last one whose words were
      used.
    - `end`: sample at which its audio ends; None while the turn goes on.
    - `settled_at`: speech_end of the pause whose words are settled; `sure`: the pass before had found the same words.
    - `final_due`: speech_end of the ended turn, while its final words are pending. The next turn may begin meanwhile.
    """

    turn: int
    window: Window
    decoded_until: int = 0
    used_until: int = 0
    end: int | None = None
    words: StableWords = field(default_factory=StableWords)
    settled_at: float | None = None
    sure: bool = False
    final_due: float | None = None

    @property
    def open(self) -> bool:
        """Whether the turn is still open."""
        return self.end is None


@dataclass(frozen=True, slots=True, eq=False)
class Pass:
    """A pass over `window` of `utterance` up to sample `end`, started at session time `at`.

    `settles`: whether it settles the words of the pause that began at `pause`; `more`: whether more audio follows
    `end`.
    """

    utterance: Utterance
    window: Window
    end: int
    at: float
    settles: bool
    pause: float | None
    more: bool
    samples: np.ndarray

    @property
    def overlap(self) -> float:
        """The share of the pass's audio whose words are already part of `window.before`."""
        return (self.window.until - self.window.start) / max(1, self.end - self.window.start)

    def covers(self, pause: float) -> bool:
        """Whether the pass was started during this pause or extends far enough into it."""
        return self.pause == pause or reaches_into(self.end, pause)


def next_due(length: int) -> float:
    """Returns how many seconds of new audio trigger the next pass over a window of `length` samples."""
    return next(seconds for least, seconds in reversed(PASS_SECONDS) if length >= least * RATE)


def reaches_into(sample: int, pause: float) -> bool:
    """Whether a pass that ends at `sample` covers enough of the pause starting at `pause` to be its first pass."""
    return sample >= (pause + SILENT_SECONDS) * RATE


PREROLL_SECONDS = 0.4
"""Audio kept from before the detection of speech, even if the app was speaking. Detecting an onset takes 64 to 100 ms,
and a consonant may precede it."""
LONGEST_PREROLL_SECONDS = 2.5
"""If the app was silent, the turn's audio starts in the last silence before the onset, at most this far back, because
the detector may have missed a soft first word."""


class SoundBuffer:
    """A buffer of audio from sample `first` up to but excluding `last`, counted at 16 kHz from the session's start."""

    def __init__(self) -> None:
        self.first = 0
        self.last = 0
        self._resampler = soxr.ResampleStream(SAMPLE_RATE, RATE, 1, dtype="float32", quality="MQ")
        self._position = Position("recogniser", RATE)
        self._blocks: deque[np.ndarray] = deque()

    def push(self, frame: Frame) -> None:
        """Appends a frame (24 kHz)."""
        block = self._resampler.resample_chunk(self._position.take(frame))
        self._blocks.append(block)
        self.last = self._position.count(len(block))
        self.first = self.last - sum(map(len, self._blocks))

    def forget_before(self, sample: int) -> None:
        """Frees the audio before `sample`, in whole blocks."""
        while self._blocks and self.first + len(self._blocks[0]) <= sample:
            self.first += len(self._blocks.popleft())

    def sound(self, start: int, end: int) -> np.ndarray:
        """Returns the buffered audio from sample `start` up to but excluding `end`, as float32."""
        if not self._blocks:
            return np.zeros(0, np.float32)
        return np.concatenate(self._blocks)[max(0, start - self.first) : max(0, end - self.first)]

    def onset(self, at: float, silent_since: float, not_before: int) -> int:
        """Returns the first sample of a turn in which speech was detected at session time `at`.

        `silent_since`: when the app last stopped speaking; `not_before`: the sample at which the previous turn ends.
        """
        earliest = max(self.first, not_before)
        start = max(earliest, int((at - PREROLL_SECONDS) * RATE))
        clear = max(earliest, int(silent_since * RATE), int((at - LONGEST_PREROLL_SECONDS) * RATE))
        if clear >= start:
            return start
        return clear + quiet_before(self.sound(clear, self.last), start - clear)


LINGER_SECONDS = 2.0
"""How long the audio of an ended turn is kept in case the user resumes it."""
JUDGED_SECONDS = 8
"""Length of the audio at the end of a turn that endpointing evaluates, in seconds."""


class StreamingTranscriber:
    """A `Transcriber` that uses a `Decoder`.

    - `name`: the name shown to the user.
    - `load`: loads the decoder and the end-of-turn judge; called on entering the context.
    - `call_soon`: schedules a callback on the event loop from a worker thread (`loop.call_soon_threadsafe`).
    - `load_words`: loads the words judge.
    - `unload`: frees the models.
    """

    shed: int
    endpointing_type = Endpointing

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
        self.on_notice: Callable[[str], None] = lambda sentence: None
        self.on_broken: Callable[[], None] = lambda: None
        self._load = load
        self._load_words = load_words
        self._unload = unload
        self._call_soon = call_soon
        self._buffer = SoundBuffer()
        self.endpointing = self.endpointing_type(call_soon, lambda *finished: self.on_finished(*finished))
        self._now = 0.0
        self._ended_at = -1e9
        self._not_before = 0  # sample where the previous turn's audio ends
        self._latest = Utterance(0, Window(0), end=0)
        self._pause: float | None = None  # speech_end of the current pause
        self._decoded_again = False  # in this pause
        self._running: list[Pass] = []
        self._waiting: list[Pass] = []  # at most one of each utterance
        self._due_skipped = False
        self._failed_turn = 0  # the last turn in which a failure was reported

    # -- the protocol ------------------------------------------------------------------------------

    def __enter__(self) -> StreamingTranscriber:
        """Loads the models and waits until they are ready. Raises TranscriberError."""
        self._worker = ThreadPoolExecutor(PASSES_AT_ONCE, "transcriber")
        words = self.endpointing.start(self._load_words)  # first, since it may start a child that loads in parallel
        try:
            self._decoder, judge = self._load()
            self.endpointing.set_judges(judge, words.result())
        except BaseException:
            if not words.cancel():
                words.exception()  # wait until it is loaded before freeing it
            self._end_workers()
            raise
        return self

    def __exit__(self, *exc: object) -> None:
        self.endpointing.turn = -1
        self._running, self._waiting = [], []
        self._end_workers()
        del self._decoder  # so that a transcriber whose session has ended doesn't keep the model in memory

    def _end_workers(self) -> None:
        self._worker.shutdown(wait=True, cancel_futures=True)
        self.endpointing.stop(self._unload)

    @property
    def busy(self) -> bool:
        return bool(self._running) or self.endpointing.busy

    def push(self, frame: Frame, voiced: bool) -> None:
        buffer = self._buffer
        buffer.push(frame)
        self._now = frame.at
        said = self._latest
        if not said.open:
            if self._now - self._ended_at > LINGER_SECONDS:
                self._forget_before(buffer.last - int(LONGEST_PREROLL_SECONDS * RATE))
            return
        if voiced and self._pause is not None:
            self._end_pause()
        if self._pause is not None:
            self._decode_pause_again()
            return
        due = next_due(buffer.last - said.window.start)
        new = buffer.last - said.decoded_until
        if new >= due * RATE - RATE // 50:
            if not self._running:
                self._due_skipped = False
                self._decode(said)
            elif new >= 2 * due * RATE and not self._due_skipped:
                self._due_skipped = True
                self.shed += 1

    def begin(self, turn: int, at: float, silent_since: float = 0.0) -> None:
        start = self._buffer.onset(at, silent_since, self._not_before)
        self._waiting = [one for one in self._waiting if one.utterance.final_due is not None]
        self._forget_before(start)
        self._latest = Utterance(turn, Window(start), decoded_until=self._buffer.last)
        self._pause = None
        self.endpointing.start_turn(turn)

    def pause(self, turn: int, speech_end: float) -> None:
        said = self._latest
        if turn != said.turn or not said.open:
            return
        again = speech_end == self._pause
        if not again:
            self._set_pause(speech_end)
            self._decoded_again = False
            if said not in self._decoded or not reaches_into(said.decoded_until, speech_end):
                self._decode(said, settle=True)
        if self.endpointing.judges_sound and not (again and self._sound_is_judged(speech_end)):
            last = self._buffer.last
            self.endpointing.set_sound(self._buffer.sound(max(self._buffer.first, last - JUDGED_SECONDS * RATE), last))

    def _sound_is_judged(self, pause: float) -> bool:
        """Whether the audio of the pause is being evaluated, or surely ends the turn."""
        judged = self.endpointing.judged_sound
        return self.endpointing.judging_sound or (
            judged is not None and judged[0] == pause and judged[1] >= SURELY_FINISHED
        )

    def resume(self, turn: int) -> None:
        said = self._latest
        if turn == said.turn:
            said.end = said.final_due = None
            if self._pause is not None:
                self._end_pause()

    def end(self, turn: int, speech_end: float) -> None:
        said = self._latest
        if turn != said.turn or not said.open:
            return
        self._close(said)
        said.final_due = speech_end
        if said.settled_at == speech_end and self._pause == speech_end:
            self._publish_final(said)
        elif self._pause != speech_end or said not in self._decoded:
            self._set_pause(speech_end)
            self._decode(said, settle=True)

    def discard(self, turn: int) -> None:
        said = self._latest
        if turn == said.turn:
            said.final_due = None
            self._waiting = [one for one in self._waiting if one.utterance is not said]
            self._close(said)  # may be resumed if the user continues soon

    def _close(self, said: Utterance) -> None:
        self._ended_at = self._now
        self._not_before = said.end = self._buffer.last

    # -- pauses and windows ------------------------------------------------------------------------

    def _set_pause(self, pause: float | None) -> None:
        self._pause = self.endpointing.pause = pause

    def _end_pause(self) -> None:
        """Ends the current pause, because the user is speaking again."""
        self._set_pause(None)
        self._latest.words.reopen()

    def _decode_pause_again(self) -> None:
        """Decodes the pause once more when it has lasted long enough."""
        assert self._pause is not None
        said = self._latest
        if self._decoded_again or self._now - self._pause < PAUSE_PASS_SECONDS or said.settled_at != self._pause:
            return
        self._decoded_again = True
        if not self._running and not said.sure:
            self._decode(said, settle=True)

    def _move_window(self, done: Pass) -> None:
        """Starts a new window after a long pass, once the words up to the end of that pass are known."""
        said, window, end = done.utterance, done.window, done.end
        if window is not said.window or end - window.start < WINDOW_SECONDS * RATE:
            return
        least, most = (int(seconds * RATE) for seconds in OVERLAP_SECONDS)
        start = end - most + quietest(self._buffer.sound(end - most, end - least))
        said.window = Window(start, said.words.all, end)
        if said is self._latest:
            self._forget_before(min(start, end - JUDGED_SECONDS * RATE))

    def _forget_before(self, sample: int) -> None:
        """Frees the audio before `sample`, but for that of turns whose final words are pending."""
        due = [said.window.start for said in self._decoded if said.final_due is not None]
        self._buffer.forget_before(min([sample, *due]))

    # -- decoding ----------------------------------------------------------------------------------

    def _decode(self, said: Utterance, *, settle: bool = False) -> None:
        """Decodes the current window up to the turn's newest audio, as soon as the passes in progress allow it."""
        window, last = said.window, self._buffer.last if said.end is None else said.end
        end = min(last, window.start + int(LONGEST_SECONDS * RATE))
        samples = self._buffer.sound(window.start, end)
        pause = None if not settle else self._pause if said.final_due is None else said.final_due
        planned = Pass(said, window, end, self._now, settle, pause, end < last, samples)
        said.decoded_until = end
        if self._may_run(planned):
            self._submit(planned)
            return
        others = [one for one in self._waiting if one.utterance is not said]
        self.shed += len(self._waiting) - len(others)
        self._waiting = [*others, planned]

    @property
    def _decoded(self) -> list[Utterance]:
        """The utterances of the passes that are in progress or waiting."""
        return [one.utterance for one in (*self._running, *self._waiting)]

    def _may_run(self, planned: Pass) -> bool:
        """Whether a pass may run in parallel with those in progress. The words of an earlier turn come first."""
        mine = all(one.utterance is planned.utterance for one in self._running)
        return not self._running or (planned.settles and mine and len(self._running) < PASSES_AT_ONCE)

    def _submit(self, planned: Pass) -> None:
        self._running.append(planned)
        self._worker.submit(self._run, planned)

    def _run(self, running: Pass) -> None:
        """Decodes the audio of a pass on the worker thread and passes the words to the event loop."""
        words, language, problem = "", self.endpointing.language, ""
        try:
            words = self._decoder.decode(running.samples)
            language = self._decoder.language
        except TranscriberError as error:
            problem = str(error)
        except Exception as error:
            problem = (
                f"Speech recognition failed ({type(error).__name__}), so some words may be missing from the "
                "transcript. It is loaded again."
            )
        self._call_soon(lambda: self._on_decoded(running, words, language, problem))

    def _on_decoded(self, done: Pass, words: str, language: str, problem: str) -> None:
        if done not in self._running:
            return
        self._running.remove(done)
        said, self.endpointing.language = done.utterance, language
        if problem and said.turn != self._failed_turn:
            self._failed_turn = said.turn
            self.on_failure(problem)
        if self._waiting and self._may_run(self._waiting[0]):
            self._submit(self._waiting.pop(0))
        late = done.end < said.used_until
        if not late and (said.final_due is not None or (said.open and said is self._latest)):
            said.used_until = done.end
            self._use_words(done, joined(done.window.before, words, done.overlap))
        if problem and not self._decoder.alive():
            self.on_broken()

    def _use_words(self, done: Pass, words: str) -> None:
        """Updates or settles the turn's words with the result of a pass, and publishes them."""
        said = done.utterance
        # Whisper sometimes stops early, and then the words don't cover the audio up to the end of the pass.
        complete = len(words.split()) >= len(said.words.all.split()) > 0
        pause = self._pause if said.final_due is None else said.final_due
        if done.more or pause is None or not done.covers(pause):
            # The user is speaking, so the last word may be cut off.
            stable, unstable = said.words.update(without_masked_end(words))
            if complete or done.more:
                self._move_window(done)
            if said.open:
                self._publish(said, stable, unstable, until=done.at)
            if done.more and said not in self._decoded:
                self._decode(said, settle=done.settles)
            return
        if said.settled_at == pause and same_words(words, said.words.all):
            return  # the second pass over this pause found nothing new
        said.sure = same_words(words, said.words.all)
        said.words.settle(words)
        if complete:
            self._move_window(done)
        said.settled_at = pause
        if said.final_due == pause:
            self._publish_final(said)
        elif self._pause == pause:
            self._publish(said, said.words.all, until=done.at, settled=True)

    def _publish(
        self, said: Utterance, stable: str, unstable: str = "", *, until: float, settled: bool = False
    ) -> None:
        language = self.endpointing.language
        self.on_update(TranscriptUpdate(said.turn, stable, unstable, until, settled, language=language))
        self.endpointing.set_words(" ".join(part for part in (stable, unstable) if part), until)

    def _publish_final(self, said: Utterance) -> None:
        said.final_due = None
        words, language = said.words.all, self.endpointing.language
        self.on_update(TranscriptUpdate(said.turn, words, "", self._now, settled=True, final=True, language=language))
