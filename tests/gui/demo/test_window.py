"""The demo in the whole window: its sessions are kept as one conversation, and the user's own is restored."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtCore import Qt

from app.conversation import events as e
from app.gui.window.main_window import MainWindow
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from tests.gui.controllers.test_conversation_controller import GEMMA, click, kept, listed
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import say, shown, spoken, transcript, until
from tests.gui.transcript.test_typing import menu_at, offered
from tests.gui.window.test_window_session import pick
from tests.support.demo_talk import QUICK_ANSWER_MODE, ScriptedDemoService


@asynccontextmanager
async def demo_started(
    qtbot, service: ScriptedDemoService, factory: FakeFactory, history: FakeHistory
) -> AsyncIterator[MainWindow]:
    """A window whose user has said something and has then started the quick demo."""
    async with shown(factory, Settings(answer_mode="after"), history=history, demo=service) as window:
        say(window, factory, *spoken(1, "Who are you?", "KAME."))
        assert window.menu.demo_action.isVisible()
        window.menu.demo_action.trigger()
        demo = window.demo
        await until(lambda: demo.panel and demo.panel.start_button.isEnabled())
        demo.panel.start_page.quick.setChecked(True)
        qtbot.mouseClick(demo.panel.start_button, Qt.MouseButton.LeftButton)
        await until(lambda: demo.running and not window.dock.duplex.isEnabled())  # its microphone needs no button
        yield window


def begun(history: FakeHistory) -> list[str]:
    """The conversations in which talks have begun, in order."""
    return [call[1] for call in history.calls if call[0] == "begin"]


async def test_from_the_menu_to_the_chart_and_back_to_the_users_conversation(qtbot) -> None:
    factory, history, service = FakeFactory(), FakeHistory(), ScriptedDemoService(ways=(QUICK_ANSWER_MODE,))
    async with demo_started(qtbot, service, factory, history) as window:
        demo, users = window.demo, begun(history)[0]
        await until(lambda: service.talks)
        assert not window.transcript.composer.isEnabled()
        await until(lambda: demo.panel.page.isVisible(), 20)
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        window.pump.flush()
        assert window.dock.duplex.isEnabled() and not window.dock.duplex.isChecked()
        assert window.transcript.composer.isEnabled()
        before, *demos, after = begun(history)
        assert before == after == users == window.talks.key, "the user is back where they were"
        assert len(demos) == 2 and len(set(demos)) == 1 and demos[0] != users, "one conversation of its own"
        assert all(any(isinstance(event, e.AssistantSaid) for event in log.events) for log in history.logs[demos[0]])
        assert [card.split("\n")[1] for card in transcript(window)][1:3] == ["Who are you?", "KAME."]
        assert [message.content for message in factory.choices[1].earlier] == ["Who are you?", "KAME."]
        settings = window.settings
        assert (settings.provider, settings.answer_mode, settings.duplex) == ("embedded", "after", False)
        assert window.setup.choice == BackendChoice() == factory.choices[1].backend
        assert factory.choices[1].answer_mode == "after"


async def test_a_model_chosen_during_the_demo_is_used_afterwards(qtbot) -> None:
    factory, history, service = (
        FakeFactory(),
        FakeHistory(),
        ScriptedDemoService(ways=(QUICK_ANSWER_MODE,), hold_from=1),
    )
    async with demo_started(qtbot, service, factory, history) as window:
        await until(lambda: service.talks and service.talks[0].asked)
        pick(window.setup.backend, "openai")
        window.dock.mute.click()
        assert any("once it is over" in sentence for sentence in window.messages.sentences())
        assert service.talks[0].backend.provider == "embedded" and service.talks[0].calls == []
        qtbot.mouseClick(window.demo.panel.stop_button, Qt.MouseButton.LeftButton)
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        assert factory.choices[1].backend.provider == "openai" == window.settings.provider
        assert window.setup.backend.currentData() == "openai"
        assert factory.choices[1].muted and window.dock.mute.isChecked(), "the microphone stays muted"
        assert not any("once it is over" in sentence for sentence in window.messages.sentences())


async def test_only_the_demos_own_questions_can_be_asked_meanwhile(qtbot) -> None:
    factory, history, service = (
        FakeFactory(),
        FakeHistory(),
        ScriptedDemoService(ways=(QUICK_ANSWER_MODE,), hold_from=2),
    )
    async with demo_started(qtbot, service, factory, history) as window:
        await until(lambda: service.asked >= 2)
        window.pump.flush()
        card = next(place for place, text in enumerate(transcript(window)) if "Why is it so?" in text)
        await until(lambda: any(place == card for place, _ in window.transcript.view._in_view()))
        menu_at(window, card)
        assert not offered(window, "Ask this again")
        window.transcript.menu.close()
        window.transcript.composer.setEnabled(True)
        menu_at(window, card)
        assert offered(window, "Ask this again"), "which it would be of any other talk"
        window.transcript.menu.close()


@pytest.mark.parametrize("way", ["new", "stop", "open", "voice"])
async def test_leaving_the_demos_conversation_ends_the_demo(qtbot, way: str) -> None:
    factory, history, service = (
        FakeFactory(),
        FakeHistory(now=100.0),
        ScriptedDemoService(ways=(QUICK_ANSWER_MODE,), hold_from=1),
    )
    kept(history, "old", "Old", spoken(1, "An old question?", "An old answer."))
    async with demo_started(qtbot, service, factory, history) as window:
        await until(lambda: service.talks and service.talks[0].asked)
        users, demos = begun(history)
        if way == "new":
            window.top_bar.new_button.click()
            await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
            assert window.talks.key not in (users, demos) and not factory.choices[1].earlier
        elif way == "stop":
            window.devices.stop_button.click()
            await until(lambda: not window.demo.running)
            assert window.manager.phase == "stopped" and len(factory.sessions) == 1
            assert window.talks.key == demos, "what there was of it can be looked at"
            window.dock.button.click()
            await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
            assert window.talks.key == users, "but the user's own talk is elsewhere"
        elif way == "open":
            await listed(window, "old")
            click(window, "old")
            await until(lambda: window.talks.key == "old")
            assert window.manager.phase == "stopped", "who only wants to read is not listened to"
        else:
            window.live.change("frontend", "kame")
            await asyncio.sleep(0.05)
            assert window.demo.running, "that can wait for the user's own talk"
            window.demo.stop()
            await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
            assert factory.choices[1].frontend == "kame" and window.talks.key == users
        await until(lambda: not window.demo.running)
        await until(lambda: service.talks[0].stopped)
        assert window.setup.choice == (GEMMA.backend if way == "open" else BackendChoice()) and len(service.talks) == 1
        assert set(begun(history)[2:]) <= {window.talks.key}, "the demo says nothing into another conversation"


async def test_without_a_demo_service_there_is_no_menu_entry() -> None:
    async with shown(FakeFactory()) as window:
        assert not window.menu.demo_action.isVisible() and window.demo is None
