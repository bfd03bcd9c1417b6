"""Front-ends are made by name; what one lacks is said before anything loads."""

from __future__ import annotations

import pytest

import app.frontend as providers
from app.frontend import FrontEndOptions, make_frontend
from app.frontend.base import FrontEndError
from app.tts.scripted import ScriptedVoice


def test_a_name_that_no_front_end_has_is_refused() -> None:
    with pytest.raises(FrontEndError, match="no front-end called “parrot”"):
        make_frontend("parrot", FrontEndOptions(ScriptedVoice))


def test_without_its_packages_the_sentence_says_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(providers, "find_spec", lambda name: None if name in ("torch", "moshi") else object())
    with pytest.raises(FrontEndError, match=r"\(torch, moshi\).*bootstrap\.py setup.*cascade"):
        make_frontend("kame", FrontEndOptions(ScriptedVoice))
    assert providers.free_card_bytes() is None
