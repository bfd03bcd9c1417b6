"""A front-end that is lost is replaced on the run and comes back, and a machine that is too slow is told so."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from app.audio.io.base import EndOfAudio
from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.frame import FRAME_SAMPLES, FRAME_SECONDS, Frame
from app.conversation.speaking.revisions import OracleInput, OracleWords
from app.frontend.base import FrontEndError, FrontEndInput, FrontEndStep
from app.frontend.cascade import CascadeFrontEnd
from app.frontend.slow_card import CardModel
from app.platform import nvidia
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from tests.conftest import Faults
from tests.support.scripted import ScriptedTurn, ScriptedVoice
from tests.support.talks import LoopSpeaker, Talk, events_of, scripted_parts, simulate

QUESTION = [ScriptedTurn(0.16, 0.56, "What is the capital of France?")]
ANSWER = "It is Paris."


class PacedSource:
    """Near-silence at the pace of sound; with `behind`, so many frames have to be dropped before each one."""

    name = "paced"
    overruns = 0

    def __init__(self, frames: int, *, behind: int = 0) -> None:
        self._left, self._behind = frames, behind
        self._due = time.perf_counter()

    @property
    def backlog(self) -> int:
        return self._behind if self._left else 0

    def read_frame(self, timeout: float) -> np.ndarray | None:
        if self._left <= 0:
            raise EndOfAudio
        wait = self._due + FRAME_SECONDS - time.perf_counter()
        if wait > timeout and not self._behind:
            time.sleep(timeout)
            return None
        time.sleep(max(0.0, wait))
        self._left -= 1
        self._due += FRAME_SECONDS
        return np.full(FRAME_SAMPLES, 1e-4, np.float32)

    def drop_to_newest(self) -> int:
        self._due += (self._behind - 1) * FRAME_SECONDS
        return self._behind - 1

    def __enter__(self) -> PacedSource:
        self._due = time.perf_counter()
        return self

    def __exit__(self, *exc: object) -> None:
        return None


class LosingBetweenFrames(CascadeFrontEnd):
    """Can't take the answer that arrives between two frames."""

    def prepare(self, inputs: Sequence[OracleInput]) -> None:
        raise FrontEndError("The card's memory ran out.")


class Losing(CascadeFrontEnd):
    """Can't go on from a frame on; notes that it was left."""

    def __init__(self, at: int, error: Exception | None = None) -> None:
        super().__init__(ScriptedVoice())
        self.at, self.left = at, 0
        self.error = error or FrontEndError("The card's memory ran out.")

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        if frame.index >= self.at:
            raise self.error
        return super().step(frame, inputs)

    def __exit__(self, *exc: object) -> None:
        self.left += 1
        super().__exit__(*exc)


async def talk(frontend: CascadeFrontEnd, source: PacedSource, **parts: object) -> tuple[list[e.Event], Session]:
    session = Session(
        scripted_parts(QUESTION, source, ANSWER, frontend=frontend, sink=Speaker(), **parts),
        SessionConfig(SessionChoice(duplex=True), pace="real"),
    )
    return await events_of(session), session


class Speaker(LoopSpeaker):
    """Plays by the clock, since the frames' thread has no loop."""

    @property
    def queued(self) -> int:
        return max(0, round((self._dry_at - time.perf_counter()) * 24_000))

    def write(self, samples: np.ndarray) -> None:
        if len(samples):
            begin = max(self._dry_at, time.perf_counter() + 0.04)
            self._dry_at = begin + len(samples) / 24_000
            self.written += len(samples)

    def flush(self) -> int:
        thrown = self.queued
        self.flushed += thrown
        self._dry_at = 0.0
        return thrown


@pytest.mark.parametrize("at", [3, 14])
async def test_a_lost_front_end_is_replaced_while_the_conversation_continues(at: int) -> None:
    lost = Losing(at)
    events, session = await talk(lost, PacedSource(18), fallback=lambda: CascadeFrontEnd(ScriptedVoice()))
    [failure] = [event for event in events if isinstance(event, e.Failure)]
    assert failure.sentence == "The card's memory ran out." and not failure.fatal
    [changed] = [event for event in events if isinstance(event, e.FrontEndChanged)]
    assert lost.left >= 1  # its memory is given back at once
    after = [event.text for event in events if isinstance(event, e.AssistantSaid) and event.at >= changed.at]
    assert " ".join(after).endswith("Paris.")
    assert session.transcript.turns[0].text == QUESTION[0].words
    frames = [event.at for event in events if isinstance(event, e.LevelMeasured)]
    assert np.allclose(np.diff(frames), FRAME_SECONDS)  # no frame was skipped meanwhile


async def test_a_front_end_that_is_lost_between_two_frames_is_replaced_at_the_next_one() -> None:
    lost = LosingBetweenFrames(ScriptedVoice())
    events, _ = await talk(lost, PacedSource(18), fallback=lambda: CascadeFrontEnd(ScriptedVoice()))
    [failure] = [event for event in events if isinstance(event, e.Failure)]
    assert failure.sentence == "The card's memory ran out." and not failure.fatal
    said = [event.text for event in events if isinstance(event, e.AssistantSaid)]
    assert " ".join(said) == ANSWER


async def test_a_front_end_with_a_fault_of_the_app_is_replaced_too(faults: Faults) -> None:
    lost = Losing(14, ValueError("cannot reshape"))
    events, _ = await talk(lost, PacedSource(18), fallback=lambda: CascadeFrontEnd(ScriptedVoice()))
    faults.found.clear()
    [failure] = [event for event in events if isinstance(event, e.Failure)]
    assert not failure.fatal and "ValueError: cannot reshape" in failure.sentence
    said = [event.text for event in events if isinstance(event, e.AssistantSaid)]
    assert " ".join(said).endswith(ANSWER)


async def test_a_lost_front_end_that_asked_nobody_leaves_a_question_that_is_answered() -> None:
    lost = Losing(14)
    lost.hears_oracle = False  # as Moshi
    events, _ = await talk(lost, PacedSource(18), fallback=lambda: CascadeFrontEnd(ScriptedVoice()))
    asked = [event for event in events if isinstance(event, e.OracleRequested)]
    assert [event.words for event in asked] == [QUESTION[0].words]
    said = [event.text for event in events if isinstance(event, e.AssistantSaid)]
    assert " ".join(said) == ANSWER


class Late(CascadeFrontEnd):
    """Its model is late for the first ten frames, on a card."""

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        return replace(super().step(frame, inputs), late=frame.index < 10)

    def on_card(self) -> CardModel:
        return CardModel("KAME", "int8", 240.0, 0.07, 0.09, 1)


async def test_a_model_that_is_late_is_reported_once_with_what_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvidia, "look_at_use", lambda seconds: ())
    events, _ = await talk(Late(ScriptedVoice()), PacedSource(18))
    [failure] = [event for event in events if isinstance(event, e.Failure)]
    assert failure.source == "frontend" and not failure.fatal
    assert failure.at == pytest.approx(10 * FRAME_SECONDS, abs=0.1), "once it is ready again"
    assert failure.sentence == (
        "KAME can't keep up: the app's voice broke off 10 times in the last 10 s. This graphics card is too slow for "
        "KAME as it is set now. Choose int4 or a shorter memory in the settings."
    )


async def test_a_machine_that_is_too_slow_is_reported_once_and_frames_are_counted() -> None:
    events, _ = await talk(CascadeFrontEnd(ScriptedVoice()), PacedSource(5, behind=8))
    dropped = [event.frames for event in events if isinstance(event, e.FramesDropped)]
    assert len(dropped) >= 4 and set(dropped) == {7}
    [failure] = [event for event in events if isinstance(event, e.Failure)]
    assert failure.source == "frontend" and "can't keep up" in failure.sentence and "precision" in failure.sentence


class Returns(CascadeFrontEnd):
    """Fails at the given frames; each time it works again `after` frames later, and knows nothing of before."""

    name = "kame"

    def __init__(self, *at: int, after: int = 10) -> None:
        super().__init__(ScriptedVoice(), openings=False)
        self.at, self.after = list(at), after
        self.broken, self.asked, self.entered = False, 0, 0
        self.got: list[list[FrontEndInput]] = []

    def __enter__(self) -> Returns:
        super().__init__(ScriptedVoice(), openings=False)
        self.broken, self.asked, self.entered = False, 0, self.entered + 1
        self.got.append([])
        super().__enter__()
        return self

    def recovered(self) -> str:
        self.asked += self.broken
        return "KAME is back." if self.asked > self.after else ""

    def prepare(self, inputs: Sequence[OracleInput]) -> None:
        self.got[-1] += inputs
        super().prepare(inputs)

    def step(self, frame: Frame, inputs: Sequence[FrontEndInput]) -> FrontEndStep:
        if self.at and frame.index >= self.at[0]:
            self.at.pop(0)
            self.broken = True
            raise FrontEndError("The card was lost.")
        self.got[-1] += inputs
        return super().step(frame, inputs)


TWO = [ScriptedTurn(1.0, 2.0, "What is the capital of France?"), ScriptedTurn(8.0, 9.0, "And of Spain?")]


def two_questions(frontend: Returns, **more: object) -> tuple[Talk, list[CascadeFrontEnd]]:
    stood_in: list[CascadeFrontEnd] = []

    class StandIn(CascadeFrontEnd):
        left = 0

        def __exit__(self, *exc: object) -> None:
            self.left += 1
            super().__exit__(*exc)

    def fallback() -> CascadeFrontEnd:
        stood_in.append(StandIn(ScriptedVoice(), openings=False))
        return stood_in[-1]

    def reply(request: ChatRequest) -> ScriptedAnswer:
        return answer("It is Madrid." if "Spain" in request.messages[-1].content else ANSWER)

    talk = simulate(TWO, reply, frontend=frontend, fallback=fallback, **{"seconds": 15, **more})
    return talk, stood_in


def changes(talk: Talk) -> list[str]:
    return [event.frontend for event in talk.of(e.FrontEndChanged)]


@pytest.mark.parametrize("at", [5, 20, 30, 55])
def test_a_front_end_that_works_again_comes_back_in_the_next_pause(at: int) -> None:
    kame = Returns(at)
    talk, stood_in = two_questions(kame)
    assert changes(talk) == ["cascade", "kame"]
    assert [event.sentence for event in talk.of(e.Failure)] == ["The card was lost."]
    [notice] = [event for event in talk.of(e.Notice) if event.source == "frontend"]
    assert notice.sentence == "KAME is back."
    back = talk.of(e.FrontEndChanged)[1].at
    speaking = [event for event in talk.of(e.AssistantStarted, e.AssistantEnded) if event.at <= back]
    assert not speaking or isinstance(speaking[-1], e.AssistantEnded), "it interrupts nobody"
    # What was answered isn't answered again, by neither of them.
    assert talk.said(1).endswith(ANSWER) and talk.said(1).count("Paris") <= 2 - (at > 50)
    assert talk.said(2) == "It is Madrid."
    assert kame.entered == 2 and any(isinstance(item, OracleWords) for item in kame.got[1])
    assert stood_in[0].left == 2, "once when it is no longer stepped, and at the end"


def test_while_the_user_speaks_it_waits() -> None:
    kame = Returns(30, after=75)  # is ready in mid-question
    talk, _ = two_questions(kame)
    assert changes(talk) == ["cascade", "kame"]
    ended = [event.at for event in talk.of(e.AssistantEnded) if event.turn == 2]
    assert talk.of(e.FrontEndChanged)[1].at >= ended[0] and talk.said(2) == "It is Madrid."


def test_one_that_fails_again_soon_does_not_come_back() -> None:
    talk, stood_in = two_questions(Returns(30, 110))
    assert changes(talk) == ["cascade", "kame", "cascade"] and len(stood_in) == 2
    assert talk.said(2).endswith("It is Madrid.")


def test_one_that_fails_again_much_later_comes_back() -> None:
    talk, _ = two_questions(Returns(30, 900), seconds=80)
    assert changes(talk) == ["cascade", "kame", "cascade", "kame"]


class NeverOpensAgain(Returns):
    def __enter__(self) -> Returns:
        if self.entered:
            raise FrontEndError("The card is still busy.")
        return super().__enter__()


def test_one_that_cant_be_opened_again_leaves_the_conversation_as_it_is() -> None:
    talk, _ = two_questions(NeverOpensAgain(30))
    assert changes(talk) == ["cascade"] and talk.said(2) == "It is Madrid."
    assert len(talk.of(e.Failure)) == 1


async def test_the_end_does_not_wait_for_one_that_is_still_being_opened() -> None:
    class Slow(Returns):
        opening = threading.Event()
        left = threading.Event()

        def __enter__(self) -> Returns:
            if self.entered:
                self.opening.set()
                assert self.cancelled.wait(20)
            return super().__enter__()

        cancelled = threading.Event()

        def cancel(self) -> None:
            self.cancelled.set()

        def __exit__(self, *exc: object) -> None:
            super().__exit__(*exc)
            if self.entered == 2:
                self.left.set()

    kame = Slow(3, after=2)
    events, _ = await talk(kame, PacedSource(14), fallback=lambda: CascadeFrontEnd(ScriptedVoice()))
    assert kame.opening.is_set() and isinstance(events[-1], e.SessionEnded)
    assert await asyncio.to_thread(kame.left.wait, 10), "what was loaded too late is closed"


def test_an_answer_that_was_given_is_not_given_again_after_a_loss() -> None:
    talk, _ = two_questions(Returns(60, after=1000))
    assert changes(talk) == ["cascade"] and talk.said(1) == ANSWER and talk.said(2) == "It is Madrid."
