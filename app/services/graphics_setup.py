"""Install what an NVIDIA card needs, by the launcher that the app was installed with.

The launcher runs as a child, which builds a new environment beside the one that runs. It says what it does, one JSON
object a line, and stops when its standard input is closed, also by the end of this process.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from app.platform import nvidia
from app.platform.children import end_child, killed_after, quiet_child, start_lasting
from app.platform.installation import CHECKOUT, WHEEL, card_command, installed
from app.services.graphics_views import GraphicsOffer
from app.session.errors import UserError

STATUS_SECONDS = 40.0
"""A driver that has to wake its card takes a few seconds, and is asked at most twice for ten."""
CANCELLED = 130
STOPPED = (
    "Stopped. What was fetched is kept for another try, which goes on from there; “kame-desktop card remove” frees its "
    "room."
)
AGAIN = "Try again; if it stays so, install KAME Desktop again."


class GraphicsSetup:
    """See `app.services.graphics_views.GraphicsDesk`. `root`: where the program lies, for tests."""

    def __init__(self, root: Path | None = None, kind: str = "") -> None:
        self._root = root or Path(__file__).resolve().parents[2]
        self._kind = kind or installed().kind
        self._restarter: subprocess.Popen[bytes] | None = None

    def offer(self) -> GraphicsOffer | None:
        """See `GraphicsDesk.offer`."""
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
        """See `GraphicsDesk.install`."""
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
            raise UserError(problem or f"The set-up ended in an unexpected way. {AGAIN}")

    def restart(self) -> None:
        """See `GraphicsDesk.restart`."""
        # Its input is held open by this process and nobody else, and so ends with it.
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

    def _launched(self, *words: str) -> Any:
        return _Ended(
            subprocess.Popen(
                self._command("--report", *words),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                **quiet_child(),
            )
        )

    def _command(self, *words: str) -> list[str]:
        launcher = self._root / "packaging" / "launcher.py"
        # Not the environment's own Python: that one would be in use where it is to be replaced.
        python = getattr(sys, "_base_executable", None) or sys.executable
        return [python, "-sE", str(launcher), *words]


class _Ended:
    """A child that is ended on the way out."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._child = child

    def __enter__(self) -> subprocess.Popen[bytes]:
        return self._child

    def __exit__(self, *_: object) -> None:
        end_child(self._child, 15.0)


def _reports(child: subprocess.Popen[bytes]) -> Iterator[dict[str, Any]]:
    """Yield what the launcher says, until it has ended."""
    assert child.stdout is not None
    for line in child.stdout:
        try:
            said = json.loads(line.decode("utf-8"))
        except ValueError:
            continue
        if isinstance(said, dict):
            yield said


def _close_when(child: subprocess.Popen[bytes], cancelled: threading.Event, ended: threading.Event) -> None:
    """Close the child's input when it is to stop."""
    assert child.stdin is not None
    while not ended.is_set():
        if cancelled.wait(0.1):
            with contextlib.suppress(OSError):  # it may have ended by itself
                child.stdin.close()
            return


def _progress_words(said: dict[str, Any]) -> str:
    done, total = said.get("bytes") or 0, said.get("of") or 0
    return f"{said['step']}: {done / 1e9:.1f} of {total / 1e9:.1f} GB" if total else f"{said['step']} …"
