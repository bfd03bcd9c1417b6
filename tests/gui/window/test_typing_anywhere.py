"""Whatever was done in the window last: what is typed next arrives whole in the message field, or where it belongs."""

import asyncio
from collections.abc import Awaitable, Callable
from operator import attrgetter
from pathlib import Path

import pytest
from PySide6.QtCore import QKeyCombination, QPoint, Qt
from PySide6.QtGui import QAction, QShortcut
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit, QMenu, QWidget

from app.conversation import events as e
from app.gui.shell import key_routing
from app.gui.shell.message_row import Offer
from app.gui.window.main_window import MainWindow
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory, some
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import click_at, key, press_key, say, shown, spoken, type_keys, until, window_and_factory
from tests.gui.window.test_panels import everything

SENTENCE = "Please explain: is it 5 % - or 10 - of all, and why?"
"""It has blanks, signs, digits and a question mark, and its first letter is a key of lists and of the timeline."""
CONTROL = Qt.KeyboardModifier.ControlModifier
SPACE, ESCAPE, ENTER, TAB = Qt.Key.Key_Space, Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Tab
DOWN = Qt.Key.Key_Down

Act = Callable[[MainWindow], Awaitable[None]]
ACTS: dict[str, Act] = {}


def act(name: str) -> Callable[[Act], Act]:
    def register(does: Act) -> Act:
        ACTS[name] = does
        return does

    return register


def field_of(window: MainWindow) -> QWidget:
    return window.transcript.composer.field


async def settle() -> None:
    for _ in range(3):
        await asyncio.sleep(0.01)


async def in_front(window: MainWindow) -> None:
    """The window is the active one again, as any desktop makes it once a dialog or a menu has gone."""
    window.activateWindow()
    await until(window.isActiveWindow)


async def click(widget: QWidget, place: QPoint | None = None) -> None:
    await click_at(widget, place)
    await settle()


async def tab_to(window: MainWindow, widget: QWidget) -> None:
    for _ in range(120):
        if widget.hasFocus():
            return
        await press_key(window, TAB)
    raise AssertionError(f"{widget} is not reached by Tab")


def clicks(*names: str) -> Act:
    async def does(window: MainWindow) -> None:
        for name in names:
            await click(attrgetter(name)(window))

    return does


def tabs_to(name: str) -> Act:
    return lambda window: tab_to(window, attrgetter(name)(window))


def keys(code: Qt.Key | QKeyCombination) -> Act:
    combination = code if isinstance(code, QKeyCombination) else QKeyCombination(code)
    return lambda window: press_key(window, combination.key(), combination.keyboardModifiers())


def types(text: str) -> Act:
    return lambda window: type_keys(window, text)


async def in_field(window: MainWindow) -> None:
    """No click or Tab is needed before typing, and Enter and the space bar press nothing."""
    await settle()
    assert field_of(window).hasFocus()


async def close_dialog(window: MainWindow) -> None:
    def opened() -> list[QDialog]:
        return [one for one in window.findChildren(QDialog) if one.isVisible()]

    await until(opened)
    (dialog,) = opened()
    await until(dialog.isActiveWindow)
    await press_key(dialog, ESCAPE)
    assert not dialog.isVisible()
    await in_front(window)


NEW, SETTINGS = CONTROL | Qt.Key.Key_N, CONTROL | Qt.Key.Key_Comma
PANES = ("top_bar.sidebar_button", "top_bar.oracle_button", "status.inspector_button")
STEPS: dict[str, list[Act]] = {
    "new conversation by its keys, from an arrow that was clicked": [clicks("status.inspector_button"), keys(NEW)],
    "new conversation by its keys, from a button that Tab has reached": [
        tabs_to("status.inspector_button"),
        keys(NEW),
        in_field,
    ],
    "new conversation by its button": [clicks("conversations.new_button")],
    "new conversation by the keyboard on its button": [tabs_to("conversations.new_button"), keys(SPACE)],
    "mute by mouse": [clicks("dock.mute")],
    "Tab into the transcript": [tabs_to("transcript.view")],
    "a click in the timeline": [clicks("inspector.timeline.view")],
    "the settings opened and closed": [keys(SETTINGS), close_dialog],
    "the sheet of keys opened and closed": [keys(Qt.Key.Key_F1), close_dialog],
    "the dialog of the conversation's style opened by its title and closed": [
        clicks("transcript.header.button"),
        close_dialog,
    ],
    "each pane closed and opened by mouse": [clicks(name, name) for name in PANES],
    "Escape with nothing to stop": [keys(ESCAPE), in_field],
    "Escape on a button that Tab has reached": [tabs_to("status.inspector_button"), keys(ESCAPE), in_field],
    "Escape in the search and in the list": [clicks("conversations.search"), types("old"), keys(ESCAPE), keys(ESCAPE)],
    "the popover of models, by mouse and Escape": [clicks("top_bar.pill"), keys(ESCAPE)],
    "the popover of models, by mouse alone": [clicks("top_bar.pill", "top_bar.pill")],
    "another model, by keyboard": [tabs_to("top_bar.pill"), keys(SPACE), keys(DOWN), keys(ENTER)],
    "the popover of devices, by mouse and Escape": [clicks("dock.devices_button"), keys(ESCAPE)],
    "hands-free on by keyboard": [tabs_to("dock.duplex"), keys(SPACE)],
    "a click on the talk button": [clicks("dock.button")],
    "the palette opened and closed": [keys(CONTROL | Qt.Key.Key_K), types("late?"), keys(ESCAPE)],
    "a command of the palette": [keys(CONTROL | Qt.Key.Key_K), types("Oracle"), keys(ENTER)],
    "the search in the conversation, closed again": [keys(CONTROL | Qt.Key.Key_F), types("sea?"), keys(ESCAPE)],
}


@act("a file attached by mouse")
async def _(window: MainWindow) -> None:
    await attach(window, clicks("transcript.composer.attach"))


@act("a file attached by keyboard")
async def _(window: MainWindow) -> None:
    await attach(window, tabs_to("transcript.composer.attach"), keys(SPACE))


async def attach(window: MainWindow, *ask: Act) -> None:
    notes = Path(str(window.settings.path)).with_name("notes.txt")
    notes.write_text("The mill belongs to Ada.", "utf-8")
    for does in ask:
        await does(window)
    dialog = window.documents.asking
    assert isinstance(dialog, QFileDialog)
    dialog.filesSelected.emit([str(notes)])
    dialog.done(QDialog.DialogCode.Accepted)
    await until(lambda: window.transcript.documents.chips)
    await in_front(window)
    await in_field(window)


@act("Escape with an answer to stop")
async def _(window: MainWindow) -> None:
    factory = window.manager.session
    assert factory is not None
    say(window, *spoken(7, "And then?", "A long story.", at=70.0)[:-1])
    await press_key(window, ESCAPE)
    assert ("silence",) in factory.calls  # type: ignore[attr-defined]
    assert field_of(window).hasFocus()


@act("Escape closes a message")
async def _(window: MainWindow) -> None:
    window.messages.say("Something is wrong.")
    await press_key(window, ESCAPE)
    assert window.messages.rows == []
    assert field_of(window).hasFocus()


@act("a message's offer taken by keyboard")
async def _(window: MainWindow) -> None:
    taken: list[bool] = []
    window.messages.say("There is more.", Offer("Get it", lambda: taken.append(True)), topic="more")
    await settle()
    await press_key(window, Qt.Key.Key_F6)
    await press_key(window, SPACE)
    assert taken == [True], "the space bar presses it"
    window.messages.clear_topic("more")


@act("the popover of devices, with a click in it and one beside it")
async def _(window: MainWindow) -> None:
    await click(window.dock.devices_button)
    await click(window.devices, QPoint(30, 30))
    await click(window.transcript.view.viewport(), QPoint(5, 5))
    assert not window.devices.isVisible()


@act("hands-free on while the talk button has the focus")
async def _(window: MainWindow) -> None:
    await tab_to(window, window.dock.button)
    window.keep.change("duplex", True)
    assert not window.dock.button.isEnabled()


@act("a click in the transcript")
async def _(window: MainWindow) -> None:
    view = window.transcript.view
    await click(view.viewport(), view.box_of(0).center().toPoint())
    assert view.hasFocus(), "to select and copy"


@act("a question of the welcome")
async def _(window: MainWindow) -> None:
    await press_key(window, Qt.Key.Key_N, CONTROL)
    await until(lambda: window.transcript.welcome.isVisible() and window.manager.session is not None)
    await click(window.transcript.welcome.questions[0])


@act("each pane closed by its keys while it has the focus")
async def _(window: MainWindow) -> None:
    inside = (window.conversations.rows, window.oracle.header.details, window.inspector.timeline.view)
    for widget, digit in zip(inside, (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_3), strict=True):
        await tab_to(window, widget)
        await press_key(window, digit, CONTROL)
        assert not widget.isVisible()
        await settle()


@act("a conversation opened by keyboard, from the search")
async def _(window: MainWindow) -> None:
    await click(window.conversations.search)
    await press_key(window, Qt.Key.Key_Down)
    assert window.conversations.rows.hasFocus()
    await press_key(window, Qt.Key.Key_Down)
    await press_key(window, ENTER)
    await until(lambda: window.talks.key.startswith("c"))


@act("a conversation renamed from its menu")
async def _(window: MainWindow) -> None:
    menu = await _row_menu(window)
    next(one for one in menu.actions() if one.objectName() == "rename").trigger()
    menu.close()
    await in_front(window)
    await type_keys(window, "Another title?")
    await press_key(window, ENTER)
    await until(lambda: any(view.title == "Another title?" for view in kept(window).views.values()))


@act("a conversation deleted from its menu, and the deletion undone by mouse")
async def _(window: MainWindow) -> None:
    menu = await _row_menu(window)
    next(one for one in menu.actions() if one.objectName() == "remove").trigger()
    menu.close()
    undo = window.conversations.undo
    await until(lambda: undo.isVisible() and window.conversations.list.place("c2") < 0)
    await settle()
    for _ in range(5):  # the list may move the button away under a click
        await click(undo.button)
        await settle()
        if not undo.isVisible():
            break
    await until(lambda: window.conversations.list.place("c2") >= 0)


async def _row_menu(window: MainWindow) -> QMenu:
    rows = window.conversations.rows
    place = rows.visualRect(rows.list.index(window.conversations.list.place("c2"))).center()
    await click_at(rows.viewport(), place, Qt.MouseButton.RightButton)
    await settle()
    menu = window.conversations.menu
    if not menu.isVisible():  # the platform of the tests makes no context menu of a right click
        rows.menu_wanted.emit("c2", rows.viewport().mapToGlobal(place))
    assert menu.isVisible()
    return menu


@act("the menu opened by mouse and closed")
async def _(window: MainWindow) -> None:
    await click(window.top_bar.menu_button)
    popup = QApplication.activePopupWidget()
    popup.close()


def kept(window: MainWindow) -> FakeHistory:
    service = window.talks.service
    assert isinstance(service, FakeHistory)
    return service


def around() -> dict[str, object]:
    given = everything()
    given["history"] = some(6, 1_700_000_000.0)
    return given


@pytest.mark.parametrize("name", [*STEPS, *ACTS])
async def test_a_sentence_that_is_typed_next_is_found_whole(name: str) -> None:
    async with window_and_factory(Settings(), **around()) as (window, factory):  # type: ignore[arg-type]
        await until(lambda: window.conversations.list.place("c0") >= 0)
        say(window, *spoken(1, "Why is the sea salty?", "Rivers carry salt into it."))
        field_of(window).setFocus()
        for does in STEPS.get(name) or [ACTS[name]]:
            await does(window)
        await settle()
        await in_front(window)
        pressed = [list(one.calls).count(("press",)) for one in factory.sessions]
        await type_keys(window, SENTENCE)
        assert window.transcript.composer.field.text() == SENTENCE
        assert field_of(window).hasFocus()
        assert [list(one.calls).count(("press",)) for one in factory.sessions] == pressed, "no blank talks"
        assert window.quick.sheet is None or not window.quick.sheet.isVisible(), "no question mark opens the sheet"


async def _search(window: MainWindow) -> Callable[[], str]:
    await tab_to(window, window.conversations.search)
    return window.conversations.search.text


async def _search_models(window: MainWindow) -> Callable[[], str]:
    await click(window.top_bar.pill)
    return window.popover.search.text


async def _find(window: MainWindow) -> Callable[[], str]:
    await press_key(window, Qt.Key.Key_F, CONTROL)
    return window.transcript.find_bar.field.text


async def _commands(window: MainWindow) -> Callable[[], str]:
    await press_key(window, Qt.Key.Key_K, CONTROL)
    return window.quick.palette.field.text


async def _new_title(window: MainWindow) -> Callable[[], str]:
    rows = window.conversations.rows
    await tab_to(window, rows)
    rows.highlight("c2")
    await press_key(window, Qt.Key.Key_F2)
    editor = rows.viewport().findChild(QLineEdit)
    editor.selectAll()
    return editor.text


@pytest.mark.parametrize("reach", [_search, _search_models, _find, _commands, _new_title])
async def test_another_field_keeps_what_is_typed(reach: Callable[[MainWindow], Awaitable[Callable[[], str]]]) -> None:
    async with window_and_factory(Settings(), **around()) as (window, factory):  # type: ignore[arg-type]
        await until(lambda: window.conversations.list.place("c0") >= 0)
        text = await reach(window)
        await type_keys(window, SENTENCE)
        assert text() == SENTENCE and window.transcript.composer.field.text() == ""
        assert factory.session.calls == [] and window.quick.sheet is None


async def test_a_list_that_tab_has_reached_keeps_its_letters_and_one_that_was_clicked_does_not() -> None:
    async with shown(FakeFactory(), Settings(), **around()) as window:  # type: ignore[arg-type]
        pane = window.conversations
        await until(lambda: pane.list.place("c0") >= 0)
        title = kept(window).views["c4"].title
        await tab_to(window, pane.rows)
        pane.rows.highlight("c0")
        await type_keys(window, title)
        assert pane.rows.highlighted == "c4" and pane.rows.hasFocus()
        assert window.transcript.composer.field.text() == ""
        await click(pane.rows.viewport(), pane.rows.visualRect(pane.rows.list.index(0)).center())  # a heading
        await type_keys(window, title)
        assert window.transcript.composer.field.text() == title


async def test_the_space_bar_talks_in_the_empty_field_after_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    factory, clock = FakeFactory(), [1_000.0]
    monkeypatch.setattr(key_routing.time, "monotonic", lambda: clock[0])
    async with shown(factory) as window:
        field, calls = window.transcript.composer.field, factory.session.calls
        await type_keys(window, "a")
        await press_key(window, Qt.Key.Key_Backspace)
        clock[0] += 1.9
        await press_key(window, SPACE)
        assert field.text() == " " and calls == [], "the user is typing"
        clock[0] += 1.9
        await press_key(window, SPACE)
        assert field.text() == "  " and calls == []
        clock[0] += 2.0
        key(window, SPACE, down=True)
        assert field.text() == "  " and calls == [("press",)], "blanks are no message"
        for _ in range(5):
            key(window, SPACE, down=True, repeat=True)
        key(window, SPACE, down=False)
        await until(lambda: calls == [("press",), ("release",)])
        await type_keys(window, "b")
        clock[0] += 60.0
        await press_key(window, SPACE)
        assert field.text() == "  b " and calls == [("press",), ("release",)], "there is a message"


@pytest.mark.parametrize("place", ["transcript", "timeline", "nothing"])
async def test_the_space_bar_talks_where_it_is_free_and_is_a_blank_in_a_message(place, window, factory) -> None:
    calls = factory.session.calls
    say(window, *spoken(1, "Why is the sea salty?", "Rivers carry salt into it."))

    async def go() -> None:
        if place == "transcript":
            await click(window.transcript.view.viewport())
        elif place == "timeline":
            await click(window.inspector.timeline.view)
        else:
            window.transcript.composer.field.clearFocus()

    await go()
    key(window, SPACE, down=True)
    key(window, SPACE, down=False)
    await until(lambda: calls == [("press",), ("release",)])
    window.transcript.composer.field.setText("Half")
    await go()
    await press_key(window, SPACE)
    assert window.transcript.composer.field.text() == "Half " and len(calls) == 2


async def test_what_is_pasted_after_a_click_in_the_transcript_is_in_the_message(window: MainWindow) -> None:
    say(window, *spoken(1, "Why is the sea salty?", "Rivers carry salt into it."))
    await click(window.transcript.view.viewport())
    QApplication.clipboard().setText("an address")
    await press_key(window, Qt.Key.Key_V, CONTROL)
    assert window.transcript.composer.field.text() == "an address"


async def test_without_a_microphone_the_space_bar_opens_no_turn(window: MainWindow, factory: FakeFactory) -> None:
    say(window, e.DeviceChanged(0.5, "microphone", "lost", "", "It is gone."))
    key(window, SPACE, down=True)
    key(window, SPACE, down=False)
    assert factory.session.calls == [] and window.dock.button.text() == "No microphone"
    assert not window.talk.push.command("press")
    say(window, e.DeviceChanged(1.0, "microphone", "back", "Desk microphone", "It is back."))
    key(window, SPACE, down=True)
    assert factory.session.calls == [("press",)]


async def test_no_letter_or_sign_is_a_shortcut_of_the_window() -> None:
    async with shown(FakeFactory(), Settings(), **around()) as window:  # type: ignore[arg-type]
        window.quick.open_sheet()
        everywhere = Qt.ShortcutContext.WindowShortcut, Qt.ShortcutContext.ApplicationShortcut
        keys = [one.key() for one in window.findChildren(QShortcut) if one.context() in everywhere]
        for action in window.findChildren(QAction):
            if action.shortcutContext() in everywhere:
                keys += action.shortcuts()
        assert len(keys) > 10
        assert [one.toString() for one in keys if len(one.toString()) == 1] == []


async def test_the_key_of_a_favourite_that_is_not_there_types_nothing() -> None:
    async with shown(FakeFactory(), **everything()) as window:
        composer, search = window.transcript.composer.field, window.popover.search
        for digit in range(10):
            for field in (composer, window.conversations.search):
                field.setFocus()
                await press_key(window, Qt.Key(Qt.Key.Key_0 + digit), Qt.KeyboardModifier.AltModifier)
        window.top_bar.pill.click()
        await press_key(window, Qt.Key.Key_2, Qt.KeyboardModifier.AltModifier)
        await press_key(window, Qt.Key.Key_Z, Qt.KeyboardModifier.AltModifier)
        assert (composer.toPlainText(), window.conversations.search.text(), search.text()) == ("", "", "")
        await type_keys(window, "2")
        assert search.text() == "2"
