"""`doctor`: what this machine has, and whether it will do, with which settings.

Asks the machine and measures a little; changes nothing, contacts nobody but a local Ollama.
"""

from __future__ import annotations

import os
import platform
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from app.audio.devices.listing import list_devices
from app.audio.io.errors import AudioError
from app.frontend import free_card_bytes, require_torch
from app.frontend.base import FrontEndError
from app.models.catalogue import models_of
from app.models.errors import ModelError
from app.models.fit import judge, shape_of
from app.models.layout import read_layout
from app.models.locations import default_model, folder_of, weights_folder
from app.platform import nvidia, single_instance
from app.platform.hardware import memory_bytes
from app.services.graphics_setup import GraphicsSetup

Verdict = Literal["good", "note", "bad"]
QUESTION_SECONDS = 4.0
MIMI_MS = 6.0
"""What the codec adds to a frame on a card that holds the model. An estimate until it has been measured."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    about: str
    verdict: Verdict
    words: str


@dataclass(slots=True)
class Diagnosis:
    """All lines; `advice` is the last word."""

    findings: list[Finding] = field(default_factory=list)
    advice: str = ""

    @property
    def ok(self) -> bool:
        """Whether a talk is possible at all."""
        return not any(finding.verdict == "bad" for finding in self.findings)

    def table(self) -> str:
        """For people."""
        marks = {"good": "ok", "note": "–", "bad": "no"}
        width = max(len(f.about) for f in self.findings)
        lines = [f"{marks[f.verdict]:>2}  {f.about:<{width}}  {f.words}" for f in self.findings]
        return "\n".join([*lines, "", self.advice])

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "findings": [{"about": f.about, "verdict": f.verdict, "words": f.words} for f in self.findings],
            "advice": self.advice,
        }


def examine(
    *,
    backends: dict[str, Callable[[], str]],
    weights_folder: str = "",
    progress: Callable[[str], None] = lambda _: None,
    measure: bool = True,
) -> Diagnosis:
    """Looks at everything. `backends`: for each back-end, what tells its state in words (or raises)."""
    report = Diagnosis()
    add = report.findings.append
    add(Finding("system", "good", f"{platform.system()} {platform.release()}, Python {platform.python_version()}"))
    add(
        Finding(
            "processor", "good" if (os.cpu_count() or 1) > 1 else "note", f"{os.cpu_count()} cores; {_memory_words()}"
        )
    )
    free, card = _card(add)
    _disk(add)
    _sound(add)
    for name, look in backends.items():
        progress(f"Asking for the brain {name} …")
        try:
            add(Finding(f"brain {name}", "good", look()))
        except Exception as error:
            add(Finding(f"brain {name}", "bad" if name == "embedded" else "note", str(error)))
    embedded_keeps_up = _embedded(add, progress) if measure else None
    report.advice = _advise(add, free, card, embedded_keeps_up, weights_folder, progress if measure else None)
    return report


def _memory_words() -> str:
    size = memory_bytes()
    return f"{size / 2**30:.0f} GB of memory" if size else "memory unknown"


def _card(add: Callable[[Finding], None]) -> tuple[int | None, str]:
    """The graphics card, by its driver and by torch; returns what torch finds free, and the card's name."""
    name = ""
    driver = nvidia.look(20.0)
    card = nvidia.best_card(driver) if driver is not None else None
    if driver is None:
        add(Finding("graphics card", "note", "No NVIDIA card with a driver: KAME and Moshi need one."))
    elif card is None:
        add(Finding("graphics card", "note", driver.trouble))
    else:
        name = f"{card.name}, {card.total >> 20} MiB, driver {driver.version}"
        if driver.cuda:
            name += f" for CUDA {'.'.join(map(str, driver.cuda))}"
        trouble = nvidia.obstacle(driver)
        add(Finding("graphics card", "note" if trouble else "good", f"{name}. {trouble}" if trouble else name))
    free = free_card_bytes()
    if name and free is None:
        try:
            require_torch()
            blind = "torch is here, but sees no card. Install NVIDIA's newest driver and restart the machine."
            add(Finding("CUDA", "note", _missing_packages() or blind))
        except FrontEndError as error:
            add(Finding("CUDA", "note", _missing_packages() or str(error)))
    elif free is not None:
        add(Finding("CUDA", "good", f"{free / 1e9:.1f} GB of the card's memory are free"))
    return free, name


def _missing_packages() -> str:
    """What the card still needs, and the command that installs it, in a sentence; empty if it can't be used at all."""
    offer = GraphicsSetup().offer()
    if offer is None or not offer.command:
        return offer.sentence if offer is not None else ""
    return f"{offer.sentence} “{offer.command}” installs it."


def _disk(add: Callable[[Finding], None]) -> None:
    place = weights_folder()
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    enough = free > max(model.bytes for model in models_of("frontend"))
    add(
        Finding(
            "disk",
            "good" if enough else "note",
            f"{free / 1e9:.0f} GB free for weights{'' if enough else ' (a model takes 16)'}",
        )
    )


def _sound(add: Callable[[Finding], None]) -> None:
    try:
        devices = list_devices()
    except AudioError as error:
        add(Finding("sound", "bad", str(error)))
        return
    microphone = next((d.name for d in devices if d.is_default_input), "")
    loudspeaker = next((d.name for d in devices if d.is_default_output), "")
    if microphone and loudspeaker:
        add(Finding("sound", "good", f"microphone {microphone}, loudspeaker {loudspeaker}"))
    else:
        missing = " and ".join(n for n, d in (("microphone", microphone), ("loudspeaker", loudspeaker)) if not d)
        add(Finding("sound", "note", f"No {missing}: talks from files work, talks in the window don't. Plug one in."))


def _embedded(add: Callable[[Finding], None], progress: Callable[[str], None]) -> bool | None:
    """How fast the ears and the voice of the embedded default are here; None when they can't be tried."""
    from app.tts.base import VoiceError
    from app.tts.voices import make_voice

    progress("Trying the embedded ears and voice …")
    try:
        heard = _time_ears()
        with make_voice() as voice:
            voice.synthesize("One moment.").result(60)
            begun = time.perf_counter()
            clip = voice.synthesize("The capital of France is Paris.").result(60)
            spoken = time.perf_counter() - begun
    except (VoiceError, OSError, RuntimeError, ImportError, ValueError) as error:
        add(Finding("embedded voice", "bad", f"It can't be tried here ({error}). Set the app up again."))
        return None
    seconds = len(clip.samples) / 24_000
    keeps_up = heard < 1.0 and spoken < 0.6 * seconds
    add(
        Finding(
            "embedded voice",
            "good" if keeps_up else "note",
            f"hears {QUESTION_SECONDS:.0f} s of speech in {heard:.2f} s, says {seconds:.1f} s in {spoken:.2f} s",
        )
    )
    return keeps_up


def _time_ears() -> float:
    import soundfile
    import soxr

    from app.platform.resources import resource
    from app.stt.whisper_decoder import WhisperDecoder

    file = sorted(Path(resource("bench", "questions")).glob("*.flac"))[0]
    samples, rate = soundfile.read(file, dtype="float32")
    samples = soxr.resample(samples, rate, 16_000)[: int(16_000 * QUESTION_SECONDS)]
    decoder = WhisperDecoder(default_model("stt"))
    decoder.decode(samples)
    begun = time.perf_counter()
    decoder.decode(samples)
    return time.perf_counter() - begun


def _advise(
    add: Callable[[Finding], None],
    free: int | None,
    card: str,
    embedded: bool | None,
    weights_folder: str,
    progress: Callable[[str], None] | None,
) -> str:
    here = _weights_here(add, weights_folder)
    if free is None:
        words = "This machine talks with the embedded voice (cascade)"
        if embedded is False:
            words += ", though it is slow: choose the manner “after”, and a brain on another machine"
        elif embedded is None:
            words += ", as far as can be told without trying it"
        return f"{words}. For KAME it would take an NVIDIA card with 8 GB or more."
    fit = judge(free, "bf16", name="KAME")
    plan = fit.plan or (fit.offers[0] if fit.offers else None)
    if plan is None:
        return fit.sentence
    words = f"KAME fits this card in {plan.words}. Set Precision to “{plan.precision}” or leave it at “auto”."
    if progress is not None:
        progress("Measuring the card's memory …")
        words += _predict(plan.precision, plan.context)
    return words if here else f"{words} Its weights are not here yet: “{single_instance.command()} models get kame”."


def _predict(precision: str, context: int) -> str:
    import importlib

    measure = importlib.import_module("app.frontend.kame.measure")
    torch_device = importlib.import_module("torch").device("cuda")
    try:
        bandwidth = measure.copy_bandwidth(torch_device)
    except RuntimeError as error:
        return f" Its memory could not be measured ({str(error).splitlines()[0]})."
    floor = shape_of(None, context).frame_bytes(precision) / bandwidth * 1000  # type: ignore[arg-type]
    likely = 1.5 * floor + MIMI_MS
    fine = likely <= 60
    return (
        f" Its memory moves {bandwidth / 1e9:.0f} GB/s: a frame of 80 ms should take about {likely:.0f} ms, so it "
        + ("will keep up" if fine else "may not keep up; choose a smaller precision")
        + f". “{single_instance.command()} bench frame --random-weights” measures it."
    )


def _weights_here(add: Callable[[Finding], None], folder: str) -> bool:
    found = False
    for model in models_of("frontend"):
        place = Path(folder) if folder and model.key == "kame" else folder_of(model)
        if not place.is_dir():
            continue
        try:
            read_layout(place)
            add(Finding(f"weights {model.key}", "good", str(place)))
            found = found or model.key == "kame"
        except ModelError as error:
            add(Finding(f"weights {model.key}", "note", str(error)))
    if not found:
        add(Finding("weights", "note", "KAME's are not on this machine."))
    return found
