"""The figures of the smaller benches, on sounds, words and events that are known."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from app.backend.base import ChatMessage, ChatRequest
from app.backend.scripted import ScriptedAnswer, ScriptedBackend
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES
from app.conversation.words import fold
from app.models.catalogue import find_model
from app.models.selection import Speed
from app.research.benches import overlap
from app.research.benches.answers import OWN_VOICE, AnswersResult, Fact, FactsResult, JudgedAnswer, figures, judge
from app.research.benches.audio import AudioResult, ChirpDetector, make_chirp
from app.research.benches.latency import Measured, RemoteResult
from app.research.benches.recognition import (
    LEAD_SECONDS,
    Listened,
    RecogniserResult,
    RecognisersResult,
    _lags,
    words_wrong,
)
from app.research.benches.recordings import Recording, Turn
from app.research.benches.timed_parts import SimulatedBackend
from app.session.clock import run_simulated
from tests.support import sounds

pytestmark = pytest.mark.slow


def hearings(sound: np.ndarray) -> list[int]:
    """The samples at which the detector finds the end of a chirp."""
    detector = ChirpDetector(make_chirp())
    frames = np.pad(sound, (0, -len(sound) % FRAME_SAMPLES)).astype(np.float32).reshape(-1, FRAME_SAMPLES)
    heard = [(number, detector.find(frame)) for number, frame in enumerate(frames)]
    return [number * FRAME_SAMPLES + at for number, at in heard if at is not None]


@pytest.mark.parametrize("begin", [0, 500, FRAME_SAMPLES - 100, FRAME_SAMPLES - 1, 3 * FRAME_SAMPLES])
@pytest.mark.parametrize("gain", [1.0, 0.02])
def test_a_chirp_is_found_to_the_sample_wherever_frames_cut_it(begin: int, gain: float) -> None:
    chirp = make_chirp()
    sound = sounds.room(1.0, dbfs=-70.0)
    sound[begin : begin + len(chirp)] += gain * chirp
    [ended] = hearings(sound)
    assert abs(ended - (begin + len(chirp))) <= 1


@pytest.mark.parametrize("loudness", [-10.0, -40.0])
def test_noise_and_speech_are_no_chirp(loudness: float) -> None:
    assert hearings(sounds.room(10.0, dbfs=loudness)) == []
    assert hearings(sounds.question()) == []


def test_what_the_app_adds_is_the_trip_without_devices_and_one_frame() -> None:
    result = AudioResult("mic", "box", device=[27.0, 26.0, 28.0], trips=[140.0, 141.0, 139.0], ring=[20.0], step=[0.2])
    assert result.beyond == pytest.approx(33.0) and result.ok
    assert "the app beyond one frame" in result.table() and result.document()["within_goal"]
    result.trips = [150.0]
    assert not result.ok


QUESTION = "I would like to become a voyager next year."


@pytest.mark.parametrize(
    ("heard", "whole", "beginning_lost", "vanished"),
    [
        ("I would like to become a voyager next year", True, False, False),
        ("Eye would like to become the voyager next year", True, False, False),
        ("like to become a voyager next year", False, True, False),
        ("I would like", False, False, False),
        ("", False, False, True),
        ("wow", False, False, True),
    ],
)
def test_what_became_of_a_question(heard: str, whole: bool, beginning_lost: bool, vanished: bool) -> None:
    asked = Recording("one", QUESTION, np.zeros(0, np.float32))
    place = overlap.Place("loudspeaker, first conversation", {})
    one = overlap.Outcome(place, asked, 3.0, fold(heard), fold(QUESTION), True, 0)
    assert (one.whole, one.beginning_lost, one.vanished) == (whole, beginning_lost, vanished)
    assert one.sound_whole
    result = overlap.OverlapResult([one], [1])
    row = f"| loudspeaker, first conversation | 1 | 1 | {whole:d} | {beginning_lost:d} | {vanished:d} |"
    assert row in result.table() and "interrupted itself 1 times in 1 talks" in result.table()
    assert len(result.document()["not_whole"]) == (not whole)


def test_a_word_lags_until_it_stands_in_a_partial_and_stays() -> None:
    told = [
        (0.5, 1, ("call",)),
        (1.0, 1, ("call", "be")),
        (1.5, 1, ("tall", "me")),
        (2.0, 1, ("call", "me")),
        (4.0, 2, ("now",)),
    ]
    told = [(at + LEAD_SECONDS, turn, words) for at, turn, words in told]
    ends = [("call", 0.3), ("her", 0.6), ("me", 0.9), ("now", 3.5)]
    assert [round(lag, 2) for lag in _lags(told, ends)] == [1.7, 0.6, 0.5]


def test_the_table_has_a_row_for_each_recogniser() -> None:
    some = [Listened("Call me at twenty-five past.", "call me at 25 fast", (0.2, 0.4), 1.0, 4.0)]
    assert words_wrong(some) == 0.2
    found = RecogniserResult(find_model("whisper-base"), 1.25, 250_000_000, {"people": some})
    row = RecognisersResult("en", {"people": 1}, [found]).table().splitlines()[-1]
    assert row == "| whisper-base | 20.0 % | 0.30 s | 0.25 | 250 MB | 1.2 s |"


FACT = Fact(Recording("1", "What is the capital?", np.zeros(0, np.float32)), ("oslo",), "places")
GUESS, ANSWER = " It is Bergen. It is old.", " It is Oslo, in the south. It is new."


def answered(*said: tuple[str, int], corrected: bool = False) -> JudgedAnswer:
    events: list[e.Event] = [e.TranscriptFinal(4.2, 1, "What is it?", 4.0), e.AssistantStarted(4.4, 1, said[0][1])]
    events += [e.OracleDelta(1.0, 1, GUESS), e.OracleDelta(4.3, 2, ANSWER)]
    at = 4.4
    for text, revision in said:
        for word in text.split():
            events.append(e.AssistantSaid(at := at + 0.25, 1, word, revision))
    if corrected:
        events.append(e.AssistantCorrected(6.0, 1, 2, "corrected"))
    return judge(FACT, Turn(events, 4.0))


@pytest.mark.parametrize(
    ("said", "corrected", "taken_back", "whole", "right"),
    [
        ([("It is Oslo, in the south. It is new.", 2)], False, False, True, True),
        ([("Let me see.", 0), ("It is Oslo,", 2)], False, False, True, True),  # the next question cut it short
        ([("It is Bergen.", 1), ("Or rather, it is Oslo, in the south.", 2)], True, True, False, False),
        ([("It is Bergen.", 1), ("It is new.", 2)], False, True, False, False),  # joined without a word
    ],
)
def test_what_was_taken_back_is_told_from_what_was_one_whole(
    said: list[tuple[str, int]], corrected: bool, taken_back: bool, whole: bool, right: bool
) -> None:
    found = answered(*said, corrected=corrected)
    assert (found.taken_back, found.whole) == (taken_back, whole)
    assert found.right is right  # by its first sentence


def test_an_opening_counts_for_the_first_sound_and_not_for_the_first_word() -> None:
    found = answered(("Let me see.", 0), ("It is Oslo,", 2))
    assert found.opening == "Let me see." and found.said == "It is Oslo,"
    assert found.first_sound == pytest.approx(0.42) and found.first_word == pytest.approx(1.4)
    counted = figures([found, answered(("It is Bergen.", 1))])
    assert (counted["asked"], counted["openings"], counted["right"], counted["whole"]) == (2, 1, 1, 2)
    table = FactsResult([FACT], {("small", "hands-free"): [found]}).table()
    assert "| small | hands-free | 1 | 100 | 0 | 0 | 0 | 1 | 0.42 | 0.42 | 1.40 | 1.40 |" in table
    group = ("hands-free", OWN_VOICE)
    table = AnswersResult({group: [found]}, {group: (1, 8)}).table()
    assert "| 1 | 0 | 0 | 1 | 1 | 1 | 0.42 | 0.42 | 1.40 | 1.40 | 12.5 |" in table


SPOKEN = ("Mars", " is", " the", " r", "ed", " planet", ".", " ", "One of eight.")


def test_words_come_at_the_measured_speed_however_the_model_cuts_them() -> None:
    backend = SimulatedBackend(ScriptedBackend(lambda request: ScriptedAnswer(SPOKEN)), Speed(1.0, 4.0))

    async def run() -> list[tuple[str, float]]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with backend.stream(ChatRequest((ChatMessage("user", "Which planet is red?"),))) as items:
            told = [(str(item), loop.time() - began) async for item in items]
        await backend.close()
        return told

    told = run_simulated(run())
    assert tuple(text for text, _ in told) == SPOKEN
    assert [at for _, at in told] == pytest.approx([1.0, 1.25, 1.5, 1.75, 1.75, 2.0, 2.0, 2.0, 2.75])


def test_both_ways_stand_side_by_side() -> None:
    here_figures = Measured([0.9, 1.1, 1.0], word_errors=1, words=40)
    result = RemoteResult(here_figures, Measured([1.0, 1.2], word_errors=2, words=40, unanswered=1))
    assert "| here | 3 | 1.00 | 1.10 | 1 | 40 | 0 |" in result.table()
    assert "| by a server | 3 | 1.10 | 1.20 | 2 | 40 | 1 |" in result.table()
    here, there = result.document()["ways"]
    assert here["first_sound_p50"] == 1.0 and there["unanswered"] == 1
