"""Every control can be named by a screen reader, reached with Tab, and read at the smallest size."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QProgressBar,
    QRadioButton,
    QScrollArea,
    QSlider,
    QWidget,
)

from app.conversation import events as e
from app.gui.mini.window import LastLines
from app.gui.state.choice import WindowChoices
from app.gui.widgets.level_meter import LevelMeter
from app.gui.widgets.panel import ElidedLabel
from app.gui.window.main_window import MainWindow
from app.session.control import BackendChoice, Style, ToolChoice
from app.settings.declarations import Settings
from tests.gui.fake_history import FakeHistory
from tests.gui.fakes import (
    CHOICES,
    HERE,
    PROVIDERS,
    FakeBackendService,
    FakeFactory,
    FakeSoundService,
)
from tests.gui.helpers import open_models, say, shown, until
from tests.gui.models.test_local_models import FakeModels
from tests.gui.pictures.window import side_by_side, talk
from tests.gui.window.test_panels import everything

CONTROLS = (
    QAbstractButton,
    QAbstractSpinBox,
    QComboBox,
    QLineEdit,
    QAbstractScrollArea,
    QProgressBar,
    QSlider,
    LevelMeter,
)


def controls(window: QWidget) -> list[QWidget]:
    """All interactive controls that are shown; not the inner parts of others, nor Qt's own."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if isinstance(widget, CONTROLS)
        and widget.isVisible()
        and widget.window() is window
        and not isinstance(widget.parentWidget(), QAbstractSpinBox | QComboBox | QLineEdit)
        and not widget.objectName().startswith("qt_")
    ]


def tabbed() -> list[QWidget | None]:
    """What Tab reaches from the focused widget on, until it comes back."""
    seen: list[QWidget | None] = []
    for _ in range(60):
        focus = QApplication.focusWidget()
        if focus in seen:
            break
        seen.append(focus)
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    return seen


async def test_every_control_has_a_name_of_its_own() -> None:
    factory = FakeFactory()
    async with shown(
        factory,
        Settings(provider="ollama"),
        choices=CHOICES,
        service=FakeBackendService(),
        sound_service=FakeSoundService(),
    ) as window:
        say(window, e.SecondaryChanged(1, "OpenAI", "gpt"))
        say(window, e.Failure(1, "backend", "One."), e.Failure(1, "audio", "Two.", fatal=True))
        found = controls(window)
        nameless = [widget for widget in found if not widget.accessibleName()]
        assert nameless == []
        assert len(found) >= 30
        names = [widget.accessibleName() for widget in found]
        twice = {name for name in names if names.count(name) > 1}
        assert twice <= {"Close this message"}


async def test_tab_reaches_every_control_and_comes_back() -> None:
    factory = FakeFactory()
    async with shown(
        factory, Settings(provider="ollama"), service=FakeBackendService(), sound_service=FakeSoundService()
    ) as window:
        window.resize(1400, 900)
        say(window, e.SecondaryChanged(1, "OpenAI", "gpt"))
        bar, dock, status = window.top_bar, window.dock, window.status
        bar.sidebar_button.setFocus()
        seen = tabbed()
        transcript, oracle, timeline = window.transcript, window.oracle, window.inspector.timeline
        assert seen == [
            bar.sidebar_button,
            transcript.header.button,
            bar.pill,
            bar.oracle_button,
            bar.menu_button,
            window.conversations.new_button,
            window.conversations.more,
            window.conversations.search,
            window.conversations.rows,
            *transcript.welcome.questions,
            transcript.composer.attach,
            transcript.composer.field,
            dock.mute,
            dock.devices_button,
            dock.button,
            dock.duplex,
            oracle.header.details,
            oracle.header.switch,
            oracle.columns[0].view,
            oracle.columns[1].hand_button,
            oracle.columns[1].view,
            window.inspector.tabs,
            timeline.follow_button,
            timeline.out_button,
            timeline.in_button,
            timeline.last_button,
            timeline.export_button,
            timeline.view,
            status.inspector_button,
            status.response,
            window.mini,
        ]


async def test_tab_stays_in_the_popover_of_models_and_reaches_all_of_it() -> None:
    async with shown(FakeFactory(), Settings(provider="ollama"), service=FakeBackendService()) as window:
        open_models(window)
        setup = window.popover
        setup.search.setFocus()
        reached = []
        for _ in range(4):
            reached.append(QApplication.focusWidget())
            QTest.keyClick(reached[-1], Qt.Key.Key_Tab)
        assert reached == [setup.search, setup.list, setup.models_button, setup.compare_button]
        assert setup.isVisible()


def page_of(widget: QWidget, window: QWidget) -> QWidget:
    """What a widget has to lie in: the page that can be scrolled to it, else the window."""
    above = widget.parentWidget()
    while above is not None and above is not window:
        if isinstance(above, QScrollArea) and above.widget() is not None:
            return above.widget()
        above = above.parentWidget()
    return window


def cut_off(window: QWidget) -> list[str]:
    """The controls and labels that have not the room that they need."""
    short = [
        widget.accessibleName()
        for widget in controls(window)
        if widget.width() < widget.minimumSizeHint().width()
        or not (page := page_of(widget, window)).rect().contains(widget.mapTo(page, widget.rect().bottomRight()))
    ]
    for label in window.findChildren(QLabel):
        shown_here = label.isVisible() and label.window() is window
        rigid = not label.wordWrap() and not isinstance(label, ElidedLabel | LastLines)
        if shown_here and rigid and label.width() < label.sizeHint().width():
            short.append(label.text())
        if shown_here and label.wordWrap() and label.height() < label.heightForWidth(label.width()):
            short.append(label.text())
    return short


@pytest.mark.slow
@pytest.mark.parametrize("provider", ["embedded", "ollama", "anthropic", "compatible"])
async def test_nothing_is_cut_off_at_the_smallest_size(provider: str) -> None:
    factory = FakeFactory()
    settings = Settings(provider=provider, compatible_url="http://127.0.0.1:8080/v1")
    frontends = (("cascade", "Cascade"), ("kame", "KAME"), ("moshi", "Moshi"))
    choices = WindowChoices(frontends=frontends, backends=PROVIDERS)
    async with shown(
        factory,
        settings,
        choices=choices,
        service=FakeBackendService(),
        sound_service=FakeSoundService(),
        everything=False,
    ) as window:
        window.resize(900, 600)
        long = "A sentence that is long enough to need two lines. " * 3
        say(window, e.Failure(1, "backend", long), *talk(), *side_by_side(12.0))
        await until(lambda: window.width() == 900 and not cut_off(window))
        assert (window.width(), window.height()) == (900, 600)
        for action in window.panes.actions_:
            action.setChecked(False)
        await asyncio.sleep(0.01)
        window.resize(window.minimumSize())
        await until(lambda: window.width() < 600 and not cut_off(window))


async def test_the_menus_of_conversations_have_words_and_letters() -> None:
    async with shown(FakeFactory(), history=FakeHistory()) as window:
        for menu in (window.conversations.menu, window.conversations.more_menu):
            texts = [action.text() for action in menu.actions() if not action.isSeparator()]
            letters = [text[text.index("&") + 1].lower() for text in texts]
            assert texts and len(set(letters)) == len(letters), texts


def open_style(window: MainWindow) -> None:
    tools = ToolChoice(("files", "mcp:weather"), ("/tmp",))
    window.dialogs.open_conversation(Style(temperature=0.5), tools, 1.0)
    window.dialogs.conversation.tools.folders.setCurrentRow(0)  # so that it can be removed


def open_sound(window: MainWindow) -> None:
    window.sound.open_dialog()
    window.sound.dialog.talk_button.show_trouble("These keys belong to another program.")


def open_settings(window: MainWindow, page: str) -> None:
    window.panels.open_settings()
    window.panels.settings.pages.setCurrentRow(list(Settings.pages).index(page))


SERVER = "http://127.0.0.1:8080/v1"
OPENERS: dict[str, Callable[[MainWindow], object]] = {
    **{f"settings {page}": lambda w, page=page: open_settings(w, page) for page in Settings.pages},
    **{f"models {at}": lambda w, at=at: w.dialogs.open_models(at) for at in ("embedded", "openai", "machine")},
    "log": lambda w: w.panels.open_log(),
    "about": lambda w: w.panels.open_about(),
    "duplicate": lambda w: w.dialogs.open_duplicate("c0", BackendChoice()),
    "key": lambda w: w.dialogs.open_backend(BackendChoice("openai")),
    "ollama": lambda w: w.dialogs.open_backend(BackendChoice("ollama", "", HERE)),
    "compatible": lambda w: w.dialogs.open_backend(BackendChoice("compatible", "", SERVER)),
    "secondary": lambda w: w.dialogs.open_secondary(BackendChoice("ollama", "", HERE), BackendChoice()),
    "conversation": open_style,
    "servers": lambda w: w.dialogs.open_servers(),
    "prices": lambda w: w.dialogs.open_prices(BackendChoice("openai", "gpt-4.1")),
    "sound": open_sound,
}


@pytest.mark.parametrize("name", OPENERS)
async def test_every_dialog_is_named_whole_and_reached_by_tab(name: str) -> None:
    given = everything()
    given["service"].keys = {"openai": "k"}
    given["log"].add(1.0, logging.INFO, "app", "A line.", "", "MainThread")
    servers = ("weather", "a-long-name-of-a-server", "another-name", "sums")
    given |= {"choices": replace(CHOICES, mcp_servers=servers), "models": FakeModels()}
    settings = Settings(provider="openai", compatible_url=SERVER)
    async with shown(FakeFactory(), settings, **given) as window:
        OPENERS[name](window)
        (dialog,) = [one for one in QApplication.topLevelWidgets() if one.isVisible() and one is not window]
        await until(dialog.isActiveWindow)
        match name:
            case "models machine":
                await until(lambda: dialog.machine.view is not None)
            case "key":
                await until(lambda: dialog.form.key_box.forget_button.isEnabled())
            case "servers":
                await until(lambda: dialog.servers.count())
        await asyncio.sleep(0.05)
        found = controls(dialog)
        names = [widget.accessibleName() for widget in found]
        assert all(names) and len(set(names)) == len(names), names
        assert dialog.accessibleName()
        QTest.keyClick(dialog, Qt.Key.Key_Tab)
        reached = set(tabbed())
        # Of radio buttons Tab reaches the one that is on, the arrows do the rest. A meter, a bar, a table's head
        # and what only scrolls what is in it show something, and take no keys of their own.
        passive = QRadioButton | LevelMeter | QProgressBar | QHeaderView | QScrollArea
        others = [w for w in found if not isinstance(w, passive)]
        assert others and [w.accessibleName() for w in others if w.isEnabled() and w not in reached] == []
        assert [w.accessibleName() for w in others if not w.focusPolicy() & Qt.FocusPolicy.TabFocus] == []
        await until(lambda: not cut_off(dialog))
        QTest.keyClick(dialog, Qt.Key.Key_Escape)
        assert not dialog.isVisible() and window.isVisible()
