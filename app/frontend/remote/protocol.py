"""The messages of Moshi's server protocol, and what KAME Desktop's own server adds.

A WebSocket at `/api/chat` carries binary messages; the first byte is their kind: 0 the server is ready, 1 pages of
Ogg-Opus (24 kHz, mono), 2 the server's own words as UTF-8. Audio goes both ways, the other two from the server alone.
A client that asks for the subprotocol `EVENTS` and gets it also receives text messages: first a `Welcome`, then the
session's events, one line of JSON each. It can come back to the same session within `RESUME_SECONDS`, and then gets
the events that it has missed: both sides number them by counting, from 1.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from typing import Any

from websockets.typing import Subprotocol

from app.conversation import events as e
from app.conversation.event_json import checked_event, to_json
from app.untrusted.json_text import read_json
from app.untrusted.limits import VOICE_EVENT
from app.untrusted.records import build
from app.untrusted.text import one_line

PATH = "/api/chat"
PORT = 8998
READY, AUDIO, TEXT = 0, 1, 2
EVENTS = Subprotocol("kame-events")
"""The subprotocol by which events ride along."""
SESSION_PARAMETER = "session"
"""In the address of a client that comes back: the token of its session."""
AFTER_PARAMETER = "after"
"""In the same address: how many of the session's events the client has."""
RESUME_SECONDS = 20.0
"""How long a session waits for a client whose connection is lost."""
AGAIN_LATER = 1013
"""The WebSocket status "try again later": another conversation is going on."""

RELAYED = (
    e.OracleRequested,
    e.OraclePromoted,
    e.OracleDelta,
    e.OracleSuperseded,
    e.OracleEnded,
    e.OracleCounted,
    e.AssistantSaid,
    e.AssistantEnded,
    e.TranscriptPartial,
    e.TranscriptFinal,
    e.Failure,
)
"""The events that ride along: what was heard, thought and said, and what has failed."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """What the server is: the parts of the session by name, and the `token` with which a client can come back to it.

    `events`: how many of the session's events came before the first that follows.
    """

    token: str
    frontend: str
    backend: str
    model: str
    resumed: bool = False
    events: int = 0


_WELCOME_FIELDS = frozenset(field.name for field in fields(Welcome))
BACKEND_FAILED = (
    "The model behind the voice server has failed, so answers may be missing or short. Whoever runs the server finds "
    "the reason in its terminal."
)


def welcome_json(welcome: Welcome) -> str:
    """Returns the first text message of a connection."""
    return json.dumps({"welcome": asdict(welcome)}, ensure_ascii=False)


def event_json(event: e.Event) -> str:
    """Returns a later text message. Of a back-end's failure it says only that: its address is the server's business."""
    if isinstance(event, e.Failure):
        of_backend = event.source == "backend" or bool(event.provider or event.base_url or event.about)
        event = e.Failure(event.at, event.source, BACKEND_FAILED if of_backend else event.sentence, event.fatal)
    return to_json(event)


def read_text_message(text: str) -> Welcome | e.Event | None:
    """Returns what a text message from a server holds, None for an event that doesn't ride along.

    Raises ValueError (Refused among others) for anything else; its `str` is a clause. What a newer server adds to its
    welcome is left out.
    """
    message: Any = read_json(text, VOICE_EVENT)
    if "welcome" in message:
        welcome = message["welcome"]
        if isinstance(welcome, dict):
            welcome = {name: value for name, value in welcome.items() if name in _WELCOME_FIELDS}
        found: Welcome = build(Welcome, welcome)
        token, *parts = (one_line(text, 200) for text in (found.token, found.frontend, found.backend, found.model))
        return Welcome(token, parts[0], parts[1], parts[2], found.resumed, max(0, found.events))
    event = checked_event(message)
    return event if isinstance(event, RELAYED) else None


def words_of(payload: bytes) -> str:
    """Returns the words of a message of the kind TEXT, on one line, with the space that may stand before them."""
    text = payload.decode("utf-8", "replace")
    said = one_line(text, 400)
    return f" {said}" if said and text[:1].isspace() else said
