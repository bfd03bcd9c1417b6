"""Run package tools for the steps of one set-up."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from installation.places import Places
from installation.steps import Steps

HASHED = ("--require-hashes", "--only-binary", ":all:")
"""Options of pip and uv that install nothing but wheels with the hashes of the locks."""


class Setup:
    """What all steps of one set-up share: folders, progress, environment variables and the held lock."""

    def __init__(self, places: Places, steps: Steps, env: Mapping[str, str], hold: int) -> None:
        self.places, self.steps, self.env, self.hold = places, steps, env, hold

    def tool(self, *command: object, **more: str) -> str:
        return self.steps.run(command, {**self.env, **more}, self.hold, self.places.root)

    def install_lock(self, uv: str, lock: str | Path) -> None:
        """Install exactly what a lock names, without resolving dependencies: locks are complete."""
        path = lock if isinstance(lock, Path) else self.places.locks / lock
        self.tool(uv, "pip", "install", "--python", self.places.python, *HASHED, "--no-deps", "-r", path)
