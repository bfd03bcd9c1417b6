"""Full duplex in a room: the app hears neither itself nor nothing.

Real echo path, canceller, voice detector and front-end; scripted ears and brain; all in the sound's own time.
"""

from __future__ import annotations

import jiwer
import numpy as np
import pytest
import soxr

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.conversation.words import fold
from app.offline_models import model_path
from app.stt.whisper_decoder import RATE, WhisperDecoder
from tests.support.room_talks import RoomTalk, barge_ins, erle_db, monologue, text_of

ROOMS: list[dict[str, object]] = [
    {"delay_seconds": 0.02, "attenuation_db": -6.0, "rt60": 0.3, "noise_dbfs": -65.0, "drift_ppm": 100.0},
    {"delay_seconds": 0.04, "attenuation_db": -6.0, "rt60": 0.5, "noise_dbfs": -65.0, "drift_ppm": -100.0},
    {"delay_seconds": 0.08, "attenuation_db": -6.0, "rt60": 0.3, "noise_dbfs": -50.0, "drift_ppm": -100.0},
    {"delay_seconds": 0.25, "attenuation_db": -6.0, "rt60": 0.5, "noise_dbfs": -65.0, "drift_ppm": 100.0},
    {"delay_seconds": 0.08, "attenuation_db": -12.0, "rt60": 0.5, "noise_dbfs": -65.0, "drift_ppm": 100.0},
    {"delay_seconds": 0.15, "attenuation_db": -12.0, "rt60": 0.3, "noise_dbfs": -60.0, "drift_ppm": 0.0},
    {"delay_seconds": 0.04, "attenuation_db": -20.0, "rt60": 0.4, "noise_dbfs": -65.0, "drift_ppm": 100.0},
    {"delay_seconds": 0.25, "attenuation_db": -20.0, "rt60": 0.4, "noise_dbfs": -65.0, "drift_ppm": -100.0},
]
MINUTES = 30 / len(ROOMS)


@pytest.mark.parametrize("case", range(len(ROOMS)))
def test_in_half_an_hour_of_talking_the_app_never_interrupts_itself(case: int) -> None:
    talk = monologue(MINUTES * 60, app_first=case, seed=case, **ROOMS[case])
    assert len(talk.of(e.AssistantStarted)) == 1
    assert not talk.of(e.AssistantHeld) and talk.self_interruptions == 0
    assert talk.sounding_share > 0.8, "the app was to talk all the time"
    assert not any(health.echo_remains for health in talk.health)
    # From two seconds after its first word on; the canceller is still learning in the first of the stretches.
    begin = talk.of(e.AssistantStarted)[0].at + 2.0
    assert erle_db(talk, begin, MINUTES * 60) >= 25
    assert min(erle_db(talk, at, at + 10) for at in np.arange(begin, MINUTES * 60 - 10, 10.0)) >= 15


LOUD, USUAL = [ROOMS[0], ROOMS[2]], [ROOMS[4], ROOMS[6]]
"""At -6 dB the echo is as loud as the user; -12 dB and less is what loudspeakers on a desk make of it."""
HEADPHONES: dict[str, object] = {"delay_seconds": 0.08, "attenuation_db": None}


def _word_errors(talk: RoomTalk, decoder: WhisperDecoder) -> tuple[int, int]:
    """Wrong words and words in all that the user said over the app, as the recogniser hears them."""
    wrong = words = 0
    for name, onset, end in talk.said[1:]:
        part = talk.heard[round((onset - 0.3) * SAMPLE_RATE) : round((end + 0.3) * SAMPLE_RATE)]
        heard = decoder.decode(soxr.resample(part, SAMPLE_RATE, RATE))
        told = jiwer.process_words(" ".join(fold(text_of(name))), " ".join(fold(heard)))
        wrong += told.substitutions + told.deletions + told.insertions
        words += told.substitutions + told.deletions + told.hits
    return wrong, words


@pytest.mark.parametrize("rooms", [USUAL, LOUD], ids=["usual", "loud"])
def test_a_user_who_speaks_over_the_app_is_heard_and_stops_it(rooms: list[dict[str, object]]) -> None:
    """Beside the same words spoken with headphones on, which leave no echo: what the echo costs."""
    extra, wrong, wrong_without, words, delays = [], 0, 0, 0, []
    decoder = WhisperDecoder(model_path("ears"), threads=1)
    for case, room in enumerate(rooms):
        talk, without = (barge_ins(4, app_first=case, seed=case + 4, **r) for r in (room, {**room, **HEADPHONES}))
        assert talk.self_interruptions == without.self_interruptions == 0
        for delay, best in zip(talk.delays, without.delays, strict=True):
            assert delay is not None and best is not None, "the app went on in spite of the user"
            extra.append(delay - best)
            delays.append(delay)
        errors, count = _word_errors(talk, decoder)
        wrong, words = wrong + errors, words + count
        wrong_without += _word_errors(without, decoder)[0]
    loud = rooms is LOUD
    assert np.median(extra) <= (0.25 if loud else 0.1)
    assert np.median(delays) <= (0.6 if loud else 0.4)
    # An echo may cost 5 points of word error rate; one as loud as the user costs more: AEC3 takes the user for echo.
    assert (wrong - wrong_without) / words <= (0.3 if loud else 0.05)
