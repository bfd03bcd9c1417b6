"""Damaged files of conversations: the app opens, keeps every talk that SQLite can still read, says so, and closes."""

import asyncio
import contextlib
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from app.conversation import events as e
from app.history import writer
from app.history.base import Setup
from app.history.database import open_database
from app.history.store import HistoryStore
from app.session.control import UserError
from app.untrusted.limits import EVENT_LINE
from tests.support.history import MOON, TEA, hold, kept
from tests.support.raising import raising
from tests.support.tables import cases
from tests.unit.history.corruptions import check


@pytest.mark.slow
async def test_random_damage_costs_no_talk_that_sqlite_can_read() -> None:
    report = await check(25, seed=7)
    assert (report.lost, report.wrong) == ([], [])
    assert report.kept >= report.readable > 0


def _change(path: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in statements:
            database.execute(statement)


async def _two(path: Path) -> None:
    async with kept(path.parent) as history:
        hold(history, "a", MOON)
        hold(history, "b", TEA)


ODD = "CAST(x'68FF69' AS TEXT)"
PLACES = [
    *("conversations title", "conversations setup", "conversations folder", "talks backends"),
    *("talks opening", "talks folder", "turns text", "turns speaker"),
]


@cases(
    "statement",
    *(f"UPDATE {table} SET {column} = {ODD}" for table, column in map(str.split, PLACES)),
    "UPDATE conversations SET created = 9e999, changed = 'yesterday', pinned = x'00'",
    "UPDATE conversations SET setup = '" + "[" * 50_000 + "', title = x'41'",
    "UPDATE talks SET turns = 'many', backends = '{', opening = 7, began = -9e999, folder = x'00'",
    "UPDATE talks SET backends = '[1, null, {}]'",
    f"UPDATE conversations SET key = {ODD} WHERE key = 'a'",
    "UPDATE talks SET conversation = 'nobody' WHERE id = 1",
    f"INSERT INTO unwanted VALUES ({ODD}), (x'2F')",
    "INSERT INTO events SELECT id, 1000, x'FF00' FROM talks",
    "INSERT INTO events SELECT id, 1000, '" + "[" * 50_000 + "' FROM talks",
    ids=lambda statement: statement[:60],
)
async def test_an_odd_row_keeps_nothing_else_from_being_read(statement: str, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    await _two(path)
    _change(path, statement)
    async with kept(tmp_path) as history:
        views = await history.conversations()
        assert len(views) == 2 and all(view.created < 1e11 and view.title.isprintable() for view in views)
        for view in views:
            assert len((await history.talks(view.key))[0].events) > 10
            await history.rename(view.key, "Mine")
        await history.conversations("moon")
        hold(history, "c", TEA)
        assert len(await history.conversations()) == 3 and history.trouble == ""


async def test_a_schema_that_is_no_text_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    await _two(path)
    data = path.read_bytes()
    schema = data[100:4096].replace(b"CREATE TABLE talks", b"CREATE T\xc4BLE t\xfflks")
    path.write_bytes(data[:100] + schema + data[4096:])
    async with kept(tmp_path) as history:
        assert {view.key for view in await history.conversations()} == {"a", "b"} and "damaged" in history.notice


def _with_other_index(data: bytes) -> bytes:
    """The file with another key in the index of keys, so that a conversation is listed and can't be found."""
    start = next(at for at in range(0, len(data), 4096) if data[at] == 0x0A and b"key-b" in data[at : at + 4096])
    return data[:start] + data[start : start + 4096].replace(b"key-b", b"key-c") + data[start + 4096 :]


def _with_last_number(data: bytes) -> bytes:
    """The file in which no further conversation can be numbered."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(data)
        _change(path, f"UPDATE sqlite_sequence SET seq = {2**63 - 1} WHERE name = 'conversations'")
        return path.read_bytes()


@cases(
    "damage",
    _with_other_index,
    lambda data: data[:18] + b"\x8a" + data[19:],
    lambda data: data[:56] + b"\0\0\0\2" + data[60:],
    lambda data: data.replace(b"prefix='1 2 3'", b"prdfix='1 2 3'"),
    lambda data: data.replace(b"REFERENCES conversations (id)", b"REFERENCES conversations (hd)"),
    lambda data: data.replace(b"INSERT INTO words (rowid, text)", b"INSERT INTO wards (rowid, text)"),
    _with_last_number,
    ids=["index", "read-only", "UTF-16", "search index", "reference", "trigger", "counter"],
)
async def test_damage_that_sqlite_overlooks_is_found(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    async with kept(tmp_path) as history:
        hold(history, "key-a", MOON)
        hold(history, "key-b", TEA)
    path.write_bytes(damage(path.read_bytes()))
    async with kept(tmp_path) as history:
        assert {view.key for view in await history.conversations()} == {"key-a", "key-b"}
        assert [len(await history.talks(key)) for key in ("key-a", "key-b")] == [1, 1]
        assert "2 talks in 2 conversations" in history.notice and history.trouble == ""
        await _talk_on(history)


@pytest.mark.parametrize("version", [0, 2**30])
async def test_a_version_that_makes_no_sense_is_damage(version: int, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    await _two(path)
    _change(path, f"PRAGMA user_version = {version}")
    async with kept(tmp_path) as history:
        assert {view.key for view in await history.conversations()} == {"a", "b"}
        assert "2 talks in 2 conversations" in history.notice and str(path) + ".broken" in history.notice


async def test_what_is_only_in_the_log_is_rescued_too(tmp_path: Path) -> None:
    path, copy = tmp_path / "history.sqlite3", tmp_path / "copy" / "history.sqlite3"
    copy.parent.mkdir()
    async with kept(tmp_path) as history:
        hold(history, "a", MOON)
        await history.conversations()
        log = history.begin("b", Setup())
        log.put(e.TranscriptFinal(0.2, 1, "Only in the log.", 0.2))
        await history.conversations()
        data = path.read_bytes()
        copy.write_bytes(b"?" * 100 + data[100:])
        copy.with_name("history.sqlite3-wal").write_bytes(path.with_name("history.sqlite3-wal").read_bytes())
    async with kept(copy.parent) as history:
        assert {view.key for view in await history.conversations()} == {"a", "b"}
        assert (await history.talks("b"))[0].events == (e.TranscriptFinal(0.2, 1, "Only in the log.", 0.2),)


async def test_all_that_belongs_to_a_conversation_is_rescued_with_it(tmp_path: Path) -> None:
    path, setup = tmp_path / "history.sqlite3", Setup(cap=2.5)
    folder = tmp_path / "recordings" / "one"
    folder.mkdir(parents=True)
    async with kept(tmp_path) as history:
        events = hold(history, "a", MOON, setup=setup)
        history.begin("a", setup, folder).put(e.TranscriptFinal(0.2, 1, "More.", 0.2))
        await history.rename("a", "My own title")
        await history.pin("a", True)
        await history.move("a", "Space")
        hold(history, "b", TEA)
        (was,) = await history.conversations("title")
    path.write_bytes(b"?" * 100 + path.read_bytes()[100:])
    async with kept(tmp_path) as history:
        assert [view.key for view in await history.conversations()] == ["b", "a"]
        assert await history.conversations("title") == (replace(was, setup=Setup(foreign=True)),)
        first, second = await history.talks("a")
        assert first.events == tuple(events) and second.folder == folder
        assert "3 talks in 2 conversations" in history.notice


async def test_the_words_of_a_talk_are_kept_where_its_row_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    await _two(path)
    _change(path, "PRAGMA foreign_keys = OFF", "DELETE FROM talks", "DELETE FROM events", "PRAGMA user_version = 0")
    async with kept(tmp_path) as history:
        assert {view.key for view in await history.conversations("moon")} == {"a"}
        (told,) = await history.talks("b")
        assert [event.text for event in told.events if hasattr(event, "text")] == [*TEA]


@pytest.mark.parametrize("error", [sqlite3.OperationalError("Could not decode"), TypeError("odd"), MemoryError()])
async def test_a_thread_that_opens_nothing_answers(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.history.database._open", raising(error))
    monkeypatch.setattr(writer.Writer, "_tidy_up", raising(error))
    history = HistoryStore(tmp_path / "history.sqlite3", None)
    history.begin("a", Setup()).put(e.TranscriptFinal(0.2, 1, "Here.", 0.2))
    assert [view.key for view in await history.conversations()] == ["a"] and history.trouble.endswith(".")
    await asyncio.wait_for(history.close(), 60)


async def test_a_job_that_fails_in_an_unforeseen_way_ends_in_a_sentence(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        with pytest.raises(UserError, match="can't be read or written"):
            await history._do(lambda file: 1 // 0)
        await _talk_on(history)


async def _talk_on(history: HistoryStore) -> None:
    hold(history, "after", MOON)
    assert "after" in [view.key for view in await history.conversations()]


async def test_closing_ends_though_a_job_never_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(writer, "CLOSE_SECONDS", 0.1)
    history, held, entered = HistoryStore(tmp_path / "history.sqlite3", None), threading.Event(), threading.Event()

    def hang(_: object) -> None:
        entered.set()
        held.wait()

    hung = asyncio.ensure_future(history._do(hang))
    await asyncio.to_thread(entered.wait)
    waiting = asyncio.ensure_future(history.conversations())
    await asyncio.sleep(0)
    try:
        await history.close()
        assert "could not be closed" in history.trouble and "could not be closed" in caplog.text
        for job in (hung, waiting):
            with pytest.raises(UserError, match="could not be closed"):
                await job
    finally:
        held.set()
        await asyncio.to_thread(history._writer.join)


async def test_what_does_not_fit_costs_nothing_else(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        large, small = history.begin("large", Setup()), history.begin("small", Setup())
        await history._do(lambda file: file.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 50_000))
        for at, words in enumerate(("First.", "x" * 60_000, "Last."), 1):
            large.put(e.TranscriptFinal(float(at), at, words, float(at)))
            small.put(e.TranscriptPartial(float(at), 1, "", words[:40], float(at)))
        large.put(e.TranscriptFinal(9.0, 9, "y" * EVENT_LINE.bytes, 9.0))
        assert {view.key for view in await history.conversations()} == {"large", "small"}
        (told,) = await history.talks("large")
        assert [event.text for event in told.events] == ["First.", "Last."]
        assert len((await history.talks("small"))[0].events) == 3 and "too large to be kept" in history.trouble


def test_opening_never_changes_a_sound_file(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    asyncio.run(_two(path))
    before = path.read_bytes()
    opened = open_database(path)
    assert (opened.trouble, opened.notice) == ("", "")
    opened.connection.close()
    assert path.read_bytes() == before
