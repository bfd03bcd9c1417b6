"""Looks at the machine for the first run: what is there, and which front-end and brain fit. See `MachineService`.

Loads nothing: a graphics card is asked by its driver's own tool, since torch takes seconds to import and memory of the
card. Contacts nobody but the user's Ollama.
"""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, TypeVar

from app.backend import PROVIDERS as BACKENDS
from app.frontend import PROVIDERS as FRONT_ENDS
from app.frontend import require_torch
from app.frontend.base import FrontEndError
from app.models.catalogue import find_model
from app.models.errors import ModelError
from app.models.fit import PRECISIONS, Precision, judge
from app.models.layout import read_layout
from app.models.locations import folder_of, weights_folder
from app.platform import nvidia
from app.platform.hardware import memory_bytes
from app.services.graphics_views import GraphicsService
from app.services.machine_views import FrontEndFit, MachineFinding, MachineView, State, Topic
from app.session.control import BackendChoice
from app.settings.declarations import Settings

CARD_SECONDS = 10.0
"""A driver that has to wake its card first takes a few."""
LOOK_SECONDS = 10.0
"""Whatever else takes longer is told as not answering. At a machine's first start 4 s were too few for the keyring:
its modules were being compiled beside the app's own."""
OFFER_SECONDS = 45.0
"""The launcher asks the card's driver once more."""
OLLAMA_SECONDS = 2.0
IDLE_CARD_BYTES = 1_500_000_000
"""What a desktop may hold of a card by itself."""
ROOM_LEFT = 1_000_000_000
EMBEDDED_ROOM = 2_000_000_000
"""Free bytes of the disk that talks with the embedded voice want for what they keep."""
ENOUGH_CORES, ENOUGH_MEMORY = 4, 7 * 10**9
"""With less than this the embedded voice works, and answers late."""

_T = TypeVar("_T")
_REPORT_NAMES = {
    "card": "the graphics card",
    "disk": "the disk",
    "sound": "microphones and loudspeakers",
    "ollama": "Ollama",
    "keys": "the keys for brains",
}


class SoundDevice(Protocol):
    """What is asked of a device; see `app.audio.devices.listing.Device`."""

    name: str
    inputs: int
    outputs: int
    is_default_input: bool
    is_default_output: bool


class Keys(Protocol):
    """What is asked of a store of keys; see `app.services.api_keys.KeyStore`."""

    def find(self, names: Sequence[str]) -> tuple[str, Any]:
        """The key under one of `names`, and where it is."""
        ...


@dataclass(frozen=True, slots=True)
class Card:
    """A graphics card; sizes in bytes. `trouble`: why it can't be used, in a sentence; then the rest may be empty.

    `lacks_packages`: only because packages are missing, which can be installed.
    """

    name: str = ""
    total: int = 0
    free: int = 0
    trouble: str = ""
    lacks_packages: bool = False


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model that Ollama has. `bytes`: 0 for one that runs elsewhere."""

    name: str
    bytes: int


class MachineInspector:
    """See `MachineService`. Reads `settings` for where Ollama and weights are; `graphics` knows what a card still
    needs; the other arguments are for tests."""

    def __init__(
        self,
        settings: Settings,
        keys: Keys,
        *,
        list_devices: Callable[[], Sequence[SoundDevice]] | None = None,
        look_for_card: Callable[[], Card | None] | None = None,
        room: Callable[[Path], int] = lambda place: shutil.disk_usage(place).free,
        memory: Callable[[], int] | None = None,
        graphics: GraphicsService | None = None,
    ) -> None:
        self._settings = settings
        self._keys = keys
        self._list_devices = list_devices or _list_devices
        self._look_for_card = look_for_card or find_card
        self._room = room
        self._memory = memory or memory_bytes
        self._graphics = graphics

    async def look(self, report: Callable[[str, float], None]) -> MachineView:
        """See `MachineService.look`."""
        left = dict(_REPORT_NAMES)

        async def told(name: str, work: Awaitable[_T]) -> _T:
            result = await work
            del left[name]
            words = f"Looking at {next(iter(left.values()))} …" if left else "Working out what fits …"
            report(words, 1 - len(left) / len(_REPORT_NAMES))
            return result

        report("Looking at this machine …", 0.0)
        card, room, devices, models, keyed = await asyncio.gather(
            told("card", _within(CARD_SECONDS + 1, self._look_for_card, Card(trouble=nvidia.NO_ANSWER))),
            told("disk", _within(LOOK_SECONDS, self._free_room, None)),
            told("sound", _within(LOOK_SECONDS, self._list_devices, None)),
            told("ollama", _within(LOOK_SECONDS, lambda: ollama_models(self._settings.ollama_url), None)),
            told("keys", _within(LOOK_SECONDS, self._keyed, None)),
        )
        if card is not None and FRONT_ENDS[self._settings.frontend].weights:
            # The talk that runs holds most of it, and would give it back.
            card = replace(card, free=max(card.free, card.total - IDLE_CARD_BYTES))
        offer = None
        if card is not None and card.lacks_packages and self._graphics is not None:
            report("Looking at what the graphics card needs …", 1.0)
            offer = await _within(OFFER_SECONDS, self._graphics.offer, None)
        memory = self._memory()
        fits = tuple(await asyncio.to_thread(lambda: list(self._fits(card))))
        best = _best(fits)
        backend = self._backend(models, memory)
        return MachineView(
            findings=(
                _about_card(card),
                _about_processor(os.cpu_count() or 1, memory),
                _about_disk(room, card),
                *_about_sound(devices),
                _about_ollama(models),
                _about_keys(keyed),
            ),
            fits=fits,
            advice=_advice(card, best, backend),
            frontend=best.frontend,
            precision=best.precision,
            backend=backend,
            ollama_models=None if models is None else tuple(model.name for model in models),
            keys=keyed or (),
            graphics=offer,
        )

    def _free_room(self) -> int:
        place = weights_folder()
        while not place.exists():
            place = place.parent
        return self._room(place)

    def _keyed(self) -> tuple[str, ...]:
        return tuple(
            name for name, spec in BACKENDS.items() if spec.wants_key and self._keys.find(spec.key_variables)[0]
        )

    def _fits(self, card: Card | None) -> Iterable[FrontEndFit]:
        for frontend, spec in FRONT_ENDS.items():
            if not spec.weights:
                yield FrontEndFit(frontend, "", True, "It runs on the processor, and is here already.")
                continue
            missing = self._missing_bytes(frontend)
            for precision in PRECISIONS:
                yield replace(_fit(frontend, precision, card), download_bytes=missing)

    def _missing_bytes(self, frontend: str) -> int:
        if self._settings.weights_folder:
            return 0  # a folder of the user's own: loading it says what it lacks
        model = find_model(frontend)
        try:
            read_layout(folder_of(model), quickly=True)
        except (ModelError, OSError):
            return model.bytes
        return 0

    def _backend(self, models: Sequence[OllamaModel] | None, memory: int) -> BackendChoice:
        """The first of Ollama's that leaves half of the memory free, else the embedded one."""
        for model in models or ():
            if 0 < model.bytes <= memory // 2:
                return BackendChoice("ollama", model.name, self._settings.ollama_url)
        return BackendChoice()


def find_card() -> Card | None:
    """The NVIDIA card with the most memory; None when there is no driver for any. Blocks for seconds."""
    driver = nvidia.look(CARD_SECONDS)
    if driver is None:
        return None
    best = nvidia.best_card(driver)
    trouble = nvidia.obstacle(driver)
    lacks = False
    if not trouble:
        try:
            require_torch()
        except FrontEndError:
            trouble, lacks = "It can run KAME, but what that needs is not installed.", True
    return Card(best.name, best.total, best.free, trouble, lacks) if best else Card(trouble=trouble)


def card_words() -> str:
    """The graphics card, for somebody who helps. Blocks, see `find_card`."""
    card = find_card()
    if card is None:
        return "no NVIDIA card"
    size = f"{card.name}, {card.total / 1e9:.1f} GB" if card.name else ""
    return ". ".join(filter(None, (size, card.trouble)))


def ollama_models(url: str) -> list[OllamaModel] | None:
    """The models of the Ollama at `url` that converse; None when none answers there. Blocks for seconds."""
    import httpx

    try:
        # A server of the user's own is never reached by a proxy.
        with httpx.Client(timeout=OLLAMA_SECONDS, trust_env=False) as client:
            rows = client.get(f"{url.rstrip('/')}/api/tags").raise_for_status().json()["models"] or []
        return [_read_model(row) for row in rows if not _only_embeds(row)]
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, AttributeError):
        return None


def _read_model(row: dict[str, Any]) -> OllamaModel:
    return OllamaModel(str(row["name"]), 0 if row.get("remote_host") else int(row.get("size") or 0))


def _only_embeds(row: dict[str, Any]) -> bool:
    family = str((row.get("details") or {}).get("family") or "")
    return "bert" in family or "embed" in str(row["name"])


async def _within(seconds: float, work: Callable[[], _T], otherwise: _T) -> _T:
    """What `work` gives, on a thread; `otherwise` when it takes too long or fails."""
    try:
        return await asyncio.wait_for(asyncio.to_thread(work), seconds)
    except Exception:  # what can't be looked at is told as such
        return otherwise


def _list_devices() -> Sequence[SoundDevice]:
    from app.audio.devices.list_process import list_now

    return list_now()


# -- what fits


def _fit(frontend: str, precision: Precision, card: Card | None) -> FrontEndFit:
    label = find_model(frontend).label.partition(",")[0]
    if card is None:
        return FrontEndFit(frontend, precision, False, f"{label} needs an NVIDIA graphics card with 8 GB or more.")
    if card.trouble:
        return FrontEndFit(frontend, precision, False, card.trouble)
    found = judge(card.free, precision, name=label)
    plan = found.plan or next((offer for offer in found.offers if offer.precision == precision), None)
    if plan is None:
        needed = judge(1 << 60, precision).plan
        wanted = f"{needed.bytes / 1e9:.0f} GB" if needed is not None else "more"
        return FrontEndFit(
            frontend,
            precision,
            False,
            f"In {precision} it takes {wanted} of the card, of which {card.free / 1e9:.0f} GB are free.",
        )
    return FrontEndFit(
        frontend,
        precision,
        True,
        f"Takes {plan.bytes / 1e9:.0f} GB of the card, and remembers {_duration(plan.context * 0.08)} of a talk.",
    )


def _duration(seconds: float) -> str:
    minutes = round(seconds / 60)
    return "one minute" if minutes == 1 else f"{minutes} minutes"


def _best(fits: Sequence[FrontEndFit]) -> FrontEndFit:
    """KAME as precise as fits, else the embedded voice."""
    return next((fit for fit in fits if fit.fits and fit.frontend == "kame"), fits[0])


def _advice(card: Card | None, best: FrontEndFit, backend: BackendChoice) -> str:
    if best.frontend == "kame" and card is not None:
        words = f"{_gigabytes(card.total)} card: KAME in {best.precision}"
        if best.download_bytes:
            words += f", once its weights ({best.download_bytes / 1e9:.0f} GB) are here"
        words += "."
    else:
        words = "KAME speaks with the embedded voice, on the processor."
        if card is None:
            words = f"This machine has no NVIDIA card: {words}"
        elif not card.trouble:
            words = f"The card has too little memory free: {words}"
    if backend.provider == "ollama":
        return f"{words} Its brain is {backend.model}, by Ollama."
    return f"{words} Its brain is the built-in one."


# -- what was found, in words


def _about_card(card: Card | None) -> MachineFinding:
    if card is None:
        return MachineFinding("card", "fair", "No NVIDIA card. The embedded voice needs none.")
    if card.trouble:
        name = f"{card.name}, {_gigabytes(card.total)}. " if card.name else ""
        return MachineFinding("card", "fair", f"{name}{card.trouble}")
    return MachineFinding(
        "card", "good", f"{card.name}, {_gigabytes(card.total)}, of which {_gigabytes(card.free)} are free."
    )


def _about_processor(cores: int, memory: int) -> MachineFinding:
    words = f"{cores} cores" if cores > 1 else "One core"
    if memory:
        words += f", {_gigabytes(memory)} of memory"
    if cores >= ENOUGH_CORES and (memory >= ENOUGH_MEMORY or not memory):
        return MachineFinding("processor", "good", f"{words}.")
    return MachineFinding("processor", "fair", f"{words}: enough, if not quick.")


def _about_disk(room: int | None, card: Card | None) -> MachineFinding:
    if room is None:
        return MachineFinding("disk", "fair", "How much room there is could not be found out.")
    wanted = find_model("kame").bytes
    words = f"{room / 1e9:.0f} GB are free"
    if room < EMBEDDED_ROOM:
        return MachineFinding("disk", "missing", f"Only {room / 1e9:.1f} GB are free. Make room for what talks keep.")
    if card is not None and not card.trouble and room < wanted + ROOM_LEFT:
        return MachineFinding("disk", "fair", f"{words}; KAME's weights take {wanted / 1e9:.0f} GB.")
    return MachineFinding("disk", "good", f"{words}.")


def _about_sound(devices: Sequence[SoundDevice] | None) -> tuple[MachineFinding, MachineFinding]:
    if devices is None:
        words = "The sound devices could not be listed. Check that sound works in other programs."
        return MachineFinding("microphone", "missing", words), MachineFinding("loudspeaker", "missing", words)
    inputs = sorted((d for d in devices if d.inputs), key=lambda d: not d.is_default_input)
    outputs = sorted((d for d in devices if d.outputs), key=lambda d: not d.is_default_output)
    return (
        _about_devices("microphone", inputs, "No microphone. Plug one in to talk; you can always type."),
        _about_devices("loudspeaker", outputs, "No loudspeaker. Plug one in, or headphones; you can always read."),
    )


def _about_devices(topic: Topic, devices: Sequence[SoundDevice], lacking: str) -> MachineFinding:
    if not devices:
        return MachineFinding(topic, "missing", lacking)
    more = f", and {len(devices) - 1} more" if len(devices) > 1 else ""
    return MachineFinding(topic, "good", f"{devices[0].name}{more}.")


def _about_ollama(models: Sequence[OllamaModel] | None) -> MachineFinding:
    state: State = "good" if models else "fair"
    if models is None:
        words = "Ollama does not run here. Nothing needs it."
    elif not models:
        words = "Ollama runs, and has no model yet."
    else:
        more = f", and {len(models) - 1} more" if len(models) > 1 else ""
        words = f"Ollama runs, with {models[0].name}{more}."
    return MachineFinding("ollama", state, words)


def _about_keys(keyed: Sequence[str] | None) -> MachineFinding:
    if keyed is None:
        return MachineFinding("keys", "fair", "The system's keyring does not answer. It may be locked.")
    if not keyed:
        return MachineFinding("keys", "fair", "No key for a brain in the cloud. Nothing needs one.")
    labels = [BACKENDS[name].label for name in keyed]
    listed = " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
    return MachineFinding("keys", "good", f"There is a key for {listed}.")


def _gigabytes(size: int) -> str:
    """Memory as it is sold: by powers of two."""
    return f"{size / 2**30:.0f} GB"
