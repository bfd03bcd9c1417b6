"""The messages of Moshi's server protocol, and the extensions of KAME Desktop's own server.

A WebSocket at `/api/chat` carries binary messages whose first byte is their type: 0 for "server ready", 1 for pages of
Ogg-Opus (24 kHz, mono), 2 for the server's words as UTF-8. Audio is sent in both directions, the others only by the
server. A client that negotiates the subprotocol `EVENTS` also receives text messages: first a `Welcome`, then the
session's events, each as a line of JSON. It can resume the session within `RESUME_SECONDS` and then receives the events
it missed; both sides number events from 1.
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
"""The subprotocol that adds events."""
SESSION_PARAMETER = "session"
"""URL parameter of a resuming client: the token of its session."""
AFTER_PARAMETER = "after"
"""URL parameter of a resuming client: how many of the session's events it has received."""
RESUME_SECONDS = 20.0
"""How long a session waits for a client that lost its connection."""
AGAIN_LATER = 1013
"""The WebSocket status "try again later": another conversation is in progress."""

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
"""The events sent to clients: transcripts, oracle, spoken words and failures."""


@dataclass(frozen=True, slots=True)
class Welcome:
    """The server's self-description.

    - `token`: lets a client resume the session.
    - `frontend`, `backend`, `model`: the names of the session's parts.
    - `resumed`: the client has resumed an earlier session.
    - `events`: the number of the session's events before the first one sent on this connection.
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
    """Serializes the first text message of a connection."""
    return json.dumps({"welcome": asdict(welcome)}, ensure_ascii=False)


def event_json(event: e.Event) -> str:
    """Serializes an event as a text message. Details of back-end failures, such as addresses, are omitted."""
    if isinstance(event, e.Failure):
        of_backend = event.source == "backend" or bool(event.provider or event.base_url or event.about)
        event = e.Failure(event.at, event.source, BACKEND_FAILED if of_backend else event.sentence, event.fatal)
    return to_json(event)


def read_text_message(text: str) -> Welcome | e.Event | None:
    """Parses a text message from a server. Returns None for an event that isn't in `RELAYED`.

    Raises ValueError (including Refused), whose text is a clause, for anything else. Unknown fields in a welcome from a
    newer server are ignored.
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
    """Returns the words of a TEXT message on one line, keeping any leading space."""
    text = payload.decode("utf-8", "replace")
    said = one_line(text, 400)
    return f" {said}" if said and text[:1].isspace() else said
