"""The `doctor` command, which reports the machine's hardware, its speed and the recommended settings.

It makes no changes, and connects to no server except the user's Ollama.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from app.backend import PROVIDERS, find_spec
from app.backend.base import BackendError
from app.diagnostics.machine import Card, Machine, probe_machine
from app.frontend import require_torch
from app.frontend.base import FrontEndError
from app.frontend.kame.card_look import CardLook, look_with_torch
from app.models.catalogue import DEFAULTS, ModelError, find_model, models_of
from app.models.fit import Precision, judge, shape_of, usable_bytes
from app.models.layout import read_layout
from app.models.locations import folder_of, is_here
from app.platform import single_instance
from app.platform.installation import completing_command
from app.services.api_keys import key_store
from app.services.graphics_service import GraphicsService
from app.services.machine_service import gigabytes
from app.settings.declarations import Settings
from app.stt.base import TranscriberError
from app.tts.base import VoiceError

MIMI_MS = 6.0
"""The time that the Mimi codec adds to each frame on a card large enough for the model; estimated, not measured."""
FRAME_LIMIT_MS = 60.0
"""The maximum computation time per 80 ms frame that leaves enough time for everything else."""


def embedded_speed() -> tuple[bool, str]:
    """Returns whether the built-in recogniser and voice are fast enough, and the measured times as text.

    Raises ModelError, TranscriberError, VoiceError, OSError, RuntimeError, ImportError or ValueError if they can't run.
    """
    from app.services.model_speed import LOOK_SECONDS, measure_speed

    hearing, speaking = measure_speed(find_model(DEFAULTS["stt"])), measure_speed(find_model(DEFAULTS["tts"]))
    said = LOOK_SECONDS / speaking.rate
    words = f"hears {LOOK_SECONDS:.0f} s of speech in {hearing.first:.2f} s, says {LOOK_SECONDS:.0f} s in {said:.2f} s"
    return hearing.first < 1.0 and said < 0.6 * LOOK_SECONDS, words


def predicted_frame(precision: Precision, context: int, found: CardLook) -> str:
    """Returns a user-facing prediction of whether KAME runs in real time, based on the card's memory bandwidth."""
    if not found.bandwidth:
        return f" Its memory could not be measured ({found.unmeasured})."
    floor = shape_of(None, context).frame_bytes(precision) / found.bandwidth * 1000
    likely = 1.5 * floor + MIMI_MS
    keeps_up = "will keep up" if likely <= FRAME_LIMIT_MS else "may not keep up; choose a smaller precision"
    return (
        f" Its memory moves {found.bandwidth / 1e9:.0f} GB/s: a frame of 80 ms should take about {likely:.0f} ms, so "
        f"it {keeps_up}. “{single_instance.command()} bench card --quick” measures it."
    )


Verdict = Literal["good", "note", "bad"]
Add = Callable[[str, Verdict, str], None]


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    about: str
    verdict: Verdict
    words: str


@dataclass(slots=True)
class Diagnosis:
    """The report, which consists of lines and a closing recommendation."""

    findings: list[Finding] = field(default_factory=list)
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether a conversation is possible at all."""
        return not any(finding.verdict == "bad" for finding in self.findings)

    def add(self, about: str, verdict: Verdict, words: str) -> None:
        """Adds a line to the report."""
        self.findings.append(Finding(about, verdict, words))

    def table(self) -> str:
        """Returns the report as human-readable text."""
        marks = {"good": "ok", "note": "–", "bad": "no"}
        width = max(len(f.about) for f in self.findings)
        lines = [f"{marks[f.verdict]:>2}  {f.about:<{width}}  {f.words}" for f in self.findings]
        return "\n".join([*lines, "", self.advice])

    def document(self) -> dict[str, Any]:
        """Returns the report as JSON-compatible data."""
        return {"findings": [asdict(finding) for finding in self.findings], "advice": self.advice}


def examine(
    settings: Settings, weights_folder: str = "", progress: Callable[[str], None] = lambda words: None
) -> Diagnosis:
    """Probes the machine and measures its speed. `weights_folder`: where KAME's weights are; empty for the default."""
    machine = asyncio.run(probe_machine(settings.ollama_url, key_store().find, lambda words, share: progress(words)))
    report = Diagnosis()
    _tell_machine(machine, report.add)
    _tell_card(machine.card, report.add)
    found = _tell_cuda(machine.card, report.add, progress)
    _tell_backends(machine, report.add)
    progress("Trying the built-in speech recognition and voice …")
    keeps_up = _tell_embedded(report.add)
    weights_here = _tell_weights(weights_folder, report.add)
    report.advice = _advice_without_card(keeps_up) if found is None else _advice_with_card(found, weights_here)
    return report


def _tell_machine(machine: Machine, add: Add) -> None:
    system, sound = machine.system, machine.sound
    add("system", "good", f"{system.name}, Python {system.python}")
    memory = f"{gigabytes(system.memory)} of memory" if system.memory else "memory unknown"
    add("processor", "good" if system.cores > 1 else "note", f"{system.cores} cores; {memory}")
    if machine.disk_free is None:
        add("disk", "note", "The free space could not be determined.")
    else:
        largest = max(model.bytes for model in models_of("frontend"))
        enough = machine.disk_free > largest
        needed = "" if enough else f" (a model takes {largest / 1e9:.0f})"
        add("disk", "good" if enough else "note", f"{machine.disk_free / 1e9:.0f} GB free for weights{needed}")
    if sound.trouble:
        add("sound", "bad", sound.trouble)
    elif sound.microphones and sound.loudspeakers:
        add("sound", "good", f"microphone {sound.microphones[0]}, loudspeaker {sound.loudspeakers[0]}")
    else:
        named = (("microphone", sound.microphones), ("loudspeaker", sound.loudspeakers))
        missing = " and ".join(kind for kind, devices in named if not devices)
        add("sound", "note", f"No {missing}: talks from files work, talks in the window don't. Plug one in.")


def _tell_card(card: Card | None, add: Add) -> None:
    if card is None:
        add("graphics card", "note", "No NVIDIA card with a driver: KAME and Moshi need one.")
    elif not card.name:
        add("graphics card", "note", card.trouble)
    else:
        cuda = f" for CUDA {'.'.join(map(str, card.cuda))}" if card.cuda else ""
        words = f"{card.name}, {card.total >> 20} MiB, driver {card.driver}{cuda}"
        trouble = "" if card.lacks_packages else card.trouble  # reported under "CUDA"
        add("graphics card", "note" if trouble else "good", f"{words}. {trouble}" if trouble else words)


def _tell_cuda(card: Card | None, add: Add, progress: Callable[[str], None]) -> CardLook | None:
    """Adds a line about CUDA; returns what torch finds of the card, or None if KAME can't use it."""
    if card is None or not card.name or (card.trouble and not card.lacks_packages):
        return None
    try:
        require_torch()
    except FrontEndError as error:
        add("CUDA", "note", _missing_packages() or str(error))
        return None
    progress("Measuring the card's memory …")
    found = look_with_torch()
    if not found.total:
        trouble = (
            f"torch is here, but can't use the card ({found.trouble}). Install NVIDIA's newest driver and restart the "
            "machine."
        )
        add("CUDA", "note", _missing_packages() or trouble)
        return None
    add("CUDA", "good", f"{found.free / 1e9:.1f} GB of the card's memory are free")
    return found


def _missing_packages() -> str:
    """Returns a message about missing packages and the command that installs them, or an empty string."""
    offer = GraphicsService().offer()
    if offer is None or not offer.command:
        return offer.sentence if offer is not None else ""
    return f"{offer.sentence} “{offer.command}” installs it."


def _tell_backends(machine: Machine, add: Add) -> None:
    here = [model.label for model in models_of("llm") if is_here(model.key)]
    for name, spec in PROVIDERS.items():
        about = f"back-end {name}"
        try:
            find_spec(name)
        except BackendError as error:
            add(about, "bad" if name == "embedded" else "note", str(error))
            continue
        if name == "embedded" and not is_here(DEFAULTS["llm"]):
            label = find_model(DEFAULTS["llm"]).label
            add(about, "bad", f"Its model {label} is missing. Run {completing_command()}.")
        elif name == "embedded":
            add(about, "good", f"{spec.label}: {', '.join(here)}")
        elif name == "ollama" and machine.ollama is None:
            add(about, "note", "Ollama doesn't run here. Start it to use its models.")
        elif name == "ollama":
            count = len(machine.ollama or ())
            add(about, "good", f"Ollama with {count} models" if count else "Ollama, without a model; pull one")
        elif not spec.wants_key:
            add(about, "good", f"{spec.label}: any that speaks OpenAI's protocol, by its address")
        elif machine.keys is None:
            add(about, "note", f"{spec.label}: the system's keyring does not answer. It may be locked.")
        elif name in machine.keys:
            add(about, "good", f"{spec.label}: a key is there")
        else:
            add(about, "note", f"{spec.label}: no key. Give the app one to use it: keys set {name}.")


def _tell_embedded(add: Add) -> bool | None:
    """Adds a line about the speed of the built-in recogniser and voice.

    Returns whether they are fast enough, or None if they can't run.
    """
    try:
        keeps_up, words = embedded_speed()
    except (ModelError, TranscriberError, VoiceError, OSError, RuntimeError, ImportError, ValueError) as error:
        add("built-in voice", "bad", f"It can't be tried here ({error}). Set the app up again.")
        return None
    add("built-in voice", "good" if keeps_up else "note", words)
    return keeps_up


def _tell_weights(folder: str, add: Add) -> bool:
    """Adds lines about the front-end weights; returns whether KAME's are on this machine."""
    found = False
    for model in models_of("frontend"):
        place = Path(folder) if folder and model.key == "kame" else folder_of(model)
        if not place.is_dir():
            continue
        try:
            read_layout(place)
            add(f"weights {model.key}", "good", str(place))
            found = found or model.key == "kame"
        except ModelError as error:
            add(f"weights {model.key}", "note", str(error))
    if not found:
        add("weights", "note", "KAME's are not on this machine.")
    return found


def _advice_without_card(keeps_up: bool | None) -> str:
    words = "This machine talks with the built-in voice (cascade)"
    if keeps_up is False:
        words += ", though it is slow: let answers start after your turn, and choose a model on another machine"
    elif keeps_up is None:
        words += ", as far as can be told without trying it"
    return f"{words}. For KAME it would take an NVIDIA card with 8 GB or more."


def _advice_with_card(found: CardLook, weights_here: bool) -> str:
    fit = judge(usable_bytes(found.free, found.total), "bf16", name="KAME")
    plan = fit.plan or (fit.offers[0] if fit.offers else None)
    if plan is None:
        return judge(found.free, "bf16", name="KAME").sentence
    words = f"KAME fits this card in {plan.words}. Set Precision to “{plan.precision}” or leave it at “auto”."
    words += predicted_frame(plan.precision, plan.context, found)
    return (
        words
        if weights_here
        else f"{words} Its weights are not here yet: “{single_instance.command()} models get kame”."
    )
