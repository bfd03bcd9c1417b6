"""The records of stored conversations, and the protocol of the service that stores them.

A conversation is a sequence of talks, each of them a session's events in order. All else that is shown of it (turns,
revisions, titles) is derived from those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from app.conversation.events import Event
from app.conversation.prompt import Document
from app.session.control import BackendChoice, Style, ToolChoice

ExportFormat = Literal["markdown", "json", "srt", "wav"]
"""`json` has everything but the sound, and can be imported; `srt` and `wav` have all talks on one clock."""

LONGEST_TITLE = 200
"""In characters."""


@dataclass(frozen=True, slots=True)
class Setup:
    """The setup of a conversation: its back-end, its style, its tools, what it may cost, and the user's documents."""

    backend: BackendChoice = field(default_factory=BackendChoice)
    style: Style = field(default_factory=Style)
    tools: ToolChoice = field(default_factory=ToolChoice)
    cap: float = 0.0
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationView:
    """A conversation as a list shows it.

    `key`: its permanent name. `title`: the user's own if `named`, else made from the first words; empty while nothing
    was said. `created`, `changed`: seconds since 1970. `turns`: of both sides. `backends`: the models that answered, in
    the order of their first words. `snippet`: a piece of text that a search has found, with each match between "\x02"
    and "\x03"; empty if only the title matches. `sound`: whether the sound of one of its talks was kept. `pinned`:
    the user wants it first in the list. `folder`: the name of the folder that the user has put it into, or empty.
    """

    key: str
    title: str = ""
    named: bool = False
    created: float = 0.0
    changed: float = 0.0
    turns: int = 0
    backends: tuple[str, ...] = ()
    snippet: str = ""
    sound: bool = False
    setup: Setup = field(default_factory=Setup)
    pinned: bool = False
    folder: str = ""


@dataclass(frozen=True, slots=True)
class KeptTalk:
    """One talk of a conversation.

    `began`: seconds since 1970, at the session's time 0. `folder`: of its recording; None if there is none.
    """

    began: float
    events: tuple[Event, ...]
    folder: Path | None = None


class TalkLog(Protocol):
    """The log of a talk that goes on. Both methods return at once, on any thread, and never raise."""

    def put(self, event: Event) -> None:
        """Stores an event within half a second; events for meters are left out."""
        ...

    def end(self) -> None:
        """Marks the talk as over. Without this call nothing is lost, either."""
        ...


class HistoryService(Protocol):
    """The user's conversations. Its coroutines never block the loop, and raise UserError."""

    @property
    def trouble(self) -> str:
        """Why conversations can't be stored, in a sentence; empty while they can."""
        ...

    @property
    def notice(self) -> str:
        """What became of a file that could not be used, in a sentence to be shown once; empty if it could."""
        ...

    def begin(self, key: str, setup: Setup, folder: Path | None = None) -> TalkLog:
        """Starts a talk in the conversation `key`, which is made if there is none.

        An unused conversation is not listed, and is erased. `folder`: of the talk's recording. Returns at once;
        `trouble` reports failures.
        """
        ...

    async def conversations(self, words: str = "") -> tuple[ConversationView, ...]:
        """Returns all of them, the newest first; with `words`, those with all of these in their titles or turns."""
        ...

    async def talks(self, key: str) -> tuple[KeptTalk, ...]:
        """Returns the talks of a conversation."""
        ...

    async def rename(self, key: str, title: str) -> None:
        """Gives a conversation a title; empty: the one made from its words."""
        ...

    async def pin(self, key: str, pinned: bool) -> None:
        """Pins a conversation, or unpins it; that is no change of what was said in it."""
        ...

    async def move(self, key: str, folder: str) -> None:
        """Puts a conversation into a folder, which need not exist; empty: into none."""
        ...

    async def rename_folder(self, folder: str, name: str) -> None:
        """Gives a folder another name; that of another folder joins both. Empty: its conversations are in none."""
        ...

    async def keep_setup(self, key: str, setup: Setup) -> None:
        """Stores the setup of a conversation."""
        ...

    async def duplicate(self, key: str, setup: Setup) -> ConversationView:
        """Makes a second conversation of the same turns with the given setup; it has no sound, isn't
        pinned, and is in the same folder."""
        ...

    async def remove(self, keys: Sequence[str]) -> None:
        """Removes conversations from the list. They stay on disk until `purge`, or the next start at the latest."""
        ...

    async def restore(self, keys: Sequence[str]) -> None:
        """Undoes `remove`."""
        ...

    async def purge(self) -> None:
        """Erases what was removed, with its sound; nothing of it is left in any file."""
        ...

    async def export(self, key: str, path: Path, form: ExportFormat) -> str:
        """Writes a conversation to `path` atomically; returns a sentence that says what was written."""
        ...

    async def bring_in(self, path: Path) -> ConversationView:
        """Imports a conversation from an exported JSON file, or from the folder of a recorded talk."""
        ...

    async def close(self) -> None:
        """Writes all pending events, erases what was removed, and closes the file, within 3 s.

        Where that fails, the log says so.
        """
        ...
