"""Reads a recorded session from the folder that the recorder left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.io.base import EndOfAudio
from app.audio.io.files import FileSource
from app.conversation import events as e
from app.conversation.event_json import EventReader
from app.session.recorder import ASSISTANT_FILE, EVENTS_FILE, USER_FILE
from app.untrusted.files import read_text
from app.untrusted.limits import RECORDING
from app.untrusted.refused import Refused


class ReplayError(Exception):
    """The folder holds no recorded session; `str(error)` is a sentence for the user."""


class Replay:
    """A recorded session. Raises ReplayError when `folder` holds none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / EVENTS_FILE
        try:
            lines = read_text(path, RECORDING).removesuffix("\n").split("\n")
        except (OSError, Refused) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise ReplayError(
                f"{folder} holds no recorded conversation: {EVENTS_FILE} is missing there or can't be read ({reason}). "
                "Give the folder that “talk --record” was given."
            ) from None
        self._events: list[e.Event] = []
        reader = EventReader()
        for number, line in enumerate(lines, 1):
            try:
                event = reader.read(line)
            except ValueError as error:
                if number == len(lines):
                    break  # the conversation was cut off while this line was written
                raise ReplayError(
                    f"Line {number} of {path} is {error}, so the conversation can't be told. Use the version of the "
                    "app that recorded it, if this is a newer one's."
                ) from None
            if event is not None:
                self._events.append(event)
        if not self._events:
            raise ReplayError(f"{path} is empty: the conversation was over before anything happened.")

    def events(self, *, realtime: bool = False) -> Iterator[e.Event]:
        """Yield every event in order; in `realtime` at the pace at which they happened."""
        begin = time.perf_counter()
        for event in self._events:
            if realtime:
                time.sleep(max(0.0, event.at - (time.perf_counter() - begin)))
            yield event

    def counts(self) -> dict[str, int]:
        """Return how many events of each type there are."""
        return dict(sorted(Counter(type(event).__name__ for event in self._events).items()))

    def play(self) -> None:
        """Play both sides on the default loudspeaker. Raises AudioError."""
        with (
            FileSource(self.folder / USER_FILE, realtime=True) as user,
            FileSource(self.folder / ASSISTANT_FILE) as assistant,
            Loudspeaker() as out,
        ):
            while True:
                try:
                    mine = user.read_frame(0.5)
                    theirs = assistant.read_frame(0.0)
                except EndOfAudio:
                    return
                if mine is not None and theirs is not None:
                    out.write(np.clip(mine + theirs, -1.0, 1.0))
