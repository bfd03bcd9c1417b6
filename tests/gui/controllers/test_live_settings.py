"""The dialog of settings in the window: what is changed there holds at once, and is shown wherever else it stands."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QKeySequence, QPalette
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox

from app.conversation.events import Processing
from app.gui.design.look import Look
from app.gui.design.motion import reduced_motion
from app.gui.settings.dialog import SettingsDialog
from app.gui.settings.rows import SettingRow
from app.gui.window.main_window import MainWindow
from app.session.control import SpeechChoice
from app.settings.declarations import Settings
from tests.gui.fakes import CHOICES, FakeBackendService, FakeFactory, FakeSoundService, two_devices
from tests.gui.helpers import open_dialog, shown, until, window_and_factory


@pytest.fixture
def given() -> dict[str, Any]:
    services = {"service": FakeBackendService(), "sound_service": FakeSoundService(), "list_devices": two_devices}
    return {"choices": CHOICES, **services}


async def row_of(window: MainWindow, key: str) -> SettingRow:
    """A setting's row in the dialog, which Ctrl+, opens."""
    if window.panels.settings is None or not open_dialog(window, SettingsDialog).isVisible():
        await until(window.isActiveWindow)
        QTest.keySequence(window, QKeySequence("Ctrl+,"))
    window.panels.open_settings(key)
    dialog = open_dialog(window, SettingsDialog)
    return dialog.rows[key]


async def switch(window: MainWindow, key: str) -> None:
    row = await row_of(window, key)
    QTest.keyClick(row.editor.box, Qt.Key.Key_Space)


async def pick(window: MainWindow, key: str, value: str) -> None:
    row = await row_of(window, key)
    box: QComboBox = row.editor.list
    place = box.findData(value)
    assert place >= 0, f"{value} is not offered"
    box.setCurrentIndex(place)
    box.activated.emit(place)


async def fill(window: MainWindow, key: str, text: str) -> None:
    row = await row_of(window, key)
    field: Any = getattr(row.editor, "line", None) or row.editor.box
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


async def slide(window: MainWindow, key: str, value: int) -> None:
    slider = (await row_of(window, key)).editor.slider
    code = Qt.Key.Key_Right if value > slider.value() else Qt.Key.Key_Left
    while slider.value() != value:
        before = slider.value()
        QTest.keyClick(slider, code)
        assert slider.value() != before


def shown_value(window: MainWindow, key: str) -> object:
    return open_dialog(window, SettingsDialog).rows[key].value


async def test_theme_and_font_hold_at_once(window: MainWindow) -> None:
    await pick(window, "theme", "dark")
    assert Look.of(QApplication.palette()).dark
    view = window.transcript.view
    await until(lambda: view.palette().color(QPalette.ColorRole.Base).lightness() < 100)
    size = QFont(window.transcript.view.font()).pointSizeF()
    await fill(window, "font_scale", "150")
    assert window.settings.font_scale == 150
    await until(lambda: view.font().pointSizeF() == pytest.approx(1.5 * size, rel=0.05))
    await pick(window, "theme", "light")
    assert not Look.of(QApplication.palette()).dark


async def test_a_look_that_was_kept_is_there_from_the_start() -> None:
    settings = Settings(theme="dark", reduced_motion=True, oracle_earlier=True)
    async with shown(FakeFactory(), settings, everything=False) as window:
        assert Look.of(QApplication.palette()).dark and reduced_motion()
        assert window.oracle.earlier and window.commands["earlier"].isChecked()
        assert window.inspector.timeline.view.reduced_motion


async def test_motion_and_earlier_thoughts_hold_at_once_and_are_shown_everywhere() -> None:
    async with shown(FakeFactory(), choices=CHOICES, everything=False) as window:
        await switch(window, "reduced_motion")
        assert reduced_motion() and window.inspector.timeline.view.reduced_motion
        await switch(window, "oracle_earlier")
        assert window.oracle.earlier and window.commands["earlier"].isChecked()
        window.commands["earlier"].trigger()
        assert not window.oracle.earlier and not window.settings.oracle_earlier
        assert shown_value(window, "oracle_earlier") is False
        window.panes.oracle_action.trigger()
        window.oracle.header.earlier.click()
        assert window.settings.oracle_earlier and shown_value(window, "oracle_earlier") is True
        window.oracle.header.details.click()
        assert window.settings.oracle_details and shown_value(window, "oracle_details") is True


async def test_an_accent_holds_at_once(window: MainWindow) -> None:
    before = QApplication.palette().color(QPalette.ColorRole.Highlight)
    (await row_of(window, "accent")).set_value("violet")
    assert QApplication.palette().color(QPalette.ColorRole.Highlight) != before


async def test_duplex_answer_mode_and_talk_mode_change_the_running_talk(window, factory) -> None:
    await switch(window, "duplex")
    assert ("set_duplex", True) in factory.session.calls and window.dock.duplex.isChecked()
    window.dock.duplex.click()
    assert ("set_duplex", False) in factory.session.calls and shown_value(window, "duplex") is False
    await pick(window, "answer_mode", "after")
    assert ("set_answer_mode", "after") in factory.session.calls and window.popover.answer_mode.currentData() == "after"
    await pick(window, "talk_mode", "toggle")
    assert window.dock.button.text() == "Press to talk" and window.talk.push.mode == "toggle"
    assert len(factory.sessions) == 1


async def test_devices_and_processing_change_the_running_talk(window: MainWindow, factory: FakeFactory) -> None:
    await pick(window, "microphone", "Desk microphone")
    await pick(window, "loudspeaker", "Headphones")
    assert [call for call in factory.session.calls if call[0] == "set_devices"] == [
        ("set_devices", "Desk microphone", ""),
        ("set_devices", "Desk microphone", "Headphones"),
    ]
    assert window.devices.microphone.currentText() == "Desk microphone"
    assert window.devices.loudspeaker.currentText() == "Headphones"
    window.devices.loudspeaker.setCurrentIndex(0)
    window.devices.loudspeaker.activated.emit(0)
    assert window.settings.loudspeaker == "" and shown_value(window, "loudspeaker") == ""
    await switch(window, "echo_cancellation")
    await switch(window, "noise_suppression")
    assert factory.session.calls[-1] == ("set_processing", Processing(False, True, False))
    await switch(window, "openings")
    assert factory.session.calls[-1] == ("set_openings", False)
    assert window.manager.wanted.openings is False


async def test_recogniser_voice_rate_and_volume_change_the_running_talk(window, factory) -> None:
    await slide(window, "speech_rate", 150)
    assert factory.session.calls[-1] == ("set_speech", SpeechChoice(rate=1.5))
    await slide(window, "speech_volume", 50)
    assert factory.session.calls[-1] == ("set_speech", SpeechChoice(rate=1.5, volume=0.5))
    window.keep.change("recogniser", "whisper-tiny")
    window.keep.change("voice", "pico/en-GB")
    chosen = SpeechChoice("en", "whisper-tiny", "pico/en-GB", 1.5, 0.5)
    assert factory.session.calls[-1] == ("set_speech", chosen) and window.manager.wanted.speech == chosen
    assert len(factory.sessions) == 1, "nothing restarts for that"


async def test_hotkeys_are_taken_at_once(window: MainWindow) -> None:
    row = await row_of(window, "talk_hotkey")
    row.set_value("Ctrl+Alt+K")
    assert window.talk._keys == ("Ctrl+Alt+K", window.settings.mute_hotkey)
    row = await row_of(window, "mute_hotkey")
    row.set_value("")
    assert window.talk._keys == ("Ctrl+Alt+K", "")


async def test_dials_turn_in_the_running_talk() -> None:
    async with window_and_factory(Settings(frontend="kame"), choices=CHOICES) as (window, factory):
        await fill(window, "answer_delay_ms", "400")
        assert factory.session.calls[-1] == ("set_dials", 5, 0)
        await fill(window, "oracle_lead_ms", "240")
        assert factory.session.calls[-1] == ("set_dials", 5, 3)
        assert len(factory.sessions) == 1, "nothing restarts for that"


async def test_several_that_need_a_fresh_talk_cause_one(window: MainWindow, factory: FakeFactory) -> None:
    dialog_row = await row_of(window, "frontend")
    dialog_row.set_value("kame")
    for key, value in (("precision", "int8"), ("memory", "120"), ("weights_folder", "/tmp")):
        (await row_of(window, key)).set_value(value)
    await until(lambda: len(factory.choices) == 2 and window.manager.session is not None)
    await asyncio.sleep(0.05)
    assert len(factory.choices) == 2
    choice = factory.choices[-1]
    assert (choice.frontend, choice.model.precision, choice.model.weights) == ("kame", "int8", "/tmp")
    assert (choice.model.context, factory.choices[0].model.context) == (1500, 0), "as much as fits"
    assert window.popover.frontend.currentData() == "kame" and not window.frontend_bar.isHidden()


async def test_what_concerns_another_voice_restarts_nothing(window: MainWindow, factory: FakeFactory) -> None:
    (await row_of(window, "precision")).set_value("int4")
    (await row_of(window, "keep_history")).set_value(False)
    (await row_of(window, "persona")).set_value("You are a pilot.")
    await asyncio.sleep(0.05)
    assert len(factory.choices) == 1 and factory.choices[0].style.persona == ""


async def test_recordings_are_kept_from_the_menu_and_the_dialog_alike(window: MainWindow, factory: FakeFactory) -> None:
    await switch(window, "keep_recordings")
    assert window.commands["recordings"].isChecked() and factory.choices[0].record_folder == ""
    window.commands["recordings"].trigger()
    assert not window.settings.keep_recordings and shown_value(window, "keep_recordings") is False


@pytest.mark.slow
async def test_all_are_reset_and_brought_back(tmp_path: Path) -> None:
    factory, path = FakeFactory(), tmp_path / "settings.json"
    settings = Settings(path=path, theme="dark", duplex=True, answer_mode="after", provider="openai")
    async with shown(factory, settings, choices=CHOICES, service=FakeBackendService()) as window:
        await row_of(window, "theme")
        dialog = open_dialog(window, SettingsDialog)
        QTest.mouseClick(dialog.reset_bar.reset_button, Qt.MouseButton.LeftButton)
        QTest.mouseClick(dialog.reset_bar.confirm_button, Qt.MouseButton.LeftButton)
        assert (settings.theme, settings.duplex, settings.answer_mode) == ("system", False, "thinking")
        assert ("set_duplex", False) in factory.session.calls and settings.provider == "openai", "that is no row of it"
        assert not window.dock.duplex.isChecked() and window.popover.answer_mode.currentData() == "thinking"
        QTest.mouseClick(dialog.reset_bar.undo_button, Qt.MouseButton.LeftButton)
        assert (settings.theme, settings.duplex, settings.answer_mode) == ("dark", True, "after")
    assert json.loads(path.read_text())["theme"] == "dark"
