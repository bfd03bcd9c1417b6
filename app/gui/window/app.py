"""Runs the window on one event loop for Qt and asyncio, from the first picture to the last task's end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.demo.base import DemoOrder
from app.diagnostics.logs import watch_exceptions
from app.gui.controllers.context import WindowServices
from app.gui.design.theme import apply_theme
from app.gui.shell.instance import Instance
from app.gui.widgets.translation import said, use_language
from app.gui.window.daemon_executor import DaemonExecutor
from app.gui.window.main_window import MainWindow
from app.gui.window.start_report import StartReport
from app.platform import single_instance
from app.platform.installation import resource
from app.session.control import SessionFactory, UserError
from app.settings.declarations import Settings
from app.settings.paths import APP_ID, APP_NAME

if TYPE_CHECKING:
    from app.history.store import HistoryStore

DeviceWatcher = Callable[[Callable[[], None]], AbstractContextManager[object]]
"""Inside its `with` the given function is called, on any thread, when devices have come or gone."""

CLOSE_SECONDS = 1.0
SIGNAL_POLL_MS = 200

_log = logging.getLogger(__name__)

__all__ = ["WindowServices", "leave", "run_window"]


def run_window(
    factory: SessionFactory,
    settings: Settings,
    services: WindowServices,
    *,
    history: Callable[[], HistoryStore] | None = None,
    order: DemoOrder | None = None,
    watch_devices: DeviceWatcher = lambda _: nullcontext(),
    instance: Instance | None = None,
    report: StartReport | None = None,
    hidden: bool = False,
    argv: Sequence[str],
) -> int:
    """Shows the window and runs until it is closed; returns the exit code. `hidden`: it starts in the tray, or
    minimised.

    `services.list_devices` is called on a background thread. `instance`: what other processes reach the window through,
    from the start to its closing; where this user's window is there already, that one is brought forward instead
    (UserError with a sentence if it doesn't answer). `history` opens the user's conversations, once it is known that
    this is the only window on them. `order`: the demo to begin with. `report`: is told how far the start has come.
    Threads that still load when the window is closed are daemons and are left behind.
    """
    app = QApplication.instance() or QApplication(list(argv) or [APP_NAME])
    assert isinstance(app, QApplication)
    QCoreApplication.setApplicationName(APP_NAME)
    QApplication.setApplicationDisplayName("KAME")
    QApplication.setDesktopFileName(APP_ID)
    use_language(app, settings.window_language)  # before anything speaks
    QApplication.setWindowIcon(QIcon(str(resource("icons", "kame.svg"))))
    if instance is not None:  # behind the application: its sockets need what dispatches Qt's events
        mine, sentence = _bring_forward_or_be(instance, hidden)
        if not mine:
            if sentence:
                raise UserError(sentence)
            return 0
        settings.notice = " ".join(filter(None, (settings.notice, sentence)))
    # The loop ends when the session has ended, not when the window has gone.
    QApplication.setQuitOnLastWindowClosed(False)
    loop = QEventLoop(app)
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    unwatch = watch_exceptions(loop)
    try:
        apply_theme(app, settings.theme, settings.font_scale, settings.accent)
        if history is not None:
            services.history = history()
        window = MainWindow(factory, settings, services)
        if report is not None:
            report.watch(window)
        if instance is not None:
            instance.raised.connect(window.come_forward)
            instance.commanded.connect(window.talk.obey)
            window.closing.connect(instance.close)  # a new start works while this one still ends
        closed = asyncio.Event()
        window.closing.connect(closed.set)  # at once: it may be closed before it is shown
        task = loop.create_task(_live(window, closed, order, hidden), name="window")
        with (
            watch_devices(window.sound.devices_changed),
            _interruptible(window),
            _generators_closed(loop),
        ):
            while not task.done():
                try:
                    loop.run_until_complete(task)
                except RuntimeError:
                    if task.done():
                        raise
                    window.close()  # the desktop told the application to quit: end in good order
        loop.run_until_complete(loop.shutdown_asyncgens())
        window.deleteLater()
        return 0
    finally:
        unwatch()
        asyncio.set_event_loop(None)
        loop.close()


def _bring_forward_or_be(instance: Instance, hidden: bool = False) -> tuple[bool, str]:
    """Whether this process is to show the window, and a sentence for the user, if there is one to say.

    It is not where this user's window is there already: that one has been brought forward, unless this start is a
    `hidden` one.
    """
    silent = _tr(
        "KAME is running already, but its window did not answer. Wait a moment and start it again; if that does "
        "not help, end it in the system's list of programs first."
    )
    for _ in range(2):
        try:
            if instance.listen():
                return True, ""
        except OSError as error:
            sentence = _tr(
                "Commands like “{0} ptt toggle” can't reach this window ({1}). All else works; start the app again to "
                "try again."
            )
            return True, sentence.format(single_instance.command(), error.strerror or error)
        if hidden:
            return False, ""
        try:
            single_instance.tell("raise")
            return False, ""
        except single_instance.NotRunning:
            continue  # it was just closing: its place may be free by now
        except (single_instance.NoAnswer, OSError):
            break
    return False, silent


def _tr(sentence: str) -> str:
    return said(sentence)  # by this name Qt's tools find it for the translators


def leave(code: int) -> int:
    """The program's very last step: `code`, or the process's end at once while a thread still works.

    A model that is being loaded, in native code, would have its libraries taken from under it by Python's own end.
    """
    if DaemonExecutor.any_busy():
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)
    return code


async def _live(window: MainWindow, closed: asyncio.Event, order: DemoOrder | None, hidden: bool) -> None:
    """The window's whole life."""
    if not closed.is_set():
        window.tray.show_first(hidden)
        window.begin(order)
    await closed.wait()
    await window.finish(CLOSE_SECONDS)
    await _end_tasks()


async def _end_tasks() -> None:
    """Ends what a session may have left running: a task must not outlive its loop."""
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        _log.warning("still running at the end: %s", task.get_name())
        task.cancel()
    if rest:
        await asyncio.wait(rest, timeout=0.5)


@contextmanager
def _generators_closed(loop: asyncio.AbstractEventLoop) -> Iterator[None]:
    """Has forgotten asynchronous generators closed on the loop, as asyncio's own loops do and qasync does not.

    A stream that is left half read (a superseded revision) holds such generators, down to the socket.
    """

    def close(generator: AsyncGenerator[object, None]) -> None:
        if not loop.is_closed():
            loop.call_soon_threadsafe(lambda: loop.create_task(generator.aclose()))

    before = sys.get_asyncgen_hooks()
    sys.set_asyncgen_hooks(finalizer=close)
    try:
        yield
    finally:
        sys.set_asyncgen_hooks(*before)


@contextmanager
def _interruptible(window: MainWindow) -> Iterator[None]:
    """Ctrl+C on the terminal, or a polite kill, closes the window."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    # Python runs its signal handlers between its own instructions, and Qt waits in native code: a slow
    # timer lets it have a look.
    poll = QTimer(interval=SIGNAL_POLL_MS)
    poll.timeout.connect(lambda: None)
    poll.start()
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        before[number] = signal.signal(number, lambda *_: QTimer.singleShot(0, window.close))
    try:
        yield
    finally:
        poll.stop()
        for number, handler in before.items():
            signal.signal(number, handler)
