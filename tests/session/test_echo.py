"""Full duplex in a simulated room: the app doesn't interrupt itself, and the user can interrupt it. Real echo path,
canceller, voice detector and front-end; scripted recogniser and back-end; all in the sound's own time."""

from typing import Any

import numpy as np
import pytest

from app.conversation import events as e
from app.conversation.events import Processing
from app.models.locations import default_model
from app.stt.whisper_decoder import WhisperDecoder
from tests.support.room_talks import barge_ins, erle_db, fresh_barge_in, monologue, sweep, word_errors

ROOMS: list[dict[str, Any]] = [
    {"delay_seconds": 0.02, "attenuation_db": -6.0, "rt60": 0.3, "noise_dbfs": -65.0, "drift_ppm": 100.0},
    {"delay_seconds": 0.08, "attenuation_db": -12.0, "rt60": 0.5, "noise_dbfs": -60.0, "drift_ppm": -100.0},
    {"delay_seconds": 0.25, "attenuation_db": -20.0, "rt60": 0.4, "noise_dbfs": -65.0, "drift_ppm": 0.0, "block": 480},
]
SECONDS = 30


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(ROOMS)))
def test_the_app_never_interrupts_itself(case: int) -> None:
    talk = monologue(SECONDS, app_first=case, swapped=case == 1, seed=case, **ROOMS[case])
    assert len(talk.of(e.AssistantStarted)) == 1
    assert not talk.of(e.AssistantHeld) and talk.self_interruptions == 0 and talk.room.sink.playback_pauses == 0
    assert talk.sounding_share > 0.8, "the app should speak all the time"
    assert not any(health.echo_remains for health in talk.health)
    # From two seconds after its first word on; in the first ten seconds the canceller is still learning.
    begin = talk.of(e.AssistantStarted)[0].at + 2.0
    assert erle_db(talk, begin, SECONDS) >= 25
    assert min(erle_db(talk, at, at + 10) for at in np.arange(begin, SECONDS - 10, 10.0)) >= 20
    # The drift was estimated from the echo.
    assert talk.health[-1].drift_ppm == pytest.approx(ROOMS[case]["drift_ppm"], abs=5)


@pytest.mark.slow
def test_moving_the_microphone_interrupts_nothing() -> None:
    talk = monologue(40, seed=7, moves_at=25.0, **ROOMS[1])
    assert not talk.of(e.AssistantHeld) and talk.self_interruptions == 0 and talk.room.sink.playback_pauses == 0
    assert erle_db(talk, 30.0, 40.0) >= 20


def test_without_cancellation_the_app_interrupts_itself() -> None:
    """Shows that the other tests can fail."""
    talk = monologue(12, seed=0, processing=Processing(echo=False), **ROOMS[0])
    assert talk.self_interruptions


@pytest.mark.slow
def test_barge_in_is_recognised_and_stops_the_app() -> None:
    """Compared with the same words on headphones, which leave no echo, and with decisions at frame ends only. There are
    few cases here; `tests.support.room_talks.sweep` makes a table of many."""
    decoder = WhisperDecoder(default_model("stt"))
    room = {**ROOMS[0], "seed": 4}
    rows = sweep([room], decoder, times=6)
    assert not any(row["self"] for row in rows)
    through = [row for row in rows if row["attenuation_db"] is not None]
    delays, best = (
        [delay for row in some for delay in row["delays"]]
        for some in (through, [row for row in rows if row["attenuation_db"] is None])
    )
    assert None not in delays and None not in best, "the app went on despite the user"
    assert np.median(delays) <= 0.25 and max(delays) <= 0.4
    assert np.median(np.subtract(delays, best)) <= 0.04
    assert sum(delay <= 0.3 for delay in delays) >= 5
    slower = barge_ins(3, app_first=0, by_hops=False, **room).delays
    assert np.mean(np.subtract(slower, delays[:3])) >= 0.01
    wrong, without = (sum(row["wrong"] for row in rows if (row in through) == own) for own in (True, False))
    assert (wrong - without) / sum(row["words"] for row in through) <= 0.06


@pytest.mark.parametrize("attenuation", [pytest.param(None, marks=pytest.mark.slow), -12.0])
def test_question_in_the_first_second_of_a_session_is_recognised(attenuation: float | None) -> None:
    """On headphones and over a loudspeaker unknown so far; 0.7 s after the app's first sound."""
    talk = fresh_barge_in(0.7, **{**ROOMS[1], "attenuation_db": attenuation})
    decoder = WhisperDecoder(default_model("stt"))
    assert not talk.self_interruptions and talk.delays[0] is not None and talk.delays[0] <= 0.4
    wrong, words = word_errors(talk, decoder)
    assert wrong <= 1 and words >= 9
