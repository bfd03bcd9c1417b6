"""The file that conversations are kept in, whatever becomes of it, and conversations that are removed from it."""

import asyncio
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from app.conversation import events as e
from app.conversation.prompt import Document
from app.history import erasing, schema
from app.history.base import Setup
from app.history.database import open_database
from app.history.store import HistoryStore
from app.session.control import UserError
from tests.support.history import MOON, TEA, asked_and_answered, everywhere, hold, kept, talk
from tests.support.raising import raising

SAID = e.TranscriptFinal(0.2, 1, "The quick brown fox.", 0.2)


async def _said(path: Path) -> None:
    async with kept(path.parent) as history:
        history.begin("a", Setup()).put(SAID)


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
    monkeypatch.setattr("app.history.database.set_aside", raising(PermissionError(13, "Permission denied")))
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
    async with kept(tmp_path) as history:
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
    assert (tmp_path / "history.sqlite3.broken").exists()


async def test_a_damaged_index_is_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite3"
    await _said(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("UPDATE words_data SET block = x'00' WHERE id > 10")
    async with kept(tmp_path) as history:
        for _ in range(3):
            try:
                found = await history.conversations("fox")
            except Exception as error:
                assert "Try again" in str(error)
        assert [view.key for view in found] == ["a"] and not list(tmp_path.glob("*.broken"))


async def test_an_index_comes_and_goes_with_what_sqlite_can(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "history.sqlite3"
    await _said(path)
    with monkeypatch.context() as patched:
        patched.setattr(schema, "_supports_index", lambda database: False)
        async with kept(tmp_path) as history:
            history.begin("b", Setup()).put(e.TranscriptFinal(0.2, 1, "A lazy dog.", 0.2))
            assert [view.key for view in await history.conversations("lazy")] == ["b"]
            assert [view.snippet for view in await history.conversations("fox")] == ["The quick brown \x02fox\x03."]
    async with kept(tmp_path) as history:
        assert [view.key for view in await history.conversations("lazy d")] == ["b"]


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


async def test_what_is_removed_can_be_restored_and_once_purged_is_in_no_file(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        hold(history, "keep", TEA)
        for n in range(30):  # enough to fill pages, split them, and have words moved about
            hold(history, f"x{n}", *[(f"Xylophone{n}q{k} marimba" * 3, "Glockenspiel " * 20) for k in range(6)])
            await history.rename(f"x{n}", f"Vibraphone{n}")
        names = [f"x{n}" for n in range(30)]
        await history.remove(names)
        assert [view.key for view in await history.conversations()] == ["keep"]
        assert await history.conversations("marimba") == ()
        with pytest.raises(UserError):
            await history.talks("x1")
        await history.restore(names[:1])
        assert {view.key for view in await history.conversations()} == {"keep", "x0"}
        await history.remove(names[:1])
        assert b"arimba" in everywhere(tmp_path)
        await history.purge()
        left = everywhere(tmp_path).lower()
        for word in (b"xylophone", b"marimba", b"glockenspiel", b"vibraphone", b"lophone1", b"ckenspiel"):
            assert word not in left
        assert b"zucker" in left
        assert [view.key for view in await history.conversations("zucker")] == ["keep"]


async def test_nothing_is_left_between_the_lines(tmp_path: Path) -> None:
    """Where conversations come and go, SQLite moves words from page to page, and leaves copies behind."""
    chance = random.Random(1)
    living: dict[str, set[str]] = {}
    dead: set[str] = set()
    async with kept(tmp_path) as history:
        for cycle in range(12):
            for number in range(chance.randint(1, 6)):
                words = ["zq" + "".join(chance.choices("abcdefghijklm", k=9)) for _ in range(chance.randint(3, 80))]
                living[f"{cycle}.{number}"] = set(words)
                pairs = [[" ".join(chance.choices(words, k=chance.randint(2, 60))) for _ in "qa"] for _ in range(3)]
                hold(history, f"{cycle}.{number}", *map(tuple, pairs))
            gone = chance.sample(sorted(living), chance.randint(0, len(living) // 2))
            await history.remove(gone)
            await history.purge()
            dead = dead.union(*(living.pop(key) for key in gone))
            found = everywhere(tmp_path)
            assert not [word for word in dead if word.encode()[2:] in found]
    assert len(dead) > 500


async def test_of_a_document_that_is_removed_nothing_is_left(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        text = "\n".join(f"Xylophone {number}" for number in range(1000))
        hold(history, "a", MOON, setup=Setup(documents=(Document("x.txt", text), Document("y.txt", "Zither"))))
        await history.conversations()
        assert b"Xylophone" in everywhere(tmp_path)
        await history.keep_setup("a", Setup(documents=(Document("y.txt", "Zither"),)))
    assert b"Xylophone" not in everywhere(tmp_path) and b"Zither" in everywhere(tmp_path)


async def test_a_large_file_is_swept_once_nobody_talks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.history.writer.QUICK_BYTES", 0)
    async with kept(tmp_path) as history:
        log = history.begin("a", Setup())
        log.put(e.TranscriptFinal(0.2, 1, "Hello.", 0.2))
        hold(history, "x", ("Xylophone?", "Marimba."))
        await history.remove(["x"])
        await history.purge()
        assert await history._do(lambda file: erasing.needs_sweep(file.connection))
        log.end()
        assert not await history._do(lambda file: erasing.needs_sweep(file.connection))
        hold(history, "x", ("Xylophone?", "Marimba."))
        await history.remove(["x"])
    monkeypatch.setattr("app.history.writer.AGAIN_SECONDS", 0.05)
    async with kept(tmp_path) as history:  # not on closing, which is to be quick, nor before the list is shown
        for _ in range(500):
            if not await history._do(lambda file: erasing.needs_sweep(file.connection)):
                break
            await asyncio.sleep(0.01)
        assert not await history._do(lambda file: erasing.needs_sweep(file.connection))
        assert [view.key for view in await history.conversations()] == ["a"]


async def test_who_reads_just_then_only_puts_it_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.history.database.PATIENCE_SECONDS", 0.05)
    monkeypatch.setattr("app.history.writer.AGAIN_SECONDS", 0.05)
    async with kept(tmp_path) as history:
        hold(history, "x", ("Xylophone?", "Marimba."))
        await history.conversations()
        reader = sqlite3.connect(tmp_path / "history.sqlite3", isolation_level=None)
        reader.execute("BEGIN")
        assert reader.execute("SELECT COUNT(*) FROM turns").fetchone() == (2,)
        await history.remove(["x"])
        await history.purge()
        assert b"Xylophone" in everywhere(tmp_path), "the reader holds on to it"
        reader.close()
        for _ in range(500):
            if b"Xylophone" not in everywhere(tmp_path):
                break
            await asyncio.sleep(0.01)
        assert b"Xylophone" not in everywhere(tmp_path)


@pytest.mark.parametrize("how", ["closed", "killed"])
async def test_what_was_removed_does_not_outlive_the_next_start(how: str, tmp_path: Path) -> None:
    async with kept(tmp_path, tidy=how == "closed") as history:
        hold(history, "x", ("Xylophone?", "Marimba."))
        hold(history, "keep", TEA)
        await history.remove(["x"])
    if how == "killed":
        assert b"Xylophone" in everywhere(tmp_path)
        async with kept(tmp_path) as history:
            await history.restore(["x"])
            assert [view.key for view in await history.conversations()] == ["keep"]
    assert b"ylophone" not in everywhere(tmp_path) and b"arimba" not in everywhere(tmp_path)


async def test_sound_goes_with_its_conversation_but_only_the_apps_own(tmp_path: Path) -> None:
    folders = [tmp_path / "recordings" / "one", tmp_path / "mine", tmp_path / "recordings", tmp_path / "elsewhere"]
    own = [*folders[:3], tmp_path / "recordings" / ".." / "mine"]
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "user.wav").write_bytes(b"sound")
    link = tmp_path / "recordings" / "link"
    if os.name == "posix":
        link.symlink_to(folders[3])
        own.append(link)
    async with kept(tmp_path) as history:
        for number, folder in enumerate(own):
            log = history.begin(str(number), Setup(), folder)
            for event in talk(MOON):
                log.put(event)
        views = await history.conversations()
        assert all(view.sound for view in views)
        assert (await history.talks("0"))[0].folder == folders[0]
        await history.remove([view.key for view in views])
        await history.purge()
    assert [(folder / "user.wav").exists() for folder in folders] == [False, True, True, True]


async def test_undeletable_sound_is_told_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "recordings" / "one"
    folder.mkdir(parents=True)
    async with kept(tmp_path) as history:
        log = history.begin("a", Setup(), folder)
        log.put(e.TranscriptFinal(0.2, 1, "Hello.", 0.2))
        await history.remove(["a"])
        with monkeypatch.context() as patched:
            patched.setattr(shutil, "rmtree", raising(PermissionError(13, "in use")))
            with pytest.raises(UserError, match=r"sound in .*one could not be"):
                await history.purge()
            await history.close()
        assert folder.is_dir()
    async with kept(tmp_path) as history:
        await history.conversations()
        assert not folder.exists()


async def test_a_talk_that_goes_on_in_what_is_erased_leaves_nothing(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        log = history.begin("x", Setup())
        for event in asked_and_answered(1, 0.0, "Xylophone?", "Marimba."):
            log.put(event)
        await history.remove(["x"])
        await history.purge()
        for event in asked_and_answered(2, 9.0, "Xylophone again?", "Marimba."):
            log.put(event)
        assert await history.conversations() == ()
        hold(history, "x", MOON)  # a new talk under the same key is a new beginning
        assert [view.title for view in await history.conversations()] == [MOON[0]]
    assert b"ylophone" not in everywhere(tmp_path)


async def test_another_process_may_erase_what_goes_on_here(tmp_path: Path) -> None:
    async with kept(tmp_path) as history, kept(tmp_path, tidy=False) as other:
        log = history.begin("a", Setup())
        log.put(e.TranscriptFinal(0.2, 1, "Before.", 0.2))
        await history.conversations()
        assert [view.title for view in await other.conversations()] == ["Before."]
        await other.remove(["a"])
        await other.purge()
        log.put(e.TranscriptFinal(1.2, 2, "After.", 1.2))
        (told,) = await history.talks("a")
        assert [event.text for event in told.events] == ["After."] and history.trouble == ""
