"""The dialog “Connection”: a key, which leaks nowhere; the test; downloading a model, and stopping that."""

from __future__ import annotations

import asyncio
import dataclasses
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QLineEdit, QWidget

from app.conversation import events as e
from app.gui.backends.backend_dialog import BackendDialog
from app.gui.window.main_window import MainWindow
from app.session.control import BackendChoice
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.backends.test_picker import enter, models
from tests.gui.fakes import PROVIDERS, FakeBackendService, FakeFactory
from tests.gui.helpers import open_dialog, press, say, shown, until
from tests.gui.window.test_window_session import pick
from tests.support.leaks import SECRET, all_logs, places_with

OLLAMA = BackendChoice("ollama", "", "http://127.0.0.1:11434")
THEIRS = BackendChoice("compatible", "", "http://127.0.0.1:8080/v1")
WANTS_KEY = "127.0.0.1:8080 wants an API key. Give the app one, or choose another model."


@asynccontextmanager
async def opened(
    service: FakeBackendService, choice: BackendChoice, settings: Settings | None = None
) -> AsyncIterator[tuple[MainWindow, BackendDialog]]:
    """A window whose dialog “Connection” is open."""
    async with shown(FakeFactory(), settings, service=service) as window:
        if choice.provider != "compatible":
            pick(window.setup.backend, choice.provider)
            window.setup.connection_button.click()
        else:
            window.dialogs.open_backend(choice)
        dialog = open_dialog(window, BackendDialog)
        await until(dialog.isActiveWindow)
        yield window, dialog


def texts(widget: QWidget) -> list[str]:
    """All that a window shows or tells, of itself and its parts."""
    found = []
    for part in [widget, *widget.findChildren(QWidget)]:
        found += [part.toolTip(), part.accessibleName(), part.accessibleDescription(), part.windowTitle(), repr(part)]
        if isinstance(part, QLabel | QLineEdit):
            found.append(part.text())
    return found


async def test_a_key_is_typed_saved_and_nowhere_else(tmp_path: Path) -> None:
    service, settings = FakeBackendService(), Settings(path=tmp_path / "settings.json")
    said: list[str] = []
    with all_logs() as lines:
        async with opened(service, BackendChoice("openai"), settings) as (window, dialog):
            await until(lambda: dialog.key_words.text().startswith("There is no key yet."))
            assert dialog.key.echoMode() == QLineEdit.EchoMode.Password and dialog.key.hasFocus()
            assert not dialog.forget_button.isEnabled()
            QTest.keyClicks(dialog.key, SECRET)
            QTest.keyClick(dialog.key, Qt.Key.Key_Return)
            assert dialog.key.text() == ""
            await until(lambda: dialog.answer.text() == "The key is kept in the system's keyring.")
            await until(lambda: dialog.key_words.text() == "The key is in the system's keyring.")
            assert service.keys == {"openai": SECRET} and dialog.isVisible()
            pick(window.setup.answer_mode, "after")
            await until(lambda: settings.path is not None and settings.path.exists())
            said += texts(window) + texts(dialog) + window.messages.sentences()
            said += [repr(call) for call in service.calls]
        said += [json.dumps({f.name: str(getattr(settings, f.name)) for f in dataclasses.fields(settings)})]
    assert places_with(SECRET, folders=[tmp_path], texts=said + lines) == []


async def test_a_key_that_could_not_be_kept_is_told_without_it() -> None:
    service = FakeBackendService(refusal=RuntimeError(f"no room for {SECRET}"))
    with all_logs() as lines:
        async with opened(service, BackendChoice("openai")) as (window, dialog):
            QTest.keyClicks(dialog.key, SECRET)
            press(dialog, "Save key")
            await until(lambda: "RuntimeError" in dialog.answer.text())
            said = texts(window) + texts(dialog)
    assert places_with(SECRET, texts=said + lines) == []


async def test_what_was_typed_is_gone_when_the_dialog_is_closed() -> None:
    service = FakeBackendService()
    async with opened(service, BackendChoice("openai")) as (window, dialog):
        QTest.keyClicks(dialog.key, SECRET)
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert not dialog.isVisible() and dialog.key.text() == ""
        window.setup.connection_button.click()
        QTest.keyClicks(dialog.key, SECRET)
        pick(dialog.picker.backend, "anthropic")  # a key is for one provider
        assert dialog.key.text() == ""
        QTest.keyClicks(dialog.key, SECRET)
        window.close()
        assert not dialog.isVisible() and dialog.key.text() == ""
    assert service.keys == {}


async def test_a_key_is_forgotten() -> None:
    service = FakeBackendService(keys={"openai": SECRET})
    async with opened(service, BackendChoice("openai")) as (_, dialog):
        await until(dialog.forget_button.isEnabled)
        press(dialog, "Forget key")
        await until(lambda: dialog.answer.text() == "The key is forgotten.")
        await until(lambda: dialog.key_words.text().startswith("There is no key yet."))
    assert service.keys == {}


@pytest.mark.parametrize(
    ("place", "words", "forgettable"),
    [
        ("environment", "environment variable OPENAI_API_KEY", False),
        ("memory", "in memory until you close the window", True),
        ("keyring", "in the system's keyring", True),
    ],
)
async def test_where_the_key_is_is_told(place, words: str, forgettable: bool) -> None:
    async with opened(FakeBackendService(places={"openai": place}), BackendChoice("openai")) as (_, dialog):
        await until(lambda: words in dialog.key_words.text())
        assert dialog.forget_button.isEnabled() == forgettable


async def test_the_connection_is_tested_in_words_that_can_be_copied() -> None:
    service = FakeBackendService(gate=asyncio.Event())
    async with opened(service, BackendChoice("openai")) as (_, dialog):
        pick(dialog.picker.backend, "openai")
        enter(dialog.picker.model, "gpt-5")
        press(dialog, "Test connection")
        assert dialog.answer.text() == "Testing OpenAI …" and not dialog.test_button.isEnabled()
        service.gate.set()
        await until(lambda: dialog.answer.text() == "gpt-5 answers: first words after 0.31 s.")
        assert dialog.answer.textInteractionFlags() & Qt.TextInteractionFlag.TextSelectableByMouse
        service.refusal = UserError("OpenAI refused the key. Check it, or make a new one.")
        press(dialog, "Test connection")
        await until(lambda: dialog.answer.text() == "OpenAI refused the key. Check it, or make a new one.")
        assert dialog.isVisible() and dialog.test_button.isEnabled()


async def test_a_model_is_fetched_and_offered_then() -> None:
    service = FakeBackendService(gate=asyncio.Event())
    service.gate.set()
    async with opened(service, OLLAMA) as (window, dialog):
        assert not dialog.key.isVisible()
        assert dialog.pull.isVisible() and not dialog.pull.bar.isVisible()
        service.gate.clear()
        enter(dialog.pull.name, "gemma3:4b")
        await until(lambda: dialog.pull.bar.value() == 330)
        assert dialog.pull.words.text() == "1.1 of 3.3 GB" and dialog.pull.cancel_button.isVisible()
        service.gate.set()
        await until(lambda: dialog.pull.words.text() == "gemma3:4b is on the server.")
        assert ("pull", BackendChoice("ollama", "gemma3:4b", OLLAMA.base_url)) in service.calls
        await until(lambda: models(window.setup.model) == ["gemma3:4b"])
        assert models(dialog.picker.model) == ["gemma3:4b"]
        assert dialog.picker.choice == BackendChoice("ollama", "gemma3:4b", OLLAMA.base_url)
        assert dialog.pull.words.text() == "gemma3:4b is on the server."
        dialog.use_button.click()
        await until(lambda: window.settings.ollama_model == "gemma3:4b")


async def test_fetching_goes_on_behind_a_closed_dialog_and_can_be_stopped() -> None:
    service = FakeBackendService()
    async with opened(service, OLLAMA) as (window, dialog):
        await until(lambda: not window.lists.busy(OLLAMA))
        service.gate = asyncio.Event()
        enter(dialog.pull.name, "gemma3:27b")
        await until(lambda: dialog.pull.bar.value() == 330)
        press(dialog, "Close this dialog")
        assert not dialog.isVisible() and service.cancelled_pulls == 0
        window.setup.connection_button.click()
        assert dialog.pull.bar.isVisible() and dialog.pull.bar.value() == 330
        press(dialog, "Stop the download")
        await until(lambda: service.cancelled_pulls == 1)
        assert dialog.pull.words.text().startswith("Stopped.") and not dialog.pull.bar.isVisible()
        assert dialog.pull.name.text() == "gemma3:27b" and dialog.pull.name.isEnabled()


async def test_fetching_that_fails_says_why() -> None:
    service = FakeBackendService()
    async with opened(service, OLLAMA) as (window, dialog):
        await until(lambda: not window.lists.busy(OLLAMA))
        service.refusal = UserError("Ollama knows no model “gema”. Check its name.")
        enter(dialog.pull.name, "gema")
        await until(lambda: dialog.pull.words.text() == "Ollama knows no model “gema”. Check its name.")
        assert window.messages.sentences() == []


async def test_a_backend_that_was_looked_at_can_be_used() -> None:
    service, factory = FakeBackendService(), FakeFactory()
    async with shown(factory, service=service) as window:
        window.menu.connection.emit()
        dialog = open_dialog(window, BackendDialog)
        await until(dialog.isActiveWindow)
        assert dialog.picker.backend.currentData() == "embedded" and not dialog.key.isVisible()
        offered = [dialog.picker.backend.itemData(place) for place in range(dialog.picker.backend.count())]
        assert offered == [view.key for view in PROVIDERS if view.key != "router"]
        pick(dialog.picker.backend, "compatible")
        dialog.use_button.click()
        assert dialog.isVisible() and dialog.answer.text() == "Enter the server's address first."
        enter(dialog.picker.url, "http://127.0.0.1:8080/v1")
        assert factory.session.calls == []
        dialog.use_button.click()
        backend = BackendChoice("compatible", "", "http://127.0.0.1:8080/v1")
        await until(lambda: factory.session.calls == [("set_backend", backend)])
        await until(lambda: window.setup.backend.currentData() == "compatible")
        await until(lambda: window.settings.compatible_url == "http://127.0.0.1:8080/v1")
        assert not dialog.isVisible()


MAYBE, NOT_YET = (
    "There is no key; this one may not need any.",
    ("There is no key yet. Copy one from your account at the provider, and paste it here."),
)


@pytest.mark.parametrize("how", ["chosen", "beside", "mid-conversation"])
async def test_a_backend_that_refuses_is_not_said_to_need_no_key(how: str) -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService()) as window:
        window.dialogs.open_backend(THEIRS)
        dialog = open_dialog(window, BackendDialog)
        await until(lambda: dialog.key_words.text() == MAYBE)
        if how == "mid-conversation":
            told = (THEIRS.provider, THEIRS.model, THEIRS.base_url)
            say(window, factory, e.Failure(1, "backend", WANTS_KEY, False, *told))
        else:
            factory.session.refusal = UserError(WANTS_KEY)
            (window.dialogs.secondary_chosen if how == "beside" else window.dialogs.backend_chosen).emit(THEIRS)
            await until(lambda: window.messages.rows)
        window.messages.rows[0].backend_button.click()  # it is open still
        await until(lambda: dialog.key_words.text() == NOT_YET)
        press(dialog, "Close this dialog")
        window.setup.connection_wanted.emit(THEIRS)  # by another way
        await until(lambda: dialog.isActiveWindow() and dialog.key_words.text() == NOT_YET)
        pick(dialog.picker.backend, "compatible")
        enter(dialog.picker.url, "http://127.0.0.1:9090/v1")
        await until(lambda: dialog.key_words.text() == MAYBE)


async def test_a_test_that_is_refused_is_not_contradicted_above() -> None:
    service = FakeBackendService()
    async with opened(service, THEIRS) as (_, dialog):
        await until(lambda: dialog.key_words.text() == MAYBE)
        service.refusal = UserError(WANTS_KEY)
        press(dialog, "Test connection")
        await until(lambda: dialog.answer.text() == WANTS_KEY and dialog.key_words.text() == NOT_YET)
