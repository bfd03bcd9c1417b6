"""Lost audio is silence to everyone: real voice detection and streaming recognition, with stalls and overruns."""

import asyncio
import random
from collections.abc import Sequence

import numpy as np
import pytest

from app.backend.scripted import answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, SAMPLE_RATE, Frame, end_of_frame
from app.frontend.cascade import CascadeFrontEnd
from app.research.benches.timed_parts import SimulatedTranscriber, SpeechModels
from app.session.clock import run_simulated
from app.session.control import SessionChoice
from app.session.parts import Pace, SessionConfig
from app.session.session import Session
from app.stt.base import RATE, Transcriber
from app.stt.silero import SileroVoiceActivity
from app.stt.streaming import StreamingTranscriber
from tests.conftest import Faults
from tests.support import sounds
from tests.support.scripted import ScriptedTurn, ScriptedVoice
from tests.support.talks import Fault, FaultySource, Frames, Talk, events_of, scripted_parts, simulate


class CountingDecoder:
    """Recognises a word for each quarter of a second of voice: what is lost or added changes the words."""

    language = "en"

    def decode(self, samples: np.ndarray) -> str:
        quarters = samples[: len(samples) // (RATE // 4) * (RATE // 4)].reshape(-1, RATE // 4)
        words = [f"word{round(100 * float(np.abs(one).mean()))}" for one in quarters if np.abs(one).max() > 0.02]
        return " ".join(words)

    def close(self) -> None:
        pass

    def alive(self) -> bool:
        return True


class Undecided:
    def probability(self, samples: np.ndarray) -> float:
        return 0.5


ANSWER = "The capital of France is Paris."


def session(frames: np.ndarray, faults: Sequence[Fault], reply: str, transcriber: Transcriber, pace: Pace) -> Session:
    """A hands-free conversation in which each question is answered with `reply`."""
    parts = scripted_parts(
        [], FaultySource(Frames(frames), faults), reply, transcriber=transcriber, voice_activity=SileroVoiceActivity()
    )
    return Session(parts, SessionConfig(SessionChoice(duplex=True, openings=False), pace=pace))


def talk(frames: np.ndarray, faults: Sequence[Fault], *, reply: str = ANSWER) -> list[e.Event]:
    async def run() -> list[e.Event]:
        loop = asyncio.get_running_loop()
        transcriber = StreamingTranscriber("x", lambda: (CountingDecoder(), None), loop.call_soon_threadsafe)
        return await events_of(session(frames, faults, reply, transcriber, "fast"))

    return asyncio.run(run())


def timed_talk(frames: np.ndarray, faults: Sequence[Fault], *, reply: str = ANSWER) -> list[e.Event]:
    """Like `talk`, in simulated time: a pass of the recogniser takes 0.25 s."""

    async def run() -> list[e.Event]:
        transcriber = SimulatedTranscriber(SpeechModels(CountingDecoder(), Undecided(), None))
        return await events_of(session(frames, faults, reply, transcriber, "simulated"))

    return run_simulated(run())


@pytest.mark.parametrize("answer_mode", ["thinking", "after"])
def test_a_conversation_with_frames_of_40_ms_is_the_same_as_with_80_ms(answer_mode: e.AnswerMode) -> None:
    """Two questions, of which the second one interrupts the first answer."""
    script = [ScriptedTurn(1.0, 3.0, "What is the capital of France?"), ScriptedTurn(7.0, 9.0, "And of Spain?")]

    def held(length: int) -> Talk:
        frontend = CascadeFrontEnd(ScriptedVoice(), answer_mode, openings=False)
        frontend.frame_samples = length
        reply = "Paris lies on the river Seine, and many people live there today. " * 3
        return simulate(
            script, lambda _: answer(reply), frontend=frontend, answer_mode=answer_mode, seconds=30, remember_seconds=60
        )

    usual, short = held(FRAME_SAMPLES), held(FRAME_SAMPLES // 2)
    levels = [event.at for event in short.of(e.LevelMeasured)]
    assert np.allclose(np.diff(levels), FRAME_SECONDS / 2)
    for kind in (e.UserStarted, e.UserEnded, e.AssistantStarted, e.AssistantEnded):
        one, other = usual.of(kind), short.of(kind)
        assert [event.turn for event in one] == [event.turn for event in other] != []
        assert all(abs(a.at - b.at) <= 2 * FRAME_SECONDS for a, b in zip(one, other, strict=True))
    assert [event.text for event in usual.of(e.TranscriptFinal)] == [turn.words for turn in script]
    assert [event.text for event in short.of(e.TranscriptFinal)] == [turn.words for turn in script]
    assert short.said(2) == usual.said(2) != ""
    assert [event.interrupted for event in short.of(e.AssistantEnded)] == [True, False]


def of_the_user(events: list[e.Event]) -> list[e.Event]:
    kinds = e.UserStarted, e.UserPaused, e.UserResumed, e.UserEnded, e.UserBackchannel, e.TranscriptFinal
    return [event for event in events if isinstance(event, kinds)]


@pytest.fixture(scope="module")
def spoken() -> np.ndarray:
    """Two questions with a pause between them."""
    question = sounds.question("141_2")
    quiet = np.random.default_rng(0).normal(0, 1e-3, 3 * SAMPLE_RATE).astype(np.float32)
    both = np.concatenate([quiet, question, quiet, quiet, question, quiet])
    return both[: len(both) // FRAME_SAMPLES * FRAME_SAMPLES].reshape(-1, FRAME_SAMPLES)


@pytest.mark.parametrize("kind", ["stall", "overrun"])
@pytest.mark.parametrize("lost", [13, 25, 75])
def test_a_gap_before_the_question_changes_nothing(spoken: np.ndarray, kind: str, lost: int) -> None:
    before = np.zeros((lost, FRAME_SAMPLES), np.float32)
    longer = np.concatenate([spoken[:12], before, spoken[12:]])
    events = talk(longer, [Fault(12, lost, kind)])  # type: ignore[arg-type]
    reference = talk(longer, [Fault(12, lost, "silence")])
    assert of_the_user(events) == of_the_user(reference)
    lost_events = [event for event in events if isinstance(event, e.FramesDropped | e.SoundLost)]
    assert [event.frames for event in lost_events] == [lost]


@pytest.mark.parametrize("seed", range(6))
def test_gaps_at_random_are_heard_as_silence(spoken: np.ndarray, seed: int) -> None:
    rng = random.Random(seed)
    faults = [
        Fault(at, rng.randint(6, 30), rng.choice(["stall", "overrun"]))
        for at in sorted(rng.sample(range(10, len(spoken) - 40, 40), 4))
    ]
    silent = [Fault(fault.at, fault.frames, "silence") for fault in faults]
    # The assistant stays silent: what it says is held up by a gap, and then the user's next turn starts elsewhere.
    assert of_the_user(talk(spoken, faults, reply="")) == of_the_user(talk(spoken, silent, reply="")), faults


def finals(events: list[e.Event]) -> dict[int, str]:
    return {event.turn: event.text for event in events if isinstance(event, e.TranscriptFinal)}


@pytest.mark.parametrize("kind", ["stall", "overrun"])
@pytest.mark.parametrize("lost", [8, 22, 75])
@pytest.mark.parametrize("at", [50, 70])
def test_what_was_heard_before_a_gap_stays(spoken: np.ndarray, kind: str, lost: int, at: int) -> None:
    """The turn ends in the gap, and the next one begins before the recogniser has its final words."""
    longer = np.concatenate([spoken[:at], np.zeros((lost, FRAME_SAMPLES), np.float32), spoken[at:]])
    events = timed_talk(longer, [Fault(at, lost, kind)], reply="")  # type: ignore[arg-type]
    silent = timed_talk(longer, [Fault(at, lost, "silence")], reply="")
    found, expected = finals(events), finals(silent)
    assert found.keys() == expected.keys() == {event.turn for event in events if isinstance(event, e.UserStarted)}
    for turn, words in expected.items():
        # After a gap the audio arrives in a burst, so a pass covers less of the silence that follows the speech.
        assert len(found[turn].split()) >= len(words.split()) - 1 > 0, (found, expected)


@pytest.mark.parametrize("kind", ["stall", "overrun"])
@pytest.mark.parametrize("at", [46, 51, 56, 61, 71])
def test_no_answer_begins_into_what_the_user_says_after_a_gap(spoken: np.ndarray, kind: str, at: int) -> None:
    """The user speaks right after the gap, which is at each of these frames."""
    lost = 22
    longer = np.concatenate([spoken[:at], np.zeros((lost, FRAME_SAMPLES), np.float32), spoken[at:]])
    events = timed_talk(longer, [Fault(at, lost, kind)])  # type: ignore[arg-type]
    after = end_of_frame(at + lost)
    begun = [event.at for event in events if isinstance(event, e.UserStarted | e.UserResumed)]
    goes_on = next(at for at in begun if at > after - 0.08)
    started = [event.at for event in events if isinstance(event, e.AssistantStarted)]
    assert not [one for one in started if one <= goes_on], f"the user goes on at {goes_on:.2f} s"
    assert started, "the question is answered in the end"


@pytest.mark.parametrize("kind", ["stall", "overrun"])
def test_an_answer_continues_after_a_gap_and_loses_no_word(spoken: np.ndarray, kind: str) -> None:
    reference = talk(spoken, [])
    started = next(event for event in reference if isinstance(event, e.AssistantStarted))
    events = talk(spoken, [Fault(round(started.at / FRAME_SECONDS) + 6, 13, kind)])  # type: ignore[arg-type]
    for one in (reference, events):
        said = [event.text for event in one if isinstance(event, e.AssistantSaid) and event.turn == started.turn]
        assert " ".join(said) == ANSWER


def test_a_recogniser_that_raises_takes_nothing_along(
    spoken: np.ndarray, monkeypatch: pytest.MonkeyPatch, faults: Faults
) -> None:
    reference = talk(spoken, [])
    broken = StreamingTranscriber.push

    def push(self: StreamingTranscriber, frame: Frame, voiced: bool) -> None:
        broken(self, frame, voiced)
        if frame.index % 50 == 0:
            raise StopIteration

    monkeypatch.setattr(StreamingTranscriber, "push", push)
    events = talk(spoken, [])
    assert len(faults.found) > 3
    faults.found.clear()
    [failure] = [event for event in events if isinstance(event, e.Failure)]
    assert failure.source == "stt" and not failure.fatal and "StopIteration" in failure.sentence
    assert of_the_user(events) == of_the_user(reference)
    ended = [event.turn for event in events if isinstance(event, e.AssistantEnded)]
    assert ended == [event.turn for event in reference if isinstance(event, e.AssistantEnded)] != []


def test_a_consumer_that_finds_frames_missing_gets_back_in_step(faults: Faults) -> None:
    heard, whole = SileroVoiceActivity(), SileroVoiceActivity()
    for index in range(40):
        sound = np.full(FRAME_SAMPLES, 0.1 if index < 20 or index >= 30 else 0.0, np.float32)
        expected = whole.hear(Frame(index, sound))
        if index == 35:
            faults.found.clear()
        if index < 20 or index >= 30:
            got = heard.hear(Frame(index, sound))
    assert not faults.found and got == expected
