"""The ring under every interleaving: order is kept, and every sample is counted once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.audio.io.ring import Ring
from tests.support.examples import examples

OPERATION = st.one_of(
    st.tuples(st.just("write"), st.integers(0, 40)),
    st.tuples(st.just("read"), st.integers(0, 20)),
    st.tuples(st.just("discard"), st.just(0)),
    st.tuples(st.just("skip"), st.integers(0, 20)),
)


def ramp(start: int, count: int) -> np.ndarray:
    return np.arange(start, start + count, dtype=np.float32)


class Model:
    """The expected behaviour, by a list: positions that are taken, flushed, lost or still queued."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.queue: list[int] = []
        self.written = self.flushed = self.lost = 0

    def write(self, count: int) -> None:
        for _ in range(count):
            self.queue.append(self.written)
            self.written += 1
        while len(self.queue) > self.capacity:
            self.queue.pop(0)
            self.lost += 1

    def flush(self, count: int) -> int:
        count = min(count, len(self.queue))
        del self.queue[:count]
        self.flushed += count
        return count

    def read(self, count: int) -> list[int]:
        taken, self.queue = self.queue[:count], self.queue[count:]
        return taken


@pytest.mark.slow
@settings(max_examples=examples(300))
@given(capacity=st.integers(1, 24), operations=st.lists(OPERATION, max_size=40))
def test_any_interleaving_matches_the_model(capacity: int, operations: list[tuple[str, int]]) -> None:
    ring, model = Ring(capacity), Model(capacity)
    taken = 0
    for name, count in operations:
        if name == "write":
            ring.write(ramp(model.written, count))
            model.write(count)
        elif name == "read":
            out = np.full(count, -1.0, np.float32)
            got = ring.read_into(out)
            expected = model.read(count)
            assert out[:got].tolist() == expected
            taken += got
        elif name == "discard":
            assert ring.discard() == model.flush(len(model.queue))
        else:
            assert ring.skip(count) == model.flush(count)
        counts = ring.counts()
        assert counts == (model.written, taken, len(model.queue), model.flushed, model.lost)
        assert ring.queued == len(model.queue)


class Interrupting(np.ndarray):
    """An output array: the first copy into it is interrupted by the writer."""

    def __setitem__(self, key, value) -> None:
        super().__setitem__(key, value)
        interruption, self.interruption = getattr(self, "interruption", None), None
        if interruption:
            interruption()


def test_samples_overwritten_while_they_are_copied_are_lost_not_torn() -> None:
    ring = Ring(8)
    ring.write(ramp(0, 8))
    out = np.zeros(4, np.float32).view(Interrupting)
    out.interruption = lambda: ring.write(ramp(8, 6))
    assert ring.read_into(out) == 4
    assert out.tolist() == [6, 7, 8, 9]
    assert ring.counts() == (14, 4, 4, 0, 6)


def test_discard_during_a_read_takes_effect_at_the_next_one() -> None:
    ring = Ring(16)
    ring.write(ramp(0, 10))
    out = np.zeros(4, np.float32).view(Interrupting)
    out.interruption = ring.discard
    assert ring.read_into(out) == 4
    assert ring.counts() == (10, 4, 0, 6, 0)
    ring.write(ramp(10, 2))
    rest = np.zeros(4, np.float32)
    assert ring.read_into(rest) == 2
    assert rest[:2].tolist() == [10, 11]
