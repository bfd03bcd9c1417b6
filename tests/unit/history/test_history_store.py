"""Conversations on disk, as the window meets them: kept, listed, found, renamed, copied, and really gone."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from app.conversation import events as e
from app.conversation.event_json import to_json
from app.history import erasing
from app.history.base import HistoryService, Setup
from app.history.store import HistoryStore
from app.session.control import BackendChoice, Style, ToolChoice
from app.session.errors import UserError
from tests.support.history import asked_and_answered, talk

MOON = ("How far away is the moon tonight?", "Some 384,000 kilometres, give or take.")
TEA = ("Wie trinkt man grünen Tee?", "Nicht zu heiß, und ohne Zucker.")


class Clock:
    """Seconds since 1970, as a test wants them."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@asynccontextmanager
async def kept(folder: Path, **options: object) -> AsyncIterator[HistoryStore]:
    """A history in `folder`, closed in the end."""
    history = HistoryStore(folder / "history.sqlite3", folder / "recordings", **options)
    try:
        yield history
    finally:
        await history.close()


def hold(history: HistoryService, key: str, *pairs: tuple[str, str], setup: Setup = Setup(), **options: object) -> list:  # noqa: B008
    """Holds a talk in a conversation; its events."""
    events = talk(*pairs, **options)
    log = history.begin(key, setup)
    for event in events:
        log.put(event)
    log.end()
    return events


async def test_a_talk_is_there_after_a_restart_event_by_event(tmp_path: Path) -> None:
    setup = Setup(
        BackendChoice("ollama", "tiny", "http://127.0.0.1:1"),
        Style("A pirate.", 0.5, "long"),
        ToolChoice(("clock",), ("/tmp",)),
        1.5,
    )
    async with kept(tmp_path, clock=Clock()) as history:
        events = hold(history, "a", MOON, TEA, setup=setup)
        assert history.trouble == ""
    async with kept(tmp_path) as history:
        (view,) = await history.conversations()
        assert (view.key, view.title, view.named) == ("a", "How far away is the moon tonight?", False)
        assert (view.turns, view.backends, view.sound, view.setup) == (4, ("tiny",), False, setup)
        assert view.created == 1_700_000_001.0 < view.changed
        (told,) = await history.talks("a")
        assert told.events == tuple(events) and told.began == 1_700_000_001.0 and told.folder is None


async def test_meters_are_left_out_and_nothing_else(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        log = history.begin("a", Setup())
        for event in (
            e.LevelMeasured(0.1, -20, -20),
            e.SoundMeasured(0.1, None, False, None, 0, 0),
            e.OracleTaken(0.1, 1, 1, 0),
            e.ContextMeasured(0.1, 1, 2),
            e.OracleFed(0.2, 1, 1, 3.0),
            e.TranscriptFinal(0.3, 1, "Hello.", 0.2),
        ):
            log.put(event)
        (told,) = await history.talks("a")
        assert [type(event).__name__ for event in told.events] == ["OracleFed", "TranscriptFinal"]


async def test_one_holds_talk_after_talk_and_the_newest_is_first(tmp_path: Path) -> None:
    async with kept(tmp_path, clock=Clock()) as history:
        hold(history, "a", MOON, model="tiny")
        hold(history, "b", TEA)
        hold(history, "a", ("And the sun?", "Much further."), model="huge")
        first, second = await history.conversations()
        assert (first.key, first.title, first.turns, first.backends) == ("a", MOON[0], 4, ("tiny", "huge"))
        assert second.key == "b"
        assert [len(t.events) > 5 for t in await history.talks("a")] == [True, True]


async def test_what_was_not_talked_in_is_not_listed_and_forgotten(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        log = history.begin("silent", Setup())
        log.put(e.SessionStarted(0.0, "a", "b", "c", "d", "after"))
        log.put(e.SessionEnded(1.0, 12))
        history.begin("unused", Setup())
        await history.keep_setup("other", Setup(cap=1.0))
        assert await history.conversations() == ()
        assert len(await history.talks("silent")) == 1
    with sqlite3.connect(tmp_path / "history.sqlite3") as database:
        for table in ("conversations", "talks", "events"):
            assert database.execute(f"SELECT COUNT(*) FROM {table}").fetchone() == (0,)
    database.close()


async def test_it_is_written_while_the_talk_goes_on_and_at_once_when_a_turn_is_whole(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        log = history.begin("a", Setup())
        log.put(e.TranscriptPartial(0.1, 1, "", "Hel", 0.1))
        log.put(e.TranscriptFinal(0.2, 1, "Hello there.", 0.2))
        # Another process reads it; nobody asks the one that writes.
        for _ in range(500):
            database = sqlite3.connect(tmp_path / "history.sqlite3")
            try:
                found = database.execute("SELECT text FROM turns").fetchall()
            except sqlite3.OperationalError:
                found = []
            database.close()
            if found:
                break
            await asyncio.sleep(0.01)
        assert found == [("Hello there.",)]


@pytest.mark.parametrize(
    ("typed", "keys"),
    [
        ("moon", "a"),
        ("MOON", "a"),
        ("moo", "a"),
        ("oon", ""),
        ("grunen tee", "b"),
        ("grünen", "b"),
        ("zuck", "b"),
        ("moon kilom", "a"),
        ("moo kilometres", ""),
        ("moon tee", ""),
        ("own", "b"),
        ("own tee", "b"),
        ("384,000", "a"),
        ('"', "ba"),
        ('moon"', "a"),
        ("moon AND", ""),
        ("text:moon", ""),
        ("moon*", "a"),
        ("(moon", "a"),
        ("^moon", "a"),
        ("-moon", "a"),
        ("NEAR(moon tonight)", ""),
        ("moon\0", "a"),
        ("\ud800", "ba"),
        ("don't", "b"),
        ("月亮", "b"),
        ("  ", "ba"),
        ("%", "ba"),
        ("_", "ba"),
    ],
)
@pytest.mark.parametrize("indexed", [True, False])
async def test_words_are_found_and_never_read_as_a_query(
    typed: str, keys: str, indexed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not indexed:
        monkeypatch.setattr("app.history.schema._supports_index", lambda database: False)
        # Words are found inside others then, and with their accents.
        keys = {"oon": "a", "grunen tee": "", "moo kilometres": "a"}.get(typed, keys)
    async with kept(tmp_path, clock=Clock()) as history:
        hold(history, "a", MOON)
        hold(history, "b", TEA, ("I don’t know 今晚月亮很大 at all", "Ja."))
        await history.rename("b", "My own title")
        found = await history.conversations(typed)
        assert "".join(view.key for view in found) == keys


async def test_a_page_that_was_pasted_is_looked_for_as_well(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        hold(history, "a", MOON)
        for typed, count in (("moon " * 5000, 1), ("x" * 5000, 0), ("b-" * 5000, 0), ('"' * 5000, 1)):
            assert len(await history.conversations(typed)) == count


async def test_a_snippet_shows_where_it_was_found(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        long = " ".join(f"w{n}" for n in range(60))
        hold(history, "a", (f"{long} Éclair, \x02 and éclair {long}", "Moons and moonlight."))
        (view,) = await history.conversations("eclair")
        assert "\x02Éclair\x03,   and \x02éclair\x03" in view.snippet and len(view.snippet) < 130
        assert view.snippet.startswith("…w5") and view.snippet.endswith("…")
        (view,) = await history.conversations("moon")
        assert view.snippet == "\x02Moons\x03 and \x02moonlight\x03."
        await history.rename("a", "Cakes")
        (view,) = await history.conversations("cake")
        assert (view.snippet, view.title, view.named) == ("", "Cakes", True)


async def test_it_is_renamed_and_held_otherwise(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        hold(history, "a", MOON)
        await history.rename("a", "  The\nmoon \ud800 ")
        await history.keep_setup("a", Setup(cap=2.0))
        (view,) = await history.conversations()
        assert (view.title, view.named, view.setup) == ("The moon ?", True, Setup(cap=2.0))
        await history.rename("a", "")
        (view,) = await history.conversations()
        assert (view.title, view.named) == (MOON[0], False)
        with pytest.raises(UserError, match="not there any more"):
            await history.rename("nobody", "x")


async def test_a_second_one_goes_its_own_way(tmp_path: Path) -> None:
    async with kept(tmp_path, clock=Clock()) as history:
        events = hold(history, "a", MOON)
        copy = await history.duplicate("a", Setup(cap=3.0))
        assert (copy.title, copy.turns, copy.setup, copy.backends) == (MOON[0], 2, Setup(cap=3.0), ("tiny",))
        assert (await history.talks(copy.key))[0].events == tuple(events)
        assert [view.key for view in await history.conversations("moon")] == [copy.key, "a"]
        hold(history, copy.key, TEA)
        assert [view.turns for view in await history.conversations()] == [4, 2]
        await history.remove(["a"])
        await history.purge()
        (view,) = await history.conversations("moon")
        assert view.key == copy.key and view.snippet


def everywhere(folder: Path) -> bytes:
    """All bytes of all files."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


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


async def test_a_talk_that_is_over_is_packed_and_reads_the_same(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        events = hold(history, "a", *[MOON] * 30)
        await history.conversations()
        size = "SELECT (SELECT COUNT(*) FROM events), (SELECT SUM(LENGTH(packed)) FROM talks)"
        rows, packed = await history._do(lambda file: file.connection.execute(size).fetchone())
        assert rows == 0 and packed < sum(len(to_json(event)) for event in events) / 5
        assert (await history.talks("a"))[0].events == tuple(events)
        await history._do(lambda file: file.connection.execute("UPDATE talks SET packed = x'00'"))
        with pytest.raises(UserError, match="damaged"):
            await history.talks("a")


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


async def test_sound_that_can_not_be_deleted_is_told_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "recordings" / "one"
    folder.mkdir(parents=True)
    async with kept(tmp_path) as history:
        log = history.begin("a", Setup(), folder)
        log.put(e.TranscriptFinal(0.2, 1, "Hello.", 0.2))
        await history.remove(["a"])

        def busy(path: Path) -> None:
            raise PermissionError(13, "in use")

        with monkeypatch.context() as patched:
            patched.setattr(shutil, "rmtree", busy)
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


async def test_a_full_disk_is_told_and_nothing_is_lost_once_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.history.writer.AGAIN_SECONDS", 0.05)
    async with kept(tmp_path) as history:
        log = history.begin("a", Setup())
        log.put(e.TranscriptFinal(0.2, 1, "Before.", 0.2))
        await history.conversations()
        await history._do(lambda file: file.connection.execute("PRAGMA max_page_count = 1"))
        for turn in range(2, 60):
            log.put(e.TranscriptFinal(float(turn), turn, f"Turn {turn}. " + "x" * 2000, float(turn)))
        await history.conversations()
        assert "full" in history.trouble and "is written as soon as it can be" in history.trouble
        await history._do(lambda file: file.connection.execute("PRAGMA max_page_count = 100000"))
        log.put(e.TranscriptFinal(99.0, 99, "Now.", 99.0))
        (told,) = await history.talks("a")
        assert [event.turn for event in told.events] == [*range(1, 60), 99] and history.trouble == ""
        assert (await history.conversations("now"))[0].turns == 60


async def test_events_of_another_version_are_passed_over(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        events = hold(history, "a", MOON)
        for serial, line in enumerate(['{"type":"Telepathy","at":1.0}', '{"type":"UserStarted","at":1.0}', "{", "[]"]):
            await history._do(
                lambda file, serial=serial, line=line: file.connection.execute(
                    "INSERT INTO events SELECT id, 1000 + ?, ? FROM talks", (serial, line)
                )
            )
        assert (await history.talks("a"))[0].events == tuple(events)


async def test_what_no_file_can_hold_is_kept_as_well_as_it_can_be(tmp_path: Path) -> None:
    event = e.TranscriptFinal(0.2, 1, "Half \ud800 a pair, \0 and nothing.", 0.2)
    async with kept(tmp_path) as history:
        history.begin("a", Setup(style=Style("\udfff"))).put(event)
        assert (await history.talks("a"))[0].events == (event,)
        (view,) = await history.conversations("pair")
        assert view.title.startswith("Half ? a pair") and view.setup.style.persona == "\udfff"


async def test_closing_twice_and_asking_afterwards(tmp_path: Path) -> None:
    history = HistoryStore(tmp_path / "history.sqlite3", None)
    log = history.begin("a", Setup())
    log.put(e.TranscriptFinal(0.2, 1, "Hello.", 0.2))
    await asyncio.gather(history.close(), history.close())
    log.put(e.TranscriptFinal(0.3, 2, "Late.", 0.2))
    log.end()
    history.begin("b", Setup()).put(e.TranscriptFinal(0.2, 1, "Late.", 0.2))
    with pytest.raises(UserError, match="closed"):
        await history.conversations()
    assert os.listdir(tmp_path) == ["history.sqlite3"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
async def test_only_the_user_may_read_it(tmp_path: Path) -> None:
    (tmp_path / "history.sqlite3").touch(0o644)
    async with kept(tmp_path) as history:
        hold(history, "a", MOON)
        await history.conversations()
        files = list(tmp_path.iterdir())
        assert {path.name for path in files} == {f"history.sqlite3{end}" for end in ("", "-wal", "-shm")}
        assert [path.stat().st_mode & 0o077 for path in files] == [0, 0, 0]


async def test_the_loop_is_never_held_up(tmp_path: Path) -> None:
    """With the writer's thread kept busy, every call returns to the loop at once."""
    gate = threading.Event()
    async with kept(tmp_path) as history:
        hold(history, "a", MOON)
        await history.conversations()
        work = [asyncio.ensure_future(history._do(lambda file: gate.wait(20)))]
        await asyncio.sleep(0)
        log = history.begin("b", Setup())
        for event in talk(*[MOON] * 20):
            log.put(event)
        work += [
            asyncio.ensure_future(wanted)
            for wanted in (
                history.conversations("moon"),
                history.talks("a"),
                history.rename("a", "x"),
                history.remove(["a"]),
                history.export("b", tmp_path / "b.json", "json"),
            )
        ]
        await asyncio.sleep(0)
        assert not any(one.done() for one in work)
        gate.set()
        await asyncio.gather(*work)
