"""Errors and damage while the file of conversations is in use: what was said is kept, and no sound file is replaced."""

import contextlib
import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.conversation import events as e
from app.history import database, open_talk, queries, rescue, schema, writer
from app.history.base import Setup
from app.history.open_talk import OpenTalk
from app.history.packing import pack_lines
from app.history.store import HistoryStore
from tests.support.history import MOON, TEA, hold, kept, talk
from tests.support.raising import raising
from tests.support.tables import cases


def _said(at: float, text: str, turn: int = 1) -> e.TranscriptFinal:
    return e.TranscriptFinal(at, turn, text, at)


def _error(code: int, kind: type[sqlite3.Error] = sqlite3.OperationalError) -> sqlite3.Error:
    error = kind("as SQLite says it")
    error.sqlite_errorcode = code
    return error


_FULL, _BUSY, _DAMAGED_INDEX = 13, 5, 267


async def _words(history: HistoryStore, key: str) -> list[str]:
    return [event.text for one in await history.talks(key) for event in one.events if hasattr(event, "text")]


@pytest.mark.parametrize("code", [_FULL, _BUSY, 8])
async def test_an_index_left_as_it_is_moves_no_file(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "AGAIN_SECONDS", 3600.0)
    path = tmp_path / "history.sqlite3"
    attempts = []

    def refuse(_: object) -> None:
        attempts.append(1)
        raise _error(code)

    async with kept(tmp_path) as history:
        hold(history, "a", MOON)
        await history.conversations()
        with monkeypatch.context() as patched:
            patched.setattr(schema, "remake_index", refuse)
            log = history.begin("b", Setup())
            real, log.talk.write = log.talk.write, raising(_error(_DAMAGED_INDEX, sqlite3.DatabaseError))
            log.put(_said(0.2, "Kept nonetheless."))
            await history._do(lambda file: None)
            assert "just now" in history.trouble and 1 <= len(attempts) <= 2
        log.talk.write = real
        assert await _words(history, "b") == ["Kept nonetheless."] and history.notice == ""
    assert not path.with_name("history.sqlite3.broken").exists()


async def test_damage_that_shows_while_closing_costs_no_word(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        hold(history, "a", MOON)
        await history.conversations()
        log = history.begin("a", Setup())
        real = log.talk.write

        def fail_once(*_: object) -> None:
            log.talk.write = real
            raise _error(11, sqlite3.DatabaseError)

        log.talk.write = fail_once
        log.put(e.TranscriptPartial(0.2, 1, "", "The last words.", 0.2))  # not yet written when it is closed
    async with kept(tmp_path) as history:
        assert "The last words." in str(await history.talks("a"))


@pytest.mark.parametrize("log_moved", [True, False])
async def test_an_interruption_between_the_moves_loses_nothing(log_moved: bool, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    async with kept(tmp_path) as history:
        hold(history, "a", MOON)
    rescued = path.rename(path.with_name("history.sqlite3.rescued"))
    path.with_name("history.sqlite3.broken").write_bytes(b"damaged")
    if not log_moved:  # the log of the damaged file must not be taken for the rescued one's
        path.with_name("history.sqlite3-wal").write_bytes(b"the log of the damaged file")
    async with kept(tmp_path) as history:
        assert {view.key for view in await history.conversations()} == {"a"} and history.trouble == ""
        assert "damaged" in history.notice and "history.sqlite3.broken." in history.notice
    assert not rescued.exists()
    assert path.with_name("history.sqlite3.broken-wal").exists() is not log_moved


def test_what_was_rescued_stays_if_it_can_not_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    path.write_bytes(b"?" * 5000)
    move = database.move_file

    def refuse(source: Path, target: Path) -> None:
        if target == path:
            raise PermissionError(13, "Permission denied")
        move(source, target)

    monkeypatch.setattr(database, "move_file", refuse)
    opened = database.replace_damaged(path)
    opened.connection.close()
    assert opened.trouble and path.with_name("history.sqlite3.rescued").exists() and not path.exists()


def test_a_rescue_that_was_cut_off_is_never_taken_for_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    path.write_bytes(b"?" * 5000)
    monkeypatch.setattr(database, "rescue", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        database.replace_damaged(path)
    assert os.listdir(tmp_path) == ["history.sqlite3"]


def test_a_file_that_may_not_be_written_is_no_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    database.open_database(path).connection.close()
    monkeypatch.setattr(database, "check_writing", raising(_error(8)))  # as on a share that is mounted read-only
    opened = database.open_database(path)
    opened.connection.close()
    assert "can't be opened" in opened.trouble and not path.with_name("history.sqlite3.broken").exists()


TEXTS = {"t": re.compile("tn*")}


def _texts(path: Path) -> int:
    """The number of rows with a text that are read from a file; no copy of it is left."""
    place = path.with_name("copy")
    with rescue.Pages(path, place) as content:
        if os.name == "posix":
            assert place.stat().st_mode & 0o077 == 0
        found = {(name, row) for name, row, _ in content.rows(TEXTS)}
    assert not list(path.parent.glob("copy*"))
    return len(found)


def test_pages_behind_the_end_that_the_log_tells_are_not_rescued(tmp_path: Path) -> None:
    path = tmp_path / "file"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("PRAGMA wal_autocheckpoint = 0")
        file.execute("CREATE TABLE t (a TEXT)")
        file.executemany("INSERT INTO t VALUES (?)", [("gone" * 900,)] * 8)
        file.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        file.execute("DELETE FROM t WHERE rowid > 2")
        file.execute("VACUUM")
        assert path.stat().st_size > 8 * 4096 and _texts(path) == 2


def test_a_damaged_page_in_the_log_hides_none_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "file"
    log = path.with_name("file-wal")
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = WAL")
        file.execute("CREATE TABLE t (a TEXT)")
        for _ in range(8):
            file.execute("INSERT INTO t VALUES (?)", ("kept" * 900,))
        file.execute("PRAGMA wal_checkpoint(PASSIVE)")
        data = bytearray(log.read_bytes())
        data[len(data) // 2] ^= 0xFF
        other = tmp_path / "other"
        other.write_bytes(path.read_bytes())
        other.with_name("other-wal").write_bytes(data)
    assert _texts(other) == 8


async def test_the_words_of_a_talk_that_the_rescue_did_not_keep_are_written_again(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    async with kept(tmp_path) as history:
        hold(history, "b", TEA)
        log = history.begin("a", Setup())
        log.put(_said(0.2, "Said before.", 1))
        log.put(e.AssistantSaid(0.4, 1, "Answered before.", 0))
        assert await _words(history, "a") == ["Said before.", "Answered before."]

        def lose(file: database.OpenDatabase) -> None:
            file.connection.execute("PRAGMA foreign_keys = OFF")
            for table in ("events", "turns", "talks"):
                file.connection.execute(f"DELETE FROM {table} WHERE {'id' if table == 'talks' else 'talk'} = 2")
            raise _error(11, sqlite3.DatabaseError)

        with contextlib.suppress(Exception):
            await history._do(lose)
        log.put(_said(0.6, "Said after.", 2))
        assert await _words(history, "a") == ["Said before.", "Answered before.", "Said after."]
        assert "damaged" in history.notice and await _words(history, "b")
    assert path.with_name("history.sqlite3.broken").exists()


async def test_an_event_that_can_not_be_stored_holds_up_no_other(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        log = history.begin("a", Setup())
        log.put(_said(1.0, "First."))
        await history.conversations()
        await history._do(lambda file: log.talk._lines.extend(["\ud800", '{"type": "odd"}']))  # no UTF-8
        log.put(_said(2.0, "Last.", 2))
        assert await _words(history, "a") == ["First.", "Last."] and "will be missing" in history.trouble
        await history._do(lambda file: setattr(log.talk, "_serial", 2**63))
        log.put(_said(3.0, "Too late.", 3))
        assert await _words(history, "a") == ["First.", "Last."] and log.talk.lost == 2


@cases("error", _error(20, sqlite3.IntegrityError), _error(20, sqlite3.DatabaseError), KeyError("x"))
async def test_events_wait_out_others_errors(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "AGAIN_SECONDS", 3600.0)
    async with kept(tmp_path) as history:
        log = history.begin("a", Setup())
        with monkeypatch.context() as patched:
            patched.setattr(open_talk, "conversation_row", raising(error))
            for at in range(5):
                log.put(_said(float(at), f"Word {at}.", at))
            await history._do(lambda file: None)
            assert log.talk.pending == 5 and history.trouble and "too large" not in history.trouble
        assert len(await _words(history, "a")) == 5 and history.trouble == ""


def test_no_word_of_a_damaged_talk_is_rescued_twice(tmp_path: Path) -> None:
    """Its turns hold the words of all its events, also of those that are rows of their own."""
    path = tmp_path / "history.sqlite3"
    opened = database.open_database(path)
    written = OpenTalk("a", Setup(), None, 0.0)
    for event in talk(MOON):
        written.add(event)
    with schema.transaction(opened.connection):
        written.write(opened.connection, 1.0)
    opened.connection.execute("UPDATE talks SET packed = ?", (pack_lines(["{}"])[:-2],))
    opened.connection.close()
    path.write_bytes(b"?" * 100 + path.read_bytes()[100:])
    opened = database.open_database(path)
    (told,) = queries.talks(opened.connection, "a")
    opened.connection.close()
    assert sum("TranscriptFinal" in line for line in told.lines) == 1


@pytest.fixture(autouse=True)
def _no_time_limit_of_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(writer, "CLOSE_SECONDS", 60.0)
    yield
