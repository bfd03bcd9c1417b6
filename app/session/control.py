"""What a session should be and what it is, as plain data; and the exception for errors that the user can fix."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol

from app.backend.base import without_secrets
from app.conversation.events import USUAL_PROCESSING, AnswerMode, Failure, Processing
from app.conversation.prompt import ChatMessage, Document, Length


class UserError(Exception):
    """An error that the user can fix. `str(error)` is a message: what happened, what it means and what to do."""


if TYPE_CHECKING:
    from app.session.session import Session

Speaker = Literal["user", "assistant"]
Part = Literal["backend", "secondary", "tools"]
PARTS: tuple[Part, ...] = ("backend", "secondary", "tools")
"""The fields of a `SessionChoice` that a running session may refuse."""


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """A back-end: a key of `app.backend.PROVIDERS`, a model (empty for the default), and a URL."""

    provider: str = "embedded"
    model: str = ""
    base_url: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """The provider and address, to which a key, a connection and a list of models belong."""
        return self.provider, self.base_url

    @property
    def public(self) -> tuple[str, str, str]:
        """The provider, the model and the address without secrets, as in events."""
        return self.provider, self.model, without_secrets(self.base_url)

    def __repr__(self) -> str:
        return f"BackendChoice{self.public}"


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """How a front-end with its own weights runs.

    - `weights`: a folder; empty for the downloads.
    - `precision`: `auto`, `bf16`, `int8` or `int4`; `device`: `auto` (requires a CUDA card), `cuda` or `cpu`.
    - `context`: frames of memory; 0 for as many as fit.
    - `delay`: frames of silence before an answer; `lead`: how many frames later than the transcriber it hears the user.
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

    - `language`: its two letters, or "auto" to detect it.
    - `recogniser`: a model of the catalogue; empty for the language's default.
    - `voice`: a model of the catalogue, or MODEL/VOICE if it has several; empty for the language's default.
    - `rate`: a factor for the voice's own rate; `volume`: a factor from 0 to 2.
    """

    language: str = "en"
    recogniser: str = ""
    voice: str = ""
    rate: float = 1.0
    volume: float = 1.0


@dataclass(frozen=True, slots=True)
class Style:
    """How a conversation is held.

    `persona`: who answers, in the user's words (empty for the app's default); how to speak is added to it.
    `temperature`: 0 to 2, None for the model's default. `voice` overrides `SpeechChoice.voice` unless it is empty.
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
    """What a session should be, according to the settings, the command line or a stored conversation.

    - `secondary`: a back-end whose answers are shown for comparison.
    - `cap`: US dollars that the session may cost; 0 for no cap.
    - `documents`: texts that the models can draw on; `earlier`: the conversation so far.
    - `titled`: a model gives the conversation a title.
    - `branch`: the user's first turn follows this one, as in `Turn.after`; None: the newest one.
    - `patience` in [-1, 1]: how long to wait in pauses, 0 as fitted.
    - `microphone`, `loudspeaker`: empty for the system's default.
    - `record_folder`: where the session is recorded; empty for no recording.
    - `server`: the address of the voice server for the front-end `remote`.
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
    branch: tuple[int, int] | None = None
    titled: bool = False
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
    """Returns whether a session of `old` has to be restarted to become one of `new`."""
    return _fixed(old) != _fixed(new)


def _fixed(choice: SessionChoice) -> tuple[object, ...]:
    """Returns the parts of a choice that require a restart if they change.

    A change of the language, `earlier`, `branch`, `titled` or `record_folder` takes effect in the next session.
    """
    if choice.frontend == "cascade":
        return (choice.frontend,)  # it has no weights
    if choice.frontend == "remote":
        return choice.frontend, choice.server
    model = choice.model
    return choice.frontend, model.weights, model.precision, model.device, model.context


def to_exchange(before: SessionChoice, choice: SessionChoice, reopen: Collection[Part]) -> set[Part]:
    """Returns the parts to exchange: those that differ, and those in `reopen` that are in use."""
    used = {"backend": True, "secondary": choice.secondary is not None, "tools": bool(choice.tools.names)}
    changed = {part for part in PARTS if getattr(choice, part) != getattr(before, part)}
    return changed | {part for part in reopen if used[part]}


@dataclass(frozen=True, slots=True)
class Refusal:
    """A change that a session has refused.

    - `part`: what was to change.
    - `choice`: the back-end that it was to change to; None for tools.
    - `sentence`: the user-facing message.
    - `fixable`: whether the back-end's key or address may be the cause.
    """

    part: Part
    choice: BackendChoice | None
    sentence: str
    fixable: bool = True


@dataclass(frozen=True, slots=True)
class Fault:
    """A failure of a back-end that its key or address may have caused.

    - `failure`: the event that reports it. Listeners get the same object.
    - `choice`: the back-end that failed, with its complete address.
    - `driver_number`: that of the state in which it failed.
    """

    failure: Failure
    choice: BackendChoice
    driver_number: int


MOST_FAULTS = 16
"""How many faults a state keeps: enough for those whose events have not been shown yet."""


@dataclass(frozen=True, slots=True)
class SessionState:
    """What is wanted of a session, and which back-ends and tools it uses. Each change creates a new state.

    It never leaves the process, since addresses may contain keys.

    - `wanted`: the choice that was applied last, except for back-ends and tools that were refused or have failed.
    - `driving`: the back-end whose answers are spoken. `model`: its model, as the back-end names it.
    - `reason`: why the driver changed last, as in `BackendChanged`.
    - `secondary`: the back-end whose answers are only shown.
    - `driver_number`, `secondary_number`: how often each has changed, including to a new instance of the same choice.
    - `tools`: the tools in use.
    - `refused`: at most one per part, until the part is requested again.
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
        """Returns why `part` was refused when it was last requested; None if it wasn't."""
        return next((one for one in self.refused if one.part == part), None)

    def without_refusal(self, *parts: Part) -> tuple[Refusal, ...]:
        """Returns the refusals of all other parts."""
        return tuple(one for one in self.refused if one.part not in parts)

    def fault_of(self, failure: Failure) -> Fault | None:
        """Returns the fault that an event reports, if it is one of `faults`."""
        return next((fault for fault in self.faults if fault.failure is failure), None)

    def faults_with(self, failure: Failure, choice: BackendChoice) -> tuple[Fault, ...]:
        """Returns the faults including this new one."""
        return (Fault(failure, choice, self.driver_number), *self.faults[: MOST_FAULTS - 1])

    @property
    def driver_failed(self) -> bool:
        """Whether the driver has failed for a reason that the user may have fixed since."""
        return any(
            fault.choice == self.driving and fault.driver_number == self.driver_number and not fault.failure.secondary
            for fault in self.faults
        )


Repeat = Literal["again", "slower", "on"]
"""How an answer is said once more: whole, whole and more slowly, or from where it was interrupted."""


class EarlyTalk(Protocol):
    """A session that is still loading, but hears the user."""

    def press(self) -> None:
        """The talk button went down."""
        ...

    def release(self) -> None:
        """The talk button went up."""
        ...

    def set_muted(self, muted: bool) -> None:
        """Mutes the microphone, or unmutes it."""
        ...


LoadedPart = Literal["recogniser", "voice", "model"]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the start of a session has come.

    - `waiting`: the parts that are not loaded yet.
    - `note`: what the user should know about the start, for example how much memory it needs.
    - `early`: takes what the user says from now on; None until the devices are open.
    """

    waiting: tuple[LoadedPart, ...] = ()
    note: str = ""
    early: EarlyTalk | None = None


class SessionFactory(Protocol):
    """Creates and starts sessions for the window. The composition root provides it."""

    async def __call__(self, choice: SessionChoice, progress: Callable[[Progress], None]) -> Session:
        """Loads everything off the event loop's thread, reporting progress, and starts the session.

        Raises UserError for errors that the user can fix.
        """
        ...
