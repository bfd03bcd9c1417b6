"""The user's own servers, a missing key, and what the pill says of who answers: as a user meets them in the window."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QMenu, QToolButton

from app.conversation import events as e
from app.gui.models.model_list import ModelRow
from app.gui.models.models_dialog import ModelsDialog
from app.gui.models.servers import Server
from app.gui.widgets.translation import use_language
from app.gui.window.main_window import MainWindow
from app.services.backend_service import FoundServer
from app.services.provider_keys import read_address
from app.session.control import BackendChoice, UserError
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from tests.gui.fakes import FakeBackendService, FakeFactory
from tests.gui.helpers import (
    click_at,
    click_model,
    open_dialog,
    open_models,
    press_key,
    say,
    shown,
    type_keys,
    until,
    window_and_factory,
)
from tests.gui.models.test_server_form import enter

ONE, TWO = "http://127.0.0.1:8091", "http://127.0.0.1:8092"


def service(**more: Any) -> FakeBackendService:
    return FakeBackendService(lists={ONE: ("alpha", "beta"), TWO: ("gamma",)}, **more)


def rows(window: MainWindow) -> list[ModelRow]:
    return [row for row in window.popover.list.rows.rows if isinstance(row, ModelRow)]


def names(window: MainWindow, section: str) -> list[str]:
    return [row.name for row in rows(window) if row.section == section]


async def paste(window: MainWindow, text: str) -> None:
    """Opens the list, pastes an address into its search field, and presses Enter."""
    open_models(window)
    window.popover.search.setText(text)
    QTest.keyClick(window.popover.search, Qt.Key.Key_Return)


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("127.0.0.1:8091", ONE),
        (" http://127.0.0.1:8091/ ", ONE),
        ("http://127.0.0.1:8091/v1/chat/completions", f"{ONE}/v1"),
        ("0.0.0.0:8091", ONE),
        ("localhost", "http://localhost"),
        ("box.lan:8080/v1", "http://box.lan:8080/v1"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1"),
        ("gemma3:4b", ""),
        ("gemma", ""),
        ("a b:1", ""),
        ("ftp://a:1", ""),
        ("http://", ""),
        ("", ""),
    ],
)
def test_an_address_is_read_as_it_is_typed(typed: str, address: str) -> None:
    assert read_address(typed) == address


async def test_servers_are_pasted_named_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    async with shown(FakeFactory(), Settings(path=path), service=service()) as window:
        await paste(window, "127.0.0.1:8091")
        await until(lambda: names(window, "servers") == ["alpha", "beta"])
        assert window.popover.isVisible() and window.popover.search.hasFocus(), "one of them is to be picked"
        QTest.keyClick(window.popover.search, Qt.Key.Key_Return)
        await until(lambda: window.top_bar.pill.text() == "alpha")
        await paste(window, "127.0.0.1:8092")  # it has one model alone
        await until(lambda: window.top_bar.pill.text() == "gamma")
        assert [server.base_url for server in window.servers.servers] == [ONE, TWO]
        window.servers.rename(("compatible", ONE), "The box")
    async with shown(FakeFactory(), Settings(path=path), service=service()) as window:
        open_models(window)
        await until(lambda: names(window, "servers") == ["alpha", "beta", "gamma"])
        assert {row.detail for row in rows(window) if row.section == "servers"} == {"The box", "127.0.0.1:8092"}
        window.backends.choose(BackendChoice("compatible", "alpha", ONE))
        await until(lambda: window.top_bar.pill.accessibleName() == "Model: alpha, The box")


async def test_what_was_typed_stays_and_is_put_right_where_it_was_typed() -> None:
    locked = "http://127.0.0.1:8093"
    given = service(
        faults={
            "http://127.0.0.1:9": UserError("127.0.0.1:9 does not answer. Start it, or change it."),
            locked: UserError("127.0.0.1:8093 wants an API key."),
        }
    )
    async with shown(FakeFactory(), Settings(), service=given) as window:
        await paste(window, "127.0.0.1:9")
        panel = window.popover.models.panel
        await until(lambda: "does not answer" in panel.words.text())
        assert window.popover.isVisible() and panel.address.text() == "http://127.0.0.1:9"
        panel.address.setText(locked)
        QTest.keyClick(panel.address, Qt.Key.Key_Return)
        await until(lambda: "wants an API key" in panel.words.text())
        assert window.popover.isVisible() and panel.address.text() == locked and panel.key.hasFocus()
        panel.address.setText("127.0.0.1:8092")
        QTest.keyClick(panel.address, Qt.Key.Key_Return)
        await until(lambda: window.top_bar.pill.text() == "gamma")
        assert [server.base_url for server in window.servers.servers] == [TWO]
        panel.address.setText("what?")
        panel.connect_now()
        assert "not a server's address" in panel.words.text() and panel.address.text() == "what?"


async def test_a_server_that_has_stopped_is_put_right_where_it_is_picked() -> None:
    given = service(faults={ONE: UserError("127.0.0.1:8091 does not answer.")})
    settings = Settings(compatible_url=ONE, compatible_model="alpha")
    state = WindowState(servers=[{"provider": "compatible", "base_url": ONE}])
    async with window_and_factory(settings, state=state, service=given) as (window, factory):
        open_models(window)
        await until(lambda: [row.state for row in rows(window) if row.section == "servers"] == ["away"])
        click_model(window.popover.list, "alpha")
        panel = window.popover.models.panel
        assert window.popover.isVisible() and panel.address.text() == ONE and panel.address.hasFocus()
        assert "does not answer" in panel.words.text() and factory.session.calls == []
        panel.address.setText(TWO)
        QTest.keyClick(panel.address, Qt.Key.Key_Return)
        await until(lambda: factory.session.calls)
        assert factory.session.calls[0][1].base_url == TWO


async def test_a_provider_without_a_key_says_so_and_takes_one() -> None:
    given = service()
    async with window_and_factory(Settings(), service=given) as (window, factory):
        open_models(window)
        await until(lambda: any(row.state == "keyless" for row in rows(window)))
        row = next(row for row in rows(window) if row.choice.provider == "openai")
        assert (row.name, row.state) == ("OpenAI", "keyless") and window.popover.list.rows.note(row) == "needs a key"
        click_model(window.popover.list, "OpenAI")
        panel = window.popover.models.panel
        assert panel.key.isVisible() and not panel.address.isVisible() and panel.key.hasFocus()
        assert factory.session.calls == [], "nothing is changed before there is a key"
        window.popover.search.setText("no such model")
        await until(lambda: not rows(window))
        assert panel.isVisible() and not window.popover.models.empty.isVisible(), "the user has gone on from the search"
        window.popover.search.clear()
        panel.key.setFocus()
        QTest.keyClick(panel.key, Qt.Key.Key_Return)
        await until(lambda: "There is no key yet" in panel.words.text())
        given.lists["openai"] = ("gpt-4.1", "gpt-5")
        panel.key.setText("sk-1")
        panel.button.click()
        await until(lambda: "gpt-5" in names(window, "cloud"))
        assert given.keys == {"openai": "sk-1"} and panel.key.text() == ""


async def test_servers_that_run_here_are_offered_when_the_list_is_opened() -> None:
    here = FoundServer("LM Studio", BackendChoice("compatible", "", f"{ONE}/v1"), ("alpha",))
    given = service(here=(here,))
    given.lists[f"{ONE}/v1"] = ("alpha",)
    async with shown(FakeFactory(), Settings(), service=given) as window:
        assert window.lists.here == (), "nothing is looked for before that"
        open_models(window)
        await until(lambda: "LM Studio" in names(window, "servers"))
        click_model(window.popover.list, "LM Studio")
        await until(lambda: window.top_bar.pill.text() == "alpha")
        assert window.servers.servers[0].base_url == f"{ONE}/v1"


async def test_a_favourite_is_made_with_the_search_field_in_focus() -> None:
    async with shown(FakeFactory(), Settings(), service=service()) as window:
        open_models(window)
        QTest.keyClick(window.popover.search, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
        assert window.popover.favourites.backends == (BackendChoice("embedded"),)


def highlighted(window: MainWindow) -> tuple[str, str] | None:
    """The section and the name of the highlighted model."""
    row = window.popover.list.rows.row(window.popover.list.currentIndex())
    return (row.section, row.name) if row is not None else None


async def test_the_highlight_moves_with_the_first_key_and_stays_on_its_model() -> None:
    given = service(gate=asyncio.Event())
    async with shown(FakeFactory(), Settings(), service=given) as window:
        search, view = window.popover.search, window.popover.list
        window.servers.add(BackendChoice("compatible", "", ONE))
        window.popover.favourites.show_backends([BackendChoice("anthropic", "claude-haiku-4-5")])
        open_models(window)
        assert highlighted(window) == ("here", "Built-in")
        await press_key(window, Qt.Key.Key_Down)
        assert view.hasFocus() and highlighted(window) == ("cloud", "gpt-4.1-mini")
        for _ in range(2):
            await press_key(window, Qt.Key.Key_Down)
        assert highlighted(window) == ("cloud", "gpt-5")
        given.gate.set()
        await until(lambda: names(window, "servers") == ["alpha", "beta"] and "OpenAI" in names(window, "cloud"))
        given.lists["openai"] = ("gpt-4.1-mini", "gpt-5")
        window.lists.ask(BackendChoice("openai"), fresh=True)
        await until(lambda: "gpt-5" in names(window, "cloud"))
        view.setCurrentIndex(view.rows.index(next(p for p, r in enumerate(view.rows.rows) if r == rows(window)[3])))
        view.verticalScrollBar().setValue(20)
        before, top = highlighted(window), view.visualRect(view.currentIndex()).top()
        for kept in (2, 1):
            await press_key(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
            assert len(window.popover.favourites.backends) == kept and highlighted(window) == before
            assert view.visualRect(view.currentIndex()).top() == top, "it doesn't move on the screen either"
        search.setFocus()
        search.setText("gamma")
        window.servers.add(BackendChoice("compatible", "", TWO))
        window.lists.ask(BackendChoice("compatible", "", TWO))
        await until(lambda: highlighted(window) == ("servers", "gamma"))


async def test_a_list_that_is_opened_again_has_an_empty_search_and_nothing_to_clear(window: MainWindow) -> None:
    search = window.popover.search
    (button,) = search.findChildren(QToolButton)
    open_models(window)
    await type_keys(window, "haiku")
    assert button.isVisible()
    await press_key(window, Qt.Key.Key_Escape)
    open_models(window)
    assert search.text() == ""
    await until(lambda: not button.isVisible(), 5.0)


async def test_a_server_whose_last_request_failed_is_marked_before_it_is_asked_again() -> None:
    given = service(gate=asyncio.Event())
    async with shown(FakeFactory(), Settings(), service=given) as window:
        window.servers.add(BackendChoice("compatible", "", ONE))
        say(window, e.Failure(1, "backend", "127.0.0.1:8091 does not answer.", False, "compatible", "alpha", ONE))
        open_models(window)
        (row,) = [row for row in rows(window) if row.section == "servers"]
        assert window.popover.list.rows.note(row) == "not reachable"
        given.gate.set()
        await until(lambda: names(window, "servers") == ["alpha", "beta"])
        assert {row.state for row in rows(window) if row.section == "servers"} == {"usable"}


async def test_text_is_pasted_with_the_mouse_and_the_list_stays_open(window: MainWindow) -> None:
    QApplication.clipboard().setText("haiku")
    open_models(window)
    search = window.popover.search
    await click_at(search, button=Qt.MouseButton.RightButton)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu) and window.popover.isVisible()
    (action,) = [action for action in menu.actions() if action.objectName() == "edit-paste"]
    await click_at(menu, menu.actionGeometry(action).center())
    await until(lambda: search.text() == "haiku")
    assert window.popover.isVisible() and search.hasFocus()
    for label in window.popover.findChildren(QLabel):
        if label.isVisible():
            await click_at(label)
            assert window.popover.isVisible(), "a click on what takes none"


async def test_the_pill_names_who_answers_who_is_coming_and_says_no() -> None:
    async with window_and_factory(Settings(), service=service()) as (window, factory):
        pill, session = window.top_bar.pill, factory.session
        say(window, e.SessionStarted(0, "cascade", "w", "Built-in", "smollm2-135m", "thinking"))
        assert pill.text() == "SmolLM2 135M" and pill.coming is None
        session.slow, session.refusal = asyncio.Event(), UserError("127.0.0.1:8091 does not answer.")
        window.backends.choose(BackendChoice("compatible", "alpha", ONE))
        await until(lambda: pill.coming is not None)
        assert pill.text() == "SmolLM2 135M" and pill.coming.name == "alpha"
        assert "alpha is coming" in pill.accessibleName()
        open_models(window)
        await until(lambda: "alpha" in names(window, "servers"))
        notes = {row.name: window.popover.list.rows.note(row) for row in rows(window)}
        assert notes["alpha"] == "is coming" and notes["beta"] == ""
        session.slow.set()
        await until(lambda: pill.coming is None)
        assert (
            window.popover.list.rows.note(next(row for row in rows(window) if row.name == "alpha")) == "not reachable"
        )
        assert pill.text() == "SmolLM2 135M" and pill._shake.target == 0.0
        assert window.messages.sentences() == ["127.0.0.1:8091 does not answer."]
        assert window.settings.provider == "embedded"


async def test_one_model_has_one_colour_and_one_name_everywhere(tmp_path: Path, in_english: QApplication) -> None:
    path, seen = tmp_path / "settings.json", []
    for language in ("en", "de"):
        use_language(in_english, language)
        settings = Settings(path=path, window_language=language)
        async with shown(FakeFactory(), settings, service=service()) as window:
            pill, colours = window.top_bar.pill, window.inspector.timeline.view.colours
            say(window, e.SessionStarted(0, "cascade", "w", "Built-in", "smollm2-135m", "thinking"))
            own = colours.backend(("Built-in", "smollm2-135m"))
            assert (pill.text(), pill.colour()) == ("SmolLM2 135M", own)
            window.backends.choose(BackendChoice("compatible", "alpha", ONE))
            await until(lambda pill=pill: pill.text() == "alpha")
            say(window, e.OracleRequested(1, 1, 1, "127.0.0.1:8091", "alpha", "what is", True))
            assert pill.colour() == colours.backend(("127.0.0.1:8091", "alpha")) != own
            kept = [row for row in window.keep.state.model_colours if row[:2] == ["127.0.0.1:8091", "alpha"]]
            assert len(kept) == 1
            open_models(window)
            await until(lambda: "beta" in names(window, "servers"))
            window.popover.list.grab()
            listed = {tuple(row[:2]) for row in window.keep.state.model_colours}
            assert ("127.0.0.1:8091", "beta") not in listed, "a colour is for what was used"
            seen.append((own, pill.colour()))
    assert seen[0] == seen[1]


async def test_a_new_servers_address_is_asked_for_first_and_can_be_tested_while_it_is_typed() -> None:
    given = service(gate=asyncio.Event())
    async with shown(FakeFactory(), Settings(), service=given) as window:
        window.dialogs.open_backend(BackendChoice("compatible"))
        dialog = open_dialog(window, ModelsDialog)
        form = dialog.form
        assert form is not None
        await until(dialog.isActiveWindow)
        url, name = form.fields.url, form.name_field
        assert url.hasFocus() and url.y() < name.y() < form.fields.model.y()
        assert not form.test_button.isEnabled() and name.placeholderText() == "name, as you like"
        await type_keys(dialog, "127.0.0.1:80")
        assert form.test_button.isEnabled() and name.placeholderText() == "127.0.0.1:80"
        await type_keys(dialog, "91")
        assert name.placeholderText() == "127.0.0.1:8091" and url.hasFocus()
        await press_key(dialog, Qt.Key.Key_T, Qt.KeyboardModifier.AltModifier)
        await until(lambda: "Testing 127.0.0.1:8091" in form.answer.text())
        await press_key(dialog, Qt.Key.Key_Tab)
        assert name.hasFocus(), "which doesn't end the test"
        await press_key(dialog, Qt.Key.Key_Tab)
        assert form.fields.model.edit.hasFocus()
        given.gate.set()
        await until(lambda: window.servers.servers == (Server("compatible", ONE),))
        url.setFocus()
        url.selectAll()
        await type_keys(dialog, "nothing")
        assert not form.test_button.isEnabled() and name.placeholderText() == "name, as you like"


async def test_a_new_servers_page_is_typed_into_and_the_server_is_listed_with_its_models_alone() -> None:
    async with shown(FakeFactory(), Settings(), service=service()) as window:
        window.dialogs.open_models("openai")
        dialog = open_dialog(window, ModelsDialog)
        form, places = dialog.form, dialog.places
        assert form is not None
        await until(dialog.isActiveWindow)
        [new] = places.findItems("Add a server…", Qt.MatchFlag.MatchExactly)
        await click_at(places.viewport(), places.visualItemRect(new).center())
        assert form.fields.url.hasFocus() and form.key_box.words.text().startswith("Enter the address")
        await type_keys(dialog, "127.0.0.1:8091")
        assert form.fields.url.text() == "127.0.0.1:8091" and form.key_box.words.text() == ""
        assert form.key_box.field.isEnabled()
        form.use_button.click()
        await until(lambda: window.popover.choice == BackendChoice("compatible", "", ONE))
        open_models(window)
        await until(lambda: names(window, "servers") == ["alpha", "beta"])
        assert names(window, "chosen") == []


async def test_a_server_is_added_named_moved_and_removed_in_the_dialog() -> None:
    async with shown(FakeFactory(), Settings(), service=service()) as window:
        window.dialogs.open_models("compatible")
        dialog = open_dialog(window, ModelsDialog)
        form = dialog.form
        assert form is not None and dialog.title.text() == "Add a server…" and form.name_field.isVisible()
        enter(form.fields.url, ONE)
        form.name_field.setText("The box")
        form.use_button.click()
        await until(lambda: window.top_bar.pill.accessibleName() == "Model: 127.0.0.1:8091" or window.servers.servers)
        assert window.servers.servers == (Server("compatible", ONE, "The box"),)
        window.dialogs.open_backend(BackendChoice("compatible", "alpha", ONE))
        assert dialog.title.text() == "The box" and form.remove_button.isVisible()
        enter(form.name_field, "Cellar")
        assert [server.label for server in window.servers.servers] == ["Cellar"]
        enter(form.fields.url, TWO)
        form.test_button.click()
        await until(lambda: window.servers.servers == (Server("compatible", TWO, "Cellar"),))
        form.remove_button.click()
        assert window.servers.servers == () and dialog.title.text() == "Add a server…"
