"""Choosing a back-end above the conversation: providers, lists of models, servers, and refusals."""

from __future__ import annotations

import asyncio
import logging

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox

from app.conversation import events as e
from app.gui.backends.backend_dialog import BackendDialog
from app.session.control import BackendChoice
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import open_dialog, open_models, say, shown, until
from tests.gui.window.test_window_session import pick

URL = "http://127.0.0.1:8080/v1"


def models(combo: QComboBox) -> list[str]:
    return [combo.itemText(place) for place in range(combo.count())]


def enter(field, text: str) -> None:
    """As the user does it: what stands there is replaced, then Enter."""
    field.setFocus()
    (field.lineEdit() if isinstance(field, QComboBox) else field).selectAll()
    QTest.keyClicks(field, text)
    QTest.keyClick(field, Qt.Key.Key_Return)


async def test_every_provider_shows_the_fields_that_it_has() -> None:
    service = FakeBackendService()
    async with shown(FakeFactory(), service=service) as window:
        setup = window.setup
        open_models(window)
        expected = {
            "embedded": (False, False, ""),
            "ollama": (True, True, "&Key and connection…"),
            "openai": (True, False, "&Key and connection…"),
            "anthropic": (True, False, "&Key and connection…"),
            "google": (True, False, "&Key and connection…"),
            "compatible": (True, True, "&Key and connection…"),
        }
        for provider, (model, url, button) in expected.items():
            pick(setup.backend, provider)
            fields = (setup.model.isVisible(), setup.url.isVisible(), setup.connection_button.text())
            assert fields == (model, url, button), provider
            assert setup.connection_button.isVisible() == bool(button)


async def test_suggested_models_are_there_at_once_and_the_servers_own_when_they_come() -> None:
    service = FakeBackendService(lists={"openai": ("gpt-9", "gpt-9-mini")}, gate=asyncio.Event())
    factory = FakeFactory()
    async with shown(factory, service=service) as window:
        setup = window.setup
        pick(setup.backend, "openai")
        assert models(setup.model) == ["gpt-4.1-mini", "gpt-4.1", "gpt-5"]
        assert setup.model.lineEdit().placeholderText() == "gpt-4.1-mini" and setup.model.currentText() == ""
        assert "being fetched" in setup.model.toolTip()
        await until(window.isActiveWindow)
        setup.model.setFocus()
        QTest.keyClicks(setup.model, "my-o")  # the user need not wait
        service.gate.set()
        await until(lambda: models(setup.model) == ["gpt-9", "gpt-9-mini"])
        assert setup.model.currentText() == "my-o"
        QTest.keyClicks(setup.model, "wn")
        QTest.keyClick(setup.model, Qt.Key.Key_Return)
        await until(lambda: window.settings.openai_model == "my-own")
        pick_model(setup.model, "gpt-9-mini")
        await until(lambda: window.settings.openai_model == "gpt-9-mini")
        assert [call[1].model for call in factory.session.calls] == ["", "my-own", "gpt-9-mini"]


def pick_model(combo: QComboBox, model: str) -> None:
    place = combo.findText(model)
    combo.setCurrentIndex(place)
    combo.activated.emit(place)


async def test_a_list_is_asked_for_once_and_again_on_the_refresh_button() -> None:
    service = FakeBackendService(lists={"ollama": ("gemma3:4b",)})
    async with shown(FakeFactory(), Settings(provider="ollama"), service=service) as window:
        setup = window.setup
        await until(lambda: models(setup.model) == ["gemma3:4b"])
        pick(setup.backend, "embedded")
        pick(setup.backend, "ollama")
        asked = ("models", "ollama", "http://127.0.0.1:11434")
        assert service.calls == [(*asked, False)]
        service.lists["ollama"] = ("gemma3:4b", "qwen3:8b")
        setup.picker.refresh.click()
        await until(lambda: models(setup.model) == ["gemma3:4b", "qwen3:8b"])
        assert service.calls == [(*asked, False), (*asked, True)]


async def test_a_list_that_cannot_be_had_is_told_quietly() -> None:
    service = FakeBackendService(refusal=UserError("Ollama did not answer. Start it."))
    async with shown(FakeFactory(), Settings(provider="ollama"), service=service) as window:
        setup = window.setup
        await until(lambda: setup.picker.refresh.name == "triangle-alert")
        assert "Ollama did not answer. Start it." in setup.model.toolTip()
        assert "Ollama did not answer. Start it." in setup.model.accessibleDescription()
        assert window.messages.sentences() == []
        service.refusal, service.lists = None, {"ollama": ("gemma3:4b",)}
        setup.picker.refresh.click()
        await until(lambda: setup.picker.refresh.name == "refresh-cw")
        assert "did not answer" not in setup.model.toolTip()


async def test_another_server_is_used_when_its_address_is_known() -> None:
    factory, service = FakeFactory(), FakeBackendService(lists={"compatible": ("qwen3-30b",)})
    async with shown(factory, service=service) as window:
        await until(window.isActiveWindow)
        setup = window.setup
        pick(setup.backend, "compatible")
        assert setup.url.hasFocus()
        assert factory.session.calls == [] and service.calls == []
        assert window.manager.wanted.backend == BackendChoice("embedded")
        enter(setup.url, URL)
        await until(lambda: window.settings.compatible_url == URL)
        assert factory.session.calls == [("set_backend", BackendChoice("compatible", "", URL))]
        await until(lambda: models(setup.model) == ["qwen3-30b"])


async def test_an_address_that_was_refused_can_be_put_right() -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService()) as window:
        await until(window.isActiveWindow)
        setup = window.setup
        pick(setup.backend, "compatible")
        factory.session.refusal = UserError("Nobody answers there.")
        enter(setup.url, "http://127.0.0.1:808/v1")
        await until(lambda: window.messages.sentences() == ["Nobody answers there."])
        assert setup.backend.currentData() == "embedded"
        factory.session.refusal = None
        pick(setup.backend, "compatible")
        assert setup.url.text() == "http://127.0.0.1:808/v1" and setup.url.hasFocus()
        assert len(factory.session.calls) == 1
        enter(setup.url, URL)
        await until(lambda: window.settings.compatible_url == URL)
        assert factory.session.calls[-1] == ("set_backend", BackendChoice("compatible", "", URL))


async def test_a_backend_that_was_refused_is_tried_again_when_it_is_picked_again(caplog) -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService()) as window:
        factory.session.refusal = UserError("There is no key.")
        pick(window.setup.backend, "openai")
        await until(lambda: window.setup.backend.currentData() == "embedded")
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING], "it is for the user"
        factory.session.refusal = None
        pick(window.setup.backend, "openai")
        await until(lambda: window.settings.provider == "openai")
        assert len(factory.session.calls) == 2


async def test_the_picker_shows_the_backend_that_really_took_over() -> None:
    factory = FakeFactory()
    async with shown(
        factory, Settings(provider="ollama", ollama_model="gemma"), service=FakeBackendService()
    ) as window:
        given = ("ollama", "gemma", "http://127.0.0.1:11434")
        for provider in ("openai", "anthropic"):  # the first of them answered nothing, so it is not fallen back on
            pick(window.setup.backend, provider)
            await until(lambda provider=provider: window.settings.provider == provider)
        say(window, factory, e.BackendChanged(3, "Ollama", "gemma", "fallback", *given))
        assert window.setup.backend.currentData() == "ollama"
        assert window.manager.wanted.backend == BackendChoice(*given)
        assert window.settings.provider == "anthropic", "for the next conversation the user's choice stands"


async def test_messages_make_room_for_newer_ones_and_end_with_their_cause() -> None:
    factory = FakeFactory()

    def fails(sentence: str, about: e.About, secondary: bool = False) -> e.Failure:
        return e.Failure(3, "backend", sentence, secondary=secondary, about=about)

    async with shown(factory, service=FakeBackendService()) as window:
        said = window.messages.sentences
        say(window, factory, fails("It wants a key.", "backend"), fails("At the side.", "backend", True))
        say(window, factory, fails("It refuses the key.", "backend"), e.Failure(3, "audio", "No sound."))
        assert said() == ["At the side.", "It refuses the key.", "No sound."]
        window.messages.rows[-1].close_button.click()
        say(window, factory, fails("Less often.", "cap"))
        say(window, factory, e.BudgetChanged(4, "stop", 1, 1), fails("No more.", "cap"))
        say(window, factory, fails("This is not answered.", "unanswered"))
        assert said() == ["At the side.", "It refuses the key.", "This is not answered."]
        say(window, factory, e.BudgetChanged(5, "free", 1, 9))
        assert said() == ["At the side.", "It refuses the key."]
        window.top_bar.new_button.clicked.emit()
        await until(lambda: said() == [])


async def test_without_a_service_models_can_be_typed_and_a_refusal_leads_nowhere() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(provider="ollama")) as window:
        open_models(window)
        assert window.setup.model.isVisible()
        assert not window.setup.picker.refresh.isVisible() and not window.setup.connection_button.isVisible()
        assert not window.menu.connection_action.isVisible() and not window.menu.routes_action.isVisible()
        factory.session.refusal = UserError("There is no key.")
        pick(window.setup.backend, "openai")
        await until(lambda: window.messages.rows)
        assert not window.messages.rows[0].backend_button.isVisible()


async def test_closing_ends_the_looking_up() -> None:
    service = FakeBackendService(gate=asyncio.Event())
    async with shown(FakeFactory(), Settings(provider="ollama"), service=service):
        await until(lambda: service.calls)
    assert service.cancelled == 1


async def test_a_fault_at_the_service_is_told_without_its_words(caplog) -> None:
    service = FakeBackendService(refusal=RuntimeError("the key is sk-secret"))
    async with shown(FakeFactory(), Settings(provider="ollama"), service=service) as window:
        await until(lambda: "RuntimeError" in window.setup.model.toolTip())
        assert "sk-secret" not in window.setup.model.toolTip()
    assert "RuntimeError" in caplog.text and "sk-secret" not in caplog.text


async def test_a_refused_backend_can_be_given_its_key_though_the_picker_went_back() -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService()) as window:
        factory.session.refusal = UserError("There is no key. Give the app one (“Key…”).")
        pick(window.setup.backend, "openai")
        await until(lambda: window.messages.rows)
        assert window.setup.backend.currentData() == "embedded"
        (row,) = window.messages.rows
        assert row.backend_button.isVisible() and not row.retry_button.isVisible()
        row.backend_button.click()
        dialog = open_dialog(window, BackendDialog)
        assert dialog.key.isVisible()
        assert dialog.picker.choice == BackendChoice("openai")
        dialog.close_button.click()
        window.menu.connection.emit()
        assert dialog.isVisible() and dialog.picker.choice == BackendChoice("openai")
        factory.session.refusal = None
        dialog.use_button.click()
        await until(lambda: window.settings.provider == "openai")
        assert window.messages.sentences() == []
        pick(window.setup.backend, "embedded")
        await until(lambda: window.settings.provider == "embedded")
        window.menu.connection.emit()
        assert dialog.picker.choice == BackendChoice("embedded")


async def test_a_refused_server_waits_for_its_address_when_it_is_picked_again() -> None:
    factory = FakeFactory()
    usual, other = "http://127.0.0.1:11434", "http://127.0.0.1:11999"
    async with shown(factory, service=FakeBackendService()) as window:
        await until(window.isActiveWindow)
        setup = window.setup
        open_models(window)
        factory.session.refusal = UserError("Ollama is not there.")
        pick(setup.backend, "ollama")
        await until(lambda: window.messages.rows)
        factory.session.refusal = None
        pick(setup.backend, "ollama")
        assert setup.url.isVisible() and setup.url.hasFocus() and setup.url.text() == usual
        setup.answer_mode.setFocus()  # nothing was changed
        assert len(factory.session.calls) == 1
        assert setup.backend.currentData() == "ollama"
        enter(setup.url, other)
        await until(lambda: window.settings.ollama_url == other)
        assert factory.session.calls[1:] == [("set_backend", BackendChoice("ollama", "", other))]
        assert window.messages.sentences() == []


async def test_a_refused_server_is_tried_again_with_enter() -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService()) as window:
        await until(window.isActiveWindow)
        factory.session.refusal = UserError("Ollama is not there.")
        pick(window.setup.backend, "ollama")
        await until(lambda: window.messages.rows)
        factory.session.refusal = None
        pick(window.setup.backend, "ollama")
        QTest.keyClick(window.setup.url, Qt.Key.Key_Return)
        await until(lambda: window.settings.provider == "ollama")
        assert len(factory.session.calls) == 2
