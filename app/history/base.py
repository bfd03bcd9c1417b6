"""Conversations that are kept: what a window shows of them, and what it may ask of whoever keeps them.

A conversation holds one talk after another, each a session's events in the order in which they happened. All else
that is shown of it (turns, revisions, titles) is folded from those. Protocols and plain records only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from app.conversation.events import Event
from app.session.control import BackendChoice, Style, ToolChoice

ExportFormat = Literal["markdown", "json", "srt", "wav"]
"""`json` holds everything but the sound, and can be brought in again; `srt` and `wav` are of one talk after another on
one clock."""

LONGEST_TITLE = 200
"""Letters."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How a conversation is held, from talk to talk: its brain, its style, its tools, and what it may cost."""

    backend: BackendChoice = field(default_factory=BackendChoice)
    style: Style = field(default_factory=Style)
    tools: ToolChoice = field(default_factory=ToolChoice)
    cap: float = 0.0


@dataclass(frozen=True, slots=True)
class ConversationView:
    """What a list shows of a conversation.

    `key`: names it for good. `title`: the user's own if `named`, else made from the first words; empty while nothing
    was said. `created`, `changed`: seconds since 1970. `turns`: of both sides. `backends`: models that were heard, in
    the order of their first word. `snippet`: where a search has found its words, with each match between "\x02" and
    "\x03"; empty where the title alone matches. `sound`: whether the sound of a talk in it was kept.
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


@dataclass(frozen=True, slots=True)
class KeptTalk:
    """One talk of a conversation. `began`: seconds since 1970, at the session's time 0. `folder`: where its sound is
    (see `recorder`); None where it was not kept.
    """

    began: float
    events: tuple[Event, ...]
    folder: Path | None = None


class TalkLog(Protocol):
    """A talk that is being written down. Both calls are instant, on any thread, and never raise."""

    def put(self, event: Event) -> None:
        """Has an event written down within half a second; those that are only for meters are left out."""
        ...

    def end(self) -> None:
        """The talk is over. Also without this nothing is lost."""
        ...


class HistoryService(Protocol):
    """The user's conversations. What is a coroutine never blocks the loop, and raises UserError with a sentence."""

    @property
    def trouble(self) -> str:
        """Why conversations can't be kept, or no longer, in a sentence; empty while all is well."""
        ...

    @property
    def notice(self) -> str:
        """What became of what was kept before, where it was damaged, in a sentence to be told once; empty otherwise."""
        ...

    def begin(self, key: str, setup: Setup, folder: Path | None = None) -> TalkLog:
        """Begins a talk in the conversation `key`, which is made if there is none (an unused one is not listed, and
        forgotten). `folder`: where its sound is kept. Instant; what goes wrong is told by `trouble`.
        """
        ...

    async def conversations(self, words: str = "") -> tuple[ConversationView, ...]:
        """All of them, the newest first; with `words`, those in whose titles or turns all of these are found."""
        ...

    async def talks(self, key: str) -> tuple[KeptTalk, ...]:
        """What happened in a conversation, talk by talk; nothing of what was removed."""
        ...

    async def rename(self, key: str, title: str) -> None:
        """Gives it a title; empty: the one made from its words."""
        ...

    async def keep_setup(self, key: str, setup: Setup) -> None:
        """It is held so from now on."""
        ...

    async def duplicate(self, key: str, setup: Setup) -> ConversationView:
        """A second one with the same turns, held as `setup` says; sound is not copied."""
        ...

    async def remove(self, keys: Sequence[str]) -> None:
        """Takes them out of the list. They are there until `purge`, or the next start at the latest."""
        ...

    async def restore(self, keys: Sequence[str]) -> None:
        """Undoes `remove`."""
        ...

    async def purge(self) -> None:
        """Erases what was removed, with its sound: nothing of it is left in any file."""
        ...

    async def export(self, key: str, path: Path, form: ExportFormat) -> str:
        """Writes a conversation to `path`, whole or not at all; tells in a sentence what was written."""
        ...

    async def bring_in(self, path: Path) -> ConversationView:
        """Takes a conversation in from an exported JSON file, or a recorded talk's folder."""
        ...

    async def close(self) -> None:
        """Writes all that waits, erases what was removed, and closes the file."""
        ...
