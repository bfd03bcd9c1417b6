"""Takes a picture of the window in the middle of a talk: `python -m tests.gui.pictures.window out.png`.

`--dark`, `--size 900x600`, and `--scene talk|loading|failed|duplex|long|ollama|side|compatible` choose what is seen;
the scenes `key`, `models`, `secondary`, `routes`, `style`, `prices`, `servers` and `address` are of the dialogs alone.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from qasync import QEventLoop

from app.conversation import events as e
from app.gui.backends.price_table import WRITTEN
from app.gui.shell.services import WindowServices
from app.gui.shell.window import MainWindow
from app.gui.state.choice import WindowChoices
from app.gui.widgets.palette import Look
from app.session.control import BackendChoice, Style, ToolChoice
from app.session.errors import UserError
from app.settings.declarations import Settings
from tests.gui.fakes import (
    PROVIDERS,
    FakeBackendService,
    FakeFactory,
    FakePrices,
    FakeServers,
    FakeSession,
    two_devices,
)

NO_OLLAMA = (
    "Ollama did not answer at http://localhost:11434. Start Ollama, or pick another brain above; the talk "
    "goes on with what there is."
)
DIALOGS = ("key", "models", "secondary", "routes", "style", "prices", "servers", "address")
MODEL = ("embedded", "qwen2.5-0.5b")


def talk(at: float = 0.0) -> list[e.Event]:
    """A talk in which the brain is asked three times, speaks, is interrupted, and is asked again."""
    first = "The highest mountain in Europe is Mont Blanc, on the border of France and Italy."
    second = (
        "The highest mountain in Europe is Mount Elbrus in the Caucasus, 5,642 metres high. If the Caucasus "
        "isn't counted in, it is Mont Blanc with 4,806 metres."
    )
    return [
        e.SessionStarted(at, "cascade", "whisper base.en", *MODEL, "thinking"),
        e.UserStarted(at + 1.0, 1),
        e.TranscriptPartial(at + 1.8, 1, "What is the", "highest mount", at + 1.7),
        e.OracleRequested(at + 1.8, 1, 1, *MODEL, "What is the highest mount", False),
        e.TranscriptPartial(at + 2.4, 1, "What is the highest mountain in", "Europe", at + 2.3),
        e.OracleDelta(at + 2.1, 1, first),
        e.OracleRequested(at + 2.4, 2, 1, *MODEL, "What is the highest mountain in Europe", False),
        e.TranscriptFinal(at + 3.2, 1, "What is the highest mountain in Europe, and how high is it?", at),
        e.UserEnded(at + 3.2, 1, at + 2.9, "button"),
        e.OracleEnded(at + 3.2, 2, "superseded", 0),
        e.OracleRequested(at + 3.2, 3, 1, *MODEL, "What is the highest mountain in Europe and how", True),
        e.OracleDelta(at + 3.5, 3, second),
        e.OracleSuperseded(at + 3.5, 1, 3),
        e.AssistantStarted(at + 3.6, 1, 3),
        e.AssistantSaid(at + 6.0, 1, "The highest mountain in Europe is Mount Elbrus in the Caucasus,", 3),
        e.OracleEnded(at + 5.0, 3, "complete", 26),
        e.UserBackchannel(at + 6.1, 2, "Mhm."),
        e.AssistantSaid(at + 7.5, 1, "5,642 metres high.", 3),
        e.UserStarted(at + 8.0, 3),
        e.AssistantEnded(at + 8.3, 1, True),
        e.TranscriptFinal(at + 9.4, 3, "And who climbed it first?", at + 9.3),
        e.UserEnded(at + 9.5, 3, at + 9.2, "button"),
        e.OracleRequested(at + 9.5, 4, 3, "ollama", "gemma3:4b", "And who climbed it first", True),
        e.OracleEnded(at + 9.6, 4, "failed", 0),
        e.Failure(at + 9.6, "backend", NO_OLLAMA),
        e.OracleRequested(at + 9.8, 5, 3, *MODEL, "And who climbed it first", True),
        e.OracleDelta(at + 10.2, 5, "The lower, eastern summit was reached in 1829 by Kilar Khashirov."),
        e.AssistantStarted(at + 10.3, 3, 5),
        e.AssistantSaid(at + 11.5, 3, "The lower, eastern summit was reached", 5),
        e.LevelMeasured(at + 11.5, -34.0, -9.0),
        e.LevelMeasured(at + 11.6, -41.0, -16.0),
    ]


def hearing(at: float) -> list[e.Event]:
    """The user speaks again, with words that are not settled yet."""
    return [
        e.AssistantEnded(at, 3, False),
        e.UserStarted(at + 1, 4),
        e.TranscriptPartial(at + 2, 4, "And is it true that the ski lift goes up to", "almost four thousand", at),
        e.OracleRequested(at + 2, 6, 4, *MODEL, "And is it true that the ski lift goes up to", False),
    ]


CLAUDE, GPT = ("Anthropic", "claude-opus-4-1"), ("OpenAI", "gpt-4.1-mini")


def counted(revision: int, backend: tuple[str, str], cost: float | None, secondary: bool = False) -> e.OracleCounted:
    """What a revision took."""
    return e.OracleCounted(
        12.0, revision, *backend, 412, 38, 256 if secondary else 0, True, cost, 612.0, 7.5, 400.0, secondary
    )


def side_by_side(at: float) -> list[e.Event]:
    """Two brains answer; the router has chosen one, a tool is used, and the voice is handed over."""
    words = "How many days are there until the first of March, and is this a leap year"
    return [
        e.AssistantEnded(at, 3, False),
        e.BackendChanged(at, *CLAUDE),
        e.SecondaryChanged(at, *GPT),
        e.UserStarted(at + 1, 4),
        e.BackendRouted(at + 1.9, 4, "reasoning", 0.82, *CLAUDE, "two questions in one"),
        e.OracleRequested(at + 2, 6, 4, *CLAUDE, "How many days are there until", False),
        e.OracleRequested(at + 2, 7, 4, *GPT, "How many days are there until", False, True),
        e.OracleDelta(at + 2.5, 6, "It depends on"),
        e.OracleDelta(at + 2.6, 7, "There are 100 days until"),
        e.OracleEnded(at + 3, 7, "superseded", 5),
        counted(7, GPT, 0.0002, True),
        e.TranscriptFinal(at + 4, 4, words + "?", at + 4),
        e.UserEnded(at + 4, 4, at + 3.8, "button"),
        e.OracleRequested(at + 4, 8, 4, *CLAUDE, words, True),
        e.OracleRequested(at + 4, 9, 4, *GPT, words, True, True),
        e.OracleDelta(at + 4.3, 9, "There are 100 days until the first of March. This is not a leap year."),
        e.OracleEnded(at + 4.6, 9, "complete", 15),
        counted(9, GPT, 0.0002, True),
        e.ToolCalled(at + 4.3, 8, "clock", "{}"),
        e.ToolReturned(at + 4.4, 8, "clock", True, "Saturday, 21 November 2026, 18:20", 0.01),
        e.ToolCalled(at + 4.5, 8, "calculator", '{"expression": "9 + 31 + 31 + 28 + 1"}'),
        e.ToolReturned(at + 4.6, 8, "calculator", True, "100", 0.02),
        e.OracleSuperseded(at + 4.8, 6, 8),
        e.OracleEnded(at + 4.8, 6, "superseded", 3),
        counted(6, CLAUDE, 0.0058),
        e.OracleDelta(at + 4.8, 8, "One hundred days, and no: the next leap year is 2028."),
        e.AssistantStarted(at + 5, 4, 8),
        e.AssistantSaid(at + 6, 4, "One hundred days, and no:", 8),
        e.OracleEnded(at + 6, 8, "complete", 10),
        counted(8, CLAUDE, 0.0091),
        e.BackendChanged(at + 6.2, *GPT, "handed"),
        e.OracleHandedOver(at + 6.2, 9),
        e.OracleSuperseded(at + 6.2, 8, 9),
        e.SecondaryChanged(at + 6.2, *CLAUDE),
        e.AssistantCorrected(at + 6.5, 4, 9, "continued"),
        e.AssistantSaid(at + 7, 4, "this is not a leap year.", 9),
        e.BudgetChanged(at + 7, "slow", 0.0153, 0.02),
    ]


async def open_dialog(window: MainWindow, scene: str) -> QWidget:
    """Opens the scene's dialog, with something in it."""
    dialogs = window.dialogs
    if scene == "key":
        dialogs.open_backend(BackendChoice("anthropic", "claude-opus-4-1"))
        await asyncio.sleep(0.1)
        assert dialogs.backend is not None
        dialogs.backend.key.setText("sk-not-a-key-at-all")
        dialogs.backend.test_button.click()
        await asyncio.sleep(0.1)
        return dialogs.backend
    if scene == "models":
        dialogs.open_backend(BackendChoice("ollama", "gemma3:4b", "http://127.0.0.1:11434"))
        assert dialogs.backend is not None
        service = window.lists._service
        assert isinstance(service, FakeBackendService)
        service.gate = asyncio.Event()
        dialogs.backend.pull.name.setText("gemma3:12b-it-qat")
        dialogs.backend.pull.fetch_button.click()
        await asyncio.sleep(0.1)
        return dialogs.backend
    if scene == "secondary":
        dialogs.open_secondary(BackendChoice("openai", "gpt-4.1"), BackendChoice())
        assert dialogs.secondary is not None
        return dialogs.secondary
    if scene == "routes":
        dialogs.open_routes()
        assert dialogs.routes is not None
        return dialogs.routes
    if scene in ("servers", "address"):
        dialogs.open_servers()
        assert dialogs.servers is not None
        while dialogs.servers.servers.count() == 0:
            await asyncio.sleep(0.02)
        dialogs.servers.servers.setCurrentRow(0 if scene == "servers" else 1)
        dialogs.servers._say(
            "“files” works. It offers 12 tools: read_file, write_file, edit_file, list_directory, directory_tree, "
            "move_file, search_files, get_file_info, and 4 more."
            if scene == "servers"
            else "The MCP server “weather” cannot be reached at https://weather.example (ConnectError): see that it runs."
        )
        return dialogs.servers
    if scene == "prices":
        dialogs.open_prices(BackendChoice("compatible", "Qwen/Qwen3-30B-A3B-Instruct"))
        assert dialogs.prices is not None
        dialogs.prices.table.setData(dialogs.prices.table.index(1, WRITTEN), "1,60 or so")
        return dialogs.prices
    dialogs.open_conversation(Style("", 0.7, "short"), ToolChoice(("calculator", "files"), ("/home/ann/Recipes",)), 0.5)
    assert dialogs.conversation is not None
    dialogs.show_cost(BackendChoice("compatible", "Qwen/Qwen3-30B-A3B-Instruct"))
    return dialogs.conversation


async def play(window: MainWindow, factory: FakeFactory, scene: str) -> None:
    """Brings the window into the scene."""
    window.begin()
    if scene in ("loading", "failed"):
        await asyncio.sleep(0.3)
        return
    while window.manager.session is None:
        await asyncio.sleep(0.02)
    session: FakeSession = factory.session
    for event in talk():
        session.say(event)
        if isinstance(event, e.LevelMeasured):
            window.pump.flush()
    if scene == "side":
        session.say(*side_by_side(12.0))
        window.setup.show_backend(BackendChoice("openai", "gpt-4.1-mini"))
        style, tools = Style("You are a patient teacher.", 0.7, "short"), ToolChoice(("calculator", "clock"))
        window.dialogs.conversation_set.emit(style, tools, 0.02, False)
    if scene in ("duplex", "long", "ollama"):
        session.say(*hearing(12.0))
    if scene == "long":
        window.manager.start(window.manager.wanted)
        while len(factory.sessions) < 2 or window.manager.session is None:
            await asyncio.sleep(0.02)
        factory.session.say(*talk(), *hearing(12.0))
    await asyncio.sleep(0.2)


def dark_palette() -> QPalette:
    """A palette like that of a dark desktop."""
    palette = QPalette(QColor("#2b2b2e"))
    palette.setColor(QPalette.ColorRole.Base, QColor("#1e1e20"))
    palette.setColor(QPalette.ColorRole.Text, QColor("#eeeeee"))
    palette.setColor(QPalette.ColorRole.Highlight, QColor("#3584e4"))
    return palette


def main() -> None:
    """Parses the command line and takes the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", type=Path)
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--size", default="1180x760")
    parser.add_argument("--scene", default="talk")
    wanted = parser.parse_args()
    width, height = (int(part) for part in wanted.size.split("x"))

    app = QApplication([])
    app.styleHints().setColorScheme(Qt.ColorScheme.Dark if wanted.dark else Qt.ColorScheme.Light)
    if wanted.dark and not Look.of(app.palette()).dark:
        app.setPalette(dark_palette())  # a platform without a colour scheme of its own
    loop = QEventLoop(app)
    asyncio.set_event_loop(loop)
    factory = FakeFactory(progress=("loading the ears (whisper base.en, 145 MB)",))
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings.load(Path(folder) / "settings.json")
        settings.duplex = wanted.scene == "duplex"
        if wanted.scene == "ollama":
            settings.provider, settings.ollama_model = "ollama", "gemma3:4b-it-qat"
            settings.microphone = "Microphone that was unplugged a week ago"
        if wanted.scene == "compatible":
            settings.provider, settings.compatible_model = "compatible", "Qwen/Qwen3-30B-A3B-Instruct"
            settings.compatible_url = "http://192.168.1.20:8000/v1"
        if wanted.scene in ("routes", "router"):
            settings.provider = "router"
            settings.routes = (
                '{"stem": {"provider": "anthropic", "model": "claude-opus-4-1"}, "creative": {"provider": "ollama",'
                ' "model": "gemma3:4b", "base_url": "http://127.0.0.1:11434"}}'
            )
        if wanted.scene == "loading":
            factory.gate = asyncio.Event()
        if wanted.scene == "failed":
            factory.outcomes = [UserError("No microphone was found. Plug one in, then try again.")]
        choices = WindowChoices(
            frontends=(("cascade", "Cascade"), ("kame", "KAME"), ("moshi", "Moshi")),
            backends=PROVIDERS,
            mcp_servers=("weather",),
        )
        lists = {"ollama": ("gemma3:4b", "qwen3:8b")}
        service = FakeBackendService(
            lists=lists, places={"anthropic": "keyring"}, prices=FakePrices(), tool_servers=FakeServers()
        )
        window = MainWindow(
            factory, settings, WindowServices(list_devices=two_devices, choices=choices, service=service)
        )
        window.resize(width, height)
        window.show()

        async def scene() -> None:
            await play(window, factory, wanted.scene)
            picture: QWidget = window
            if wanted.scene in DIALOGS:
                picture = await open_dialog(window, wanted.scene)
                await asyncio.sleep(0.2)
            picture.grab().save(str(wanted.picture))
            await window.finish()

        loop.run_until_complete(scene())
        loop.close()


if __name__ == "__main__":
    main()
