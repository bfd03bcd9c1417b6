"""Every control can be named by a screen reader, reached with Tab, and read at the smallest size."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QWidget,
)

from app.conversation import events as e
from app.gui.choice import WindowChoices
from app.gui.level_meter import LevelMeter
from app.settings import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import say, shown, until

CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QAbstractScrollArea, LevelMeter)


def controls(window: QWidget) -> list[QWidget]:
    """All interactive controls that are shown; not the inner parts of others, nor Qt's own."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if isinstance(widget, CONTROLS)
        and widget.isVisible()
        and not isinstance(widget.parentWidget(), QComboBox | QLineEdit)
        and not widget.objectName().startswith("qt_")
    ]


async def test_every_control_has_a_name_of_its_own() -> None:
    factory = FakeFactory()
    choices = WindowChoices(frontends=(("cascade", "Cascade"), ("kame", "KAME")))
    async with shown(factory, Settings(provider="ollama"), choices=choices) as window:
        say(window, factory, e.Failure(1, "backend", "One."), e.Failure(1, "audio", "Two.", fatal=True))
        found = controls(window)
        nameless = [widget for widget in found if not widget.accessibleName()]
        assert nameless == []
        assert len(found) >= 15
        names = [widget.accessibleName() for widget in found]
        twice = {name for name in names if names.count(name) > 1}
        assert twice <= {"Close this message"}


async def test_tab_reaches_every_control_and_comes_back() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(provider="ollama")) as window:
        await until(window.isActiveWindow)
        window.setup.brain.setFocus()
        seen = []
        for _ in range(30):
            focus = QApplication.focusWidget()
            if focus in seen:
                break
            seen.append(focus)
            QTest.keyClick(focus, Qt.Key.Key_Tab)
        setup = window.setup
        assert seen == [
            setup.brain,
            setup.model,
            setup.url,
            setup.manner,
            setup.microphone,
            setup.loudspeaker,
            setup.stop_button,
            setup.new_button,
            window.transcript.view,
            window.oracle.view,
            window.talk_bar.button,
            window.talk_bar.duplex,
        ]


async def test_nothing_is_cut_off_at_the_smallest_size() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(provider="ollama")) as window:
        window.resize(900, 600)
        say(
            window, factory, e.Failure(1, "backend", "A sentence that is long enough to need two lines. " * 3)
        )
        await until(lambda: window.width() == 900)
        assert (window.width(), window.height()) == (900, 600)
        for widget in controls(window):
            assert widget.width() >= widget.minimumSizeHint().width(), widget.accessibleName()
            right = widget.mapTo(window, widget.rect().bottomRight())
            assert window.rect().contains(right), widget.accessibleName()
        for label in window.findChildren(QLabel):
            if label.isVisible() and not label.wordWrap() and label is not window.status.state:
                assert label.width() >= label.sizeHint().width(), label.text()
