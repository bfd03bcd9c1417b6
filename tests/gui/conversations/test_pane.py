"""The pane of kept conversations: clicks and keys in, wishes and what is shown out."""

import random
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QLocale, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QContextMenuEvent, QEnterEvent, QFontMetrics
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QMenu

from app.gui.conversations.pane import ConversationsPane
from app.gui.conversations.row_delegate import shortened
from app.gui.design.look import Look
from app.history.base import ConversationView, Setup
from app.session.control import BackendChoice
from tests.gui.conversations.conftest import NOW, Clock
from tests.gui.fake_history import some
from tests.gui.helpers import heard

HOUR, DAY = 3600.0, 86400.0


def view(key: str, changed: float, title: str = "", **more: object) -> ConversationView:
    return ConversationView(key, title or f"Title of {key}", changed=changed, **more)  # type: ignore[arg-type]


def three() -> list[ConversationView]:
    return [
        view(
            "a", NOW - HOUR, "Heights of the Elbrus", backends=("gpt-4.1-mini", "Qwen/Qwen3-30B"), turns=4, sound=True
        ),
        view("b", NOW - DAY, "A soup", setup=Setup(BackendChoice("ollama", "gemma3:4b"))),
        view("c", NOW - 100 * DAY, "Bread <b>without</b> kneading", turns=1),
    ]


def rows(pane: ConversationsPane) -> list[str]:
    """What the list says, line by line: headings, titles."""
    return [pane.list.index(place).data() for place in range(pane.list.rowCount())]


def details(pane: ConversationsPane) -> list[str]:
    return [pane.list.texts.detail(row.view) for row in pane.list.rows if row.view is not None]


def middle(pane: ConversationsPane, key: str) -> QPoint:
    return pane.rows.visualRect(pane.list.index(pane.list.place(key))).center()


def press(pane: ConversationsPane, key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    pane.rows.setFocus()
    QTest.keyClick(pane.rows, key, modifier)


def enter(pane: ConversationsPane) -> None:
    QTest.keyClick(editor(pane), Qt.Key.Key_Return)
    QApplication.processEvents()
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


def editor(pane: ConversationsPane) -> QLineEdit:
    (field,) = pane.rows.viewport().findChildren(QLineEdit)
    return field


def ink(pane: ConversationsPane, key: str) -> set[str]:
    """The colours of a row as it is painted."""
    room = pane.rows.visualRect(pane.list.index(pane.list.place(key)))
    picture = pane.rows.viewport().grab(room).toImage()
    return {picture.pixelColor(x, y).name() for x in range(picture.width()) for y in range(picture.height())}


# -- what is listed


def test_conversations_stand_under_headings_by_day_the_newest_first(pane: ConversationsPane) -> None:
    days = [0.1, 1, 3, 6.9, 20, 29, 60, 400]
    pane.show_conversations([view(f"k{place}", NOW - days[place] * DAY) for place in (3, 0, 1, 2, 7, 5, 4, 6)])
    assert rows(pane) == (
        "Today; Title of k0; Yesterday; Title of k1; Last 7 days; Title of k2; Title of k3; Last 30 days; "
        "Title of k4; Title of k5; Earlier; Title of k6; Title of k7"
    ).split("; ")
    assert details(pane) == (
        "Today 13:06; Yesterday 15:30; Thursday 15:30; 15 November; 2 November; 24 October; 23 September; "
        "18 October 2025"
    ).split("; ")


def test_times_and_days_are_written_as_the_language_does(pane: ConversationsPane) -> None:
    pane.show_conversations([*three(), view("d", NOW - 3 * DAY)])
    pane.setLocale(QLocale("de_DE"))
    assert details(pane)[2] == "Donnerstag 15:30"
    pane.setLocale(QLocale("en_US"))
    assert details(pane)[0].replace("\u202f", " ") == "Today 2:30 PM · Qwen3-30B"


def test_at_midnight_today_becomes_yesterday(pane: ConversationsPane, clock: Clock) -> None:
    pane.show_conversations(three())
    pane.rows.highlight("a")
    clock.now += 9 * HOUR
    pane._day_timer.timeout.emit()
    assert rows(pane)[:3] == ["Yesterday", "Heights of the Elbrus", "Last 7 days"]
    assert details(pane)[0].startswith("Yesterday 14:30") and pane.rows.highlighted == "a"


def test_what_there_is_none_of_is_said(pane: ConversationsPane) -> None:
    assert pane.rows.empty_text == "", "before the first list nothing is known"
    pane.show_conversations(())
    assert pane.rows.empty_text == pane.rows.accessibleDescription() == "Your conversations are kept here."
    empty = pane.rows.grab().toImage()
    pane.show_conversations((), "zebra")
    assert pane.rows.empty_text == "Nothing found for “zebra”." and pane.rows.grab().toImage() != empty
    pane.show_conversations(())
    pane.show_trouble("The disk is full.")
    assert pane.trouble.isVisible() and pane.trouble.label.text() == "The disk is full." and pane.rows.empty_text == ""
    pane.show_trouble("")
    assert not pane.trouble.isVisible() and pane.rows.empty_text == "Your conversations are kept here."


# -- opening


def test_arrows_move_over_headings_and_enter_opens(pane: ConversationsPane) -> None:
    opened = heard(pane.opened)
    pane.show_conversations(three())
    pane.rows.setFocus()
    assert pane.rows.highlighted == "a"
    press(pane, Qt.Key.Key_Down)
    assert pane.rows.highlighted == "b"
    press(pane, Qt.Key.Key_Down)
    press(pane, Qt.Key.Key_Down)
    assert pane.rows.highlighted == "c"
    press(pane, Qt.Key.Key_Home)
    assert pane.rows.highlighted == "a"
    press(pane, Qt.Key.Key_End)
    assert pane.rows.highlighted == "c" and opened == []
    press(pane, Qt.Key.Key_Return)
    press(pane, Qt.Key.Key_Enter)
    assert opened == ["c", "c"]


def test_pinned_ones_stand_first_by_their_last_change_also_in_a_search(pane: ConversationsPane) -> None:
    a, b, c = three()
    views = [a, replace(b, pinned=True), replace(c, pinned=True)]
    pane.show_conversations(views)
    listed = ["Pinned", "A soup", "Bread <b>without</b> kneading", "Today", "Heights of the Elbrus"]
    assert rows(pane) == listed
    pane.show_conversations(views, "e")
    assert rows(pane) == listed
    pane.show_conversations([a, b, replace(c, pinned=True)])
    assert rows(pane) == ["Pinned", listed[2], *listed[3:], "Yesterday", "A soup"]


def test_p_pins_and_unpins_unless_a_title_is_looked_for(pane: ConversationsPane) -> None:
    wanted = heard(pane.pin_wanted)
    a, b, c = three()
    pane.show_conversations([a, replace(b, pinned=True), c])
    for key in ("a", "b"):
        pane.rows.highlight(key)
        press(pane, Qt.Key.Key_P)
    assert wanted == [("a", True), ("b", False)]
    pane.show_conversations([a, view("d", NOW - HOUR, "Opposites"), c])
    QTest.keyClicks(pane.rows, "op")
    assert pane.rows.highlighted == "d" and len(wanted) == 2


def test_the_open_conversation_and_the_talk_in_it_are_marked(pane: ConversationsPane) -> None:
    pane.show_conversations(three())
    look = Look.of(pane.rows.palette())
    assert look.user_card.name() not in ink(pane, "a") and look.good.name() not in ink(pane, "a")
    pane.list.mark(current="a", live="b")
    assert look.user_card.name() in ink(pane, "a") and look.accent.name() in ink(pane, "a")
    assert look.good.name() in ink(pane, "b") and look.good.name() not in ink(pane, "a")
    pane.list.mark(current="b", live="")
    assert look.user_card.name() in ink(pane, "b") and look.user_card.name() not in ink(pane, "a")
    assert look.good.name() not in ink(pane, "b")


# -- searching


def test_escape_clears_the_search_and_down_goes_to_the_list(pane: ConversationsPane) -> None:
    searched = heard(pane.searched)
    pane.show_conversations(three())
    pane.search.setFocus()
    QTest.keyClicks(pane.search, "soup")
    QTest.keyClick(pane.search, Qt.Key.Key_Down)
    assert searched == ["soup"] and pane.rows.hasFocus() and pane.rows.highlighted == "a"
    QTest.keyClick(pane.rows, Qt.Key.Key_Up)
    assert pane.search.hasFocus(), "up from the first row leads back"
    QTest.keyClick(pane.search, Qt.Key.Key_Escape)
    assert pane.search.text() == "" and searched == ["soup", ""] and not pane._search_timer.isActive()


@pytest.mark.parametrize("width", [60, 120, 170, 400, 900])
def test_a_snippet_is_cut_about_its_first_match(pane: ConversationsPane, width: int) -> None:
    metrics = QFontMetrics(pane.rows.items.fonts.small)
    snippet = "😀 Well, there is quite a lot\nto be said before the \x02mount\x03 is named, and the \x02lake\x03, too"
    line, matches = shortened(snippet, metrics, width)
    assert metrics.horizontalAdvance(line) <= width and "\n" not in line and "\x02" not in line
    spelt = line.encode("utf-16-le")
    found = [spelt[2 * start : 2 * (start + length)].decode("utf-16-le") for start, length in matches]
    assert found[0] == "mount" if width >= 100 else "mount".startswith(found[0])
    if width == 900:
        assert line.startswith("😀 Well") and found == ["mount", "lake"]
    else:
        assert line.startswith("…")


# -- renaming


def test_escape_leaves_the_title_and_an_unchanged_one_is_not_made_ones_own(pane: ConversationsPane) -> None:
    renamed = heard(pane.renamed)
    pane.show_conversations(three())
    pane.rows.highlight("b")
    press(pane, Qt.Key.Key_F2)
    QTest.keyClicks(editor(pane), "Something else")
    QTest.keyClick(editor(pane), Qt.Key.Key_Escape)
    assert "A soup" in rows(pane)
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    press(pane, Qt.Key.Key_F2)
    enter(pane)
    assert renamed == [] and pane.rows.hasFocus()


def test_news_take_nothing_from_who_is_typing_a_title(pane: ConversationsPane) -> None:
    renamed = heard(pane.renamed)
    pane.show_conversations(three())
    pane.rows.highlight("b")
    press(pane, Qt.Key.Key_F2)
    QTest.keyClicks(editor(pane), "Stew")
    soup = replace(three()[1], changed=NOW, turns=9)
    pane.show_conversations([soup, view("new", NOW - 60), three()[0]])
    assert rows(pane) == ["Today", "A soup", "Title of new", "Heights of the Elbrus"]
    assert editor(pane).text() == "Stew" and editor(pane).hasFocus()
    enter(pane)
    assert renamed == [("b", "Stew")]


# -- removing


def test_the_time_to_undo_stands_still_while_somebody_is_about_to(pane: ConversationsPane) -> None:
    pane.show_conversations(three())
    pane.undo.show_removed(["A soup"])
    pane.undo.button.setFocus()
    assert not pane.undo.timer.isActive()
    pane.undo.show_removed(["A soup", "Bread"])
    assert not pane.undo.timer.isActive()
    pane.rows.setFocus()
    assert pane.undo.timer.isActive()
    QApplication.sendEvent(pane.undo, _enter())
    assert not pane.undo.timer.isActive()
    QApplication.sendEvent(pane.undo, QEvent(QEvent.Type.Leave))
    assert pane.undo.timer.isActive()
    QApplication.sendEvent(pane.undo, _enter())
    pane.window().hide()
    assert pane.undo.timer.isActive(), "a window that goes away under the mouse tells of no leaving"


def _enter() -> QEvent:
    return QEnterEvent(QPointF(5, 5), QPointF(5, 5), QPointF(5, 5))


def test_all_are_removed_only_when_that_is_meant(pane: ConversationsPane) -> None:
    wanted = heard(pane.remove_all_wanted)
    pane.show_conversations(three())
    pane.more.click()
    assert pane.more_menu.isVisible() and pane.remove_all.isEnabled()
    pane.more_menu.close()
    pane.remove_all.trigger()
    assert pane.ask.isVisible() and pane.ask.no_button.hasFocus()
    assert pane.ask.label.text() == "Delete all conversations, and the sound that was kept with them?"
    QTest.keyClick(pane.ask.no_button, Qt.Key.Key_Escape)
    assert not pane.ask.isVisible() and pane.rows.hasFocus()
    pane.remove_all.trigger()
    QTest.mouseClick(pane.ask.no_button, Qt.MouseButton.LeftButton)
    assert not pane.ask.isVisible() and wanted == []
    pane.remove_all.trigger()
    QTest.mouseClick(pane.ask.yes_button, Qt.MouseButton.LeftButton)
    assert not pane.ask.isVisible() and wanted == [()]


# -- menus


def menu_words(menu: QMenu) -> list[str]:
    return [action.text().replace("&", "") for action in menu.actions() if not action.isSeparator()]


def choose(menu: QMenu, words: str) -> None:
    assert menu.isVisible()
    for _ in range(len(menu.actions())):
        QTest.keyClick(menu, Qt.Key.Key_Down)
        active = menu.activeAction()
        if active is not None and active.text().replace("&", "") == words:
            QTest.keyClick(menu, Qt.Key.Key_Return)
            return
    raise AssertionError(words)


@pytest.mark.parametrize("keys", [(Qt.Key.Key_Menu,), (Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)])
def test_the_menu_by_keyboard(pane: ConversationsPane, keys: tuple[Qt.Key, ...]) -> None:
    signals = (pane.opened, pane.duplicate_wanted, pane.export_wanted, pane.remove_wanted)
    said = [heard(signal) for signal in signals]
    pane.show_conversations(three())
    pane.rows.highlight("b")
    for words in ("Open", "Duplicate with another model…", "Export…", "Delete"):
        press(pane, *keys)
        entries = "Open; Rename; Pin; Move to folder; Duplicate with another model…; Export…; Delete"
        assert menu_words(pane.menu) == entries.split("; ")
        choose(pane.menu, words)
        assert not pane.menu.isVisible()
    assert said == [["b"]] * 4
    pins = heard(pane.pin_wanted)
    press(pane, *keys)
    choose(pane.menu, "Pin")
    pane.show_conversations([replace(view, pinned=True) for view in three()])
    press(pane, *keys)
    choose(pane.menu, "Unpin")
    assert pins == [("b", True), ("b", False)]
    press(pane, *keys)
    choose(pane.menu, "Rename")
    assert editor(pane).text() == "A soup"


def test_the_menu_by_mouse_is_about_the_row_under_it(pane: ConversationsPane) -> None:
    wanted = heard(pane.export_wanted)
    pane.show_conversations(three())
    pane.rows.highlight("b")
    place = middle(pane, "c")

    def right_click(place: QPoint) -> None:
        shown = pane.rows.viewport().mapToGlobal(place)
        event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, place, shown)
        QApplication.sendEvent(pane.rows.viewport(), event)

    right_click(place)
    choose(pane.menu, "Export…")
    assert wanted == ["c"]
    right_click(pane.rows.visualRect(pane.list.index(0)).center())
    assert not pane.menu.isVisible(), "a heading has none"


def test_the_heading_has_the_rest(pane: ConversationsPane) -> None:
    new, brought, out = heard(pane.new_wanted), heard(pane.import_wanted), heard(pane.export_wanted)
    pane.show_conversations(())
    pane.new_button.click()
    assert new == [()]
    pane.more.click()
    assert not pane.export_chosen.isEnabled() and not pane.remove_all.isEnabled()
    choose(pane.more_menu, "Import…")
    pane.show_conversations(three())
    pane.list.mark(current="c")
    pane.more.click()
    choose(pane.more_menu, "Export…")
    pane.rows.highlight("a")
    pane.more.click()
    choose(pane.more_menu, "Export…")
    assert brought == [()] and out == ["c", "a"]


# -- staying put


def test_changes_leave_the_highlight_and_the_place_in_the_list(pane: ConversationsPane) -> None:
    views = list(some(300, NOW).views.values())
    pane.show_conversations(views)
    pane.rows.highlight("c150")
    QApplication.processEvents()
    before = pane.rows.visualRect(pane.list.index(pane.list.place("c150"))).top()
    pane.show_conversations([replace(views[200], changed=NOW - 1), view("new", NOW - 2), *views[:200], *views[201:]])
    QApplication.processEvents()
    assert rows(pane)[1:3] == [views[200].title, "Title of new"]
    assert pane.rows.highlighted == "c150"
    assert pane.rows.visualRect(pane.list.index(pane.list.place("c150"))).top() == before
    few = [other for place, other in enumerate(views) if place % 3 == 0 or place == 150]
    resets = heard(pane.list.modelReset)
    pane.show_conversations(few)
    assert len(resets) == 1 and pane.rows.highlighted == "c150", "and also where the list is reset"
    assert pane.rows.visualRect(pane.list.index(pane.list.place("c150"))).top() == before
    bar = pane.rows.verticalScrollBar()
    bar.setValue(bar.maximum() // 4)
    seen = pane.rows.in_view()
    pane.show_conversations([one for one in few if one.key != seen[0][0]])
    assert set(seen[1:4]) < set(pane.rows.in_view()), "without it, what is in view holds"


def test_at_the_top_one_stays_at_the_top(pane: ConversationsPane) -> None:
    views = list(some(60, NOW).views.values())
    pane.show_conversations(views)
    pane.show_conversations([view("new", NOW), *views])
    assert pane.rows.verticalScrollBar().value() == 0
    pane.rows.verticalScrollBar().setValue(400)
    pane.show_conversations(views[20:], "soup")
    assert pane.rows.verticalScrollBar().value() == 0, "a search begins at its first"


@pytest.mark.parametrize("seed", range(12))
def test_whatever_changes_the_list_is_as_it_is_told(pane: ConversationsPane, seed: int) -> None:
    chance = random.Random(seed)
    known = [view(f"k{place}", NOW - place * 5 * HOUR) for place in range(60)]
    for _ in range(8):
        shown = chance.sample(known, chance.choice((0, 1, 20, 55, 60)))
        shown = [
            replace(one, changed=NOW - chance.random() * 90 * DAY) if chance.random() < 0.1 else one for one in shown
        ]
        pane.show_conversations(shown)
        expected = sorted(shown, key=lambda one: one.changed, reverse=True)
        assert [row.view for row in pane.list.rows if row.view is not None] == expected
        assert len({row.name for row in pane.list.rows}) == len(pane.list.rows)
        known = [next((one for one in shown if one.key == old.key), old) for old in known]


# -- names, sizes, colours


def test_a_row_is_read_out_with_its_title_and_date(pane: ConversationsPane) -> None:
    pane.show_conversations(three())
    pane.list.mark(current="a", live="a")
    spoken = QAccessible.queryAccessibleInterface(pane.rows)
    texts = [spoken.child(place).text(QAccessible.Text.Name) for place in range(spoken.childCount())]
    assert texts[:2] == ["Today", "Heights of the Elbrus, Today 14:30, Qwen3-30B, open, running"]
    assert texts[3] == "A soup, Yesterday 15:30, gemma3:4b"
    pane.show_conversations([view("a", NOW, snippet="the \x02mountain\x03")], "mountain")
    place = pane.list.index(1)
    assert place.data(Qt.ItemDataRole.AccessibleTextRole).endswith(", the mountain")
