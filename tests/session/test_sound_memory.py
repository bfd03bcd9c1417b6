"""What a turn sounded like can be heard again while the conversation goes on."""

import asyncio

import numpy as np
import pytest

from app.backend.scripted import answer
from app.conversation.frame import FRAME_SAMPLES, SAMPLE_RATE
from app.session.recorder import SoundMemory
from app.session.session import Session
from tests.support.scripted import ScriptedTurn
from tests.support.talks import simulate


def ramp(index: int) -> np.ndarray:
    return (np.arange(index * FRAME_SAMPLES, (index + 1) * FRAME_SAMPLES) % 20_000 / 32768).astype(np.float32)


def sample_at(seconds: float) -> float:
    return (round(seconds * SAMPLE_RATE) % 20_000) / 32768


def test_a_part_is_cut_to_the_sample() -> None:
    memory = SoundMemory(10)
    for n in range(50):
        memory.add(n, ramp(n), -ramp(n))
    part = memory.cut("user", 1.03, 2.51)
    assert part is not None and len(part) == round(1.48 * SAMPLE_RATE)
    assert part[0] == pytest.approx(sample_at(1.03), abs=1e-6)
    theirs = memory.cut("assistant", 1.03, 2.51)
    assert theirs is not None and np.array_equal(theirs, -part)


def test_what_is_too_old_is_forgotten_and_what_is_half_there_is_given_as_far_as_it_is() -> None:
    memory = SoundMemory(1.6)  # 20 frames
    for n in range(50):
        memory.add(n, ramp(n), ramp(n))
    assert memory.cut("user", 0.5, 2.0) is None
    part = memory.cut("user", 2.0, 3.0)
    assert part is not None and part[0] == pytest.approx(sample_at(2.4), abs=1e-6)
    assert len(part) == round(0.6 * SAMPLE_RATE)
    late = memory.cut("user", 3.9, 9.0)
    assert late is not None and len(late) == round(0.1 * SAMPLE_RATE)
    assert memory.cut("user", 4.0, 5.0) is None and memory.cut("user", 3.0, 3.0) is None


def test_what_was_never_played_is_not_heard_again() -> None:
    memory = SoundMemory(10)
    memory.add(3, ramp(3), ramp(3))
    memory.add(4, ramp(4), np.zeros(FRAME_SAMPLES, np.float32), flushed=FRAME_SAMPLES // 2)
    kept = memory.cut("assistant", 0.24, 0.32)
    assert kept is not None and kept[: FRAME_SAMPLES // 2].any() and not kept[FRAME_SAMPLES // 2 :].any()
    user = memory.cut("user", 0.24, 0.32)
    assert user is not None and user.all(), "the user did say it"


def test_a_conversation_remembers_only_where_somebody_may_ask() -> None:
    script = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]
    kept: list[np.ndarray | None] = []

    def during(session: Session) -> None:
        asyncio.get_running_loop().call_later(8.0, lambda: kept.append(session.sound_of("assistant", 3.0, 6.0)))

    for seconds in (0.0, 60.0):
        simulate(script, lambda _: answer("It is Paris, on the Seine."), during=during, remember_seconds=seconds)
    assert kept[0] is None
    assert kept[1] is not None and len(kept[1]) == 3 * SAMPLE_RATE and np.abs(kept[1]).max() > 0.01
