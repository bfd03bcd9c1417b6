"""How busy the machine is beside a bench, for figures that hold on an idle machine only."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import psutil

from app.diagnostics.tables import Progress, no_progress
from app.session.errors import UserError

HIGHEST_LOAD = 0.7
"""Load average of the last minute up to which the machine counts as idle."""
PATIENCE_SECONDS = 170.0
"""The load average takes this long to fall from 11 to 0.7 once nothing runs any more."""
POLL_SECONDS = 5.0


def load() -> float:
    """Returns the load average of the last minute."""
    return round(psutil.getloadavg()[0], 2)


def wait_until_idle(
    progress: Progress = no_progress,
    *,
    patience: float = PATIENCE_SECONDS,
    read_load: Callable[[], float] = load,
    sleep: Callable[[float], None] = time.sleep,
) -> float:
    """Waits until the load is low enough and returns it. Raises UserError if it stays too high."""
    for _ in range(int(patience / POLL_SECONDS)):
        if (now := read_load()) <= HIGHEST_LOAD:
            return now
        progress(f"the load is {now:.1f}; waiting until it is {HIGHEST_LOAD}")
        sleep(POLL_SECONDS)
    if (now := read_load()) <= HIGHEST_LOAD:
        return now
    raise UserError(
        f"The machine is busy (load {now:.1f}), so the figures would be of its other work. Close other programs, or "
        "measure all the same with --busy: then the table says how busy it was."
    )


class OtherWork:
    """Measures the processor time that other processes use from its creation on.

    All of the machine's work counts, time stolen by other virtual machines included, but for that of this process and
    its children.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._others = self._read()

    def cores(self) -> float:
        """Returns how many cores the others have kept busy, on average."""
        seconds = max(1e-3, time.monotonic() - self._began)
        return round(max(0.0, self._read() - self._others) / seconds, 3)

    def _read(self) -> float:
        machine = psutil.cpu_times()
        idle = machine.idle + getattr(machine, "iowait", 0.0)
        # The time of guests is part of `user` and `nice`.
        guests = getattr(machine, "guest", 0.0) + getattr(machine, "guest_nice", 0.0)
        own = 0.0
        process = psutil.Process()
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):  # it has just ended, and its parent has its time
                own += sum(one.cpu_times()[:4])  # with the children that have ended
        return float(sum(machine) - idle - guests - own)
