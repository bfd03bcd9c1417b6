"""The pauses learned in a conversation are used in the next one, and are written outside the event loop."""

import threading
from pathlib import Path

import pytest

from app.conversation.turns.endpointing import PauseLengths
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from app.settings import kept_state
from tests.support.scripted import ScriptedTurn
from tests.support.talks import QuietSource, scripted_parts

PAUSING = [ScriptedTurn(0.5, 1.5, "What is the", finished=0.05), ScriptedTurn(2.3, 3.5, "capital of France?")]


async def test_the_pauses_of_a_talk_are_known_to_the_next_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(kept_state, "pauses_path", lambda: tmp_path / "data" / "pauses.json")
    threads: list[threading.Thread] = []

    def keep(pauses: PauseLengths) -> None:
        threads.append(threading.current_thread())
        kept_state.keep_pauses(pauses)

    parts = scripted_parts(PAUSING, QuietSource(60), "Paris.", keep_pauses=keep)
    async with Session(
        parts, SessionConfig(SessionChoice(duplex=True), pace="fast", pauses=kept_state.load_pauses())
    ) as session:
        await session.ended()
    known = kept_state.load_pauses()
    assert known.count == 1 and known.slower > 0.0
    assert len(threads) == 1 and threads[0] is not threading.main_thread()
    kept_state.pauses_path().write_text('{"mean_log": "NaN", "count": 3}')
    assert kept_state.load_pauses() == PauseLengths()
