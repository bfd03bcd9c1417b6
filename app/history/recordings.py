"""Reads a recorded session from the folder that the recorder left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import numpy as np

from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.io.base import EndOfAudio
from app.audio.io.files import FileSource
from app.conversation import events as e
from app.conversation.event_json import UnknownEvent, read_event
from app.session.control import UserError
from app.session.recorder import ASSISTANT_FILE, EVENTS_FILE, USER_FILE, VERSION
from app.untrusted.files import check_version, open_regular, read_line
from app.untrusted.json_text import read_json
from app.untrusted.limits import EVENT_LINE, Refused, in_words


class Replay:
    """A recorded session. Raises UserError when `folder` holds none."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / EVENTS_FILE
        try:
            with open_regular(path) as file:
                self._events = list(recorded_events(file))
        except FileNotFoundError:
            raise UserError(
                f"{folder} holds no recorded conversation: {EVENTS_FILE} is missing there. Give the folder that “talk "
                "--record” was given."
            ) from None
        except OSError as error:
            raise UserError(
                f"{path} can't be read ({error.strerror}). See that it is a file that you may read."
            ) from None
        except Refused as error:
            raise UserError(
                f"The conversation in {path} can't be replayed: {error}. If another version of KAME has recorded it, "
                "use that one."
            ) from None
        if not self._events:
            raise UserError(f"{path} is empty: the conversation was over before anything happened.")

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


def recorded_events(file: BinaryIO) -> Iterator[e.Event]:
    """Yields the events of a recording, whose last line may be cut off. Raises OSError and Refused.

    Events of another version are passed over.
    """
    number, wrong = 0, ""
    while True:
        number += 1
        try:
            line = read_line(file, EVENT_LINE)
        except Refused:
            raise Refused(f"line {number} of it is longer than {in_words(EVENT_LINE.bytes)}") from None
        if not line:
            return  # where the last line is no event, the talk was cut off while it was written
        if wrong:
            raise Refused(wrong)
        if number == 1:
            check_version(read_json(line, EVENT_LINE), VERSION)
            continue
        try:
            yield read_event(line.removesuffix(b"\n"))
        except UnknownEvent:
            continue
        except ValueError as error:
            wrong = f"line {number} of it is {error}"
