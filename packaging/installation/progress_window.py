"""Start KAME Desktop from a menu, and show the progress in a small window if it has to be set up first.

    progress_window.py [arguments of the app]

Runs the launcher and reads its reports, one JSON object per line. The window is Tk's if Python has it, else zenity's;
else there are notifications. Closing the window cancels the set-up, which the next start continues.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:
    sys.path.append(str(HERE.parent))

from installation import system_check  # noqa: E402
from installation.children import CANCELLED  # noqa: E402
from installation.problems import USER_CAN_FIX  # noqa: E402
from installation.progress_views import View, make_view  # noqa: E402

SECONDS_UNTIL_THE_APP_SHOWS = 2.5


class Launcher:
    """The launcher as a child process. Its reports arrive in a queue; the last one is None."""

    def __init__(self, arguments: list[str]) -> None:
        command = [sys.executable, "-sE", str(HERE.parent / "launcher.py"), "--report", "start", *arguments]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.reports: queue.Queue[Any] = queue.Queue()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with self._child.stdout as stream:  # type: ignore[union-attr]
            for line in stream:
                try:
                    self.reports.put(json.loads(line.decode("utf-8")))
                except ValueError:
                    continue
        self.reports.put(None)

    def next_report(self, seconds: float) -> Any:
        """Return the next report, or an empty one if none comes in time."""
        try:
            return self.reports.get(timeout=seconds)
        except queue.Empty:
            return {}

    def cancel(self) -> None:
        """Stop the set-up and wait for its end."""
        self._child.stdin.close()  # type: ignore[union-attr]
        self.wait()

    def wait(self) -> int:
        """Wait for the end of the launcher; return its exit code."""
        code = self._child.wait()
        self._child.stdin.close()  # type: ignore[union-attr]
        self._reader.join()
        return code


def start(arguments: list[str]) -> int:
    """Start the app; return the launcher's exit code."""
    while True:
        launcher = Launcher(arguments)
        problem = follow(launcher)
        if problem is None:
            return launcher.wait()
        if problem == "cancelled":
            return CANCELLED
        launcher.wait()
        lacking = system_check.sentence()
        if lacking:
            problem = {**problem, "remedy": lacking}
        if not make_view().ask_to_retry(problem):
            return USER_CAN_FIX


def follow(launcher: Launcher) -> Any:
    """Show the launcher's reports until it has ended. Return its problem, "cancelled", or None after success."""
    view: View | None = None
    problem: Any = None
    closes_at = float("inf")
    while True:
        report = launcher.next_report(0.05)
        if report is None:
            break
        if "step" in report or "say" in report:
            view = view or make_view()
            view.show(report)
        elif "problem" in report:
            problem = report["problem"]
        elif "ready" in report and view is not None:
            view.show({"step": "Starting KAME Desktop"})
            closes_at = time.monotonic() + SECONDS_UNTIL_THE_APP_SHOWS
        if view is not None and (problem or time.monotonic() > closes_at):
            view.close()
            view = None
        if view is not None and not view.is_open():
            if closes_at == float("inf"):
                launcher.cancel()
                return "cancelled"
            view = None
    if view is not None:
        view.close()
    return problem


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    sys.exit(start(sys.argv[1:]))
