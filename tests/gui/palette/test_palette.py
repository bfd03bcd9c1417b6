"""The command palette: how words find titles; opened, searched and left by keys; what its commands do."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest

from app.gui.palette.command import Command
from app.gui.palette.delegate import COMMAND_ROLE
from app.gui.palette.palette import CommandPalette
from app.gui.palette.ranking import match, ranked
from app.gui.window.main_window import MainWindow
from app.history.base import ConversationView
from app.session.control import BackendChoice
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import FakeBackendService, FakeFactory, FakeServers
from tests.gui.helpers import shown, until
from tests.gui.models.test_local_models import FakeModels

_SPOKEN = Qt.ItemDataRole.AccessibleTextRole
CTRL = Qt.KeyboardModifier.ControlModifier


@asynccontextmanager
async def palette_over(recent: Sequence[object] = ()) -> AsyncIterator[tuple[MainWindow, CommandPalette]]:
    """A window with two conversations, and its palette opened by its keys; `recent`: the commands used last."""
    history = FakeHistory(ConversationView("a", "Why leaves turn <b>red</b>"), ConversationView("b", "Bread"))
    async with shown(
        FakeFactory(),
        state=WindowState(recent_commands=list(recent)),
        service=FakeBackendService(),
        history=history,
    ) as window:
        await until(lambda: window.list.history is not None and window.list.history.known)
        palette = window.quick.palette
        window.transcript.composer.field.setFocus()
        open_(window)
        yield window, palette


@pytest.fixture
async def window() -> AsyncIterator[MainWindow]:
    async with palette_over() as (window, _):
        yield window


@pytest.fixture
def factory(window: MainWindow) -> FakeFactory:
    assert isinstance(window.manager._factory, FakeFactory)
    return window.manager._factory


@pytest.fixture
def palette(window: MainWindow) -> CommandPalette:
    return window.quick.palette


def open_(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_K, CTRL)
    assert window.quick.palette.isVisible() and window.quick.palette.field.hasFocus()


def choose(palette: CommandPalette, typed: str) -> None:
    QTest.keyClicks(palette.field, typed)
    QTest.keyClick(palette.field, Qt.Key.Key_Return)


async def test_it_opens_and_is_left_by_keys_and_gives_the_focus_back(window, palette) -> None:
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    assert not palette.isVisible() and window.transcript.composer.field.hasFocus()
    open_(window)
    QTest.keyClick(palette.field, Qt.Key.Key_K, CTRL)
    assert not palette.isVisible()


async def test_a_command_does_what_the_menu_does(window: MainWindow, palette: CommandPalette) -> None:
    made: list[bool] = []
    window.commands["new"].triggered.connect(lambda: made.append(palette.isVisible()))
    choose(palette, "new conv")
    assert made == [False], "it has closed before"
    open_(window)
    choose(palette, "mute mic")
    assert window.commands["mute"].isChecked() and window.manager.wanted.muted


async def test_only_what_can_be_used_is_offered_and_not_the_palette_itself(window, palette) -> None:
    assert not window.commands["hand_over"].isEnabled()
    titles = palette.titles()
    assert "New conversation" in titles and "Quit" in titles
    assert "Switch to the comparison model" not in titles and "Commands…" not in titles
    assert "Log…" not in titles, "there is no log here"
    quit_ = next(
        palette.list.model().index(place, 0).data(COMMAND_ROLE) for place, title in enumerate(titles) if title == "Quit"
    )
    assert (quit_.keys, quit_.place) == ("Ctrl+Q", "Conversation")


async def test_a_setting_opens_where_it_is(window: MainWindow, palette: CommandPalette) -> None:
    choose(palette, "text size")
    dialog = window.panels.settings
    assert dialog is not None and dialog.isVisible() and dialog.area.title.text() == "General"
    assert dialog.rows["font_scale"].isVisible()


async def test_a_conversation_is_opened_by_its_title_which_is_plain_text(window, palette) -> None:
    QTest.keyClicks(palette.field, "leaves")
    assert palette.titles() == ["Why leaves turn <b>red</b>", "Ask KAME: “leaves”"]
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    await until(lambda: window.talks.key == "a")


async def test_a_model_is_picked_by_its_name(window: MainWindow, palette: CommandPalette) -> None:
    choose(palette, "haiku")
    assert window.popover.choice == BackendChoice("anthropic", "claude-haiku-4-5")


async def test_arrows_choose_and_go_round(palette: CommandPalette) -> None:
    last = len(palette.titles()) - 1
    QTest.keyClick(palette.field, Qt.Key.Key_Up)
    assert palette.list.currentIndex().row() == last
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    QTest.keyClick(palette.field, Qt.Key.Key_Down)
    assert palette.list.currentIndex().row() == 1 and palette.field.hasFocus()
    QTest.keyClick(palette.field, Qt.Key.Key_PageUp)
    assert palette.list.currentIndex().row() == 0
    assert "New conversation" in palette.list.currentIndex().data(Qt.ItemDataRole.AccessibleTextRole)


async def test_only_a_moved_pointer_selects(window: MainWindow, palette: CommandPalette) -> None:
    """The list may open under the pointer, and its rows change under it as one types."""
    under = palette.list.visualRect(palette.list.model().index(3, 0)).center()
    where = palette.list.viewport().mapToGlobal(under)
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    QCursor.setPos(where)
    open_(window)
    palette.list.entered.emit(palette.list.model().index(3, 0))
    assert palette.list.currentIndex().row() == 0
    QCursor.setPos(where + QPoint(0, 1))
    palette.list.entered.emit(palette.list.model().index(3, 0))
    assert palette.list.currentIndex().row() == 3


async def test_what_was_used_is_first_and_remembered_but_no_conversation() -> None:
    async with palette_over() as (window, palette):
        choose(palette, "bread")
        await until(lambda: window.talks.key == "b")
        open_(window)
        choose(palette, "text size")
        window.panels.settings.close()
        window.activateWindow()
        await until(window.isActiveWindow)
        open_(window)
        assert palette.titles()[:2] == ["Text size", "Bread"]
        window.keep.close()
        kept = WindowState.load(window.settings.path.with_name("window.json")).recent_commands
        assert kept == ["setting:General:Text size"]
    async with palette_over(kept) as (_, palette):
        assert palette.titles()[0] == "Text size"
    async with palette_over([{"nonsense": 1}, 4]) as (_, palette):
        assert palette.titles()[0] == "New conversation"


async def test_a_click_elsewhere_closes_it_and_one_on_a_line_runs_it(window, palette) -> None:
    QTest.mouseClick(window.transcript.view.viewport(), Qt.MouseButton.LeftButton)
    assert not palette.isVisible()
    open_(window)
    QTest.keyClicks(palette.field, "text size")
    rect = palette.list.visualRect(palette.list.model().index(0, 0))
    QTest.mouseClick(palette.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    assert not palette.isVisible() and window.panels.settings is not None


FIRST = {
    "dark": "Theme: Dark",
    "bigger": "Text size: Larger",
    "font": "Text size",
    "swap": "Choose a model…",
    "switch model": "Choose a model…",
    "delete": "Delete this conversation",
    "history": "Conversations",
    "german": "Spoken language: German",
    "deutsch": "Window language: German",
    "englisch": "Window language: English",
    "window deutsch": "Window language: German",
    "125": "Text size: 125 %",
    "percent": "Text size",
    "zoom 125": "Text size: 125 %",
    "translate": "Spoken language",
    "download": "Models and servers…",
    "update": "Check for new versions",
    "shortcut": "Keys",
    "attach": "Add files…",
    "document": "Add files…",
    "stop": "Stop speaking",
    "stop speaking": "Stop speaking",
    "interrupt": "Stop speaking",
    "timer": "Ask KAME: “timer”",
    "mcp": "Tool servers…",
    "speed": "Speaking rate",
    "faster": "Speaking rate: Faster",
    "louder": "Speaking volume: Louder",
    "animation": "Reduced motion",
    "while i speak": "Answer: While I speak",
    "reset": "New conversation",
    "what leaves in the autumn turn": "Ask KAME: “what leaves in the autumn turn”",
    "leaves?": "Ask KAME: “leaves?”",
    "tell me a story": "Ask KAME: “tell me a story”",
}
"""What users type, and what they find first."""


async def test_what_users_call_a_thing_finds_it_first() -> None:
    service, history = FakeBackendService(tool_servers=FakeServers()), FakeHistory(ConversationView("a", "Bread"))
    more = {"service": service, "history": history, "models": FakeModels()}
    async with shown(FakeFactory(), Settings(answer_mode="after"), **more) as window:
        await until(lambda: window.list.history is not None and window.list.history.known)
        window.talks.open(window.list.history.known[0])
        await until(window.commands["delete"].isEnabled)
        open_(window)
        palette, found = window.quick.palette, {}
        for typed in FIRST:
            palette.field.clear()
            QTest.keyClicks(palette.field, typed)
            found[typed] = palette.titles()[0]
            assert f"Ask KAME: “{typed}”" in (palette.titles()[-1], palette.titles()[0])
        assert found == FIRST
        palette.field.clear()
        QTest.keyClicks(palette.field, "stop")
        assert palette.titles().index("Stop speaking") < palette.titles().index("End conversation")


async def test_a_value_is_set_from_the_palette_and_marked_there(window: MainWindow, palette: CommandPalette) -> None:
    choose(palette, "dark")
    assert window.settings.theme == "dark" and window.panels.settings is None
    open_(window)
    choose(palette, "bigger")
    assert window.settings.font_scale == 110
    open_(window)
    QTest.keyClicks(palette.field, "theme")
    current = [title for title, command in rows(palette) if command.current]
    assert current == ["Theme: Dark"]
    QTest.keyClick(palette.field, Qt.Key.Key_Escape)
    open_(window)
    choose(palette, "125")
    assert window.settings.font_scale == 125
    open_(window)
    QTest.keyClicks(palette.field, "theme")
    for key, value in (("theme", "system"), ("font_scale", 100)):
        window.keep.change(key, value)
    assert "on" in palette.list.model().index(palette.titles().index(current[0]), 0).data(_SPOKEN).split(", ")


async def test_settings_that_restart_or_cannot_be_changed_have_no_values(window, palette) -> None:
    QTest.keyClicks(palette.field, "voice engine")
    assert [title for title in palette.titles() if title.startswith("Voice engine")] == ["Voice engine"]
    palette.field.setText("start at login")
    assert "Start at login: On" not in palette.titles(), "this copy can't be started at login"


async def test_enter_in_the_last_row_sends_what_was_typed(factory: FakeFactory, window, palette) -> None:
    window.transcript.composer.field.setText("a draft")
    QTest.keyClicks(palette.field, "qqqqq?")
    assert palette.titles() == ["Ask KAME: “qqqqq?”"]
    QTest.keyClick(palette.field, Qt.Key.Key_Return)
    assert not palette.isVisible() and window.transcript.composer.field.text() == "a draft"
    assert factory.session.calls[-1] == ("write", "qqqqq?")
    open_(window)
    assert not any(title.startswith("Ask") for title in palette.titles()), "it is no command to be used again"


async def test_the_conversation_that_is_shown_is_deleted(window: MainWindow, palette: CommandPalette) -> None:
    assert not any("Delete" in title for title in palette.titles()), "nothing is kept of it yet"
    choose(palette, "bread")
    await until(window.commands["delete"].isEnabled)
    open_(window)
    choose(palette, "delete")
    await until(lambda: window.talks.key != "b" and not window.commands["delete"].isEnabled())
    assert window.conversations.undo.isVisible()


def rows(palette: CommandPalette) -> list[tuple[str, Command]]:
    model = palette.list.model()
    return [(title, model.index(place, 0).data(COMMAND_ROLE)) for place, title in enumerate(palette.titles())]


def command(title: str, kind: str = "command", place: str = "", other_words: str = "") -> Command:
    return Command(title, "", lambda: None, kind, place, other_words)  # type: ignore[arg-type]


def titles(typed: str, *commands: Command, recent: tuple[str, ...] = ()) -> list[str]:
    return [one.title for one, _ in ranked(typed, commands, recent)]


def marked(typed: str, title: str) -> str:
    found = match(typed, title)
    assert found is not None
    return "".join(letter.upper() if place in found.places else letter for place, letter in enumerate(title.lower()))


@pytest.mark.parametrize(
    ("typed", "title", "shown"),
    [
        ("mute", "Mute the microphone", "MUTE the microphone"),
        ("mic", "Mute the microphone", "mute the MICrophone"),
        ("mtm", "Mute the microphone", "Mute The Microphone"),
        ("micro mute", "Mute the microphone", "MUTE the MICROphone"),
        ("uber", "Über uns", "ÜBER uns"),
        ("mutth", "Mute the microphone", "MUTe THe microphone"),
        ("etm", "Mute the microphone", None),
        ("mm", "Mute the microphone", None),
        ("mute zebra", "Mute the microphone", None),
    ],
)
def test_letters_are_found_where_people_look_for_them(typed: str, title: str, shown: str | None) -> None:
    if shown is None:
        assert match(typed, title) is None
    else:
        assert marked(typed, title) == shown


def test_beginnings_go_before_insides_and_these_before_initials() -> None:
    found = titles("st", command("Last"), command("Set the time"), command("Show the style"), command("Stop"))
    assert found == ["Stop", "Show the style", "Last", "Set the time"]


def test_a_title_goes_before_other_words_and_the_closest_of_these_is_first() -> None:
    commands = command("Sound", other_words="volume, stop"), command("End", other_words="stop"), command("Non-stop")
    assert titles("stop", *commands) == ["Non-stop", "End", "Sound"]
    assert titles("volume sound", *commands) == ["Sound"]
    assert titles("top", *commands) == ["Non-stop"]  # inside of another word is no match
    assert titles("sto", *commands, recent=("command::Sound",))[0] == "Non-stop", "not even if it was used last"


def test_the_name_of_a_page_finds_what_is_on_it_after_all_titles() -> None:
    commands = command("Theme", "setting", "General"), command("General remarks"), command("Stop")
    assert titles("gen", *commands) == ["General remarks", "Theme"]
    assert titles("theme general", *commands) == ["Theme"]
    assert titles("neral", *commands) == ["General remarks"]  # inside of a place's word is no match
