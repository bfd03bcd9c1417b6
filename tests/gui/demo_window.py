"""Takes a picture of the window in the middle of a talk: `python -m tests.gui.demo_window out.png`.

`--dark`, `--size 900x600`, and `--scene talk|loading|failed|duplex|long|ollama` choose what is seen.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.conversation import events as e
from app.gui.choice import WindowChoices
from app.gui.look import Look
from app.gui.window import MainWindow
from app.session.errors import UserError
from app.settings import Settings
from tests.gui.fakes import FakeFactory, FakeSession, two_devices

NO_OLLAMA = (
    "Ollama did not answer at http://localhost:11434. Start Ollama, or pick another brain above; the talk "
    "goes on with what there is."
)
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
    ]  # fmt: skip


def hearing(at: float) -> list[e.Event]:
    """The user speaks again, with words that are not settled yet."""
    return [
        e.AssistantEnded(at, 3, False),
        e.UserStarted(at + 1, 4),
        e.TranscriptPartial(
            at + 2, 4, "And is it true that the ski lift goes up to", "almost four thousand", at
        ),
        e.OracleRequested(at + 2, 6, 4, *MODEL, "And is it true that the ski lift goes up to", False),
    ]


async def play(window: MainWindow, factory: FakeFactory, scene: str) -> None:
    """Brings the window into the scene."""
    window.begin()
    if scene in ("loading", "failed"):
        await asyncio.sleep(0.3)
        return
    while window.keeper.session is None:
        await asyncio.sleep(0.02)
    session: FakeSession = factory.session
    for event in talk():
        session.say(event)
        if isinstance(event, e.LevelMeasured):
            window.pump.flush()
    if scene in ("duplex", "long", "ollama"):
        session.say(*hearing(12.0))
    if scene == "long":
        window.keeper.start(window.keeper.wanted)
        while len(factory.sessions) < 2 or window.keeper.session is None:
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
        if wanted.scene == "loading":
            factory.gate = asyncio.Event()
        if wanted.scene == "failed":
            factory.outcomes = [UserError("No microphone was found. Plug one in, then try again.")]
        window = MainWindow(factory, settings, list_devices=two_devices, choices=WindowChoices())
        window.resize(width, height)
        window.show()

        async def scene() -> None:
            await play(window, factory, wanted.scene)
            window.grab().save(str(wanted.picture))
            await window.finish()

        loop.run_until_complete(scene())
        loop.close()


if __name__ == "__main__":
    main()
