"""What a session is made of, and how it is to behave."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from app.audio.io.base import AudioSink, AudioSource, SoundEdge
from app.backend.base import Backend, Usage
from app.conversation import events as e
from app.conversation import turn as floor
from app.conversation.backend_speed import Pace as BackendPace
from app.conversation.endpointing import PauseLengths
from app.conversation.prompt import ChatMessage
from app.frontend.base import FrontEnd
from app.session.control import BackendChoice, SpeechChoice, Style, ToolChoice
from app.session.recorder import Recorder
from app.stt.base import Transcriber, VoiceActivity
from app.tools.toolbox import Toolbox
from app.tts.base import Voice

Pace = Literal["real", "simulated", "fast"]
"""`real`: a thread follows the sound. `simulated`: a loop's virtual time, everything scripted. `fast`: as
fast as the machine goes, each frame waiting for ears and voice, and the answer for the back-end."""


@dataclass(slots=True)
class SessionParts:
    """What a session is made of. Everything is opened and closed by the session, in this order.

    `fallback` makes the front-end that takes over when the first one is lost, while loading or in mid-talk.
    `make_backend` makes the brain of a choice, `make_tools` the tools of one, `make_transcriber` and `make_voice` what
    hears and speaks; none is open yet, and without one the talk keeps what it has. `cost`: what a
    request cost, in US dollars, None where nobody knows. `paces`: what is known of brains from earlier talks. `edge`:
    what `source` and `sink` belong to, where they are devices. `prepare` loads on a thread what else is wanted by then.
    `keep_pauses`: takes what was learned of the user's pauses when the talk is over; it may write, so it is called on a
    thread of its own but in simulated time.
    """

    frontend: FrontEnd
    transcriber: Transcriber
    voice_activity: VoiceActivity
    backend: Backend
    source: AudioSource
    sink: AudioSink
    edge: SoundEdge | None = None
    recorder: Recorder | None = None
    fallback: Callable[[], FrontEnd] | None = None
    make_backend: Callable[[BackendChoice], Awaitable[Backend]] | None = None
    make_tools: Callable[[ToolChoice], Toolbox] | None = None
    make_transcriber: Callable[[SpeechChoice], Awaitable[Transcriber]] | None = None
    make_voice: Callable[[SpeechChoice], Awaitable[Voice]] | None = None
    cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None
    paces: dict[tuple[str, str], BackendPace] = field(default_factory=dict)
    prepare: Callable[[], None] | None = None
    keep_pauses: Callable[[PauseLengths], None] = lambda pauses: None


@dataclass(slots=True)
class SessionConfig:
    """How a session behaves. `choice` says in words what `SessionParts.backend` is; `secondary`, `speech`, `style`,
    `tools`, `cap` and `earlier`: see `SessionChoice`. `end_with_input`: the session is over when the source is and
    everybody has finished. `remember_seconds`: how much of both sides' sound is kept in memory, for `Session.sound_of`.
    `language`: of the talk, or empty while nobody knows it. `pauses`: what is known of how long this user pauses within
    turns, which the talk goes on learning. `first_voice`: the one that the front-end begins with.
    """

    answer_mode: e.AnswerMode = "thinking"
    language: str = "en"
    duplex: bool = True
    pace: Pace = "real"
    choice: BackendChoice = field(default_factory=BackendChoice)
    secondary: BackendChoice | None = None
    speech: SpeechChoice = field(default_factory=SpeechChoice)
    first_voice: str = ""
    style: Style = field(default_factory=Style)
    tools: ToolChoice = field(default_factory=ToolChoice)
    cap: float = 0.0
    earlier: tuple[ChatMessage, ...] = ()
    end_with_input: bool = True
    max_answer_seconds: float = 90.0
    remember_seconds: float = 0.0
    pauses: PauseLengths = field(default_factory=PauseLengths)
    settings: floor.TurnSettings = field(default_factory=floor.TurnSettings)
