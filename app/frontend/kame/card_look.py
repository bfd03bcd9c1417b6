"""What torch finds of the graphics card, asked in a child process: importing torch takes seconds and memory."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass

from app.platform.children import end_child, killed_after, python_module_command, quiet_child
from app.untrusted.json_text import read_json
from app.untrusted.limits import SMALL_FILE, Refused

SECONDS = 90.0
"""How long torch may take. Its libraries have several GB, which a cold disk delivers slowly."""


@dataclass(frozen=True, slots=True)
class CardLook:
    """What torch finds.

    - `free`, `total`: the card's memory in bytes, 0 if torch can't use a card.
    - `bandwidth`: of a copy within this memory, in bytes per second; 0 if it couldn't be measured.
    - `trouble`: a clause that says why torch can't use a card, or empty.
    - `unmeasured`: a clause that says why there is no `bandwidth`, or empty.
    """

    free: int = 0
    total: int = 0
    bandwidth: float = 0.0
    trouble: str = ""
    unmeasured: str = ""


def look_with_torch(module: str = "app.frontend.kame.engine.look", seconds: float = SECONDS) -> CardLook:
    """Asks torch, within `seconds`. `module`: the one that the child runs."""
    try:
        child = subprocess.Popen(
            python_module_command(module),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **quiet_child(),
        )
    except OSError as error:
        return CardLook(trouble=f"its process could not be started: {error.strerror}")
    assert child.stdout is not None
    try:
        with killed_after(child, seconds):
            line = child.stdout.readline(SMALL_FILE.bytes + 1)
        return CardLook(**read_json(line, SMALL_FILE))
    except (Refused, TypeError):
        return CardLook(trouble="torch could not be loaded, or gave no answer")
    finally:
        child.kill()
        end_child(child)
