"""A click on a question of the welcome has it asked aloud by another voice, or typed where that can't be had."""

import asyncio

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.conversation import events as e
from app.gui.window.main_window import MainWindow
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import say, shown, until
from tests.unit.services.test_asking_service import QUESTIONS

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


def done(**settings: object) -> Settings:
    return Settings(**settings)  # type: ignore[arg-type]


async def test_a_question_is_spoken_into_the_session_until_its_turn_has_ended() -> None:
    factory, speaking = FakeFactory(), FakeSpeaking()
    async with shown(factory, done(voice="choir/ann"), asking=speaking) as window:
        click(window)
        assert window.asker.active and window.dock.silence.isVisible()
        await until(lambda: speaking.calls)
        click(window)  # once more, out of impatience
        speaking.gate.set()
        await until(lambda: ("ask_aloud", 24_000) in factory.session.calls)
        assert speaking.calls == [(QUESTION, "en", "choir/ann")]
        say(window, factory, e.UserStarted(1.0, 1), e.TranscriptPartial(1.5, 1, "What is", "the", 1.4))
        assert window.dock.button.text() == "Asking aloud"
        assert window.transcript.pages.currentWidget() is window.transcript.view
        say(window, factory, e.UserEnded(2.0, 1, 1.9, "button"), e.TranscriptFinal(2.1, 1, QUESTION, 1.9))
        assert not window.asker.active and QUESTION in window.transcript.text()
        assert not [call for call in factory.session.calls if call[0] == "write"]
        held = [name for name, value in vars(window.asker).items() if value is factory.session]
        assert not held, "a session that is over takes its models along"


@pytest.mark.parametrize("way", ["escape", "button"])
@pytest.mark.parametrize("sounds", [False, True])
async def test_it_can_be_stopped(way: str, sounds: bool) -> None:
    factory, speaking = FakeFactory(), FakeSpeaking()
    async with shown(factory, done(), asking=speaking) as window:
        await until(window.isActiveWindow)
        click(window)
        await until(lambda: speaking.calls)
        if sounds:
            speaking.gate.set()
            await until(lambda: ("ask_aloud", 24_000) in factory.session.calls)
            say(window, factory, e.UserStarted(1.0, 1))
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
    settings = done(language="de") if lack == "language" else done()
    async with shown(factory, settings, asking=None if lack == "service" else speaking) as window:
        click(window)
        await until(lambda: ("write", QUESTION) in factory.session.calls)
        assert not window.asker.active


async def test_it_is_typed_and_waits_while_the_session_loads() -> None:
    factory = FakeFactory(gate=asyncio.Event())
    async with shown(factory, done(), asking=FakeSpeaking(), running=False) as window:
        click(window)
        assert not window.asker.active
        factory.gate.set()  # type: ignore[union-attr]
        await until(lambda: factory.sessions and ("write", QUESTION) in factory.session.calls)


async def test_typing_works_where_the_session_could_not_start_and_tries_again() -> None:
    factory = FakeFactory(outcomes=[UserError("There is no loudspeaker.")])
    async with shown(factory, done(), asking=FakeSpeaking(), running=False) as window:
        await until(lambda: window.manager.gave_up)
        click(window)
        await until(lambda: factory.sessions and ("write", QUESTION) in factory.session.calls)
