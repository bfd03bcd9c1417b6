"""The dialog “Style and tools”: for the open conversation and for new ones; the router's table."""

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QLocale
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from app.gui.models.style_dialog import StyleDialog
from app.gui.state.choice import WindowChoices, keep_tools, tool_choice
from app.gui.window.main_window import MainWindow
from app.session.control import Style, ToolChoice
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory
from tests.gui.helpers import (
    open_dialog,
    press,
    shown,
    until,
    window_and_factory,
)
from tests.gui.models.test_local_models import FakeModels
from tests.gui.window.test_window_session import pick


def opened(window: MainWindow) -> StyleDialog:
    """Opens the dialog with the button in the conversation's header."""
    window.transcript.header.button.click()
    dialog = open_dialog(window, StyleDialog)
    return dialog


async def test_it_is_set_live_and_for_this_conversation_alone(tmp_path: Path) -> None:
    factory, settings = FakeFactory(), Settings(path=tmp_path / "settings.json")
    async with shown(factory, settings, choices=WindowChoices(mcp_servers=("weather",))) as window:
        dialog = opened(window)
        assert dialog.persona.toPlainText() == "" and "Empty: KAME as it is" in dialog.persona.placeholderText()
        assert dialog.own_temperature.isChecked() and not dialog.temperature.isEnabled()
        assert not any(switch.isChecked() for switch in dialog.tools.switches.values())
        assert dialog.cap.text() == "no limit"
        QTest.keyClicks(dialog.persona, "You are a pirate.")
        dialog.own_temperature.click()
        dialog.temperature.setValue(24)
        assert dialog.degrees.text() == "1.20"
        dialog.lengths["short"].click()
        for name in ("calculator", "mcp:weather"):
            dialog.tools.switches[name].click()
        dialog.cap.setValue(0.5)
        press(dialog, "Use for this conversation")
        assert not dialog.isVisible()
        style = Style("You are a pirate.", 1.2, "short")
        tools = ToolChoice(("calculator", "mcp:weather"))
        await until(lambda: len(factory.session.calls) == 3)
        assert factory.session.calls == [("set_style", style), ("set_cap", 0.5), ("set_tools", tools)]
        words = window.transcript.header.words.text()
        assert words == "own persona · short answers · temperature 1.2 · calculator · weather · at most $0.50"
        dialog = opened(window)
        assert (dialog.style_choice, dialog.tools.choice, dialog.cap.value()) == (style, tools, 0.5)
        press(dialog, "Close this dialog")
        assert len(factory.session.calls) == 3
        # Another device begins another session of the same conversation; a new session is held as new ones are.
        pick(window.popover.answer_mode, "after")
        window.manager.start(window.manager.wanted)
        await until(lambda: len(factory.sessions) == 2 and window.manager.session)
        assert (factory.choices[1].style, factory.choices[1].tools, factory.choices[1].cap) == (style, tools, 0.5)
        window.top_bar.new_button.click()
        await until(lambda: len(factory.sessions) == 3 and window.manager.session)
        fresh = factory.choices[2]
        assert (fresh.style, fresh.tools, fresh.cap) == (Style(), ToolChoice(), 0.0)
        assert window.transcript.header.words.text() == ""
    assert json.loads((tmp_path / "settings.json").read_text())["persona"] == ""


async def test_it_is_kept_for_new_conversations_when_that_is_wished(tmp_path: Path) -> None:
    factory, path = FakeFactory(), tmp_path / "settings.json"
    async with shown(factory, Settings(path=path)) as window:
        dialog = opened(window)
        dialog.persona.setPlainText("A teacher.")
        dialog.tools.switches["files"].click()
        dialog.tools.add_folder("/srv/recipes")
        dialog.tools.add_folder("/srv/recipes")
        dialog.tools.add_folder("/srv/with a space")
        dialog.always.click()
        press(dialog, "Use for this conversation")
        window.top_bar.new_button.click()
        await until(lambda: len(factory.sessions) == 2)
    kept = Settings.load(path)
    assert (kept.persona, kept.temperature, kept.answer_length) == ("A teacher.", -1.0, "medium")
    assert (kept.tools, kept.tool_folders, kept.cap_dollars) == ("files", "/srv/recipes\n/srv/with a space", 0.0)
    expected = ToolChoice(("files",), ("/srv/recipes", "/srv/with a space"))
    assert (factory.choices[1].style.persona, factory.choices[1].tools) == ("A teacher.", expected)
    assert kept.notice == ""


async def test_the_defaults_of_the_settings_begin_the_talk() -> None:
    settings = Settings(
        persona="A cook.",
        temperature=0.0,
        answer_length="long",
        tools="clock mcp:gone",
        tool_folders="/a\n\n/b\n",
        cap_dollars=2.0,
    )
    async with window_and_factory(settings) as (window, factory):
        (choice,) = factory.choices
        assert choice.style == Style("A cook.", 0.0, "long")
        assert (choice.tools, choice.cap) == (ToolChoice(("clock", "mcp:gone"), ("/a", "/b")), 2.0)
        dialog = opened(window)
        assert (dialog.style_choice, dialog.tools.choice) == (choice.style, choice.tools)


@pytest.mark.parametrize("names", [(), ("clock",), ("clock", "mcp:a"), ("mcp:my notes",), ("clock", "mcp:my notes")])
def test_tools_are_kept_by_name_whatever_the_name(names: tuple[str, ...]) -> None:
    settings, tools = Settings(), ToolChoice(names, ("/a b", "/c"))
    keep_tools(settings, tools)
    assert tool_choice(settings) == tools


async def test_folders_are_asked_for_without_blocking_and_taken_out(window: MainWindow) -> None:
    dialog = opened(window)
    tools = dialog.tools
    assert not tools.folders.isVisible()
    tools.switches["files"].click()
    assert tools.folders.isVisible() and not tools.remove_button.isEnabled()
    press(tools, "Add a folder")
    (asking,) = tools.findChildren(QFileDialog)
    asking.fileSelected.emit("/srv/recipes")
    asking.reject()
    assert tools.choice.folders == ("/srv/recipes",)
    tools.folders.setCurrentRow(0)
    press(tools, "Remove the folder")
    assert tools.choice.folders == () and not tools.remove_button.isEnabled()


@pytest.mark.parametrize("locale", ["en_US", "de_DE", "C"])
@pytest.mark.parametrize(
    ("typed", "dollars"), [("0,05", 0.05), ("0.05", 0.05), ("12,5", 12.5), ("$0.5", 0.5), ("3", 3.0)]
)
async def test_both_marks_are_the_decimal_point_of_the_cap(
    locale: str, typed: str, dollars: float, window: MainWindow, factory: FakeFactory
) -> None:
    dialog = opened(window)
    dialog.cap.setLocale(QLocale(locale))
    await until(dialog.isActiveWindow)
    dialog.cap.setFocus()
    dialog.cap.selectAll()
    QTest.keyClicks(dialog.cap, typed)
    press(dialog, "Use for this conversation")
    await until(lambda: ("set_cap", dollars) in factory.session.calls)
    assert opened(window).cap.value() == dollars


async def test_a_conversations_own_voice_is_chosen_among_those_that_speak_the_language() -> None:
    settings, factory = Settings(language="de"), FakeFactory()
    async with shown(factory, settings, models=FakeModels()) as window:
        window.dialogs.open_conversation(Style(voice="gone"), ToolChoice(), 0.0)
        dialog = window.dialogs.conversation
        assert dialog.style_choice.voice == "gone"
        await until(lambda: dialog.voice.count() == 4)
        offered = [(dialog.voice.itemText(n), dialog.voice.itemData(n)) for n in range(4)]
        there = [("default voice", ""), ("Mouth", "mouth"), ("Bea", "choir/bea")]
        assert offered == [*there, ("gone (not on this machine)", "gone")]
        assert dialog.style_choice.voice == "gone", "what was chosen stays, unless another one is"
        dialog.voice.setCurrentIndex(1)
        dialog.always.setChecked(True)
        press(dialog, "Use for this conversation")
        assert factory.session.calls[0] == ("set_style", Style(voice="mouth"))
        assert settings.voice == "mouth"
        assert "own voice" in window.transcript.header.words.text()
        window.dialogs.open_conversation(Style(voice="choir/ann"), ToolChoice(), 0.0)
        await until(lambda: dialog.voice.currentText() == "Ann (speaks another language)")
        assert dialog.style_choice.voice == "choir/ann"


STEM = {"provider": "anthropic", "model": "claude-opus-4-1", "base_url": ""}
