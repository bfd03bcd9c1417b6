"""Real widgets on the offscreen platform, and every async test on the loop that Qt and asyncio share."""

import asyncio
import functools
import gc
import importlib
import os
from collections.abc import Iterator

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before Qt is loaded

import pytest
import qasync
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui.design.theme import apply_theme
from app.gui.window.daemon_executor import DaemonExecutor

MOST_LOOSE = 30_000
"""A Python that has loaded the app has some hundred thousand objects, which need not be looked through each time."""

# Five seconds are too few on a machine that does other things besides; no test takes longer for it.
QtBot.waitUntil = functools.partialmethod(QtBot.waitUntil, timeout=30_000)  # type: ignore[method-assign]


@pytest.fixture(scope="session")
def qapp_cls():
    return QApplication


@pytest.fixture(scope="package", autouse=True)
def _collected_at_last() -> Iterator[None]:
    """The last test's loop goes here: see `_qt`; the tests of other folders have threads that collect.

    What is there before the first one stays: to look through all of it for each test took 0.1 s and more.
    """
    pages = "inspector.latency inspector.requests"
    names = f"window.main_window models.models_dialog settings.dialog logs.panel demo.course {pages} sound.dialog"
    for module in names.split():
        importlib.import_module(f"app.gui.{module}")
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()
    asyncio.set_event_loop(None)
    gc.collect()


@pytest.fixture(autouse=True)
def _qt(qapp: QApplication) -> QApplication:
    """Every test here has the application, in the light theme, also those without a widget fixture."""
    # A closed loop is a cycle with a Qt object whose timers still run. Were it collected by chance on
    # a worker's thread, Qt could not end those timers, and would later send them to nobody and crash.
    gc.collect()
    if len(gc.get_objects()) > MOST_LOOSE:  # counting the frozen ones takes longer than all else here
        gc.freeze()  # a conversation that ended has unfrozen all
    # Closing the last window would end the event loop that the test itself runs on.
    qapp.setQuitOnLastWindowClosed(False)
    apply_theme(qapp, "light")  # which costs nothing where it is shown already
    return qapp


def pytest_asyncio_loop_factories(config, item):
    def make():
        loop = qasync.QEventLoop(QApplication.instance() or QApplication([]))
        loop.set_default_executor(DaemonExecutor())  # as the app itself does
        return loop

    return {"qasync": make}
