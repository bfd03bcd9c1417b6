"""What a step is asked, how it reports, and what steps have in common."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import subprocess
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, TypeVar

import torch

from app.frontend.kame.engine.engine import Engine
from app.frontend.kame.engine.random_weights import Size, random_models
from app.platform.children import end_child, killed_after, python_module_command, quiet_child

MODULE = "app.frontend.kame.engine.card_steps"
OTHER_SECONDS = 60.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Request:
    """What to measure.

    - `device`: cuda or cpu.
    - `size`: the shape of the whole model, if its weights are random.
    - `weights`: the folder with the whole model's weights; empty for random ones.
    - `folder`: where a file of the published size may be written.
    - `quick`: fewer frames, and only what takes seconds.
    """

    device: str
    size: Size = "7b"
    weights: str = ""
    folder: str = ""
    quick: bool = False

    @classmethod
    def read(cls, text: str) -> Request:
        """Returns the request that `dataclasses.asdict` and JSON have made this text of."""
        return cls(**json.loads(text))

    @property
    def where(self) -> torch.device:
        """The device that the models run on."""
        return torch.device(self.device)

    @property
    def on_card(self) -> bool:
        """Whether the models run on a graphics card."""
        return self.device == "cuda"

    def frames(self, count: int) -> int:
        """Returns how many frames to measure, where `count` are enough for a full run."""
        return max(10, count // 4) if self.quick or not self.on_card else count


class LeftOutError(Exception):
    """The step isn't possible here. `str(error)` is a user-facing message."""


class StepFailedError(Exception):
    """The step has run, and its result is wrong. `str(error)` is a user-facing message."""


class Report:
    """Collects a step's figures. `send`: passes on those that are new, as JSON-compatible data."""

    def __init__(self, send: Callable[[dict[str, Any]], object]) -> None:
        self._send = send
        self._failed: list[str] = []

    def say(self, **facts: Any) -> None:
        """Reports figures."""
        self._send({name: _plain(value) for name, value in facts.items()})

    def part(self, name: str, measure: Callable[[], Any]) -> None:
        """Reports what `measure` returns under a name. If it fails, the step has failed, but continues."""
        try:
            self.say(**{name: measure()})
        except Exception as error:
            self._failed.append(f"“{name}” failed: {described(error)}")

    def finish(self) -> None:
        """Raises StepFailedError if a part has failed."""
        if self._failed:
            raise StepFailedError(" ".join(self._failed))


def described(error: BaseException) -> str:
    """Returns an exception's type and the first line of its message, as a sentence."""
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}{f': {lines[0]}' if lines else ''}".rstrip(".") + "."


def _plain(value: Any) -> Any:
    """Returns `value` as data that JSON has, with floats rounded to four digits after the point."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _plain(dataclasses.asdict(value))
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return round(value, 4) if math.isfinite(value) else str(value)
    return value


def on_a_thread(work: Callable[[], _T]) -> _T:
    """Calls `work` on a new thread, to which no context of the card is bound yet, and returns its result."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(work).result()


@contextlib.contextmanager
def other_process(step: str, request: Request) -> Iterator[subprocess.Popen[bytes]]:
    """Runs another step in a process of its own, for at most `OTHER_SECONDS`; ends it at exit."""
    command = python_module_command(MODULE, step, json.dumps(dataclasses.asdict(request)))
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, **quiet_child())
    try:
        with killed_after(child, OTHER_SECONDS):
            yield child
    finally:
        end_child(child)


def tiny_engine(request: Request) -> Engine:
    """Returns an engine with a small random model, which its caller enters."""
    models = random_models("tiny", "bf16", request.where)
    return Engine(models.lm, models.mimi, sampling={"use_sampling": True})


def synchronise(request: Request) -> None:
    """Waits until the card has done its work."""
    if request.on_card:
        torch.cuda.synchronize()
