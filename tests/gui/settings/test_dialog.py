"""The settings dialog: an editor for each setting, groups and search, resetting, and changes made elsewhere."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QStyle,
    QStyleOptionSpinBox,
    QToolButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from app.gui.settings.choice_editors import EDITORS
from app.gui.settings.dialog import SettingsDialog
from app.gui.settings.rows import SettingRow
from app.settings.declarations import Settings, declaration, declarations, page_of
from app.settings.setting import Setting
from tests.gui.helpers import heard, wheel
from tests.gui.window.test_accessibility import controls, cut_off

SHOWN = [one for one in declarations() if one.place == "dialog"]
CTRL_ALT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier
DIALOGS = ("backends", "models", "machine", "style", "prices", "servers", "sound", "log")
DEVICES = [("", "System default"), ("Desk", "Desk")]


@dataclass
class Place:
    """A dialog on screen, what it said, and a window that keeps what it said, as the app's does."""

    host: QWidget
    dialog: SettingsDialog
    settings: Settings
    told: list[tuple[str, object]] = field(default_factory=list)

    def take(self, key: str, value: object) -> None:
        self.told.append((key, value))
        setattr(self.settings, key, value)

    def row(self, key: str) -> SettingRow:
        self.dialog.open_refreshed(key)
        row = self.dialog.rows[key]
        assert row.isVisible()
        self.dialog.area.ensureWidgetVisible(row)
        QApplication.processEvents()
        return row

    @property
    def found(self) -> list[str]:
        return [key for key, row in self.dialog.rows.items() if row.isVisible()]

    @property
    def titles(self) -> list[str]:
        return [part.heading.text() for part in self.dialog.area.sections.values() if part.isVisible()]

    def go(self, page: str) -> None:
        self.dialog.pages.setCurrentRow(list(Settings.pages).index(page))


def make_place(**kept: Any) -> Place:
    host = QWidget()
    settings = Settings(**kept)
    place = Place(host, SettingsDialog(settings, host, DIALOGS), settings)
    place.dialog.changed.connect(place.take)
    for key in ("microphone", "loudspeaker", "voice", "recogniser"):
        place.dialog.set_choices(key, DEVICES)
    return place


def place_with(qtbot: QtBot, **kept: Any) -> Place:
    place = make_place(**kept)
    qtbot.addWidget(place.host)
    place.dialog.open_refreshed()
    qtbot.waitUntil(place.dialog.isActiveWindow)
    return place


pytestmark = pytest.mark.usefixtures("no_double_clicks")


@pytest.fixture
def own_place(qtbot: QtBot) -> Place:
    return place_with(qtbot)


@pytest.fixture(scope="module")
def _one_place(qapp: QApplication) -> Iterator[Place]:
    place = make_place()
    yield place
    place.host.close()
    place.host.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)


@pytest.fixture
def place(qtbot: QtBot, _one_place: Place) -> Iterator[Place]:
    """The dialog that the module's tests share, with the defaults, at its first page."""
    place = _one_place
    for declared in SHOWN:
        if getattr(place.settings, declared.name) != declared.default:
            setattr(place.settings, declared.name, declared.default)
            place.dialog.show_value(declared.name, declared.default)
    place.told.clear()
    place.dialog.search.clear()
    place.go(next(iter(Settings.pages)))
    place.dialog.open_refreshed()
    qtbot.waitUntil(place.dialog.isActiveWindow)
    yield place
    place.dialog.close()


def type_over(field: QWidget, text: str) -> None:
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text)


def change_by_keys(row: SettingRow) -> Any:
    """Changes a setting as somebody without a mouse does; returns what it should be."""
    declared, editor = row.declared, row.editor
    focus = QApplication.focusWidget()
    assert focus is not None and row.isAncestorOf(focus)
    match declared.kind:
        case "switch":
            QTest.keyClick(focus, Qt.Key.Key_Space)
            return not declared.default
        case "colour":
            QTest.keyClick(focus, Qt.Key.Key_Right)
            return declared.choices[1]
        case "slider":
            QTest.keyClick(focus, Qt.Key.Key_Right)
            return declared.default + declared.step
        case "choice" | "device" | "model":
            QTest.keyClick(focus, Qt.Key.Key_Down)
            view = editor.list.view()
            assert view.isVisible()
            QTest.keyClick(view, Qt.Key.Key_End)
            QTest.keyClick(view, Qt.Key.Key_Return)
            return declared.choices[-1] if declared.choices else "Desk"
        case "number":
            type_over(focus, f"{declared.highest - declared.step:g}")
            QTest.keyClick(focus, Qt.Key.Key_Return)
            return type(declared.default)(declared.highest - declared.step)
        case "line" | "folder":
            type_over(focus, "  something else ")
            QTest.keyClick(focus, Qt.Key.Key_Return)
            return "something else"
        case "lines" | "folders":
            QTest.keyClicks(focus, "one")
            QTest.keyClick(focus, Qt.Key.Key_Return)
            QTest.keyClicks(focus, "two")
            QTest.keyClick(focus, Qt.Key.Key_Tab)
            return "one\ntwo"
        case "keys":
            QTest.keyClick(focus, Qt.Key.Key_K, CTRL_ALT)
            return "Ctrl+Alt+K"


def change_by_mouse(row: SettingRow, elsewhere: QWidget, folder: Path) -> Any:
    """Changes a setting as somebody with a mouse does; returns what it should be."""
    declared, editor = row.declared, row.editor
    left = Qt.MouseButton.LeftButton
    match declared.kind:
        case "switch":
            QTest.mouseClick(editor.box, left, pos=QPoint(8, editor.box.height() // 2))
            return not declared.default
        case "colour":
            QTest.mouseClick(editor.dots[declared.choices[-1]], left)
            return declared.choices[-1]
        case "slider":
            QTest.mouseClick(editor.slider, left, pos=QPoint(editor.slider.width() - 1, editor.slider.height() // 2))
            return declared.default + 2 * declared.step
        case "choice" | "device" | "model":
            QTest.mouseClick(editor.list, left)
            QApplication.processEvents()
            view = editor.list.view()
            last = view.model().index(editor.list.count() - 1, 0)
            QTest.mouseClick(view.viewport(), left, pos=view.visualRect(last).center())
            return declared.choices[-1] if declared.choices else "Desk"
        case "number":
            option = QStyleOptionSpinBox()
            editor.box.initStyleOption(option)
            parts = QStyle.SubControl
            up = editor.box.style().subControlRect(
                QStyle.ComplexControl.CC_SpinBox, option, parts.SC_SpinBoxUp, editor.box
            )
            QTest.mouseClick(editor.box, left, pos=up.center())
            QTest.mouseClick(elsewhere, left)
            special = declared.special is not None and declared.special[0] < declared.lowest
            return type(declared.default)(declared.lowest if special else declared.default + declared.step)
        case "folder" | "folders":
            QTest.mouseClick(editor.chooser, left)
            asked = row.window().findChild(QFileDialog)
            assert asked is not None and asked.isVisible()
            asked.setDirectory(str(folder.parent))
            asked.selectFile(str(folder))
            asked.accept()
            return str(folder)
        case "line":
            QTest.mouseClick(editor.line, left)
            type_over(editor.line, "typed")
        case "lines":
            QTest.mouseClick(editor.text.viewport(), left)
            QTest.keyClicks(editor.text, "typed")
        case "keys":
            QTest.mouseClick(editor.field.none_button, left)
            return ""
    QTest.mouseClick(elsewhere, left)
    return "typed"


@pytest.mark.parametrize("declared", SHOWN, ids=lambda one: one.name)
def test_each_setting_is_changed_by_keyboard_and_taken_back(place: Place, declared: Setting) -> None:
    row = place.row(declared.name)
    assert type(row.editor) is EDITORS[declared.kind]
    assert row.value == declared.default and not row.reset.isVisible()
    wanted = change_by_keys(row)
    assert place.told == [(declared.name, wanted)] and type(wanted) is type(declared.default)
    assert row.value == wanted and row.reset.isVisible()
    assert not row.editor.dirty
    row.reset.setFocus()
    QTest.keyClick(row.reset, Qt.Key.Key_Space)
    assert place.told[1:] == [(declared.name, declared.default)]
    assert not row.reset.isVisible() and row.isAncestorOf(QApplication.focusWidget())


@pytest.mark.slow
@pytest.mark.parametrize("declared", SHOWN, ids=lambda one: one.name)
def test_each_setting_is_changed_by_mouse_and_comes_back(place: Place, declared: Setting, tmp_path: Path) -> None:
    row = place.row(declared.name)
    wanted = change_by_mouse(row, place.dialog.search, tmp_path)
    assert place.told == [(declared.name, wanted)] and type(wanted) is type(declared.default)
    shown = row.editor.in_words(declared.default)
    assert shown and shown in row.reset.toolTip()
    place.dialog.close()
    place.dialog.open_refreshed(declared.name)
    assert row.value == wanted and row.reset.isVisible()
    QTest.mouseClick(row.reset, Qt.MouseButton.LeftButton)
    assert place.told[1:] == [(declared.name, declared.default)]


def test_escape_takes_back_what_is_half_typed_and_then_closes(place: Place) -> None:
    for key in ("weights_mirror", "cap_dollars", "persona"):
        row = place.row(key)
        focus = QApplication.focusWidget()
        QTest.keyClicks(focus, "5")
        assert row.editor.dirty
        QTest.keyClick(focus, Qt.Key.Key_Escape)
        assert place.dialog.isVisible() and not row.editor.dirty
    QTest.keyClick(place.dialog, Qt.Key.Key_Escape)
    assert place.told == [] and not place.dialog.isVisible()


def test_closing_keeps_what_is_typed(place: Place) -> None:
    row = place.row("persona")
    QTest.keyClicks(row.editor.text, "A sailor.")
    place.dialog.close()
    assert place.told == [("persona", "A sailor.")]


@pytest.mark.parametrize("key", ["font_scale", "cap_dollars", "theme", "speech_volume"])
def test_the_wheel_scrolls_and_changes_nothing(place: Place, key: str) -> None:
    control = place.row(key).editor.focusProxy()
    wheel(control, -1)
    assert place.told == []


def test_what_a_number_stands_for_is_said_in_words(qtbot: QtBot) -> None:
    place = place_with(qtbot, temperature=0.0)
    row = place.row("temperature")
    assert row.editor.box.text() == "0.00" and row.reset.isVisible()
    QTest.keyClick(row.editor.box, Qt.Key.Key_Down)
    assert place.told == [("temperature", -1.0)] and row.editor.box.text() == declaration("temperature").special[1]
    QTest.keyClick(row.editor.box, Qt.Key.Key_Up)
    assert place.told[1:] == [("temperature", 0.0)]
    assert place.row("cap_dollars").editor.box.text() == "no limit"


def test_an_odd_number_in_the_file_is_no_change(qtbot: QtBot) -> None:
    place = place_with(qtbot, temperature=0.123, answer_delay_ms=77)
    row = place.row("temperature")
    QTest.keyClick(row.editor.box, Qt.Key.Key_Escape)
    assert not place.dialog.isVisible() and place.told == []


def test_keys_that_cannot_be_are_refused_in_words(own_place: Place) -> None:
    row = own_place.row("mute_hotkey")
    edit = row.editor.field.edit
    QTest.keyClick(edit, Qt.Key.Key_K)
    assert row.refusal.isVisible() and "K" in row.refusal.text()
    QTest.keyClick(edit, Qt.Key.Key_Space, CTRL_ALT)
    assert "is used already" in row.refusal.text() and own_place.told == []
    assert row.editor.field.keys == "Ctrl+Alt+Shift+M"
    QTest.keyClick(edit, Qt.Key.Key_J, CTRL_ALT)
    assert own_place.told == [("mute_hotkey", "Ctrl+Alt+J")] and not row.refusal.isVisible()


def test_the_hotkeys_are_left_alone_while_keys_are_typed(place: Place) -> None:
    typing = heard(place.dialog.keys_typed)
    place.row("talk_hotkey")
    assert typing == [True]
    place.dialog.search.setFocus()
    assert typing == [True, False]


def test_a_page_shows_its_settings_alone(place: Place) -> None:
    dialog = place.dialog
    names = [dialog.pages.item(place).text() for place in range(dialog.pages.count())]
    assert names == [page.label for page in Settings.pages.values()]
    dialog.pages.setFocus()
    QTest.keyClick(dialog.pages, Qt.Key.Key_Down)
    assert dialog.area.title.text() == "Voice" and place.titles == ["The voice", "Taking turns", "Speech recognition"]
    assert set(place.found) == {one.name for one in SHOWN if page_of(one.section) == "voice"}
    where = dialog.pages.visualItemRect(dialog.pages.item(names.index("Sound"))).center()
    QTest.mouseClick(dialog.pages.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert dialog.area.title.text() == "Sound" and "microphone" in place.found and "persona" not in place.found


def test_what_a_new_user_looks_for_is_seen_at_once(place: Place) -> None:
    """Microphone, voice, language, the model's key and the theme, without scrolling and without a click."""
    area = place.dialog.area
    QApplication.processEvents()
    parts = [link for link in area.links if link.link.target in ("microphone", "voice", "backends")]
    parts = [part for part in parts if part.link.section == "essentials"]
    assert len(parts) == 3
    for part in (*parts, place.dialog.rows["language"], place.dialog.rows["theme"]):
        place_of = part.mapTo(area.viewport(), part.rect().center())
        assert part.isVisible() and area.viewport().rect().contains(place_of)


def test_links_lead_to_settings_and_dialogs_and_show_values(place: Place) -> None:
    dialog, wanted = place.dialog, heard(place.dialog.dialog_wanted)
    links = {(link.link.section, link.link.target): link for link in dialog.area.links}
    place.dialog.show_value("microphone", "Desk")
    link = links["essentials", "microphone"]
    assert link.isVisible() and link.words.text() == "Desk"
    QTest.mouseClick(link.button, Qt.MouseButton.LeftButton)
    assert dialog.area.title.text() == "Sound" and dialog.rows["microphone"].editor.list.hasFocus() and wanted == []
    QTest.mouseClick(links["devices", "sound"].button, Qt.MouseButton.LeftButton)
    assert wanted == ["sound"]
    for (_, target), link in links.items():
        assert target in DIALOGS or target in dialog.rows, link.label.text()


def test_a_slider_shows_its_number_and_keeps_to_its_steps(qtbot: QtBot) -> None:
    place = place_with(qtbot, speech_rate=105)
    editor = place.row("speech_rate").editor
    assert editor.number.text() == "105 %"
    editor.slider.sliderMoved.emit(163)  # while it is dragged
    assert editor.number.text() == "160 %" and place.told == []
    editor.revert()
    QTest.keyClick(editor.slider, Qt.Key.Key_Right)
    assert place.told == [("speech_rate", 110)] and editor.number.text() == "110 %" and editor.slider.value() == 110
    for _ in range(30):
        QTest.keyClick(editor.slider, Qt.Key.Key_PageUp)
    assert place.told[-1] == ("speech_rate", 200)


@pytest.mark.parametrize(
    ("words", "title"), [("tool servers", "Models › Tools"), ("ANTHROPIC", "Models › Models and servers")]
)
def test_search_finds_links_too_and_names_their_page(place: Place, words: str, title: str) -> None:
    QTest.keyClicks(place.dialog.search, words)
    assert place.found == [] and place.titles == [title]
    assert not place.dialog.area.nothing.isVisible()


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("precision", {"precision"}),  # a label, or a key
        ("fan brightness", {"noise_suppression"}),  # an explanation
        ("GRAPHITE", {"accent"}),  # words of a choice
        ("toggle", {"talk_mode"}),  # a choice as it is in the file
        ("answer_delay_ms", {"answer_delay_ms"}),  # a key
        ("text  size ", {"font_scale"}),
        ("speed", {"speech_rate"}),  # what else users call it
        ("while", {"answer_mode", "talk_mode", "talk_hotkey", "mute_hotkey", "notify_answers", "check_updates"}),
    ],
)
def test_the_search_finds_by_every_word(place: Place, words: str, keys: set[str]) -> None:
    QTest.keyClicks(place.dialog.search, words)
    assert set(place.found) == keys
    sections = {declaration(key).section for key in keys}
    assert {
        f"{page.label} › {title}"
        for page in Settings.pages.values()
        for section, title in page.sections.items()
        if section in sections
    } <= set(place.titles)
    assert not place.dialog.area.nothing.isVisible()


def test_nothing_found_is_said_and_escape_leads_back(place: Place) -> None:
    dialog = place.dialog
    place.go("sound")
    dialog.search.setFocus()
    QTest.keyClicks(dialog.search, "zebra")
    assert place.found == [] and place.titles == []
    assert dialog.area.nothing.isVisible() and dialog.area.nothing.text() == "Nothing found for “zebra”."
    assert dialog.pages.currentRow() == -1
    QTest.keyClick(dialog.search, Qt.Key.Key_Escape)
    assert dialog.isVisible() and dialog.area.title.text() == "Sound" and dialog.pages.currentRow() == 3
    assert not dialog.area.nothing.isVisible()


def test_from_the_search_to_a_setting_and_to_a_group(place: Place, qtbot: QtBot) -> None:
    dialog = place.dialog
    QTest.keyClicks(dialog.search, "mirror")
    QTest.keyClick(dialog.search, Qt.Key.Key_Return)
    assert QApplication.focusWidget() is dialog.rows["weights_mirror"].editor.line and dialog.isVisible()
    QTest.keyClick(dialog, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert dialog.search.hasFocus() and dialog.search.selectedText() == "mirror"
    where = dialog.pages.visualItemRect(dialog.pages.item(0)).center()
    QTest.mouseClick(dialog.pages.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert dialog.search.text() == "" and dialog.area.title.text() == "General"
    (clear,) = dialog.search.findChildren(QToolButton)
    qtbot.waitUntil(lambda: not clear.isVisible(), timeout=5_000)


def test_tab_leads_from_the_search_to_what_was_found(place: Place) -> None:
    dialog = place.dialog
    QTest.keyClicks(dialog.search, "mirror")
    QTest.keyClick(dialog.search, Qt.Key.Key_Tab)
    assert dialog.area.hasFocus(), "which arrow keys scroll"
    QTest.keyClick(dialog.area, Qt.Key.Key_Tab)
    assert dialog.search.text() == "mirror" and place.found == ["weights_mirror"]
    assert dialog.rows["weights_mirror"].isAncestorOf(QApplication.focusWidget())
    for _ in range(2):
        QTest.keyClick(dialog, Qt.Key.Key_Backtab, Qt.KeyboardModifier.ShiftModifier)
    assert dialog.search.hasFocus() and dialog.search.text() == "mirror"
    dialog.search.clear()
    QTest.keyClick(dialog.search, Qt.Key.Key_Tab)
    assert dialog.pages.hasFocus()


def test_the_row_that_tab_reaches_is_seen_whole(place: Place) -> None:
    dialog = place.dialog
    dialog.resize(dialog.width(), dialog.minimumHeight() + 120)
    QTest.keyClicks(dialog.search, "voice")
    QApplication.processEvents()
    rows, seen = [*dialog.rows.values(), *dialog.area.links], 0
    QTest.keyClick(dialog.search, Qt.Key.Key_Tab)
    for _ in range(30):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        row = next((row for row in rows if row.isAncestorOf(QApplication.focusWidget())), None)
        if row is not None:
            assert row.visibleRegion().boundingRect() == row.rect(), row.label.text()
            seen += 1
    assert seen > 8


def test_no_two_settings_have_one_name(place: Place) -> None:
    labels = [row.label.text() for row in place.dialog.rows.values()]
    assert len(set(labels)) == len(labels)
    assert not any(other != one and other.endswith(f" {one.lower()}") for one in labels for other in labels)


def test_all_is_reset_after_a_question_and_can_be_undone(qtbot: QtBot) -> None:
    odd = {"duplex": True, "persona": "A sailor.", "font_scale": 150, "talk_hotkey": "", "microphone": "Desk"}
    place = place_with(qtbot, secondary_model="m", **odd)
    dialog = place.dialog
    QTest.mouseClick(dialog.reset_bar.reset_button, Qt.MouseButton.LeftButton)
    assert place.told == [] and "5" in dialog.reset_bar.note.text() and dialog.reset_bar.confirm_button.hasFocus()
    QTest.keyClick(dialog.reset_bar.confirm_button, Qt.Key.Key_Escape)
    assert dialog.isVisible() and not dialog.reset_bar.confirm_button.isVisible()
    QTest.keyClick(dialog.reset_bar.reset_button, Qt.Key.Key_Space)
    QTest.mouseClick(dialog.reset_bar.keep_button, Qt.MouseButton.LeftButton)
    assert place.told == [] and place.settings == Settings(secondary_model="m", **odd)
    QTest.keyClick(dialog.reset_bar.reset_button, Qt.Key.Key_Space)
    QTest.keyClick(dialog.reset_bar.confirm_button, Qt.Key.Key_Space)
    assert dict(place.told) == {key: declaration(key).default for key in odd} and len(place.told) == 5
    assert place.settings == Settings(secondary_model="m")
    assert not dialog.reset_bar.reset_button.isEnabled() and dialog.reset_bar.undo_button.hasFocus()
    QTest.keyClick(dialog.reset_bar.undo_button, Qt.Key.Key_Space)
    assert place.settings == Settings(secondary_model="m", **odd)
    assert dialog.reset_bar.reset_button.isEnabled() and not dialog.reset_bar.undo_button.isVisible()


def test_a_change_after_the_reset_is_not_undone(qtbot: QtBot) -> None:
    place = place_with(qtbot, duplex=True)
    place.dialog.reset_bar.reset_button.click()
    place.dialog.reset_bar.confirm_button.click()
    change_by_keys(place.row("auto_gain"))
    assert not place.dialog.reset_bar.undo_button.isVisible()
    assert place.settings == Settings(auto_gain=True)


def test_what_is_changed_elsewhere_is_shown_and_not_said_again(own_place: Place) -> None:
    dialog = own_place.dialog
    others = {
        "answer_mode": "after",
        "duplex": True,
        "oracle_lead_ms": 160,
        "weights_mirror": "http://one",
        "tools": "clock",
        "mute_hotkey": "",
        "loudspeaker": "Gone",
    }
    for key, value in others.items():
        dialog.show_value(key, value)
    dialog.show_value("secondary_model", "m")  # isn't here: nothing to show
    assert {key: dialog.rows[key].value for key in others} == others and own_place.told == []
    assert own_place.row("answer_mode").editor.list.currentText() == declaration("answer_mode").words["after"]
    assert own_place.row("oracle_lead_ms").editor.box.text() == "160 ms"
    assert own_place.row("loudspeaker").editor.list.currentText() == "Not found: Gone"
    assert dialog.rows["loudspeaker"].reset.isVisible()


def test_what_is_typed_outlives_a_change_elsewhere(own_place: Place) -> None:
    row = own_place.row("weights_mirror")
    QTest.keyClicks(row.editor.line, "http://two")
    own_place.dialog.show_value("weights_mirror", "http://one")
    assert row.editor.line.text() == "http://two"
    QTest.keyClick(row.editor.line, Qt.Key.Key_Return)
    assert own_place.told == [("weights_mirror", "http://two")]


def test_a_refused_change_is_put_back_at_once(own_place: Place) -> None:
    own_place.dialog.changed.connect(lambda key, value: own_place.dialog.show_value(key, declaration(key).default))
    row = own_place.row("theme")
    change_by_keys(row)
    assert row.value == "system" and row.editor.list.currentText() == "Like the system" and not row.reset.isVisible()


def test_devices_wait_until_the_list_is_closed(own_place: Place, qtbot: QtBot) -> None:
    picker = own_place.row("microphone").editor.list
    QTest.keyClick(picker, Qt.Key.Key_Down)
    own_place.dialog.set_choices("microphone", [("", "System default"), ("New", "New"), ("Desk", "Desk")])
    assert picker.count() == 2
    QTest.keyClick(picker.view(), Qt.Key.Key_End)
    QTest.keyClick(picker.view(), Qt.Key.Key_Return)
    assert own_place.told == [("microphone", "Desk")]
    qtbot.waitUntil(lambda: picker.count() == 3)
    assert picker.currentText() == "Desk"


def test_every_setting_has_an_explanation(place: Place) -> None:
    for row in (*place.dialog.area.sections.values(), *place.dialog.rows.values()):
        row.show()
    for row in place.dialog.rows.values():
        row.editor.setFocus()
        assert QApplication.focusWidget().accessibleDescription() == row.words.text()


@pytest.mark.parametrize("size", [(0, 0), (900, 600), (1400, 900)])
def test_nothing_is_cut_off(own_place: Place, size: tuple[int, int]) -> None:
    dialog = own_place.dialog
    dialog.resize(*size)
    own_place.dialog.rows["mute_hotkey"].refusal.say("This can't be a hotkey, since it is used to write with. " * 3)
    for page in Settings.pages:
        own_place.go(page)
        QApplication.processEvents()
        inside = dialog.area.widget()
        assert inside.width() <= dialog.area.viewport().width()
        short = [
            label.text()
            for label in dialog.findChildren(QLabel)
            if label.isVisible() and label.height() < label.heightForWidth(label.width())
        ]
        narrow = [
            widget.accessibleName()
            for widget in controls(dialog)
            if isinstance(widget, QComboBox | QLineEdit) and widget.width() < widget.minimumSizeHint().width()
        ]
        assert short == narrow == []
    assert [name for name in cut_off(dialog) if name in ("Close this dialog", "Reset all settings")] == []
