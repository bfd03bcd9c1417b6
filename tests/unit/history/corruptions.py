"""Damages a file of conversations at random, and says what is left of it in the app and for SQLite."""

import asyncio
import contextlib
import json
import random
import shutil
import sqlite3
import tempfile
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from app.conversation import events as e
from app.history.base import Setup
from app.history.store import HistoryStore
from tests.support.history import MOON, TEA, talk

SIZES = (1, 1, 2, 1, 3, 1, 6)
"""Questions in a talk: from a piece of a page to many pages."""
PAGE = 4096
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)
"""What Python raises, the latter for a message of SQLite that quotes what is damaged."""


@dataclass
class Report:
    """What came of some corruptions. `lost`: talks that SQLite could read and the app didn't keep."""

    readable: int = 0
    kept: int = 0
    lost: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


async def make(path: Path) -> dict[str, list[str]]:
    """Writes a history of 30 talks; returns each one's words, by a mark that is in all of them."""
    said: dict[str, list[str]] = {}
    history = HistoryStore(path, None)
    for number in range(30):
        mark = f"mark{number:02}x"
        pairs = [
            (f"{question} {mark} {turn} {'word ' * (number * (turn + 1) % 30)}", f"{answer} {turn} {mark}")
            for turn in range(SIZES[number % len(SIZES)])
            for question, answer in (MOON, TEA)[turn % 2 :][:1]
        ]
        key = f"conversation-{number - number % 3 // 2}"  # every third has two talks
        log = history.begin(key, Setup())
        for event in talk(*pairs):
            log.put(event)
        if number != 20:
            log.end()  # the events of the other stay in rows of their own until the next start
        said[mark] = [text for pair in pairs for text in pair]
        if number % 5 == 0:
            await history.pin(key, True)
        if number % 4 == 0:
            await history.move(key, "A folder")
    await history.close()
    return said


def damage(path: Path, chance: random.Random) -> str:
    data = bytearray(path.read_bytes())
    kind = chance.choice("flip,flips,header,zero,truncate,copy,shuffle,garbage,text,page 1".split(","))
    page = chance.randrange(len(data) // PAGE) * PAGE
    match kind:
        case "flip" | "flips":
            for _ in range(1 if kind == "flip" else chance.randrange(2, 200)):
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case "header":
            data[chance.randrange(100)] = chance.randrange(256)
        case "zero":
            for _ in range(chance.randrange(1, 4)):
                page = chance.randrange(len(data) // PAGE) * PAGE
                data[page : page + PAGE] = bytes(PAGE)
        case "truncate":
            del data[chance.randrange(len(data)) :]
        case "copy":
            length, source, target = chance.randrange(1, 3 * PAGE), *(chance.randrange(len(data)) for _ in range(2))
            piece = data[source : source + length]
            data[target : target + len(piece)] = piece
        case "shuffle":
            other = chance.randrange(len(data) // PAGE) * PAGE
            data[page : page + PAGE], data[other : other + PAGE] = data[other : other + PAGE], data[page : page + PAGE]
        case "garbage":
            length = chance.randrange(1, 2 * PAGE)
            data[page : page + length] = chance.randbytes(length)
        case "text":  # a byte that is no UTF-8, where letters are
            places = [at for at in (chance.randrange(len(data)) for _ in range(400)) if chr(data[at]).isalpha()]
            for at in places[: chance.randrange(1, 40)]:
                data[at] = 0xFF
        case "page 1":
            start = chance.randrange(PAGE)
            data[start:PAGE] = bytes(PAGE - start)
    path.write_bytes(data)
    return kind


def readable(path: Path, said: dict[str, list[str]]) -> dict[str, set[str]]:
    """Returns by its mark the words of each talk whose row and events SQLite can read, by any way there is."""
    found: dict[str, set[str]] = {}
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as database:
        database.text_factory = bytes
        for direction in ("ASC", "DESC"):
            with contextlib.suppress(*UNREADABLE):
                for _, packed in database.execute(f"SELECT id, packed FROM talks ORDER BY id {direction}"):
                    _note(found, packed, said)
                return found
        for row in range(1, 40):
            with contextlib.suppress(*UNREADABLE):
                for (packed,) in database.execute("SELECT packed FROM talks WHERE id = ?", (row,)):
                    _note(found, packed, said)
    return found


def _note(found: dict[str, set[str]], packed: object, said: dict[str, list[str]]) -> None:
    if not isinstance(packed, bytes):
        return
    try:
        text = zlib.decompress(packed).decode()
    except (zlib.error, UnicodeDecodeError):
        return
    for mark in said:
        if mark in text:
            events = [json.loads(line) for line in text.split("\n")]
            found.setdefault(mark, set()).update(one["text"] for one in events if one["type"] == "TranscriptFinal")


async def check(count: int, seed: int) -> Report:
    """Damages a history `count` times; says what the app has made of it."""
    report = Report()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        whole = Path(folder) / "whole.sqlite3"
        said = await make(whole)
        for number in range(count):
            place = Path(folder) / str(number)
            place.mkdir()
            path = place / "history.sqlite3"
            shutil.copyfile(whole, path)
            kind = damage(path, random.Random(f"{seed} {number}"))
            await _judge(report, f"{number} ({kind})", path, said)
            shutil.rmtree(place, ignore_errors=True)
    return report


async def _judge(report: Report, name: str, path: Path, said: dict[str, list[str]]) -> None:
    by_sqlite: dict[str, set[str]] = {}
    with contextlib.suppress(*UNREADABLE):
        by_sqlite = readable(path, said)
    report.readable += len(by_sqlite)
    damaged = path.read_bytes()
    history = HistoryStore(path, None)
    try:
        kept = await asyncio.wait_for(_all_words(history), 60)
        history.begin("new", Setup()).put(e.TranscriptFinal(0.1, 1, "A new talk begins.", 0.1))
        if "new" not in [view.key for view in await history.conversations("begins")]:
            report.wrong.append(f"{name}: a new talk is not kept")
    except Exception as error:
        report.wrong.append(f"{name}: {type(error).__name__}: {error}")
        kept = ""
    other = next(iter(path.parent.glob("*.version-*")), None)
    if other is not None and (other.read_bytes() != damaged or str(other) not in history.notice):
        report.wrong.append(f"{name}: another version's file was changed, or a sentence is missing: {history.notice}")
    if history.trouble:
        report.wrong.append(f"{name}: {history.trouble}")
    aside = path.with_name(path.name + ".broken")
    if aside.exists() != ("damaged" in history.notice) or (aside.exists() and str(aside) not in history.notice):
        report.wrong.append(f"{name}: a sentence is missing or wrong: {history.notice}")
    if aside.exists() and "version" not in name and aside.stat().st_size != len(damaged):
        report.wrong.append(f"{name}: the damaged file was changed")
    await history.close()
    if "could not be closed" in history.trouble:
        report.wrong.append(f"{name}: {history.trouble}")
    report.kept += sum(all(text.strip() in kept for text in said[mark]) for mark in said)
    for mark in () if other else by_sqlite:
        missing = [text for text in by_sqlite[mark] if text not in kept]
        if missing:
            report.lost.append(f"{name}: {mark} ({len(missing)} turns)")


async def _all_words(history: HistoryStore) -> str:
    words = []
    for view in await history.conversations():
        for one in await history.talks(view.key):
            words += [event.text for event in one.events if isinstance(event, e.TranscriptFinal | e.AssistantSaid)]
            words += [event.text for event in one.events if isinstance(event, e.OracleDelta)]
    return "\n".join(words)
