"""What the window's tests share: a shown window with its session, waiting, and keys."""

import asyncio
import itertools
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QKeyEvent, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QDialog, QWidget

from app.conversation import events as e
from app.diagnostics.logs import Log
from app.gui.controllers.context import DeviceLister, WindowServices
from app.gui.models.model_list import ModelListView, ModelRow
from app.gui.state.choice import WindowChoices, backend_choice
from app.gui.state.session_model import SessionModel
from app.gui.window.main_window import MainWindow
from app.services.backend_service import BackendService
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from tests.gui.fakes import FakeFactory, no_devices

Dialog = TypeVar("Dialog", bound=QDialog)


WELCOMED = WindowState(first_run_done=True, better_model_decided=True)
"""The state of a window whose user has finished with the welcome's cards."""


async def diagnosed(with_words: bool, sections: object) -> str:
    """Diagnostics that hold nothing."""
    return "diagnostics"


def heard(signal: Any) -> list[Any]:
    """Returns a list that gets what a signal says from now on: each time its value, or a tuple of its values."""
    said: list[Any] = []
    signal.connect(lambda *values: said.append(values[0] if len(values) == 1 else values))
    return said


def open_dialog(window: QWidget, kind: type[Dialog]) -> Dialog:
    """The dialog of a kind that is open."""
    (dialog,) = [one for one in window.findChildren(kind) if one.isVisible()]
    return dialog


def control(parent: QWidget, name: str) -> QWidget:
    """The visible control with an accessible name."""
    (found,) = [one for one in parent.findChildren(QWidget) if one.isVisible() and one.accessibleName() == name]
    return found


def press(parent: QWidget, name: str) -> None:
    """Clicks the button with an accessible name, which must be visible and enabled."""
    button = control(parent, name)
    assert isinstance(button, QAbstractButton) and button.isEnabled(), name
    button.click()


def spread(*axes: Sequence[Any], at_first: int = 0) -> list[Any]:
    """Returns all combinations of the axes' values as parameters of a test.

    In the short run each value of the longest axis occurs once, with the others' values in turn, or only `at_first` of
    them; the other combinations are slow.
    """
    count = at_first or max(map(len, axes))
    chosen = {tuple(axis[turn % len(axis)] for axis in axes) for turn in range(count)}
    return [
        pytest.param(*values, marks=() if values in chosen else pytest.mark.slow) for values in itertools.product(*axes)
    ]


async def until(condition: Callable[[], object], seconds: float = 30.0) -> None:
    """Lets the loop run until `condition` holds; fails when it doesn't within `seconds`, on however busy a machine."""
    deadline = asyncio.get_running_loop().time() + seconds
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, f"still not so after {seconds} s"
        await asyncio.sleep(0.01)


@asynccontextmanager
async def nothing_left() -> AsyncIterator[None]:
    """Deletes what is to be deleted at the end, and checks that no task is left behind."""
    before = asyncio.all_tasks()
    try:
        yield
    finally:
        left = {task for task in asyncio.all_tasks() - {*before, asyncio.current_task()} if not task.done()}
        QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    assert not left, f"tasks left behind: {left}"


@asynccontextmanager
async def shown(
    factory: FakeFactory,
    settings: Settings | None = None,
    *,
    state: WindowState | None = None,
    choices: WindowChoices | None = None,
    list_devices: DeviceLister = no_devices,
    service: BackendService | None = None,
    log: Log | None = None,
    running: bool = True,
    everything: bool = True,
    **services: Any,
) -> AsyncIterator[MainWindow]:
    """A window on screen; with `running`, it is the active one and its first session runs; with `everything`, all its
    panes are open, and the oracle shows all thoughts with their details. `state`: what the window has kept from an
    earlier start. `services`: what `WindowServices` has besides. Checks that no task is left behind.
    """
    with tempfile.TemporaryDirectory() as folder:
        settings = settings or Settings()
        if everything:
            settings.oracle_earlier = settings.oracle_details = True
        settings.path = settings.path or Path(folder) / "settings.json"
        if state is not None:
            replace(state, path=settings.path.with_name("window.json")).save()
        choices = choices or (WindowChoices() if service is None else WindowChoices(backends=service.providers))
        diagnose = diagnosed if log is not None else None
        given = WindowServices(list_devices, choices, backend_service=service, log=log, diagnose=diagnose, **services)
        async with nothing_left():
            window = MainWindow(factory, settings, given)
            try:
                if everything:
                    window.resize(1280, 1000)
                    window.panes.chosen = True
                    for action in window.panes.actions_:
                        action.setChecked(True)
                window.show()
                window.activateWindow()
                window.begin()
                if running:
                    await until(lambda: window.manager.session is not None and window.isActiveWindow())
                yield window
            finally:
                window.close()
                await window.finish()
                window.deleteLater()


@asynccontextmanager
async def window_and_factory(*args: Any, **more: Any) -> AsyncIterator[tuple[MainWindow, FakeFactory]]:
    """A shown window, and the factory of its sessions. Takes what `shown` takes behind its factory."""
    factory = FakeFactory()
    async with shown(factory, *args, **more) as window:
        yield window, factory


def running_model() -> SessionModel:
    """The model of a session that runs, as the first one of its conversation."""
    model = SessionModel()
    model.set_phase("running")
    model.begin(first=True)
    return model


def feed(model: SessionModel, *events: e.Event) -> None:
    """Has the session of a model say `events`, in a batch each."""
    for event in events:
        model.put(event)
        model.flush()


def say(window: MainWindow, *events: e.Event) -> None:
    """Has the window's newest session say `events`, and the window show them."""
    factory = window.manager._factory
    assert isinstance(factory, FakeFactory)
    factory.session.say(*events)
    window.model.flush()


def key(window: QWidget, code: Qt.Key, *, down: bool, repeat: bool = False) -> None:
    """A key as the keyboard sends it: to the native window, which finds the widget."""
    kind = QEvent.Type.KeyPress if down else QEvent.Type.KeyRelease
    text = " " if code == Qt.Key.Key_Space else ""
    event = QKeyEvent(kind, code, Qt.KeyboardModifier.NoModifier, text, repeat)
    QApplication.sendEvent(window.windowHandle(), event)


async def by_hand(does: Callable[[], object]) -> None:
    """Calls what sends keys or clicks to a native window: Qt handles them at once, which it can't in a task's step."""
    loop, done = asyncio.get_running_loop(), asyncio.Event()

    def run() -> None:
        try:
            does()
        finally:
            done.set()

    loop.call_soon(run)
    await done.wait()


async def type_keys(window: QWidget, text: str) -> None:
    """Types on the keyboard, as the platform reports it: the window finds out where each key goes."""
    for letter in text:
        await by_hand(lambda letter=letter: QTest.keyClick(window.windowHandle(), letter))


async def press_key(
    window: QWidget, code: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
) -> None:
    """Presses a key on the keyboard, and lets it go."""
    await by_hand(lambda: QTest.keyClick(window.windowHandle(), code, modifiers))


async def click_at(
    widget: QWidget, place: QPoint | None = None, button: Qt.MouseButton = Qt.MouseButton.LeftButton
) -> None:
    """Clicks with the mouse on the native window: in the middle of `widget`, unless at a `place` of it.

    Waits until the widget is there: one that has just appeared isn't laid out yet.
    """
    window = widget.window()

    def at() -> QPoint:
        return widget.mapTo(window, place if place is not None else widget.rect().center())

    def is_hit() -> bool:
        hit = window.childAt(at()) or window
        return hit is widget or widget.isAncestorOf(hit)

    await until(is_hit)
    await by_hand(lambda: QTest.mouseClick(window.windowHandle(), button, Qt.KeyboardModifier.NoModifier, at()))


def wheel(widget: QWidget, notches: int, keys: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> QWheelEvent:
    """Turns the mouse's wheel in the middle of a widget; returns the event."""
    place, turn = QPointF(widget.rect().center()), QPoint(0, 120 * notches)
    buttons, phase = Qt.MouseButton.NoButton, Qt.ScrollPhase.NoScrollPhase
    event = QWheelEvent(place, widget.mapToGlobal(place), QPoint(), turn, buttons, keys, phase, False)
    QApplication.sendEvent(widget, event)
    return event


def typed(window: MainWindow, text: str) -> None:
    """Types into the field below the conversation, and sends it with Enter."""
    field = window.transcript.composer.field
    field.setFocus()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


def spoken(turn: int, question: str, answer: str = "", at: float = 1.0) -> list[e.Event]:
    """A question that was asked aloud, and its answer."""
    events: list[e.Event] = [
        e.UserStarted(at, turn),
        e.TranscriptFinal(at + 1, turn, question, at + 0.9),
        e.UserEnded(at + 1, turn, at + 0.9, "words"),
    ]
    if answer:
        events += [
            e.OracleRequested(at + 1.1, turn, turn, "embedded", "small", question, True),
            e.OracleDelta(at + 1.3, turn, answer),
            e.AssistantStarted(at + 1.5, turn, turn),
            e.AssistantSaid(at + 2, turn, answer, turn),
            e.OracleEnded(at + 2, turn, "complete", len(answer.split())),
            e.AssistantEnded(at + 2.5, turn, False),
        ]
    return events


def transcript(window: MainWindow) -> list[str]:
    """The conversation's cards, as text: head, line break, body."""
    view = window.transcript.view
    return [view.content.text(place) for place in range(len(view.cards))]


def open_models(window: MainWindow) -> None:
    """Opens the popover of models."""
    window.top_bar.pill.click()


def click_model(view: ModelListView, name: str) -> None:
    """Clicks the row of a model in a list of models."""
    places = [p for p, row in enumerate(view.rows.rows) if isinstance(row, ModelRow) and row.name == name]
    assert places, f"{name} is not listed"
    view.scrollTo(view.rows.index(places[0]))
    point = view.visualRect(view.rows.index(places[0])).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point)


def choose(window: MainWindow, provider: str) -> None:
    """Changes to the model last used of a provider, as the list of models does."""
    window.backends.choose(backend_choice(window.settings, provider))


def oracle(window: MainWindow) -> list[str]:
    """The texts of the oracle's cards, newest first."""
    view = window.oracle.view
    return [view.content.text(place) for place in reversed(range(len(view.cards)))]
