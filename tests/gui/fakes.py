"""A session and a factory that do nothing but note what they are told, and say what a test has them say."""

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.conversation.events import (
    BackendChanged,
    BranchChosen,
    ChangeRefused,
    Event,
    Failure,
    SecondaryChanged,
    SessionStarted,
)
from app.conversation.prompt import ChatMessage
from app.gui.state.choice import WindowChoices
from app.services.api_keys import KeyPlace
from app.services.backend_service import FoundServer, Offer, ProviderView
from app.services.machine_service import FrontEndFit, MachineFinding, MachineView
from app.services.microphone_check import MicrophoneTest
from app.services.price_service import Price, PriceRow
from app.services.tool_server_service import ServerEntry, ServerList, ToolServerService
from app.session.control import BackendChoice, Part, Progress, Refusal, Repeat, SessionChoice, SessionState, to_exchange

PROVIDERS = (
    ProviderView("embedded", "Built-in"),
    ProviderView("ollama", "Ollama", "http://127.0.0.1:11434", can_pull=True),
    ProviderView(
        "openai",
        "OpenAI",
        "https://api.openai.com/v1",
        True,
        "OPENAI_API_KEY",
        suggestions=("gpt-4.1-mini", "gpt-4.1", "gpt-5"),
    ),
    ProviderView("anthropic", "Anthropic", None, True, "ANTHROPIC_API_KEY", suggestions=("claude-haiku-4-5",)),
    ProviderView("google", "Google", None, True, "GEMINI_API_KEY", suggestions=("gemini-2.5-flash",)),
    ProviderView("compatible", "Another server", ""),
)
"""What a desk offers."""
CHOICES = WindowChoices(frontends=(("cascade", "Cascade"), ("kame", "KAME")), weighty=("kame",), backends=PROVIDERS)


async def held(fake: Any, gate: asyncio.Event | None) -> None:
    """Waits for a gate, if there is one; the fake counts in `cancelled` how often that was cancelled."""
    try:
        await asyncio.sleep(0)
        if gate is not None:
            await gate.wait()
    except asyncio.CancelledError:
        fake.cancelled += 1
        raise


class FakeSession:
    """Notes every call in `calls`; `say` passes events to the listeners, with the state that a session has then."""

    def __init__(self, choice: SessionChoice) -> None:
        self.state = SessionState(choice, choice.backend, secondary=choice.secondary, tools=choice.tools)
        self.calls: list[tuple[Any, ...]] = []
        self.listeners: list[Callable[[Event], None]] = []
        self.state_listeners: list[Callable[[SessionState], None]] = []
        self.refusal: Exception | None = None
        self.slow: asyncio.Event | None = None
        self.last_words: list[Event] = []
        self.stopped = 0
        self.stop_hangs = False
        self.changes: dict[str, asyncio.Task[None]] = {}
        self._handed = False

    @property
    def choice(self) -> SessionChoice:
        return self.state.wanted

    def add_listener(self, listener: Callable[[Event], None]) -> None:
        self.listeners.append(listener)

    def on_state(self, listener: Callable[[SessionState], None]) -> None:
        self.state_listeners.append(listener)
        listener(self.state)

    def publish(self, **changes: Any) -> None:
        """Changes these fields of the state."""
        self.state = replace(self.state, **changes)
        for listener in self.state_listeners:
            listener(self.state)

    def say(self, *events: Event) -> None:
        for event in events:
            self._follow(event)
            for listener in self.listeners:
                listener(event)

    def _follow(self, event: Event) -> None:
        """Publishes the state that goes with an event."""
        state, wanted = self.state, self.state.wanted
        match event:
            case SessionStarted():
                self.publish(model=event.model)
            case BackendChanged(reason="handed") if state.secondary is not None:
                loads = wanted.secondary not in (state.secondary, state.driving)
                self._drive(
                    event,
                    state.secondary,
                    secondary=state.driving,
                    secondary_number=state.secondary_number + 1,
                    wanted=replace(
                        wanted, backend=state.secondary, secondary=wanted.secondary if loads else state.driving
                    ),
                )
            case BackendChanged(reason="fallback"):
                told = BackendChoice(event.provider, event.chosen_model, event.base_url)
                if wanted.backend == state.driving:
                    wanted = replace(wanted, backend=told)
                self._drive(event, told, wanted=wanted)
            case BackendChanged(reason="chosen") if event.provider:
                self._drive(event, wanted.backend)
            case BackendChanged():
                self.publish(model=event.model)
            case SecondaryChanged(backend=backend) if not self._handed:
                if not backend and wanted.secondary == state.secondary:
                    wanted = replace(wanted, secondary=None)
                secondary = wanted.secondary if backend else None
                self.publish(secondary=secondary, secondary_number=state.secondary_number + 1, wanted=wanted)
            case Failure() if event.provider:
                known = [choice for choice in (state.driving, state.secondary) if choice is not None]
                told = event.provider, event.model, event.base_url
                choice = next((one for one in known if one.public == told), BackendChoice(*told))
                self.publish(faults=state.faults_with(event, choice))
        self._handed = isinstance(event, BackendChanged) and event.reason == "handed"

    def _drive(self, event: BackendChanged, choice: BackendChoice, **changes: Any) -> None:
        number = self.state.driver_number + 1
        self.publish(driving=choice, model=event.model, reason=event.reason, driver_number=number, **changes)

    def press(self) -> None:
        self.calls.append(("press",))

    def release(self) -> None:
        self.calls.append(("release",))

    def choose_branch(self, branch: tuple[int, int], messages: Sequence[ChatMessage]) -> None:
        self.calls.append(("choose_branch", branch, [message.content for message in messages]))
        self.say(BranchChosen(9.0, *branch))

    def repeat(self, text: str, how: Repeat) -> None:
        self.calls.append(("repeat", text, how))

    def write(self, text: str) -> None:
        self.calls.append(("write", text))

    def ask_aloud(self, samples: np.ndarray) -> None:
        self.calls.append(("ask_aloud", len(samples)))

    def stop_asking(self) -> None:
        self.calls.append(("stop_asking",))

    def silence(self) -> None:
        self.calls.append(("silence",))

    def allow(self, *, always: bool = False) -> None:
        self.calls.append(("allow", always))

    def deny(self) -> None:
        self.calls.append(("deny",))

    def sound_of(self, speaker: str, begin: float, end: float) -> np.ndarray | None:
        self.calls.append(("sound_of", speaker, begin, end))
        return np.zeros(2400, np.float32) if begin >= 1 else None

    def apply(self, choice: SessionChoice, *, reopen: Collection[Part] = ()) -> None:
        """Notes each difference as a call, such as ("set_duplex", True)."""
        before = self.choice
        roles = choice.backend, choice.secondary
        handed = before.secondary is not None and roles == (before.secondary, before.backend)
        if handed:  # a test says when it is done
            choice = replace(choice, backend=before.backend, secondary=before.secondary)
        changed = to_exchange(before, choice, reopen)
        self.publish(wanted=choice, tools=choice.tools, refused=self.state.without_refusal(*changed))
        for name in ("duplex", "answer_mode", "patience", "muted", "processing", "openings", "speech", "style", "cap"):
            if getattr(choice, name) != getattr(before, name):
                self.calls.append((f"set_{name}", getattr(choice, name)))
        if (choice.microphone, choice.loudspeaker) != (before.microphone, before.loudspeaker):
            self.calls.append(("set_devices", choice.microphone, choice.loudspeaker))
        dials = choice.model.delay, choice.model.lead
        if dials != (before.model.delay, before.model.lead):
            self.calls.append(("set_dials", *dials))
        if choice.tools != before.tools or "tools" in reopen:
            self.calls.append(("set_tools", choice.tools))
        if handed:
            self.calls.append(("hand_over",))
            return
        if choice.backend != before.backend or "backend" in reopen:
            self.calls.append(("set_backend", choice.backend))
            self._start("backend", choice.backend)
        if choice.secondary != before.secondary or "secondary" in reopen:
            self.calls.append(("set_secondary", choice.secondary))
            self._start("secondary", choice.secondary)

    def _start(self, part: Part, choice: BackendChoice | None) -> None:
        if (old := self.changes.pop(part, None)) is not None:
            old.cancel()
        self.changes[part] = asyncio.get_running_loop().create_task(self._change(part, choice))

    async def _change(self, part: Part, choice: BackendChoice | None) -> None:
        if part == "backend" and self.slow is not None:
            await self.slow.wait()
        await asyncio.sleep(0)
        told = choice.public if choice is not None else ("", "", "")
        if self.refusal is not None:
            kept = self.state.driving if part == "backend" else self.state.secondary
            refusal = Refusal(part, choice, str(self.refusal))
            self.publish(
                wanted=replace(self.choice, **{part: kept}), refused=(*self.state.without_refusal(part), refusal)
            )
            self.say(ChangeRefused(0.0, part, str(self.refusal), *told))
        elif part == "backend":
            self.say(BackendChanged(0.0, told[0], told[1], "chosen", *told))
        else:
            self.say(SecondaryChanged(0.0, told[0], told[1]))

    async def stop(self) -> None:
        self.stopped += 1
        if self.stop_hangs:
            await asyncio.Event().wait()
        await asyncio.sleep(0)
        self.say(*self.last_words)


@dataclass
class FakeFactory:
    """Builds `FakeSession`s. `outcomes` are raised or built from in turn; `gate` holds the building back."""

    outcomes: list[Exception | None] = field(default_factory=list)
    progress: Iterable[Progress] = (Progress(("recogniser",)),)
    gate: asyncio.Event | None = None
    choices: list[SessionChoice] = field(default_factory=list)
    sessions: list[FakeSession] = field(default_factory=list)
    reporters: list[Callable[[Progress], None]] = field(default_factory=list)
    cancelled: int = 0

    async def __call__(self, choice: SessionChoice, progress: Callable[[Progress], None]) -> FakeSession:
        self.choices.append(choice)
        self.reporters.append(progress)
        try:
            for step in self.progress:
                progress(step)
                await asyncio.sleep(0)
            if self.gate is not None:
                await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if outcome is not None:
            raise outcome
        self.sessions.append(FakeSession(choice))
        return self.sessions[-1]

    @property
    def session(self) -> FakeSession:
        """The newest session."""
        return self.sessions[-1]


@dataclass
class FakePrices:
    """A table of prices; `kept` notes what it was given to keep, unless it raises `refusal`."""

    rows: tuple[PriceRow, ...] = (
        PriceRow("gpt-4.1", Price(2.0, 0.5, 8.0), Price(2.0, 0.5, 8.0)),
        PriceRow("gpt-4.1-mini", Price(0.4, 0.1, 1.6), Price(0.4, 0.1, 1.6)),
        PriceRow("claude-opus-4-1", Price(12.0, 1.5, 75.0), Price(15.0, 1.5, 75.0)),
        PriceRow("qwen/qwen3-30b", Price(0.1, 0.1, 0.3)),
    )
    problem: str = ""
    refusal: Exception | None = None
    kept: list[list[PriceRow]] = field(default_factory=list)

    def prices(self) -> tuple[tuple[PriceRow, ...], str]:
        return self.rows, self.problem

    def keep_prices(self, rows: Sequence[PriceRow], shown: Sequence[PriceRow]) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.kept.append(list(rows))
        self.rows = tuple(rows)

    def unpriced(self, choice: BackendChoice) -> str | None:
        free = choice.provider in ("embedded", "ollama")
        return None if free or choice.model in [row.model for row in self.rows] else choice.model


SERVERS = (
    ServerEntry(
        "files",
        command="npx",
        args=("-y", "@modelcontextprotocol/server-filesystem", "/home/ann/Recipes"),
        kept="files",
        variables=("LOG_LEVEL",),
    ),
    ServerEntry("weather", "address", url="https://weather.example.org/mcp", kept="weather"),
    ServerEntry("old", "address", url="https://example.org/sse", kept="old", off=True),
)
"""What a list of servers of tools holds."""


@dataclass
class FakeServers:
    """A list of servers of tools that finds nothing wrong; a test of one waits for `gate`."""

    listed: tuple[ServerEntry, ...] = SERVERS
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    cancelled: int = 0

    async def servers(self) -> ServerList:
        return ServerList(self.listed)

    def wrong(self, changed: Sequence[ServerEntry], others: Sequence[str] = ()) -> tuple[int, str] | None:
        return None

    async def keep(self, changed: Sequence[ServerEntry], removed: Sequence[str]) -> ServerList:
        return await self.servers()

    async def test(self, server: ServerEntry) -> str:
        await held(self, self.gate)
        return f"“{server.name}” works."


@dataclass
class FakeBackendService:
    """Notes every call in `calls`; answers what it is given, after `gate`, or raises `refusal`.

    Keys are kept in `keys`, by provider: what is called is noted without them. `lists`: models by provider or address;
    `faults`: what an address fails with; `here`: servers that run on this machine.
    """

    providers: tuple[ProviderView, ...] = PROVIDERS
    lists: dict[str, tuple[str, ...]] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    places: dict[str, KeyPlace] = field(default_factory=dict)
    prices: FakePrices | None = None
    tool_servers: ToolServerService | None = None
    refusal: Exception | None = None
    faults: dict[str, Exception] = field(default_factory=dict)
    here: tuple[FoundServer, ...] = ()
    gate: asyncio.Event | None = None
    steps: tuple[tuple[str, float], ...] = (("pulling the manifest", 0.0), ("1.1 of 3.3 GB", 0.33))
    calls: list[tuple[Any, ...]] = field(default_factory=list)
    cancelled: int = 0
    cancelled_pulls: int = 0

    async def _wait(self) -> None:
        await held(self, self.gate)
        if self.refusal is not None:
            raise self.refusal

    async def models(self, choice: BackendChoice, *, fresh: bool = False) -> tuple[str, ...]:
        return (await self.offer(choice, fresh=fresh)).models

    async def offer(self, choice: BackendChoice, *, fresh: bool = False, seconds: float = 0.0) -> Offer:
        """The list of a provider or an address; suggestions without a key, where one is wanted and there is no list."""
        self.calls.append(("models", choice.provider, choice.base_url, fresh))
        await self._wait()
        if choice.base_url in self.faults:
            raise self.faults[choice.base_url]
        listed = self.lists.get(choice.base_url, self.lists.get(choice.provider))
        view = next((view for view in self.providers if view.key == choice.provider), None)
        if listed is None and view is not None and view.wants_key and choice.provider not in self.keys:
            return Offer(view.suggestions, False)
        return Offer(listed or (), True)

    async def servers_here(self) -> tuple[FoundServer, ...]:
        return self.here

    async def test(self, choice: BackendChoice) -> str:
        self.calls.append(("test", choice))
        await self._wait()
        return f"{choice.model or 'It'} answers: first words after 0.31 s."

    async def pull(self, choice: BackendChoice, report: Callable[[str, float], None]) -> None:
        self.calls.append(("pull", choice))
        try:
            for words, share in self.steps:
                report(words, share)
                await asyncio.sleep(0)
            await self._wait()
        except asyncio.CancelledError:
            self.cancelled_pulls += 1
            raise
        self.lists[choice.provider] = (*self.lists.get(choice.provider, ()), choice.model)

    async def key_place(self, choice: BackendChoice) -> KeyPlace:
        self.calls.append(("key_place", choice.provider))
        await asyncio.sleep(0)
        return self.places.get(choice.provider, "keyring" if choice.provider in self.keys else "none")

    async def keep_key(self, choice: BackendChoice, key: str) -> str:
        self.calls.append(("keep_key", choice.provider))
        await self._wait()
        self.keys[choice.provider] = key
        return "The key is kept in the system's keyring."

    async def forget_key(self, choice: BackendChoice) -> str:
        self.calls.append(("forget_key", choice.provider))
        await self._wait()
        self.keys.pop(choice.provider, None)
        return "The key is forgotten."


def no_devices() -> tuple[list[str], list[str]]:
    """No device at all."""
    return [], []


def two_devices() -> tuple[list[str], list[str]]:
    """A desk microphone, and headphones."""
    return ["Desk microphone"], ["Headphones"]


GOOD = MicrophoneTest("Desk microphone", "good", "What is it?", -4.2, -23.6, -62.4)


class FakeSoundService:
    """Notes what it is asked; answers after `gate`, when stopped, or raises `refusal`. Two at once are a fault."""

    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []
        self.gate = asyncio.Event()
        self.closing = asyncio.Event()
        self.closing.set()
        self.found = GOOD
        self.refusal: Exception | None = None
        self.report: Callable[[float, bool], None] = lambda level, clipped: None
        self.stopped = self.cancelled = self.running = 0

    async def test_microphone(self, name: str, seconds: float, report: Callable[[float, bool], None]) -> MicrophoneTest:
        self.report = report
        await self._wait("test_microphone", name)
        return self.found

    async def play_back(self, loudspeaker: str) -> None:
        await self._wait("play_back", loudspeaker)

    async def test_loudspeaker(self, name: str) -> None:
        await self._wait("test_loudspeaker", name)

    async def play(self, sound: Any, loudspeaker: str) -> None:
        self.sound = sound
        await self._wait("play", loudspeaker)

    def stop(self) -> None:
        self.stopped += 1
        self.gate.set()

    async def _wait(self, *call: str) -> None:
        self.calls.append(call)
        self.running += 1
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            await self.closing.wait()
            raise
        finally:
            self.running -= 1
        self.gate.clear()
        if self.refusal is not None:
            raise self.refusal


HERE = "http://127.0.0.1:11434"
FINDINGS = (
    MachineFinding("card", "fair", "No NVIDIA card. The built-in voice needs none."),
    MachineFinding("processor", "good", "8 cores, 16 GB of memory."),
    MachineFinding("microphone", "missing", "No microphone. Plug one in to talk; you can always type."),
)


def fits(*possible: str, size: int = 16_200_000_000) -> tuple[FrontEndFit, ...]:
    """What fits on a card that has room for these precisions."""
    rows = [FrontEndFit("cascade", "", True, "It runs on the processor, and is here already.")]
    for name, label in (("kame", "KAME"), ("moshi", "Moshi")):
        for precision in ("bf16", "int8", "int4"):
            room = precision in possible
            why = f"Takes 11 GB in {precision}." if room else f"{label} needs a larger card for {precision}."
            rows.append(FrontEndFit(name, precision, room, why, size))
    return tuple(rows)


PLAIN = MachineView(FINDINGS, fits(), "This machine has no NVIDIA card.")
CARD = MachineView(
    (MachineFinding("card", "good", "NVIDIA GeForce RTX 4070, 12 GB."), *FINDINGS[1:]),
    fits("int8", "int4"),
    "12 GB card: KAME in int8.",
    "kame",
    "int8",
    BackendChoice("ollama", "gemma3:4b", HERE),
)


@dataclass
class FakeMachine:
    """Returns `view`, after `gate`."""

    view: MachineView = PLAIN
    gate: asyncio.Event | None = None
    refusal: Exception | None = None
    looks: int = 0
    cancelled: int = 0
    trial: tuple[MachineFinding, ...] = ()

    async def try_card(self, report: Callable[[str, float], None]) -> tuple[MachineFinding, ...]:
        report("Trying KAME on the graphics card, step 2 of 5 …", 0.2)
        await held(self, self.gate)
        if self.refusal is not None:
            raise self.refusal
        return self.trial

    async def look(self, report: Callable[[str, float], None]) -> MachineView:
        self.looks += 1
        report("Looking at the graphics card …", 0.4)
        await held(self, self.gate)
        if self.refusal is not None:
            raise self.refusal
        return self.view
