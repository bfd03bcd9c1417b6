"""Start child processes and end them when this program is asked to stop."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

CANCELLED = 130
"""The exit code after Ctrl-C, or when the user cancels a set-up."""


class Stopped(BaseException):
    """The system has asked this program to end (SIGTERM, SIGHUP)."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def reason_of(number: int) -> BaseException:
    """Return the exception for a signal: KeyboardInterrupt for Ctrl-C, else Stopped."""
    return KeyboardInterrupt() if number == signal.SIGINT else Stopped(number)


class SignalHandler:
    """Raises the exception of a signal, but not while a child is being started.

    A child that already runs while `Popen` hasn't returned yet would be left behind.
    """

    def __init__(self) -> None:
        self.starting = False
        self.held: int | None = None

    def __call__(self, number: int, _frame: object) -> None:
        if self.starting:
            self.held = number
        else:
            raise reason_of(number)


stop_on_signal = SignalHandler()


def catch_signals() -> None:
    """Let SIGINT, SIGTERM and SIGHUP raise their exceptions."""
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), stop_on_signal)


def start_child(command: Sequence[object], **options: Any) -> subprocess.Popen:
    """Start a child. A signal that arrives meanwhile ends the child, then this program."""
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
    """Terminate a child, and kill it if it doesn't end. After Ctrl-C, which it has received too, wait for it first."""
    patience = ((lambda: None, 10),) if isinstance(reason, KeyboardInterrupt) else ()
    for ask, seconds in (*patience, (child.terminate, 5), (child.kill, 5)):
        ask()
        try:
            child.wait(timeout=seconds)
            return
        except (subprocess.TimeoutExpired, KeyboardInterrupt):
            continue


def output_of(command: Sequence[str], env: Mapping[str, str], seconds: float) -> str | None:
    """Run a short command and return what it printed; None if it doesn't start, fails, or takes too long."""
    try:
        done = subprocess.run(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            timeout=seconds,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode("utf-8", "replace") if done.returncode == 0 else None
