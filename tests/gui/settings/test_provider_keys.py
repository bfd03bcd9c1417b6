"""API keys and connections in the settings: saved, forgotten and tested by click and key, and never shown or logged."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit

from app.gui.settings.dialog import SettingsDialog
from app.gui.settings.provider_box import ProviderBox
from app.gui.state.choice import WindowChoices
from app.gui.window.app import _generators_closed
from app.gui.window.main_window import MainWindow
from app.services.api_keys import KeyStore
from app.services.backend_service import BackendService
from app.session.control import BackendChoice
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import PROVIDERS, FakeBackendService, FakeFactory
from tests.gui.helpers import shown, until
from tests.support.servers import Script, peer

SECRET = "sk-never-to-be-seen-1234567890"


@asynccontextmanager
async def keys_page(service: BackendService, **settings: object) -> AsyncIterator[tuple[MainWindow, SettingsDialog]]:
    """The window with its settings open at the keys."""
    kept = Settings(**settings)  # type: ignore[arg-type]
    async with shown(FakeFactory(), kept, service=service, choices=WindowChoices(backends=PROVIDERS)) as window:
        window.panels.open_settings("models")
        assert window.panels.settings is not None
        await until(window.panels.settings.isActiveWindow)
        yield window, window.panels.settings


def texts(box: ProviderBox) -> str:
    labels = [label.text() for label in box.findChildren(QLabel)]
    return "\n".join([*labels, *(field.displayText() for field in box.findChildren(QLineEdit))])


async def test_a_key_is_pasted_saved_tested_and_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    service = FakeBackendService(lists={"openai": ("gpt-5",)})
    async with keys_page(service) as (_window, dialog):
        box = dialog.providers["openai"]
        await until(lambda: box.key_box.words.text().startswith("There is no key yet"))
        assert not box.key_box.save_button.isEnabled() and not box.key_box.forget_button.isEnabled()
        box.key_box.field.setFocus()
        QApplication.clipboard().setText(SECRET)
        QTest.keyClick(box.key_box.field, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
        assert box.key_box.field.text() == SECRET and SECRET not in texts(box)
        QTest.keyClick(box.key_box.field, Qt.Key.Key_Return)
        await until(lambda: box.key_box.words.text() == "The key is in the system's keyring.")
        assert service.keys == {"openai": SECRET} and box.key_box.field.text() == "" and dialog.isVisible()
        assert ("models", "openai", "", True) in service.calls  # the list may be another one with a key
        QTest.mouseClick(box.test_button, Qt.MouseButton.LeftButton)
        assert not box.test_button.isEnabled() and "Testing OpenAI" in box.answer.text()
        await until(lambda: box.answer.text() == "It answers: first words after 0.31 s.")
        assert box.test_button.isEnabled()
        QTest.mouseClick(box.key_box.forget_button, Qt.MouseButton.LeftButton)
        await until(lambda: not service.keys and box.answer.text() == "The key is forgotten.")
        await until(lambda: not box.key_box.forget_button.isEnabled())
    assert SECRET not in caplog.text


async def test_a_typed_key_is_saved_before_the_test() -> None:
    service = FakeBackendService()
    async with keys_page(service) as (_window, dialog):
        box = dialog.providers["anthropic"]
        await until(lambda: box.key_box.place == "none")
        QTest.keyClicks(box.key_box.field, SECRET)
        box.test_button.click()
        await until(lambda: "answers" in box.answer.text())
        assert service.keys == {"anthropic": SECRET}
        kinds = [call[0] for call in service.calls if call[0] in ("keep_key", "test")]
        assert kinds == ["keep_key", "test"]


async def test_keys_of_several_providers_are_looked_for_at_once_and_told_apart() -> None:
    service = FakeBackendService(keys={"openai": SECRET}, places={"google": "environment", "anthropic": "memory"})
    async with keys_page(service) as (_window, dialog):
        words = {key: box.key_box.words for key, box in dialog.providers.items()}
        await until(lambda: all(words[key].text() for key in ("openai", "google", "anthropic")))
        assert "keyring" in words["openai"].text() and "GEMINI_API_KEY" in words["google"].text()
        assert "in memory" in words["anthropic"].text()
        assert not dialog.providers["google"].key_box.forget_button.isEnabled()
        assert list(dialog.providers) == ["ollama", "openai", "anthropic", "google", "compatible"]
        assert not dialog.providers["ollama"].key_box.field.isVisible()


async def test_no_keyring_is_asked_before_the_page_is_seen() -> None:
    service = FakeBackendService()
    async with keys_page(service) as (window, dialog):
        await until(lambda: ("key_place", "openai") in service.calls)
        dialog.pages.setCurrentRow(0)
        dialog.close()
        service.calls.clear()
        window.panels.open_settings()
        await until(dialog.isActiveWindow)
        assert [call for call in service.calls if call[0] == "key_place"] == []


async def test_a_refused_test_says_why_and_where_a_key_may_be_missing() -> None:
    service = FakeBackendService(refusal=UserError("The server refused the key."))
    async with keys_page(service, compatible_url="http://127.0.0.1:8080/v1") as (window, dialog):
        box = dialog.providers["compatible"]
        await until(lambda: box.key_box.words.text() == "There is no key; this one may not need any.")
        box.test_button.click()
        await until(lambda: box.answer.text() == "The server refused the key.")
        await until(lambda: box.key_box.words.text().startswith("There is no key yet"))
        assert BackendChoice("compatible", "", "http://127.0.0.1:8080/v1").place in window.dialogs.refused


async def test_a_server_wants_its_address_first_and_has_a_key_of_its_own() -> None:
    service = FakeBackendService(keys={"compatible": SECRET})
    async with keys_page(service) as (_window, dialog):
        box = dialog.providers["compatible"]
        assert box.key_box.words.text().startswith("Give the address of the server first")
        assert not box.key_box.field.isEnabled() and not box.test_button.isEnabled()
        line = dialog.rows["compatible_url"].editor.line
        line.setFocus()
        QTest.keyClicks(line, "http://127.0.0.1:9/v1")
        QTest.keyClick(line, Qt.Key.Key_Return)
        await until(lambda: box.key_box.words.text() == "The key is in the system's keyring.")
        assert box.key_box.field.isEnabled() and box.test_button.isEnabled()


async def test_leaving_drops_what_was_typed_and_the_test_that_goes_on() -> None:
    service = FakeBackendService()
    async with keys_page(service) as (window, dialog):
        box = dialog.providers["openai"]
        await until(lambda: box.key_box.place == "none")

        service.gate = asyncio.Event()
        box.test_button.click()
        await until(lambda: ("test", BackendChoice("openai")) in service.calls)
        QTest.keyClicks(box.key_box.field, SECRET)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        await until(lambda: service.cancelled == 1)
        assert not dialog.isVisible() and box.key_box.field.text() == "" and service.keys == {}
        window.panels.open_settings("models")
        assert box.answer.text() == "" and box.test_button.isEnabled()


async def test_the_search_finds_keys_and_connections() -> None:
    async with keys_page(FakeBackendService()) as (_, dialog):
        QTest.keyClicks(dialog.search, "api key google")
        assert [key for key, box in dialog.providers.items() if box.isVisible()] == ["google"]
        dialog.search.setText("ollama connection")
        assert [key for key, box in dialog.providers.items() if box.isVisible()] == ["ollama"]


async def test_a_real_server_is_tested_by_its_address_with_the_key_that_was_typed() -> None:
    script = Script()
    with peer(script) as server, _generators_closed(asyncio.get_running_loop()):
        address = f"{server}/v1"
        service = BackendService(KeyStore(environment={}, open_keyring=lambda: None))
        async with shown(FakeFactory(), Settings(), service=service) as window:
            window.panels.open_settings("compatible_url")
            dialog = window.panels.settings
            assert dialog is not None
            window.live.change("compatible_url", address)
            window.live.change("compatible_model", "tiny")
            box = dialog.providers["compatible"]
            await until(box.test_button.isEnabled)
            QTest.keyClicks(box.key_box.field, SECRET)
            box.test_button.click()
            await until(lambda: "answers: first words after" in box.answer.text(), 30)
            assert "tiny at 127.0.0.1" in box.answer.text()
            headers = {name.lower(): value for name, value in script.seen_headers[-1].items()}
            assert headers["authorization"] == f"Bearer {SECRET}"
            script.status = 401  # a server that quotes keys
            box.test_button.click()
            await until(
                lambda: box.answer.text() and "answers" not in box.answer.text() and box.test_button.isEnabled()
            )
            assert "sk-" not in texts(box)
