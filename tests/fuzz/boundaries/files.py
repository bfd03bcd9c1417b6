"""Files that a user or another program has written: settings, lists, conversations, recordings, documents."""

import asyncio
import contextlib
import functools
import io
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from app.backend.prices import read_users, write_prices
from app.cli.parser import main as command_line
from app.conversation.event_json import to_json
from app.history import importing
from app.history.base import Setup
from app.history.export import export
from app.history.store import HistoryStore
from app.services.documents import read_document
from app.session.control import UserError
from app.session.recorder import EVENTS_FILE
from app.settings.storage import read_stored, write_stored
from app.tools.base import ToolError
from app.tools.server_list import change_list, read_list
from app.untrusted.text import harmless
from tests.fuzz.boundary import Boundary
from tests.fuzz.mutations import changed_bytes, json_bytes, lines_of
from tests.support.history import MOON, TEA, talk

_SETTINGS = [
    {"version": 1, "provider": "ollama", "model": "m", "volume": 0.5, "language": "en"},
    {"version": 2, "provider": "openai", "openai_model": "x"},
]


async def _settings(data: bytes, folder: Path) -> str:
    path = folder / "settings.json"
    path.write_bytes(data)
    stored = await asyncio.to_thread(read_stored, path)
    await asyncio.to_thread(write_stored, path, stored.values, unread=stored.unread)
    assert (await asyncio.to_thread(read_stored, path)).values == stored.values
    return stored.notice


_PRICES = [
    {
        "version": 1,
        "models": {"gpt-x": {"in": 1.5, "cached": 0.5, "out": 3}, "n": {"in": 0, "out": "2"}},
        "note": "mine",
    }
]


async def _prices(data: bytes, folder: Path) -> str:
    path = folder / "prices.json"
    path.write_bytes(data)
    table, told = await asyncio.to_thread(read_users, path)
    await asyncio.to_thread(write_prices, path, table)
    return told


_FILES = {"command": "npx", "args": ["-y", "x"], "env": {"TOKEN": "t"}}
_SSE = {"type": "sse", "url": "http://127.0.0.1:9/", "headers": {"A": "b"}}
_SERVERS = [
    {"mcpServers": {"files": _FILES, "web": {"url": "http://127.0.0.1:9/mcp"}}},
    {"mcpServers": {"off": {"command": "x", "disabled": True}, "sse": _SSE}},
]


async def _servers(data: bytes, folder: Path) -> str:
    path = folder / "mcp.json"
    path.write_bytes(data)
    listed = await asyncio.to_thread(read_list, path)
    try:
        await asyncio.to_thread(change_list, path, listed.entries[:1])
    except ToolError as error:
        return str(error)
    return listed.notice


_EVENTS = talk(MOON, TEA)
_LINES = [b'{"format": "kame-recording", "version": 1}', *(to_json(event).encode() for event in _EVENTS)]


@functools.cache
def _exported() -> list[bytes]:
    """Returns a conversation as the app exports it."""

    async def make(folder: Path) -> bytes:
        store = HistoryStore(folder / "h.sqlite3", None)
        log = store.begin("one", Setup())
        for event in _EVENTS:
            log.put(event)
        log.end()
        [view] = await store.conversations()
        kept = await store.talks("one")
        await store.close()
        path = folder / "one.json"
        export(path, "json", view, kept)
        return path.read_bytes()

    with tempfile.TemporaryDirectory() as folder:
        return [asyncio.run(make(Path(folder)))]


def _values(texts: list[bytes]) -> list[Any]:
    return [json.loads(text) for text in texts]


async def _import(path: Path) -> str:
    try:
        await asyncio.to_thread(importing.read, path)
    except UserError as error:
        return str(error)
    return ""


async def _conversation(data: bytes, folder: Path) -> str:
    path = folder / "talk.json"
    path.write_bytes(data)
    return await _import(path)


async def _replay(data: bytes, folder: Path) -> str:
    """The command `replay`, whose exit code 1 would mean a fault that nobody has foreseen."""
    (folder / EVENTS_FILE).write_bytes(data)
    out, told = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(told):
        code = await asyncio.to_thread(command_line, ["replay", str(folder)])
    assert code in (0, 2), (code, told.getvalue())
    assert out.getvalue() == harmless(out.getvalue())
    return told.getvalue()


async def _recorded(data: bytes, folder: Path) -> str:
    path = folder / "talk"
    path.mkdir()
    (path / EVENTS_FILE).write_bytes(data)
    return await _import(path)


@functools.cache
def _databases() -> list[bytes]:
    """Returns files of a history: one with two talks, and one whose log of changes has been written into it."""

    async def make(folder: Path) -> bytes:
        path = folder / "h.sqlite3"
        store = HistoryStore(path, None)
        for key in ("one", "two", "three"):
            log = store.begin(key, Setup())
            for event in _EVENTS * (3 if key == "two" else 1):
                log.put(event)
            log.end()
        await store.close()
        return path.read_bytes()

    with tempfile.TemporaryDirectory() as folder:
        return [asyncio.run(make(Path(folder)))]


async def _history(data: bytes, folder: Path) -> str:
    """Opens a history, reads all of it, keeps another talk, and closes it."""
    path = folder / "h.sqlite3"
    path.write_bytes(data)
    store = HistoryStore(path, None)
    told = []
    try:
        for view in await store.conversations():
            assert view.title == harmless(view.title), view.title
            await store.talks(view.key)
        await store.conversations("moon")
    except UserError as error:
        told.append(str(error))
    log = store.begin("new", Setup())
    for event in _EVENTS:
        log.put(event)
    log.end()
    try:
        assert "new" in [view.key for view in await store.conversations()], "the new talk is not kept"
    except UserError as error:
        told.append(str(error))
    async with asyncio.timeout(3):
        await store.close()
    return " ".join((*told, store.notice, store.trouble)).strip()


async def _document(data: bytes, folder: Path) -> str:
    path = folder / ("a.pdf" if data.startswith(b"%PDF") else "a.txt")
    path.write_bytes(data)
    try:
        document = await read_document(path)
    except UserError as error:
        return str(error)
    assert document.text == harmless(document.text)
    return ""


_RECORDINGS = lines_of(_values(_LINES), 12, lambda line: line + b"\n") | changed_bytes([b"\n".join(_LINES)])
BOUNDARIES = (
    Boundary("settings", json_bytes(_SETTINGS), _settings),
    Boundary("prices", json_bytes(_PRICES), _prices),
    Boundary("tool-servers", json_bytes(_SERVERS), _servers),
    Boundary(
        "conversation",
        st.deferred(lambda: changed_bytes(_exported()) | json_bytes(_values(_exported()))),
        _conversation,
    ),
    Boundary("recording", _RECORDINGS, _recorded),
    Boundary("replay", _RECORDINGS, _replay),
    Boundary("history", st.deferred(lambda: changed_bytes(_databases())), _history),
    Boundary(
        "document",
        changed_bytes(["Ein Satz, é 😀.\n".encode() * 20, "﻿Text".encode("utf-16"), b"\x1b[31mred", b"a\x00b"]),
        _document,
    ),
)
