"""Conversation import from an exported JSON file or the folder of a recorded session.

The input is untrusted. For any contents, the result is either a conversation or a user-facing error. Of an imported
setup, only the persona and the documents are kept, as an offer (`Setup.foreign`).
"""

from __future__ import annotations

import itertools
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from app.conversation import events as e
from app.conversation.event_json import UnknownEvent, checked_event
from app.conversation.record.transcript import Transcript
from app.history.base import KeptTalk, Setup
from app.history.export import FORMAT, VERSION
from app.history.recordings import recorded_events
from app.history.serialization import METERS, kept_title
from app.history.sound import sound_seconds
from app.platform.files import private_file, private_folder
from app.session.control import UserError
from app.session.recorder import ASSISTANT_FILE, EVENTS_FILE, USER_FILE
from app.untrusted.files import check_version, open_regular, read_json_file
from app.untrusted.limits import CONVERSATION, EARLIEST, LATEST, RECORDING, SOUND_BYTES, Refused, in_words
from app.untrusted.records import build, fits

MOST_EVENTS = 500_000
MOST_TURNS = 10_000
MOST_WORDS = 20_000
"""The maximum number of words per turn, about two hours of uninterrupted speech. Processing time grows quadratically
with it."""
MOST_ANSWERS = 500
"""The maximum number of revisions of the answer within one turn."""

_AT_ONCE = 2**20


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """A conversation read from a file or folder."""

    title: str
    setup: Setup
    created: float
    talks: tuple[KeptTalk, ...]

    @property
    def folder(self) -> Path | None:
        """The folder with the first talk's recording, or None."""
        return self.talks[0].folder if self.talks else None

    def with_folder(self, folder: Path | None) -> ImportedConversation:
        """Returns a copy whose first talk has its recording in `folder`."""
        return replace(self, talks=(replace(self.talks[0], folder=folder), *self.talks[1:]))


def read(path: Path) -> ImportedConversation:
    """Reads a conversation from an exported JSON file or a recording folder. Raises UserError."""
    try:
        imported = _read_folder(path) if path.is_dir() else _read_file(path)
        said = any(turn.text for talk in imported.talks for turn in _turns(talk.events))
    except OSError as error:
        raise UserError(f"“{path}” can't be read: {error.strerror or error}. Choose another file or folder.") from error
    except Refused as error:
        raise UserError(
            f"“{path.name}” can't be brought in: {error}. Choose a conversation that was exported as JSON."
        ) from None
    if not said:
        raise UserError(f"Nothing was said in “{path.name}”, so there is nothing to bring in. Choose another file.")
    return imported


def copy_sound(folder: Path, to: Path) -> None:
    """Copies a talk's recording to the new folder `to`, which is deleted again on failure. Raises UserError."""
    try:
        private_folder(to.parent)
        to.mkdir(mode=0o700)
        for name in (USER_FILE, ASSISTANT_FILE):
            if (folder / name).is_file():
                _copy(folder / name, to / name)
    except (OSError, Refused) as error:
        if not isinstance(error, FileExistsError):  # a folder that was there before isn't ours to delete
            shutil.rmtree(to, ignore_errors=True)
        reason = error.strerror or error if isinstance(error, OSError) else error
        raise UserError(
            f"The talk's sound can't be copied to {to}: {reason}. Make room there and try again."
        ) from error


def _copy(source: Path, target: Path) -> None:
    with open_regular(source) as sound, private_file(target, "xb") as copy:
        left = SOUND_BYTES
        while block := sound.read(_AT_ONCE):
            left -= len(block)
            if left < 0:
                raise Refused(f"it is longer than {in_words(SOUND_BYTES)}")
            copy.write(block)


def _read_file(path: Path) -> ImportedConversation:
    whole = read_json_file(path, CONVERSATION)
    if whole.get("format") != FORMAT:
        raise Refused("it is no conversation that KAME has exported")
    check_version(whole, VERSION)
    title, created, entries = whole.get("title", ""), whole.get("created"), whole.get("talks")
    if not isinstance(title, str) or not _is_date(created) or not isinstance(entries, list):
        raise Refused("its title, its date or its talks are missing or of a wrong type")
    try:
        setup = build(Setup, whole.get("setup", {}))
    except ValueError as error:
        raise Refused(f"how it was held makes no sense ({error})") from None
    talks, count = [], 0
    for number, talk in enumerate(entries, 1):
        if not isinstance(talk, dict) or not _is_date(talk.get("began")) or not isinstance(talk.get("events"), list):
            raise Refused(f"talk {number} is of a wrong type")
        events = _bounded(_events(talk["events"]), count)
        count += len(talk["events"])
        talks.append(KeptTalk(float(talk["began"]), events))
    return ImportedConversation(kept_title(title), setup.as_foreign(), float(created), tuple(talks))


def _read_folder(path: Path) -> ImportedConversation:
    written = path / EVENTS_FILE
    if not written.exists():
        raise UserError(
            f"“{path}” holds no recorded talk: {EVENTS_FILE} is missing there. Choose the folder of a recorded talk, "
            "or a conversation that was exported as JSON."
        )
    with open_regular(written) as file:
        if os.fstat(file.fileno()).st_size > RECORDING.bytes:
            raise Refused(f"it is longer than {in_words(RECORDING.bytes)}")
        events = _bounded(recorded_events(file))
    began = max(EARLIEST, written.stat().st_mtime - max((event.at for event in events), default=0.0))
    sounds = [path / name for name in (USER_FILE, ASSISTANT_FILE)]
    if any(sound.is_file() and sound.stat().st_size > SOUND_BYTES for sound in sounds):
        raise Refused("its sound is longer than twelve hours")
    return ImportedConversation(
        "", Setup(foreign=True), began, (KeptTalk(began, events, path.resolve() if sound_seconds(path) else None),)
    )


def _events(fields: Iterable[Any]) -> Iterator[e.Event]:
    """Yields the events, passing over those of another version. Raises Refused."""
    for number, entry in enumerate(fields, 1):
        try:
            yield checked_event(entry)
        except UnknownEvent:
            continue
        except ValueError as error:
            raise Refused(f"event {number} is {error}") from None


def _bounded(events: Iterable[e.Event], before: int = 0) -> tuple[e.Event, ...]:
    """Returns the events other than meter events.

    Raises Refused if these and the `before` earlier ones exceed `MOST_EVENTS`.
    """
    found = list(itertools.islice(events, MOST_EVENTS - before + 1))
    if len(found) + before > MOST_EVENTS:
        raise Refused(f"it holds more than {MOST_EVENTS:,} events")
    return tuple(event for event in found if not isinstance(event, METERS))


def _turns(events: Iterable[e.Event]) -> list[Any]:
    transcript = Transcript()
    words: Counter[int] = Counter()
    for event in events:
        turn = transcript.apply(event)
        if len(transcript.turns) > MOST_TURNS:
            raise Refused(f"a talk in it has more than {MOST_TURNS:,} turns")
        if turn is None or not isinstance(event, e.AssistantSaid):
            continue
        words[id(turn)] += 1
        if words[id(turn)] > MOST_WORDS:
            raise Refused(f"a turn in it has more than {MOST_WORDS:,} words")
        if len(turn.parts) > MOST_ANSWERS:
            raise Refused(f"a turn in it goes through more than {MOST_ANSWERS:,} answers")
    return transcript.turns


def _is_date(value: Any) -> TypeGuard[float]:
    return fits(value, float) and EARLIEST <= value <= LATEST
