"""What the system and the graphics card's driver tell of this machine. Knows nothing of the app; loads no library."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def memory_bytes() -> int:
    """The machine's memory; 0 when it can't be told."""
    if sys.platform == "win32":
        import ctypes

        kilobytes = ctypes.c_ulonglong()
        known = ctypes.windll.kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes))
        return kilobytes.value * 1024 if known else 0
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError):
        return 0


def has_nvidia_driver() -> bool:
    """Whether the driver of an NVIDIA card is installed."""
    return shutil.which("nvidia-smi") is not None


def nvidia_cards(*fields: str, seconds: float = 10.0) -> list[list[str]]:
    """What the driver tells of each NVIDIA card: `fields` as `nvidia-smi --query-gpu` names them, memory in MiB;
    nothing without a driver. Blocks: a driver that has to wake its card takes a few seconds. Raises OSError when it
    does not answer within `seconds`.
    """
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return []
    try:
        answer = subprocess.run(
            [tool, f"--query-gpu={','.join(fields)}", "--format=csv,noheader,nounits"],
            capture_output=True, text=True, timeout=seconds, check=True, stdin=subprocess.DEVNULL,
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        ).stdout  # fmt: skip
    except subprocess.SubprocessError as error:
        raise OSError(f"nvidia-smi does not answer: {error}") from error
    lines = (line for line in answer.splitlines() if line.strip())
    rows = [[part.strip() for part in line.rsplit(",", len(fields) - 1)] for line in lines]
    if any(len(row) != len(fields) for row in rows):
        raise OSError(f"nvidia-smi answers otherwise than asked: {answer[:200]}")
    return rows
