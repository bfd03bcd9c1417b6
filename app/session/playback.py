"""What is played, and what interrupts it or goes wrong with it: all on the frame thread.

`Playback` writes to the loudspeaker and tracks which words were heard. `AskedSound` replaces the microphone by a
question that is asked aloud. `EarlyBargeIn` detects an interruption within a frame. `SoundEvents` reports devices, echo
and loss.
"""

from __future__ import annotations

import dataclasses
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from app.audio.io.base import (
    AudioSink,
    AudioSource,
    DuplexAudio,
    EarlySampleSource,
    LeavesOutQuiet,
    PausesPlayback,
)
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame, silence
from app.conversation.speaking.spoken_answer import Said
from app.conversation.turns.tracker import TurnTracker
from app.conversation.turns.voice import VoiceRun, VoiceSettings, VoiceWindow
from app.frontend.base import LOUD
from app.session.control import SessionChoice
from app.session.overload import Overload
from app.stt.base import VoiceActivity

FEW_SAMPLES = 240
"""10 ms. The counts of a sink may be off by this much right after a flush."""


@dataclass(slots=True)
class _Pending:
    """Words that are still to be played. They have been heard once sample `end` of all that was written is played."""

    end: int
    event: e.AssistantSaid


class Playback:
    """Writes the front-end's audio to the sink, and tracks which words have been heard.

    - `on_unheard`: called with the number of samples and words that were discarded before they were played.
    - `replaceable`: the device behind the sink may be exchanged, which discards what it has not played.
    """

    def __init__(self, sink: AudioSink, on_unheard: Callable[[int, int], None], *, replaceable: bool) -> None:
        self._sink = sink
        self._shortened = sink if isinstance(sink, LeavesOutQuiet) else None
        self._quiet = self._shortened.quiet if self._shortened is not None else 0.0  # within speech
        self._on_unheard = on_unheard
        self._replaceable = replaceable
        self._pending: deque[_Pending] = deque()
        self._written = self._frame_start = 0  # samples
        self._flushed = 0
        self._underruns = 0

    def write(self, samples: np.ndarray, *, speaking: bool) -> None:
        """Writes a frame's samples, or lets the sink idle while there is nothing to say."""
        self._frame_start = self._written
        if self._shortened is not None:
            # While a model says nothing, its noise is louder than a pause in speech, and none of it is missed.
            self._shortened.quiet = self._quiet if speaking else max(self._quiet, LOUD)
        if self._sink.keeps_time or speaking or samples.any():
            self._sink.write(samples)
            self._written += len(samples)
        else:
            # Idle, so that the next answer starts immediately instead of after queued silence.
            self._sink.write(samples[:0])

    def add_words(self, at: float, said: Said) -> None:
        """Adds words whose audio ends in the frame that was just written."""
        written = said.written or (-1, -1)
        event = e.AssistantSaid(at, said.turn, said.text, said.revision, said.glued, *written)
        self._pending.append(_Pending(self._frame_start + said.end, event))

    def heard(self, at: float, *, up_to_turn: int = 0) -> list[e.AssistantSaid]:
        """Returns the words that have been played by now, and all those of turns up to `up_to_turn`, which are over."""
        queued = self._sink.queued
        # Read after `queued`, so that what a device discards in between counts as lost rather than heard.
        lost = self._sink.flushed - self._flushed if self._replaceable else 0
        reached = self._written - queued - lost
        out: list[e.AssistantSaid] = []
        while self._pending and (self._pending[0].event.turn <= up_to_turn or self._pending[0].end <= reached):
            out.append(dataclasses.replace(self._pending.popleft().event, at=at))
        return out

    def flush(self) -> int:
        """Discards what has not been played yet; returns the number of samples."""
        self.lost_with_device()  # a loudspeaker may disappear at any moment
        reached = self._written - self._sink.queued
        thrown = self._sink.flush()
        self._tell_unheard(reached, thrown)
        self._flushed = self._sink.flushed
        return thrown

    def lost_with_device(self) -> int:
        """Returns how many samples a loudspeaker that disappeared had not played. They have to be said again."""
        if not self._replaceable:
            return 0
        flushed = self._sink.flushed  # it may rise at any moment
        thrown, self._flushed = flushed - self._flushed, flushed
        if thrown < FEW_SAMPLES:
            return 0
        self._tell_unheard(self._written - self._sink.queued - thrown, thrown)
        return thrown

    def new_underruns(self) -> int:
        """Returns the number of underruns since the last call."""
        new = self._sink.underruns - self._underruns
        self._underruns += max(0, new)
        return max(0, new)

    def _tell_unheard(self, reached: int, thrown: int) -> None:
        unheard = [p for p in self._pending if p.end > reached]
        for _ in unheard:
            self._pending.pop()
        self._on_unheard(thrown, len(unheard))


LEAD_SECONDS = 0.24
"""Silence before the question, in which the voice detector settles, and the talk button counts as held."""
TAIL_SECONDS = 6.0
"""How long to wait for the end of its turn in hands-free mode."""


class AskedSound:
    """Supplies the frames of a question that is asked aloud. Without hands-free mode, it holds the talk button."""

    def __init__(self, tracker: TurnTracker, frame_samples: int) -> None:
        self._tracker = tracker
        self._frame_samples = frame_samples
        self._frame_seconds = frame_samples / SAMPLE_RATE
        self._frames: list[np.ndarray] | None = None
        self._holds_button = False
        self._tail = 0.0

    def begin(self, samples: np.ndarray) -> None:
        """Starts with the next frame. `samples`: float32 mono 24 kHz of any length."""
        self.leave()
        size = self._frame_samples
        lead = round(LEAD_SECONDS / self._frame_seconds) * size
        self._frames = [*np.pad(samples.astype(np.float32), (lead, -len(samples) % size)).reshape(-1, size)]
        self._tail = 0.0
        if not self._tracker.duplex:
            self._holds_button = True
            self._tracker.press()

    def stop(self) -> None:
        """Stops it. Its turn ends and is not answered."""
        if self._frames is not None:
            self._frames, self._holds_button = None, False
            self._tracker.drop()

    def leave(self) -> None:
        """Gives the microphone back immediately. What was heard is part of the user's turn, which may continue."""
        self._frames = None
        self._release()

    def next_frame(self) -> np.ndarray | None:
        """Returns the frame that replaces the microphone's, float32; None if none does."""
        if self._frames is None:
            return None
        if self._frames:
            return self._frames.pop(0)
        self._release()
        self._tail += self._frame_seconds
        if self._tail > self._frame_seconds and (not self._tracker.user_holds_floor or self._tail > TAIL_SECONDS):
            self._frames = None
            return None
        return silence(self._frame_samples)

    def _release(self) -> None:
        if self._holds_button:
            self._holds_button = False
            self._tracker.release()


SUSPECTED = 0.1
"""The probability of voice in a frame from which the next one is examined in parts. That takes 3 ms of CPU time per
frame, and a voice that did not begin in the frame before is detected within 0.1 s anyway."""

PAUSED_FRAMES = 2
"""A pause that the tracker has not confirmed within this many frames is ended."""


class EarlyBargeIn:
    """A `VoiceActivity` around `voice` that may receive a frame in parts, and then pauses the loudspeaker for a voice.

    This requires that `source` is an `EarlySampleSource` and that `sink` has `PausesPlayback`; otherwise `voice` gets
    complete frames. `settings`: those of the tracker.
    """

    def __init__(
        self, voice: VoiceActivity, settings: VoiceSettings, source: AudioSource | None, sink: AudioSink
    ) -> None:
        self._voice = voice
        self._source = source if isinstance(source, EarlySampleSource) else None
        self._sink = sink if isinstance(sink, PausesPlayback) else None
        self._run = VoiceRun(settings)
        self._goes_on = False
        self._next, self._length = 0, FRAME_SAMPLES  # of the frame under way
        self._heard = 0  # samples of it so far, whose windows are in `_windows`
        self._windows: list[VoiceWindow] = []
        self._armed = self._suspects = False
        self._paused_frames: int | None = None

    def listen(self, armed: bool, own_level: float | None = None, *, goes_on: bool = False) -> None:
        """Sets whether the next frame may be examined in parts, so that a voice in it pauses the loudspeaker.

        - `own_level`: the user's level, as the tracker knows it.
        - `goes_on`: a voice would continue the turn that has just ended, so less evidence is required.
        """
        self._run.own_level, self._goes_on = own_level, goes_on
        suspects = self._suspects or goes_on
        self._armed = armed and suspects and self._sink is not None and self._paused_frames is None
        if self._source is not None:
            self._source.on_early_samples = self.ahead if self._armed else None

    def ahead(self, samples: np.ndarray) -> None:
        """Processes the next part of the current frame, and of those that arrive together with it: float32 (n,)."""
        index, begun = divmod(self._heard, self._length)
        ends = range(self._length - begun, len(samples), self._length)
        for number, part in enumerate(np.split(samples, ends), self._next + index):
            self._hear_part(Frame(number, part, length=self._length))

    def _hear_part(self, part: Frame) -> None:
        self._heard += len(part.samples)
        for window in self._voice.hear(part):
            self._windows.append(window)
            self._run.hear(window)
            stops = self._run.resumes if self._goes_on else self._run.interrupts
            if self._armed and stops and self._paused_frames is None:
                assert self._sink is not None
                self._sink.pause_playback()
                self._paused_frames = 0

    def hear(self, frame: Frame) -> list[VoiceWindow]:
        """Returns the windows of a complete frame, whose beginning `ahead` may have processed already."""
        rest = list(self._voice.hear(dataclasses.replace(frame, samples=frame.samples[self._heard :])))
        for window in rest:
            self._run.hear(window)
        heard = [*self._windows, *rest]
        windows = [window for window in heard if window.end <= frame.at + 1e-6]
        self._suspects = any(window.probability >= SUSPECTED for window in windows)
        self._windows, self._heard = heard[len(windows) :], max(0, self._heard - frame.length)
        self._next, self._length = frame.index + 1, frame.length
        return windows

    def settled(self) -> None:
        """Starts a new run, since the tracker has dealt with the voice so far."""
        self._run.begin()

    def pause(self) -> bool:
        """Pauses the loudspeaker, so that it fades out before the next step flushes it. Returns False if it can't."""
        if self._sink is None or self._paused_frames is not None:
            return False
        self._sink.pause_playback()
        self._paused_frames = 0
        return True

    def stepped(self, *, flushed: bool, hold_ignored: bool) -> None:
        """Records a step. `flushed`: the sink was flushed. `hold_ignored`: the front-end has ignored a hold."""
        if self._paused_frames is None:
            return
        self._paused_frames += 1
        if flushed:
            self._paused_frames = None
        elif hold_ignored or self._paused_frames >= PAUSED_FRAMES:
            assert self._sink is not None
            self._sink.resume_playback()
            self._paused_frames = None
            self._run.begin()  # otherwise, the same voice would pause it again


GAUGE_FRAMES = 12
"""Gauges are reported about once a second."""

ECHO_TOLD_SECONDS = 300.0
"""The minimum time between two messages that echo remains."""

ECHO_REMAINS = (
    "The microphone hears the app's own voice from the loudspeaker, so it may interrupt itself. Use headphones, turn "
    "the loudspeaker down or move it away from the microphone, or switch hands-free off and hold the button to talk."
)


class SoundEvents:
    """The events about the sound itself: lost frames, underruns, devices, and echo. All calls are on the frame thread.

    `edge`: the sound devices, if there are any.
    """

    too_slow = ""
    """What was noticed of a machine that is too slow up to the latest frame, for `StepMessage.too_slow`."""

    def __init__(self, edge: DuplexAudio | None) -> None:
        self._edge = edge
        self._overload = Overload()
        self._lost: Counter[str] = Counter()  # frames lost since the last one that wasn't, by cause
        self._late = 0  # frames for which the front-end's model has been late, up to the latest one
        self._muted = False
        self._echo_told_at = float("-inf")

    def after(self, frame: Frame, underruns: int, *, late: bool | None, duplex: bool) -> Iterator[e.Event]:
        """Yields what happened up to this frame.

        - `underruns`: how often the loudspeaker ran dry since the last one.
        - `late`: the front-end's model wasn't ready, so silence was played; None if the front-end has failed.
        """
        at, self.too_slow = frame.at, ""
        # Late frames count once the model is ready again. If it hangs, that is what the user is told.
        caught_up = self._late if late is False else 0
        self._late = self._late + 1 if late else 0
        if underruns:
            yield e.Underrun(at, underruns)
        if underruns or caught_up:
            self.too_slow = self._overload.note(at, underruns=underruns, late=caught_up)
        if self._edge is not None:
            yield from self._of_devices(self._edge, frame, duplex)
        if frame.lost:
            self._lost[frame.lost] += 1
            return
        missed, device = self._lost["late"], self._lost["device"]
        self._lost.clear()
        if missed:
            yield e.FramesDropped(at, missed)
        if device:
            yield e.SoundLost(at, device)
        self.too_slow = self._overload.gap(at, missed * frame.seconds, device * frame.seconds) or self.too_slow

    def _of_devices(self, edge: DuplexAudio, frame: Frame, duplex: bool) -> Iterator[e.Event]:
        at = frame.at
        for notice in edge.notices():
            yield e.DeviceChanged(at, notice.kind, notice.change, notice.name, notice.sentence)
        # Muting is reported once it is in force: the frame itself is the proof.
        if edge.muted != self._muted and not (edge.muted and frame.samples.any()):
            self._muted = edge.muted
            yield e.MicrophoneMuted(at, self._muted)
        if frame.index % GAUGE_FRAMES == 0:
            health = edge.health()
            yield e.SoundMeasured(
                at, health.erle_db, health.echo_remains, health.drift_ppm, health.overrun_ms, health.underruns
            )
            if health.echo_remains and duplex and at - self._echo_told_at > ECHO_TOLD_SECONDS:
                self._echo_told_at = at
                yield e.Failure(at, "audio", ECHO_REMAINS, about="echo")


def change_devices(edge: DuplexAudio, before: SessionChoice, choice: SessionChoice) -> None:
    """Brings the sound devices from one choice to another."""
    if choice.muted != before.muted:
        edge.muted = choice.muted
    if (choice.microphone, choice.loudspeaker) != (before.microphone, before.loudspeaker):
        edge.choose(choice.microphone, choice.loudspeaker)
    if choice.processing != before.processing:
        edge.set_processing(choice.processing)
