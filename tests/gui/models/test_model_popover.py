"""The model pill and its popover: what is listed where, searched, picked by mouse and keyboard, and downloaded."""

from __future__ import annotations

import asyncio

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.conversation import events as e
from app.gui.models.model_list import ModelRow, is_local
from app.gui.state.choice import WindowChoices
from app.gui.window.main_window import MainWindow
from app.services.model_service import ModelView
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from app.settings.window_state import WindowState
from tests.gui.fakes import PROVIDERS, FakeBackendService, FakeFactory
from tests.gui.helpers import click_model, open_models, say, shown, until
from tests.gui.models.test_favourites import rows

GPT, GEMMA = BackendChoice("openai", "gpt-5"), BackendChoice("ollama", "gemma3:4b", "http://192.168.1.9:11434")
LISTS = {"ollama": ("gemma3:4b", "qwen3:8b"), "anthropic": ("claude-haiku-4-5",)}


class Catalogue:
    """A catalogue with a model that is here, one that is not, and one that does not fit this machine."""

    def models(self) -> list[ModelView]:
        common = {"kind": "llm", "languages": ("en",), "licence": "Apache-2.0"}
        return [
            ModelView(key="small", label="Small 135M", bytes=10**8, state="installed", **common),
            ModelView(key="large", label="Large 1.5B", bytes=11 * 10**8, state="missing", **common),
            ModelView(key="huge", label="Huge", bytes=9 * 10**9, state="missing", fits="It does not fit.", **common),
            ModelView(key="ear", label="Ear", bytes=1, state="missing", **{**common, "kind": "stt"}),
        ]


def listed(window: MainWindow) -> dict[str, list[str]]:
    """The names of the models that are listed, by the heading above them."""
    found: dict[str, list[str]] = {}
    for row in window.setup.list.rows.rows:
        if isinstance(row, ModelRow):
            found[heading].append(row.name)  # noqa: F821
        else:
            heading = window.setup.list.rows.heading(row)
            found[heading] = []
    return found


async def test_models_are_listed_by_where_they_run() -> None:
    settings, state = Settings(ollama_url=GEMMA.base_url), WindowState(favourites=rows(GPT))
    service = FakeBackendService(lists=LISTS)
    async with shown(FakeFactory(), settings, state=state, service=service) as window:
        window.setup.models._catalogue = Catalogue().models
        open_models(window)
        await until(lambda: "qwen3:8b" in listed(window).get("On your network", ()))
        found = listed(window)
        assert list(found)[:4] == ["Favourites", "On this computer", "On your network", "In the cloud"]
        assert found["Favourites"] == ["gpt-5"] and "Small 135M" in found["On this computer"]
        assert "claude-haiku-4-5" in found["In the cloud"] and found["To download"] == ["Large 1.5B"]


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:11434", True),
        ("http://127.0.0.1:1/v1", True),
        ("http://[::1]:8080", True),
        ("http://192.168.1.4:8080", False),
        ("https://example.com", False),
        ("http://[", False),
        ("", False),
    ],
)
def test_an_address_of_this_computer_is_told_from_others(url: str, local: bool) -> None:
    assert is_local(url) == local


async def test_a_click_changes_the_model_and_the_pill_names_it_in_its_colour() -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService(lists=LISTS)) as window:
        pill = window.top_bar.pill
        before = pill.colour()
        open_models(window)
        await until(lambda: "claude-haiku-4-5" in listed(window)["In the cloud"])
        click_model(window.setup.list, "claude-haiku-4-5")
        assert not window.setup.isVisible()
        await until(lambda: ("set_backend", BackendChoice("anthropic", "claude-haiku-4-5")) in factory.session.calls)
        assert pill.text() == "claude-haiku-4-5" and "Anthropic" in pill.accessibleName()
        assert pill.colour() != before
        assert pill.colour() == window.inspector.timeline.view.colours.backend(("Anthropic", "claude-haiku-4-5"))


async def test_the_pill_names_the_model_that_the_session_has_loaded() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
        say(window, factory, e.SessionStarted(0, "cascade", "w", "Embedded", "SmolLM2 135M", "thinking"))
        assert window.top_bar.pill.text() == "SmolLM2 135M"


async def test_it_is_searched_and_used_by_keyboard_alone() -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService(lists=LISTS)) as window:
        await until(window.isActiveWindow)
        setup, field = window.setup, window.transcript.composer.field
        field.setFocus()
        QTest.keyClick(field, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        assert setup.isVisible() and setup.search.hasFocus()
        await until(lambda: "claude-haiku-4-5" in listed(window)["In the cloud"])
        QTest.keyClicks(setup.search, "haiku anth")
        QTest.keyClick(setup.search, Qt.Key.Key_Return)
        assert not setup.isVisible() and field.hasFocus()
        await until(lambda: window.setup.choice.model == "claude-haiku-4-5")
        QTest.keyClick(field, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
        QTest.keyClicks(setup.search, "no such")
        await until(lambda: setup.models.empty.isVisible())
        QTest.keyClick(setup.search, Qt.Key.Key_Escape)
        assert not setup.isVisible() and field.hasFocus()


async def test_a_click_elsewhere_closes_it_and_does_what_it_says() -> None:
    async with shown(FakeFactory(), service=FakeBackendService()) as window:
        await until(window.isActiveWindow)
        open_models(window)
        QTest.mouseClick(window.dock.mute, Qt.MouseButton.LeftButton)
        assert not window.setup.isVisible() and window.dock.mute.isChecked()
        open_models(window)
        window.top_bar.pill.click()
        assert not window.setup.isVisible()


async def test_a_model_to_download_is_fetched_and_not_used_yet() -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService()) as window:
        wanted: list[str] = []
        window.setup.models._catalogue = Catalogue().models
        window.setup.download_wanted.connect(wanted.append)
        open_models(window)
        click_model(window.setup.list, "Large 1.5B")
        assert wanted == ["large"] and window.setup.isVisible() and factory.session.calls == []


async def test_all_of_it_is_in_the_window_at_every_size() -> None:
    choices = WindowChoices(backends=PROVIDERS)
    async with shown(
        FakeFactory(), choices=choices, service=FakeBackendService(lists=LISTS), everything=False
    ) as window:
        for width, height in ((900, 600), (1366, 768), (1920, 1080)):
            window.resize(width, height)
            open_models(window)
            await asyncio.sleep(0)
            assert window.rect().contains(window.setup.geometry().adjusted(12, 12, -12, -12))
            window.setup.shut()
            window.dock.devices_button.click()
            assert window.rect().contains(window.devices.geometry().adjusted(12, 12, -12, -12))
            window.devices.shut()


async def test_words_are_asked_again_with_another_model_or_not_at_all() -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService(lists=LISTS)) as window:
        window.transcript.other_model_wanted.emit("How high is it?")
        QTest.keyClick(window.setup.search, Qt.Key.Key_Escape)
        await asyncio.sleep(0.01)
        QApplication.processEvents()
        window.live.pick_backend(GPT)
        await until(lambda: window.setup.choice == GPT)
        assert ("write", "How high is it?") not in factory.session.calls
        window.transcript.other_model_wanted.emit("How high is it?")
        await until(lambda: "claude-haiku-4-5" in listed(window)["In the cloud"])
        click_model(window.setup.list, "claude-haiku-4-5")
        await until(lambda: ("write", "How high is it?") in factory.session.calls)
