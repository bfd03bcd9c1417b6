"""When a resource that has failed is started again, and who may use the card."""

import asyncio
import threading

import pytest

from app.platform.supervision import LONGEST_PAUSE, CardBusyError, LocalCard, Restarts, acquire


def test_a_resource_is_started_again_at_once_and_then_ever_later() -> None:
    now = [0.0]
    restarts = Restarts(lambda: now[0])
    assert restarts.attempt() == 0.0, "the start"
    waits = []
    for _ in range(10):
        wait = restarts.attempt()
        waits.append(wait)
        now[0] += wait
        assert wait == 0.0 or restarts.attempt() == 0.0
    assert waits == [0.0, 1.0, 3.0, 7.0, 15.0, 31.0, *[LONGEST_PAUSE] * 4]
    restarts.worked()
    assert restarts.attempt() == 0.0 and restarts.attempt() == 1.0
    now = [1e5]
    restarts = Restarts(lambda: now[0])
    restarts.worked()
    assert restarts.attempt() == 0.0
    now[0] += restarts.attempt() - 1e-9
    assert restarts.attempt() == 0.0


async def test_what_a_cancelled_caller_has_acquired_is_released() -> None:
    held, released, cancelled = threading.Event(), threading.Event(), threading.Event()

    def load() -> str:
        held.wait(10)
        return "model"

    def release(model: str) -> None:
        assert model == "model"
        released.set()

    loading = asyncio.create_task(acquire(load, release, cancelled.set))
    await asyncio.sleep(0)
    loading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await loading
    assert not released.is_set()
    assert await asyncio.to_thread(cancelled.wait, 10)
    held.set()
    while not released.is_set():
        await asyncio.sleep(0.001)


def test_a_load_waits_for_a_capture_and_not_for_the_models_on_the_card() -> None:
    card = LocalCard()
    with card.hold("KAME"):
        with card.work("Whisper", 0.0):
            pass
        with card.work("KAME"), pytest.raises(CardBusyError, match="Whisper can't be loaded there"):
            card.work("Whisper", 0.01).__enter__()
    with card.work("Whisper"):
        pass
