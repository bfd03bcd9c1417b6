"""Detects NVIDIA graphics cards and their capabilities through the driver, without torch.

The driver's library (NVML) is called in a child process, which runs this file: a driver that has to wake its card takes
seconds, and one that hangs never returns.

Setup loads this module by its path before anything is installed, so it must run on Python 3.8 with only the standard
library and import no other module of the app.
"""

from __future__ import annotations

import ctypes
import glob
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

OLDEST_CUDA = (12, 0)
"""Programs built for any CUDA 12 release run on drivers for CUDA 12.0 or later."""
OLDEST_CAPABILITY = (7, 5)
"""The Turing architecture: the packages contain no code for older cards."""
LEAST_BYTES = 8 * 10**9
"""The minimum card memory, which cards sold as 8 GB have even after the driver has reserved some of it."""
SECONDS = 10.0

_NAMES = frozenset(
    (
        "PATH HOME LANG LD_LIBRARY_PATH LD_PRELOAD NIX_LD NIX_LD_LIBRARY_PATH TMPDIR TEMP TMP SYSTEMROOT SYSTEMDRIVE "
        "WINDIR COMSPEC PATHEXT PROGRAMDATA PROGRAMFILES PROGRAMW6432 NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE"
    ).split()
)
_PREFIXES = ("CUDA_", "NVML_", "WINE")
"""The environment variables passed to the child, none of which contains a key or password. The rest of the app uses
`child_environment` for this."""

NO_ANSWER = "The NVIDIA driver does not answer. Restart the machine, then look again."
NOT_LOADED = (
    "The NVIDIA driver is installed but does not run. If this machine has an NVIDIA card, restart it, then look again."
)
HALF_UPDATED = "The NVIDIA driver was updated and works again after a restart of the machine. Restart it."
NO_DRIVER = (
    "There is an NVIDIA card, but its driver is not installed. Install NVIDIA's driver with your system's tool for "
    "drivers, restart the machine, then look again."
)
_NEEDED = "528" if os.name == "nt" else "525.60"
OLD_DRIVER = (
    f"The NVIDIA driver {{0}} is too old: KAME needs version {_NEEDED} or newer (CUDA 12). Install a newer driver, "
    "then look again."
)
OLD_CARD = "The card {0} is too old: KAME needs one of the year 2018 (Turing) or later."
SMALL_CARD = "The card {0} has {1:.0f} GB of memory: KAME needs 8 GB or more."

_TROUBLES = {9: NOT_LOADED, 18: HALF_UPDATED}
"""User-facing messages for NVML error codes; any other code means that the driver isn't responding."""


class Card(NamedTuple):
    """A graphics card.

    - `total`, `free`: its memory in bytes
    - `capability`: its compute capability; empty if unknown
    - `uuid`: the driver's identifier for the card, which CUDA accepts for selecting it
    """

    name: str
    total: int
    free: int
    capability: tuple = ()
    uuid: str = ""


class Driver(NamedTuple):
    """A driver and its cards. `cuda`: the newest CUDA version that it supports, empty if unknown.

    If the driver can't be queried, `trouble` is a user-facing message with the reason, and the other fields are empty.
    """

    version: str = ""
    cuda: tuple = ()
    cards: tuple = ()
    trouble: str = ""


class Program(NamedTuple):
    """A process that uses a card. `memory`: of the card, in bytes; 0 if unknown, as always on Windows.

    `busy`: the most of the card's time that it has taken lately, in percent; 0 if unknown.
    """

    pid: int
    name: str
    memory: int = 0
    busy: int = 0


class CardUse(NamedTuple):
    """What a card is doing. What the driver doesn't tell is 0 or empty.

    - `total`, `used`: its memory in bytes, and how much of it is taken
    - `busy`: the share of the last moments in which it computed, in percent
    - `clock`, `fastest`: the clock of its multiprocessors now and at most, in MHz
    - `slowed`: what keeps the clock low: "heat" or "power"
    - `programs`: the processes that use it
    """

    name: str
    total: int
    used: int
    busy: int = 0
    clock: int = 0
    fastest: int = 0
    slowed: tuple = ()
    programs: tuple = ()


def look(
    seconds: float = SECONDS, libraries: Sequence[str] | None = None, devices: str = "/sys/bus/pci/devices"
) -> Driver | None:
    """Queries the driver, with a timeout of `seconds`; returns None if there is no NVIDIA card.

    `libraries`: candidate paths of the driver's library; `devices`: the folder in which Linux lists the PCI devices.
    """
    found = _ask_child(library_places() if libraries is None else libraries, seconds)
    if found is None and _has_device(devices):
        return Driver(trouble=NO_DRIVER)
    return found if found is None or found.cards or found.trouble else None


def look_at_use(seconds: float = SECONDS, libraries: Sequence[str] | None = None) -> tuple:
    """Asks the driver what its cards are doing, within `seconds`; returns a `CardUse` for each, none if it is silent.

    `libraries`: candidate paths of the driver's library.
    """
    try:
        told = _told_by_child("--use", *(library_places() if libraries is None else libraries), seconds=seconds)
        return tuple(
            CardUse._make((*facts, tuple(slowed), tuple(Program(*program) for program in programs)))
            for *facts, slowed, programs in (told or {}).get("use", ())
        )
    except (OSError, ValueError, TypeError):
        return ()


def best_card(driver: Driver) -> Card | None:
    """Returns the card with the most memory among those that KAME can run on, or among all if there are none."""
    fitting = [card for card in driver.cards if not _obstacle_of(card)]
    return max(fitting or driver.cards, key=lambda card: card.total, default=None)


def use_best_card() -> None:
    """Restricts CUDA in this process to the best card, unless the user has chosen one. CUDA must not be in use yet."""
    if "CUDA_VISIBLE_DEVICES" not in os.environ:
        driver = look()
        card = best_card(driver) if driver is not None else None
        if card is not None and card.uuid:
            os.environ["CUDA_VISIBLE_DEVICES"] = card.uuid


def obstacle(driver: Driver) -> str:
    """Returns a user-facing message that says why KAME can't run on the driver's best card; empty if it can."""
    card = best_card(driver)
    if driver.trouble or card is None:
        return driver.trouble or NO_ANSWER
    if driver.cuda and driver.cuda < OLDEST_CUDA:
        return OLD_DRIVER.format(driver.version)
    return _obstacle_of(card)


def _obstacle_of(card: Card) -> str:
    if card.capability and card.capability < OLDEST_CAPABILITY:
        return OLD_CARD.format(card.name)
    if card.total < LEAST_BYTES:
        return SMALL_CARD.format(card.name, gigabytes(card.total))
    return ""


def gigabytes(size: int) -> float:
    """Converts a card's memory size in bytes to its nominal size in GB, including the part that the driver reserves."""
    return round(size / 2**30)


def has_driver() -> bool:
    """Returns whether a driver is installed, without loading it."""
    known = ("/proc/driver/nvidia/version", *(place for place in library_places() if os.path.isabs(place)))
    return any(map(os.path.exists, known)) or shutil.which("nvidia-smi") is not None


def library_places() -> list[str]:
    """Returns candidate paths of the driver's library."""
    if os.name != "nt":
        folders = ("", "/run/opengl-driver/lib/", "/usr/lib/wsl/lib/")  # the default, NixOS, and WSL
        return [folder + "libnvidia-ml.so.1" for folder in folders]
    system = os.environ.get("SYSTEMROOT", "C:\\Windows")
    programs = os.environ.get("PROGRAMW6432") or os.environ.get("PROGRAMFILES", "C:\\Program Files")
    return [
        os.path.join(system, "System32", "nvml.dll"),
        os.path.join(programs, "NVIDIA Corporation", "NVSMI", "nvml.dll"),
    ]


# -- queries of the driver's library, in a child process


def _told_by_child(*arguments: str, seconds: float) -> dict | None:
    """Returns what the child prints. Raises OSError or ValueError."""
    return json.loads(_output_of([sys.executable, "-I", "-S", os.path.abspath(__file__), *arguments], seconds))


def _ask_child(libraries: Sequence[str], seconds: float) -> Driver | None:
    try:
        told = _told_by_child(*libraries, seconds=seconds)
        if told is None:
            return None
        if "code" in told:
            return Driver(trouble=_TROUBLES.get(told["code"], NO_ANSWER))
        cards = tuple(
            Card(name, total, free, tuple(capability), uuid) for name, total, free, capability, uuid in told["cards"]
        )
        return Driver(told["driver"], tuple(told["cuda"]), cards)
    except (OSError, ValueError, KeyError, TypeError):
        return Driver(trouble=NO_ANSWER)


def _output_of(command: Sequence[str], seconds: float) -> str:
    """Returns a program's standard output. Raises OSError if it fails or takes longer than `seconds`."""
    child = subprocess.Popen(
        list(command),
        env={name: value for name, value in os.environ.items() if name in _NAMES or name.startswith(_PREFIXES)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    )
    try:
        printed, _ = child.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        child.kill()
        try:
            child.communicate(timeout=1.0)
        except subprocess.TimeoutExpired:
            # Hung in the driver: it can't be reaped, nor can its output be closed on Windows while a thread reads it.
            child.returncode = -9
        raise OSError(f"{command[0]} does not answer") from None
    if child.returncode:
        raise OSError(f"{command[0]} ended with exit code {child.returncode}")
    return printed.decode("utf-8", "replace")


class _Refused(Exception):
    """Raised when the library returns an error code."""


class _Memory(ctypes.Structure):
    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class _Running(ctypes.Structure):
    _fields_ = (("pid", ctypes.c_uint), ("memory", ctypes.c_ulonglong), ("instances", ctypes.c_uint * 2))


class _Sample(ctypes.Structure):
    _fields_ = (("pid", ctypes.c_uint), ("time", ctypes.c_ulonglong), ("shares", ctypes.c_uint * 4))


def _library(libraries: Sequence[str]) -> Callable[..., None] | None:
    """Returns a function that calls one of the first library that loads, and raises _Refused or AttributeError."""
    for place in libraries:
        try:
            library = ctypes.CDLL(place)
            break
        except OSError:
            continue
    else:
        return None

    def call(function: str, *arguments: object) -> None:
        code = getattr(library, function)(*arguments)
        if code:
            raise _Refused(code)

    return call


def _ask_library(libraries: Sequence[str]) -> dict | None:
    """Queries the driver through the first of `libraries` that loads; returns None if none does."""
    call = _library(libraries)
    if call is None:
        return None
    text = ctypes.create_string_buffer(96)
    number, major, minor = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    cards = []
    try:
        call("nvmlInit_v2")
        call("nvmlSystemGetDriverVersion", text, ctypes.c_uint(len(text)))
        version = text.value.decode("utf-8", "replace")
        call("nvmlSystemGetCudaDriverVersion_v2", ctypes.byref(number))
        cuda = divmod(number.value, 1000)
        call("nvmlDeviceGetCount_v2", ctypes.byref(number))
        for index in range(number.value):
            card, memory = ctypes.c_void_p(), _Memory()
            call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(card))
            call("nvmlDeviceGetName", card, text, ctypes.c_uint(len(text)))
            call("nvmlDeviceGetMemoryInfo", card, ctypes.byref(memory))
            call("nvmlDeviceGetCudaComputeCapability", card, ctypes.byref(major), ctypes.byref(minor))
            name = text.value.decode("utf-8", "replace")
            call("nvmlDeviceGetUUID", card, text, ctypes.c_uint(len(text)))
            uuid = text.value.decode("ascii", "replace")
            cards.append([name, memory.total, memory.free, [major.value, minor.value], uuid])
    except _Refused as refusal:
        return {"code": refusal.args[0]}
    except AttributeError:  # drivers older than CUDA 10 lack some functions
        return {"driver": "from before 2018", "cuda": [0, 0], "cards": [["NVIDIA", 0, 0, [], ""]]}
    return {"driver": version, "cuda": [cuda[0], cuda[1] // 10], "cards": cards}


_MOST_PROGRAMS, _MOST_SAMPLES = 256, 4096
_SM_CLOCK = 1
_UNKNOWN = 2**64 - 1
_SLOWED = ((0x20 | 0x40, "heat"), (0x04 | 0x80, "power"))
"""The bits of NVML's reasons for a low clock, of software and hardware, and what they mean."""


def _ask_use(libraries: Sequence[str]) -> dict | None:
    """Asks what each card is doing. A question that the driver doesn't answer leaves a 0."""
    call = _library(libraries)
    if call is None:
        return None

    def number(function: str, *arguments: object, kind: type = ctypes.c_uint) -> int:
        value = kind()
        known = _answers(call, function, *arguments, ctypes.byref(value))
        return value.value if known else 0

    cards = []
    try:
        call("nvmlInit_v2")
        for index in range(number("nvmlDeviceGetCount_v2")):
            card, memory, shares = ctypes.c_void_p(), _Memory(), (ctypes.c_uint * 2)()
            text = ctypes.create_string_buffer(96)
            call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(card))
            call("nvmlDeviceGetName", card, text, ctypes.c_uint(len(text)))
            call("nvmlDeviceGetMemoryInfo", card, ctypes.byref(memory))
            _answers(call, "nvmlDeviceGetUtilizationRates", card, ctypes.byref(shares))
            clock = number("nvmlDeviceGetClockInfo", card, ctypes.c_int(_SM_CLOCK))
            fastest = number("nvmlDeviceGetMaxClockInfo", card, ctypes.c_int(_SM_CLOCK))
            reasons = number("nvmlDeviceGetCurrentClocksThrottleReasons", card, kind=ctypes.c_ulonglong)
            slowed = [word for bits, word in _SLOWED if reasons & bits]
            name, used = text.value.decode("utf-8", "replace"), memory.total - memory.free
            cards.append([name, memory.total, used, shares[0], clock, fastest, slowed, _programs(call, card)])
    except (_Refused, AttributeError):
        return None
    return {"use": cards}


def _programs(call: Callable[..., None], card: ctypes.c_void_p) -> list:
    """Returns the fields of a `Program` for each process that uses the card."""
    memory: dict[int, int] = {}
    busy: dict[int, int] = {}
    for kind in ("Compute", "Graphics"):
        count, running = ctypes.c_uint(_MOST_PROGRAMS), (_Running * _MOST_PROGRAMS)()
        if _answers(call, f"nvmlDeviceGet{kind}RunningProcesses_v3", card, ctypes.byref(count), running):
            for one in running[: count.value]:
                taken = 0 if one.memory == _UNKNOWN else one.memory
                memory[one.pid] = max(taken, memory.get(one.pid, 0))
    count, samples = ctypes.c_uint(_MOST_SAMPLES), (_Sample * _MOST_SAMPLES)()
    if _answers(call, "nvmlDeviceGetProcessUtilization", card, samples, ctypes.byref(count), ctypes.c_ulonglong()):
        for sample in samples[: count.value]:
            busy[sample.pid] = max(busy.get(sample.pid, 0), min(sample.shares[0], 100))
    text = ctypes.create_string_buffer(1024)
    programs = []
    for pid, taken in memory.items():
        known = _answers(call, "nvmlSystemGetProcessName", ctypes.c_uint(pid), text, ctypes.c_uint(len(text)))
        path = text.value.decode("utf-8", "replace") if known else ""
        programs.append([pid, path.replace("\\", "/").rpartition("/")[2], taken, busy.get(pid, 0)])
    return programs


def _answers(call: Callable[..., None], function: str, *arguments: object) -> bool:
    try:
        call(function, *arguments)
        return True
    except (_Refused, AttributeError):
        return False


def _has_device(devices: str) -> bool:
    """Returns whether Linux lists an NVIDIA display device, with or without a driver."""
    for folder in glob.glob(os.path.join(devices, "*")):
        try:
            with open(os.path.join(folder, "vendor"), encoding="ascii") as vendor:
                if vendor.read().strip() != "0x10de":
                    continue
            with open(os.path.join(folder, "class"), encoding="ascii") as kind:
                if kind.read().startswith("0x03"):
                    return True
        except OSError:
            continue
    return False


if __name__ == "__main__":
    asks_use = sys.argv[1:2] == ["--use"]
    print(json.dumps(_ask_use(sys.argv[2:]) if asks_use else _ask_library(sys.argv[1:])))
