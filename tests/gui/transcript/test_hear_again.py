"""Hearing a turn again: from the conversation's memory while it goes on, from its folder afterwards; meanwhile it is
deaf.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.window.main_window import MainWindow
from app.history.base import ConversationView, KeptTalk
from app.services.sound_service import Clip
from app.session.control import UserError
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory, FakeLog
from tests.gui.fakes import FakeFactory, FakeSession, FakeSoundService
from tests.gui.helpers import press, say, shown, spoken, until
from tests.gui.transcript.test_typing import choose, menu_at, offered


@pytest.fixture
def service() -> FakeSoundService:
    return FakeSoundService()


@pytest.fixture
def given(service: FakeSoundService) -> dict[str, Any]:
    return {"sound_service": service}


def mutes(session: FakeSession) -> list[bool]:
    return [call[1] for call in session.calls if call[0] == "set_muted"]


def can_hear(window: MainWindow, card: int) -> bool:
    menu_at(window, card).close()
    return offered(window, "Hear it again")


def hear(window: MainWindow, card: int) -> None:
    choose(menu_at(window, card), "Hear it again")


class Kept(FakeHistory):
    """A history whose conversation has a session with sound, and one without."""

    def __init__(self, folder: Path) -> None:
        super().__init__(ConversationView("old", "Old", created=1.0, changed=1.0, turns=2), now=100.0)
        self.folder = folder
        self.logs["old"] = [FakeLog(), FakeLog()]
        self.logs["old"][0].events = spoken(1, "With sound?", "Yes.", at=4.0)
        self.logs["old"][1].events = spoken(1, "Without?", "No.", at=4.0)

    async def talks(self, key: str) -> tuple[KeptTalk, ...]:
        with_sound, without = await super().talks(key)
        return KeptTalk(with_sound.began, with_sound.events, self.folder), without


async def test_a_turn_of_this_talk_is_heard_from_memory_and_the_talk_is_deaf_meanwhile() -> None:
    factory, service = FakeFactory(), FakeSoundService()
    async with shown(factory, Settings(loudspeaker="Headphones"), sound_service=service) as window:
        say(window, *spoken(1, "What is it?", "A test.", at=4.0))
        hear(window, 0)
        await until(lambda: service.running)
        assert service.calls == [("play", "Headphones")] and isinstance(service.sound, np.ndarray)
        ((_, speaker, begin, end),) = [call for call in factory.session.calls if call[0] == "sound_of"][-1:]
        assert speaker == "user" and begin < 4.0 and end > 4.9, "a little more than was noticed"
        assert mutes(factory.session) == [True] and window.model.talk.replaying
        service.gate.set()
        await until(lambda: not service.running and not window.model.talk.replaying)
        assert mutes(factory.session) == [True, False]
        hear(window, 1)
        await until(lambda: service.running)
        assert [call for call in factory.session.calls if call[0] == "sound_of"][-1][1] == "assistant"


async def test_asked_for_again_it_stops_and_another_one_takes_its_place(window, factory, service) -> None:
    say(window, *spoken(1, "What is it?", "A test.", at=4.0))
    hear(window, 0)
    await until(lambda: service.running == 1)
    hear(window, 1)
    await until(lambda: len(service.calls) == 2)
    assert service.cancelled == 1 and mutes(factory.session)[-1]
    hear(window, 1)
    await until(lambda: service.cancelled == 2)
    assert not mutes(factory.session)[-1] and not window.model.talk.replaying
    assert window.manager.wanted.muted is False, "that was not the user's own wish"


async def test_the_dock_says_that_a_turn_is_played_again_and_stops_it(window, factory, service) -> None:
    say(window, *spoken(1, "What is it?", "A test.", at=4.0))
    dock = window.dock
    for stop in (dock.silence.click, lambda: QTest.keyClick(window, Qt.Key.Key_Escape)):
        hear(window, 0)
        await until(lambda: service.running)
        say(window, e.MicrophoneMuted(6.0, True))
        assert dock.button.text() == "Playing again" and not dock.mute.confirmed and dock.silence.isVisible()
        stop()
        await until(lambda: not service.running)
        say(window, e.MicrophoneMuted(6.1, False))
        assert dock.button.text() == "Hold to talk" and not dock.silence.isVisible()


async def test_who_has_muted_the_microphone_stays_muted(window, factory, service) -> None:
    say(window, *spoken(1, "What is it?", "A test.", at=4.0))
    window.dock.mute.click()
    hear(window, 0)
    await until(lambda: service.running)
    service.gate.set()
    await until(lambda: not window.model.talk.replaying)
    assert all(mutes(factory.session)) and window.dock.mute.isChecked()


async def test_what_makes_no_sound_is_not_offered() -> None:
    factory, service = FakeFactory(), FakeSoundService()
    async with shown(factory, sound_service=service) as window:
        say(
            window,
            e.UserStarted(0.2, 1),
            e.TranscriptFinal(0.4, 1, "Too long ago.", 0.4),
            e.UserEnded(0.5, 1, 0.4, "words"),
            e.UserStarted(3, 2),
            e.TranscriptFinal(3, 2, "By hand.", 3),
            e.UserEnded(3, 2, 3, "typed"),
            *spoken(3, "By voice.", at=5.0),
            e.UserStarted(9, 4),
            e.TranscriptPartial(9.5, 4, "Still", "open", 9.4),
        )
        heard = {window.transcript.view.content.text(card).split("\n")[1]: can_hear(window, card) for card in range(4)}
        assert heard == {"Too long ago.": False, "By voice.": True, "By hand.": False, "Still open": False}
    async with shown(factory) as window:
        say(window, *spoken(1, "What is it?", at=4.0))
        assert not can_hear(window, 0), "there is nothing to play it with"


async def test_a_loudspeaker_that_fails_says_so_and_the_talk_hears_again(window, factory, service) -> None:
    say(window, *spoken(1, "What is it?", at=4.0))
    service.refusal = UserError("The loudspeaker is gone.")
    hear(window, 0)
    await until(lambda: service.running)
    service.gate.set()
    await until(lambda: "The loudspeaker is gone." in window.messages.sentences())
    assert mutes(factory.session) == [True, False] and not window.model.talk.replaying


async def test_an_old_talk_is_heard_from_its_folder(tmp_path: Path) -> None:
    factory, service = FakeFactory(), FakeSoundService()
    async with shown(factory, sound_service=service, history=Kept(tmp_path)) as window:
        await until(lambda: window.conversations.list.place("old") >= 0)
        window.conversations.opened.emit("old")
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        await until(window.isActiveWindow)
        # Without sound, an answer can be said again, but a question can't be heard.
        assert [can_hear(window, card) for card in (1, 2, 4, 5)] == [True, True, False, True]
        hear(window, 1)
        await until(lambda: service.running)
        assert service.sound == Clip(tmp_path, "user", 3.5, service.sound.end) and 4.9 < service.sound.end < 6
        # Another conversation is wanted: this one falls silent.
        QTest.mouseClick(window.conversations.new_button, Qt.MouseButton.LeftButton)
        await until(lambda: service.cancelled == 1)
        await until(lambda: len(factory.sessions) == 3 and window.manager.session is not None)
        assert not window.model.talk.replaying and not mutes(factory.session)


async def test_a_talk_that_is_over_is_heard_from_the_folder_that_was_kept() -> None:
    factory, service = FakeFactory(), FakeSoundService()
    async with shown(factory, Settings(keep_recordings=True), sound_service=service) as window:
        say(window, *spoken(1, "What is it?", at=4.0))
        folder = Path(factory.choices[0].record_folder)
        window.devices.stop_button.click()
        await until(lambda: window.manager.phase == "stopped")
        hear(window, 0)
        await until(lambda: service.running)
        assert isinstance(service.sound, Clip) and service.sound.folder == folder
        service.gate.set()
        await until(lambda: not service.running)
        window.starter.go_on()
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        say(window, *spoken(1, "And now?", at=4.0))
        assert Path(factory.choices[1].record_folder) != folder or not folder.exists()
        hear(window, 0)
        await until(lambda: service.running)
        assert service.sound.folder == folder, "its own, and not the new conversation's"
        service.gate.set()
        await until(lambda: not service.running)
        hear(window, 2)
        await until(lambda: service.running)
        assert isinstance(service.sound, np.ndarray), "this one goes on"


async def test_an_answer_is_said_again_slower_or_read_on() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        *events, said, complete, over = spoken(1, "What is it?", "A test. And more.")
        say(window, *events, replace(said, text="A test."), complete, replace(over, interrupted=True))
        actions = window.transcript.actions_
        await until(actions.isVisible)
        press(actions, "Read on")
        press(actions, "Say it more slowly")
        press(actions, "Hear it again")
        calls = [call[1:] for call in factory.session.calls if call[0] == "repeat"]
        assert calls == [("And more.", "on"), ("A test.", "slower"), ("A test.", "again")]
        assert factory.session.choice.speech.rate == 0.8
        press(actions, "Say it more slowly")
        assert factory.session.choice.speech.rate == 0.6
        press(window.messages, "As before")
        assert factory.session.choice.speech.rate == 1.0 and not window.messages.rows
        say(window, *spoken(2, "And now?", "Now it is whole.", at=20.0))
        assert not actions.read_on.isVisible() and actions.slower.isVisible()
