"""The router's table, and the router that uses it."""

import json
from pathlib import Path

from app.conversation import events as e
from app.gui.models.model_list import ModelRow
from app.gui.models.model_question import ModelQuestion, RoutesDialog
from app.gui.state.choice import as_made
from app.gui.window.main_window import MainWindow
from app.services.backends import KINDS
from app.session.control import ROUTER, BackendChoice
from app.settings.declarations import Settings
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import (
    choose,
    click_model,
    open_dialog,
    open_models,
    oracle,
    press,
    say,
    shown,
    until,
    window_and_factory,
)

STEM = {"provider": "anthropic", "model": "claude-opus-4-1", "base_url": ""}


async def answer(window: MainWindow, dialog: RoutesDialog, kind: str, name: str) -> None:
    """Picks the model for a kind of question, as the user does it."""
    dialog.models[kind].click()
    question = open_dialog(window, ModelQuestion)
    view = question.models.list
    await until(lambda: name in [row.name for row in view.rows.rows if isinstance(row, ModelRow)])
    click_model(view, name)
    assert not question.isVisible() and name in dialog.models[kind].text()


async def test_the_router_asks_for_its_table_first(tmp_path: Path) -> None:
    factory, path = FakeFactory(), tmp_path / "settings.json"
    service = FakeBackendService(lists={"anthropic": ("claude-opus-4-1",), "ollama": ("gemma3:4b",)})
    async with shown(factory, Settings(path=path), service=service) as window:
        choose(window, ROUTER)
        dialog = open_dialog(window, RoutesDialog)
        assert window.setup.choice.provider == "embedded" and factory.session.calls == []
        press(dialog, "Cancel")
        assert factory.session.calls == [] and window.settings.routes == ""
        choose(window, ROUTER)
        await until(dialog.isActiveWindow)
        assert list(dialog.models) == list(KINDS)
        await answer(window, dialog, "stem", "claude-opus-4-1")
        await answer(window, dialog, "creative", "gemma3:4b")
        assert dialog.models["stem"].accessibleName() == "Science and maths: claude-opus-4-1 (Anthropic)"
        press(dialog, "Use this table")
        await until(lambda: window.settings.provider == ROUTER)
        assert factory.session.calls == [("set_backend", BackendChoice(ROUTER))]
        open_models(window)
        assert window.setup.choice.provider == ROUTER and window.setup.routes_button.isVisible()
    table = json.loads(json.loads(path.read_text())["routes"])
    assert table["stem"] == STEM
    assert table["creative"] == {"provider": "ollama", "model": "gemma3:4b", "base_url": "http://127.0.0.1:11434"}
    assert table["everyday"] == {"provider": "embedded", "model": "", "base_url": ""}


async def test_a_changed_table_takes_effect_while_the_router_drives() -> None:
    factory = FakeFactory()
    settings = Settings(provider=ROUTER, routes=json.dumps({"stem": STEM, "unheard": STEM, "everyday": 3}))
    async with shown(factory, settings, service=FakeBackendService(lists={"google": ("gemini",)})) as window:
        assert factory.choices[0].backend == BackendChoice(ROUTER)
        open_models(window)
        window.setup.routes_button.click()
        dialog = open_dialog(window, RoutesDialog)
        assert dialog.models["stem"].text() == "claude-opus-4-1 (Anthropic)"
        assert dialog.models["everyday"].text() == "Embedded (this machine)"
        await answer(window, dialog, "everyday", "gemini")
        press(dialog, "Use this table")
        await until(lambda: factory.session.calls == [("set_backend", BackendChoice(ROUTER))])
        assert json.loads(settings.routes)["everyday"]["provider"] == "google"


async def test_a_table_is_made_without_the_router_in_force() -> None:
    async with window_and_factory(Settings(routes="not JSON"), service=FakeBackendService()) as (window, factory):
        window.menu.routes.emit()
        press(open_dialog(window, RoutesDialog), "Use this table")
        assert factory.session.calls == [] and json.loads(window.settings.routes)["stem"]["provider"] == "embedded"


async def test_a_card_tells_for_which_kind_it_was_chosen() -> None:
    async with window_and_factory() as (window, factory):
        say(
            window,
            factory,
            e.BackendRouted(1, 1, "stem", 0.9, "Anthropic", "claude", "it asks for a number"),
            e.OracleRequested(1, 1, 1, "Anthropic", "claude", "how far is", False),
            e.OracleRequested(1, 2, 1, "OpenAI", "gpt", "how far is", False, True),
        )
        secondary, routed = oracle(window)
        assert "for science and maths" in routed and "for science" not in secondary
        say(
            window,
            factory,
            e.BackendRouted(2, 1, "creative", 0.7, "Ollama", "gemma", "no, a tale"),
            e.OracleRequested(2, 3, 1, "Ollama", "gemma", "how far is it to", False),
        )
        newer, _, older = oracle(window)
        assert "for creative" in newer and "for science and maths" in older, "that one was chosen for another kind"


CLAUDE, GPT = ("Anthropic", "claude"), ("OpenAI", "gpt")


async def test_a_router_at_the_side_tells_its_kind_on_its_own_cards() -> None:
    async with window_and_factory() as (window, factory):
        say(
            window,
            factory,
            e.BackendRouted(1, 1, "stem", 0.9, *CLAUDE, "a number"),
            e.OracleRequested(1, 1, 1, *CLAUDE, "how far is", False),
            e.BackendRouted(1, 1, "creative", 0.6, *GPT, "a tale", True),
            e.OracleRequested(1, 2, 1, *GPT, "how far is", False, True),
        )
        secondary, driver = oracle(window)
        assert "for creative" in secondary and "for science" not in secondary
        assert "for science and maths" in driver and "creative" not in driver


async def test_a_kind_goes_with_what_is_handed_over_and_not_to_a_backend_that_nobody_routed_to() -> None:
    async with window_and_factory() as (window, factory):
        say(
            window,
            factory,
            e.BackendRouted(1, 1, "stem", 0.9, *CLAUDE, "a number"),
            e.OracleRequested(1, 1, 1, *CLAUDE, "how far is", False),
            e.BackendRouted(1, 1, "creative", 0.6, *GPT, "a tale", True),
            e.OracleRequested(1, 2, 1, *GPT, "how far is", False, True),
            e.BackendChanged(2, *GPT, "handed"),
            e.OracleHandedOver(2, 2),
            e.SecondaryChanged(2, *CLAUDE),
        )
        taken = window.oracle.columns[1].view
        assert "for creative" in taken.card_text(len(taken.cards) - 1)
        say(
            window,
            factory,
            e.BackendChanged(3, "Ollama", "gemma"),
            e.OracleRequested(3, 3, 1, "Ollama", "gemma", "how far is it", True),
            e.OracleRequested(3, 4, 1, *CLAUDE, "how far is it", True, True),
        )
        newest = [column.view.card_text(len(column.view.cards) - 1) for column in window.oracle.columns]
        assert not [text for text in newest if " for " in text]


async def test_the_servers_of_the_table_can_be_told_apart() -> None:
    rows = {kind: {"provider": "compatible", "model": "m", "base_url": f"http://{kind}.example/v1"} for kind in KINDS}
    async with shown(FakeFactory(), Settings(routes=json.dumps(rows)), service=FakeBackendService()) as window:
        window.menu.routes.emit()
        dialog = open_dialog(window, RoutesDialog)
        assert [dialog.models[kind].toolTip() for kind in KINDS] == [rows[kind]["base_url"] for kind in KINDS]
        dialog.models["stem"].click()
        view = open_dialog(window, ModelQuestion).models.list
        assert view.current.base_url == "http://stem.example/v1"
        click_model(view, "m")
        press(dialog, "Use this table")
        assert json.loads(window.settings.routes) == rows, "it is kept although the settings hold another server"


def test_a_backend_told_of_without_its_secrets_is_found_by_its_place() -> None:
    one = BackendChoice("compatible", "m", "http://one.example/v1")
    two = BackendChoice("compatible", "m", "https://ann:pass@two.example:8080/v1/?key=word")
    assert as_made(BackendChoice("compatible", "m", "https://two.example:8080/v1/"), [one, two]) == two
    assert as_made(one, [one, two]) == one
    stranger = BackendChoice("openai", "m")
    assert as_made(stranger, [one, two]) == stranger
