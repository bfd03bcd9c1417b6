"""Front-ends are made by name, what one lacks is said before anything loads, and one at a time holds the card."""

from __future__ import annotations

import pytest

import app.frontend as providers
from app.frontend import FrontEndOptions, make_frontend
from app.frontend.base import FrontEndError
from app.frontend.kame.stream import StreamFrontEnd, the_card
from app.tts.scripted import ScriptedVoice


def test_a_name_that_no_front_end_has_is_refused() -> None:
    with pytest.raises(FrontEndError, match="no front-end called “parrot”"):
        make_frontend("parrot", FrontEndOptions(ScriptedVoice))


def test_without_its_packages_the_sentence_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "find_spec", lambda name: None if name in ("torch", "moshi") else object())
    with pytest.raises(FrontEndError, match=r"\(torch, moshi\).*bootstrap\.py setup.*cascade"):
        make_frontend("kame", FrontEndOptions(ScriptedVoice))
    assert providers.free_card_bytes() is None


class OnTheCard(StreamFrontEnd):
    """Holds the card, and something besides that may fail to be freed."""

    def __init__(self, *, breaks: bool = False) -> None:
        super().__init__()
        self._breaks = breaks

    def __enter__(self) -> OnTheCard:
        self._held.enter_context(the_card("KAME", 0.05))
        self._held.callback(self._free)
        return self

    def _free(self) -> None:
        if self._breaks:
            raise RuntimeError("CUDA error")


def test_a_card_that_stays_taken_is_a_sentence_and_not_waited_for_without_end() -> None:
    taken = "still held by the conversation before, so KAME can't be loaded"
    with OnTheCard(), pytest.raises(FrontEndError, match=taken):
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
