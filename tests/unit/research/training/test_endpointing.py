"""The fit of endpointing, on pauses whose right answer is known."""

import numpy as np
import pytest

from app.research.benches.pauses import Case
from app.research.training.endpointing import Look, Pause, Utterance, fit, follow, operating_points
from app.stt.text_endpointing import WordOdds

pytestmark = pytest.mark.slow
GAP = 0.9
END = 4.0


def spoken(number: int, speaker: str = "") -> Utterance:
    """An utterance with one pause of 0.9 s, whose words call for more, and an end whose words call for nothing."""
    doubt = 0.3 * np.sin(number)
    inside, end = WordOdds(-6.0 + doubt, -2.0), WordOdds(2.0 + doubt, 2.0)

    def looks(text: str, odds: WordOdds, sound: float, seconds: float) -> tuple[Look, ...]:
        return tuple(Look(round(0.08 * n, 2), sound, text, odds) for n in range(2, int(seconds / 0.08)))

    case = Case(f"{number}", "clause", f"{number}", np.zeros(0, np.float32), END, ((1.0, 1.0 + GAP),), speaker)
    return Utterance(
        case,
        (
            Pause(1.0, 1.0 + GAP, False, 0.0, looks("What is the capital of", inside, 0.3, GAP)),
            Pause(END, None, False, 0.0, looks("What is the capital of Norway?", end, 0.9, 2.4)),
        ),
    )


def test_open_words_are_waited_out_and_whole_ones_are_answered() -> None:
    everything = [spoken(n, speaker) for speaker in ("", "1", "2") for n in range(12)]
    weights = fit(everything)
    assert weights["words"]["close"] > 0.0 and weights["silence"]["silence"] > 0.0
    outcomes = [follow(one, weights, (1.0, 1.0)) for one in everything]
    assert not any(outcome.cuts for outcome in outcomes) and all(outcome.delay <= 0.4 for outcome in outcomes)
    hasty = follow(everything[0], weights, (1.0, -20.0))
    assert hasty.cuts and hasty.heard, "a policy that takes every silence for the end is told so"


def test_operating_points_are_the_best_policies_within_each_budget() -> None:
    everything = [spoken(n, speaker) for speaker in ("", "1", "2") for n in range(12)]
    lines = operating_points(everything, fit(everything)).splitlines()
    assert "| cut off at 0.3 s | 0.0 % |" in lines and "| mean delay at 5 % cut off | 0.16 s |" in lines


def test_a_turn_ends_no_sooner_than_the_least_silence() -> None:
    everything = [spoken(n, speaker) for speaker in ("", "1", "2") for n in range(12)]
    assert follow(everything[0], fit(everything), (1.0, -20.0), least=0.5).delay == pytest.approx(0.56)
