"""Conversation export as Markdown, JSON, subtitles or audio."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import tzinfo
from pathlib import Path
from typing import BinaryIO

from app.audio.io.base import AudioError
from app.backend.base import without_secrets
from app.conversation import events as e
from app.conversation.event_json import harmless_event, to_json
from app.conversation.markdown import blocks, escaped, for_any_reader
from app.conversation.record.branches import Branches
from app.history.base import ConversationView, ExportFormat, KeptTalk
from app.history.sound import sound_seconds, write_sound
from app.history.subtitles import SPEAKERS, subtitles
from app.history.timing import TimedTurn, talk_seconds, timed_turns
from app.platform.files import whole_file
from app.platform.local_time import local_datetime
from app.session.control import UserError
from app.untrusted.text import harmless


def markdown(
    view: ConversationView, talks: Sequence[tuple[float, Sequence[TimedTurn]]], zone: tzinfo | None = None
) -> str:
    """Returns the conversation as Markdown.

    `talks`: each talk's start (a Unix timestamp) and turns. `zone`: the time zone for dates; None for local time.
    """
    lines = [f"# {escaped(view.title) or 'Conversation'}", ""]
    began = min((began for began, _ in talks), default=view.created)
    backends = f" · with {', '.join(escaped(backend) for backend in view.backends)}" if view.backends else ""
    lines += [f"{_date(began, zone)}{backends}", ""]
    for number, (_, turns) in enumerate(talks, 1):
        for timed in turns:
            timed.turn.talk = number
    branches = Branches(timed.turn for _, turns in talks for timed in turns)
    for number, (began, turns) in enumerate(talks, 1):
        if len(talks) > 1:
            lines += [f"## Talk {number} · {_date(began, zone)}", ""]
        for timed in turns:
            lines += [*_turn(timed, replaced=not branches.shows(timed.turn)), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _turn(timed: TimedTurn, *, replaced: bool) -> Iterator[str]:
    turn = timed.turn
    backends = f" ({', '.join(escaped(backend) for backend in turn.backends)})" if turn.backends else ""
    mark = " · *replaced by a later version*" if replaced else ""
    yield f"**{SPEAKERS[turn.speaker]}**{backends} · {_clock(turn.started_at)}{mark}"
    yield ""
    words = (
        for_any_reader(turn.written.strip()) if turn.marked else escaped(" ".join((turn.written or turn.text).split()))
    )
    if turn.interrupted:
        at = f" at {_clock(timed.ended)}" if timed.ended is not None else ""
        apart = "\n\n" if blocks(words)[-1:] and blocks(words)[-1].kind != "prose" else " "
        words += f"{apart}— *interrupted{at}*"
    yield words


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"


def _date(seconds: float, zone: tzinfo | None) -> str:
    day = local_datetime(seconds, zone)
    return f"{day:%Y-%m-%d %H:%M}"


FORMAT, VERSION = "kame-conversation", 2


def export(path: Path, form: ExportFormat, view: ConversationView, talks: Sequence[KeptTalk]) -> str:
    """Writes a conversation to `path` atomically; returns a user-facing summary. Raises UserError."""
    write, what = _WRITERS[form]
    try:
        with whole_file(path) as file:
            write(file, view, talks)
    except AudioError as error:
        raise UserError(f"The sound of this conversation can't be read. {error}") from error
    except OSError as error:
        raise UserError(
            f"“{path}” can't be written: {error.strerror or error}. Choose another folder, or make room there."
        ) from error
    return f"{what} was written to {path}."


def _write_markdown(file: BinaryIO, view: ConversationView, talks: Sequence[KeptTalk]) -> None:
    page = markdown(view, [(talk.began, timed_turns(talk.events)) for talk in talks])
    file.write(harmless(page).encode())


def _write_subtitles(file: BinaryIO, view: ConversationView, talks: Sequence[KeptTalk]) -> None:
    start, timed = 0.0, []
    for talk in talks:
        timed.append((start, timed_turns(talk.events)))
        start += talk_seconds(talk.events, sound_seconds(talk.folder))
    file.write(harmless(subtitles(timed)).encode())


def _write_sound(file: BinaryIO, view: ConversationView, talks: Sequence[KeptTalk]) -> None:
    sounds = [sound_seconds(talk.folder) for talk in talks]
    if not any(sounds):
        raise UserError(
            "No sound was kept of this conversation, so there is none to be written. Have talks recorded first: sound "
            "is kept only when you say so."
        )
    write_sound(
        file,
        [(talk.folder, talk_seconds(talk.events, seconds)) for talk, seconds in zip(talks, sounds, strict=True)],
    )


def _write_json(file: BinaryIO, view: ConversationView, talks: Sequence[KeptTalk]) -> None:
    setup = dataclasses.asdict(view.setup)
    setup["tools"]["folders"] = []  # only meaningful on this machine
    setup["backend"]["base_url"] = without_secrets(view.setup.backend.base_url)
    head = {
        "format": FORMAT,
        "version": VERSION,
        "title": view.title if view.named else "",
        "created": view.created,
        "setup": setup,
    }
    # One event per line: readable, easy to diff, and written without building the whole document in memory.
    file.write(json.dumps(head)[:-1].encode() + b', "talks": [')
    for number, talk in enumerate(talks):
        file.write(b'%b\n{"began": %b, "events": [' % (b"," if number else b"", json.dumps(talk.began).encode()))
        for place, event in enumerate(talk.events):
            file.write(b"%b\n%b" % (b"," if place else b"", to_json(harmless_event(_public(event))).encode()))
        file.write(b"\n]}")
    file.write(b"\n]}\n")


def _public(event: e.Event) -> e.Event:
    if isinstance(event, e.BackendChanged | e.ChangeRefused | e.ConversationConfigured | e.Failure):
        return dataclasses.replace(event, base_url=without_secrets(event.base_url))
    return event


_Writer = Callable[[BinaryIO, ConversationView, Sequence[KeptTalk]], None]
_WRITERS: dict[ExportFormat, tuple[_Writer, str]] = {
    "markdown": (_write_markdown, "The conversation"),
    "json": (_write_json, "All of the conversation but its sound"),
    "srt": (_write_subtitles, "What was said, as subtitles,"),
    "wav": (_write_sound, "The sound, with you on the left and KAME on the right,"),
}
