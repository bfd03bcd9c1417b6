"""What a session should be and what it is, as values; and the error that carries a sentence for the user."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from app.backend.base import without_secrets
from app.conversation.events import USUAL_PROCESSING, AnswerMode, Failure, Processing
from app.conversation.prompt import ChatMessage, Document, Length


class UserError(Exception):
    """Something the user can put right: `str(error)` says what happened, what it means, what to do."""


if TYPE_CHECKING:
    from app.session.session import Session

Speaker = Literal["user", "assistant"]
Part = Literal["backend", "secondary", "tools"]
PARTS: tuple[Part, ...] = ("backend", "secondary", "tools")
"""The fields of a `SessionChoice` that a running session may fail to bring about."""

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

    @property
    def public(self) -> tuple[str, str, str]:
        """The provider, the model and the address without secrets, as events name the back-end."""
        return self.provider, self.model, without_secrets(self.base_url)

    def __repr__(self) -> str:
        return f"BackendChoice{self.public}"


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

    @property
    def dials(self) -> tuple[int, int]:
        """`delay` and `lead`."""
        return self.delay, self.lead


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
    """The tools that the model may use: built-in ones or `mcp:NAME` by name, and the folders it may read."""

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


def to_exchange(before: SessionChoice, choice: SessionChoice, reopen: Collection[Part]) -> set[Part]:
    """Return the parts that a session exchanges: what differs, and what is to be opened `reopen` if there is any."""
    asked: set[Part] = set()
    if choice.backend != before.backend or "backend" in reopen:
        asked.add("backend")
    if choice.secondary != before.secondary or ("secondary" in reopen and choice.secondary is not None):
        asked.add("secondary")
    if choice.tools != before.tools or ("tools" in reopen and choice.tools.names):
        asked.add("tools")
    return asked


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that a session could not make.

    - `part`: what was to change.
    - `choice`: the back-end that it was to change to; None for tools.
    - `sentence`: what happened, and what the user can do.
    - `fixable`: whether the back-end's key or address may be the cause.
    """

    part: Part
    choice: BackendChoice | None
    sentence: str
    fixable: bool = True


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of a back-end that its key or address may have caused.

    - `failure`: the event that reports it. Listeners get this very object.
    - `choice`: the back-end that failed, with what the event leaves out of its address.
    - `routed`: whether a router had asked it.
    - `driver_number`: that of the state in which it failed.
    """

    failure: Failure
    choice: BackendChoice
    routed: bool
    driver_number: int


MOST_FAULTS = 16
"""How many faults a state holds: enough for those whose events are still to be shown."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """What a session wants, and which back-ends and tools it has. Each change makes a new state.

    It never leaves the process, since addresses may contain keys.

    - `wanted`: the choice that was applied last, except for back-ends and tools that were refused or have failed.
    - `driving`: the back-end whose answers are spoken. `model`: its model, as the back-end names it.
    - `reason`: why the driver changed last, as in `BackendChanged`.
    - `secondary`: the back-end whose answers are only shown.
    - `driver_number`, `secondary_number`: how often each has changed, since one may be replaced by another one of the
      same choice.
    - `tools`: the tools in use.
    - `refused`: at most one for each part. It is dropped when the part is asked for again.
    - `faults`: the newest first.
    """

    wanted: SessionChoice = field(default=SessionChoice(), repr=False)
    driving: BackendChoice = BackendChoice()
    model: str = ""
    reason: Literal["chosen", "fallback", "handed"] = "chosen"
    secondary: BackendChoice | None = None
    driver_number: int = 0
    secondary_number: int = 0
    tools: ToolChoice = ToolChoice()
    refused: tuple[Refusal, ...] = ()
    faults: tuple[Fault, ...] = ()

    def refusal(self, part: Part) -> Refusal | None:
        """Return why `part` was refused, if it was when it was last asked for."""
        return next((one for one in self.refused if one.part == part), None)

    def without_refusal(self, *parts: Part) -> tuple[Refusal, ...]:
        """Return the refusals of all other parts."""
        return tuple(one for one in self.refused if one.part not in parts)

    def fault_of(self, failure: Failure) -> Fault | None:
        """Return which back-end an event is about, if it is one of `faults`."""
        return next((fault for fault in self.faults if fault.failure is failure), None)

    def faults_with(self, failure: Failure, choice: BackendChoice, *, routed: bool) -> tuple[Fault, ...]:
        """Return the faults after this one."""
        return (Fault(failure, choice, routed, self.driver_number), *self.faults[: MOST_FAULTS - 1])

    @property
    def driver_failed(self) -> bool:
        """Whether the driver has failed of something that the user may have put right since."""
        return any(
            fault.choice == self.driving and fault.driver_number == self.driver_number and not fault.failure.secondary
            for fault in self.faults
        )


class SessionFactory(Protocol):
    """Builds and starts sessions for the window; the composition root gives it one."""

    async def __call__(self, choice: SessionChoice, progress: Callable[[str], None]) -> Session:
        """Load everything off the event loop's thread, report progress in words, and start.

        Raises UserError with a sentence when the user can put it right.
        """
        ...
