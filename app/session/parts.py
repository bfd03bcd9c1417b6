"""What a session is made of, and how it runs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Literal

from app.audio.io.base import AudioSink, AudioSource, DuplexAudio
from app.backend.base import Backend, Usage
from app.conversation.backend_speed import Pace as BackendPace
from app.conversation.endpointing import PauseLengths
from app.frontend.base import FrontEnd
from app.session.control import BackendChoice, SessionChoice, SpeechChoice, ToolChoice
from app.session.recorder import Recorder
from app.stt.base import Transcriber, VoiceActivity
from app.tools.toolbox import Toolbox
from app.tts.base import Voice

Pace = Literal["real", "simulated", "fast"]
"""`real`: a thread follows the sound. `simulated`: a loop's virtual time, everything scripted. `fast`: as
fast as the machine goes, each frame waiting for recogniser and voice, and the answer for the back-end."""


@dataclass(slots=True)
class SessionParts:
    """The parts of a session, which opens and closes them in this order.

    `edge`: the devices behind `source` and `sink`, if they are devices. `fallback` makes the front-end that takes over
    when the first one is lost, while loading or later. The `make_...` functions build a part for a choice, not opened
    yet; without one the session keeps what it has. `cost` returns US dollars for a request, None if unknown. `paces`:
    what earlier sessions learned of back-ends' speed. `prepare` loads on a thread whatever else is needed.
    `keep_pauses` stores what was learned of the user's pauses when the session is over; it may write files, so it runs
    on a thread (but in simulated time).
    """

    frontend: FrontEnd
    transcriber: Transcriber
    voice_activity: VoiceActivity
    backend: Backend
    source: AudioSource
    sink: AudioSink
    edge: DuplexAudio | None = None
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
    """How a session runs. `choice` is what it should be; the parts given to it are already made for that choice.

    `first_voice`: the voice that the front-end begins with. `pauses`: what is known of how long this user pauses within
    turns; the session goes on learning it. `end_with_input`: the session ends when the source does and both sides have
    finished, or `max_answer_seconds` later. `tools_first`: it begins when its tool servers are ready or given up, which
    takes 10 s at most, so that its first answer has their tools. `remember_seconds`: how much sound of both sides stays
    in memory for `Session.sound_of`.
    """

    choice: SessionChoice = field(default_factory=SessionChoice)
    pace: Pace = "real"
    first_voice: str = ""
    pauses: PauseLengths = field(default_factory=PauseLengths)
    end_with_input: bool = True
    max_answer_seconds: float = 90.0
    tools_first: bool = False
    remember_seconds: float = 0.0
