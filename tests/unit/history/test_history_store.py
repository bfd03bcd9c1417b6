"""Conversations on disk: stored, listed, found, renamed and copied."""

import asyncio
import os
import sqlite3
import threading
from collections.abc import Iterable
from pathlib import Path

import pytest

from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.prompt import Document
from app.conversation.record.transcript import Transcript
from app.history.base import Setup
from app.history.store import HistoryStore
from app.session.control import BackendChoice, Style, ToolChoice, UserError
from tests.support.history import MOON, TEA, Clock, hold, kept, talk
from tests.support.tables import cases


async def test_a_talk_is_there_after_a_restart_event_by_event(tmp_path: Path) -> None:
    setup = Setup(
        BackendChoice("ollama", "tiny", "http://127.0.0.1:1"),
        Style("A pirate.", 0.5, "long"),
        ToolChoice(("clock",), ("/tmp",)),
        1.5,
        (Document("plan.md", "Buy “green” tea.\nDrink it. \U0001f375", 7), Document("b.csv", "1;2")),
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


async def test_one_holds_talk_after_talk_and_the_newest_is_first(tmp_path: Path) -> None:
    async with kept(tmp_path, clock=Clock()) as history:
        hold(history, "a", MOON, model="tiny")
        hold(history, "b", TEA)
        hold(history, "a", ("And the sun?", "Much further."), model="huge")
        first, second = await history.conversations()
        assert (first.key, first.title, first.turns, first.backends) == ("a", MOON[0], 4, ("tiny", "huge"))
        assert second.key == "b"
        assert [len(t.events) > 5 for t in await history.talks("a")] == [True, True]


async def test_one_that_is_merely_opened_keeps_its_place_and_time(tmp_path: Path) -> None:
    async with kept(tmp_path, clock=Clock()) as history:
        hold(history, "a", MOON)
        hold(history, "b", TEA)
        before = await history.conversations()
        hold(history, "a")
        assert await history.conversations() == before


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


@cases(
    "typed, keys",
    ("moon", "a"),
    ("moo", "a"),
    ("oon", ""),
    ("grunen tee", "b"),
    ("grünen", "b"),
    ("zuck", "b"),
    ("moon kilom", "a"),
    ("own tee", "b"),
    ("384,000", "a"),
    ('"', "ba"),
    ('moon"', "a"),
    ("text:moon", ""),
    ("-moon", "a"),
    ("NEAR(moon tonight)", ""),
    ("moon\0", "a"),
    ("\ud800", "ba"),
    ("don't", "b"),
    ("月亮", "b"),
    ("  ", "ba"),
    ("_", "ba"),
)
@pytest.mark.parametrize("indexed", [True, False])
async def test_words_are_found_and_never_read_as_a_query(
    typed: str, keys: str, indexed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not indexed:
        monkeypatch.setattr("app.history.schema._supports_index", lambda database: False)
        # Words are found inside others then, and with their accents.
        keys = {"oon": "a", "grunen tee": ""}.get(typed, keys)
    async with kept(tmp_path, clock=Clock()) as history:
        hold(history, "a", MOON)
        hold(history, "b", TEA, ("I don’t know 今晚月亮很大 at all", "Ja."))
        await history.rename("b", "My own title")
        found = await history.conversations(typed)
        assert "".join(view.key for view in found) == keys


async def test_a_snippet_shows_where_it_was_found(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        long = " ".join(f"w{n}" for n in range(60))
        hold(history, "a", (f"{long} Éclair, \x02 and éclair {long}", "Moons and moonlight."))
        (view,) = await history.conversations("eclair")
        assert "\x02Éclair\x03,  and \x02éclair\x03" in view.snippet and len(view.snippet) < 130
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
        assert (view.title, view.named, view.setup) == ("The moon \ufffd", True, Setup(cap=2.0))
        await history.rename("a", "")
        (view,) = await history.conversations()
        assert (view.title, view.named) == (MOON[0], False)
        with pytest.raises(UserError, match="not there any more"):
            await history.rename("nobody", "x")


async def test_folders_hold_conversations_and_get_other_names(tmp_path: Path) -> None:
    async with kept(tmp_path, clock=Clock()) as history:
        hold(history, "a", MOON)
        hold(history, "b", TEA)
        await history.move("a", "  Sky \n things ")
        await history.move("b", "Kitchen")
        assert {view.key: view.folder for view in await history.conversations()} == {"a": "Sky things", "b": "Kitchen"}
        assert (await history.duplicate("a", Setup())).folder == "Sky things"
        await history.remove(["b"])
        await history.rename_folder("Kitchen", "Food")
        await history.restore(["b"])
        with pytest.raises(UserError, match="not there any more"):
            await history.move("nobody", "Food")
    async with kept(tmp_path) as history:
        assert {view.folder for view in await history.conversations()} == {"Sky things", "Food"}
        await history.rename_folder("Sky things", "")
        assert {view.folder for view in await history.conversations("grünen")} == {"Food"}
        assert sum(not view.folder for view in await history.conversations()) == 2


async def test_a_pinned_one_stays_pinned_and_keeps_its_date(tmp_path: Path) -> None:
    async with kept(tmp_path, clock=Clock()) as history:
        hold(history, "a", MOON)
        hold(history, "b", TEA)
        before = (await history.conversations())[1].changed
        await history.pin("a", True)
        assert [(view.key, view.pinned) for view in await history.conversations()] == [("b", False), ("a", True)]
        (found,) = await history.conversations("moon")
        assert found.pinned and found.changed == before
        assert not (await history.duplicate("a", Setup())).pinned
        with pytest.raises(UserError, match="not there any more"):
            await history.pin("nobody", True)
    async with kept(tmp_path) as history:
        assert [view.pinned for view in await history.conversations() if view.key == "a"] == [True]
        await history.pin("a", False)
        assert not any(view.pinned for view in await history.conversations())


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


def _folded(events: Iterable[e.Event]) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.apply(event)
    return transcript


async def test_a_talk_that_is_over_is_packed_and_reads_the_same(tmp_path: Path) -> None:
    async with kept(tmp_path) as history:
        events = hold(history, "a", *[MOON] * 30)
        await history.conversations()
        size = "SELECT (SELECT COUNT(*) FROM events), (SELECT SUM(LENGTH(packed)) FROM talks)"
        rows, packed = await history._do(lambda file: file.connection.execute(size).fetchone())
        assert rows == 0 and packed < sum(len(to_json(event)) for event in events) / 5
        assert (await history.talks("a"))[0].events == tuple(events)
        await history._do(lambda file: file.connection.execute("UPDATE talks SET packed = x'00'"))
        (told,) = await history.talks("a")  # no more than its turns, which are stored by themselves
        assert [turn.text for turn in _folded(told.events).turns] == [*MOON] * 30


async def test_a_full_disk_is_told_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
        routed = '{"type":"BackendRouted","at":1.0,"turn":1,"kind":"stem","share":0.9,"reason":"so it is"}'
        for serial, line in enumerate([routed, '{"type":"UserStarted","at":1.0}', "{", "[]"]):
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
        kept_event = e.TranscriptFinal(0.2, 1, "Half \ufffd a pair,  and nothing.", 0.2)
        assert (await history.talks("a"))[0].events == (kept_event,)
        (view,) = await history.conversations("pair")
        assert view.title.startswith("Half \ufffd a pair") and view.setup.style.persona == "\ufffd"


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
