"""The pane with its history: listing, removing, restoring, exporting and importing conversations."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.gui.conversations.history_controller import HistoryController
from app.gui.conversations.pane import ConversationsPane
from app.gui.state.background_tasks import BackgroundTasks
from app.history.base import Setup
from app.history.store import HistoryStore
from app.session.control import BackendChoice, UserError
from tests.gui.conversations.test_pane import editor, press, rows
from tests.gui.fake_history import FakeHistory, some
from tests.gui.helpers import heard, until

NOW = datetime(2026, 11, 22, 15, 30).timestamp()
REFUSED = UserError("The file with your conversations can't be written.")


class Kept:
    """The pane, its controller and the history, with the signals that the controller has emitted."""

    def __init__(self, service: FakeHistory) -> None:
        self.service = service
        promised: HistoryStore = service
        self.window = QWidget()
        self.pane = ConversationsPane(self.window, now=lambda: NOW)
        self.pane.setLocale(QLocale("en_GB"))
        self.pane.setFixedSize(260, 500)
        QVBoxLayout(self.window).addWidget(self.pane)
        self.background = BackgroundTasks(self.window)
        self.controller = HistoryController(self.pane, promised, self.background, self.window)
        self.opened = heard(self.controller.opened)
        self.told = heard(self.controller.told)
        self.failed = heard(self.controller.failed)
        self.removed = heard(self.controller.removed)
        self.duplicated = heard(self.controller.duplicated)

    @property
    def keys(self) -> list[str]:
        return [row.name for row in self.pane.list.rows if row.view is not None]

    async def settle(self) -> None:
        await until(lambda: not self.background._tasks)

    def asked(self, name: str) -> list[tuple[object, ...]]:
        return [call[1:] for call in self.service.calls if call[0] == name]


@asynccontextmanager
async def kept(service: FakeHistory) -> AsyncIterator[Kept]:
    """A window with the pane in it, that has listed what there is."""
    all = Kept(service)
    try:
        all.window.show()
        all.window.activateWindow()
        await until(all.window.isActiveWindow)
        all.controller.refresh()
        await all.settle()
        yield all
    finally:
        await all.controller.finish()
        await all.background.close()
        all.window.close()
        all.window.deleteLater()


@pytest.fixture
async def all() -> AsyncIterator[Kept]:
    async with kept(some(3, NOW)) as all:
        yield all


# -- the list


async def test_what_there_is_is_listed_and_opened_by_a_click(all: Kept) -> None:
    assert all.keys == ["c0", "c1", "c2"]
    place = all.pane.rows.visualRect(all.pane.list.index(2)).center()
    QTest.mouseClick(all.pane.rows.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert all.opened == [all.service.views["c1"]]
    all.pane.list.mark(current="c1")
    press(all.pane, Qt.Key.Key_Return)
    assert len(all.opened) == 1, "it is open already"


async def test_a_search_lists_what_is_found_and_clearing_lists_all() -> None:
    async with kept(some(5, NOW)) as all:
        all.service.texts["c3"] = "They turn red since the green goes first"
        QTest.keyClicks(all.pane.search, "green  RED")
        await until(lambda: all.keys == ["c3"])
        assert all.pane.list.view("c3").snippet == "They turn \x02red\x03 since the \x02green\x03 goes first"
        QTest.keyClicks(all.pane.search, " zebra")
        await until(lambda: all.keys == [])
        assert all.pane.rows.empty_text == "Nothing found for “green RED zebra”."
        QTest.keyClick(all.pane.search, Qt.Key.Key_Escape)
        await until(lambda: len(all.keys) == 5)
        assert all.pane.list.view("c3").snippet == ""


async def test_of_two_searches_the_newer_one_is_shown() -> None:
    async with kept(some(8, NOW)) as all:
        all.service.gates["conversations"] = gate = asyncio.Event()
        all.pane.searched.emit("soup")
        await until(lambda: ("soup",) in all.asked("conversations"))
        all.pane.searched.emit("grey cat")
        await until(lambda: ("grey cat",) in all.asked("conversations"))
        gate.set()
        await all.settle()
        assert all.keys == ["c5"]


async def test_what_a_search_does_not_show_is_known_still(all: Kept) -> None:
    listed = heard(all.controller.listed)
    all.pane.searched.emit("soup")
    await all.settle()
    assert [tuple(view.key for view in views) for views in listed] == [("c1",)]
    assert all.controller.setup("c0") == all.service.views["c0"].setup and all.controller.setup("other") is None
    all.controller.ask_export("c2")
    assert all.controller.files.asking.isVisible()
    all.controller.files.asking.reject()
    all.controller.remove(("c0", "c0", "other"))
    all.controller.remove(("c0",))
    assert all.pane.undo.sentence == "“Heights of the Elbrus” removed."
    await all.settle()
    assert all.asked("remove") == [(("c0",),)] and all.controller.setup("c0") is None
    all.controller.ask_export("c0")
    assert all.failed == ["Nothing has been said in this conversation that could be exported."]


async def test_trouble_stands_in_the_pane_until_it_is_over() -> None:
    service = some(1, NOW)
    service.trouble = "The disk is full: what is said now is not kept."
    async with kept(service) as all:
        assert all.pane.trouble.sentence == service.trouble and all.keys == ["c0"]
        service.trouble = ""
        service.refusals["conversations"] = REFUSED
        all.controller.refresh()
        await all.settle()
        assert all.pane.trouble.sentence == str(REFUSED) and all.failed == []
        all.controller.refresh()
        await all.settle()
        assert all.pane.trouble.sentence == "" and not all.pane.trouble.isVisible()


# -- titles


async def test_a_title_is_kept_and_an_empty_one_is_made_from_the_words(all: Kept) -> None:
    all.service.texts["c0"] = "How high is the Elbrus after all"
    for typed, title in (("My mountain", "My mountain"), ("", "How high is the")):
        all.pane.rows.highlight("c0")
        press(all.pane, Qt.Key.Key_F2)
        field = editor(all.pane)
        field.clear()
        QTest.keyClicks(field, typed)
        QTest.keyClick(field, Qt.Key.Key_Return)
        await until(lambda title=title: all.pane.list.view("c0").title == title)
        await all.settle()
        await until(lambda: not all.pane.rows.viewport().findChildren(QLineEdit))
    assert all.asked("rename") == [("c0", "My mountain"), ("c0", "")] and all.failed == []


async def test_a_title_that_can_not_be_kept_is_taken_back_and_said(all: Kept) -> None:
    before = rows(all.pane)
    all.service.refusals["rename"] = REFUSED
    all.pane.list.setData(all.pane.list.index(1), "Mine")
    assert rows(all.pane)[1] == "Mine"
    await all.settle()
    assert rows(all.pane) == before and all.failed == [str(REFUSED)]


async def test_what_is_pinned_stands_first_and_stays_highlighted() -> None:
    async with kept(some(4, NOW)) as all:
        all.pane.rows.highlight("c2")
        press(all.pane, Qt.Key.Key_P)
        await until(lambda: all.keys == ["c2", "c0", "c1", "c3"])
        assert rows(all.pane)[0] == "Pinned" and all.pane.rows.highlighted == "c2"
        press(all.pane, Qt.Key.Key_P)
        await until(lambda: all.keys == ["c0", "c1", "c2", "c3"])
        assert all.asked("pin") == [("c2", True), ("c2", False)] and all.failed == []


# -- removing


async def test_delete_and_undo() -> None:
    async with kept(some(4, NOW)) as all:
        all.pane.rows.highlight("c1")
        press(all.pane, Qt.Key.Key_Delete)
        assert all.keys == ["c0", "c2", "c3"], "at once"
        assert all.pane.undo.sentence == "“A soup from what is left” removed."
        assert all.removed == [("c1",)]
        press(all.pane, Qt.Key.Key_Delete)
        assert all.pane.undo.sentence == "2 conversations removed." and all.keys == ["c0", "c3"]
        await all.settle()
        assert set(all.service.removed) == {"c1", "c2"}
        all.pane.undo.button.setFocus()
        QTest.mouseClick(all.pane.undo.button, Qt.MouseButton.LeftButton)
        assert not all.pane.undo.isVisible() and all.pane.rows.hasFocus()
        await all.settle()
        assert all.keys == ["c0", "c1", "c2", "c3"] and all.service.removed == {} and all.asked("purge") == []
        assert all.pane.rows.highlighted == "c2"


async def test_what_is_not_brought_back_in_time_is_erased(all: Kept) -> None:
    all.controller.remove(("c0", "c1"))
    await all.settle()
    assert set(all.service.removed) == {"c0", "c1"} and all.pane.undo.timer.isActive()
    all.pane.undo.timer.timeout.emit()
    await all.settle()
    assert all.service.removed == {} and len(all.asked("purge")) == 1 and not all.pane.undo.isVisible()
    press(all.pane, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    await all.settle()
    assert all.asked("restore") == [] and all.keys == ["c2"]


async def test_a_removal_during_an_erasure_can_still_be_undone(all: Kept) -> None:
    all.controller.remove(("c0",))
    await all.settle()
    all.service.gates["purge"] = gate = asyncio.Event()
    all.pane.undo.timer.timeout.emit()
    await until(lambda: all.asked("purge"))
    all.controller.remove(("c1",))
    await asyncio.sleep(0.02)
    assert len(all.asked("remove")) == 1 and all.keys == ["c2"], "it waits for its turn"
    gate.set()
    await all.settle()
    assert set(all.service.removed) == {"c1"}
    all.pane.undo.button.click()
    await all.settle()
    assert all.keys == ["c1", "c2"]


async def test_what_can_not_be_removed_comes_back(all: Kept) -> None:
    all.service.refusals["remove"] = REFUSED
    all.controller.remove(("c0",))
    assert all.keys == ["c1", "c2"]
    await all.settle()
    assert all.keys == ["c0", "c1", "c2"] and all.failed == [str(REFUSED)] and not all.pane.undo.isVisible()


async def test_delete_all_means_all_also_in_a_search_and_can_be_undone() -> None:
    async with kept(some(12, NOW)) as all:
        all.pane.search.setText("soup")
        await until(lambda: all.keys == ["c1", "c11"])
        all.pane.remove_all.trigger()
        QTest.mouseClick(all.pane.ask.yes_button, Qt.MouseButton.LeftButton)
        await all.settle()
        assert all.service.views == {} and all.pane.undo.sentence == "12 conversations removed." and all.keys == []
        all.pane.undo.button.click()
        await all.settle()
        assert all.keys == ["c1", "c11"] and len(all.service.views) == 12


async def test_what_was_asked_for_is_done_before_the_window_is_gone(all: Kept) -> None:
    all.service.gates["rename"] = gate = asyncio.Event()
    all.controller.rename("c0", "Mine")
    all.controller.remove(("c1",))
    ending = asyncio.create_task(all.controller.finish(5.0))
    await asyncio.sleep(0.02)
    assert not ending.done()
    gate.set()
    await ending
    assert all.service.views["c0"].title == "Mine" and set(all.service.removed) == {"c1"}
    all.service.gates["remove"] = gate = asyncio.Event()
    all.controller.remove(("c2",))
    await all.controller.finish(0.05)
    assert "c2" in all.service.views, "but it is not waited for without end"
    gate.set()


# -- another model


async def test_a_duplicate_is_listed_highlighted_and_told(all: Kept) -> None:
    setup = Setup(BackendChoice("openai", "gpt-4.1-mini"))
    all.controller.duplicate("c1", setup)
    await all.settle()
    assert [view.key for view in all.duplicated] == ["c1 again"] and all.duplicated[0].setup == setup
    assert all.keys[0] == "c1 again" and all.pane.rows.highlighted == "c1 again"
    all.service.refusals["duplicate"] = REFUSED
    all.controller.duplicate("c1", setup)
    await all.settle()
    assert len(all.duplicated) == 1 and all.failed == [str(REFUSED)]


# -- files


async def saved(all: Kept, name: str, filter: str, folder: Path) -> None:
    dialog = all.controller.files.asking
    assert dialog is not None and dialog.isVisible()
    dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    dialog.setDirectory(str(folder))
    chosen = next(known for known in dialog.nameFilters() if filter in known)
    dialog.selectNameFilter(chosen)
    dialog.filterSelected.emit(chosen)
    if name:
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        field.setText(name)
    await asyncio.sleep(0.01)
    button = next(
        button for button in dialog.findChildren(QPushButton) if button.text().replace("&", "") in ("Save", "Open")
    )
    button.click()
    await all.settle()


@pytest.mark.parametrize(
    ("typed", "filter", "written", "form"),
    [
        ("", "*.md", "Heights of the Elbrus.md", "markdown"),
        ("", "*.srt", "Heights of the Elbrus.srt", "srt"),
        ("", "*.wav", "Heights of the Elbrus.wav", "wav"),
        ("mine", "*.json", "mine.json", "json"),
        ("version 1.2", "*.md", "version 1.2.md", "markdown"),
        ("mine.MD", "*.md", "mine.MD", "markdown"),
        ("mine.md", "*.json", "mine.md.json", "json"),
    ],
)
async def test_the_filter_decides_the_format(
    tmp_path: Path, typed: str, filter: str, written: str, form: str, all: Kept
) -> None:
    all.pane.rows.highlight("c0")
    all.pane.export_wanted.emit("c0")
    await saved(all, typed, filter, tmp_path)
    assert all.failed == [] and all.asked("export") == [("c0", tmp_path / written, form)]
    assert (tmp_path / written).is_file()
    assert all.told == [f"“Heights of the Elbrus” was written to {tmp_path / written}."]
    assert all.controller.files.asking is None


async def test_sound_is_offered_only_where_it_was_kept_and_a_name_fits_any_file_system(all: Kept) -> None:
    all.service.views["c1"] = replace(all.service.views["c1"], title="a/b: v1.2 <what?>\n" + "x" * 100)
    all.controller.refresh()
    await all.settle()
    for key, sound in (("c0", True), ("c1", False)):
        all.controller.ask_export(key)
        assert any("*.wav" in known for known in all.controller.files.asking.nameFilters()) is sound
    name = Path(all.controller.files.asking.selectedFiles()[0]).name
    assert name == "a b v1 2 what " + "x" * 46 + ".md"
    all.service.views["c1"] = replace(all.service.views["c1"], title="Con")
    all.controller.refresh()
    await all.settle()
    all.controller.ask_export("c1")
    assert Path(all.controller.files.asking.selectedFiles()[0]).name == "Con_.md"
    all.controller.files.asking.reject()
    await all.settle()
    assert all.asked("export") == [] and all.told == all.failed == []


async def test_a_file_that_nobody_was_asked_about_is_not_written_over(tmp_path: Path, all: Kept) -> None:
    (tmp_path / "mine.md.json").write_text("precious", encoding="utf-8")
    all.controller.ask_export("c0")
    await saved(all, "mine.md", "*.json", tmp_path)
    assert (tmp_path / "mine.md.json").read_text(encoding="utf-8") == "precious" and all.asked("export") == []
    assert all.failed == ["“mine.md.json” is there already. Export under another name, or choose that file itself."]


async def test_what_can_not_be_written_is_said(tmp_path: Path, all: Kept) -> None:
    all.service.refusals["export"] = UserError("The folder can't be written to.")
    all.controller.ask_export("c0")
    await saved(all, "mine", "*.md", tmp_path)
    assert all.failed == ["The folder can't be written to."] and all.told == []


async def test_a_file_is_brought_in_and_shown(tmp_path: Path, all: Kept) -> None:
    path = tmp_path / "kept.json"
    path.write_text(json.dumps({"title": "From the other machine"}), encoding="utf-8")
    all.pane.search.setText("soup")
    await until(lambda: all.keys == ["c1"])
    all.pane.import_wanted.emit()
    await saved(all, "kept.json", "*.json", tmp_path)
    assert all.keys == ["from kept.json", "c0", "c1", "c2"] and all.pane.search.text() == ""
    assert all.pane.rows.highlighted == "from kept.json"
    assert all.told == ["“From the other machine” is among your conversations now."]
    all.controller.remove(("from kept.json",))
    all.pane.undo.timer.timeout.emit()
    await all.settle()
    assert "from kept.json" not in all.keys
    all.controller.files.bring_in(path)
    await all.settle()
    assert all.keys[0] == "from kept.json", "what was erased can be brought in once more"


async def test_a_file_that_is_none_is_refused(tmp_path: Path, all: Kept) -> None:
    (tmp_path / "other.json").write_text("[]", encoding="utf-8")
    all.controller.ask_import()
    await saved(all, "other.json", "*.json", tmp_path)
    assert all.failed == ["“other.json” holds no conversation. Choose a file that this app has exported."]
    assert all.keys == ["c0", "c1", "c2"] and all.told == []
