"""Loaded models are kept for the next conversation: one user at a time, no longer than is useful, none beyond the app's
end."""

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

import pytest

from app.models.pool import KEEP_SECONDS, ModelPool


class Loaded:
    """A model that can die and be closed."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.works, self.closed = True, False

    def alive(self) -> bool:
        return self.works

    def close(self) -> None:
        assert not self.closed
        self.closed = True


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def pool() -> Iterator[ModelPool]:
    with ModelPool(Clock(), memory=1000).keeping() as pool:
        yield pool


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "model").write_bytes(bytes(100))
    return tmp_path / "model"


def borrow(pool: ModelPool, file: Path, kind: str = "llm", *options: int) -> AbstractContextManager[Loaded]:
    return pool.borrow(kind, lambda place, *_: Loaded(place), file, *options)


def use(pool: ModelPool, file: Path, kind: str = "llm", *options: int) -> Loaded:
    with borrow(pool, file, kind, *options) as model:
        assert not model.closed
    return model


def test_the_next_user_has_the_same_model_and_one_with_other_options_another(pool: ModelPool, file: Path) -> None:
    first = use(pool, file)
    assert use(pool, file) is first and not first.closed
    assert use(pool, file, "llm", 2) is not first and use(pool, file, "tts") is not first


def test_it_tells_which_kinds_it_holds(pool: ModelPool, file: Path) -> None:
    with borrow(pool, file, "engine"):
        assert not pool.holds("engine")
    assert pool.holds("engine") and not pool.holds("stt")


def test_what_has_died_is_loaded_again(pool: ModelPool, file: Path) -> None:
    with borrow(pool, file) as dead_while_used:
        dead_while_used.works = False
    assert dead_while_used.closed
    dead_while_kept = use(pool, file)
    dead_while_kept.works = False
    assert use(pool, file) is not dead_while_kept and dead_while_kept.closed


@pytest.mark.parametrize("folder", [False, True])
def test_what_was_replaced_on_disk_is_loaded_again(pool: ModelPool, file: Path, folder: bool) -> None:
    place = file.parent if folder else file
    first = use(pool, place)
    os.utime(file, ns=(1, 1))
    assert use(pool, place) is not first and first.closed
    last = use(pool, place)
    pool.forget(file.parent)
    assert last.closed


def test_what_nobody_uses_goes_after_its_time(pool: ModelPool, file: Path) -> None:
    early = use(pool, file)
    pool._clock.now = KEEP_SECONDS / 2
    late = use(pool, file, "tts")
    with borrow(pool, file, "stt") as used:
        pool._clock.now = KEEP_SECONDS
        pool.tidy()
        assert (early.closed, late.closed, used.closed) == (True, False, False)
    assert use(pool, file, "tts") is late
    pool._clock.now += KEEP_SECONDS - 1
    pool.tidy()
    assert not late.closed


def test_a_model_that_needs_the_room_gets_it(pool: ModelPool, file: Path) -> None:
    """Unused ones and the new one have 400 of the 1000 bytes; the same kind goes first, and no more than must."""
    voice, quick = use(pool, file, "tts"), use(pool, file, "llm", 1)
    larger = file.with_name("larger")
    larger.write_bytes(bytes(250))
    big = use(pool, larger)
    assert (voice.closed, quick.closed, big.closed) == (False, True, False)
    assert use(pool, larger) is big


def test_nothing_is_left_when_the_app_ends(file: Path) -> None:
    pool = ModelPool(Clock())
    with ExitStack() as talk:
        with pool.keeping():
            kept = use(pool, file)
            used = talk.enter_context(borrow(pool, file, "tts"))
        assert kept.closed and not used.closed
    assert used.closed
    assert use(pool, file).closed  # nobody has asked for anything to be kept
    assert pool._timer is None
