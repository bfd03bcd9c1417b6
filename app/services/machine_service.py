"""The hardware check, which determines the front-end and model that suit this machine."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from app.backend import PROVIDERS
from app.conversation.frame import FRAME_MS
from app.diagnostics.machine import Card, Machine, OllamaModel, Sound, System, bounded, probe_machine
from app.frontend import PROVIDERS as FRONT_ENDS
from app.models.catalogue import ModelError, find_model
from app.models.fit import DESKTOP_BYTES, DRIVER_BYTES, PRECISIONS, Precision, judge, usable_bytes
from app.models.layout import read_layout
from app.models.locations import folder_of
from app.models.pool import MODELS
from app.platform import single_instance
from app.platform.supervision import CARD, CardBusyError
from app.services.api_keys import key_store
from app.services.card_bench import BEST, QUICK, CardBench, StepResult, make_plan
from app.services.card_page import COMFORTABLE, frame_times
from app.services.graphics_service import GraphicsOffer, GraphicsService
from app.session.control import BackendChoice, UserError
from app.settings.declarations import Settings

Topic = Literal["card", "processor", "disk", "microphone", "loudspeaker", "ollama", "keys", "trial"]
State = Literal["good", "fair", "missing"]
"""`fair`: adequate, or absent but optional; `missing`: absent but required for a conversation."""

ROOM_LEFT = 1_000_000_000
EMBEDDED_ROOM = 2_000_000_000
"""The free disk space, in bytes, required to store conversations with the built-in voice."""
ENOUGH_CORES, ENOUGH_MEMORY = 4, 7 * 10**9
"""The number of cores and bytes of memory below which the built-in voice works, but with a noticeable delay."""


@dataclass(frozen=True, slots=True)
class MachineFinding:
    """The result of one probe, with a user-facing message."""

    topic: Topic
    state: State
    sentence: str


def findings_of(machine: Machine) -> tuple[MachineFinding, ...]:
    """Returns all findings in display order."""
    return (
        _card(machine.card),
        _processor(machine.system),
        _disk(machine.disk_free, machine.card),
        *_sound(machine.sound),
        _ollama(machine.ollama),
        _keys(machine.keys),
    )


def gigabytes(size: int) -> str:
    """Formats a memory size in binary gigabytes (GiB), but with the unit "GB", as memory is marketed."""
    return f"{size / 2**30:.0f} GB"


def _card(card: Card | None) -> MachineFinding:
    if card is None:
        return MachineFinding("card", "fair", "No NVIDIA card. The built-in voice needs none.")
    name = f"{card.name}, {gigabytes(card.total)}" if card.name else ""
    if card.trouble:
        return MachineFinding("card", "fair", ". ".join(filter(None, (name, card.trouble))))
    return MachineFinding("card", "good", f"{name}, of which {gigabytes(card.free)} are free.")


def _processor(system: System) -> MachineFinding:
    words = f"{system.cores} cores" if system.cores > 1 else "One core"
    if system.memory:
        words = f"{words}, {gigabytes(system.memory)} of memory"
    if system.cores >= ENOUGH_CORES and (system.memory >= ENOUGH_MEMORY or not system.memory):
        return MachineFinding("processor", "good", f"{words}.")
    return MachineFinding("processor", "fair", f"{words}: enough, if not quick.")


def _disk(free: int | None, card: Card | None) -> MachineFinding:
    if free is None:
        return MachineFinding("disk", "fair", "The free disk space could not be determined.")
    needed = find_model("kame").bytes
    words = f"{free / 1e9:.0f} GB are free"
    if free < EMBEDDED_ROOM:
        return MachineFinding("disk", "missing", f"Only {free / 1e9:.1f} GB are free. Make room for what talks keep.")
    if card is not None and not card.trouble and free < needed + ROOM_LEFT:
        return MachineFinding("disk", "fair", f"{words}; KAME's weights take {needed / 1e9:.0f} GB.")
    return MachineFinding("disk", "good", f"{words}.")


def _sound(sound: Sound) -> tuple[MachineFinding, MachineFinding]:
    return (
        _devices(
            "microphone", sound.microphones, sound.trouble or "No microphone. Plug one in to talk; you can always type."
        ),
        _devices(
            "loudspeaker",
            sound.loudspeakers,
            sound.trouble or "No loudspeaker. Plug one in, or headphones; you can always read.",
        ),
    )


def _devices(topic: Topic, names: tuple[str, ...], missing: str) -> MachineFinding:
    if not names:
        return MachineFinding(topic, "missing", missing)
    return MachineFinding(topic, "good", f"{_first_and_more(names)}.")


def _ollama(models: tuple[OllamaModel, ...] | None) -> MachineFinding:
    if models is None:
        return MachineFinding("ollama", "fair", "Ollama is not running here. It is optional.")
    if not models:
        return MachineFinding("ollama", "fair", "Ollama runs, and has no model yet.")
    return MachineFinding("ollama", "good", f"Ollama runs, with {_first_and_more([m.name for m in models])}.")


def _keys(keys: tuple[str, ...] | None) -> MachineFinding:
    if keys is None:
        return MachineFinding("keys", "fair", "The system's keyring does not answer. It may be locked.")
    if not keys:
        return MachineFinding("keys", "fair", "No API key for a model in the cloud. Keys are optional.")
    labels = [PROVIDERS[name].label for name in keys]
    listed = " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
    return MachineFinding("keys", "good", f"There is a key for {listed}.")


def _first_and_more(names: tuple[str, ...] | list[str]) -> str:
    return f"{names[0]}, and {len(names) - 1} more" if len(names) > 1 else names[0]


OFFER_SECONDS = 45.0
"""Timeout for the launcher to report what the card requires; it may have to query the driver again."""
LITTLE_LEFT = 500_000_000
"""If KAME and the desktop leave less than this, it is not enough for other programs that use the card."""

Report = Callable[[str, float], None]


@dataclass(frozen=True, slots=True)
class FrontEndFit:
    """Whether this machine can run a front-end in a given precision.

    - `precision`: empty for a front-end without weights.
    - `sentence`: a user-facing explanation.
    - `download_bytes`: the size of the weights to be downloaded first; 0 if they are already installed.
    """

    frontend: str
    precision: str
    fits: bool
    sentence: str
    download_bytes: int = 0


@dataclass(frozen=True, slots=True)
class MachineView:
    """The result of the hardware check.

    - `fits`: one entry per precision (largest first) for each front-end with weights; one for any other.
    - `advice`: a user-facing recommendation of `frontend`, `precision` and `backend`.
    - `graphics`: the packages that can be installed to make use of the card.
    - `can_try`: whether KAME can be tried on the card.
    """

    findings: tuple[MachineFinding, ...]
    fits: tuple[FrontEndFit, ...]
    advice: str
    frontend: str = "cascade"
    precision: str = ""
    backend: BackendChoice = field(default_factory=BackendChoice)
    graphics: GraphicsOffer | None = None
    can_try: bool = False

    def fits_of(self, frontend: str) -> tuple[FrontEndFit, ...]:
        """Returns the entries of `fits` for one front-end."""
        return tuple(fit for fit in self.fits if fit.frontend == frontend)


class MachineService:
    """The hardware check. `graphics`: finds the packages that a card requires; `probe`: a substitute for tests."""

    def __init__(
        self,
        settings: Settings,
        graphics: GraphicsService | None = None,
        probe: Callable[[Report], Awaitable[Machine]] | None = None,
    ) -> None:
        self._settings = settings
        self._graphics = graphics
        self._probe = probe or (lambda report: probe_machine(settings.ollama_url, key_store().find, report))

    async def look(self, report: Report) -> MachineView:
        """Probes the hardware, which takes a few seconds. Can be cancelled; contacts no server but the user's Ollama.

        `report` is called on the loop's thread with the current step and the fraction done. A probe that fails is
        reported as a finding.
        """
        machine = await self._probe(report)
        card = machine.card
        if card is not None and FRONT_ENDS[self._settings.frontend].weights:
            # The running session uses most of the memory, but would release it.
            card = replace(card, free=max(card.free, card.total - DRIVER_BYTES - DESKTOP_BYTES))
        offer = None
        if card is not None and card.lacks_packages and self._graphics is not None:
            report("Checking what the graphics card needs …", 1.0)
            offer = await bounded(self._graphics.offer, None, OFFER_SECONDS)
        fits = tuple(await asyncio.to_thread(lambda: list(self._fits(card))))
        best = next((fit for fit in fits if fit.fits and fit.frontend == "kame"), fits[0])
        backend = self._backend(machine.ollama, machine.system.memory)
        return MachineView(
            findings=findings_of(replace(machine, card=card)),
            fits=fits,
            advice=_advice(card, best, backend),
            frontend=best.frontend,
            precision=best.precision,
            backend=backend,
            graphics=offer,
            can_try=card is not None and not card.trouble,
        )

    async def try_card(self, report: Report) -> tuple[MachineFinding, ...]:
        """Tries KAME on the card, in other processes, which takes about a minute. Can be cancelled.

        `report` is called as in `look`. Raises UserError while a conversation uses the card.
        """
        loop = asyncio.get_running_loop()
        bench = CardBench(make_plan(QUICK, device="cuda", random_weights=True, quick=True))

        def progress(_title: str, share: float) -> None:
            words = f"Trying KAME on the graphics card, step {round(share * len(QUICK)) + 1} of {len(QUICK)} …"
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(report, words, share)

        def try_it() -> list[StepResult]:
            try:
                with CARD.hold("KAME", 0.0):
                    MODELS.drop("engine")  # a model that no conversation uses would take the memory
                    return bench.run(progress)
            except CardBusyError as error:
                raise UserError(
                    "A conversation uses the graphics card, so KAME can't be tried on it now. End the conversation, "
                    "then try again."
                ) from error

        try:
            return trial_findings(await asyncio.to_thread(try_it))
        except asyncio.CancelledError:
            bench.cancel()
            raise

    def _fits(self, card: Card | None) -> Iterator[FrontEndFit]:
        for frontend, spec in FRONT_ENDS.items():
            if spec.elsewhere or spec.make is not None:
                continue
            if not spec.weights:
                yield FrontEndFit(frontend, "", True, "It runs on the processor, and is here already.")
                continue
            missing = self._missing_bytes(frontend)
            for precision in PRECISIONS:
                yield replace(_fit(frontend, precision, card), download_bytes=missing)

    def _missing_bytes(self, frontend: str) -> int:
        if self._settings.weights_folder:
            return 0  # the user's own folder; missing files are reported when it is loaded
        model = find_model(frontend)
        try:
            read_layout(folder_of(model), quickly=True)
        except (ModelError, OSError):
            return model.bytes
        return 0

    def _backend(self, models: Sequence[OllamaModel] | None, memory: int) -> BackendChoice:
        """Returns the first Ollama model that takes at most half of the memory, or the built-in one."""
        for model in models or ():
            if 0 < model.bytes <= memory // 2:
                return BackendChoice("ollama", model.name, self._settings.ollama_url)
        return BackendChoice()


def _fit(frontend: str, precision: Precision, card: Card | None) -> FrontEndFit:
    label = find_model(frontend).label.partition(",")[0]
    if card is None:
        return FrontEndFit(frontend, precision, False, f"{label} needs an NVIDIA graphics card with 8 GB or more.")
    if card.trouble:
        return FrontEndFit(frontend, precision, False, card.trouble)
    usable = usable_bytes(card.free, card.total - DRIVER_BYTES)
    found = judge(usable, precision, name=label)
    plan = found.plan or next((offer for offer in found.offers if offer.precision == precision), None)
    if plan is None:
        needed = judge(1 << 60, precision).plan
        size = f"{needed.bytes / 1e9:.0f} GB" if needed is not None else "more"
        left = f"{max(0, usable) / 1e9:.0f} GB"
        sentence = f"In {precision} it takes {size} of the card, and the desktop leaves {left}."
        return FrontEndFit(frontend, precision, False, sentence)
    memory = _duration(plan.context * 0.08)
    sentence = f"Takes {plan.bytes / 1e9:.0f} GB of the card, and remembers {memory} of a conversation."
    if usable - plan.bytes < LITTLE_LEFT:
        sentence += " Close games and other programs that use the card while you talk."
    return FrontEndFit(frontend, precision, True, sentence)


def trial_findings(results: Sequence[StepResult]) -> tuple[MachineFinding, ...]:
    """Returns what the quick steps of `bench card` have found out."""
    more = f"“{single_instance.command()} bench card” writes a page that says more."
    found = {result.step: result for result in results}
    if found["card"].outcome != "passed":
        return (MachineFinding("trial", "fair", f"KAME could not be tried on this card. {more}"),)
    sentences = {
        "kernels": (
            "KAME's kernels work on this card.",
            "Some of KAME's kernels don't work on this card with this driver, so KAME is slower, or takes more memory. "
            f"Install the newest driver. {more}",
        ),
        "checks": (
            "KAME's fast paths give the same results on this card as the plain ones.",
            "KAME's fast paths give other results on this card than the plain ones, so what it says may be wrong. "
            f"{more}",
        ),
        "session-int8": (
            "KAME's process works on this card as a conversation uses it.",
            f"KAME's process fails on this card as a conversation uses it. {more}",
        ),
    }
    findings = []
    for step, (good, bad) in sentences.items():
        if step in found and found[step].outcome != "left out":
            passed = found[step].outcome == "passed"
            findings.append(MachineFinding("trial", "good" if passed else "fair", good if passed else bad))
    if (whole := found.get(BEST.name)) is not None:
        findings.append(_speed(whole, more))
    return tuple(findings)


def _speed(whole: StepResult, more: str) -> MachineFinding:
    times = list(frame_times(whole.facts).values())
    if whole.outcome == "left out":
        return MachineFinding("trial", "fair", whole.sentence)
    if whole.outcome == "failed" or not times:
        return MachineFinding("trial", "fair", f"The whole model could not be run on this card. {more}")
    ms = max(one["p99"] for one in times)
    words = f"{ms:.0f} ms of {FRAME_MS} ({whole.facts.get('precision', '')})"
    if ms <= COMFORTABLE * FRAME_MS:
        return MachineFinding("trial", "good", f"A frame takes {words}: KAME keeps up.")
    if ms <= FRAME_MS:
        sentence = f"A frame takes {words}: KAME just keeps up. Let no other program use the card."
    else:
        sentence = f"A frame takes {words}: KAME can't keep up. Choose a smaller precision, or the built-in voice."
    return MachineFinding("trial", "fair", sentence)


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return "one minute" if minutes == 1 else f"{minutes} minutes"


def _advice(card: Card | None, best: FrontEndFit, backend: BackendChoice) -> str:
    if best.frontend == "kame" and card is not None:
        words = f"{gigabytes(card.total)} card: KAME in {best.precision}"
        if best.download_bytes:
            words = f"{words}, once its weights ({best.download_bytes / 1e9:.0f} GB) are here"
        words += "."
    else:
        words = "KAME speaks with the built-in voice, on the processor."
        if card is None:
            words = f"This machine has no NVIDIA card: {words}"
        elif not card.trouble:
            words = f"The card has too little memory free: {words}"
    if backend.provider == "ollama":
        return f"{words} Its model is {backend.model}, by Ollama."
    return f"{words} Its model is the built-in one."
