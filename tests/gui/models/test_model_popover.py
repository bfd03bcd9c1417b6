"""Picking a model: the pill and its popover, favourites, and the messages about a change during a conversation."""

import asyncio
import json
import logging
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.conversation import events as e
from app.gui.models.favourites import MAX_FAVOURITES
from app.gui.models.model_list import ModelRow
from app.gui.models.model_question import ModelQuestion
from app.gui.window.main_window import MainWindow
from app.services.model_service import ModelView
from app.session.control import BackendChoice, UserError
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import (
    choose,
    click_model,
    heard,
    open_dialog,
    open_models,
    press,
    say,
    shown,
    spoken,
    until,
    window_and_factory,
)
from tests.gui.models.test_server_form import form_of

GPT, GEMMA = BackendChoice("openai", "gpt-5"), BackendChoice("ollama", "gemma3:4b", "http://192.168.1.9:11434")
LISTS = {"ollama": ("gemma3:4b", "qwen3:8b"), "anthropic": ("claude-haiku-4-5",)}


@pytest.fixture
def given() -> dict[str, Any]:
    return {"service": FakeBackendService(lists=LISTS)}


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
    for row in window.popover.list.rows.rows:
        if isinstance(row, ModelRow):
            found[heading].append(row.name)  # noqa: F821
        else:
            heading = window.popover.list.rows.heading(row)
            found[heading] = []
    return found


async def test_models_are_listed_by_where_they_run() -> None:
    settings, state = Settings(ollama_url=GEMMA.base_url), WindowState(favourites=kept_as(GPT))
    service = FakeBackendService(lists=LISTS)
    async with shown(FakeFactory(), settings, state=state, service=service) as window:
        window.popover.models._catalogue = Catalogue().models
        open_models(window)
        await until(lambda: "qwen3:8b" in listed(window).get("Your servers", ()))
        found = listed(window)
        assert list(found)[:4] == ["Favourites", "On this computer", "Your servers", "In the cloud"]
        assert found["Favourites"] == ["gpt-5"] and "Small 135M" in found["On this computer"]
        assert "claude-haiku-4-5" in found["In the cloud"] and found["To download"] == ["Large 1.5B"]


async def test_a_click_changes_the_model_and_the_pill_names_it_in_its_colour(window, factory) -> None:
    pill = window.top_bar.pill
    before = pill.colour()
    open_models(window)
    await until(lambda: "claude-haiku-4-5" in listed(window)["In the cloud"])
    click_model(window.popover.list, "claude-haiku-4-5")
    assert not window.popover.isVisible()
    await until(lambda: ("set_backend", BackendChoice("anthropic", "claude-haiku-4-5")) in factory.session.calls)
    await until(lambda: pill.text() == "claude-haiku-4-5" and "Anthropic" in pill.accessibleName())
    assert pill.colour() != before
    assert pill.colour() == window.inspector.timeline.view.colours.backend(("Anthropic", "claude-haiku-4-5"))


async def test_the_pill_names_the_model_that_the_session_has_loaded(window: MainWindow) -> None:
    say(window, e.SessionStarted(0, "cascade", "w", "Embedded", "SmolLM2 135M", "thinking"))
    assert window.top_bar.pill.text() == "SmolLM2 135M"


async def test_it_is_searched_and_used_by_keyboard_alone(window: MainWindow) -> None:
    setup, field = window.popover, window.transcript.composer.field
    field.setFocus()
    QTest.keyClick(field, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert setup.isVisible() and setup.search.hasFocus()
    await until(lambda: "claude-haiku-4-5" in listed(window)["In the cloud"])
    QTest.keyClicks(setup.search, "haiku anth")
    QTest.keyClick(setup.search, Qt.Key.Key_Return)
    assert not setup.isVisible() and field.hasFocus()
    await until(lambda: window.popover.choice.model == "claude-haiku-4-5")
    QTest.keyClick(field, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClicks(setup.search, "no such")
    await until(lambda: setup.models.empty.isVisible())
    QTest.keyClick(setup.search, Qt.Key.Key_Escape)
    assert not setup.isVisible() and field.hasFocus()


async def test_it_is_as_high_as_the_list_of_what_was_searched(window: MainWindow) -> None:
    setup = window.popover
    open_models(window)
    await until(lambda: "claude-haiku-4-5" in listed(window)["In the cloud"])
    await asyncio.sleep(0.1)
    high, whole = setup.height(), setup.list.height()
    setup.search.setText("haiku")
    await until(lambda: setup.list.height() < whole)
    assert setup.height() == high - (whole - setup.list.height())
    setup.search.clear()
    await until(lambda: setup.list.height() == whole)
    assert setup.height() == high and setup.frontend.mapTo(setup, setup.frontend.rect().bottomLeft()).y() < high


async def test_a_question_with_a_list_is_as_high_as_what_was_searched(window: MainWindow) -> None:
    window.dialogs.open_duplicate("x", BackendChoice("embedded"))
    await asyncio.sleep(0.1)
    question = open_dialog(window, ModelQuestion)
    models, high = question.models, question.height()
    whole = models.list.height()
    models.field.setText("haiku")
    await until(lambda: models.list.height() < whole)
    assert question.height() == high - (whole - models.list.height())
    models.field.clear()
    await until(lambda: models.list.height() == whole)
    assert question.height() == high


async def test_the_favourite_is_the_model_that_was_just_searched(window: MainWindow) -> None:
    setup = window.popover
    open_models(window)
    await until(lambda: "claude-haiku-4-5" in listed(window)["In the cloud"])
    QTest.keyClicks(setup.search, "haiku")
    QTest.keyClick(setup.search, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    assert [choice.model for choice in setup.favourites.backends] == ["claude-haiku-4-5"]


async def test_a_click_elsewhere_closes_it_and_does_what_it_says(window: MainWindow) -> None:
    open_models(window)
    QTest.mouseClick(window.dock.mute, Qt.MouseButton.LeftButton)
    assert not window.popover.isVisible() and window.dock.mute.isChecked()
    open_models(window)
    window.top_bar.pill.click()
    assert not window.popover.isVisible()


async def test_a_model_to_download_is_fetched_and_not_used_yet(window: MainWindow, factory: FakeFactory) -> None:
    window.popover.models._catalogue = Catalogue().models
    wanted = heard(window.popover.download_wanted)
    open_models(window)
    click_model(window.popover.list, "Large 1.5B")
    assert wanted == ["large"] and window.popover.isVisible() and factory.session.calls == []


async def test_words_are_asked_again_with_another_model_or_not_at_all(window: MainWindow, factory: FakeFactory) -> None:
    say(window, *spoken(1, "How high is it?", "High."))
    [question] = [turn for turn in window.model.turns if turn.speaker == "user"]
    window.transcript.other_model_wanted.emit(question)
    QTest.keyClick(window.popover.search, Qt.Key.Key_Escape)
    await asyncio.sleep(0.01)
    QApplication.processEvents()
    window.backends.choose(GPT)
    await until(lambda: window.popover.choice == GPT)
    assert ("write", "How high is it?") not in factory.session.calls
    window.transcript.other_model_wanted.emit(question)
    await until(lambda: "claude-haiku-4-5" in listed(window)["In the cloud"])
    click_model(window.popover.list, "claude-haiku-4-5")
    await until(lambda: ("write", "How high is it?") in factory.session.calls)


GPT_5, GEMMA_4B = BackendChoice("openai", "gpt-5"), BackendChoice("ollama", "gemma3:4b", "http://127.0.0.1:11434")
BUILT_IN = BackendChoice("embedded")


def kept_as(*backends: BackendChoice) -> list[dict[str, str]]:
    """Favourites as the window's state keeps them."""
    return [{"provider": b.provider, "model": b.model, "base_url": b.base_url} for b in backends]


def star(window: MainWindow) -> None:
    """Marks the model in use as a favourite, or no longer, by keyboard, and closes the list of models."""
    setup = window.popover
    open_models(window)
    QTest.keyClick(setup.search, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClick(setup.search, Qt.Key.Key_Escape)
    assert not setup.isVisible()


async def test_the_backend_of_now_is_kept_and_dropped(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    async with shown(FakeFactory(), Settings(path=path), service=FakeBackendService()) as window:
        favourites = window.popover.favourites
        star(window)
        assert [action.text() for action in favourites.picks] == ["Built-in"]
        window.backends.choose(GPT_5)
        await until(lambda: window.top_bar.pill.text() == "gpt-5")
        star(window)
        assert window.keep.state.favourites == kept_as(BUILT_IN, GPT_5)
        star(window)
        assert favourites.backends == (BUILT_IN,)
        star(window)
    assert [row["provider"] for row in json.loads(path.with_name("window.json").read_text())["favourites"]] == [
        "embedded",
        "openai",
    ]
    async with shown(FakeFactory(), Settings.load(path), service=FakeBackendService()) as window:
        assert [action.text() for action in window.popover.favourites.picks] == ["Built-in", "gpt-5 (OpenAI)"]


async def test_a_key_swaps_the_backend_in_the_running_talk_wherever_the_focus_is() -> None:
    factory = FakeFactory()
    state = WindowState(favourites=kept_as(GPT_5, GEMMA_4B, BUILT_IN))
    async with shown(factory, state=state, service=FakeBackendService()) as window:
        window.transcript.composer.field.setFocus()
        for keys, backend in (("Alt+1", GPT_5), ("Alt+2", GEMMA_4B), ("Alt+3", BUILT_IN)):
            QTest.keySequence(window.transcript.composer.field, QKeySequence(keys))
            await until(lambda backend=backend: ("set_backend", backend) in factory.session.calls)
            await until(lambda backend=backend: window.settings.provider == backend.provider)
            checked = [action.isChecked() for action in window.popover.favourites.picks]
            assert checked == [backend == other for other in (GPT_5, GEMMA_4B, BUILT_IN)]
            assert window.popover.choice.provider == backend.provider
        swaps = [call for call in factory.session.calls if call[0] == "set_backend"]
        QTest.keySequence(window, QKeySequence("Alt+3"))
        assert swaps == [call for call in factory.session.calls if call[0] == "set_backend"], "it is in force already"
        QTest.keySequence(window, QKeySequence("Alt+4"))
        assert len(factory.sessions) == 1 and window.transcript.composer.field.text() == ""


async def test_a_backend_that_refuses_leaves_the_one_before() -> None:
    factory = FakeFactory()
    state = WindowState(favourites=kept_as(GPT_5))
    async with shown(factory, state=state, service=FakeBackendService()) as window:
        factory.session.refusal = UserError("There is no key for OpenAI.")
        QTest.keySequence(window, QKeySequence("Alt+1"))
        await until(lambda: "There is no key for OpenAI." in window.messages.sentences())
        assert not window.popover.favourites.picks[0].isChecked() and window.popover.choice == BUILT_IN
        assert window.manager.wanted.backend == BUILT_IN and window.settings.provider == "embedded"


async def test_no_more_than_there_are_keys_for_and_nothing_that_is_not_understood() -> None:
    many = [BackendChoice("openai", f"model-{number}") for number in range(12)]
    malformed = [4, {}, {"provider": []}, {"provider": "unheard", "model": "m"}]
    state = WindowState(favourites=[*malformed, *kept_as(*many)])
    async with shown(FakeFactory(), state=state, service=FakeBackendService()) as window:
        favourites = window.popover.favourites
        assert favourites.backends == tuple(many[:MAX_FAVOURITES])
        favourites.toggle(GPT_5)
        assert len(favourites.picks) == MAX_FAVOURITES and GPT_5 not in favourites.backends


async def test_a_backend_that_was_refused_is_tried_again_when_it_is_picked_again(caplog, window, factory) -> None:
    factory.session.refusal = UserError("There is no key.")
    choose(window, "openai")
    await until(lambda: window.popover.choice.provider == "embedded")
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING], "it is for the user"
    factory.session.refusal = None
    choose(window, "openai")
    await until(lambda: window.settings.provider == "openai")
    assert len(factory.session.calls) == 2


async def test_messages_make_room_for_newer_ones_and_end_with_their_cause() -> None:
    factory = FakeFactory()

    def fails(sentence: str, about: e.About, secondary: bool = False) -> e.Failure:
        return e.Failure(3, "backend", sentence, secondary=secondary, about=about)

    async with shown(factory, service=FakeBackendService()) as window:
        said = window.messages.sentences
        say(window, fails("It wants a key.", "backend"), fails("At the side.", "backend", True))
        say(window, fails("It refuses the key.", "backend"), e.Failure(3, "audio", "No sound."))
        assert said() == ["At the side.", "It refuses the key.", "No sound."]
        window.messages.rows[-1].close_button.click()
        say(window, fails("Less often.", "cap"))
        say(window, e.BudgetChanged(4, "stop", 1, 1), fails("No more.", "cap"))
        say(window, fails("This is not answered.", "unanswered"))
        assert said() == ["At the side.", "It refuses the key.", "This is not answered."]
        say(window, e.BudgetChanged(5, "free", 1, 9))
        assert said() == ["At the side.", "It refuses the key."]
        window.top_bar.new_button.clicked.emit()
        await until(lambda: said() == [])


async def test_without_services_nothing_leads_to_models_and_servers() -> None:
    async with window_and_factory(Settings(provider="ollama")) as (window, factory):
        open_models(window)
        assert not window.popover.models_button.isVisible()
        assert not window.commands["models"].isVisible()
        factory.session.refusal = UserError("There is no key.")
        choose(window, "openai")
        await until(lambda: window.messages.rows)
        assert [one.text() for one in window.messages.rows[0].offers] == ["Choose another…", "Try again"]


async def test_closing_ends_the_fetching_of_lists() -> None:
    service = FakeBackendService(gate=asyncio.Event())
    async with shown(FakeFactory(), Settings(provider="ollama"), service=service):
        await until(lambda: service.calls)
    assert service.cancelled == 1


async def test_a_refused_backend_can_be_given_its_key_though_the_pill_went_back(window, factory) -> None:
    factory.session.refusal = UserError("There is no key. Give the app one (“Key…”).")
    choose(window, "openai")
    await until(lambda: window.messages.rows)
    assert window.popover.choice.provider == "embedded"
    (row,) = window.messages.rows
    assert [one.text() for one in row.offers] == ["Enter key…", "Choose another…", "Try again"]
    press(row, "Enter key…")
    form = form_of(window)
    assert form.key_box.field.isVisible() and form.fields.choice == BackendChoice("openai")
    form.window().close()
    window.commands["models"].trigger()
    assert form.isVisible() and form.fields.choice == BackendChoice("openai")
    factory.session.refusal = None
    form.use_button.click()
    await until(lambda: window.settings.provider == "openai")
    assert window.messages.sentences() == [] and not form.isVisible()
