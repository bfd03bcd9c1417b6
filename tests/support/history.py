"""Talks for the tests of the history, and a history to put them into."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

from app.conversation import events as e
from app.history.base import Setup
from app.history.store import HistoryStore

MOON = ("How far away is the moon tonight?", "Some 384,000 kilometres, give or take.")
TEA = ("Wie trinkt man grünen Tee?", "Nicht zu heiß, und ohne Zucker.")


def asked_and_answered(
    turn: int, at: float, question: str, answer: str, model: str = "tiny", interrupted: bool = False
) -> list[e.Event]:
    """A question that comes word by word, and its answer, in some three events a second."""
    words, told = question.split(), [e.UserStarted(at, turn)]
    for count in range(1, len(words) + 1):
        at += 0.3
        told.append(e.TranscriptPartial(at, turn, " ".join(words[: count - 1]), words[count - 1], at - 0.1))
    told += [
        e.UserPaused(at + 0.2, turn, at),
        e.TranscriptFinal(at + 0.4, turn, question, at),
        e.UserEnded(at + 0.4, turn, at, "words"),
        e.OracleRequested(at + 0.4, turn, turn, "scripted", model, question, True),
    ]
    at += 0.8
    if answer:
        told += [e.OracleDelta(at, turn, answer), e.AssistantStarted(at, turn, turn)]
        for word in answer.split():
            at += 0.3
            told += [e.OracleFed(at, turn, 1, 10.0), e.AssistantSaid(at, turn, word, turn)]
        told += [e.OracleEnded(at, turn, "complete", len(answer.split())), e.AssistantEnded(at, turn, interrupted)]
    return told


def talk(*pairs: tuple[str, str], model: str = "tiny") -> list[e.Event]:
    """A whole talk of questions and answers."""
    told: list[e.Event] = [e.SessionStarted(0.0, "cascade", "scripted", "scripted", model, "thinking")]
    for turn, (question, answer) in enumerate(pairs, 1):
        told += asked_and_answered(turn, told[-1].at + 0.5, question, answer, model)
    return [*told, e.SessionEnded(told[-1].at + 0.5, round(told[-1].at / 0.08))]


def numbered(mark: str) -> Iterator[e.Event]:
    """A talk without an end, whose words are serial numbers: each of its events has the next one in its text. Without
    those that only open a turn; they follow what opened it by itself."""
    serial, turn = 0, 0
    while True:
        turn += 1
        words: list[str] = []
        for _ in range(8):
            serial += 1
            words.append(f"{mark}{serial}")
            yield e.TranscriptPartial(serial * 0.05, turn, " ".join(words[:-1]), words[-1], serial * 0.05)
        serial += 1
        words.append(f"{mark}{serial}")
        yield e.TranscriptFinal(serial * 0.05, turn, " ".join(words), serial * 0.05)
        for _ in range(14):
            serial += 1
            yield e.AssistantSaid(serial * 0.05, turn, f"{mark}{serial}", turn)


class Clock:
    """Seconds since 1970, one more at each call."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@asynccontextmanager
async def kept(folder: Path, **options: object) -> AsyncIterator[HistoryStore]:
    """A history in `folder` that is closed at the end."""
    history = HistoryStore(folder / "history.sqlite3", folder / "recordings", **options)
    try:
        yield history
    finally:
        await history.close()


def hold(history: HistoryStore, key: str, *pairs: tuple[str, str], setup: Setup = Setup(), **options: object) -> list:  # noqa: B008
    """Stores a talk in a conversation; returns its events."""
    events = talk(*pairs, **options)
    log = history.begin(key, setup)
    for event in events:
        log.put(event)
    log.end()
    return events


def everywhere(folder: Path) -> bytes:
    """All bytes of all files."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
