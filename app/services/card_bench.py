"""Runs the steps of `bench card`, each in a process of its own, so that one that fails, hangs or crashes costs only its
own result.

The steps are in `app.frontend.kame.engine.card_steps`, in the order of what they decide. This process never imports
torch.
"""

from __future__ import annotations

import getpass
import json
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, Any, Literal

from app.models.catalogue import ModelError, find_model
from app.models.layout import read_layout
from app.models.locations import folder_of, weights_folder
from app.platform.children import end_child, ending_of, killed_after, python_module_command, quiet_child
from app.platform.nvidia import look
from app.untrusted.files import read_line
from app.untrusted.json_text import read_json
from app.untrusted.limits import CHILD_LINE, Refused

MODULE = "app.frontend.kame.engine.card_steps"
LEAST_SECONDS = 10.0
"""A step isn't started if less than this is left of the time that the user has given."""
END_SECONDS = 10.0
"""How long a process may take to end after its result."""
STDERR_BYTES = 3000
"""How much of a failed step's errors is kept."""
ONLY_A_CARD = "Only a graphics card can show this."

Outcome = Literal["passed", "failed", "left out"]


@dataclass(frozen=True, slots=True)
class Step:
    """A step.

    - `title`: what it does.
    - `seconds`: its time limit.
    - `quick`: whether it belongs to the short run; `card_only`: whether it needs a card.
    """

    name: str
    title: str
    seconds: float
    quick: bool = False
    card_only: bool = False


def _each(name: str, precisions: Sequence[str], title: str, seconds: float) -> list[Step]:
    return [Step(f"{name}-{one}", title.format(one), seconds) for one in precisions]


STEPS: tuple[Step, ...] = (
    Step("card", "the card and its software", 60, quick=True),
    Step("kernels", "the app's own kernels, on a new thread", 120, quick=True, card_only=True),
    Step("checks", "the fast paths against the plain ones", 120, quick=True),
    Step("waits", "a frame waits only once", 90, card_only=True),
    Step("attention", "attention by implementation and length", 120),
    Step("session-bf16", "a session in bf16, with an answer of the oracle", 180),
    Step("session-int8", "a session in int8, with an answer of the oracle", 180, quick=True),
    Step("capture", "captures while another thread allocates", 90, card_only=True),
    Step("fault-capture", "a capture that fails", 120, card_only=True),
    Step("fault-memory", "memory that runs out", 120, card_only=True),
    Step("fault-context", "a context that is lost", 120, card_only=True),
    *_each("full", ("bf16", "int8", "int4"), "the whole model in {}", 300),
    Step("plain-bf16", "the whole model in bf16 without graphs", 240),
    *_each("load", ("int8", "bf16"), "loading the whole model from files in {}", 600),
    *_each("table", ("bf16", "int8", "int4"), "the parts of a frame in {}", 240),
)
"""All steps, in order."""
BEST = Step("full-auto", "the whole model in the best precision that fits", 180, quick=True)
"""Only in the short run, instead of all precisions."""
QUICK = (*(step for step in STEPS if step.quick), BEST)


@dataclass(slots=True)
class StepResult:
    """What came of a step. `facts`: its figures; `sentence`: why it failed or was left out."""

    step: str
    outcome: Outcome
    sentence: str = ""
    seconds: float = 0.0
    facts: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Returns the result as JSON-compatible data."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CardPlan:
    """What to run.

    - `device`: cuda or cpu; `size`: 7b or tiny, the shape of a whole model with random weights.
    - `weights`: the folder with the whole model's weights; None for random ones.
    - `folder`: where a file of the model's size may be written.
    - `minutes`: when to stop; 0 for no limit.
    """

    device: str
    size: str
    steps: tuple[Step, ...] = STEPS
    weights: Path | None = None
    folder: Path | None = None
    quick: bool = False
    minutes: float = 0.0


def chosen_steps(names: Sequence[str], *, quick: bool = False) -> tuple[Step, ...]:
    """Returns the steps of these names, in their order; a name such as `full` stands for each precision.

    Raises ValueError for a name that is unknown. Without names, returns all steps, or the `quick` ones.
    """
    if not names:
        return QUICK if quick else STEPS
    found: list[Step] = []
    for name in names:
        steps = [step for step in (*STEPS, BEST) if name in (step.name, step.name.partition("-")[0])]
        if not steps:
            raise ValueError(name)
        found += [step for step in steps if step not in found and (step is not BEST or name == BEST.name)]
    return tuple(found)


def make_plan(
    steps: tuple[Step, ...] = STEPS,
    *,
    device: str = "auto",
    size: str = "",
    weights: Path | None = None,
    random_weights: bool = False,
    folder: Path | None = None,
    quick: bool = False,
    minutes: float = 0.0,
) -> CardPlan:
    """Decides what isn't given: a card if there is one, the published size on it, KAME's weights if they are here."""
    if device == "auto":
        driver = look()
        device = "cuda" if driver is not None and driver.cards else "cpu"
    if weights is None and not random_weights and not size and device == "cuda":
        weights = _installed_weights()
    size = size or ("7b" if device == "cuda" else "tiny")
    return CardPlan(device, size, steps, weights, folder or weights_folder().parent, quick, minutes)


def _installed_weights() -> Path | None:
    folder = folder_of(find_model("kame"))
    try:
        read_layout(folder, quickly=True)
    except (ModelError, OSError):
        return None
    return folder


class CardBench:
    """Runs the steps of a plan. `module`: the module that each step's process runs, if it isn't `MODULE`."""

    def __init__(self, plan: CardPlan, module: str = "") -> None:
        self._plan = plan
        self._module = module or MODULE
        self._child: subprocess.Popen[bytes] | None = None
        self._cancelled = threading.Event()

    def run(
        self,
        progress: Callable[[str, float], object] = lambda words, share: None,
        note: Callable[[StepResult], object] = lambda result: None,
    ) -> list[StepResult]:
        """Runs all steps and returns their results.

        - `progress`: called with a step's title and the share of the steps that are done.
        - `note`: called with each result as soon as it is there.
        """
        plan = self._plan
        end = time.monotonic() + plan.minutes * 60 if plan.minutes else float("inf")
        own = (plan.folder or Path(tempfile.gettempdir())) / "kame-bench-card"
        results = []
        try:
            for index, step in enumerate(plan.steps):
                if self._cancelled.is_set():
                    break
                progress(step.title, index / len(plan.steps))
                result = self._result(step, own, end - time.monotonic())
                results.append(_without_private(result, plan))
                note(results[-1])
        finally:
            shutil.rmtree(own, ignore_errors=True)
        return results

    def cancel(self) -> None:
        """Makes `run`, on another thread, end soon."""
        self._cancelled.set()
        if (child := self._child) is not None:
            child.kill()

    def _result(self, step: Step, own: Path, left: float) -> StepResult:
        if step.card_only and self._plan.device != "cuda":
            return StepResult(step.name, "left out", ONLY_A_CARD)
        if left < LEAST_SECONDS:
            return StepResult(step.name, "left out", "There was no time left for it.")
        plan = self._plan
        # The short run tries the app's own side of a session, for which a small model is enough.
        weights = "" if plan.weights is None or (plan.quick and step.name.startswith("session")) else str(plan.weights)
        request = {
            "device": plan.device,
            "size": plan.size,
            "weights": weights,
            "folder": str(own),
            "quick": plan.quick,
        }
        began = time.monotonic()
        with tempfile.TemporaryFile() as errors:
            result = self._run(step, json.dumps(request), min(step.seconds, left), errors)
            if result.outcome == "failed":
                errors.seek(max(0, errors.seek(0, 2) - STDERR_BYTES))
                result.facts["errors"] = errors.read().decode("utf-8", "replace")
        result.seconds = round(time.monotonic() - began, 1)
        return result

    def _run(self, step: Step, request: str, seconds: float, errors: IO[bytes]) -> StepResult:
        options = quiet_child()
        if sys.platform == "win32":  # as the process of a session
            options["creationflags"] &= ~subprocess.BELOW_NORMAL_PRIORITY_CLASS
        command, pipe = python_module_command(self._module, step.name, request), subprocess.PIPE
        began = time.monotonic()
        try:
            child = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=errors, **options)
        except OSError as error:
            return StepResult(step.name, "failed", f"Its process could not be started ({error.strerror}).")
        self._child = child
        facts: dict[str, Any] = {}
        rubbish = False
        try:
            if self._cancelled.is_set():  # before it could be ended
                child.kill()
            with killed_after(child, seconds):
                while line := _line(child):
                    try:
                        facts |= read_json(line, CHILD_LINE)
                    except (Refused, TypeError, ValueError):
                        rubbish = True
            outcome, sentence = facts.pop("outcome", ""), str(facts.pop("sentence", ""))
            if outcome not in ("passed", "failed", "left out"):
                hung = time.monotonic() - began >= seconds
                outcome, sentence = "failed", _ending(child, seconds if hung else 0.0, rubbish)
        finally:
            self._child = None
            end_child(child, END_SECONDS)
        if child.returncode:
            facts["exit_code"] = child.returncode
        return StepResult(step.name, outcome, sentence, facts=facts)


def _line(child: subprocess.Popen[bytes]) -> bytes:
    """Returns the next line that the process prints; empty at its end, or if a line is too long."""
    assert child.stdout is not None
    try:
        return read_line(child.stdout, CHILD_LINE)
    except Refused:
        child.kill()
        return b""


def _ending(child: subprocess.Popen[bytes], limit: float, rubbish: bool) -> str:
    if limit:
        return f"It was stopped after {limit:.0f} s."
    ending = ending_of(child, hung=False)
    if child.returncode == 0 or child.returncode is None:
        return "It printed something else than a result." if rubbish else "It ended without a result."
    return f"{ending[0].upper()}{ending[1:]}."


_FOLDERS = re.compile(r"(?<![\w.:/\\])(?:[A-Za-z]:|~)?[\\/](?:[^\\/\s\"'“”|<>]+[\\/])+")
"""The folders of an absolute path."""


def _without_private(result: StepResult, plan: CardPlan) -> StepResult:
    """Returns the result without paths, the user's name and the machine's name, which errors may contain."""
    homes = [str(path) for path in (Path.home(), plan.weights, plan.folder) if path is not None and len(str(path)) > 3]
    try:
        names = [getpass.getuser(), platform.node()]
    except (OSError, KeyError):
        names = [platform.node()]
    hidden = [re.escape(form) for home in homes for form in (home, home.replace("\\", "\\\\"), Path(home).as_posix())]
    hidden += [rf"\b{re.escape(name)}\b" for name in names if len(name) > 2]
    private = re.compile("|".join(hidden) or "(?!)")

    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: clean(one) for name, one in value.items()}
        if isinstance(value, list):
            return [clean(one) for one in value]
        return _FOLDERS.sub("…/", private.sub("…", value)) if isinstance(value, str) else value

    result.sentence, result.facts = clean(result.sentence), clean(result.facts)
    return result
