"""Runs the demo with nobody there, with real components, and writes its picture and its report.

    python -m tests.support.demo_window FOLDER QUESTIONS

Prints, as JSON, the network addresses that this process has looked up or connected to.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication, QMainWindow
from qasync import QEventLoop

from app import main as compose
from app.audio.devices import portaudio_library
from app.demo import service as demo_service
from app.demo.base import DemoOrder
from app.gui.demo.controller import DemoController
from app.gui.design.theme import apply_theme
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.gui.window.daemon_executor import DaemonExecutor


async def run(folder: Path, questions: int) -> int:
    """Runs the demo; returns 0 if it was completed."""
    window = QMainWindow()
    window.show()
    manager = SessionManager(compose.device_session, SessionModel(window), window)
    background = BackgroundTasks(window)
    demo_service.QUESTIONS = demo_service.QUESTIONS[:questions]
    service = compose.make_demo_service(aloud=True)
    demo = DemoController(service, manager, background, window, talks=lambda: False)
    demo.failed.connect(lambda sentence: print(sentence, file=sys.stderr))
    demo.begin(DemoOrder((), str(folder / "figures.png"), str(folder / "report.json"), full=False))
    most = 0
    while window.isVisible():
        await asyncio.sleep(0.05)
        most = max(most, portaudio_library.open_streams())
    await demo.close()
    await asyncio.gather(manager.close(5.0), background.close())
    seen = {"most_streams": most, "streams": portaudio_library.open_streams()}
    (folder / "seen.json").write_text(json.dumps(seen), "utf-8")
    return 0 if demo.written else 1


def main(folder: Path, questions: int) -> int:
    """Runs the demo in an event loop and records network addresses."""
    addresses: set[str] = set()

    def watch(event: str, values: tuple[Any, ...]) -> None:
        if event == "socket.connect" and isinstance(values[1], tuple):
            addresses.add(str(values[1][0]))
        elif event == "socket.getaddrinfo" and values[0]:
            addresses.add(str(values[0]))

    sys.addaudithook(watch)
    app = QApplication(["kame-desktop"])
    app.setQuitOnLastWindowClosed(False)
    apply_theme(app, "dark")
    loop = QEventLoop(app)
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    with loop:
        code = loop.run_until_complete(run(folder, questions))
    print(json.dumps(sorted(addresses)))
    return code


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), int(sys.argv[2])))
