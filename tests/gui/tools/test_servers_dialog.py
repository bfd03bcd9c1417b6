"""The dialog “Tool servers”: listing, adding, changing, removing and testing servers, and their switches."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.gui.models.style_dialog import StyleDialog
from app.gui.state.choice import WindowChoices, with_servers_moved
from app.gui.tools.servers_dialog import ServersDialog
from app.gui.window.main_window import MainWindow
from app.services.tool_server_service import ToolServerService
from app.session.control import ToolChoice
from app.settings.declarations import Settings
from tests.gui.fakes import FakeBackendService, FakeFactory, FakeServers
from tests.gui.helpers import open_dialog, press, shown, until

PEER = Path(__file__).parents[2] / "support" / "mcp_peer.py"
FILES = {"command": "npx", "args": ["-y", "server"], "env": {"KEY": "hush"}, "timeout": 5}
WEB = {"url": "https://example.org/mcp", "disabled": True}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mcp.json"


def given(path: Path, **entries: Any) -> None:
    path.write_text(json.dumps({"mcpServers": entries, "theme": "dark"}))


def held(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text())["mcpServers"]


@asynccontextmanager
async def opened(
    service: ToolServerService, *names: str, factory: FakeFactory | None = None, settings: Settings | None = None
) -> AsyncIterator[tuple[MainWindow, StyleDialog, ServersDialog]]:
    """Opens the dialog with the button below the tools' switches, and waits for its list."""
    choices = WindowChoices(mcp_servers=names)
    async with shown(
        factory or FakeFactory(), settings, choices=choices, service=FakeBackendService(tool_servers=service)
    ) as window:
        window.transcript.header.button.click()
        conversation = open_dialog(window, StyleDialog)
        conversation.tools.servers_button.click()
        dialog = open_dialog(window, ServersDialog)
        assert not dialog.isModal()
        await until(lambda: dialog.add_button.isEnabled() or dialog.trouble.text())
        yield window, conversation, dialog


def rows(dialog: ServersDialog) -> list[str]:
    return [dialog.servers.item(row).text() for row in range(dialog.servers.count())]


def fill(dialog: ServersDialog, name: str, command: str, *arguments: str) -> None:
    """Types a new server."""
    press(dialog, "Add a server")
    QTest.keyClicks(dialog.form.name, name)
    QTest.keyClicks(dialog.form.command, command)
    dialog.form.arguments.setPlainText("\n".join(arguments))


async def test_servers_are_added_changed_and_taken_out_and_the_rest_is_kept(path: Path) -> None:
    given(path, files=FILES, web=WEB, gone={"command": "x"}, odd=3)
    async with opened(ToolServerService(path)) as (_, _, dialog):
        assert rows(dialog) == ["files", "web · switched off", "gone", "odd · not used"]
        assert (dialog.form.name.text(), dialog.form.command.text()) == ("files", "npx")
        assert dialog.form.arguments.toPlainText() == "-y\nserver" and not dialog.form.url.isVisible()
        assert "KEY" in dialog.form.note.text() and "hush" not in dialog.form.note.text()
        dialog.servers.setCurrentRow(1)
        assert dialog.form.url.text() == "https://example.org/mcp" and not dialog.form.command.isVisible()
        assert "“disabled”" in dialog.form.note.text()
        QTest.keyClicks(dialog.form.url, "/v2")
        dialog.servers.setCurrentRow(3)
        assert "“odd” is no object" in dialog.form.note.text()
        dialog.servers.setCurrentRow(2)
        press(dialog, "Remove the server")
        fill(dialog, "sums", '"C:\\Program Files\\sums.exe"', "--at", "", "  C:\\a b\\ ", 'it\'s "so"')
        assert held(path)["gone"] == {"command": "x"}
        press(dialog, "Save")
        await until(lambda: not dialog.isVisible())
    assert json.loads(path.read_text())["theme"] == "dark"
    assert held(path) == {
        "files": FILES,
        "web": {"url": "https://example.org/mcp/v2", "disabled": True},
        "odd": 3,
        "sums": {"command": "C:\\Program Files\\sums.exe", "args": ["--at", "C:\\a b\\", 'it\'s "so"']},
    }


async def test_what_a_tool_may_do_is_the_users_word(path: Path) -> None:
    peer = {"command": sys.executable, "args": [str(PEER)]}
    given(
        path,
        peer=peer,
        mail={"command": "x", "kame": {"effect": "sends", "tools": {"look": "reads"}, "always": ["look"]}},
    )
    async with opened(ToolServerService(path)) as (_, _, dialog):
        fields = dialog.form.consent
        assert fields.effect.currentData() == "changes", "unless the user says otherwise"
        press(dialog, "Test the server")
        await until(lambda: fields.tool.findText("pid") >= 0)
        fields.effect.setCurrentIndex(fields.effect.findData("reads"))
        fields.effect.activated.emit(0)
        fields.tool.setCurrentText("pid")
        assert fields.own.currentData() is None and not fields.always.isChecked()
        fields.own.setCurrentIndex(fields.own.findData("changes"))
        fields.own.activated.emit(0)
        fields.always.click()
        dialog.servers.setCurrentRow(1)
        assert (
            fields.effect.currentData() == "sends" and fields.tool.currentText() == "look" and fields.always.isChecked()
        )
        fields.always.click()
        press(dialog, "Save")
        await until(lambda: not dialog.isVisible())
    assert held(path) == {
        "peer": {**peer, "kame": {"effect": "reads", "tools": {"pid": "changes"}, "always": ["pid"]}},
        "mail": {"command": "x", "kame": {"effect": "sends", "tools": {"look": "reads"}}},
    }


async def test_what_cannot_be_saved_is_said_below_the_form_and_nothing_is_lost(path: Path) -> None:
    given(path, files=FILES, odd=3)
    async with opened(ToolServerService(path)) as (_, _, dialog):
        fill(dialog, "", "x")
        dialog.servers.setCurrentRow(0)
        press(dialog, "Save")
        assert dialog.servers.currentRow() == 2 and "no name yet" in dialog.answer.text()
        QTest.keyClicks(dialog.form.name, "files")
        assert dialog.answer.text() == ""
        QTest.keyClick(dialog.form.name, Qt.Key.Key_Return)
        assert "Two servers are called “files”" in dialog.answer.text()
        QTest.keyClicks(dialog.form.name, "2")
        dialog.form.command.clear()
        QTest.keyClick(dialog.form.command, Qt.Key.Key_Backspace)
        dialog.form.command.textEdited.emit("")
        press(dialog, "Save")
        assert "“files2” has no command yet" in dialog.answer.text()
        dialog.form.address.click()
        QTest.keyClicks(dialog.form.url, "ftp://example.org")
        press(dialog, "Test the server")
        assert "http:// or https://" in dialog.answer.text()
        press(dialog, "Save")
        assert "http:// or https://" in dialog.answer.text() and dialog.isVisible()
        assert held(path) == {"files": FILES, "odd": 3}
        dialog.form.url.clear()
        QTest.keyClicks(dialog.form.url, "http://example.org/mcp")
        press(dialog, "Save")
        await until(lambda: not dialog.isVisible())
    assert held(path) == {"files": FILES, "odd": 3, "files2": {"url": "http://example.org/mcp"}}


async def test_a_broken_list_is_told_and_cannot_be_saved_over(path: Path) -> None:
    path.write_text('{"mcpServers": {')
    async with opened(ToolServerService(path), "weather") as (_, conversation, dialog):
        assert "no valid JSON" in dialog.trouble.text() and str(path) in dialog.trouble.text()
        assert dialog.trouble.isVisible() and not dialog.form.isVisible()
        assert not dialog.add_button.isEnabled() and not dialog.save_button.isEnabled()
        assert "mcp:weather" in conversation.tools.switches
        press(dialog, "Cancel")
        assert path.read_text() == '{"mcpServers": {'
        given(path, files=FILES)
        conversation.tools.servers_button.click()
        await until(dialog.save_button.isEnabled)
        assert rows(dialog) == ["files"] and not dialog.trouble.isVisible()
        path.write_text("{")
        QTest.keyClicks(dialog.form.name, "2")
        press(dialog, "Save")
        await until(lambda: "nothing was saved" in dialog.answer.text())
        assert dialog.isVisible() and dialog.save_button.isEnabled() and dialog.form.name.text() == "files2"
    assert path.read_text() == "{"


async def test_a_new_server_can_be_chosen_at_once_with_all_else_as_it_was(path: Path) -> None:
    factory = FakeFactory()
    given(path, files=FILES, weather={"command": "x"})
    async with opened(ToolServerService(path), "weather", factory=factory) as (_, conversation, dialog):
        conversation.persona.setPlainText("A cook.")
        tools = conversation.tools
        tools.switches["clock"].click()
        tools.switches["mcp:weather"].click()
        assert list(tools.switches)[3:] == ["mcp:files", "mcp:weather"]  # as the list is now, not as at the start
        fill(dialog, "sums", "sums")
        press(dialog, "Save")
        await until(lambda: "mcp:sums" in tools.switches)
        assert tools.choice == ToolChoice(("clock", "mcp:weather")) and tools.switches["mcp:sums"].isVisible()
        tools.switches["mcp:sums"].click()
        conversation.use_button.click()
        chosen = ("set_tools", ToolChoice(("clock", "mcp:weather", "mcp:sums")))
        await until(lambda: chosen in factory.session.calls)
        assert conversation.style_choice.persona == "A cook."


async def test_a_renamed_server_stays_chosen_and_a_removed_one_does_not(path: Path) -> None:
    factory, settings = FakeFactory(), Settings(tools="clock mcp:a mcp:b", path=path.with_name("settings.json"))
    given(path, a=FILES, b={"command": "x"})
    async with opened(ToolServerService(path), "a", "b", factory=factory, settings=settings) as (
        window,
        conversation,
        dialog,
    ):
        assert conversation.tools.choice.names == ("clock", "mcp:a", "mcp:b")
        conversation.tools.switches["calculator"].click()
        QTest.keyClicks(dialog.form.name, "2")
        dialog.servers.setCurrentRow(1)
        press(dialog, "Remove the server")
        press(dialog, "Save")
        await until(lambda: ("set_tools", ToolChoice(("clock", "mcp:a2"))) in factory.session.calls)
        assert conversation.tools.choice.names == ("calculator", "clock", "mcp:a2")
        assert list(conversation.tools.switches)[3:] == ["mcp:a2"]
        assert settings.tools == "clock mcp:a2" and window.manager.wanted.tools.names == ("clock", "mcp:a2")
    assert held(path) == {"a2": FILES}


async def test_a_server_that_is_changed_in_use_is_chosen_again(path: Path) -> None:
    factory = FakeFactory()
    given(path, a=FILES, b={"command": "x"})
    async with opened(ToolServerService(path), "a", "b", factory=factory, settings=Settings(tools="mcp:a")) as (
        _,
        _,
        dialog,
    ):
        QTest.keyClicks(dialog.form.command, "2")
        press(dialog, "Save")
        await until(lambda: ("set_tools", ToolChoice(("mcp:a",))) in factory.session.calls)
        factory.session.calls.clear()
        await until(lambda: not dialog.isVisible())
        dialog.open_refreshed()
        await until(dialog.save_button.isEnabled)
        dialog.servers.setCurrentRow(1)
        QTest.keyClicks(dialog.form.command, "2")
        press(dialog, "Save")
        await until(lambda: held(path)["b"]["command"] == "x2")
        await until(lambda: not dialog.isVisible())
        assert not factory.session.calls, "the other one is not in use"


async def test_a_server_that_is_not_listed_any_more_can_be_switched_off(path: Path) -> None:
    async with opened(ToolServerService(path), settings=Settings(tools="mcp:gone")) as (_, conversation, _):
        switch = conversation.tools.switches["mcp:gone"]
        assert switch.isChecked() and "not listed" in switch.text()
        switch.click()
        assert conversation.tools.choice.names == ()


def test_names_move_all_at_once() -> None:
    choice = ToolChoice(("clock", "mcp:a", "mcp:b", "mcp:c", "a"), ("/x",))
    moved = with_servers_moved(choice, {"a": "b", "b": "a", "c": ""})
    assert moved == ToolChoice(("clock", "mcp:b", "mcp:a", "a"), ("/x",))


async def test_arguments_that_are_no_lines_are_shown_and_left_alone(path: Path) -> None:
    code = {"command": "python", "args": ["-c", "a = 1\nprint(a)", ""]}
    given(path, code=code)
    async with opened(ToolServerService(path)) as (_, _, dialog):
        assert dialog.form.arguments.isReadOnly() and "line breaks" in dialog.form.note.text()
        QTest.keyClicks(dialog.form.command, "3")
        press(dialog, "Save")
        await until(lambda: not dialog.isVisible())
    assert held(path) == {"code": {**code, "command": "python3"}}


@pytest.mark.slow
async def test_a_real_server_is_tried_before_it_is_saved(path: Path) -> None:
    given(path, peer={"command": "nothing-of-the-kind", "env": {"PEER_SECRET": "hush"}})
    async with opened(ToolServerService(path)) as (_, _, dialog):
        press(dialog, "Test the server")
        assert "Testing “peer”" in dialog.answer.text() and dialog.stop_button.isVisible()
        await until(lambda: "there is no program “nothing-of-the-kind”" in dialog.answer.text(), 20)
        assert dialog.test_button.isVisible() and not dialog.stop_button.isVisible()
        dialog.form.command.clear()
        QTest.keyClicks(dialog.form.command, sys.executable)
        dialog.form.arguments.setPlainText(str(PEER))
        assert dialog.answer.text() == ""
        press(dialog, "Test the server")
        offer = "“peer” works. It offers 6 tools: add, fail, wait, die, näme with spaces, pid."
        await until(lambda: dialog.answer.text() == offer, 20)
        assert held(path)["peer"]["command"] == "nothing-of-the-kind"


async def test_a_server_that_never_gets_ready_is_given_up_when_the_dialog_closes(path: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = f"import pathlib, sys; pathlib.Path({str(started)!r}).touch(); sys.stdin.buffer.read()"
    given(path, mute={"command": sys.executable, "args": ["-c", code]})
    async with opened(ToolServerService(path)) as (_, _, dialog):
        press(dialog, "Test the server")
        await until(started.exists, 20)
        press(dialog, "Cancel")
        await until(lambda: not any(task.get_name() == "mcp mute" for task in asyncio.all_tasks()))


async def test_a_server_under_test_does_not_outlive_the_window(path: Path, tmp_path: Path) -> None:
    started = tmp_path / "started"
    code = (
        "import os, pathlib, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
        f"pathlib.Path({str(started)!r}).write_text(str(os.getpid())); time.sleep(300)"
    )
    given(path, deaf={"command": sys.executable, "args": ["-c", code]})  # heeds neither silence nor a polite end
    async with opened(ToolServerService(path)) as (window, _, dialog):
        press(dialog, "Test the server")
        await until(lambda: started.exists() and started.read_text(), 20)
        window.close()
        await window.finish()
        with pytest.raises(ProcessLookupError):
            os.kill(int(started.read_text()), 0)


@pytest.mark.parametrize("how", ["stop", "close", "turn", "edit", "window"])
async def test_a_test_is_broken_off(how: str) -> None:
    service = FakeServers()
    async with opened(service) as (window, _, dialog):
        press(dialog, "Test the server")
        await until(lambda: dialog.stop_button.isVisible())
        await asyncio.sleep(0)
        match how:
            case "stop":
                press(dialog, "Stop testing")
                assert dialog.answer.text() == "Stopped." and dialog.test_button.hasFocus()
            case "close":
                QTest.keyClick(dialog, Qt.Key.Key_Escape)
            case "turn":
                dialog.servers.setCurrentRow(1)
            case "edit":
                QTest.keyClicks(dialog.form.name, "x")
            case "window":
                window.close()
        await until(lambda: service.cancelled == 1)
        assert "Asking" not in dialog.answer.text() or not dialog.isVisible()


async def test_without_a_list_there_is_no_button() -> None:
    async with shown(FakeFactory(), service=FakeBackendService()) as window:
        window.transcript.header.button.click()
        assert not open_dialog(window, StyleDialog).tools.servers_button.isVisible()
