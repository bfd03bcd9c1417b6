"""What the window is told by other processes, and what it reads from its own settings."""

import asyncio
import contextlib
import os
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

from hypothesis import strategies as st
from PySide6.QtWidgets import QApplication

from app.gui.models import favourites
from app.gui.oracle import card
from app.gui.shell.instance import Instance, Order
from app.platform import single_instance
from app.settings.kept_state import WindowState, strings
from app.untrusted.text import harmless
from tests.fuzz.boundary import Boundary
from tests.fuzz.mutations import changed_bytes, json_bytes

_FAVOURITES = [{"provider": "ollama", "model": "m", "base_url": ""}, {"provider": "openai"}]
_STATES = [
    {"version": 1, "favourites": _FAVOURITES, "recent_commands": ["panes:oracle", "talk:mute"], "model_colours": ["m"]},
    {"version": 1, "layout": {"window": "AAAA", "shown": []}, "first_run_done": True},
]
_ARGUMENTS = [{"expression": "2 + 2", "zone": 5}]


async def _state(data: bytes, folder: Path) -> str:
    """What the window has kept from its last start."""
    path = folder / "window.json"
    path.write_bytes(data)
    state = WindowState.load(path)
    for choice in favourites.read_rows(state.favourites, ("ollama", "openai")):
        assert choice.model == harmless(choice.model)
    strings(state.recent_commands + state.model_colours)
    state.save()
    assert WindowState.load(path) == state
    return state.notice


async def _arguments(data: bytes, folder: Path) -> str:
    """A tool's arguments on a card."""
    card._arguments(data.decode("utf-8", "surrogateescape"))
    return ""


@contextlib.contextmanager
def _runtime_folder(folder: Path) -> Iterator[Path]:
    with mock.patch.dict(os.environ, {"XDG_RUNTIME_DIR": str(folder)}):
        yield Path(single_instance.make_folder())


async def _command(data: bytes, folder: Path) -> str:
    """A line that another process sends to the window's socket."""
    app = QApplication.instance() or QApplication(["kame-fuzz"])
    orders: list[str] = []

    def obey(order: Order) -> None:
        orders.append(order.command)
        order.answer("" if len(orders) % 2 else f"“{order.command}” can't be done.")

    with _runtime_folder(folder):
        instance = Instance()
        instance.commanded.connect(obey)
        assert instance.listen()
        with socket.socket(socket.AF_UNIX) as one:
            one.setblocking(False)
            one.connect(single_instance.address())
            with contextlib.suppress(BlockingIOError, ConnectionError):
                one.send(data)
            if len(data) % 2:
                one.shutdown(socket.SHUT_WR)
            until = time.monotonic() + 0.1
            while time.monotonic() < until:
                app.processEvents()
                await asyncio.sleep(0)
                with contextlib.suppress(BlockingIOError, ConnectionError):
                    if len(one.recv(10_000)) < 10_000:
                        break
        instance.close()
        instance.deleteLater()
        app.processEvents()
    assert all(word in single_instance.WORDS for word in orders), orders
    return ""


async def _answer(data: bytes, folder: Path) -> str:
    """What answers in the running window's place, to a command of the user."""
    with _runtime_folder(folder), socket.socket(socket.AF_UNIX) as server:
        server.bind(single_instance.address())
        server.listen()

        def answer() -> None:
            with server.accept()[0] as one, contextlib.suppress(ConnectionError):
                one.recv(1_000)
                one.sendall(data)

        try:
            _, told = await asyncio.gather(
                asyncio.to_thread(answer), asyncio.to_thread(single_instance.tell, "mute", 1.0)
            )
        except (single_instance.NoAnswer, single_instance.NotRunning) as error:
            return str(error)
    return f"{harmless(told.sentence)}." if told.sentence else ""


_LINES = [b"mute 123.5\n", b"raise\n", b"press 1e5\n", b"toggle nan\n", b"unmute", b"mute " + b"9" * 300 + b"\n"]
BOUNDARIES: tuple[Boundary, ...] = (
    Boundary("window-state", json_bytes(_STATES), _state),
    Boundary("tool-arguments", json_bytes(_ARGUMENTS), _arguments),
)
if sys.platform != "win32":
    BOUNDARIES += (
        Boundary("command", changed_bytes(_LINES) | st.binary(max_size=400), _command),
        Boundary(
            "command-answer",
            json_bytes([{"ok": True}, {"ok": False, "error": "No."}]).map(lambda line: line + b"\n"),
            _answer,
        ),
    )
