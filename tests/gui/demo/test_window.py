"""The demo in front of the whole window: the user's conversation makes room, and comes back as it was."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.demo import record
from app.gui.state.choice import WindowChoices
from app.gui.window.main_window import MainWindow
from app.services.backend_service import BackendService
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from tests.gui.controllers.test_conversation_controller import click, kept, listed
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import say, shown, spoken, transcript, until
from tests.support.demo_talk import ScriptedDemoService


@asynccontextmanager
async def demo_opened(
    service: ScriptedDemoService, factory: FakeFactory, history: FakeHistory, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[MainWindow]:
    """A window whose user has said something and has then opened the demo from the menu."""
    monkeypatch.setattr(record, "SETTLE_SECONDS", 0.0)
    await service.ship()
    async with shown(factory, Settings(answer_mode="after"), history=history, demo=service) as window:
        say(window, *spoken(1, "Who are you?", "KAME."))
        assert window.commands["demo"].isVisible()
        window.commands["demo"].trigger()
        await until(lambda: len(window.demo.course.pairs) == 3)
        yield window


def begun(history: FakeHistory) -> list[str]:
    return [call[1] for call in history.calls if call[0] == "begin"]


async def test_escape_gives_the_users_conversation_back(monkeypatch: pytest.MonkeyPatch) -> None:
    factory, history, service = FakeFactory(), FakeHistory(), ScriptedDemoService()
    async with demo_opened(service, factory, history, monkeypatch) as window:
        assert window.demo.screen.isFullScreen() and factory.session.stopped and window.manager.phase == "stopped"
        QTest.keyClick(window.demo.screen, Qt.Key.Key_Escape)
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        window.model.flush()
        users, after = begun(history)
        assert users == after == window.talks.key, "nothing of the demo is kept"
        assert [card.split("\n")[1] for card in transcript(window)][:2] == ["Who are you?", "KAME."]
        assert [message.content for message in factory.choices[1].earlier] == ["Who are you?", "KAME."]
        choice = factory.choices[1]
        assert (choice.backend, choice.answer_mode, choice.duplex) == (BackendChoice(), "after", False)
        assert not window.demo.screen.isVisible() and all(talk.stopped for talk in service.recorded)


async def test_what_the_user_changes_meanwhile_holds_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    factory, history, service = FakeFactory(), FakeHistory(), ScriptedDemoService()
    async with demo_opened(service, factory, history, monkeypatch) as window:
        window.manager.want(muted=True)
        window.keep.change("frontend", "kame")
        await asyncio.sleep(0.05)
        assert window.demo.course is not None, "that can wait for the user's own talk"
        QTest.keyClick(window.demo.screen, Qt.Key.Key_Escape)
        await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
        assert factory.choices[1].muted and factory.choices[1].frontend == "kame"


@pytest.mark.parametrize("way", ["new", "stop", "open"])
async def test_who_goes_elsewhere_leaves_the_demo(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    factory, history, service = FakeFactory(), FakeHistory(now=100.0), ScriptedDemoService()
    kept(history, "old", "Old", spoken(1, "An old question?", "An old answer."))
    async with demo_opened(service, factory, history, monkeypatch) as window:
        [users] = begun(history)
        if way == "new":
            window.starter.start_fresh()
            await until(lambda: len(factory.sessions) == 2 and window.manager.session is not None)
            assert window.talks.key != users and not factory.choices[1].earlier
        elif way == "stop":
            window.starter.stop()
            await asyncio.sleep(0.05)
            assert window.manager.phase == "stopped" and len(factory.sessions) == 1
        else:
            await listed(window, "old")
            click(window, "old")
            await until(lambda: window.talks.key == "old")
            assert window.manager.phase == "stopped", "who only wants to read is not listened to"
        assert window.demo.course is None and not window.demo.screen.isVisible()


async def test_without_a_demo_service_there_is_no_menu_entry(window: MainWindow) -> None:
    assert not window.commands["demo"].isVisible() and window.demo is None


async def test_the_users_model_favourites_and_servers_can_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    factory, service = FakeFactory(), ScriptedDemoService()
    server = {"provider": "compatible", "base_url": "http://127.0.0.1:8092/v1", "name": "Mine"}
    favourite = {"provider": "ollama", "model": "gemma3:4b", "base_url": "http://127.0.0.1:11434"}
    state = WindowState(servers=[server], favourites=[favourite])
    settings, choices = Settings(provider="embedded"), WindowChoices(backends=BackendService().providers)
    async with shown(factory, settings, state=state, choices=choices, demo=service) as window:
        window.commands["demo"].trigger()
        await until(lambda: service.known)
        window.demo.make_way()
    known = [BackendChoice(), BackendChoice(**favourite), BackendChoice("compatible", "", server["base_url"])]
    assert list(service.known) == known
