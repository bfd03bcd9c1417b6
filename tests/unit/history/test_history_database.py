"""The file that conversations are kept in: new, of another version, damaged, closed to us, or not ours at all."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
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


def test_it_lies_in_the_users_data() -> None:
    assert history_path().name == "history.sqlite3" and APP_NAME in str(history_path())


@pytest.mark.parametrize("version", [1, schema.VERSION - 1, schema.VERSION + 1])
async def test_one_of_another_version_is_set_aside_and_the_app_goes_on(version: int, tmp_path: Path) -> None:
    path, kept = tmp_path / "history.sqlite3", tmp_path / f"history.sqlite3.version-{version}"
    await _said(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    history = HistoryStore(path, None)
    history.begin("b", Setup()).put(SAID)
    assert [view.key for view in await history.conversations("fox")] == ["b"]
    assert f"in format {version}, and this one has format {schema.VERSION}" in history.notice
    assert str(kept) in history.notice and history.trouble == ""
    await history.remove(["b"])
    await history.purge()
    await history.close()
    assert kept.read_bytes() == before
    kept.replace(path)  # as one does who goes back to that version
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(f"PRAGMA user_version = {schema.VERSION}")
    history = HistoryStore(path, None)
    assert [view.key for view in await history.conversations("fox")] == ["a"] and history.notice == ""
    await history.close()


async def test_another_version_that_can_not_be_moved_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    await _said(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA user_version = 1")
    before = path.read_bytes()

    def refuse(*_: object) -> Path:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("app.history.database.set_aside", refuse)
    history = HistoryStore(path, None)
    history.begin("b", Setup()).put(SAID)
    assert [view.key for view in await history.conversations("fox")] == ["b"]  # unkept, it is there all the same
    assert "another version of KAME" in history.trouble and "none is kept" in history.trouble
    with suppress(Exception):
        await history._do(lambda file: file.connection.execute("SELECT * FROM nothing"))
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
    assert not list(tmp_path.glob("*.version-*")), "nobody has taken the new file for one of another version"


@pytest.mark.skipif(sys.platform == "win32", reason="there, locks belong to a handle and not to the process")
def test_opening_it_once_more_leaves_the_others_their_locks(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    with closing(open_database(path).connection), closing(open_database(path).connection):
        other = f"import sqlite3; one = sqlite3.connect({str(path)!r}); one.execute('PRAGMA user_version'); one.close()"
        subprocess.run([sys.executable, "-c", other], check=True)
        # SQLite removes the log when the last connection is closed, as far as it can see.
        assert path.with_name(path.name + "-wal").exists()
