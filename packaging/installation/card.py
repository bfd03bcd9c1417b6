"""NVIDIA graphics cards: whether KAME can run on one, which torch build it needs, the build's size, and a test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from installation.handing_over import app_module
from installation.locks import Variant, for_card, installed_pins, read_sizes, split_torch
from installation.places import WINDOWS, InstalledPlaces, Places
from installation.problems import Problem, ToolFailed
from installation.steps import Steps

GPU_FREE_BYTES = 12 * 10**9

GPU_LACKING = ("failed", "no room")


def nvidia() -> ModuleType:
    """Returns the module `app/platform/nvidia.py`, loaded without importing the app."""
    return app_module("platform/nvidia")


def has_nvidia_driver() -> bool:
    """Returns whether an NVIDIA driver is installed, without loading it."""
    return nvidia().has_driver()


def obstacle() -> str:
    """Returns why KAME can't run on this machine's cards, or an empty string if it can. May take several seconds."""
    driver = nvidia().look()
    return "There is no NVIDIA card with a driver." if driver is None else nvidia().obstacle(driver)


def gpu_settled(stamp: Mapping, use_gpu: bool, gpu_lock: str) -> bool:
    """Returns whether the graphics card needs no further set-up. Doesn't query the driver, which is slow.

    `gpu_lock`: the digest of the current `gpu.txt`.
    """
    gpu = stamp.get("gpu", {})
    if not gpu:
        return False
    if not use_gpu:
        return True
    if gpu["state"] == "none":
        return gpu["driver"] == has_nvidia_driver()
    return gpu["state"] in ("installed", *GPU_LACKING) and gpu["lock"] == gpu_lock


def worth_another_try(gpu: Mapping) -> bool:
    """Returns whether a set-up that the user starts explicitly should try again to set up the card."""
    return gpu.get("state") in GPU_LACKING or (gpu.get("state") == "none" and bool(gpu.get("driver")))


class TorchBuild(NamedTuple):
    """A build of torch: the name of its uv backend, and its CUDA version.

    `download` and `unpacked`: estimated sizes in bytes, for builds that `sizes.json` doesn't list; otherwise 0.
    """

    backend: str
    cuda: tuple
    download: int = 0
    unpacked: int = 0

    @property
    def words(self) -> str:
        """The user-facing name of the build."""
        return "torch for CUDA " + ".".join(map(str, self.cuda))


# PyPI has no CUDA builds of torch for Windows, so these come from torch's own index. The sizes are estimates based on
# version 2.9. The build with the same CUDA version as on Linux is preferred if the driver supports it.
WINDOWS_BUILDS = (
    TorchBuild("cu128", (12, 8), 2_900_000_000, 5_000_000_000),
    TorchBuild("cu126", (12, 6), 2_600_000_000, 4_500_000_000),
)
NEWEST_FOR_CUDA_126 = (9, 0)
"""The highest compute capability that builds for CUDA 12.6 support (Hopper)."""


class Cost(NamedTuple):
    """Download size and installed size in bytes, 0 if unknown. `estimated`: whether they are approximate."""

    download: int
    unpacked: int
    estimated: bool


def locked_build(locks: Path) -> TorchBuild:
    """Returns the torch build for the CUDA version in the lock, which is used on Linux."""
    text = (locks / "card.txt").read_text(encoding="utf-8")
    cuda = re.search(r"(?m)^nvidia-cuda-runtime(?:-cu\d+)?==(\d+)\.(\d+)", text)
    if cuda is None:
        raise ValueError("The lock for a card names no CUDA runtime.")
    return TorchBuild("cu" + "".join(cuda.groups()), (int(cuda.group(1)), int(cuda.group(2))))


def choose_build(locks: Path, driver: Any) -> TorchBuild:
    """Returns the newest torch build that the driver supports; one of its cards must be able to run KAME."""
    if not WINDOWS:
        return locked_build(locks)
    newest, older = WINDOWS_BUILDS
    card = nvidia().best_card(driver)
    needs_newest = bool(card and card.capability and card.capability > NEWEST_FOR_CUDA_126)
    return newest if needs_newest or not driver.cuda or driver.cuda >= newest.cuda else older


def cost_of(places: Places, version: str, build: TorchBuild, there: Path | None) -> Cost:
    """Returns the size of those packages for a graphics card that aren't installed yet.

    - `version`: the Python version, such as `3.12`
    - `build`: the torch build for the card
    - `there`: the `site-packages` folder to check; None if there is none yet
    """
    installed = installed_pins(there)
    pins = pins_of(places.locks, for_card(build.backend).locks)
    torch = torch_pin(places.locks)
    known = read_sizes(places.locks, version)
    if torch not in known and not build.download:
        return Cost(0, 0, True)
    missing = [size for pin, size in known.items() if pin in pins and pin not in installed]
    download, unpacked = (sum(size[place] for size in missing) for place in (0, 1))
    if build.download and f"{torch}+{build.backend}" not in installed:
        download, unpacked = download + build.download, unpacked + build.unpacked
    return Cost(download, unpacked, bool(build.download))


def missing_pins(locks: Path, version: str, variant: Variant, there: Path | None) -> set[str]:
    """Returns the pins of packages that a variant requires on this system but that aren't installed.

    - `version`: the Python version, such as `3.12`
    - `there`: the `site-packages` folder to check; None if there is none yet
    """
    wanted = pins_of(locks, variant.locks) & set(read_sizes(locks, version))
    if WINDOWS and variant.backend:
        wanted.add(f"{torch_pin(locks)}+{variant.backend}")
    return wanted - installed_pins(there)


def torch_pin(locks: Path) -> str:
    """Returns the pinned torch version, as in `torch==2.9.1`."""
    return split_torch((locks / "card.txt").read_text(encoding="utf-8"))[1]


UNPROVEN = (
    "This version of the app has no hash of its own for torch on Windows: the download is verified only against the "
    "one that torch's own server names."
)
"""Said before the download of a build whose lock has no hash."""


def is_proven(locks: Path, backend: str) -> bool:
    """Returns whether the lock of a torch build for Windows has the hashes of its wheels."""
    lock = locks / f"torch-{backend}.txt"
    return lock.is_file() and "--hash=sha256:" in lock.read_text(encoding="utf-8")


def torch_for_windows(locks: Path, python: Path, backend: str) -> tuple:
    """Returns the uv arguments that install the locked version of torch with CUDA on Windows, from torch's own index.

    If the build's lock has hashes, they are enforced. `backend` may be `auto`.
    """
    options = ("--only-binary", ":all:", "--no-deps", "--torch-backend", backend, "--python", python)
    if is_proven(locks, backend):
        return ("pip", "install", "--require-hashes", *options, "-r", locks / f"torch-{backend}.txt")
    return ("pip", "install", *options, torch_pin(locks))


def pins_of(locks: Path, names: tuple) -> set[str]:
    """Returns all pins in these locks; on Windows without torch, which doesn't come from PyPI there."""
    found: set[str] = set()
    for name in names:
        found |= set(re.findall(r"(?m)^[A-Za-z0-9][\w.-]*==[^\s;\\]+", (locks / name).read_text(encoding="utf-8")))
    return {pin for pin in found if not (WINDOWS and pin.startswith("torch=="))}


NO_CARD_SEEN, WRONG_SUM, TOO_LATE = 3, 4, 5

# Runs in the environment. A timer thread exits the process if the driver hangs.
CHECK = """
import os, threading
stuck = threading.Timer(240, os._exit, [5])
stuck.daemon = True
stuck.start()
import torch, safetensors, sentencepiece
print("torch", torch.__version__, "CUDA", torch.version.cuda, flush=True)
if not torch.cuda.is_available():
    os._exit(3)
one = torch.ones(1000, device="cuda")
os._exit(0 if float((one + one).sum().cpu()) == 2000.0 else 4)
"""

MEANINGS = {
    NO_CARD_SEEN: "The packages are fine, but they can't use the card with its present driver.",
    WRONG_SUM: "The card has added two numbers wrongly.",
    TOO_LATE: "The card's driver did not answer within four minutes.",
}


class CardFailed(Problem):
    """Raised if the card doesn't work with the installed packages. `may_work`: whether another driver may help."""

    may_work = False


def check_card(places: InstalledPlaces, steps: Steps, env: Mapping[str, str], hold: int) -> None:
    """Adds two tensors on the card, using the new environment. Raises CardFailed if that fails."""
    try:
        with steps.step("Checking that the graphics card works"):
            steps.run([places.new.python, "-I", "-c", CHECK], env, hold, str(places.venv.parent))
    except ToolFailed as failure:
        problem = CardFailed(
            "The graphics card could not be used.",
            MEANINGS.get(failure.code, "torch does not start, or ends with an error on this card."),
            f"Install NVIDIA's newest driver and restart the machine, then try again. All output is in {places.log}.",
        )
        problem.may_work = failure.code in (NO_CARD_SEEN, TOO_LATE)
        raise problem from failure
