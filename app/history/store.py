"""The user's conversations on disk: a `HistoryService` over the thread that writes them.

Nothing here waits on the event loop: whatever touches the database is a job for the writer, and whatever touches other
files is done on a thread of its own. Knows nothing of windows or sessions.
"""

from __future__ import annotations

import asyncio
import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from app.conversation.event_json import EventReader
from app.conversation.events import Event
from app.history import erasing, shelf
from app.history.base import ConversationView, ExportFormat, KeptTalk, Setup
from app.history.database import Opened
from app.history.serialization import kept_title, known_event, sound_text
from app.history.writer import Writer
from app.history.writing import Log, OpenTalk
from app.session.errors import UserError

if TYPE_CHECKING:
    from app.history.importing import Brought

Result = TypeVar("Result")


class HistoryStore:
    """The conversations in the file `path`, which is made, with its folder, if there is none.

    `recordings`: the folder whose sound is erased with the conversation that it belongs to; None: none is. `tidy`:
    erases what was removed before, and what was never used, now and when it is closed; not so for a second one beside
    the window's. `clock`: seconds since 1970. Opening happens in the background.
    """

    def __init__(
        self, path: Path, recordings: Path | None, *, tidy: bool = True, clock: Callable[[], float] = time.time
    ) -> None:
        self._recordings, self._clock = recordings, clock
        self._writer = Writer(path, recordings, tidy, clock)

    @property
    def trouble(self) -> str:
        """Why conversations can't be kept, or no longer, in a sentence; empty while all is well."""
        return self._writer.trouble

    @property
    def notice(self) -> str:
        """What became of a file that was damaged, in a sentence; empty while there is nothing to be told."""
        return self._writer.notice

    def begin(self, key: str, setup: Setup, folder: Path | None = None) -> Log:
        """Begins a talk in the conversation `key`, which is made if there is none."""
        talk = OpenTalk(key, setup, folder, self._clock())
        self._writer.begin(talk)
        return Log(talk, self._writer.put)

    async def conversations(self, words: str = "") -> tuple[ConversationView, ...]:
        """All of them, the newest first; with `words`, those in whose titles or turns all of these are found."""
        return await self._do(lambda file: shelf.search(file.connection, sound_text(words), file.indexed))

    async def talks(self, key: str) -> tuple[KeptTalk, ...]:
        """What happened in a conversation, talk by talk."""
        found = await self._do(lambda file: shelf.talks(file.connection, key))
        return await asyncio.to_thread(_read, found)

    async def rename(self, key: str, title: str) -> None:
        """Gives it a title; empty: the one made from its words."""
        await self._do(lambda file: shelf.rename(file.connection, key, kept_title(title)))

    async def keep_setup(self, key: str, setup: Setup) -> None:
        """It is held so from now on."""
        await self._do(lambda file: shelf.hold_so(file.connection, key, setup, self._clock()))

    async def duplicate(self, key: str, setup: Setup) -> ConversationView:
        """A second one with the same turns, held as `setup` says."""
        return await self._do(
            lambda file: shelf.duplicate(file.connection, key, uuid.uuid4().hex, setup, self._clock())
        )

    async def remove(self, keys: Sequence[str]) -> None:
        """Takes them out of the list."""
        await self._do(lambda file: shelf.mark_removed(file.connection, keys, True))

    async def restore(self, keys: Sequence[str]) -> None:
        """Undoes `remove`."""
        await self._do(lambda file: shelf.mark_removed(file.connection, keys, False))

    async def purge(self) -> None:
        """Erases what was removed, with its sound."""
        left = await self._do(lambda file: self._writer.erase())
        if left:
            raise UserError(
                f"The conversation was erased, but its sound in {left[0]} could not be. Close what plays it; KAME "
                "tries again when it is started next."
            )

    async def export(self, key: str, path: Path, form: ExportFormat) -> str:
        """Writes a conversation to `path`, whole or not at all; tells in a sentence what was written."""
        view, found = await self._do(lambda file: (shelf.view(file.connection, key), shelf.talks(file.connection, key)))
        return await asyncio.to_thread(_export, path, form, view, found)

    async def bring_in(self, path: Path) -> ConversationView:
        """Takes a conversation in from an exported JSON file, or a recorded talk's folder."""
        brought = await asyncio.to_thread(_bring_in, path)
        key, copied = uuid.uuid4().hex, None
        if brought.folder is not None and self._recordings is not None:
            ours = erasing.lies_in(brought.folder, self._recordings)
            if not ours or await self._do(lambda file: shelf.refers_to(file.connection, brought.folder)):
                copied = self._recordings / f"imported-{key}"
                await asyncio.to_thread(_copy_sound, brought.folder, copied)
                brought = brought.with_folder(copied)
        elif brought.folder is not None:
            brought = brought.with_folder(None)
        try:
            return await self._do(
                lambda file: shelf.take_in(
                    file.connection,
                    key,
                    brought.title,
                    brought.setup,
                    brought.created,
                    [(talk.began, talk.events, talk.folder) for talk in brought.talks],
                )
            )
        except BaseException:
            if copied is not None:
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, copied, ignore_errors=True))
            raise

    async def close(self) -> None:
        """Writes all that waits, erases what was removed, and closes the file; safe to call twice."""
        done = self._writer.close()
        if done is not None:
            await asyncio.wrap_future(done)
            await asyncio.to_thread(self._writer.join)

    async def _do(self, work: Callable[[Opened], Result]) -> Result:
        """Has the writer do some work, once all that was put before is written."""
        return await asyncio.wrap_future(self._writer.do(work))


# These are imported on a thread when they are first wanted: with all that reads sound, which takes a second, and which
# a start has no time for.


def _export(path: Path, form: ExportFormat, view: ConversationView, found: Sequence[shelf.TalkLines]) -> str:
    from app.history.export import export

    return export(path, form, view, _read(found))


def _bring_in(path: Path) -> Brought:
    from app.history.importing import read

    return read(path)


def _copy_sound(folder: Path, to: Path) -> None:
    from app.history.importing import copy_sound

    copy_sound(folder, to)


def _read(found: Sequence[shelf.TalkLines]) -> tuple[KeptTalk, ...]:
    return tuple(KeptTalk(talk.began, _known_events(talk.lines), talk.folder) for talk in found)


def _known_events(lines: Sequence[str]) -> tuple[Event, ...]:
    reader = EventReader()
    return tuple(event for line in lines if (event := known_event(line, reader)) is not None)
