"""Find an NVIDIA graphics card."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping

GPU_FREE_BYTES = 12 * 10**9

GPU_LACKING = ("failed", "no room")


def has_nvidia_driver() -> bool:
    return shutil.which("nvidia-smi") is not None


def has_nvidia_card(env: Mapping[str, str]) -> bool:
    if not has_nvidia_driver():
        return False
    try:
        answer = subprocess.run(
            ["nvidia-smi", "-L"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env=dict(env), timeout=30, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and b"GPU" in answer.stdout


def gpu_settled(stamp: Mapping, use_gpu: bool, gpu_lock: str) -> bool:
    """Tell whether nothing is left to do for a graphics card, without asking its slow driver."""
    gpu = stamp.get("gpu", {})
    if not gpu:
        return False
    if not use_gpu:
        return True
    if gpu["state"] == "none":
        return gpu["driver"] == has_nvidia_driver()
    return gpu["state"] in ("installed", *GPU_LACKING) and gpu["lock"] == gpu_lock
