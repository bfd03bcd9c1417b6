"""Makes a Python environment for a rival, from the lock with hashes that belongs to this app."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import platformdirs

from app.diagnostics.tables import Progress
from app.models.packages import package_tool
from app.platform.children import quiet_child
from app.platform.resources import resource
from app.research.benches.rivals.catalogue import Assistant
from app.session.errors import UserError


def python_of(assistant: Assistant, progress: Progress) -> Path:
    """The interpreter of a rival's environment, made if it is not there or of another lock. Raises UserError."""
    lock = resource("bench", "rivals", assistant.lock)
    folder = platformdirs.user_cache_path("kame-desktop", appauthor=False) / "rivals" / assistant.name
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    mark, digest = folder / "lock.sha256", hashlib.sha256(lock.read_bytes()).hexdigest()
    if python.exists() and mark.exists() and mark.read_text("utf-8") == digest:
        return python
    progress(f"{assistant.name}: its environment is made, which fetches packages")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", "--clear", str(folder)], assistant)
    install = [*package_tool(str(python)), "--require-hashes", "-r", str(lock)]
    _run(install, assistant)
    mark.write_text(digest, "utf-8")
    return python


def _run(command: list[str], assistant: Assistant) -> None:
    # Elsewhere than in a checkout, whose settings for the package tool are for the app's own packages.
    elsewhere = {"cwd": platformdirs.user_cache_path("kame-desktop", appauthor=False), **quiet_child(network=True)}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **elsewhere
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise UserError(
            f"The environment of {assistant.name} could not be made ({lines[-1] if lines else 'no more is known'}). "
            "RealtimeSTT's PyAudio needs a compiler and portaudio19-dev; leave the assistant out with --assistants."
        )
