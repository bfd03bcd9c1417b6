"""Lists whose choice takes effect at once: keys open them, and Enter picks."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from app.gui.widgets.lists import PickList
from tests.gui.helpers import heard


@pytest.fixture
def backends(qtbot: QtBot) -> PickList:
    backends = PickList()
    backends.addItems(["Embedded", "Ollama", "Anthropic", "Another server"])
    qtbot.addWidget(backends)
    backends.show()
    return backends


def test_arrows_choose_nothing_on_their_way(backends: PickList) -> None:
    picked = heard(backends.activated)
    QTest.keyClick(backends, Qt.Key.Key_Down)
    assert backends.view().isVisible() and backends.currentIndex() == 0
    for _ in range(2):
        QTest.keyClick(backends.view(), Qt.Key.Key_Down)
    assert picked == []
    QTest.keyClick(backends.view(), Qt.Key.Key_Return)
    assert picked == [2] and backends.currentText() == "Anthropic"


def test_letters_search_for_the_whole_word(backends: PickList) -> None:
    picked = heard(backends.activated)
    QTest.keyClick(backends, Qt.Key.Key_A)
    QTest.keyClicks(backends.view(), "no")
    assert picked == [] and backends.view().currentIndex().row() == 3
    QTest.keyClick(backends.view(), Qt.Key.Key_Return)
    assert picked == [3]


def test_leaving_picks_nothing(backends: PickList) -> None:
    picked = heard(backends.activated)
    QTest.keyClick(backends, Qt.Key.Key_End)
    QTest.keyClick(backends.view(), Qt.Key.Key_Up)
    QTest.keyClick(backends.view(), Qt.Key.Key_Escape)
    assert picked == [] and backends.currentIndex() == 0 and not backends.view().isVisible()
