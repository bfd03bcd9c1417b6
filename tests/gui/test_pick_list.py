"""Lists whose choice takes effect at once: keys open them, and Enter picks."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.gui.pick_list import PickList


@pytest.fixture
def brains(qtbot: QtBot) -> PickList:
    brains = PickList()
    brains.addItems(["Embedded", "Ollama", "Anthropic", "Another server"])
    qtbot.addWidget(brains)
    brains.show()
    return brains


def test_arrows_pass_over_what_is_not_wanted(brains: PickList) -> None:
    picked: list[int] = []
    brains.activated.connect(picked.append)
    QTest.keyClick(brains, Qt.Key.Key_Down)
    assert brains.view().isVisible() and brains.currentIndex() == 0
    for _ in range(2):
        QTest.keyClick(brains.view(), Qt.Key.Key_Down)
    assert picked == []
    QTest.keyClick(brains.view(), Qt.Key.Key_Return)
    assert picked == [2] and brains.currentText() == "Anthropic"


def test_letters_look_for_the_whole_word(brains: PickList) -> None:
    picked: list[int] = []
    brains.activated.connect(picked.append)
    QTest.keyClick(brains, Qt.Key.Key_A)
    QTest.keyClicks(brains.view(), "no")
    assert picked == [] and brains.view().currentIndex().row() == 3
    QTest.keyClick(brains.view(), Qt.Key.Key_Return)
    assert picked == [3]


def test_leaving_picks_nothing(brains: PickList) -> None:
    picked: list[int] = []
    brains.activated.connect(picked.append)
    QTest.keyClick(brains, Qt.Key.Key_End)
    QTest.keyClick(brains.view(), Qt.Key.Key_Up)
    QTest.keyClick(brains.view(), Qt.Key.Key_Escape)
    assert picked == [] and brains.currentIndex() == 0 and not brains.view().isVisible()


def test_the_wheel_turns_nothing(brains: PickList) -> None:
    turn = QWheelEvent(
        QPointF(5, 5), QPointF(5, 5), QPoint(0, 0), QPoint(0, -120), Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(brains, turn)
    assert brains.currentIndex() == 0 and not turn.isAccepted()
