"""Find an NVIDIA graphics card with the app's own module."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from installation.app_modules import app_module

GPU_FREE_BYTES = 12 * 10**9

GPU_LACKING = ("failed", "no room")


def nvidia() -> ModuleType:
    """Return the app's module `nvidia`."""
    return app_module("platform/nvidia")


def has_nvidia_driver() -> bool:
    """Tell whether a driver is installed, without calling it."""
    return nvidia().has_driver()


def obstacle() -> str:
    """Say why KAME can't run on a card of this machine; empty if it can. Takes seconds."""
    driver = nvidia().look()
    return "There is no NVIDIA card with a driver." if driver is None else nvidia().obstacle(driver)


def gpu_settled(stamp: Mapping, use_gpu: bool, gpu_lock: str) -> bool:
    """Tell whether nothing is left to do for a graphics card, without calling its slow driver."""
    gpu = stamp.get("gpu", {})
    if not gpu:
        return False
    if not use_gpu:
        return True
    if gpu["state"] == "none":
        return gpu["driver"] == has_nvidia_driver()
    return gpu["state"] in ("installed", *GPU_LACKING) and gpu["lock"] == gpu_lock


def worth_another_try(gpu: Mapping) -> bool:
    """Tell whether a set-up by the user should try the card again."""
    return gpu.get("state") in GPU_LACKING or (gpu.get("state") == "none" and bool(gpu.get("driver")))
