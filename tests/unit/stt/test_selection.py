"""Which recogniser hears a talk, and the sentences when there is none."""

from __future__ import annotations

import pytest

from app.models.speeds import Speed
from app.stt.base import TranscriberError
from app.stt.heard_language import HeardLanguage
from app.stt.selection import SLOWEST_LOOK, choose_recogniser

QUICK, SLOW = Speed(SLOWEST_LOOK - 0.05, 16.0), Speed(SLOWEST_LOOK + 0.05, 12.0)


@pytest.mark.parametrize(
    ("language", "here", "speeds", "chosen"),
    [
        ("en", {"whisper-tiny.en", "whisper-base"}, {}, "whisper-tiny.en"),
        ("en", {"whisper-tiny.en", "whisper-small.en"}, {"whisper-small.en": QUICK}, "whisper-small.en"),
        ("en", {"whisper-tiny.en", "whisper-small.en"}, {"whisper-small.en": SLOW}, "whisper-tiny.en"),
        ("en", {"whisper-tiny.en", "moonshine-tiny.en"}, {"moonshine-tiny.en": QUICK}, "whisper-tiny.en"),
        ("de", {"whisper-tiny.en", "whisper-base", "whisper-small"}, {}, "whisper-base"),
        ("de", {"whisper-base", "whisper-small"}, {"whisper-base": QUICK, "whisper-small": QUICK}, "whisper-small"),
        ("auto", {"whisper-tiny.en", "distil-large-v3", "whisper-base"}, {"distil-large-v3": QUICK}, "whisper-base"),
    ],
)
def test_the_largest_that_keeps_up_is_chosen(
    language: str, here: set[str], speeds: dict[str, Speed], chosen: str
) -> None:
    assert choose_recogniser("", language, here=here.__contains__, speeds=speeds).key == chosen


@pytest.mark.parametrize(
    ("key", "language", "told"),
    [
        ("", "de", "models get whisper-base"),
        ("", "auto", "models get whisper-base"),
        ("whisper-small", "en", "models get whisper-small"),
        ("whisper-tiny.en", "es", r"\(es\), but en"),
        ("piper-joe", "en", "doesn't recognise speech"),
        ("nothing", "en", "no model called “nothing”"),
    ],
)
def test_what_can_not_be_had_is_said_in_a_sentence(key: str, language: str, told: str) -> None:
    with pytest.raises(TranscriberError, match=told):
        choose_recogniser(key, language, here={"whisper-tiny.en", "piper-joe"}.__contains__, speeds={})


def test_a_language_is_kept_until_another_one_is_heard_clearly() -> None:
    heard = HeardLanguage(frozenset(("en", "de", "es")))
    assert heard.hear({"de": 0.6, "en": 0.3}, 0.5) == "de" and heard.known == ""  # too short to be sure
    assert heard.hear({"nl": 0.5, "en": 0.4, "de": 0.1}, 2.0) == "en" and heard.known == "en"  # nobody speaks Dutch
    assert heard.hear({"de": 0.7, "en": 0.3}, 3.0) == "en"
    assert heard.hear({"de": 0.95, "en": 0.05}, 0.5) == "en"
    assert heard.hear({"de": 0.95, "en": 0.05}, 3.0) == "de" == heard.known
