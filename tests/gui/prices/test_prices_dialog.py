"""The dialog “Prices”: the app's and the user's prices, editing and saving them, and opening it next to the cap."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from app.conversation import events as e
from app.gui.design.look import Look
from app.gui.prices.price_table import CACHED, MODEL, READ, WRITTEN, as_price, price_text
from app.gui.prices.prices_dialog import PricesDialog
from app.services.price_service import Price, PriceRow
from app.session.control import BackendChoice, UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeBackendService, FakeFactory, FakePrices
from tests.gui.helpers import open_dialog, press, shown, until
from tests.gui.models.test_style_dialog import opened

GPT, MINI, OPUS, QWEN = range(4)


@pytest.fixture
def service() -> FakePrices:
    return FakePrices()


@pytest.fixture
def dialog(qtbot, service: FakePrices) -> Iterator[PricesDialog]:
    parent = QWidget()
    qtbot.addWidget(parent)
    parent.show()
    dialog = PricesDialog(service, parent)
    dialog.open_with()
    qtbot.waitUntil(dialog.isActiveWindow)
    yield dialog  # its parent lives as long as this waits


def texts(dialog: PricesDialog, row: int) -> list[str]:
    """What stands in a row, as it is shown."""
    return [str(dialog.table.index(row, column).data()) for column in range(4)]


def editor(dialog: PricesDialog) -> QLineEdit:
    """The field in which the cell is typed."""
    field = dialog.view.indexWidget(dialog.view.currentIndex())
    assert isinstance(field, QLineEdit)
    return field


def enter(dialog: PricesDialog, row: int, column: int, text: str) -> None:
    """Types into a cell as a user does: Enter, the text over the old one, Enter."""
    dialog.view.setCurrentIndex(dialog.table.index(row, column))
    dialog.view.setFocus()
    QTest.keyClick(dialog.view, Qt.Key.Key_Return)
    editor(dialog).selectAll()
    QTest.keyClicks(editor(dialog), text) if text else QTest.keyClick(editor(dialog), Qt.Key.Key_Delete)
    field = editor(dialog)
    QTest.keyClick(field, Qt.Key.Key_Return)
    QApplication.sendPostedEvents()  # not processEvents: a task may not be entered while the test's own runs
    assert dialog.isVisible(), "Enter in a cell saves nothing"


def test_the_users_own_prices_are_told_apart(dialog: PricesDialog) -> None:
    assert texts(dialog, GPT) == ["gpt-4.1", "2.00", "0.50", "8.00"]
    assert texts(dialog, QWEN) == ["qwen/qwen3-30b", "0.10", "as input", "0.30"]
    roles = Qt.ItemDataRole

    def bold(row: int) -> list[bool]:
        fonts = [dialog.table.index(row, column).data(roles.FontRole) for column in range(4)]
        return [font is not None and font.bold() for font in fonts]

    assert bold(GPT) == [False] * 4
    assert bold(OPUS) == [True, True, False, False]
    assert bold(QWEN) == [True, True, False, True]
    changed = dialog.table.index(OPUS, READ)
    assert changed.data(roles.ToolTipRole) == "Yours; the app's is $15.00."
    assert changed.data(roles.AccessibleDescriptionRole) == "Yours; the app's is $15.00."
    assert dialog.table.index(GPT, READ).data(roles.ToolTipRole) == ""
    assert dialog.table.index(QWEN, MODEL).data(roles.ToolTipRole).splitlines() == [
        "qwen/qwen3-30b",
        "Yours; the app has no price for it.",
    ]


def test_a_price_is_changed_in_place_and_kept(dialog: PricesDialog, service: FakePrices, qtbot) -> None:
    enter(dialog, GPT, READ, "1,5")
    enter(dialog, GPT, CACHED, "")
    enter(dialog, QWEN, CACHED, ".05")
    assert texts(dialog, GPT) == ["gpt-4.1", "1.50", "as input", "8.00"] and service.kept == []
    with qtbot.waitSignal(dialog.kept):
        press(dialog, "Save")
    assert not dialog.isVisible()
    (rows,) = service.kept
    assert rows[GPT] == PriceRow("gpt-4.1", Price(1.5, 1.5, 8.0), Price(2.0, 0.5, 8.0))
    assert rows[QWEN] == PriceRow("qwen/qwen3-30b", Price(0.1, 0.05, 0.3))
    assert rows[OPUS] == service.rows[OPUS] and len(rows) == 4


@pytest.mark.parametrize(
    ("column", "typed", "sentence"),
    [
        (READ, "-1", "“-1” is below zero. Enter the price without the sign."),
        (WRITTEN, "cheap", "“cheap” is not a price. Enter dollars as a number, like 2.50."),
        (CACHED, "1e3", "“1e3” is not a price. Enter dollars as a number, like 2.50."),
        (READ, "", "A price of “qwen/qwen3-30b” is missing. Enter it, or remove the row."),
        (MODEL, "", "A row names no model. Enter one, or remove the row."),
        (MODEL, "GPT-4.1", "“gpt-4.1” is in the table already. Change that row, and remove this one."),
    ],
)
def test_what_is_no_price_is_refused_and_nothing_is_lost(
    dialog: PricesDialog, service: FakePrices, column: int, typed: str, sentence: str
) -> None:
    enter(dialog, OPUS, READ, "11")
    enter(dialog, QWEN, column, typed)
    if typed:
        assert dialog.answer.isVisible() and dialog.answer.text() == sentence
        shade = dialog.table.index(QWEN, column).data(Qt.ItemDataRole.ForegroundRole)
        assert shade == Look.of(QApplication.palette()).bad
    dialog.view.setCurrentIndex(dialog.table.index(GPT, READ))
    press(dialog, "Save")
    assert dialog.isVisible() and service.kept == [] and dialog.answer.text() == sentence
    place = dialog.view.currentIndex()
    assert (place.row(), place.column()) == (QWEN, column), "it goes to what is wrong"
    assert dialog.table.lines[QWEN].texts[column] == typed.lower() and texts(dialog, OPUS)[READ] == "11.00"
    enter(dialog, QWEN, column, "3" if column != MODEL else "qwen/qwen3-30b")
    assert not dialog.answer.isVisible()
    press(dialog, "Save")
    assert service.kept[0][OPUS].price.tokens_in == 11.0


def test_what_is_being_typed_is_saved_too(dialog: PricesDialog, service: FakePrices, qtbot) -> None:
    dialog.view.setCurrentIndex(dialog.table.index(MINI, WRITTEN))
    QTest.keyClicks(dialog.view, "7")  # to type is to change
    QTest.keyClicks(editor(dialog), ".25")
    assert editor(dialog).accessibleName() == "gpt-4.1-mini: Output"
    QTest.keyClick(dialog, Qt.Key.Key_S, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: bool(service.kept))
    assert service.kept[0][MINI].price.tokens_out == 7.25


def test_the_apps_own_names_stay_and_escape_leaves_a_cell_as_it_was(dialog: PricesDialog) -> None:
    assert not dialog.table.index(GPT, MODEL).flags() & Qt.ItemFlag.ItemIsEditable
    dialog.view.setCurrentIndex(dialog.table.index(GPT, READ))
    QTest.keyClicks(dialog.view, "99")
    QTest.keyClick(editor(dialog), Qt.Key.Key_Escape)
    assert texts(dialog, GPT)[READ] == "2.00" and dialog.isVisible()


def test_a_row_is_added_and_removed(dialog: PricesDialog, service: FakePrices) -> None:
    press(dialog, "Add a model")
    assert editor(dialog).accessibleName() == "Model"
    QTest.keyClicks(editor(dialog), "Mine/XL")
    QTest.keyClick(editor(dialog), Qt.Key.Key_Tab)
    for text in ("1", "", "2"):
        QTest.keyClicks(editor(dialog), text)
        QTest.keyClick(editor(dialog), Qt.Key.Key_Tab)
        assert not dialog.answer.isVisible(), "what is still to come is not complained of"
    assert texts(dialog, 4) == ["mine/xl", "1.00", "as input", "2.00"]
    dialog.view.setCurrentIndex(dialog.table.index(QWEN, READ))
    assert dialog.remove_button.isEnabled() and not dialog.back_button.isEnabled()
    press(dialog, "Remove the model")
    press(dialog, "Add a model")  # and nothing is entered
    press(dialog, "Save")
    assert [row.model for row in service.kept[0]] == ["gpt-4.1", "gpt-4.1-mini", "claude-opus-4-1", "mine/xl"]
    assert service.kept[0][3] == PriceRow("mine/xl", Price(1.0, 1.0, 2.0))


def test_a_row_is_set_back_to_the_apps_price(dialog: PricesDialog, service: FakePrices) -> None:
    dialog.view.setCurrentIndex(dialog.table.index(GPT, READ))
    assert not dialog.back_button.isEnabled() and not dialog.remove_button.isEnabled()
    dialog.view.setCurrentIndex(dialog.table.index(OPUS, WRITTEN))
    assert dialog.back_button.isEnabled() and not dialog.remove_button.isEnabled()
    enter(dialog, OPUS, WRITTEN, "lots")
    QTest.keyClick(dialog.view, Qt.Key.Key_Delete)
    assert texts(dialog, OPUS) == ["claude-opus-4-1", "15.00", "1.50", "75.00"]
    assert not dialog.back_button.isEnabled() and not dialog.answer.isVisible()
    press(dialog, "Save")
    assert service.kept[0][OPUS] == PriceRow("claude-opus-4-1", Price(15.0, 1.5, 75.0), Price(15.0, 1.5, 75.0))


def test_cancel_keeps_nothing_and_the_next_time_it_is_read_again(dialog: PricesDialog, service: FakePrices) -> None:
    enter(dialog, GPT, READ, "5")
    dialog.open_with("other")  # it stands there already: what is typed stays
    assert texts(dialog, GPT)[READ] == "5.00" and texts(dialog, 4)[MODEL] == "other"
    press(dialog, "Cancel")
    service.rows = (replace(service.rows[GPT], price=Price(2.0, 0.5, 1.0)),)
    dialog.open_with()
    assert service.kept == [] and dialog.table.rowCount() == 1 and texts(dialog, GPT)[1:] == ["2.00", "0.50", "1.00"]


def test_a_model_without_a_price_has_its_row_at_once(dialog: PricesDialog, service: FakePrices) -> None:
    for _ in range(2):
        dialog.show_model("Qwen3-235B")
    place = dialog.view.currentIndex()
    assert (dialog.table.rowCount(), place.row(), place.column()) == (5, 4, READ)
    dialog.show_model("gpt-4.1")
    assert dialog.view.currentIndex().row() == GPT and not dialog.answer.isVisible()
    press(dialog, "Save")
    assert len(service.kept[0]) == 4, "nothing was entered for it"


def test_a_broken_table_is_told(dialog: PricesDialog, service: FakePrices) -> None:
    assert not dialog.trouble.isVisible()
    dialog.close()
    service.problem = "Your price table can't be used (it is torn), so the app's own is. Mend it."
    dialog.open_with()
    assert dialog.trouble.isVisible() and dialog.trouble.text() == (
        service.problem + " If you save here, a new one is written, and a copy of the old one is kept."
    )
    assert service.kept == []


def test_a_table_that_can_not_be_saved_stays_open_as_typed(dialog: PricesDialog, service: FakePrices) -> None:
    service.refusal = UserError("The prices could not be saved (no space), so the ones before count on. Make room.")
    enter(dialog, GPT, READ, "3")
    press(dialog, "Save")
    assert dialog.isVisible() and dialog.answer.text() == str(service.refusal) and texts(dialog, GPT)[READ] == "3.00"
    service.refusal = None
    press(dialog, "Save")
    assert not dialog.isVisible() and service.kept[0][GPT].price.tokens_in == 3.0


@pytest.mark.parametrize(
    ("text", "dollars"),
    [
        ("2", 2.0),
        ("2.5", 2.5),
        ("2,5", 2.5),
        (" $0,025 ", 0.025),
        (",5", 0.5),
        ("3.", 3.0),
        ("0", 0.0),
        ("", None),
        ("-1", None),
        ("\u22121", None),
        ("1e3", None),
        ("nan", None),
        ("inf", None),
        ("1.000,5", None),
        ("1 000", None),
        ("٣", None),
        ("9" * 400, None),
        (".", None),
        ("0x1", None),
    ],
)
def test_what_is_typed_as_a_price(text: str, dollars: float | None) -> None:
    assert as_price(text) == dollars


@pytest.mark.parametrize(
    ("dollars", "text"),
    [(2.0, "2.00"), (0.5, "0.50"), (0.025, "0.025"), (75, "75.00"), (1e-7, "0.0000001"), (0.1 + 0.2, None)],
)
def test_a_price_is_shown_in_full(dollars: float, text: str | None) -> None:
    assert text is None or price_text(dollars) == text
    assert float(price_text(dollars)) == dollars


async def test_it_is_opened_beside_the_cap_and_counts_for_the_backend_that_drives(tmp_path) -> None:
    factory, prices = FakeFactory(), FakePrices()
    settings = Settings(
        path=tmp_path / "settings.json", provider="compatible", compatible_url="http://127.0.0.1:1/v1", cap_dollars=0.5
    )
    async with shown(factory, settings, service=FakeBackendService(prices=prices)) as window:
        factory.session.say(e.SessionStarted(0, "cascade", "whisper", "127.0.0.1", "theirs-7b", "thinking"))
        conversation = opened(window)
        assert conversation.cost_words.isVisible()
        assert "so the limit has no effect" in conversation.cost_words.text()
        conversation.cap.setValue(0.0)
        assert not conversation.cost_words.isVisible(), "without a limit there is nothing to keep"
        conversation.cap.setValue(1.0)
        assert conversation.cost_words.isVisible()
        conversation.prices_button.click()
        dialog = open_dialog(window, PricesDialog)
        assert not dialog.isModal()
        assert texts(dialog, 4)[MODEL] == "theirs-7b", "the model that the server chose"
        await until(dialog.isActiveWindow)
        for column, price in ((READ, "1"), (WRITTEN, "2")):
            enter(dialog, 4, column, price)
        press(dialog, "Save")
        assert prices.kept[0][4] == PriceRow("theirs-7b", Price(1.0, 1.0, 2.0))
        assert not conversation.cost_words.isVisible()
        conversation.prices_button.click()
        window.close()
        assert not conversation.isVisible() and not dialog.isVisible()


async def test_without_a_table_there_is_nothing_to_open() -> None:
    async with shown(
        FakeFactory(), Settings(provider="openai", cap_dollars=1.0), service=FakeBackendService()
    ) as window:
        conversation = opened(window)
        assert not conversation.prices_button.isVisible() and not conversation.cost_words.isVisible()
        window.dialogs.open_prices(BackendChoice("openai", "gpt-99"))
        assert window.dialogs.prices is None
