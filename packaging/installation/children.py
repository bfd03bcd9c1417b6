"""Start child processes and end them when this program is asked to stop."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from typing import Any

CANCELLED = 130
"""The exit code after Ctrl-C, and of a set-up that the user has cancelled."""


class Stopped(BaseException):
    """The system asked this program to end (SIGTERM, SIGHUP)."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def reason_of(number: int) -> BaseException:
    """What a signal raises: KeyboardInterrupt for Ctrl-C, Stopped for a polite end."""
    return KeyboardInterrupt() if number == signal.SIGINT else Stopped(number)


class Stops:
    """What Ctrl-C and a polite end of this program do: raise their reason, but never while a child is being started.

    A child that runs already while `Popen` hasn't returned yet would be left behind.
    """

    def __init__(self) -> None:
        self.starting = False
        self.held: int | None = None

    def __call__(self, number: int, _frame: object) -> None:
        if self.starting:
            self.held = number
        else:
            raise reason_of(number)


stop_on_signal = Stops()


def start_child(command: Sequence[object], **options: Any) -> subprocess.Popen:
    """Start a child. A signal that comes meanwhile ends it and then this program."""
    stop_on_signal.starting, stop_on_signal.held, child = True, None, None
    try:
        child = subprocess.Popen(command, **options)
    finally:
        stop_on_signal.starting = False
        if stop_on_signal.held is not None:
            reason = reason_of(stop_on_signal.held)
            if child is not None:
                end_child(child, reason)
            raise reason
    return child


def end_child(child: subprocess.Popen, reason: BaseException) -> None:
    """End a child politely, then firmly. Ctrl-C has reached it already: that one gets a moment first."""
    patience = ((lambda: None, 10),) if isinstance(reason, KeyboardInterrupt) else ()
    for ask, seconds in (*patience, (child.terminate, 5), (child.kill, 5)):
        ask()
        try:
            child.wait(timeout=seconds)
            return
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue
