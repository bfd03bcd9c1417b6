"""The asynchronous interface to the user's stored conversations.

Nothing here blocks the event loop: database access goes through the writer thread's job queue, and other file access
runs on worker threads.
"""

from __future__ import annotations

import asyncio
import logging
import shutil
import time
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from app.history import erasing, queries
from app.history.base import ConversationView, ExportFormat, KeptTalk, Setup
from app.history.database import OpenDatabase
from app.history.open_talk import OpenTalk, TalkLog
from app.history.serialization import kept_title, known_events
from app.history.writer import Writer
from app.session.control import UserError
from app.untrusted.text import harmless

if TYPE_CHECKING:
    from app.history.importing import ImportedConversation

_log = logging.getLogger(__name__)
Result = TypeVar("Result")


class HistoryStore:
    """The conversations in the file `path`, which is created along with its folder if it doesn't exist.

    The file is opened in the background. All coroutines raise UserError on failure.

    - `recordings`: recordings in this folder are erased along with their conversation; None to erase no recordings.
    - `tidy`: whether to erase removed and unused conversations on start and close; must be False if another
      store already has the file open.
    - `clock`: returns the current Unix timestamp.
    """

    def __init__(
        self, path: Path, recordings: Path | None, *, tidy: bool = True, clock: Callable[[], float] = time.time
    ) -> None:
        self._recordings, self._clock = recordings, clock
        self._writer = Writer(path, recordings, tidy, clock)

    @property
    def trouble(self) -> str:
        """A user-facing message saying why conversations can't be stored, or empty if they can."""
        return self._writer.trouble

    @property
    def notice(self) -> str:
        """A user-facing message to show once if the existing file couldn't be used; otherwise empty."""
        return self._writer.notice

    def begin(self, key: str, setup: Setup, folder: Path | None = None) -> TalkLog:
        """Starts a talk in the conversation `key`, creating the conversation if necessary.

        Returns immediately; failures are reported through `trouble`. A conversation without turns is not listed, and is
        erased on close or on the next start. `folder`: the folder in which the session is recorded, if any.
        """
        talk = OpenTalk(key, setup, folder, self._clock())
        self._writer.start_talk(talk)
        return TalkLog(talk, self._writer.put)

    async def conversations(self, words: str = "") -> tuple[ConversationView, ...]:
        """Returns the conversations, newest first; with `words`, only those that contain all of these words."""
        return await self._do(lambda file: queries.search(file.connection, harmless(words), file.indexed))

    async def talks(self, key: str) -> tuple[KeptTalk, ...]:
        """Returns the talks of a conversation."""
        found = await self._do(lambda file: queries.talks(file.connection, key))
        return await asyncio.to_thread(_parse, found)

    async def rename(self, key: str, title: str) -> None:
        """Sets a conversation's title; an empty one restores the automatic title."""
        await self._do(lambda file: queries.update(file.connection, key, "title", kept_title(title)))

    async def pin(self, key: str, pinned: bool) -> None:
        """Pins or unpins a conversation. Its `changed` time stays the same."""
        await self._do(lambda file: queries.update(file.connection, key, "pinned", int(pinned)))

    async def move(self, key: str, folder: str) -> None:
        """Moves a conversation into a folder, creating the folder if necessary; an empty name means no folder."""
        await self._do(lambda file: queries.update(file.connection, key, "folder", kept_title(folder)))

    async def rename_folder(self, folder: str, name: str) -> None:
        """Renames a folder, merging it into an existing folder called `name`; an empty name dissolves the folder."""
        await self._do(lambda file: queries.rename_folder(file.connection, folder, kept_title(name)))

    async def keep_setup(self, key: str, setup: Setup) -> None:
        """Stores the setup of a conversation."""
        await self._do(lambda file: queries.store_setup(file.connection, key, setup, self._clock()))

    async def duplicate(self, key: str, setup: Setup) -> ConversationView:
        """Copies a conversation's turns into a new conversation with the given setup.

        The copy stays in the same folder, has no recordings and isn't pinned.
        """
        return await self._do(
            lambda file: queries.duplicate(file.connection, key, uuid.uuid4().hex, setup, self._clock())
        )

    async def remove(self, keys: Sequence[str]) -> None:
        """Removes conversations from the list. They stay on disk until `purge` or, at the latest, the next start."""
        await self._do(lambda file: queries.mark_removed(file.connection, keys, True))

    async def restore(self, keys: Sequence[str]) -> None:
        """Undoes `remove`."""
        await self._do(lambda file: queries.mark_removed(file.connection, keys, False))

    async def purge(self) -> None:
        """Permanently erases removed conversations and their recordings."""
        left = await self._do(lambda file: self._writer.erase())
        if left:
            raise UserError(
                f"The conversation was erased, but its sound in {left[0]} could not be. Close what plays it; KAME "
                "tries again when it is started next."
            )

    async def export(self, key: str, path: Path, form: ExportFormat) -> str:
        """Writes a conversation to `path` atomically; returns a user-facing summary."""
        view, found = await self._do(
            lambda file: (queries.view(file.connection, key), queries.talks(file.connection, key))
        )
        return await asyncio.to_thread(_export, path, form, view, found)

    async def bring_in(self, path: Path) -> ConversationView:
        """Imports a conversation from an exported JSON file or the folder of a recorded session."""
        imported = await asyncio.to_thread(_import, path)
        key, copied = uuid.uuid4().hex, None
        folder, recordings = imported.folder, self._recordings
        if folder is not None and recordings is None:
            imported = imported.with_folder(None)
        elif folder is not None and recordings is not None:
            own = erasing.lies_in(folder, recordings)
            if not own or await self._do(lambda file: queries.refers_to(file.connection, folder)):
                copied = recordings / f"imported-{key}"
                await asyncio.to_thread(_copy_sound, folder, copied)
                imported = imported.with_folder(copied)
        try:
            return await self._do(
                lambda file: queries.insert(
                    file.connection, key, imported.title, imported.setup, imported.created, imported.talks
                )
            )
        except BaseException:
            if copied is not None:
                await asyncio.shield(asyncio.to_thread(shutil.rmtree, copied, ignore_errors=True))
            raise

    async def close(self) -> None:
        """Writes pending events, erases removed conversations and closes the file, within 3 s. Idempotent."""
        done = self._writer.close()
        if done is not None:
            try:
                await asyncio.wrap_future(done)
            except UserError as error:
                _log.error("%s", error)
            else:
                self._writer.join()

    async def _do(self, work: Callable[[OpenDatabase], Result]) -> Result:
        return await asyncio.wrap_future(self._writer.do(work))


# These imports pull in the audio libraries, which takes a second, so they run on a worker thread at first use.


def _export(path: Path, form: ExportFormat, view: ConversationView, found: Sequence[queries.TalkLines]) -> str:
    from app.history.export import export

    return export(path, form, view, _parse(found))


def _import(path: Path) -> ImportedConversation:
    from app.history.importing import read

    return read(path)


def _copy_sound(folder: Path, to: Path) -> None:
    from app.history.importing import copy_sound

    copy_sound(folder, to)


def _parse(found: Sequence[queries.TalkLines]) -> tuple[KeptTalk, ...]:
    return tuple(KeptTalk(talk.began, tuple(known_events(talk.lines)), talk.folder) for talk in found)
