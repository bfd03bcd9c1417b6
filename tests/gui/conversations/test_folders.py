"""Folders of conversations: opened and closed, filled and emptied, by mouse and by keyboard."""

from dataclasses import replace

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QInputDialog, QLineEdit

from app.gui.conversations.pane import ConversationsPane
from tests.gui.conversations.conftest import NOW
from tests.gui.conversations.test_history import kept
from tests.gui.conversations.test_pane import choose, menu_words, press, rows, three
from tests.gui.fake_history import some
from tests.gui.helpers import heard, until


def index_of(pane: ConversationsPane, words: str) -> QModelIndex:
    return next(index for place in range(pane.list.rowCount()) if (index := pane.list.index(place)).data() == words)


def click(pane: ConversationsPane, words: str) -> None:
    place = pane.rows.visualRect(index_of(pane, words)).center()
    QTest.mouseClick(pane.rows.viewport(), Qt.MouseButton.LeftButton, pos=place)


def type_name(pane: ConversationsPane, name: str) -> None:
    dialog = pane.folders.dialog
    assert isinstance(dialog, QInputDialog) and dialog.isVisible()
    field = dialog.findChild(QLineEdit)
    field.selectAll()
    QTest.keyClicks(field, name)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_folders_stand_behind_what_is_pinned_and_open_by_click_and_key(pane: ConversationsPane) -> None:
    a, b, c = three()
    views = [replace(a, pinned=True, folder="Work"), replace(b, folder="Work"), replace(c, folder="Food & wine")]
    pane.show_conversations(views)
    assert rows(pane) == ["Pinned", a.title, "Food & wine", "Work"], "what is pinned is first, wherever it lies"
    click(pane, "Work")
    assert rows(pane) == ["Pinned", a.title, "Food & wine", "Work", b.title]
    spoken = [index_of(pane, name).data(Qt.ItemDataRole.AccessibleTextRole) for name in ("Food & wine", "Work")]
    assert spoken == ["Folder Food & wine, 1 conversation, closed", "Folder Work, 1 conversation, open"]
    pane.rows.setFocus()
    for key, shown in ((Qt.Key.Key_Left, 4), (Qt.Key.Key_Right, 5), (Qt.Key.Key_Space, 4), (Qt.Key.Key_Return, 5)):
        press(pane, key)
        assert pane.list.rowCount() == shown and pane.list.folder(pane.rows.currentIndex())
    press(pane, Qt.Key.Key_Up)
    assert pane.rows.currentIndex() == index_of(pane, "Food & wine")
    press(pane, Qt.Key.Key_Down)
    press(pane, Qt.Key.Key_Down)
    assert pane.rows.highlighted == "b"


def test_a_search_and_an_open_conversation_show_what_is_in_a_closed_folder(pane: ConversationsPane) -> None:
    a, b, c = three()
    views = [replace(a, folder="Work"), b, replace(c, folder="Food")]
    pane.show_conversations(views)
    assert rows(pane) == ["Food", "Work", "Yesterday", b.title]
    pane.show_conversations(views[:1], "Elbrus")
    assert rows(pane) == ["Work", a.title]
    pane.show_conversations(views)
    assert rows(pane) == ["Food", "Work", "Yesterday", b.title]
    pane.list.mark(current="a")
    assert rows(pane) == ["Food", "Work", a.title, "Yesterday", b.title]
    click(pane, "Work")
    pane.show_conversations(views)
    assert a.title not in rows(pane), "closed by hand, it stays closed"
    pane.more.click()
    assert pane.export_chosen.isEnabled(), "the open conversation is still the one that is meant"
    pane.more_menu.close()
    pane.highlight("c")
    assert pane.rows.highlighted == "c"


def test_the_menu_moves_and_names(pane: ConversationsPane) -> None:
    moved, renamed = heard(pane.folders.moved), heard(pane.folders.folder_renamed)
    a, b, c = three()
    pane.show_conversations([replace(a, folder="Work"), b, replace(c, folder="Food & wine")])
    pane.rows.highlight("b")
    press(pane, Qt.Key.Key_Menu)
    assert menu_words(pane.folders) == ["Food  wine", "Work", "New folder…", "Move out of the folder"]
    assert not pane.folders.actions()[-1].isEnabled()
    pane.folders.actions()[0].trigger()
    next(action for action in pane.folders.actions() if action.text() == "&New folder…").trigger()
    pane.menu.close()
    type_name(pane, "  Soups  and more ")
    assert moved == [("b", "Food & wine"), ("b", "Soups and more")]
    pane.highlight("a")
    press(pane, Qt.Key.Key_Menu)
    assert [action.isChecked() for action in pane.folders.actions()[:2]] == [False, True]
    pane.folders.actions()[-1].trigger()
    pane.menu.close()
    assert moved[-1] == ("a", "")
    pane.rows.setCurrentIndex(index_of(pane, "Work"))
    press(pane, Qt.Key.Key_F2)
    type_name(pane, "Office")
    press(pane, Qt.Key.Key_F10, Qt.KeyboardModifier.ShiftModifier)
    choose(pane.folders.own, "Remove folder")
    assert renamed == [("Work", "Office"), ("Work", "")]


async def test_what_is_moved_is_kept() -> None:
    async with kept(some(3, NOW)) as all:
        all.pane.folders.moved.emit("c1", "Trips")
        await until(lambda: "Trips" in rows(all.pane))
        all.pane.folders.folder_renamed.emit("Trips", "Journeys")
        await until(lambda: "Journeys" in rows(all.pane))
        assert all.asked("move") == [("c1", "Trips")] and all.asked("rename_folder") == [("Trips", "Journeys")]
        all.pane.folders.folder_renamed.emit("Journeys", "")
        await until(lambda: all.keys == ["c0", "c1", "c2"])
