"""The router's table, and the router that uses it."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtWidgets import QStyle, QStyleOptionFrame

from app.conversation import events as e
from app.gui.backends.routes_dialog import RoutesDialog
from app.gui.state.choice import as_made
from app.services.backends import KINDS
from app.session.control import ROUTER, BackendChoice
from app.settings.declarations import Settings
from tests.gui.backends.test_picker import enter
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import open_dialog, oracle, press, say, shown, until
from tests.gui.window.test_window_session import pick

STEM = {"provider": "anthropic", "model": "claude-opus-4-1", "base_url": ""}


async def test_the_router_asks_for_its_table_first(tmp_path: Path) -> None:
    factory, path = FakeFactory(), tmp_path / "settings.json"
    async with shown(factory, Settings(path=path), service=FakeBackendService()) as window:
        pick(window.setup.backend, ROUTER)
        dialog = open_dialog(window, RoutesDialog)
        assert window.setup.backend.currentData() == "embedded" and factory.session.calls == []
        press(dialog, "Cancel")
        assert factory.session.calls == [] and window.settings.routes == ""
        pick(window.setup.backend, ROUTER)
        await until(dialog.isActiveWindow)
        assert list(dialog.pickers) == list(KINDS)
        pick(dialog.pickers["stem"].backend, "anthropic")
        pick(dialog.pickers["creative"].backend, "ollama")
        enter(dialog.pickers["stem"].model, "claude-opus-4-1")  # as if the button were pressed
        await until(lambda: window.settings.provider == ROUTER)
        assert factory.session.calls == [("set_backend", BackendChoice(ROUTER))]
        assert (
            window.setup.backend.currentData() == ROUTER and window.setup.connection_button.text() == "Rou&ter's table…"
        )
        assert not window.setup.model.isVisible()
    table = json.loads(json.loads(path.read_text())["routes"])
    assert table["stem"] == STEM
    assert table["creative"] == {"provider": "ollama", "model": "", "base_url": "http://127.0.0.1:11434"}
    assert table["everyday"] == {"provider": "embedded", "model": "", "base_url": ""}


async def test_a_changed_table_holds_at_once_while_the_router_drives() -> None:
    factory = FakeFactory()
    settings = Settings(provider=ROUTER, routes=json.dumps({"stem": STEM, "unheard": STEM, "everyday": 3}))
    async with shown(factory, settings, service=FakeBackendService()) as window:
        assert factory.choices[0].backend == BackendChoice(ROUTER)
        window.setup.connection_button.click()
        dialog = open_dialog(window, RoutesDialog)
        assert dialog.pickers["stem"].choice == BackendChoice("anthropic", "claude-opus-4-1")
        assert dialog.pickers["everyday"].choice == BackendChoice("embedded")
        pick(dialog.pickers["everyday"].backend, "google")
        press(dialog, "Use this table")
        await until(lambda: factory.session.calls == [("set_backend", BackendChoice(ROUTER))])
        assert json.loads(settings.routes)["everyday"]["provider"] == "google"


async def test_a_table_is_made_without_the_router_in_force() -> None:
    factory = FakeFactory()
    async with shown(factory, Settings(routes="not JSON"), service=FakeBackendService()) as window:
        window.menu.routes.emit()
        press(open_dialog(window, RoutesDialog), "Use this table")
        assert factory.session.calls == [] and json.loads(window.settings.routes)["stem"]["provider"] == "embedded"


async def test_a_card_tells_for_which_kind_it_was_chosen() -> None:
    factory = FakeFactory()
    async with shown(factory) as window:
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
    factory = FakeFactory()
    async with shown(factory) as window:
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
    factory = FakeFactory()
    async with shown(factory) as window:
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


async def test_a_table_with_a_server_without_an_address_is_not_taken() -> None:
    async with shown(FakeFactory(), service=FakeBackendService()) as window:
        window.menu.routes.emit()
        dialog = open_dialog(window, RoutesDialog)
        await until(dialog.isActiveWindow)
        assert not dialog.answer.isVisible()
        url = dialog.pickers["humanities"].url
        pick(dialog.pickers["humanities"].backend, "compatible")
        press(dialog, "Use this table")
        assert dialog.isVisible() and dialog.answer.isVisible() and url.hasFocus()
        assert dialog.answer.text() == "Enter the server's address first." and window.settings.routes == ""
        enter(url, "http://127.0.0.1:8080/v1")
        assert not dialog.isVisible()
        assert json.loads(window.settings.routes)["humanities"]["base_url"] == "http://127.0.0.1:8080/v1"


async def test_an_address_in_the_table_can_be_read_whole() -> None:
    address, long = "http://127.0.0.1:41773/v1", "https://a-server-with-a-long-name.example.org/openai/v1"
    rows = {kind: {"provider": "compatible", "model": "m", "base_url": address} for kind in KINDS}
    rows["creative"]["base_url"] = long
    async with shown(FakeFactory(), Settings(routes=json.dumps(rows)), service=FakeBackendService()) as window:
        window.menu.routes.emit()
        dialog = open_dialog(window, RoutesDialog)
        await until(dialog.isActiveWindow)
        dialog.resize(dialog.minimumSize())
        await until(lambda: dialog.width() == dialog.minimumWidth())
        url = dialog.pickers["stem"].url
        frame = QStyleOptionFrame()
        url.initStyleOption(frame)
        room = url.style().subElementRect(QStyle.SubElement.SE_LineEditContents, frame, url).width()
        assert url.fontMetrics().horizontalAdvance(address) + 4 <= room
        assert url.toolTip() == f"{address}\nThe address of the server; press Enter to use it."
        assert dialog.pickers["creative"].url.toolTip().splitlines()[0] == long
        url.clear()
        assert url.toolTip() == "The address of the server; press Enter to use it."


def test_a_backend_told_of_without_its_secrets_is_found_by_its_place() -> None:
    one = BackendChoice("compatible", "m", "http://one.example/v1")
    two = BackendChoice("compatible", "m", "https://ann:pass@two.example:8080/v1/?key=word")
    assert as_made(BackendChoice("compatible", "m", "https://two.example:8080/v1/"), [one, two]) == two
    assert as_made(one, [one, two]) == one
    stranger = BackendChoice("openai", "m")
    assert as_made(stranger, [one, two]) == stranger
