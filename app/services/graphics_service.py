"""Installer for the packages that an NVIDIA card requires, based on the launcher that installed the app.

The launcher runs as a child process and builds a new environment next to the current one. It reports its progress as
one JSON object per line, and stops when its standard input is closed, which also happens when this process exits.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from app.platform import nvidia
from app.platform.children import end_child, killed_after, quiet_child, start_lasting
from app.platform.installation import CHECKOUT, WHEEL, card_command, installed
from app.session.control import UserError
from app.untrusted.json_text import read_json
from app.untrusted.limits import SMALL_FILE, Refused

STATUS_SECONDS = 40.0
"""Timeout for the launcher's status report. A driver may take seconds to wake the card; the launcher queries it at most
twice, for up to ten seconds each time."""
END_SECONDS = 15.0
CANCELLED = 130
STOPPED = (
    "Stopped. What was downloaded is kept, and another try continues from there; “kame-desktop card remove” frees its "
    "disk space."
)
AGAIN = "Try again; if it still fails, install KAME Desktop again."

GraphicsState = Literal["offered", "waiting", "by hand"]
"""`offered`: can be installed from the app; `waiting`: installed, takes effect on the next start; `by hand`: the user
must run a command."""


@dataclass(frozen=True, slots=True)
class GraphicsOffer:
    """The packages that still have to be installed for a card. Sizes are in bytes, 0 if unknown.

    - `sentence`: a user-facing description.
    - `download`, `room`: the download size and the disk space required; `estimated` if they are approximate.
    - `free`: the free disk space.
    - `command`: the shell command that installs the packages.
    """

    state: GraphicsState
    sentence: str
    download: int = 0
    room: int = 0
    free: int = 0
    estimated: bool = False
    command: str = ""


class GraphicsService:
    """The installer for graphics card packages. All methods except `restart` block.

    `root`, `kind`: the app's folder and the kind of installation, detected by default.
    """

    def __init__(self, root: Path | None = None, kind: str = "") -> None:
        self._root = root or Path(__file__).resolve().parents[2]
        self._kind = kind or installed().kind
        self._restarter: subprocess.Popen[bytes] | None = None

    def offer(self) -> GraphicsOffer | None:
        """Returns what can be installed; None if no card is suitable for KAME, or if nothing is missing."""
        if self._kind == WHEEL:
            return self._offer_of_wheel()
        status = self._status()
        state = status.get("state")
        if state == "waiting":
            return GraphicsOffer("waiting", status["sentence"])
        if state != "offered":
            return None
        return GraphicsOffer(
            "by hand" if self._kind == CHECKOUT else "offered",
            status["sentence"],
            status["download"],
            status["room"],
            status["free"],
            status["estimated"],
            card_command(),
        )

    def install(self, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        """Downloads and installs the packages. They take effect the next time the app starts.

        `report` is called with a status message and the fraction done, or -1 if unknown. Raises UserError on failure or
        cancellation.
        """
        try:
            self._install(report, cancelled)
        except OSError as error:
            raise UserError(f"The set-up could not be started ({error}). {AGAIN}") from error

    def _install(self, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        problem = ""
        with self._launched("card", "install") as child:
            ended = threading.Event()
            watcher = threading.Thread(target=_close_when, args=(child, cancelled, ended), daemon=True)
            watcher.start()
            try:
                for said in _reports(child):
                    if "step" in said:
                        report(_progress_words(said), -1.0 if said["fraction"] is None else said["fraction"])
                    elif "problem" in said:
                        parts = said["problem"]
                        problem = " ".join(parts[name] for name in ("happened", "meaning", "remedy"))
                code = child.wait()
            finally:
                ended.set()
                watcher.join()
        if code == CANCELLED or (code and cancelled.is_set()):
            raise UserError(STOPPED)
        if problem or code:
            raise UserError(problem or f"The set-up ended unexpectedly. {AGAIN}")

    def restart(self) -> None:
        """Schedules a restart of the app for when this process exits. Raises UserError if that fails."""
        # Only this process holds the child's stdin open, so it closes when this process exits.
        try:
            self._restarter = start_lasting(
                self._command("restart"), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        except OSError as error:
            raise UserError(f"KAME could not be restarted ({error}). Close it and start it again.") from error

    def _offer_of_wheel(self) -> GraphicsOffer | None:
        driver = nvidia.look()
        card = nvidia.best_card(driver) if driver is not None and not nvidia.obstacle(driver) else None
        if card is None:
            return None
        sentence = (
            f"{card.name} with {nvidia.gigabytes(card.total)} GB is here. KAME can run on it: what it needs (torch, "
            "several GB) isn't installed."
        )
        return GraphicsOffer("by hand", sentence, command=card_command())

    def _status(self) -> dict[str, Any]:
        try:
            with self._launched("card", "status") as child, killed_after(child, STATUS_SECONDS):
                return next((said["card"] for said in _reports(child) if "card" in said), {})
        except OSError:
            return {}

    @contextlib.contextmanager
    def _launched(self, *words: str) -> Iterator[subprocess.Popen[bytes]]:
        """Runs the launcher with these arguments, terminating it when the block exits. Raises OSError."""
        child: subprocess.Popen[bytes] = subprocess.Popen(
            self._command("--report", *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            **quiet_child(network=True),
        )
        try:
            yield child
        finally:
            end_child(child, END_SECONDS)

    def _command(self, *words: str) -> list[str]:
        launcher = self._root / "packaging" / "launcher.py"
        # The environment's own Python can't be used, since the environment is about to be replaced.
        python = getattr(sys, "_base_executable", None) or sys.executable
        return [python, "-sE", str(launcher), *words]


def _reports(child: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """Yields the launcher's reports until it exits, skipping malformed lines."""
    assert child.stdout is not None
    while line := child.stdout.readline(SMALL_FILE.bytes + 1):
        with contextlib.suppress(Refused):
            yield read_json(line, SMALL_FILE)


def _close_when(child: subprocess.Popen[bytes], cancelled: threading.Event, ended: threading.Event) -> None:
    """Closes the child's standard input once `cancelled` is set; returns without doing so once `ended` is set."""
    assert child.stdin is not None
    while not ended.is_set():
        if cancelled.wait(0.1):
            with contextlib.suppress(OSError):  # the child may have exited already
                child.stdin.close()
            return


def _progress_words(said: dict[str, Any]) -> str:
    done, total = said.get("bytes") or 0, said.get("of") or 0
    return f"{said['step']}: {done / 1e9:.1f} of {total / 1e9:.1f} GB" if total else f"{said['step']} …"
