"""What is played and what interrupts it: the loudspeaker, questions asked aloud, early barge-in, device events."""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.audio.io.base import AudioSink, AudioSource, DuplexAudio, EarlySampleSource, PausesPlayback
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE, Frame, silence
from app.conversation.speaking.what_to_say import Said
from app.conversation.turns.tracker import TurnTracker
from app.conversation.turns.voice import VoiceRun, VoiceSettings, VoiceWindow
from app.session.control import SessionChoice
from app.stt.base import VoiceActivity

FEW_SAMPLES = 240
"""10 ms: a sink's figures may differ by up to this much right after a flush."""


@dataclass(slots=True)
class _Pending:
    """Words on their way to the loudspeaker: heard when sample `end` of all that was written has played."""

    end: int
    event: e.AssistantSaid


class Playback:
    """The front-end's way to the sink. `on_unheard` is told how many samples and words were thrown away unheard.

    `replaceable`: the devices behind the sink may be exchanged, and take along what they had not played.
    """

    def __init__(self, sink: AudioSink, on_unheard: Callable[[int, int], None], *, replaceable: bool) -> None:
        self._sink = sink
        self._on_unheard = on_unheard
        self._replaceable = replaceable
        self._pending: deque[_Pending] = deque()
        self._written = self._frame_start = 0  # samples
        self._flushed = 0
        self._underruns = 0

    def write(self, samples: np.ndarray, *, speaking: bool) -> None:
        """Write a frame's samples, or let the sink idle while there is nothing to say."""
        self._frame_start = self._written
        if self._sink.keeps_time or speaking or samples.any():
            self._sink.write(samples)
            self._written += len(samples)
        else:
            # Idle, so that the next answer starts at once and not behind silence.
            self._sink.write(samples[:0])

    def add_words(self, at: float, said: Said) -> None:
        """Words whose sound ends in the frame that was just written."""
        written = said.written or (-1, -1)
        event = e.AssistantSaid(at, said.turn, said.text, said.revision, said.glued, *written)
        self._pending.append(_Pending(self._frame_start + said.end, event))

    def heard(self, at: float, *, up_to_turn: int = 0) -> list[e.AssistantSaid]:
        """Return the words that have been played by now, and all of the turns up to `up_to_turn`, which are over."""
        queued = self._sink.queued
        # Read after that: what a device takes along meanwhile counts as lost, and never as heard.
        lost = self._sink.flushed - self._flushed if self._replaceable else 0
        reached = self._written - queued - lost
        out: list[e.AssistantSaid] = []
        while self._pending and (self._pending[0].event.turn <= up_to_turn or self._pending[0].end <= reached):
            out.append(dataclasses.replace(self._pending.popleft().event, at=at))
        return out

    def flush(self) -> int:
        """Throw away what is not played yet; return how many samples."""
        self.lost_with_device()  # a loudspeaker may disappear at this very moment
        reached = self._written - self._sink.queued
        thrown = self._sink.flush()
        self._tell_unheard(reached, thrown)
        self._flushed = self._sink.flushed
        return thrown

    def lost_with_device(self) -> int:
        """Return how many samples a loudspeaker that disappeared took along unplayed: they are still to be said."""
        if not self._replaceable:
            return 0
        flushed = self._sink.flushed  # it may rise at any moment
        thrown, self._flushed = flushed - self._flushed, flushed
        if thrown < FEW_SAMPLES:
            return 0
        self._tell_unheard(self._written - self._sink.queued - thrown, thrown)
        return thrown

    def new_underruns(self) -> int:
        """Return how often the sink ran dry since the last call."""
        new = self._sink.underruns - self._underruns
        self._underruns += max(0, new)
        return max(0, new)

    def _tell_unheard(self, reached: int, thrown: int) -> None:
        unheard = [p for p in self._pending if p.end > reached]
        for _ in unheard:
            self._pending.pop()
        self._on_unheard(thrown, len(unheard))


LEAD_SECONDS = 0.24
"""Silence before it, in which a voice detector settles, and the talk button counts as held."""
TAIL_SECONDS = 6.0
"""How long the end of its turn is waited for, where the voice alone ends turns."""


class AskedSound:
    """Gives the frames of one question at a time. All calls are on the frame thread.

    Without hands-free mode the talk button of `tracker` is held meanwhile, as a user would.
    """

    def __init__(self, tracker: TurnTracker, frame_samples: int) -> None:
        self._tracker = tracker
        self._frame_samples = frame_samples
        self._frame_seconds = frame_samples / SAMPLE_RATE
        self._frames: list[np.ndarray] | None = None
        self._holds_button = False
        self._tail = 0.0

    def begin(self, samples: np.ndarray) -> None:
        """Ask from the next frame on; `samples`: float32 mono 24 kHz of any length."""
        self.leave()
        size = self._frame_samples
        lead = round(LEAD_SECONDS / self._frame_seconds) * size
        self._frames = [*np.pad(samples.astype(np.float32), (lead, -len(samples) % size)).reshape(-1, size)]
        self._tail = 0.0
        if not self._tracker.duplex:
            self._holds_button = True
            self._tracker.press()

    def stop(self) -> None:
        """Ask no further: its turn ends, and is not answered."""
        if self._frames is not None:
            self._frames, self._holds_button = None, False
            self._tracker.drop()

    def leave(self) -> None:
        """Give the microphone back at once; what was heard is the user's turn, which may go on."""
        self._frames = None
        self._release()

    def next_frame(self) -> np.ndarray | None:
        """Return what is heard in the place of the microphone now, float32; None: the microphone is."""
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
"""Probability of voice in a frame from which the next one is examined ahead. Examining costs 3 ms of a core's time a
frame, and a voice that did not begin in the frame before is decided within 0.1 s anyway."""

PAUSED_FRAMES = 2
"""A pause that the tracker has not confirmed within this many frames was a mistake."""


class EarlyBargeIn:
    """A `VoiceActivity` around `voice` that may get a frame's sound in parts. All calls are on the frame thread.

    `hear` returns the windows of the whole frame. Parts come from `source` if it is an `EarlySampleSource`, and `sink`
    is paused if it is one that `PausesPlayback`; otherwise `voice` gets whole frames. `settings` are the tracker's own.
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
        self._heard = 0  # samples from its start on, and the windows that they have brought
        self._windows: list[VoiceWindow] = []
        self._armed = self._suspects = False
        self._paused_frames: int | None = None

    def listen(self, armed: bool, own_level: float | None = None, *, goes_on: bool = False) -> None:
        """Say whether the next frame may be examined ahead, so that somebody who speaks in it pauses the loudspeaker.

        `own_level`: the user's level, as the tracker knows it. `goes_on`: the user's voice now continues the turn
        that just ended, so that as much as opens a turn pauses the loudspeaker, and nothing need have been suspected
        before.
        """
        self._run.own_level, self._goes_on = own_level, goes_on
        suspects = self._suspects or goes_on
        self._armed = armed and suspects and self._sink is not None and self._paused_frames is None
        if self._source is not None:
            self._source.on_early_samples = self.ahead if self._armed else None

    def ahead(self, samples: np.ndarray) -> None:
        """Take the next part of the frame under way, and of those that arrive together with it: float32 (n,)."""
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
        """Return the windows of a whole frame, whose beginning `ahead` may have had already."""
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
        """The tracker has dealt with the voice so far and starts a new run."""
        self._run.begin()

    def pause(self) -> bool:
        """Pause the loudspeaker, so that it fades out before the flush of the next step; False if there is nothing to
        wait for.
        """
        if self._sink is None or self._paused_frames is not None:
            return False
        self._sink.pause_playback()
        self._paused_frames = 0
        return True

    def stepped(self, *, flushed: bool, in_vain: bool) -> None:
        """A frame was stepped: whether the sink was flushed. `in_vain`: the front-end goes on although it was told to
        hold.
        """
        if self._paused_frames is None:
            return
        self._paused_frames += 1
        if flushed:
            self._paused_frames = None
        elif in_vain or self._paused_frames >= PAUSED_FRAMES:
            assert self._sink is not None
            self._sink.resume_playback()
            self._paused_frames = None
            self._run.begin()  # or the same voice would pause it again


GAUGE_FRAMES = 12
"""Gauges are told about once a second."""

ECHO_TOLD_SECONDS = 300.0
"""How often the user is told that echo remains."""

ECHO_REMAINS = (
    "The microphone hears the app's own voice from the loudspeaker, so it may interrupt itself. Use headphones, turn "
    "the loudspeaker down or move it away from the microphone, or switch hands-free off and hold the button to talk."
)


class EdgeEvents:
    """Events of one edge; all calls on the frame thread."""

    def __init__(self, edge: DuplexAudio) -> None:
        self._edge = edge
        self._muted = False
        self._echo_told_at = float("-inf")

    def after(self, frame: Frame, *, duplex: bool) -> list[e.Event]:
        """Return what happened up to this frame."""
        edge, at = self._edge, frame.at
        events: list[e.Event] = [
            e.DeviceChanged(at, notice.kind, notice.change, notice.name, notice.sentence) for notice in edge.notices()
        ]
        # Muting is told once it is in force: the frame itself is the proof.
        if edge.muted != self._muted and not (edge.muted and frame.samples.any()):
            self._muted = edge.muted
            events.append(e.MicrophoneMuted(at, self._muted))
        if frame.index % GAUGE_FRAMES == 0:
            health = edge.health()
            events.append(
                e.SoundMeasured(
                    at, health.erle_db, health.echo_remains, health.drift_ppm, health.overrun_ms, health.underruns
                )
            )
            if health.echo_remains and duplex and at - self._echo_told_at > ECHO_TOLD_SECONDS:
                self._echo_told_at = at
                events.append(e.Failure(at, "audio", ECHO_REMAINS, about="echo"))
        return events


def change_devices(edge: DuplexAudio, before: SessionChoice, choice: SessionChoice) -> None:
    """Brings the sound devices from one choice to another."""
    if choice.muted != before.muted:
        edge.muted = choice.muted
    if (choice.microphone, choice.loudspeaker) != (before.microphone, before.loudspeaker):
        edge.choose(choice.microphone, choice.loudspeaker)
    if choice.processing != before.processing:
        edge.set_processing(choice.processing)
