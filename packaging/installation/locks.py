"""The locks that each command needs, and their digests."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from installation.places import Places

# The locks that a lock contains, so that the app's start after a test run has nothing to install.
INCLUDES = {"dev.txt": ("app.txt",), "gpu.txt": ("app.txt", "dev.txt")}

LOCKS_FOR = {
    "run": ("app.txt", "models.txt"),
    "test": ("dev.txt", "models.txt", "models-dev.txt"),
    # These step KAME's own code on the processor, and need its packages with or without a card.
    "test --all": ("dev.txt", "gpu.txt", "models.txt", "models-dev.txt"),
}
LOCKS_FOR["setup"] = LOCKS_FOR["run"]

TESTS = ("test", "test --all")
"""The commands that need the tests' packages. What a graphics card needs is none of their business."""


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def wanted_locks(places: Places, command: str) -> dict[str, str]:
    """Return the digests of the locks that a command needs, in the order in which to install them."""
    names = ["uv.txt", *LOCKS_FOR[command]]
    return {name: digest(places.locks / name) for name in names}


def split_torch(lock: str) -> tuple:
    """Split a lock into the lock without torch, and torch's own pin."""
    blocks = re.split(r"(?m)^(?=[A-Za-z0-9])", lock)
    torch = [block for block in blocks if re.match(r"torch==", block)]
    if len(torch) != 1:
        raise ValueError("The GPU lock does not pin torch exactly once.")
    pin = re.match(r"torch==[^\s;\\]+", torch[0])
    assert pin is not None
    return "".join(block for block in blocks if block is not torch[0]), pin.group(0)
