"""Mute, levels and devices in the real window, and a question of the welcome that is asked aloud."""

import asyncio
import threading
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.conversation import events as e
from app.gui.design.look import STATE_COLOURS
from app.gui.window.main_window import MainWindow
from app.session.control import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory, FakeMachine, FakeSoundService, no_devices, two_devices
from tests.gui.helpers import press, say, shown, until, window_and_factory
from tests.unit.services.test_asking_service import QUESTIONS

BACK = "The microphone “Headset” is back, and the conversation has moved to it."


async def test_mute_is_shown_by_every_switch_once_the_session_confirms_it() -> None:
    async with window_and_factory(Settings(duplex=True)) as (window, factory):
        bar, action = window.dock, window.commands["mute"]
        bar.mute.click()
        assert factory.session.calls[-1] == ("set_muted", True)
        assert action.isChecked() and bar.mute.isChecked()
        # Wanted, but not so yet: nothing claims it.
        assert not bar.mute.confirmed and bar.button.text() == "Listening" and not window.devices.microphone_level.muted
        say(window, e.MicrophoneMuted(1.0, True))
        assert bar.mute.confirmed and window.devices.microphone_level.muted
        assert (bar.button.text(), bar.button.colour()) == ("Muted", STATE_COLOURS["muted"])
        say(window, e.UserStarted(1.1, 1))  # of sound from before
        assert bar.button.text() == "Muted"
        action.trigger()
        assert factory.session.calls[-1] == ("set_muted", False)
        assert not bar.mute.isChecked() and factory.session.calls.count(("set_muted", False)) == 1
        say(window, e.UserBackchannel(1.2, 1, ""), e.MicrophoneMuted(1.3, False))
        assert not bar.mute.confirmed and bar.button.text() == "Listening"
        assert isinstance(action, QAction) and action.shortcut().toString() == "Ctrl+M"


async def test_a_new_session_starts_muted_if_the_last_one_was(window: MainWindow, factory: FakeFactory) -> None:
    window.dock.mute.click()
    first = factory.session
    window.top_bar.new_button.click()
    await until(lambda: factory.session is not first and window.manager.session is not None)
    assert factory.session.choice.muted
    assert window.dock.mute.isChecked() and not window.dock.mute.confirmed


async def test_a_microphone_test_mutes_the_session() -> None:
    factory = FakeFactory()
    service = FakeSoundService()
    async with shown(factory, Settings(duplex=True), sound_service=service) as window:
        window.sound.open_dialog()
        dialog = window.sound.dialog
        dialog.tests.say_button.click()
        await until(lambda: service.calls)
        assert factory.session.calls == [("set_muted", True)]
        say(window, e.MicrophoneMuted(1.0, True))
        assert window.dock.button.text() == "Trying out" and not window.dock.mute.confirmed
        # Neither a new conversation nor a hand on the switch lets it be heard.
        window.dock.mute.click()
        window.dock.mute.click()
        assert factory.session.calls == [("set_muted", True)]
        window.top_bar.new_button.click()
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        assert factory.session.choice.muted
        service.gate.set()
        await until(lambda: factory.session.calls == [("set_muted", False)])
        say(window, e.MicrophoneMuted(2.0, False))
        assert window.dock.button.text() == "Listening"


async def test_nothing_is_shown_as_muted_without_a_session(window: MainWindow) -> None:
    window.dock.mute.click()
    say(window, e.MicrophoneMuted(1.0, True))
    assert window.dock.mute.confirmed
    window.devices.stop_button.click()
    assert not window.dock.mute.confirmed and not window.devices.microphone_level.muted


async def test_what_is_plugged_in_is_offered_wherever_devices_are_chosen() -> None:
    there: tuple[list[str], list[str]] = ([], [])
    asked = []

    def devices() -> tuple[list[str], list[str]]:
        asked.append(threading.current_thread() is threading.main_thread())
        return there

    async with shown(FakeFactory(), list_devices=devices, machine=FakeMachine()) as window:
        window.panels.open_settings("microphone")
        assert window.panels.settings is not None
        assert window.first_start is not None and window.first_start.cards is not None
        card = window.first_start.cards.microphone
        await until(lambda: "No microphone was found" in card.words.text())
        there = (["Headset"], ["Headset"])
        teller = threading.Thread(target=window.sound.devices_changed)  # as the watcher does
        teller.start()
        await until(lambda: card.picker.itemText(1) == window.devices.microphone.itemText(1) == "Headset")
        teller.join()
        assert window.devices.microphone.currentData() == "" and not any(asked), "the window's thread waits for none"
        assert "Headset" in window.panels.settings.rows["microphone"].editor.texts


async def test_an_open_device_list_does_not_change_and_once_it_is_closed_it_holds_the_newest() -> None:
    async with shown(FakeFactory(), list_devices=two_devices) as window:
        picker = window.devices.microphone
        await until(lambda: picker.count() == 2)
        picker.showPopup()
        window.devices.set_devices(["Desk microphone", "Headset"], ["Headphones"])
        assert picker.count() == 2
        picker.hidePopup()
        await until(lambda: picker.count() == 3)
        picker.showPopup()
        window.devices.set_devices(["Old"], [])
        window.devices.set_devices(["Old", "Older"], [])
        picker.hidePopup()
        window.devices.set_devices(["New one"], [])
        assert picker.itemText(1) == "New one"
        await until(lambda: not QApplication.activePopupWidget())
        await asyncio.sleep(0.01)
        assert picker.count() == 2 and picker.itemText(1) == "New one"


async def test_a_failed_hotkeys_message_outlasts_the_start_of_a_session(window, factory) -> None:
    window.sound.show_key_trouble("")
    window.sound.show_key_trouble("No key to talk.")
    window.sound.show_key_trouble("No key to mute.")
    say(window, e.DeviceChanged(1.0, "microphone", "lost", "", "No microphone."))
    window.top_bar.new_button.click()
    await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
    assert window.messages.sentences() == ["No key to talk. No key to mute."]


async def test_devices_change_without_a_new_session(tmp_path: Path) -> None:
    factory, settings = FakeFactory(), Settings(path=tmp_path / "settings.json")
    async with shown(factory, settings, list_devices=two_devices) as window:
        picker = window.devices.microphone
        await until(lambda: picker.count() == 2)
        session = factory.session
        picker.setCurrentIndex(1)
        picker.activated.emit(1)
        assert session.calls == [("set_devices", "Desk microphone", "")]
        assert factory.session is session and window.manager.phase == "running"
        picker.activated.emit(1)  # the same again is no change
        assert len(session.calls) == 1
    assert Settings.load(tmp_path / "settings.json").microphone == "Desk microphone"


async def test_a_session_without_devices_is_typed_in_and_its_notices_go_when_they_are_plugged_in() -> None:
    factory = FakeFactory()
    absent = {"microphone": "No microphone was found.", "loudspeaker": "No loudspeaker was found."}
    async with shown(factory, list_devices=no_devices) as window:
        for kind, sentence in absent.items():
            say(window, e.DeviceChanged(1.0, kind, "absent", "", sentence))  # type: ignore[arg-type]
        assert window.messages.sentences() == list(absent.values()) and not window.model.talk.microphone
        assert [row.level for row in window.messages.rows] == ["warning", "warning"]
        window.transcript.composer.put("Where is Paris?")
        QTest.keyClick(window.transcript.composer.field, Qt.Key.Key_Return)
        assert factory.session.calls == [("write", "Where is Paris?")]
        window.sound.news_ms["back"] = 50
        say(window, e.DeviceChanged(9.0, "microphone", "back", "Headset", BACK))
        assert window.messages.sentences() == [absent["loudspeaker"], BACK] and window.model.talk.microphone
        await until(lambda: window.messages.sentences() == [absent["loudspeaker"]])
        say(window, e.DeviceChanged(9.5, "loudspeaker", "back", "Headphones", BACK))
        await until(lambda: window.messages.sentences() == [])


async def test_a_message_about_echo_goes_when_the_echo_is_gone() -> None:
    factory = FakeFactory()
    echo = "The microphone hears the app's own voice."
    async with shown(factory, Settings(duplex=True)) as window:
        say(window, e.Failure(1.0, "audio", echo, about="echo"))
        say(window, e.SoundMeasured(2.0, 3.0, True, None, 0, 0))
        say(window, e.SoundMeasured(3.0, None, False, None, 0, 0))  # without speech, nothing is known
        assert window.messages.sentences() == [echo]
        say(window, e.SoundMeasured(4.0, 31.0, False, 12.0, 0, 0))
        assert window.messages.sentences() == []
        say(window, e.Failure(5.0, "audio", echo, about="echo"))
        press(window.messages.rows[0], "Use the talk button")
        assert window.messages.sentences() == []
        assert not window.dock.duplex.isChecked() and factory.session.calls == [("set_duplex", False)]


async def test_clipping_between_two_batches_is_shown_and_fades(window: MainWindow) -> None:
    meter = window.devices.microphone_level
    window.dock.devices_button.click()
    say(window, e.LevelMeasured(1.0, 0.0, -60.0, clipped=True), e.LevelMeasured(1.08, -20.0, -60.0))
    assert meter.clipped
    say(window, e.LevelMeasured(2.9, -20.0, -60.0))
    assert meter.clipped
    say(window, e.LevelMeasured(3.3, -20.0, -60.0))
    assert not meter.clipped


QUESTION = QUESTIONS[0]


class FakeSpeaking:
    """Speaks after `gate`, or raises `refusal`."""

    def __init__(self, refusal: Exception | None = None) -> None:
        self.calls: list[tuple[str, str, str]] = []
        self.gate = asyncio.Event()
        self.refusal = refusal

    async def speak(self, text: str, language: str, answering: str = "") -> np.ndarray:
        self.calls.append((text, language, answering))
        await self.gate.wait()
        if self.refusal is not None:
            raise self.refusal
        return np.full(24_000, 0.1, np.float32)


def click(window: MainWindow) -> None:
    buttons = window.transcript.welcome.questions
    assert tuple(button.text() for button in buttons) == QUESTIONS, "these have been tried with the app's own voice"
    QTest.mouseClick(buttons[0], Qt.MouseButton.LeftButton)


async def test_a_question_is_spoken_into_the_session_until_its_turn_has_ended() -> None:
    factory, speaking = FakeFactory(), FakeSpeaking()
    async with shown(factory, Settings(voice="choir/ann"), asking=speaking) as window:
        click(window)
        assert window.asker.active and window.dock.silence.isVisible()
        await until(lambda: speaking.calls)
        click(window)  # once more, out of impatience
        speaking.gate.set()
        await until(lambda: ("ask_aloud", 24_000) in factory.session.calls)
        assert speaking.calls == [(QUESTION, "en", "choir/ann")]
        say(window, e.UserStarted(1.0, 1), e.TranscriptPartial(1.5, 1, "What is", "the", 1.4))
        assert window.dock.button.text() == "Asking aloud"
        assert window.transcript.pages.currentWidget() is window.transcript.view
        say(window, e.UserEnded(2.0, 1, 1.9, "button"), e.TranscriptFinal(2.1, 1, QUESTION, 1.9))
        assert not window.asker.active and QUESTION in window.transcript.text()
        assert not [call for call in factory.session.calls if call[0] == "write"]
        held = [name for name, value in vars(window.asker).items() if value is factory.session]
        assert not held, "a session that is over takes its models along"


@pytest.mark.parametrize("way", ["escape", "button"])
@pytest.mark.parametrize("sounds", [False, True])
async def test_it_can_be_stopped(way: str, sounds: bool) -> None:
    factory, speaking = FakeFactory(), FakeSpeaking()
    async with shown(factory, asking=speaking) as window:
        click(window)
        await until(lambda: speaking.calls)
        if sounds:
            speaking.gate.set()
            await until(lambda: ("ask_aloud", 24_000) in factory.session.calls)
            say(window, e.UserStarted(1.0, 1))
        if way == "escape":
            QTest.keyClick(window, Qt.Key.Key_Escape)
        else:
            window.dock.silence.click()
        assert ("stop_asking",) in factory.session.calls and not window.asker.active
        speaking.gate.set()
        await asyncio.sleep(0)
        assert [call[0] for call in factory.session.calls].count("ask_aloud") == int(sounds)


@pytest.mark.parametrize("lack", ["service", "voice", "language"])
async def test_it_is_typed_where_no_other_voice_can_be_had(lack: str) -> None:
    factory, speaking = FakeFactory(), FakeSpeaking(UserError("No voice.") if lack == "voice" else None)
    speaking.gate.set()
    settings = Settings(language="de") if lack == "language" else Settings()
    async with shown(factory, settings, asking=None if lack == "service" else speaking) as window:
        click(window)
        await until(lambda: ("write", QUESTION) in factory.session.calls)
        assert not window.asker.active


async def test_typing_works_where_the_session_could_not_start_and_tries_again() -> None:
    factory = FakeFactory(outcomes=[UserError("There is no loudspeaker.")])
    async with shown(factory, asking=FakeSpeaking(), running=False) as window:
        await until(lambda: window.manager.gave_up)
        click(window)
        await until(lambda: factory.sessions and ("write", QUESTION) in factory.session.calls)
