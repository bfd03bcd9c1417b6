"""Endpointing with the real voice detector, recogniser and judges: a small part of `bench turns`."""

from collections.abc import Iterator

import pytest

from app.conversation.turns.tracker import TurnSettings
from app.models.locations import default_model
from app.research.benches.endpointing import figures, follow
from app.research.benches.pauses import Case, bench_cases
from app.research.benches.timed_parts import SpeechModels, speech_models

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (
            default_model("stt").is_dir() and default_model("endpointing").is_file() and default_model("llm").is_file()
        ),
        reason="the models are not installed",
    ),
]


@pytest.fixture(scope="module")
def models() -> Iterator[SpeechModels]:
    with speech_models() as loaded:
        assert loaded.words is not None
        yield loaded


@pytest.fixture(scope="module")
def cases(models: SpeechModels) -> list[Case]:
    return [case for case in bench_cases(models.transcribe, 1, 6).made if case.kind == "clause"]


def test_a_pause_in_mid_clause_audibly_cuts_nobody_off(models: SpeechModels, cases: list[Case]) -> None:
    heard = [follow(case, models) for case in cases]
    assert len(heard) >= 4 and all(case.pauses for case in cases)
    found = figures(heard)
    assert found["audible"] == 0 and found["cut_off"] <= 1, [(one.case.text, one.cuts) for one in heard if one.cuts]
    # In the window a decode takes 0.25 s, which the words of the shortest pauses wait for.
    assert found["p50"] <= 0.46, [(one.case.text, one.delay, one.words) for one in heard]
    assert all(one.delay is not None for one in heard)


def test_a_hasty_tracker_would_cut_them_off(models: SpeechModels, cases: list[Case]) -> None:
    """Checks the measure itself: a tracker that ends the turn at every silence cuts speakers off."""
    hasty = TurnSettings(patience=-10.0)
    heard = [follow(case, models, hasty) for case in cases[:1]]
    assert all(one.cuts for one in heard)
