"""Processes a recording as a session does, frame by frame in the sound's own time, for benches and training."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np

from app.conversation import events as e
from app.conversation import floor
from app.conversation.floor import FloorCommand, TurnEvent
from app.conversation.frame import frames
from app.conversation.turn import TurnTracker
from app.research.benches.timed_transcriber import TimedTranscriber
from app.stt.base import TranscriptUpdate, VoiceActivity

FIRST_SOUND_SECONDS = 0.1
"""From a turn's end until an answer that is ready sounds."""


class Listener:
    """Runs a voice detector, a transcriber and a turn tracker over one recording.

    `speaks_from`: the second from which the assistant speaks, infinite while it does not; an interruption silences it.
    `answers`: it also speaks from `FIRST_SOUND_SECONDS` after each turn's end. `words`: the latest words of the latest
    turn; `finals`: the final words of each turn that ended and was not resumed.
    """

    def __init__(
        self,
        voice: VoiceActivity,
        transcriber: TimedTranscriber,
        tracker: TurnTracker,
        *,
        answers: bool = False,
        speaks_from: float = math.inf,
    ) -> None:
        self.words = ""
        self.finals: dict[int, str] = {}
        self.speaks_from = speaks_from
        self._voice, self._transcriber, self._tracker = voice, transcriber, tracker
        self._answers = answers
        transcriber.on_update = self._on_words
        transcriber.on_finished = tracker.hint_finished

    def listen(self, samples: np.ndarray) -> Iterator[tuple[float, list[TurnEvent | FloorCommand]]]:
        """Processes the whole frames of `samples` (float32 24 kHz); yields each one's time and the turn tracker's
        results. After the last one an open turn is ended, and all pending words are delivered.
        """
        at = 0.0
        for frame in frames(samples):
            at = frame.at
            self._transcriber.deliver(at)
            windows = self._voice.hear(frame)
            happened = self._tracker.hear(at, windows, assistant_speaks=at > self.speaks_from)
            self._transcriber.push(frame, any(window.probability >= 0.5 for window in windows))
            self._follow(happened)
            yield at, happened
        self._follow(self._tracker.end_input(at))
        self._transcriber.deliver(math.inf)

    def _on_words(self, update: TranscriptUpdate) -> None:
        self.words = " ".join(part for part in (update.stable, update.unstable) if part)
        self._tracker.hint_words(update.turn, self.words, update.heard_until)
        if update.final:
            self.finals[update.turn] = self.words

    def _follow(self, happened: Iterable[TurnEvent | FloorCommand]) -> None:
        """Forwards turn events to the transcriber, and lets the assistant speak or fall silent."""
        for one in happened:
            match one:
                case floor.Yield() | floor.Interrupt():
                    self.speaks_from = math.inf
                case e.UserStarted(at, turn):
                    self._transcriber.begin(turn, at)
                case e.UserPaused(_, turn, speech_end):
                    self._transcriber.pause(turn, speech_end)
                case e.UserResumed(_, turn):
                    self.finals.pop(turn, None)
                    self._transcriber.resume(turn)
                case e.UserEnded(at, turn, speech_end):
                    self._transcriber.end(turn, speech_end)
                    if self._answers:
                        self.speaks_from = at + FIRST_SOUND_SECONDS
                case e.UserBackchannel(_, turn):
                    self._transcriber.discard(turn)
