"""What this process holds: memory, threads, files, children."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from dataclasses import dataclass
from pathlib import Path

from app.platform.hardware import resident_bytes


@dataclass(frozen=True)
class Held:
    """What a process holds at one time. `files` and `children` are -1 where the system does not tell."""

    seconds: float
    turns: int
    megabytes: float
    threads: int
    tasks: int
    files: int
    children: int

    def more_than(self, other: Held) -> list[str]:
        return [
            name for name in ("threads", "tasks", "files", "children") if getattr(self, name) > getattr(other, name)
        ]


def held(seconds: float, turns: int) -> Held:
    """Returns what the process holds now; to be called in the running event loop."""
    gc.collect()
    files = children = -1
    if Path("/proc/self/fd").is_dir():
        files = len(os.listdir("/proc/self/fd"))
        children = len(Path(f"/proc/self/task/{os.getpid()}/children").read_text("ascii").split())
    tasks = len(asyncio.all_tasks())
    return Held(seconds, turns, resident_bytes() / 1e6, threading.active_count(), tasks, files, children)
