"""Records of stored conversations, and the protocol of the service that stores them.

A conversation is a sequence of talks, each holding one session's events in order. Everything else shown about a
conversation (turns, revisions, title) is derived from these events.
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
"""`json` contains everything except the audio and can be imported again; `srt` and `wav` put all talks on one timeline.
"""

LONGEST_TITLE = 200
"""In characters."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A conversation's settings: back-end, style, tools, spending cap and the user's documents."""

    backend: BackendChoice = field(default_factory=BackendChoice)
    style: Style = field(default_factory=Style)
    tools: ToolChoice = field(default_factory=ToolChoice)
    cap: float = 0.0
    documents: tuple[Document, ...] = ()


@dataclass(frozen=True, slots=True)
class ConversationView:
    """A conversation as shown in a list.

    - `key`: its permanent identifier.
    - `title`: the user's own title if `named`, otherwise made from the first words; empty until something is said.
    - `created`, `changed`: seconds since 1970.
    - `turns`: the number of turns of both speakers.
    - `backends`: the models that answered, in order of first appearance.
    - `snippet`: an excerpt found by a search, with each match between "\x02" and "\x03"; empty if only the title
      matches.
    - `sound`: whether any of its talks has a recording.
    - `pinned`: whether the user pinned it to the top of the list.
    - `folder`: the name of the user's folder that contains it, or empty.
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

    `began`: seconds since 1970 at the session's time 0. `folder`: contains its recording; None if there is no
    recording.
    """

    began: float
    events: tuple[Event, ...]
    folder: Path | None = None


class TalkLog(Protocol):
    """The event log of a running session. Both methods return immediately, work on any thread and never raise."""

    def put(self, event: Event) -> None:
        """Stores an event within half a second, unless it is a meter event."""
        ...

    def end(self) -> None:
        """Marks the talk as finished. No events are lost if this is never called."""
        ...


class HistoryService(Protocol):
    """The user's stored conversations. Its coroutines never block the event loop and raise UserError on failure."""

    @property
    def trouble(self) -> str:
        """A user-facing message saying why conversations can't be stored; empty while they can."""
        ...

    @property
    def notice(self) -> str:
        """A user-facing message about a file that couldn't be used, to be shown once; empty if the file was usable."""
        ...

    def begin(self, key: str, setup: Setup, folder: Path | None = None) -> TalkLog:
        """Starts a talk in the conversation `key`, creating the conversation if necessary.

        A conversation without any words is not listed, and is erased on close or on the next start. `folder`: where the
        session is recorded. Returns immediately; failures are reported through `trouble`.
        """
        ...

    async def conversations(self, words: str = "") -> tuple[ConversationView, ...]:
        """Returns all conversations, newest first, or only those with all of `words` in their title or turns."""
        ...

    async def talks(self, key: str) -> tuple[KeptTalk, ...]:
        """Returns the talks of a conversation."""
        ...

    async def rename(self, key: str, title: str) -> None:
        """Sets a conversation's title; an empty one restores the title made from its first words."""
        ...

    async def pin(self, key: str, pinned: bool) -> None:
        """Pins or unpins a conversation without updating its `changed` time."""
        ...

    async def move(self, key: str, folder: str) -> None:
        """Moves a conversation into a folder, which need not exist yet; an empty name takes it out of its folder."""
        ...

    async def rename_folder(self, folder: str, name: str) -> None:
        """Renames a folder, merging it with any folder already called `name`; an empty name dissolves it."""
        ...

    async def keep_setup(self, key: str, setup: Setup) -> None:
        """Stores the setup of a conversation."""
        ...

    async def duplicate(self, key: str, setup: Setup) -> ConversationView:
        """Copies a conversation's turns into a new conversation with the given setup.

        The copy stays in the same folder, has no recordings and isn't pinned.
        """
        ...

    async def remove(self, keys: Sequence[str]) -> None:
        """Removes conversations from the list. They stay on disk until `purge` or, at the latest, the next start."""
        ...

    async def restore(self, keys: Sequence[str]) -> None:
        """Undoes `remove`."""
        ...

    async def purge(self) -> None:
        """Erases removed conversations and their recordings, leaving no trace in any file."""
        ...

    async def export(self, key: str, path: Path, form: ExportFormat) -> str:
        """Writes a conversation to `path` atomically and returns a user-facing message describing what was written."""
        ...

    async def bring_in(self, path: Path) -> ConversationView:
        """Imports a conversation from an exported JSON file or the folder of a recorded session."""
        ...

    async def close(self) -> None:
        """Writes all pending events, erases removed conversations and closes the file, within 3 s.

        Failures are logged.
        """
        ...
