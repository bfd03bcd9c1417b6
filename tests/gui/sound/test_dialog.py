"""The dialog “Sound”: device tests, the sound's processing, hotkeys, and measurements."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton, QWidget

from app.conversation.events import SoundMeasured
from app.gui.sound.dialog import SoundDialog
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.key_field import KeyField
from app.gui.widgets.level_meter import LOWEST_DB
from app.platform import single_instance
from app.services.sound_service import SoundTestService
from app.session.control import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeSoundService
from tests.gui.helpers import nothing_left, until
from tests.gui.window.test_accessibility import cut_off

WELL = SoundMeasured(3.0, 34.2, False, 12.3, 0, 0)
ILL = SoundMeasured(9.0, 6.1, True, -112.0, 240, 3)


@pytest.fixture
def settings() -> Settings:
    return Settings(microphone="Desk microphone", loudspeaker="Headphones")


class Place:
    """The dialog with a fake service; `emitted` collects its signals, in order."""

    def __init__(self, settings: Settings, service: SoundTestService | None) -> None:
        self.service = FakeSoundService()
        self.parent = QWidget()
        self.background = BackgroundTasks(self.parent)
        self.dialog = SoundDialog(settings, service or self.service, self.background, self.parent)
        self.tests = self.dialog.tests
        self.emitted: list[Any] = []
        self.dialog.tests.began.connect(lambda: self.emitted.append("began"))
        self.dialog.tests.ended.connect(lambda: self.emitted.append("ended"))
        self.dialog.processing.changed.connect(self.emitted.append)
        self.dialog.talk_button.mode_changed.connect(self.emitted.append)
        self.dialog.talk_button.hotkeys_changed.connect(lambda talk, mute: self.emitted.append((talk, mute)))

    @property
    def answer(self) -> tuple[str, str]:
        return self.tests.answer.state.text(), self.tests.answer.verdict.text()

    async def run(self, button: QPushButton) -> None:
        button.click()
        await until(lambda: self.service.running == 1)

    async def end(self) -> None:
        self.service.gate.set()
        await until(lambda: not self.tests.testing and not self.service.running)


@asynccontextmanager
async def opened(settings: Settings, service: SoundTestService | None = None) -> AsyncIterator[Place]:
    """The dialog on screen. Checks that no task is left behind."""
    async with nothing_left():
        place = Place(settings, service)
        try:
            place.dialog.open_refreshed()
            yield place
        finally:
            place.dialog.close()
            await place.background.close()
            await asyncio.sleep(0)
            place.parent.deleteLater()


@pytest.fixture
async def place(settings: Settings) -> AsyncIterator[Place]:
    async with opened(settings) as place:
        yield place


async def test_a_microphone_test_shows_levels_words_and_verdict(settings: Settings, place: Place) -> None:
    tests = place.tests
    assert not tests.back_button.isEnabled() and place.answer == ("", "")
    place.dialog.tests.show_level(-20.0, -30.0, 5.0, False)
    assert (tests.microphone.level_db, tests.loudspeaker.level_db) == (-20.0, -30.0)
    await place.run(tests.say_button)
    assert place.emitted == ["began"] and place.service.calls == [("test_microphone", "Desk microphone")]
    assert place.answer[0] == "Opening the microphone …" and tests.microphone.level_db == LOWEST_DB
    assert tests.say_button.text() == "Done" == tests.say_button.accessibleName()
    assert not tests.play_button.isEnabled() and not tests.back_button.isEnabled()
    place.service.report(-12.0, False)
    tests.show_level(-120.0, -31.0, 5.1, False)  # the conversation is muted: its level is not the microphone's
    assert place.answer[0].startswith("Listening.") and tests.microphone.level_db == -12.0
    assert not tests.microphone.clipped
    place.service.report(0.0, True)
    assert tests.microphone.clipped
    await until(lambda: place.answer[0] == "Transcribing what you said …")
    await place.end()
    assert place.answer[0] == "Understood: “What is it?”"
    assert place.answer[1] == "Good: loud enough, and clear. (loudest −4 dB, speech −24 dB, noise −62 dB)"
    assert place.emitted == ["began", "ended"]
    assert not tests.microphone.clipped and tests.microphone.level_db == LOWEST_DB
    place.dialog.tests.show_level(-21.0, -30.0, 7.0, False)
    assert tests.microphone.level_db == -21.0
    place.service.report(-1.0, True)  # comes late, from nowhere
    assert tests.microphone.level_db == -21.0
    assert tests.say_button.text() == "Say &something" and tests.back_button.isEnabled()


async def test_the_recording_is_played_back_and_the_loudspeaker_is_tested(settings: Settings, place: Place) -> None:
    tests = place.tests
    await place.run(tests.say_button)
    await place.end()
    await place.run(tests.back_button)
    assert tests.back_button.accessibleName() == "Stop playing back" and not tests.say_button.isEnabled()
    place.dialog.tests.show_level(-90.0, -14.0, 9.0, False)
    assert tests.loudspeaker.level_db == -14.0
    await place.end()
    place.dialog.tests.show_devices("Desk microphone", "")
    assert tests.loudspeaker_name.text() == "The system's default"
    await place.run(tests.play_button)
    assert "two tones" in place.answer[0]
    await place.end()
    assert "If you heard nothing" in place.answer[1]
    assert place.service.calls[1:] == [("play_back", "Headphones"), ("test_loudspeaker", "")]
    assert place.emitted == ["began", "ended"] * 3


@pytest.mark.parametrize("which", ["say_button", "play_button"])
async def test_the_same_button_stops_its_test(settings: Settings, which: str, place: Place) -> None:
    button = getattr(place.tests, which)
    button.setFocus()
    await place.run(button)
    button.click()
    await until(lambda: not place.tests.testing)
    assert (place.service.stopped, place.service.cancelled, len(place.service.calls)) == (1, 0, 1)
    assert place.emitted == ["began", "ended"] and button.isEnabled()


@pytest.mark.parametrize("which", ["say_button", "play_button"])
async def test_a_failing_device_is_reported_and_can_be_tested_again(settings: Settings, which: str, place) -> None:
    place.service.refusal = UserError("The device is busy. Close what uses it.")
    await place.run(getattr(place.tests, which))
    await place.end()
    assert place.answer == ("", "The device is busy. Close what uses it.")
    assert place.emitted == ["began", "ended"] and not place.tests.back_button.isEnabled()
    place.service.refusal = None
    await place.run(getattr(place.tests, which))
    await place.end()
    assert "busy" not in place.answer[1]


async def test_closing_ends_a_test_and_the_session_is_muted_until_its_device_is_closed(
    settings: Settings, place: Place
) -> None:
    await place.run(place.tests.say_button)
    place.service.report(-12.0, False)
    place.service.closing.clear()
    QTest.keyClick(place.dialog, Qt.Key.Key_Escape)
    assert not place.dialog.isVisible() and not place.tests.testing
    await until(lambda: place.service.cancelled)
    assert place.emitted == ["began"]
    place.dialog.open_refreshed()
    assert place.answer == ("", "")
    place.tests.play_button.click()
    await until(lambda: place.service.running == 2)
    place.service.closing.set()
    await until(lambda: place.service.running == 1)
    assert place.emitted == ["began"]
    await place.end()
    assert place.emitted == ["began", "ended"]


async def test_measurements_are_described_in_words(settings: Settings, place: Place) -> None:
    dialog = place.dialog

    def described(measured: SoundMeasured | None) -> tuple[str, str, str]:
        dialog.show_health(measured)
        assert not cut_off(dialog)
        return dialog.measurements.echo.text(), dialog.measurements.clocks.text(), dialog.measurements.losses.text()

    assert "no conversation is running" in dialog.measurements.echo.text()
    assert described(WELL) == (
        "Echo is made 34 dB quieter.",
        "The loudspeaker's clock runs 12 ppm fast; this is corrected.",
        "None of your voice was lost, and the app's had no gaps.",
    )
    echo, clocks, losses = described(ILL)
    assert "made 6 dB quieter" in echo and "Turn the loudspeaker down" in echo
    assert "112 ppm slow" in clocks
    assert "240 ms of your voice were lost; gaps in the app's voice: 3" in losses
    echo, clocks, _ = described(SoundMeasured(1.0, None, False, None, 0, 0))
    assert echo.startswith("No echo measured") and clocks == "Not known yet."
    assert described(SoundMeasured(1.0, None, True, 0.4, 0, 1))[0].startswith("Echo remains")
    dialog.processing.echo.click()
    assert "Switch echo cancellation on, or use headphones." in dialog.measurements.echo.text()
    assert described(SoundMeasured(1.0, None, False, None, 0, 0))[0] == "Not measured: echo cancellation is off."
    dialog.processing.echo.click()
    assert dialog.measurements.echo.text().startswith("No echo measured")
    assert "no conversation is running" in described(None)[0]


def press(field: KeyField, key: Qt.Key, *modifiers: Qt.KeyboardModifier) -> None:
    held = Qt.KeyboardModifier.NoModifier
    for modifier in modifiers:
        held |= modifier
    QTest.keyClick(field.edit, key, held)


CTRL, ALT, SHIFT = (
    Qt.KeyboardModifier.ControlModifier,
    Qt.KeyboardModifier.AltModifier,
    Qt.KeyboardModifier.ShiftModifier,
)


def written(field: KeyField) -> str:
    return field.edit.findChild(QLineEdit).text()


async def test_hotkeys_are_typed_cleared_and_refused(settings: Settings) -> None:
    settings.mute_hotkey = "Ctrl+Alt+M"
    async with opened(settings) as place:
        dialog = place.dialog
        talk, mute = dialog.talk_button.talk_keys, dialog.talk_button.mute_keys
        await until(dialog.isActiveWindow)
        assert (written(talk), written(mute)) == ("Ctrl+Alt+Space", "Ctrl+Alt+M")
        talk.edit.setFocus()
        press(talk, Qt.Key.Key_K, CTRL, SHIFT)
        assert place.emitted == [("Ctrl+Shift+K", "Ctrl+Alt+M")] and not dialog.talk_button.refusal.isVisible()
        for why, key, *modifiers in (
            ("would be taken from every program", Qt.Key.Key_K, SHIFT),
            ("is needed in every program", Qt.Key.Key_C, CTRL),
            ("is on the number pad", Qt.Key.Key_5, CTRL, Qt.KeyboardModifier.KeypadModifier),
        ):
            press(talk, key, *modifiers)
            assert why in dialog.talk_button.refusal.text() and dialog.talk_button.refusal.isVisible()
            assert written(talk) == "Ctrl+Shift+K" and not cut_off(dialog)
        press(talk, Qt.Key.Key_M, CTRL, ALT)
        assert "“Ctrl+Alt+M” can't both talk and mute" in dialog.talk_button.refusal.text()
        QTest.keyPress(talk.edit, Qt.Key.Key_Control, CTRL)
        QTest.keyRelease(talk.edit, Qt.Key.Key_Control, CTRL)  # thought better of it
        assert written(talk) == "Ctrl+Shift+K" and len(place.emitted) == 1
        press(talk, Qt.Key.Key_Backspace)
        assert place.emitted[1:] == [("", "Ctrl+Alt+M")] and not dialog.talk_button.refusal.isVisible()
        assert written(talk) == "" and not talk.none_button.isEnabled()
        mute.none_button.setFocus()
        mute.none_button.click()
        assert place.emitted[2:] == [("", "")] and mute.edit.hasFocus()
        press(talk, Qt.Key.Key_M, CTRL, ALT)
        press(talk, Qt.Key.Key_F13)
        assert place.emitted[3:] == [("Ctrl+Alt+M", ""), ("F13", "")]
        assert settings.talk_hotkey == "Ctrl+Alt+Space"
        press(talk, Qt.Key.Key_Escape)
        assert not dialog.isVisible() and len(place.emitted) == 5


async def test_trouble_with_hotkeys_shows_the_commands(settings: Settings, place: Place) -> None:
    assert not place.dialog.talk_button.trouble.isVisible()
    height = place.dialog.height()
    place.dialog.talk_button.show_trouble("The desktop grants no keys.")
    assert place.dialog.talk_button.trouble.isVisible() and place.dialog.height() > height
    first, _, *ways = place.dialog.talk_button.trouble.text().splitlines()
    assert first == "The desktop grants no keys." and len(ways) == 4
    for word, way in zip(("toggle", "mute-toggle", "press", "release"), ways, strict=True):
        assert way.startswith(f"{single_instance.command()} ptt {word} – ")
    assert place.dialog.talk_button.keys_label.isVisible() and not cut_off(place.dialog)
    place.dialog.talk_button.show_trouble("The desktop grants no keys.", True)
    assert not place.dialog.talk_button.keys_label.isVisible()
    place.dialog.talk_button.show_trouble("")
    assert not place.dialog.talk_button.trouble.isVisible() and place.dialog.height() == height
    assert place.dialog.talk_button.keys_label.isVisible()
