"""Imports a conversation from an exported JSON file, or from the folder of a recorded talk.

Any contents end in a conversation or a sentence. Of the setup in a file only harmless parts are used: no folder is
opened to the model, no tool with side effects is switched on, and no words are sent to a server elsewhere.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeGuard

from app.backend.base import on_this_machine
from app.conversation import events as e
from app.conversation.event_json import EventReader, UnknownEventError
from app.conversation.prompt import LONG_DOCUMENT_BYTES, MOST_DOCUMENTS, Document, beginning, plain_name
from app.conversation.transcript import Transcript
from app.history.base import KeptTalk, Setup
from app.history.export import FORMAT, VERSION
from app.history.serialization import METERS, kept_title
from app.history.sound import sound_seconds
from app.session.control import ToolChoice
from app.session.errors import UserError
from app.session.recorder import ASSISTANT_FILE, EVENTS_FILE, USER_FILE
from app.untrusted.files import open_regular, read_json_file, read_text
from app.untrusted.json_text import read_json
from app.untrusted.limits import CONVERSATION, EARLIEST, EVENT_LINE, LATEST, RECORDING, SOUND_BYTES, Refused, in_words
from app.untrusted.records import build, fits

MOST_EVENTS = 500_000
MOST_TURNS = 10_000
MOST_WORDS = 20_000
"""Words of one turn: two hours without a pause. The work for a turn grows with their square."""
MOST_ANSWERS = 500
"""Changes from one answer to another within one turn."""

_AT_ONCE = 2**20

HARMLESS_TOOLS = ("calculator", "clock")


@dataclass(frozen=True, slots=True)
class ImportedConversation:
    """A conversation that was read from a file or folder."""

    title: str
    setup: Setup
    created: float
    talks: tuple[KeptTalk, ...]

    @property
    def folder(self) -> Path | None:
        """The folder of its first talk's sound."""
        return self.talks[0].folder if self.talks else None

    def with_folder(self, folder: Path | None) -> ImportedConversation:
        """Returns the conversation with its first talk's sound in another folder."""
        return replace(self, talks=(replace(self.talks[0], folder=folder), *self.talks[1:]))


def read(path: Path) -> ImportedConversation:
    """Returns the conversation in a file or folder. Raises UserError."""
    try:
        imported = _read_folder(path) if path.is_dir() else _read_file(path)
    except OSError as error:
        raise UserError(f"“{path}” can't be read: {error.strerror or error}. Choose another file or folder.") from error
    if not any(turn.text for talk in imported.talks for turn in _turns(path, talk.events)):
        raise UserError(f"Nothing was said in “{path.name}”, so there is nothing to bring in. Choose another file.")
    return imported


def copy_sound(folder: Path, to: Path) -> None:
    """Copies a talk's sound to the folder `to`, completely or not at all. Raises UserError."""
    try:
        to.mkdir(parents=True)
        for name in (USER_FILE, ASSISTANT_FILE):
            if (folder / name).is_file():
                _copy(folder / name, to / name)
    except (OSError, Refused) as error:
        shutil.rmtree(to, ignore_errors=True)
        reason = error.strerror or error if isinstance(error, OSError) else error
        raise UserError(
            f"The talk's sound can't be copied to {to}: {reason}. Make room there and try again."
        ) from error


def _copy(source: Path, target: Path) -> None:
    with open_regular(source) as sound, target.open("xb") as copy:
        left = SOUND_BYTES
        while block := sound.read(_AT_ONCE):
            left -= len(block)
            if left < 0:
                raise Refused(f"it is longer than {in_words(SOUND_BYTES)}")
            copy.write(block)


def _read_file(path: Path) -> ImportedConversation:
    try:
        whole = read_json_file(path, CONVERSATION)
    except Refused as error:
        raise _refusal(path, str(error)) from None
    if whole.get("format") != FORMAT:
        raise _refusal(path, "it is no conversation that KAME has exported")
    if whole.get("version") not in (1, VERSION):
        raise _refusal(path, "another version of KAME has written it, in a way that this one doesn't know")
    title, created, entries = whole.get("title", ""), whole.get("created"), whole.get("talks")
    if not isinstance(title, str) or not _is_date(created) or not isinstance(entries, list):
        raise _refusal(path, "its title, its date or its talks are missing or of a wrong type")
    try:
        setup = build(Setup, whole.get("setup", {}))
    except ValueError as error:
        raise _refusal(path, f"how it was held makes no sense ({error})") from None
    talks, count = [], 0
    for number, talk in enumerate(entries, 1):
        if not isinstance(talk, dict) or not _is_date(talk.get("began")) or not isinstance(talk.get("events"), list):
            raise _refusal(path, f"talk {number} is of a wrong type")
        count += len(talk["events"])
        talks.append(KeptTalk(float(talk["began"]), _events(path, talk["events"], count)))
    return ImportedConversation(kept_title(title), _without_risks(setup), float(created), tuple(talks))


def _read_folder(path: Path) -> ImportedConversation:
    written = path / EVENTS_FILE
    if not written.exists():
        raise UserError(
            f"“{path}” holds no recorded talk: {EVENTS_FILE} is missing there. Choose the folder of a recorded talk, "
            "or a conversation that was exported as JSON."
        )
    try:
        lines = read_text(written, RECORDING).removesuffix("\n").split("\n")
    except Refused as error:
        raise _refusal(written, str(error)) from None
    fields: list[Any] = []
    for number, line in enumerate(lines, 1):
        try:
            fields.append(read_json(line, EVENT_LINE))
        except Refused as error:
            if number == len(lines):
                break  # the talk was cut off while this line was written
            raise _refusal(written, f"line {number} is no event: {error}") from None
    events = _events(written, fields, len(fields))
    began = max(EARLIEST, written.stat().st_mtime - max((event.at for event in events), default=0.0))
    sounds = [path / name for name in (USER_FILE, ASSISTANT_FILE)]
    if any(sound.is_file() and sound.stat().st_size > SOUND_BYTES for sound in sounds):
        raise _refusal(path, "its sound is longer than twelve hours")
    return ImportedConversation(
        "", Setup(), began, (KeptTalk(began, events, path.resolve() if sound_seconds(path) else None),)
    )


def _events(path: Path, fields: Iterable[Any], count: int) -> tuple[e.Event, ...]:
    if count > MOST_EVENTS:
        raise _refusal(path, f"it holds more than {MOST_EVENTS:,} events")
    events: list[e.Event] = []
    reader = EventReader()
    for number, entry in enumerate(fields, 1):
        try:
            event = reader.event_of(entry)
        except UnknownEventError:
            continue  # of a newer version
        except ValueError as error:
            raise _refusal(path, f"event {number} is {error}") from None
        if event is not None and not isinstance(event, METERS):
            events.append(event)
    return tuple(events)


def _turns(path: Path, events: Iterable[e.Event]) -> list[Any]:
    transcript = Transcript()
    words: Counter[int] = Counter()
    for event in events:
        turn = transcript.apply(event)
        if len(transcript.turns) > MOST_TURNS:
            raise _refusal(path, f"a talk in it has more than {MOST_TURNS:,} turns")
        if turn is None or not isinstance(event, e.AssistantSaid):
            continue
        words[id(turn)] += 1
        if words[id(turn)] > MOST_WORDS:
            raise _refusal(path, f"a turn in it has more than {MOST_WORDS:,} words")
        if len(turn.parts) > MOST_ANSWERS:
            raise _refusal(path, f"a turn in it goes through more than {MOST_ANSWERS:,} answers")
    return transcript.turns


def _without_risks(setup: Setup) -> Setup:
    backend = setup.backend
    if backend.base_url and not on_this_machine(backend.base_url):
        backend = replace(backend, base_url="")
    tools = ToolChoice(tuple(name for name in setup.tools.names if name in HARMLESS_TOOLS))
    temperature = setup.style.temperature
    style = setup.style if temperature is None or 0 <= temperature <= 2 else replace(setup.style, temperature=None)
    documents = tuple(
        Document(plain_name(one.name), beginning(one.text, LONG_DOCUMENT_BYTES), max(0, one.cut))
        for one in setup.documents[:MOST_DOCUMENTS]
    )
    return Setup(backend, style, tools, max(0.0, setup.cap), documents)


def _is_date(value: Any) -> TypeGuard[float]:
    return fits(value, float) and EARLIEST <= value <= LATEST


def _refusal(path: Path, why: str) -> UserError:
    return UserError(f"“{path.name}” can't be brought in: {why}. Choose a conversation that was exported as JSON.")
