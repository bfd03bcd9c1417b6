"""The file that conversations are kept in: new, old, newer, damaged, closed to us, or not ours at all."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from app.conversation import events as e
from app.history import schema
from app.history.base import Setup
from app.history.database import history_path, open_database
from app.history.store import HistoryStore
from app.settings.paths import APP_NAME
from tests.support.history import talk

SAID = e.TranscriptFinal(0.2, 1, "The quick brown fox.", 0.2)


async def _said(path: Path) -> None:
    history = HistoryStore(path, None)
    history.begin("a", Setup()).put(SAID)
    await history.close()


VERSION_1 = (
    """CREATE TABLE conversations (id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,
        title TEXT NOT NULL DEFAULT '', created REAL NOT NULL, changed REAL NOT NULL, setup TEXT NOT NULL,
        removed INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE talks (id INTEGER PRIMARY KEY AUTOINCREMENT,
        conversation INTEGER NOT NULL REFERENCES conversations (id), began REAL NOT NULL,
        folder TEXT, packed BLOB, turns INTEGER NOT NULL DEFAULT 0,
        brains TEXT NOT NULL DEFAULT '[]', opening TEXT NOT NULL DEFAULT '')""",
    "CREATE INDEX talks_of ON talks (conversation)",
    """CREATE TABLE events (talk INTEGER NOT NULL REFERENCES talks (id), serial INTEGER NOT NULL, line TEXT NOT NULL,
        PRIMARY KEY (talk, serial)) WITHOUT ROWID""",
    """CREATE TABLE turns (id INTEGER PRIMARY KEY, talk INTEGER NOT NULL REFERENCES talks (id), speaker TEXT NOT NULL,
        number INTEGER NOT NULL, at REAL NOT NULL, text TEXT NOT NULL)""",
    "CREATE INDEX turns_of ON turns (talk)",
    "CREATE TABLE unwanted (folder TEXT PRIMARY KEY)",
    "PRAGMA user_version = 1",
    "INSERT INTO conversations (key, created, changed, setup) VALUES ('old', 1, 2, '{}')",
    "INSERT INTO talks (conversation, began, turns, brains, opening) VALUES (1, 1, 1, '[\"big\"]', 'Old words')",
    f"INSERT INTO turns VALUES ({1 << 20}, 1, 'user', 1, 0.1, 'Old words')",
)
"""What the first version of the app wrote, with its names for tables, columns and events."""
OLD_EVENTS = (
    '{"type":"TranscriptFinal","at":0.1,"turn":1,"text":"Old words","heard_until":0.1}',
    '{"type":"MannerChanged","at":0.2,"manner":"after"}',
    '{"type":"AssistantWentOn","at":0.3,"turn":1}',
    '{"type":"Failure","at":0.4,"source":"backend","sentence":"No.","fatal":false,"about":"brain","aside":true}',
)
OLD_AS_NOW = (
    e.TranscriptFinal(0.1, 1, "Old words", 0.1),
    e.AnswerModeChanged(0.2, "after"),
    e.AssistantResumed(0.3, 1),
    e.Failure(0.4, "backend", "No.", False, about="backend", secondary=True),
)


def _make_version_1(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        for statement in VERSION_1:
            database.execute(statement)
        database.executemany("INSERT INTO events VALUES (1, ?, ?)", enumerate(OLD_EVENTS))


def test_it_lies_in_the_users_data() -> None:
    assert history_path().name == "history.sqlite3" and APP_NAME in str(history_path())


async def test_what_version_1_wrote_is_read_and_found(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    _make_version_1(path)
    history = HistoryStore(path, None)
    try:
        (view,) = await history.conversations("old wor")
        assert (view.key, view.title, view.setup) == ("old", "Old words", Setup())
        assert view.snippet == "\x02Old\x03 \x02words\x03"
        assert view.backends == ("big",)
        assert (await history.talks("old"))[0].events == OLD_AS_NOW
        assert history.trouble == "" and not view.pinned
        await history.pin("old", True)
    finally:
        await history.close()
    with closing(sqlite3.connect(path)) as database:
        assert schema.version(database) == schema.NEWEST
        assert database.execute("SELECT key, pinned FROM conversations").fetchall() == [("old", 1)]
        assert database.execute("SELECT text FROM turns").fetchall() == [("Old words",)]


async def test_an_older_one_is_copied_and_brought_up_to_date(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    _make_version_1(path)
    more = (*schema.MIGRATIONS, ("ALTER TABLE talks ADD COLUMN mood TEXT NOT NULL DEFAULT 'fine'",))
    monkeypatch.setattr(schema, "MIGRATIONS", more)
    monkeypatch.setattr(schema, "NEWEST", len(more))
    monkeypatch.setattr(schema.migrate, "__defaults__", (more,))
    opened = open_database(path)
    assert opened.trouble == "" and schema.version(opened.connection) == len(more)
    assert opened.connection.execute("SELECT mood, opening FROM talks").fetchall() == [("fine", "Old words")]
    opened.connection.close()
    backup = tmp_path / "history.sqlite3.version-1.backup"
    with closing(sqlite3.connect(backup)) as database:
        assert schema.version(database) == 1
        assert database.execute("SELECT text FROM turns").fetchall() == [("Old words",)]
    if os.name == "posix":
        assert backup.stat().st_mode & 0o077 == 0
    history = HistoryStore(path, None)  # the copy holds the words as well, so it goes with them
    await history.remove(["old"])
    await history.purge()
    await history.close()
    assert not backup.exists() and b"Old words" not in path.read_bytes()


def test_a_step_that_fails_leaves_all_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    _make_version_1(path)
    steps = (*schema.MIGRATIONS[:1], ("DELETE FROM events", "INSERT INTO talks SELECT * FROM talks"))
    monkeypatch.setattr(schema, "NEWEST", 2)
    monkeypatch.setattr(schema.migrate, "__defaults__", (steps,))
    opened = open_database(path)
    assert "can't be opened" in opened.trouble and "none is kept" in opened.trouble
    opened.connection.close()
    with closing(sqlite3.connect(path)) as database:
        assert schema.version(database) == 1
        assert database.execute("SELECT COUNT(*) FROM events").fetchone() == (len(OLD_EVENTS),)
    assert not list(tmp_path.glob("*.broken"))


async def test_a_newer_one_is_left_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    await _said(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"PRAGMA user_version = {schema.NEWEST + 1}")
    before = path.read_bytes()
    history = HistoryStore(path, None)
    history.begin("b", Setup()).put(SAID)
    assert [view.key for view in await history.conversations("fox")] == ["b"]  # unkept, it is there all the same
    assert "newer version of KAME" in history.trouble and "until you update KAME" in history.trouble
    await history.close()
    assert path.read_bytes() == before


@pytest.mark.parametrize("damage", ["no database", "cut off", "overwritten", "something else's"])
async def test_a_damaged_one_is_set_aside(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    if damage == "no database":
        path.write_bytes(b"This is a letter to my aunt, and no database at all. " * 100)
    elif damage == "something else's":
        with closing(sqlite3.connect(path)) as database:
            database.execute("CREATE TABLE conversations (of_birds)")
    else:
        await _said(path)
        whole = path.read_bytes()
        path.write_bytes(whole[:5000] if damage == "cut off" else whole[:100] + b"\xff" * (len(whole) - 100))
    before = path.read_bytes()
    history = HistoryStore(path, None)
    log = history.begin("b", Setup())
    log.put(SAID)
    assert [view.key for view in await history.conversations("fox")] == ["b"]
    kept = tmp_path / "history.sqlite3.broken"
    assert "damaged" in history.notice and str(kept) in history.notice and history.trouble == ""
    await history.close()
    assert kept.read_bytes() == before
    path.write_bytes(b"Again no database. " * 100)
    history = HistoryStore(path, None)
    await history.conversations()
    await history.close()
    assert kept.read_bytes() == before and (tmp_path / "history.sqlite3.broken-2").exists()


async def test_damage_in_mid_talk_costs_no_more_than_what_was_before(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    history = HistoryStore(path, None)
    log = history.begin("a", Setup())
    for event in talk(*[("What is this?", "A fox.")] * 40):
        log.put(event)
    await history.conversations()
    await history._do(lambda file: file.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
    path.write_bytes(path.read_bytes()[:4096] + os.urandom(path.stat().st_size - 4096))
    # As if the app had not looked at it for a while: SQLite keeps what it has read.
    await history._do(lambda file: file.connection.execute("PRAGMA shrink_memory"))
    log.put(e.TranscriptFinal(99.0, 99, "Is it still there?", 99.0))
    for _ in range(3):
        try:
            found = await history.conversations("still")
        except Exception as error:
            found, told = (), str(error)
            assert "can't be read or written" in told
    assert [view.key for view in found] == ["a"] and "damaged" in history.notice
    await history.close()
    assert (tmp_path / "history.sqlite3.broken").exists()


async def test_a_damaged_index_is_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    await _said(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE words_data SET block = x'00' WHERE id > 10")
    history = HistoryStore(path, None)
    for _ in range(3):
        try:
            found = await history.conversations("fox")
        except Exception as error:
            assert "Try again" in str(error)
    assert [view.key for view in found] == ["a"] and not list(tmp_path.glob("*.broken"))
    await history.close()


async def test_an_index_comes_and_goes_with_what_sqlite_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    await _said(path)
    with monkeypatch.context() as patched:
        patched.setattr(schema, "_supports_index", lambda database: False)
        history = HistoryStore(path, None)
        history.begin("b", Setup()).put(e.TranscriptFinal(0.2, 1, "A lazy dog.", 0.2))
        assert [view.key for view in await history.conversations("lazy")] == ["b"]
        assert [view.snippet for view in await history.conversations("fox")] == ["The quick brown \x02fox\x03."]
        await history.close()
    history = HistoryStore(path, None)
    assert [view.key for view in await history.conversations("lazy d")] == ["b"]
    await history.close()


async def test_a_folder_that_can_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    history = HistoryStore(tmp_path / "file" / "history.sqlite3", None)
    history.begin("a", Setup()).put(SAID)
    assert [view.key for view in await history.conversations("fox")] == ["a"]
    assert "can't be opened" in history.trouble and "none is kept" in history.trouble and history.notice == ""
    copy = await history.duplicate("a", Setup())
    await history.remove(["a"])
    await history.purge()
    assert [view.key for view in await history.conversations()] == [copy.key]
    await history.close()


async def test_two_open_it_at_once(tmp_path: Path) -> None:
    histories = [HistoryStore(tmp_path / "history.sqlite3", None, tidy=not n) for n in range(6)]
    for n, history in enumerate(histories):
        history.begin(f"k{n}", Setup()).put(SAID)
    for history in histories:
        await history.conversations()
    assert [len(await history.conversations("fox")) for history in histories] == [6] * 6
    assert [history.trouble for history in histories] == [""] * 6
    for history in histories:
        await history.close()
    assert not list(tmp_path.glob("*.backup*")), "nobody has taken the new file for an older version"


@pytest.mark.skipif(sys.platform == "win32", reason="there, locks belong to a handle and not to the process")
def test_opening_it_once_more_leaves_the_others_their_locks(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    with closing(open_database(path).connection), closing(open_database(path).connection):
        other = f"import sqlite3; one = sqlite3.connect({str(path)!r}); one.execute('PRAGMA user_version'); one.close()"
        subprocess.run([sys.executable, "-c", other], check=True)
        # SQLite removes the log when the last connection is closed, as far as it can see.
        assert path.with_name(path.name + "-wal").exists()
