"""Speakers who pause, through the real voice detector, recogniser and judges: a small part of `bench turns`."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.conversation.turn import TurnSettings
from app.evaluation.pauses import Case, bench_cases
from app.evaluation.turns import figures, follow
from app.offline_models import model_path
from app.stt import finished_words

pytestmark = pytest.mark.skipif(
    not (model_path("ears").is_dir() and model_path("end of turn").is_file() and model_path("brain").is_file()),
    reason="the models are not installed",
)


@pytest.fixture(scope="module")
def parts() -> Iterator[tuple]:
    from app.stt.silero import SileroVoiceActivity
    from app.stt.smart_turn import SmartTurn
    from app.stt.whisper_decoder import WhisperDecoder

    words = finished_words.load()
    assert words is not None
    yield SileroVoiceActivity, WhisperDecoder(model_path("ears")), SmartTurn(model_path("end of turn")), words
    words.close()


@pytest.fixture(scope="module")
def cases(parts: tuple) -> list[Case]:
    decoder = parts[1]
    found, _ = bench_cases(lambda x: decoder.decode(soxr.resample(x, SAMPLE_RATE, 16_000).astype(np.float32)), 1, 6)
    return [case for case in found if case.kind == "clause"]


def test_a_pause_in_mid_clause_audibly_cuts_nobody_off(parts: tuple, cases: list[Case]) -> None:
    heard = [follow(case, *parts) for case in cases]
    assert len(heard) >= 4 and all(case.pauses for case in cases)
    found = figures(heard)
    assert found["audible"] == 0 and found["cut_off"] <= 1, [(one.case.text, one.cuts) for one in heard if one.cuts]
    assert found["p50"] <= 0.33, [(one.case.text, one.delay, one.words) for one in heard]
    assert all(one.delay is not None for one in heard)


def test_a_hasty_tracker_would_cut_them_off(parts: tuple, cases: list[Case]) -> None:
    """The measure itself: whoever takes every silence for the end is told so."""
    hasty = TurnSettings(patience=-10.0)
    heard = [follow(case, *parts, hasty) for case in cases[:1]]
    assert all(one.cuts for one in heard)
