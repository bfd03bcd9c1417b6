"""Runs the swap demo as nobody attends it: real parts, the keeper, the panel. Writes its chart and its report.

    python -m tests.support.demo_window FOLDER

Prints, as JSON, which addresses this process has asked for or connected to.
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
from app.audio.io import portaudio_library
from app.demo.base import DemoFrontEnd, DemoOrder
from app.demo.service import DemoService
from app.gui.demo.controller import DemoController
from app.gui.shell.daemon_executor import DaemonExecutor
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.session_manager import SessionManager
from app.services.backend_service import BackendService


class OneAnswerMode(DemoService):
    """The quicker manner alone: for a test a minute is long."""

    async def frontends(self) -> tuple[DemoFrontEnd, ...]:
        """See `DemoService.frontends`."""
        return (DemoFrontEnd("cascade", "Cascade", ("thinking",)),)


async def run(folder: Path) -> int:
    """The tour, from start to chart; 0 when it went to its end."""
    window = QMainWindow()
    window.show()
    events: list[Any] = []
    streams: set[int] = set()

    def hear(event: Any) -> None:
        events.append(event)
        streams.add(portaudio_library.open_streams())

    manager = SessionManager(compose.device_session, hear, window)
    background = BackgroundTasks(window)
    service = OneAnswerMode(compose.session, BackendService(), compose.USER_ERRORS)
    room = DemoController(service, manager, background, window)
    over: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    room.failed.connect(lambda sentence: print(sentence, file=sys.stderr))
    room.run_alone(DemoOrder((), True, str(folder / "chart.png"), str(folder / "report.json")))
    room.finished.connect(lambda _: over.set_result(None))
    await over
    while window.isVisible():
        await asyncio.sleep(0.05)
    await room.close()
    await asyncio.gather(manager.close(5.0), background.close())
    started = sum(type(event).__name__ == "SessionStarted" for event in events)
    (folder / "seen.json").write_text(
        json.dumps({"sessions": started, "most_streams": max(streams), "streams": portaudio_library.open_streams()}),
        "utf-8",
    )
    return 0 if room.written else 1


def main(folder: Path) -> int:
    """Sets the application and its loop up, and watches the network."""
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
