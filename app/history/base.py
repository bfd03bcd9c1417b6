"""Record types for stored conversations.

A conversation is a sequence of talks, each holding one session's events in order. Everything else shown about a
conversation (turns, revisions, title) is derived from these events.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from app.conversation.events import Event
from app.conversation.prompt import LONG_DOCUMENT_BYTES, MOST_DOCUMENTS, Document, beginning, plain_name
from app.session.control import BackendChoice, Style, ToolChoice

ExportFormat = Literal["markdown", "json", "srt", "wav"]
"""`json` contains everything except the audio and can be re-imported; `srt` and `wav` put all talks on one timeline."""

LONGEST_TITLE = 200
"""The maximum length of a title, in characters."""


OFFERED_PERSONA = 600
"""The most characters of a persona that a file may offer: what is used is what the offer shows."""


@dataclass(frozen=True, slots=True)
class Setup:
    """A conversation's settings: back-end, style, tools, spending cap and the user's documents.

    `foreign`: they came with a file. Its persona and documents are used only if the user wants them, and the rest is
    what this machine would use for a new conversation.
    """

    backend: BackendChoice = field(default_factory=BackendChoice)
    style: Style = field(default_factory=Style)
    tools: ToolChoice = field(default_factory=ToolChoice)
    cap: float = 0.0
    documents: tuple[Document, ...] = ()
    foreign: bool = False

    def as_foreign(self) -> Setup:
        """Returns only what a file may offer. It can't say who is asked, at what cost, and what is loaded or read."""
        documents = tuple(
            Document(plain_name(one.name), beginning(one.text, LONG_DOCUMENT_BYTES), max(0, one.cut))
            for one in self.documents[:MOST_DOCUMENTS]
        )
        return Setup(style=Style(self.style.persona[:OFFERED_PERSONA]), documents=documents, foreign=True)


@dataclass(frozen=True, slots=True)
class ConversationView:
    """A conversation as shown in a list.

    - `key`: its permanent identifier.
    - `title`: the user's own title if `named`, otherwise derived from the first words spoken; empty if
      nothing has been said.
    - `created`, `changed`: Unix timestamps.
    - `turns`: the number of turns of both speakers.
    - `backends`: the names of the models that responded, in order of first appearance.
    - `snippet`: an excerpt around a search match, with each match between "\x02" and "\x03"; empty if only the title
      matches.
    - `sound`: whether any of its talks has a recording.
    - `pinned`: whether the user pinned it to the top of the list.
    - `folder`: the name of the user-defined folder it is filed in, or empty.
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
    """A stored talk of a conversation.

    `began`: the Unix timestamp that event times are relative to. `folder`: the folder with its recording; None if it
    wasn't recorded.
    """

    began: float
    events: tuple[Event, ...]
    folder: Path | None = None
