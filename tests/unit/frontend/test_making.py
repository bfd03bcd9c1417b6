"""Front-ends are made by name, what one lacks is said before anything loads, and one at a time holds the card."""

from __future__ import annotations

import pytest

import app.frontend as providers
from app.frontend import FrontEndOptions, make_frontend
from app.frontend.base import FrontEndError
from app.frontend.kame.stream import StreamFrontEnd
from app.platform.supervision import CARD, CardBusyError
from tests.support.scripted import ScriptedVoice


def test_a_name_that_no_front_end_has_is_refused() -> None:
    with pytest.raises(FrontEndError, match="no front-end called “parrot”"):
        make_frontend("parrot", FrontEndOptions(ScriptedVoice))


def test_without_its_packages_the_sentence_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "find_spec", lambda name: None if name in ("torch", "moshi") else object())
    with pytest.raises(FrontEndError, match=r"\(torch, moshi\).*bootstrap\.py setup.*cascade"):
        make_frontend("kame", FrontEndOptions(ScriptedVoice))
    assert providers.free_card_bytes() is None


class OnTheCard(StreamFrontEnd):
    def __enter__(self) -> OnTheCard:
        self._held.enter_context(CARD.hold("KAME", 0.05))
        return self


def test_a_card_that_stays_taken_is_a_sentence_and_not_waited_for_without_end() -> None:
    taken = "still held by the previous conversation, so KAME can't be loaded"
    with OnTheCard(), pytest.raises(CardBusyError, match=taken):
        OnTheCard().__enter__()
    with OnTheCard():
        pass
