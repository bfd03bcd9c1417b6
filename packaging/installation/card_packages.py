"""Install what the models need on an NVIDIA graphics card, in a checkout."""

from __future__ import annotations

import shutil

from installation import card
from installation.locks import digest, split_torch
from installation.problems import ToolFailed, problem_of
from installation.setup import Setup
from installation.system import WINDOWS
from installation.torch_builds import torch_for_windows


def install_gpu(setup: Setup, use_gpu: bool) -> dict:
    """Install what an NVIDIA card needs, if there is one; return its state for the stamp. Never raises Problem."""
    state = {"driver": card.has_nvidia_driver(), "lock": digest(setup.places.locks / "gpu.txt")}
    if not use_gpu:
        return {**state, "state": "declined"}
    obstacle = card.obstacle() if state["driver"] else "none"
    if obstacle:
        if state["driver"]:
            setup.steps.say(f"{obstacle} The app starts on the embedded voice.")
        return {**state, "state": "none"}
    free = shutil.disk_usage(str(setup.places.root)).free
    if free < card.GPU_FREE_BYTES:
        setup.steps.say(
            f"A graphics card was found, but its part needs 12 GB of disk and {free / 10**9:.0f} GB are "
            "free: the app starts without it. Make room and run setup to add it."
        )
        return {**state, "state": "no room"}
    try:
        with setup.steps.step("Installing the graphics card's part (several GB)"):
            install_gpu_locks(setup)
    except ToolFailed as failure:
        setup.steps.say(str(problem_of("Installing the graphics card's part", failure, setup.places.log)))
        setup.steps.say("The app starts without it, on the embedded voice. Run setup to try again.")
        return {**state, "state": "failed"}
    return {**state, "state": "installed"}


def install_gpu_locks(setup: Setup) -> None:
    uv = str(setup.places.uv)
    if not WINDOWS:
        setup.install_lock(uv, "gpu.txt")
        return
    # The registry's torch for Windows has no CUDA: take all but torch by hash, then the build of the same version
    # that fits the driver, from torch's own index.
    text = (setup.places.locks / "gpu.txt").read_text(encoding="utf-8")
    partial = setup.places.venv / "gpu-without-torch.txt"
    partial.write_text(split_torch(text)[0], encoding="utf-8")
    setup.install_lock(uv, partial)
    setup.tool(uv, *torch_for_windows(setup.places.locks, setup.places.python, "auto"))
