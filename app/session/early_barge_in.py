"""Detects an interruption before its frame is complete, and pauses the loudspeaker at once.

The turn tracker decides at the ends of frames, and half a frame is long where 300 ms are all there is. This decides by
the same voice windows and the same rule as they arrive, so that the tracker confirms it at the frame's end: then the
front-end holds, and what the pause kept back is flushed. If the tracker doesn't, the loudspeaker plays on.
"""

from __future__ import annotations

import numpy as np

from app.audio.io.base import AudioSink, AudioSource, EarlySampleSource, PausesPlayback
from app.conversation.frame import Frame
from app.conversation.voice import VoiceRun, VoiceSettings, VoiceWindow
from app.stt.base import VoiceActivity

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
        self._next = 0
        self._heard = 0  # samples of the frame under way, and the windows that they have brought
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
        """Take the next part of the frame under way: float32 (n,)."""
        self._heard += len(samples)
        for window in self._voice.hear(Frame(self._next, samples)):
            self._windows.append(window)
            self._run.hear(window)
            stops = self._run.resumes if self._goes_on else self._run.interrupts
            if self._armed and stops and self._paused_frames is None:
                assert self._sink is not None
                self._sink.pause_playback()
                self._paused_frames = 0

    def hear(self, frame: Frame) -> list[VoiceWindow]:
        """Return the windows of a whole frame, whose beginning `ahead` may have had already."""
        rest = list(self._voice.hear(Frame(frame.index, frame.samples[self._heard :])))
        for window in rest:
            self._run.hear(window)
        windows = [*self._windows, *rest]
        self._suspects = any(window.probability >= SUSPECTED for window in windows)
        self._windows, self._heard, self._next = [], 0, frame.index + 1
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
