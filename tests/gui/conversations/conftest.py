"""The pane of conversations in a window of its own, at a fixed time."""

from collections.abc import Iterator
from datetime import datetime

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui.conversations.pane import ConversationsPane

NOW = datetime(2026, 11, 22, 15, 30).timestamp()


class Clock:
    now = NOW


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pane(qtbot, clock: Clock) -> Iterator[ConversationsPane]:
    window = QWidget()
    pane = ConversationsPane(window, now=lambda: clock.now)
    pane.setLocale(QLocale("en_GB"))
    pane.setFixedSize(240, 560)
    QVBoxLayout(window).addWidget(pane)
    window.layout().setSizeConstraint(QVBoxLayout.SizeConstraint.SetFixedSize)
    qtbot.addWidget(window)
    window.show()
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    yield pane
