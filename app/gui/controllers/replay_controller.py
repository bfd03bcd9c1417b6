"""Replays the audio of a turn, from memory while its session is running and from files afterwards."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QObject

from app.conversation.frame import SAMPLE_RATE
from app.conversation.record.transcript import Turn
from app.gui.controllers.context import WindowContext
from app.gui.transcript.pane import TranscriptPane
from app.services.sound_service import Clip

BEFORE_SECONDS = {"user": 0.5, "assistant": 0.1}
"""Duration of audio played before a turn's start, which is detected with a slight delay."""
AFTER_SECONDS = 0.3

TICK_SECONDS, TICK_HZ, TICK_LEVEL = 0.06, 1_200, 0.08
_TASK, _TICK = "hear a turn again", "play a tick"


def soft_tick() -> np.ndarray:
    """Returns a short tone that fades out, float32 mono 24 kHz."""
    time = np.arange(round(TICK_SECONDS * SAMPLE_RATE)) / SAMPLE_RATE
    return (TICK_LEVEL * np.sin(2 * np.pi * TICK_HZ * time) * np.exp(-time / 0.012)).astype(np.float32)


class ReplayController(QObject):
    """Replays turns. During playback, the running session ignores the microphone."""

    def __init__(self, context: WindowContext, transcript: TranscriptPane) -> None:
        super().__init__(context.window)
        self._service = context.services.sound_service
        self._settings = context.settings
        self._manager = context.manager
        self._model = context.model
        self._background = context.background
        self._messages = context.messages
        self._playing: Turn | None = None
        self.folders: dict[int, Path] = {}
        """The audio folders of the sessions in view, keyed by session number."""
        transcript.can_play = self.can_play
        transcript.play_wanted.connect(self.play)
        context.manager.silenced.connect(self.stop)
        model = context.model
        model.began.connect(lambda _: self._note_folder(model.number, self._manager.wanted.record_folder))
        model.past_added.connect(lambda talk: self._note_folder(talk.number, talk.folder))
        model.cleared.connect(self._forget)

    def can_play(self, turn: Turn) -> bool:
        """Returns whether a turn's audio is available."""
        if self._service is None or turn.typed or turn.ended_at is None:
            return False
        return self._sound(turn) is not None

    def play(self, turn: Turn) -> None:
        """Plays a turn, or stops playback if that turn is already being played."""
        if self._service is None:
            return
        service, again = self._service, self._playing is turn
        self.stop()
        sound = self._sound(turn)
        if again or sound is None:
            return
        self._playing = turn
        self._manager.set_deaf(True, "replay")
        self._background.run(
            self, _TASK, lambda: service.play(sound, self._settings.loudspeaker), lambda _: self._over(), self._fail
        )

    def tick(self) -> None:
        """Plays a soft tick."""
        if (service := self._service) is not None and self._playing is None:
            play, loudspeaker = service.play, self._settings.loudspeaker
            self._background.run(self, _TICK, lambda: play(soft_tick(), loudspeaker), lambda _: None, lambda _: None)

    def stop(self) -> None:
        """Stops playback."""
        if self._playing is not None:
            self._background.cancel(_TASK)
            self._over()

    # -- internals

    def _note_folder(self, number: int, folder: Path | str | None) -> None:
        if folder:
            self.folders[number] = Path(folder)  # for when memory no longer has the sound

    def _forget(self) -> None:
        self.stop()
        self.folders.clear()

    def _sound(self, turn: Turn) -> np.ndarray | Clip | None:
        if turn.ended_at is None:
            return None
        begin = max(0.0, turn.started_at - BEFORE_SECONDS[turn.speaker])
        end = turn.ended_at + AFTER_SECONDS
        if turn.talk == self._model.number and self._manager.session is not None:
            return self._manager.session.sound_of(turn.speaker, begin, end)
        folder = self.folders.get(turn.talk)
        return Clip(folder, turn.speaker, begin, end) if folder is not None else None

    def _over(self) -> None:
        self._playing = None
        self._manager.set_deaf(False, "replay")

    def _fail(self, sentence: str) -> None:
        self._over()
        self._messages.say(sentence)
