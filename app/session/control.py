"""What a session should be, as values; and the error that carries a sentence for the user."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from app.conversation.events import USUAL_PROCESSING, AnswerMode, Processing
from app.conversation.prompt import ChatMessage, Document, Length


class UserError(Exception):
    """Something the user can put right: `str(error)` says what happened, what it means, what to do."""


if TYPE_CHECKING:
    from app.session.session import Session

Speaker = Literal["user", "assistant"]
Reopened = Literal["backend", "secondary", "tools"]

ROUTER = "router"
"""The provider that chooses among models, by the user's table from kinds of questions to models."""


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """A back-end by name: a key of `app.backend.PROVIDERS` or `ROUTER`, a model (empty: the provider's default), a
    URL.
    """

    provider: str = "embedded"
    model: str = ""
    base_url: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """The provider and address that a key, a connection and a list of models belong to."""
        return self.provider, self.base_url


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """How a front-end with weights of its own runs.

    `weights`: a folder (empty: where downloads go). `precision`: `auto`, `bf16`, `int8` or `int4`; `device`: `auto`
    (a CUDA card, else an error), `cuda` or `cpu`. `context`: frames of memory (0: as many as fit). `delay` and
    `lead` are in frames: silence before an answer, and how much later than the transcriber it hears the user.
    """

    weights: str = ""
    precision: str = "auto"
    device: str = "auto"
    context: int = 0
    delay: int = 0
    lead: int = 0


@dataclass(frozen=True, slots=True)
class SpeechChoice:
    """Speech recognition and synthesis.

    `language`: its two letters, or "auto" for the one that is heard. `recogniser`: a model of the catalogue; empty: the
    app's choice for the language. `voice`: a model of the catalogue, or MODEL/VOICE where it has several; empty: the
    app's choice for the language. `rate`: 1 is the voice's own, 2 twice as fast. `volume`: a factor, 0 to 2.
    """

    language: str = "en"
    recogniser: str = ""
    voice: str = ""
    rate: float = 1.0
    volume: float = 1.0


@dataclass(frozen=True, slots=True)
class Style:
    """How a conversation is held.

    `persona`: who answers, in the user's words (empty: the app's own); how to speak is added to it. `temperature`: 0 to
    2, None for the model's own. `voice` replaces `SpeechChoice.voice` unless it is empty.
    """

    persona: str = ""
    temperature: float | None = None
    length: Length = "medium"
    voice: str = ""


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The tools that the model may use: keys of `app.tools.TOOLS` or `mcp:NAME`, and the folders it may read."""

    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """What a session should be. It is built from the settings, the command line or a kept conversation.

    `secondary`: a back-end whose answers are shown beside those of `backend`. `cap`: US dollars that the session may
    cost, 0 for no cap. `documents`: what the models are to know besides. `earlier`: what both sides have said in the
    conversation before. `patience` in [-1, 1]: how long pauses are waited out, 0 as fitted. Device names are empty for
    the system's default. `record_folder`: where this session is recorded; empty: nowhere. `server`: the address of the
    voice server for the front-end `remote`.
    """

    frontend: str = "cascade"
    model: ModelChoice = ModelChoice()
    backend: BackendChoice = BackendChoice()
    secondary: BackendChoice | None = None
    speech: SpeechChoice = SpeechChoice()
    style: Style = Style()
    tools: ToolChoice = ToolChoice()
    cap: float = 0.0
    documents: tuple[Document, ...] = ()
    earlier: tuple[ChatMessage, ...] = ()
    answer_mode: AnswerMode = "thinking"
    patience: float = 0.0
    openings: bool = True
    duplex: bool = False
    microphone: str = ""
    loudspeaker: str = ""
    processing: Processing = USUAL_PROCESSING
    muted: bool = False
    record_folder: str = ""
    server: str = ""


def needs_restart(old: SessionChoice, new: SessionChoice) -> bool:
    """Tell whether a session of `old` has to be started again to become one of `new`."""
    return _fixed(old) != _fixed(new)


def _fixed(choice: SessionChoice) -> tuple[object, ...]:
    """The parts of a choice that a running session can't exchange and that a new one is worth starting for.

    A changed language, `earlier` and `record_folder` wait for the next session.
    """
    if choice.frontend == "cascade":
        return (choice.frontend,)  # it has no weights of its own
    if choice.frontend == "remote":
        return choice.frontend, choice.server
    model = choice.model
    return choice.frontend, model.weights, model.precision, model.device, model.context


class SessionFactory(Protocol):
    """Builds and starts sessions for the window; the composition root gives it one."""

    async def __call__(self, choice: SessionChoice, progress: Callable[[str], None]) -> Session:
        """Load everything off the event loop's thread, report progress in words, and start.

        Raises UserError with a sentence when the user can put it right.
        """
        ...
