"""What a window asks for besides sessions: brains, their keys, models and prices, and servers of tools."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

import numpy as np

from app.services.api_keys import Place as KeyPlace
from app.session.control import BackendChoice


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


class PriceService(Protocol):
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


class ToolServerService(Protocol):
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


class BackendService(Protocol):
    """All about brains that needs no session: their list, models, keys; the composition root gives the window one.

    What is a coroutine may ask a server; none blocks the loop. Raises UserError with a sentence.
    """

    providers: tuple[ProviderView, ...]
    prices: PriceService | None
    tool_servers: ToolServerService | None

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


MicrophoneVerdict = Literal["good", "silent", "quiet", "clipped", "noisy", "no speech"]
"""What a test of a microphone comes to. `silent`: nothing at all came (muted, or the wrong device); `no speech`: it
works, but nobody spoke."""


@dataclass(frozen=True, slots=True)
class MicrophoneTest:
    """What a test of a microphone found; levels in dBFS. `name`: the device that was heard. `words`: what the app's
    own ears understood, maybe nothing.

    `peak_dbfs`: of the loudest sample; `speech_dbfs`: of the speech, without its pauses (None: there was none);
    `noise_dbfs`: of what is heard when nobody speaks. `clipped`: the tops of the sound were cut off.
    """

    name: str
    verdict: MicrophoneVerdict
    words: str = ""
    peak_dbfs: float = -120.0
    speech_dbfs: float | None = None
    noise_dbfs: float = -120.0
    clipped: bool = False


@dataclass(frozen=True, slots=True)
class Clip:
    """A part of a kept talk's sound. `folder`: where that is (see `recorder`); times in seconds of its session."""

    folder: Path
    speaker: Literal["user", "assistant"]
    begin: float
    end: float


class SoundService(Protocol):
    """Tries out microphones and loudspeakers, by name (empty: the system's default), beside a talk or without one.

    One thing at a time: a second call waits for the first. None blocks the loop; one that is cancelled ends once
    its device is closed. Raises UserError with a sentence.
    """

    async def test_microphone(self, name: str, seconds: float, report: Callable[[float, bool], None]) -> MicrophoneTest:
        """Hears somebody say something, for `seconds` at most, up to half a second behind the last word.

        `report` gets the peak level in dBFS of each 80 ms and whether they are clipped, on the loop's thread; the
        first call says that the microphone is open. What was heard is kept for `play_back`.
        """
        ...

    async def play_back(self, loudspeaker: str) -> None:
        """Plays what the last test of a microphone has heard, as loud as it was; comes back when it has been heard."""
        ...

    async def test_loudspeaker(self, name: str) -> None:
        """Plays two tones, and a sentence in the app's voice; comes back when they have been heard."""
        ...

    async def play(self, sound: np.ndarray | Clip, loudspeaker: str) -> None:
        """Plays a part of a talk, float32 mono 24 kHz or one that was kept; comes back when it has been heard."""
        ...

    def stop(self) -> None:
        """What is being heard ends here, and is judged; what is being played falls silent. Neither is an error."""
        ...
