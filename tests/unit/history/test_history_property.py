"""For any talk and any time of closing: what is read is what was put, with harmless texts, and so are the turns."""

import asyncio
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.conversation import events as e
from app.conversation.event_json import harmless_event
from app.conversation.record.transcript import Transcript
from app.history.base import Setup
from app.history.store import HistoryStore
from tests.support.examples import examples

TURNS = st.integers(1, 4)
TIMES = st.floats(0, 100, allow_nan=False)
TEXTS = st.text(max_size=12) | st.sampled_from(["", "yes", "the moon", "Ärger \ud800", "a\0b", '"AND" OR', "\x02x\x03"])
EVENTS = st.one_of(
    st.builds(e.UserStarted, TIMES, TURNS),
    st.builds(e.UserResumed, TIMES, TURNS),
    st.builds(e.TranscriptPartial, TIMES, TURNS, TEXTS, TEXTS, TIMES),
    st.builds(e.TranscriptFinal, TIMES, TURNS, TEXTS, TIMES),
    st.builds(e.UserBackchannel, TIMES, TURNS, TEXTS),
    st.builds(e.OracleRequested, TIMES, TURNS, TURNS, TEXTS, TEXTS, TEXTS, st.booleans()),
    st.builds(e.AssistantStarted, TIMES, TURNS, TURNS),
    st.builds(e.AssistantSaid, TIMES, TURNS, TEXTS, TURNS, st.booleans()),
    st.builds(e.AssistantEnded, TIMES, TURNS, st.booleans()),
    st.builds(
        e.ConversationConfigured, TIMES, TEXTS, TEXTS, TEXTS, TEXTS, st.none(), st.just("short"), st.just(("a", "b"))
    ),
)
TALKS = st.lists(st.lists(EVENTS, max_size=25), min_size=1, max_size=3)


def _fold(events: list[e.Event]) -> Transcript:
    transcript = Transcript()
    for event in events:
        transcript.apply(event)
    return transcript


async def _keep(path: Path, talks: list[list[e.Event]], pauses: set[int]) -> None:
    history = HistoryStore(path, None, tidy=False)
    put = 0
    for events in talks:
        log = history.begin("a", Setup())
        for event in events:
            log.put(event)
            put += 1
            if put in pauses:  # has all be written up to here
                await history.conversations()
        log.end()
    await history.close()


async def _read(path: Path) -> tuple:
    history = HistoryStore(path, None, tidy=False)
    read = await history.talks("a"), await history.conversations()
    await history.close()
    return read


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(talks=TALKS, pauses=st.sets(st.integers(1, 50), max_size=8))
def test_what_is_read_is_what_was_put(talks: list[list[e.Event]], pauses: set[int]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "history.sqlite3"
        asyncio.run(_keep(path, talks, pauses))
        told, views = asyncio.run(_read(path))
        written = [[harmless_event(event) for event in events] for events in talks if events]
        assert [list(talk.events) for talk in told] == written
        folded = [_fold(events) for events in written]
        assert [_fold(list(talk.events)) for talk in told] == folded
        spoken = [turn for transcript in folded for turn in transcript.turns if turn.text]
        backends = dict.fromkeys(backend for one in folded for turn in one.turns for backend in turn.backends)
        assert [view.turns for view in views] == ([len(spoken)] if spoken else [])
        assert [set(view.backends) for view in views] == ([set(backends)] if spoken else [])
        with closing(sqlite3.connect(path)) as database:
            kept = database.execute("SELECT speaker, number, at, text FROM turns").fetchall()
            assert sorted(kept) == sorted((turn.speaker, turn.number, turn.started_at, turn.text) for turn in spoken)
            # The index holds the very words of the turns: SQLite itself compares them.
            database.execute("INSERT INTO words (words, rank) VALUES ('integrity-check', 1)")
            database.rollback()
