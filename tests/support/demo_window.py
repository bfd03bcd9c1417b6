"""Runs the swap demo without a user, with real components, and writes its chart and its report.

    python -m tests.support.demo_window FOLDER

Prints, as JSON, the network addresses that this process has looked up or connected to.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication, QMainWindow
from qasync import QEventLoop

from app import main as compose
from app.audio.devices import portaudio_library
from app.demo.base import DemoFrontEnd, DemoOrder
from app.demo.service import DemoService
from app.gui.demo.controller import DemoController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.session_manager import SessionManager
from app.gui.window.daemon_executor import DaemonExecutor
from app.services.backend_service import BackendService


class OneAnswerMode(DemoService):
    """Offers the quicker answer mode alone, to keep the test short."""

    async def frontends(self) -> tuple[DemoFrontEnd, ...]:
        return (DemoFrontEnd("cascade", "Cascade", ("thinking",)),)


async def run(folder: Path) -> int:
    """Runs the demo; returns 0 if it was completed."""
    window = QMainWindow()
    window.show()
    events: list[Any] = []
    streams: set[int] = set()

    def on_event(event: Any) -> None:
        events.append(event)
        streams.add(portaudio_library.open_streams())

    manager = SessionManager(compose.device_session, on_event, window)
    background = BackgroundTasks(window)
    service = OneAnswerMode(compose.session, BackendService(), compose.USER_ERRORS)
    demo = DemoController(service, manager, on_event, background, window)
    finished: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    demo.failed.connect(lambda sentence: print(sentence, file=sys.stderr))
    demo.run_alone(DemoOrder((), True, str(folder / "chart.png"), str(folder / "report.json")))
    demo.finished.connect(lambda _: finished.set_result(None))
    await finished
    while window.isVisible():
        await asyncio.sleep(0.05)
    await demo.close()
    await asyncio.gather(manager.close(5.0), background.close())
    started = sum(type(event).__name__ == "SessionStarted" for event in events)
    (folder / "seen.json").write_text(
        json.dumps({"sessions": started, "most_streams": max(streams), "streams": portaudio_library.open_streams()}),
        "utf-8",
    )
    return 0 if demo.written else 1


def main(folder: Path) -> int:
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
    loop = QEventLoop(app)
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    with loop:
        code = loop.run_until_complete(run(folder))
    print(json.dumps(sorted(addresses)))
    return code


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
