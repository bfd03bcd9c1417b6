"""Changing the model during a conversation: refusals, fallbacks, and the messages about them."""

from __future__ import annotations

import asyncio
import logging

from app.conversation import events as e
from app.session.control import BackendChoice
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import choose, open_models, say, shown, until
from tests.gui.models.test_server_form import form_of


async def test_a_backend_that_was_refused_is_tried_again_when_it_is_picked_again(caplog) -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService()) as window:
        factory.session.refusal = UserError("There is no key.")
        choose(window, "openai")
        await until(lambda: window.setup.choice.provider == "embedded")
        assert not [record for record in caplog.records if record.levelno >= logging.WARNING], "it is for the user"
        factory.session.refusal = None
        choose(window, "openai")
        await until(lambda: window.settings.provider == "openai")
        assert len(factory.session.calls) == 2


async def test_the_pill_shows_the_backend_that_really_took_over() -> None:
    factory = FakeFactory()
    async with shown(
        factory, Settings(provider="ollama", ollama_model="gemma"), service=FakeBackendService()
    ) as window:
        given = ("ollama", "gemma", "http://127.0.0.1:11434")
        for provider in ("openai", "anthropic"):  # the first of them answered nothing, so it is not fallen back on
            choose(window, provider)
            await until(lambda provider=provider: window.settings.provider == provider)
        say(window, factory, e.BackendChanged(3, "Ollama", "gemma", "fallback", *given))
        assert window.setup.choice.provider == "ollama"
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


async def test_without_services_nothing_leads_to_models_and_servers() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(provider="ollama")) as window:
        open_models(window)
        assert not window.setup.models_button.isVisible()
        assert not window.menu.models_action.isVisible() and not window.menu.routes_action.isVisible()
        factory.session.refusal = UserError("There is no key.")
        choose(window, "openai")
        await until(lambda: window.messages.rows)
        assert not window.messages.rows[0].backend_button.isVisible()


async def test_closing_ends_the_fetching_of_lists() -> None:
    service = FakeBackendService(gate=asyncio.Event())
    async with shown(FakeFactory(), Settings(provider="ollama"), service=service):
        await until(lambda: service.calls)
    assert service.cancelled == 1


async def test_a_refused_backend_can_be_given_its_key_though_the_pill_went_back() -> None:
    factory = FakeFactory()
    async with shown(factory, service=FakeBackendService()) as window:
        factory.session.refusal = UserError("There is no key. Give the app one (“Key…”).")
        choose(window, "openai")
        await until(lambda: window.messages.rows)
        assert window.setup.choice.provider == "embedded"
        (row,) = window.messages.rows
        assert row.backend_button.isVisible() and not row.retry_button.isVisible()
        row.backend_button.click()
        form = form_of(window)
        assert form.key_box.field.isVisible() and form.fields.choice == BackendChoice("openai")
        form.window().close()
        window.menu.models_action.trigger()
        assert form.isVisible() and form.fields.choice == BackendChoice("openai")
        factory.session.refusal = None
        form.use_button.click()
        await until(lambda: window.settings.provider == "openai")
        assert window.messages.sentences() == [] and not form.isVisible()
