"""Probes the machine: system, graphics card, disk, sound devices, Ollama and API keys.

These probes are used by the first-run setup, the `doctor` command and the diagnostics report. They load no model,
change nothing, have a time limit, and connect to nothing but the user's Ollama server.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import platform
import shutil
import sys
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from importlib import metadata
from typing import Any, TypeVar

from app.backend import PROVIDERS
from app.frontend import require_torch
from app.frontend.base import FrontEndError
from app.models.locations import weights_folder
from app.platform import nvidia
from app.platform.hardware import memory_bytes
from app.platform.installation import installed
from app.untrusted.http import read_body
from app.untrusted.json_text import read_json
from app.untrusted.limits import MODEL_LIST

CARD_SECONDS = 10.0
"""The time limit of the graphics card probe: a driver needs a few seconds to wake a suspended card."""
PROBE_SECONDS = 10.0
"""The time limit of all other probes. 4 s were too short for the keyring on first start, while its modules and those of
the app were being compiled to bytecode."""
OLLAMA_SECONDS = 2.0

PACKAGES = (
    "PySide6-Essentials qasync numpy sounddevice soundfile soxr livekit openai ollama httpx faster-whisper "
    "ctranslate2 onnxruntime tokenizers piper-tts xllamacpp keyring mcp torch moshi"
).split()
"""The packages whose versions are reported, since they have caused failures before."""

NO_PACKAGES = "It can run KAME, but what that needs is not installed."
NO_SOUND = "The sound devices could not be listed. Check that sound works in other programs."

FindKey = Callable[[Sequence[str]], tuple[str, Any]]
"""Returns the API key stored under any of the given names, or an empty string, and where it is stored."""
_T = TypeVar("_T")
_Otherwise = TypeVar("_Otherwise")


@dataclass(frozen=True, slots=True)
class System:
    """The system that the app runs on.

    `memory`: its size in bytes, or 0 if unknown. `packages`: the names and versions of those `PACKAGES` that are
    installed.
    """

    version: str
    python: str
    name: str
    cores: int
    memory: int
    packages: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """An NVIDIA graphics card; sizes are in bytes.

    - `trouble`: a user-facing message saying why the card can't be used; the other fields may then be empty
    - `lacks_packages`: the card is unusable only because installable packages are missing
    - `driver`: the driver version
    - `cuda`: the newest CUDA version that the driver supports
    """

    name: str = ""
    total: int = 0
    free: int = 0
    trouble: str = ""
    lacks_packages: bool = False
    driver: str = ""
    cuda: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Sound:
    """The names of the sound devices, default first. `trouble`: a user-facing message if they could not be listed."""

    microphones: tuple[str, ...] = ()
    loudspeakers: tuple[str, ...] = ()
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """A model offered by an Ollama server. `bytes`: its size, or 0 for a remote model."""

    name: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Machine:
    """The results of all probes.

    - `card`: None without an NVIDIA driver
    - `disk_free`: free bytes on the disk that holds the weights; None if unknown
    - `ollama`: the chat models; None if no Ollama server responds
    - `keys`: the providers with an API key; None if the keyring does not respond
    """

    system: System
    card: Card | None
    disk_free: int | None
    sound: Sound
    ollama: tuple[OllamaModel, ...] | None
    keys: tuple[str, ...] | None


async def probe_machine(
    ollama_url: str, find_key: FindKey, report: Callable[[str, float], None] = lambda words, share: None
) -> Machine:
    """Runs all probes concurrently. `report` is called with a progress message and the completed fraction, 0 to 1."""
    left = {
        "card": "the graphics card",
        "disk": "the disk",
        "sound": "microphones and loudspeakers",
        "ollama": "Ollama",
        "keys": "the API keys",
    }
    count = len(left)

    async def reported(name: str, probe: Awaitable[_T]) -> _T:
        result = await probe
        del left[name]
        words = f"Checking {next(iter(left.values()))} …" if left else "Working out what fits …"
        report(words, 1 - len(left) / count)
        return result

    report("Checking this machine …", 0.0)
    card, disk, sound, ollama, keys = await asyncio.gather(
        reported("card", bounded(probe_card, Card(trouble=nvidia.NO_ANSWER), CARD_SECONDS + 1)),
        reported("disk", bounded(probe_disk, None)),
        reported("sound", bounded(probe_sound, Sound(trouble=NO_SOUND))),
        reported("ollama", bounded(lambda: probe_ollama(ollama_url), None)),
        reported("keys", bounded(lambda: probe_keys(find_key), None)),
    )
    return Machine(await asyncio.to_thread(probe_system), card, disk, sound, ollama, keys)


async def bounded(probe: Callable[[], _T], otherwise: _Otherwise, seconds: float | None = None) -> _T | _Otherwise:
    """Runs `probe` on a thread; returns `otherwise` if it fails or exceeds `seconds` (default: `PROBE_SECONDS`)."""
    done: Future[_T] = Future()

    def run() -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            done.set_result(probe())
        except BaseException as error:
            done.set_exception(error)

    # A daemon thread, so that a hanging driver or disk can't keep the process from exiting.
    threading.Thread(target=run, name="probe", daemon=True).start()
    try:
        return await asyncio.wait_for(asyncio.wrap_future(done), PROBE_SECONDS if seconds is None else seconds)
    except Exception:
        return otherwise


def probe_system() -> System:
    """Returns the properties of the system and the versions of the app and its packages; takes about 20 ms."""
    packages = []
    for name in PACKAGES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            packages.append((name, metadata.version(name)))
    app = installed()
    version = f"{app.version or 'unknown'} ({app.kind}{', ' + app.commit[:12] if app.commit else ''})"
    python = f"{platform.python_version()} ({platform.python_implementation()}, {platform.machine()})"
    return System(version, python, _system_name(), os.cpu_count() or 1, memory_bytes(), tuple(packages))


def _system_name() -> str:
    name = platform.platform()
    if sys.platform != "linux":
        return name
    with contextlib.suppress(OSError):
        name = f"{platform.freedesktop_os_release().get('PRETTY_NAME', '')} ({name})".lstrip()
    desktop = " ".join(os.environ.get(key, "") for key in ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE")).strip()
    return f"{name}, {desktop}" if desktop else name


def probe_card() -> Card | None:
    """Returns the best NVIDIA card, or None without a driver.

    Queries the driver rather than torch, which takes seconds to import and allocates memory on the card.
    """
    driver = nvidia.look(CARD_SECONDS)
    if driver is None:
        return None
    best = nvidia.best_card(driver)
    trouble = nvidia.obstacle(driver)
    if best is None:
        return Card(trouble=trouble)
    lacks_packages = False
    if not trouble:
        try:
            require_torch()
        except FrontEndError:
            trouble, lacks_packages = NO_PACKAGES, True
    return Card(best.name, best.total, best.free, trouble, lacks_packages, driver.version, tuple(driver.cuda))


def probe_disk() -> int:
    """Returns the free bytes on the disk that holds the weights."""
    place = weights_folder()
    while not place.exists():
        place = place.parent
    return shutil.disk_usage(place).free


def probe_sound() -> Sound:
    """Returns the microphones and loudspeakers, with the system's default first."""
    from app.audio.devices.list_process import list_current_devices
    from app.audio.io.base import AudioError

    try:
        devices = list_current_devices()
    except AudioError as error:
        return Sound(trouble=str(error))
    inputs = sorted((d for d in devices if d.inputs), key=lambda d: not d.is_default_input)
    outputs = sorted((d for d in devices if d.outputs), key=lambda d: not d.is_default_output)
    return Sound(tuple(d.name for d in inputs), tuple(d.name for d in outputs))


def probe_ollama(url: str) -> tuple[OllamaModel, ...] | None:
    """Returns the chat models on the Ollama server at `url`, bypassing any proxy; None if no server responds."""
    import httpx

    try:
        with (
            httpx.Client(timeout=OLLAMA_SECONDS, trust_env=False) as client,
            client.stream("GET", f"{url.rstrip('/')}/api/tags", headers={"Accept-Encoding": "gzip"}) as answer,
        ):
            answer.raise_for_status()
            rows = read_json(read_body(answer, MODEL_LIST), MODEL_LIST)["models"] or []
        return tuple(
            OllamaModel(str(row["name"]), 0 if row.get("remote_host") else int(row.get("size") or 0))
            for row in rows
            if not _only_embeds(row)
        )
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError, AttributeError):
        return None


def _only_embeds(row: dict[str, Any]) -> bool:
    family = str((row.get("details") or {}).get("family") or "")
    return "bert" in family or "embed" in str(row["name"])


def probe_keys(find_key: FindKey) -> tuple[str, ...]:
    """Returns the providers for which an API key is available."""
    return tuple(name for name, spec in PROVIDERS.items() if spec.wants_key and find_key(spec.key_variables)[0])
