"""What a window may ask of a session, and of whoever builds sessions. Protocols only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.conversation.events import Event, Manner
from app.conversation.prompt import Length
from app.secrets import Place as KeyPlace

ROUTER = "router"
"""The provider that chooses among brains, by the user's table from kinds of questions to brains."""


@dataclass(frozen=True, slots=True)
class BackendChoice:
    """A brain by name: a key of `app.backend.PROVIDERS` or `ROUTER`, a model (empty: the provider's default), a URL."""

    provider: str = "embedded"
    model: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """How a front-end with weights of its own runs.

    `weights`: a folder (empty: where downloads go). `precision`: `auto`, `bf16`, `int8` or `int4`; `device`: `auto`
    (a CUDA card, or a refusal), `cuda` or `cpu`. `context`: frames of memory (0: as many as fit). `delay` and
    `lead`: see `app.frontend.base.SetDials`.
    """

    weights: str = ""
    precision: str = "auto"
    device: str = "auto"
    context: int = 0
    delay: int = 0
    lead: int = 0


@dataclass(frozen=True, slots=True)
class Style:
    """How a conversation is held. `persona`: who answers, in the user's words (empty: the app's own); how to speak is
    added to it. `temperature`: 0 to 2, None for the brain's own.
    """

    persona: str = ""
    temperature: float | None = None
    length: Length = "medium"


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The tools that the brain may use: keys of `app.tools.TOOLS` or `mcp:NAME`, and the folders it may read."""

    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionChoice:
    """What a talk on devices is made of. Device names: empty for the system's default.

    `aside`: a second brain that answers beside `backend` and is shown. `cap`: US dollars that the talk may cost; 0: no
    cap.
    """

    frontend: str = "cascade"
    model: ModelChoice = ModelChoice()
    backend: BackendChoice = BackendChoice()
    aside: BackendChoice | None = None
    style: Style = Style()
    tools: ToolChoice = ToolChoice()
    cap: float = 0.0
    manner: Manner = "thinking"
    duplex: bool = False
    microphone: str = ""
    loudspeaker: str = ""
    record_folder: str = ""


class SessionControl(Protocol):
    """A running session. All calls come from the event loop's thread; none blocks."""

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        """Has every event from now on passed to `listener`, on the event loop's thread.

        The first one gets what happened before it, too.
        """
        ...

    def press(self) -> None:
        """The talk button went down."""
        ...

    def release(self) -> None:
        """The talk button went up."""
        ...

    def set_duplex(self, duplex: bool) -> None:
        """Whether the voice alone opens and closes turns (full duplex), or the button does."""
        ...

    def set_manner(self, manner: Manner) -> None:
        """Answers in this manner from now on."""
        ...

    def set_dials(self, delay: int, lead: int) -> None:
        """Waits `delay` frames before answering and hears the user `lead` frames late, from now on."""
        ...

    async def set_backend(self, choice: BackendChoice) -> None:
        """Answers with this brain from the next revision on. Raises BackendError with a sentence."""
        ...

    async def set_aside(self, choice: BackendChoice | None) -> None:
        """Has this brain answer too, beside the one that drives; None: no longer. Raises BackendError."""
        ...

    def hand_over(self) -> None:
        """The brain at the side drives from now on, with what it has said to the present turn; the other is shown."""
        ...

    def set_style(self, style: Style) -> None:
        """Holds the conversation in this style from the next request on."""
        ...

    async def set_tools(self, choice: ToolChoice) -> None:
        """Lets the brain use these tools, and no others, from the next request on. Never raises for a server."""
        ...

    def set_cap(self, dollars: float) -> None:
        """The talk may cost so much; 0: no cap."""
        ...

    async def stop(self) -> None:
        """Ends the session and waits until all of it has ended; safe to call twice."""
        ...


class WeightsStore(Protocol):
    """The weights of front-ends on this machine; the composition root gives the window one."""

    def missing(self, frontend: str) -> str:
        """What is missing of a front-end's weights, in words for the user; empty when nothing is."""
        ...

    def get(self, frontend: str, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        """Downloads them; blocks, on any thread. `report` gets words and a share done. Raises UserError."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderView:
    """What a window shows of a provider. `url`: where it is by default; None: there is none to give."""

    key: str
    label: str
    url: str | None = None
    wants_key: bool = False
    key_name: str = ""
    can_pull: bool = False
    suggestions: tuple[str, ...] = ()




@dataclass(frozen=True, slots=True)
class PriceRow:
    """US dollars for a million tokens of a model: read, read from the server's cache, written.

    `shipped`: the same three as the app has them; None for a model that only the user has a price for.
    """

    model: str
    tokens_in: float
    tokens_cached: float
    tokens_out: float
    shipped: tuple[float, float, float] | None = None


class PriceDesk(Protocol):
    """The table of prices, the app's own with the user's on top. All calls are quick."""

    def prices(self) -> tuple[tuple[PriceRow, ...], str]:
        """All rows, and a sentence when the user's own table can't be used."""
        ...

    def keep_prices(self, rows: Sequence[PriceRow], shown: Sequence[PriceRow]) -> None:
        """Keeps what of `rows` is not as it was `shown`, and counts by it from now on. Raises UserError."""
        ...

    def unpriced(self, choice: BackendChoice) -> str | None:
        """The model of a brain whose cost nobody knows, empty for one without a name; None where it is known."""
        ...


@dataclass(frozen=True, slots=True)
class ToolServerView:
    """What a window shows and changes of a server of tools: a `command` with `args`, or a `url`.

    `kept`: the name that the list has it by, empty for a new one. The rest is only shown. `variables`: the names of
    those that the list sets for it. `off`: the list says so. `trouble`: why it can't be used, empty when it can.
    """

    name: str
    kind: Literal["program", "address"] = "program"
    command: str = ""
    args: tuple[str, ...] = field(default=(), repr=False)
    url: str = field(default="", repr=False)
    kept: str = ""
    variables: tuple[str, ...] = ()
    off: bool = False
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class ToolServerList:
    """The user's servers of tools, and the names of those that talks can use.

    `trouble`: why the list can't be read, in a sentence; then it can't be changed either.
    """

    servers: tuple[ToolServerView, ...] = ()
    usable: tuple[str, ...] = ()
    trouble: str = ""


class ToolServerDesk(Protocol):
    """The user's list of servers of tools. What is a coroutine never blocks the loop."""

    async def servers(self) -> ToolServerList:
        """The list as it is now."""
        ...

    def wrong(self, changed: Sequence[ToolServerView], others: Sequence[str] = ()) -> tuple[int, str] | None:
        """The place of the first that can't be kept so beside `others`, by name, and why, in a sentence."""
        ...

    async def keep(self, changed: Sequence[ToolServerView], removed: Sequence[str]) -> ToolServerList:
        """Keeps new and changed ones, takes out those removed, by name; tells the list then. Raises UserError."""
        ...

    async def test(self, server: ToolServerView) -> str:
        """Connects to a server; tells in a sentence what it offers. Cancelling ends it. Raises UserError."""
        ...


class BrainDesk(Protocol):
    """All about brains that needs no session: their list, models, keys; the composition root gives the window one.

    What is a coroutine may ask a server; none blocks the loop. Raises UserError with a sentence.
    """

    providers: tuple[ProviderView, ...]
    prices: PriceDesk | None
    tool_servers: ToolServerDesk | None

    async def models(self, choice: BackendChoice, *, fresh: bool = False) -> tuple[str, ...]:
        """The models that a provider's server offers, kept for a while; `fresh` asks anew."""
        ...

    async def test(self, choice: BackendChoice) -> str:
        """Asks the brain for a word; tells in a sentence that it works. Raises UserError when it doesn't."""
        ...

    async def pull(self, choice: BackendChoice, report: Callable[[str, float], None]) -> None:
        """Has Ollama fetch a model; cancelling the task stops it. `report` gets words and a share done."""
        ...

    async def key_place(self, choice: BackendChoice) -> KeyPlace:
        """Where the key for a brain comes from."""
        ...

    async def keep_key(self, choice: BackendChoice, key: str) -> str:
        """Keeps a key in the system's keyring, or in memory for this run; tells in a sentence where it is."""
        ...

    async def forget_key(self, choice: BackendChoice) -> str:
        """Forgets it; tells in a sentence what is so now."""
        ...


class SessionFactory(Protocol):
    """Builds and starts sessions for the window; the composition root gives it one."""

    async def __call__(self, choice: SessionChoice, progress: Callable[[str], None]) -> SessionControl:
        """Loads everything off the loop's thread, tells what it does in words through `progress`, starts.

        Raises `app.session.errors.UserError` with a sentence when the user can put it right.
        """
        ...
