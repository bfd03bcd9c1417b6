"""However and whenever the app is killed: its conversations open again, and a second of the talk is missing at most."""

import asyncio
import random
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from app.conversation import events as e
from app.history.base import KeptTalk, Setup
from app.history.store import HistoryStore
from tests.support.child import Child

CHAINS = 5
MOST_LOST_SECONDS = 1.0
SHORTEST, LONGEST = 0.05, 1.5
TALK = """
import sys, time
from pathlib import Path
from app.history.store import HistoryStore
from app.history.base import Setup
from tests.support.history import numbered

history = HistoryStore(Path(sys.argv[1]), None)
log = history.begin(sys.argv[2], Setup())
pace = float(sys.argv[3])
for serial, event in enumerate(numbered(sys.argv[2]), 1):
    log.put(event)
    print(serial, time.time(), flush=True)
    time.sleep(pace)
"""


def _words(mark: str, talk: KeptTalk) -> list[int]:
    return [
        int((event.unstable if isinstance(event, e.TranscriptPartial) else event.text).split()[-1].removeprefix(mark))
        for event in talk.events
    ]


def _kill(path: Path, mark: str, life: float, pace: float) -> list[tuple[int, float]]:
    """Lets a child talk and kills it; what it has put, and how long before the kill, in seconds."""
    with Child(TALK, path, mark, pace, patience=60.0) as child:
        first = child.line(60.0)
        assert first is not None, child.complaints
        time.sleep(life)
        killed = time.time()
        child.process.kill()
        child.process.wait()
        lines = [first]
        while (line := child.line(5.0)) is not None:
            lines.append(line)
    # The last line may be cut off; then the event itself was put after the kill was on its way.
    told = [line.split() for line in lines if len(line.split()) == 2]
    return [(int(serial), killed - float(at)) for serial, at in told]


async def _look(path: Path, mark: str, put: list[tuple[int, float]], before: list[str]) -> None:
    """Opens what a kill has left, and goes on with it."""
    with closing(sqlite3.connect(path)) as database:
        assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert database.execute("PRAGMA foreign_key_check").fetchall() == []
    history = HistoryStore(path, None)
    try:
        listed = {view.key: view for view in await history.conversations()}
        assert history.trouble == "" and not list(path.parent.glob("*.broken*"))
        assert set(before) <= listed.keys(), "an earlier conversation is gone"
        talks = await history.talks(mark) if mark in listed else ()
        kept = [serial for talk in talks for serial in _words(mark, talk)]
        assert kept == list(range(1, len(kept) + 1)), "what is kept is not the beginning of what was put"
        lost = [age for serial, age in put if serial > len(kept)]
        assert max(lost, default=0.0) <= MOST_LOST_SECONDS, f"{len(lost)} events of the last {max(lost):.2f} s are lost"
        if kept:
            assert [view.key for view in await history.conversations(f"{mark}1")] == [mark]
        log = history.begin(mark, Setup())
        log.put(e.TranscriptFinal(1.0, 1, f"afterwards{mark}", 1.0))
        log.end()
        assert [view.key for view in await history.conversations(f"afterwards{mark}")] == [mark]
    finally:
        await history.close()


def _chain(path: Path, number: int, kills: int) -> int:
    """One file that is killed under again and again; how many events were put."""
    chance = random.Random(1000 + number)
    count, marks = 0, list[str]()
    for kill in range(kills):
        mark = f"c{number}k{kill}e"
        # Each kill has a stretch of its own of the whole range, so that none is left out.
        life = SHORTEST + (LONGEST - SHORTEST) * (kill + chance.random()) / kills
        put = _kill(path, mark, life, 1 / chance.uniform(15, 30))
        asyncio.run(_look(path, mark, put, marks))
        count += len(put)
        marks.append(mark)
    return count


@pytest.mark.parametrize("kills", [2, pytest.param(15, marks=pytest.mark.slow)])
def test_kills_cost_a_second_each_at_most(kills: int, tmp_path: Path) -> None:
    count = min(CHAINS, kills // 2)
    paths = [tmp_path / str(number) / "history.sqlite3" for number in range(count)]
    with ThreadPoolExecutor(count) as chains:
        runs = [chains.submit(_chain, path, number, kills // count) for number, path in enumerate(paths)]
        assert sum(run.result() for run in runs) > kills * 5, "hardly anything was put"
