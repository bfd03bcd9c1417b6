"""The comparison model: shown next to the one that speaks, and handed over to during a session."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog

from app.conversation import events as e
from app.gui.models.model_list import ModelRow
from app.gui.models.model_question import ModelQuestion
from app.gui.models.server_form import ServerForm
from app.gui.window.main_window import MainWindow
from app.session.control import BackendChoice, UserError
from app.settings.declarations import Settings
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import (
    choose,
    click_model,
    open_dialog,
    press,
    press_key,
    say,
    shown,
    transcript,
    until,
    window_and_factory,
)
from tests.gui.models.test_server_form import enter, form_of, turn
from tests.gui.pictures.window import side_by_side, talk

CLAUDE, GPT = ("Anthropic", "claude"), ("OpenAI", "gpt")
SECONDARY = BackendChoice("openai", "gpt")


def service() -> FakeBackendService:
    return FakeBackendService(lists={"openai": ("gpt",), "anthropic": ("claude",), "google": ("gemini",)})


@pytest.fixture
def given() -> dict[str, Any]:
    return {"service": service()}


async def pick_model(window: MainWindow, name: str) -> ModelQuestion:
    """Picks a model in the question that is open, once it is listed."""
    question = open_dialog(window, ModelQuestion)
    view = question.models.list
    await until(lambda: name in [row.name for row in view.rows.rows if isinstance(row, ModelRow)])
    click_model(view, name)
    assert not question.isVisible()
    return question


def proposed(window: MainWindow) -> BackendChoice | None:
    """The model that is highlighted in the question."""
    question = open_dialog(window, ModelQuestion)
    return question.models._current if question.models._current.provider else None


def leads_to(window: MainWindow, place: int = 0) -> ServerForm:
    """Follows a message's button to the form of the back-end that it is about."""
    window.messages.rows[place].offers[0].click()
    return form_of(window)


async def compare(window: MainWindow, factory: FakeFactory) -> None:
    """Starts a comparison model, as the user does it."""
    window.oracle.header.switch.click()
    await pick_model(window, "gpt")
    await until(lambda: ("set_secondary", SECONDARY) in factory.session.calls)
    await until(lambda: window.settings.secondary_provider == "openai")
    say(window, e.SessionStarted(0, "c", "w", *CLAUDE, "thinking"), e.SecondaryChanged(1, *GPT))


async def test_a_second_backend_is_asked_for_shown_and_ended(tmp_path: Path) -> None:
    async with window_and_factory(Settings(path=tmp_path / "settings.json"), service=service()) as (window, factory):
        header = window.oracle.header
        assert header.switch.accessibleName() == "Compare"
        assert not header.hand_button.isVisible() and not window.commands["hand_over"].isEnabled()
        await compare(window, factory)
        assert header.who.text() == "claude (Anthropic) answers; gpt (OpenAI) is the comparison."
        assert window.oracle.columns[1].hand_button.isVisible() and window.commands["hand_over"].isEnabled()
        assert header.switch.accessibleName() == "End comparison"
        header.switch.click()
        await until(lambda: factory.session.calls[-1] == ("set_secondary", None))
        say(window, e.SecondaryChanged(2, "", ""))
        assert header.switch.accessibleName() == "Compare" and not header.who.isVisible()
        header.switch.click()  # the last one is proposed again
        assert proposed(window) == SECONDARY


async def test_the_voice_is_handed_over_by_button_and_by_key(tmp_path: Path) -> None:
    factory, path = FakeFactory(), tmp_path / "settings.json"
    async with shown(factory, Settings(path=path), service=service()) as window:
        await compare(window, factory)
        window.oracle.header.hand_button.click()
        assert factory.session.calls[-1] == ("hand_over",)
        assert window.popover.choice.provider == "embedded"  # it isn't so before the session says so
        say(window, e.BackendChanged(3, *GPT, "handed"), e.SecondaryChanged(3, *CLAUDE))
        assert window.oracle.header.who.text() == "gpt (OpenAI) answers; claude (Anthropic) is the comparison."
        assert window.popover.choice == SECONDARY
        assert window.manager.wanted.backend == SECONDARY and window.manager.wanted.secondary == BackendChoice(
            "embedded"
        )
        window.activateWindow()
        await until(window.isActiveWindow)
        QTest.keyClick(window, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
        assert factory.session.calls.count(("hand_over",)) == 2
        # A new conversation begins with both.
        window.top_bar.new_button.click()
        await until(lambda: len(factory.sessions) == 2)
        assert (factory.choices[1].backend, factory.choices[1].secondary) == (SECONDARY, BackendChoice("embedded"))
    kept = Settings.load(path)
    assert (kept.provider, kept.openai_model, kept.secondary_provider) == ("openai", "gpt", "embedded")


@pytest.mark.parametrize("command", ["keys", "compare"])
async def test_the_keys_of_the_hand_over_and_of_the_mini_window_work_in_a_dialog(command: str, window, factory) -> None:
    await compare(window, factory)
    window.commands[command].trigger()
    (dialog,) = [one for one in window.findChildren(QDialog) if one.isVisible()]
    await until(dialog.isActiveWindow)
    await press_key(dialog, Qt.Key.Key_H, Qt.KeyboardModifier.ControlModifier)
    assert factory.session.calls[-1] == ("hand_over",)
    await press_key(dialog, Qt.Key.Key_K, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    assert window.mini_mode.mini is not None and window.mini_mode.mini.isVisible()


async def test_a_refusal_at_the_side_leads_to_the_backend_that_refused_and_back_to_the_side(window, factory) -> None:
    factory.session.refusal = UserError("There is no key for Anthropic.")
    choose(window, "anthropic")
    await until(lambda: len(window.messages.rows) == 1)
    factory.session.refusal = UserError("There is no key for OpenAI.")
    window.oracle.header.switch.click()
    await pick_model(window, "gpt")
    await until(lambda: len(window.messages.rows) == 2)
    driver, secondary = window.messages.rows
    assert secondary.sentence == "The comparison model: There is no key for OpenAI."
    assert window.manager.wanted.secondary is None and window.settings.secondary_provider == ""
    assert window.oracle.header.switch.accessibleName() == "Compare"
    assert [one.text() for one in secondary.offers] == ["Enter key…", "Try again"]
    assert secondary.offers[0].accessibleName() == "Key and server of the comparison model"
    form = leads_to(window, 1)
    assert form.key_box.field.isVisible() and form.fields.choice == SECONDARY
    assert form.use_button.accessibleName() == "Compare with it"
    factory.session.refusal = None
    form.use_button.click()
    await until(lambda: window.settings.secondary_provider == "openai")
    assert factory.session.calls[-1] == ("set_secondary", SECONDARY)
    assert window.popover.choice.provider == "embedded", "who drives has not changed"
    assert window.messages.rows == [driver], "the other refusal stands"
    assert leads_to(window).fields.choice == BackendChoice("anthropic")
    assert form.use_button.accessibleName() == "Use this model"
    choose(window, "google")
    await until(lambda: window.messages.rows == [])


async def test_a_model_that_is_not_listed_is_compared_by_way_of_its_server(tmp_path: Path) -> None:
    factory, theirs = FakeFactory(), BackendChoice("compatible", "qwen", "http://127.0.0.1:8080/v1")
    async with shown(factory, Settings(path=tmp_path / "settings.json"), service=service()) as window:
        switch = window.oracle.header.switch
        switch.click()
        question = open_dialog(window, ModelQuestion)
        await until(question.isActiveWindow)
        QTest.keyClicks(question.models.field, "no such model")
        await until(question.models.empty.isVisible)
        press(question, "Models and servers…")
        form = form_of(window)
        turn(form, "compatible")
        form.fields.model.setEditText(theirs.model)
        factory.session.refusal = UserError("127.0.0.1:8080 did not answer.")
        enter(form.fields.url, theirs.base_url)
        press(form, "Compare with it")
        await until(lambda: window.messages.rows)
        assert window.settings.secondary_provider == ""
        switch.click()
        assert proposed(window) == theirs, "the one that was asked for last, even if it was refused"
        factory.session.refusal = None
        await pick_model(window, "qwen")
        await until(lambda: window.settings.secondary_provider == "compatible")
        say(window, e.SecondaryChanged(2, "127.0.0.1:8080", "qwen"))
        window.oracle.header.hand_button.click()
        say(window, e.BackendChanged(3, "127.0.0.1:8080", "qwen", "handed"), e.SecondaryChanged(3, *CLAUDE))
        switch.click()
        say(window, e.SecondaryChanged(4, "", ""))
        switch.click()  # the last one that was accepted
        assert proposed(window) == BackendChoice("embedded")


async def test_a_driver_that_is_taken_leaves_the_refusal_at_the_side_standing(window: MainWindow) -> None:
    say(window, e.Failure(1, "backend", "No key.", provider="openai", secondary=True))
    choose(window, "google")
    await until(lambda: window.settings.provider == "google")
    assert window.messages.sentences() == ["No key."]


@pytest.mark.parametrize("secondary", [False, True])
async def test_a_backend_that_fails_in_mid_talk_is_led_to_as_the_user_chose_it(secondary: bool) -> None:
    chosen = BackendChoice("compatible", "qwen", "https://ann:secret@server.example/v1")
    factory = FakeFactory()
    settings = Settings(provider="compatible", compatible_model=chosen.model, compatible_url=chosen.base_url)
    async with shown(factory, Settings() if secondary else settings, service=service()) as window:
        if secondary:
            window.manager.want(secondary=chosen)
            await until(lambda: window.settings.secondary_provider == "compatible")
        told = e.Failure(
            2, "backend", "It refuses the key.", False, "compatible", "qwen", "https://server.example/v1", secondary
        )
        say(window, told)
        assert len(window.messages.rows) == 1
        form = leads_to(window)
        assert form.fields.choice == chosen
        factory.session.calls.clear()
        form.use_button.click()  # the same one, with what was corrected meanwhile
        await until(lambda: factory.session.calls == [("set_secondary" if secondary else "set_backend", chosen)])
        await until(lambda: window.messages.rows == [])


async def test_a_failure_that_no_key_mends_leads_nowhere(window: MainWindow) -> None:
    say(
        window,
        e.Failure(1, "backend", "It was silent."),
        e.Failure(1, "backend", "It was silent, too.", secondary=True),
        e.Failure(1, "backend", "The model is damaged.", provider="embedded"),
    )
    assert len(window.messages.rows) == 3
    assert not [one.text() for row in window.messages.rows for one in row.offers if "ey" in one.text()]


async def test_a_second_backend_that_failed_is_not_there_in_the_next_talk(window, factory) -> None:
    await compare(window, factory)
    say(window, e.SecondaryChanged(2, "", ""))
    assert window.manager.wanted.secondary is None


async def test_a_comparison_revision_that_is_switched_to_is_marked_and_goes_up(window: MainWindow) -> None:
    say(window, *talk(), *side_by_side(12.0))
    view = window.oracle.columns[1].view
    taken = view.content.text(len(view.cards) - 1)
    assert taken.startswith("9   took over   speaking   gpt-4.1-mini")
    assert view.cards[-1].style == "live"
    dividers = [text for text in transcript(window) if text.endswith("\n")]
    assert dividers == ["Now answering: claude-opus-4-1 (Anthropic)\n", "Switched to gpt-4.1-mini (OpenAI)\n"]
    assert transcript(window)[-2] == (
        "KAME   claude-opus-4-1 → gpt-4.1-mini\n"
        "One hundred days, and no:\u2028▸ gpt-4.1-mini took over after 0.8 s\u2028this is not a leap year."
    )


async def test_the_driver_is_not_proposed() -> None:
    settings = Settings(provider="openai", secondary_provider="openai")
    async with shown(FakeFactory(), settings, service=service()) as window:
        window.oracle.header.switch.click()
        assert proposed(window) is None
