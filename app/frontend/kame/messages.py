"""The messages between a session and the process that steps its model.

Loading is told in JSON. From then on, each frame is one small message each way. The audio lies in shared memory, so
that a process that hangs can't block the session that sends to it: `SLOTS` frames each way, used in turn.
"""

from __future__ import annotations

import mmap
import struct
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.kame.stream_engine import Column, TextTokens

SLOTS = 16
"""More than the frames that may be on their way, so that none is overwritten before it was read."""
FRAME_BYTES = 4 * FRAME_SAMPLES
SHARED_BYTES = 2 * SLOTS * FRAME_BYTES

RESTART, RESTART_LANGUAGE_MODEL, STEP, ENCODE, REPLAY = range(5)
"""What a session asks for. RESTART, STEP and ENCODE are answered."""
SPOKEN, ENCODED, RESTARTED, FAILED = range(4)
"""What the process answers. After FAILED, which a JSON object follows, it ends."""


@dataclass(frozen=True, slots=True)
class LoadRequest:
    """What the process loads.

    - `folder`, `label`: the weights, and the model's user-facing name.
    - `device`, `precision`: where and how the model runs; `auto` for what suits this machine.
    - `context`: the length of the context in frames; 0 for the model's own.
    - `reserved`: bytes of the card's memory that speech recognition needs.
    """

    folder: str
    label: str
    device: str = "auto"
    precision: str = "auto"
    context: int = 0
    reserved: int = 0


@dataclass(frozen=True, slots=True)
class Ready:
    """The loaded model.

    - `device`, `precision`, `context`, `step_seconds`: how it runs.
    - `silence`, `own`, `heard`: its codes for silence, and the number of codes in each direction.
    - `padding`, `start`, `vocabulary`, `silent`: see `TextTokens`.
    - `load_seconds`, `loaded_bytes`: how long loading took, and how much was read.
    - `card_bytes`: the memory that it takes of the card, 0 on a processor.
    - `notes`: lines for the report, for example that a kernel is off on this card.
    """

    device: str
    precision: str
    context: int
    step_seconds: float
    silence: tuple[int, ...]
    own: int
    heard: int
    padding: int
    start: int
    vocabulary: int
    silent: tuple[int, ...]
    load_seconds: float = 0.0
    loaded_bytes: int = 0
    card_bytes: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def read(cls, value: dict[str, Any]) -> Ready:
        """Returns what `document` has written."""
        lists = {name: tuple(value[name]) for name in ("silence", "silent", "notes")}
        return cls(**{**value, **lists})

    def document(self) -> dict[str, Any]:
        """Returns it as JSON-compatible data."""
        return asdict(self)

    @property
    def tokens(self) -> TextTokens:
        """The special tokens of the model's text."""
        return TextTokens(self.padding, self.start, self.vocabulary, frozenset(self.silent))


class Frames:
    """The audio in shared memory: a ring of frames to the process, and one back."""

    def __init__(self, memory: mmap.mmap) -> None:
        both = np.frombuffer(memory, np.float32).reshape(2, SLOTS, FRAME_SAMPLES)
        self._in, self._out = both

    def put_in(self, number: int, samples: np.ndarray) -> None:
        """Writes the user's frame `number`."""
        self._in[number % SLOTS] = samples

    def take_in(self, number: int) -> np.ndarray:
        """Returns a copy of the user's frame `number`."""
        return self._in[number % SLOTS].copy()

    def put_out(self, number: int, samples: np.ndarray) -> None:
        """Writes the model's frame for the user's frame `number`."""
        self._out[number % SLOTS] = samples

    def take_out(self, number: int) -> np.ndarray:
        """Returns a copy of the model's frame for the user's frame `number`."""
        return self._out[number % SLOTS].copy()


_REQUEST = struct.Struct("<BBiI")


def request(what: int, *, silent: bool = False, oracle: int = 0, number: int = 0) -> bytes:
    """Returns a message to the process. `number`: the frame's, which says where its audio lies."""
    return _REQUEST.pack(what, silent, oracle, number & 0xFFFFFFFF)


def read_request(message: bytes) -> tuple[int, bool, int, int]:
    """Returns what is asked for, `silent`, the oracle's token, and the frame's number."""
    what, silent, oracle, number = _REQUEST.unpack_from(message)
    return what, bool(silent), oracle, number


class ColumnFormat:
    """Columns of `own` and `heard` codes as bytes."""

    def __init__(self, own: int, heard: int) -> None:
        self._own = own
        self._numbers = struct.Struct(f"<BIf{2 + own + heard}i")

    def pack(self, what: int, column: Column, number: int = 0, seconds: float = 0.0) -> bytes:
        """Returns a message with a column: a request to replay it, or an answer. `seconds`: how long it took."""
        tokens = (column.text, column.oracle, *column.own, *column.user)
        return self._numbers.pack(what, number & 0xFFFFFFFF, seconds, *tokens)

    def unpack(self, message: bytes) -> tuple[int, Column, int, float]:
        """Returns what the message is, its column, the frame's number, and how long it took in seconds."""
        what, number, seconds, text, oracle, *codes = self._numbers.unpack(message)
        return what, Column(text, tuple(codes[: self._own]), tuple(codes[self._own :]), oracle), number, seconds
