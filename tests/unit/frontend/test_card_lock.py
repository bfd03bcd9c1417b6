"""One front-end at a time holds the card, and lets go of it whatever fails."""

from __future__ import annotations

import pytest

from app.frontend.kame.stream import StreamFrontEnd
from app.platform.supervision import CARD, CardBusyError


class OnTheCard(StreamFrontEnd):
    """Holds the card, and something besides that may fail to be freed."""

    def __init__(self, *, breaks: bool = False) -> None:
        super().__init__()
        self._breaks = breaks

    def __enter__(self) -> OnTheCard:
        self._held.enter_context(CARD.hold("KAME", 0.05))
        self._held.callback(self._free)
        return self

    def _free(self) -> None:
        if self._breaks:
            raise RuntimeError("CUDA error")


def test_a_card_that_stays_taken_is_a_sentence_and_not_waited_for_without_end() -> None:
    taken = "still held by the conversation before, so KAME can't be loaded"
    with OnTheCard(), pytest.raises(CardBusyError, match=taken):
        OnTheCard().__enter__()
    with OnTheCard():
        pass


def test_what_fails_at_the_end_does_not_keep_the_card() -> None:
    broken = OnTheCard(breaks=True).__enter__()
    with pytest.raises(RuntimeError, match="CUDA error"):
        broken.__exit__(None, None, None)
    broken.__exit__(None, None, None)  # twice is fine
    with OnTheCard():
        pass
