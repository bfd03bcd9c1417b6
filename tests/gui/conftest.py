"""Real widgets on the offscreen platform, and every async test on the loop that Qt and asyncio share."""

import asyncio
import functools
import gc
import importlib
import inspect
import os
from collections.abc import AsyncIterator, Iterator
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")  # before Qt is loaded

import pytest
import pytestqt.plugin
import qasync
from PySide6.QtCore import QCoreApplication, QEvent, QLocale
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui.design.motion import reduce_motion
from app.gui.design.theme import apply_theme
from app.gui.widgets.translation import install_translations
from app.gui.window.daemon_executor import DaemonExecutor
from app.gui.window.main_window import MainWindow
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import shown

MOST_LOOSE = 30_000
"""A Python that has loaded the app has some hundred thousand objects, which need not be looked through each time."""

# Five seconds are too few on a machine that does other things besides; no test takes longer for it.
QtBot.waitUntil = functools.partialmethod(QtBot.waitUntil, timeout=30_000)  # type: ignore[method-assign]


class Loop(qasync.QEventLoop):
    """A loop that handles no events of Qt while it stands still, between a fixture and its test: they may need it."""

    def run_until_complete(self, future: Any) -> Any:
        task = asyncio.ensure_future(future, loop=self)
        task.add_done_callback(lambda _: self.stop())
        self.run_forever()
        return task.result()


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
    """Every test has the application, in the light theme, with text of the usual size and with motion."""
    # A closed loop is a cycle with a Qt object whose timers still run. Were it collected by chance on
    # a worker's thread, Qt could not end those timers, and would later send them to nobody and crash.
    gc.collect()
    if len(gc.get_objects()) > MOST_LOOSE:  # counting the frozen ones takes longer than all else here
        gc.freeze()  # a conversation that ended has unfrozen all
    # Closing the last window would end the event loop that the test itself runs on.
    qapp.setQuitOnLastWindowClosed(False)
    apply_theme(qapp, "light")  # which costs nothing where it is shown already
    reduce_motion(False)
    return qapp


@pytest.fixture(autouse=True)
def _events_only_in_the_loop(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """pytest-qt handles events after each step of a test, when the loop of an async one stands still: see `Loop`."""
    if inspect.iscoroutinefunction(request.function):
        monkeypatch.setattr(pytestqt.plugin, "_process_events", lambda: None)


@pytest.fixture
def in_english(qapp: QApplication) -> Iterator[QApplication]:
    """The application, which speaks English again afterwards."""
    before = QLocale()
    QLocale.setDefault(QLocale("ru"))  # days and months are the system's words
    yield qapp
    QLocale.setDefault(before)
    install_translations(qapp, QLocale("en"))
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def no_double_clicks() -> Iterator[None]:
    """Every click counts: a list that a click opens takes the next one for the second half of a double click."""
    usual = QApplication.doubleClickInterval()
    QApplication.setDoubleClickInterval(0)
    yield
    QApplication.setDoubleClickInterval(usual)


@pytest.fixture
def factory() -> FakeFactory:
    """Builds the sessions of `window`."""
    return FakeFactory()


@pytest.fixture
def gate(factory: FakeFactory) -> asyncio.Event:
    """Holds the sessions of `window` back until it is set."""
    factory.gate = asyncio.Event()
    return factory.gate


@pytest.fixture
def given() -> dict[str, Any]:
    """What `shown` gets for `window` besides the factory: nothing, unless a module's own fixture says otherwise."""
    return {}


@pytest.fixture
async def window(factory: FakeFactory, given: dict[str, Any]) -> AsyncIterator[MainWindow]:
    """A shown window whose session runs, unless a `gate` holds it back."""
    async with shown(factory, running=factory.gate is None, **given) as window:
        yield window


def pytest_asyncio_loop_factories(config, item):
    def make():
        loop = Loop(QApplication.instance() or QApplication([]))
        loop.set_default_executor(DaemonExecutor())  # as the app itself does
        return loop

    return {"qasync": make}
