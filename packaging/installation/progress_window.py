"""Starts KAME Desktop from a menu, with a small progress window if it has to be set up first.

    progress_window.py [arguments of the app]

Runs the launcher and reads its reports, one JSON object per line. Shows a Tk window if Python has Tk, otherwise a
zenity window or desktop notifications. Closing the window cancels the set-up; the next start resumes it.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
if str(HERE.parent) not in sys.path:
    sys.path.append(str(HERE.parent))

from installation import system_parts  # noqa: E402
from installation.problems import USER_CAN_FIX  # noqa: E402
from installation.steps import CANCELLED  # noqa: E402

SECONDS_UNTIL_THE_APP_SHOWS = 2.5

TITLE = "KAME Desktop"
EXPLANATION = "KAME Desktop is being set up. It starts as soon as that is done."
ICON = HERE.parents[1] / "resources" / "icons" / "kame-64.png"
WIDTH = 540
PAPER, INK, ACCENT = "#f4f6f7", "#1c2b2e", "#0b7486"


def words_of(problem: Mapping[str, Any]) -> str:
    """Returns the parts of a reported problem as one text, separated by empty lines."""
    return "\n\n".join(problem[part] for part in ("happened", "meaning", "remedy") if problem.get(part))


def amount_of(report: Mapping[str, Any]) -> str:
    """Returns the amount done as text, such as "310 of 1,240 MB", or an empty string if it is unknown."""
    done, total = report.get("bytes") or 0, report.get("of") or 0
    return f"{done / 10**6:,.0f} of {total / 10**6:,.0f} MB" if total else ""


class View:
    """The interface of all views; also the fallback if no other view is available, which shows no progress."""

    def show(self, report: Mapping[str, Any]) -> None:
        """Shows a report that contains a step or a message."""

    def is_open(self) -> bool:
        """Processes pending events and returns whether the view is still open; closing it cancels the set-up."""
        return True

    def close(self) -> None:
        """Closes the view."""

    def ask_to_retry(self, problem: Mapping[str, Any]) -> bool:
        """Shows a problem and returns whether the user wants to retry."""
        print(words_of(problem))
        return False


class TkView(View):
    """A Tk window. The constructor raises ImportError if Tk is not installed, or TclError if there is no display."""

    def __init__(self) -> None:
        import tkinter
        from tkinter import ttk

        self._root = root = tkinter.Tk(className=TITLE)
        self._open = True
        root.title(TITLE)
        root.resizable(False, False)
        root.protocol("WM_DELETE_WINDOW", self._cancel)
        self._icon = tkinter.PhotoImage(master=root, file=str(ICON))
        root.iconphoto(True, self._icon)
        style = ttk.Style(root)
        style.theme_use("clam")
        style.configure(".", background=PAPER, foreground=INK)
        style.configure("TProgressbar", background=ACCENT, lightcolor=ACCENT, darkcolor=ACCENT, troughcolor=PAPER)
        root.configure(background=PAPER)
        self._frame = frame = ttk.Frame(root, padding=20)
        frame.grid()
        ttk.Label(frame, image=self._icon).grid(row=0, column=0, rowspan=4, padx=(0, 18), sticky="n")
        self._heading = ttk.Label(frame, text=EXPLANATION, wraplength=WIDTH)
        self._heading.grid(row=0, column=1, sticky="w")
        self._step = ttk.Label(frame, wraplength=WIDTH)
        self._step.grid(row=1, column=1, sticky="w", pady=(10, 6))
        self._bar = ttk.Progressbar(frame, length=WIDTH, maximum=1.0)
        self._bar.grid(row=2, column=1, sticky="we")
        self._amount = ttk.Label(frame)
        self._amount.grid(row=3, column=1, sticky="w", pady=(6, 0))
        self._button = ttk.Button(frame, text="Cancel", command=self._cancel)
        self._button.grid(row=4, column=1, sticky="e", pady=(14, 0))
        root.eval(f"tk::PlaceWindow {root} center")

    def _cancel(self) -> None:
        self._open = False
        self.close()

    def show(self, report: Mapping[str, Any]) -> None:
        if "say" in report:
            self._heading["text"] = f"{EXPLANATION} {report['say']}"
            return
        fraction = report.get("fraction")
        if self._step["text"] != report["step"]:
            self._step["text"] = report["step"]
            self._bar.stop()
            if fraction is None:
                self._bar.configure(mode="indeterminate")
                self._bar.start(20)
        if fraction is not None:
            self._bar.stop()
            self._bar.configure(mode="determinate", value=fraction)
        self._amount["text"] = amount_of(report)

    def is_open(self) -> bool:
        if self._open:
            self._root.update()
        return self._open

    def close(self) -> None:
        if self._root is not None:
            self._root.destroy()
            self._root = None

    def ask_to_retry(self, problem: Mapping[str, Any]) -> bool:
        from tkinter import ttk

        chosen = []
        self._heading["text"] = words_of(problem)
        for part in (self._step, self._bar, self._amount):
            part.grid_remove()
        self._button.configure(text="Close", command=lambda: chosen.append(False))
        again = ttk.Button(self._frame, text="Try again", command=lambda: chosen.append(True))
        again.grid(row=4, column=1, sticky="w", pady=(14, 0))
        self._root.protocol("WM_DELETE_WINDOW", lambda: chosen.append(False))
        while not chosen:
            self._root.after(50, lambda: None)
            self._root.tk.dooneevent()
        self.close()
        return chosen[0]


class ZenityView(View):
    """A zenity window. zenity reads percentages and status text from its standard input."""

    def __init__(self) -> None:
        command = ["zenity", "--progress", "--title", TITLE, "--text", EXPLANATION, "--width", str(WIDTH)]
        self._child = subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def show(self, report: Mapping[str, Any]) -> None:
        text = " \\n".join(filter(None, (report.get("step") or report.get("say"), amount_of(report))))
        fraction = report.get("fraction")
        # zenity would close its window at 100.
        lines = [f"# {text}"] + ([f"{min(99, fraction * 100):.0f}"] if fraction is not None else [])
        try:
            self._child.stdin.write("".join(f"{line}\n" for line in lines).encode())  # type: ignore[union-attr]
            self._child.stdin.flush()  # type: ignore[union-attr]
        except OSError:
            pass  # the window was closed, as `is_open` will report

    def is_open(self) -> bool:
        return self._child.poll() is None

    def close(self) -> None:
        self._child.terminate()
        self._child.wait()

    def ask_to_retry(self, problem: Mapping[str, Any]) -> bool:
        self.close()
        command = [
            "zenity",
            "--question",
            "--no-markup",
            "--title",
            TITLE,
            "--width",
            str(WIDTH),
            "--text",
            words_of(problem),
            "--ok-label",
            "Try again",
            "--cancel-label",
            "Close",
        ]
        return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0


class NotificationView(View):
    """Desktop notifications, one for each step and one for a problem."""

    def __init__(self) -> None:
        self._said = ""

    def show(self, report: Mapping[str, Any]) -> None:
        text = report.get("step") or report.get("say") or ""
        if text != self._said:
            self._said = text
            self._notify("normal", text)

    def ask_to_retry(self, problem: Mapping[str, Any]) -> bool:
        self._notify("critical", words_of(problem))
        return False

    def _notify(self, urgency: str, text: str) -> None:
        command = ["notify-send", "--app-name", TITLE, "--urgency", urgency, "--icon", str(ICON), TITLE, text]
        subprocess.run(command, check=False, stderr=subprocess.DEVNULL)


def make_view() -> View:
    """Returns the best view that works on this desktop."""
    if os.environ.get("DISPLAY"):
        try:
            return TkView()
        except Exception:  # no tkinter, no Tk or no display: the exception differs
            pass
    if shutil.which("zenity"):
        return ZenityView()
    return NotificationView() if shutil.which("notify-send") else View()


class Launcher:
    """The launcher as a child process. `reports`: its reports, followed by None when its output ends."""

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
        """Returns the next report: an empty one if none arrives within `seconds`, or None if the output has ended."""
        try:
            return self.reports.get(timeout=seconds)
        except queue.Empty:
            return {}

    def cancel(self) -> None:
        """Cancels the set-up and waits until the launcher has exited."""
        self._child.stdin.close()  # type: ignore[union-attr]
        self.wait()

    def wait(self) -> int:
        """Waits until the launcher has exited; returns its exit code."""
        code = self._child.wait()
        self._child.stdin.close()  # type: ignore[union-attr]
        self._reader.join()
        return code


def start(arguments: list[str]) -> int:
    """Starts the app, retrying as often as the user wants; returns the exit code."""
    while True:
        launcher = Launcher(arguments)
        problem = follow(launcher)
        if problem is None:
            return launcher.wait()
        if problem == "cancelled":
            return CANCELLED
        launcher.wait()
        lacking = system_parts.sentence()
        if lacking:
            problem = {**problem, "remedy": lacking}
        if not make_view().ask_to_retry(problem):
            return USER_CAN_FIX


def follow(launcher: Launcher) -> Any:
    """Shows the launcher's reports until it exits. Returns None on success, the reported problem, or "cancelled"."""
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
