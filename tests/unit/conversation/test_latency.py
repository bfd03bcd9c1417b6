"""How long each stage of an answer took, folded from a session's events."""

from typing import Any

import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.record.latency import MOST_ANSWERS, PIECES, Answer, Cause, Figures, Reason, figures, why_slow
from app.conversation.record.record import Record
from tests.support.scripted import ScriptedTurn
from tests.support.talks import simulate

GPT, CLAUDE = ("OpenAI", "gpt-4.1"), ("Anthropic", "claude")
THINKING = e.SessionStarted(0.0, "cascade", "whisper", *GPT, "thinking")
AFTER = e.SessionStarted(0.0, "cascade", "whisper", *GPT, "after")


class Heard:
    """The stages of a session, by its events."""

    def __init__(self, *events: e.Event) -> None:
        self._record = Record()
        for event in events:
            self.apply(event)

    def apply(self, event: e.Event) -> None:
        self._record.apply(event)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._record.stages, name)


def fold(*events: e.Event) -> Heard:
    return Heard(*events)


def asked(
    at: float, revision: int, turn: int, final: bool, backend: tuple[str, str] = GPT, **more
) -> e.OracleRequested:
    return e.OracleRequested(at, revision, turn, *backend, more.get("words", "hi"), final, more.get("secondary", False))


def turn_of(
    number: int,
    at: float,
    *,
    noticing: float = 0.2,
    writing: float = 0.1,
    backend: float = 0.3,
    voice: float = 0.16,
    reason: str = "words",
    tool: tuple[str, float] | None = None,
    model: tuple[str, str] = GPT,
) -> list[e.Event]:
    """A turn whose last sound is at `at`, and whose stages follow each other without a gap."""
    noticed = at + noticing
    written = noticed + writing
    first = written + backend
    used: list[e.Event] = []
    if tool is not None:
        used.append(e.ToolCalled(first - 0.05 - tool[1], number, tool[0], "{}"))
        used.append(e.ToolReturned(first - 0.05, number, tool[0], True, "ok", tool[1]))
    return [
        e.UserStarted(at - 2, number),
        e.UserEnded(noticed, number, at, reason),  # type: ignore[arg-type]
        e.TranscriptFinal(written, number, "hi", at),
        asked(written, number, number, True, model),
        *used,
        e.OracleDelta(first, number, "Hello there."),
        e.OracleFed(first, number, 2, 0.0),
        e.AssistantStarted(first + voice, number, number),
        e.AssistantEnded(first + voice + 2, number, False),
    ]


def talk(*turns: list[e.Event], start: e.SessionStarted = AFTER, before: int = 6) -> Heard:
    """A conversation of `before` usual turns, and these."""
    usual = [event for n in range(1, before + 1) for event in turn_of(n, n * 10.0)]
    return fold(start, *usual, *(event for turn in turns for event in turn))


def near(**times: float):
    return pytest.approx(times, abs=1e-9)


def only(stages: Heard) -> Answer:
    [found] = stages.answers
    return found


def test_every_stage_of_an_answer_after_the_turn() -> None:
    stages = fold(
        AFTER,
        e.UserStarted(1.0, 1),
        e.UserEnded(3.5, 1, 3.0, "silence"),
        e.TranscriptFinal(3.75, 1, "hi", 3.0),
        asked(3.8, 1, 1, True),
        e.OracleDelta(4.2, 1, "Hello"),
        e.OracleDelta(4.3, 1, " there."),
        e.OracleFed(4.24, 1, 1, 40.0),
        e.OracleFed(4.32, 1, 1, 20.0),
        e.AssistantStarted(4.48, 1, 1),
    )
    found = only(stages)
    assert (found.turn, found.backend, found.model, found.reason) == (1, *GPT, "silence")
    assert found.response == pytest.approx(1.48)
    assert found.took == near(noticing=0.5, writing=0.75, backend=0.4, voice=0.24)
    assert found.wait == near(noticing=0.5, writing=0.25, backend=0.4, voice=0.24, between=0.05 + 0.04)
    assert found.first


def test_a_backend_that_thinks_while_the_user_talks_is_not_waited_for() -> None:
    stages = fold(
        THINKING,
        asked(1.5, 1, 1, False, words="what"),
        e.OracleDelta(1.9, 1, "Which one?"),
        e.OracleFed(2.0, 1, 2, 60.0),
        asked(2.4, 2, 1, False, words="what is noon"),
        e.OracleDelta(2.7, 2, "Twelve."),
        e.OracleSuperseded(2.7, 1, 2),
        e.OracleFed(2.8, 2, 1, 60.0),
        e.UserEnded(3.12, 1, 3.0, "words"),
        e.AssistantStarted(3.2, 1, 2),
        e.TranscriptFinal(3.3, 1, "what is noon", 3.0),
        e.OraclePromoted(3.3, 2),
    )
    found = only(stages)
    assert found.response == pytest.approx(0.2)
    assert found.took == near(noticing=0.12, writing=0.3, backend=0.3, voice=0.08)
    assert found.wait == near(noticing=0.12, writing=0.0, backend=0.0, voice=0.08, between=0.0)
    assert not found.asked_again and not found.first


def test_an_answer_that_began_before_the_user_ended_was_not_waited_for() -> None:
    stages = fold(
        THINKING,
        asked(1.0, 1, 1, False),
        e.OracleDelta(1.2, 1, "Yes."),
        e.OracleFed(1.28, 1, 1, 80.0),
        e.AssistantStarted(2.9, 1, 1),
        e.UserEnded(3.2, 1, 3.0, "words"),
    )
    found = only(stages)
    assert found.response == pytest.approx(-0.1)
    assert found.took == near(noticing=0.2, backend=0.2, voice=1.62)
    assert found.wait == dict.fromkeys(PIECES, 0.0)
    assert why_slow(found, stages.answers) is None


def test_what_was_said_into_a_gap_is_no_answer_to_the_resumed_turn() -> None:
    first = [
        THINKING,
        asked(2.0, 1, 1, False),
        e.OracleDelta(2.2, 1, "Yes."),
        e.OracleFed(2.24, 1, 1, 40.0),
        e.UserEnded(3.1, 1, 3.0, "words"),
        e.TranscriptFinal(3.15, 1, "hi", 3.0),
        e.AssistantStarted(3.2, 1, 1),
    ]
    stages = fold(*first)
    assert len(stages.answers) == 1
    for event in (e.UserResumed(3.4, 1), e.AssistantEnded(3.44, 1, True)):
        stages.apply(event)
    assert stages.answers == ()
    for event in (
        e.UserEnded(5.2, 1, 5.0, "words"),
        e.TranscriptFinal(5.3, 1, "hi and bye", 5.0),
        asked(5.3, 2, 1, True, words="hi and bye"),
        e.OracleDelta(5.6, 2, "Bye."),
        e.OracleFed(5.68, 2, 1, 80.0),
        e.AssistantStarted(5.76, 1, 2),
    ):
        stages.apply(event)
    found = only(stages)
    assert found.response == pytest.approx(0.76)
    assert found.took == near(noticing=0.2, writing=0.3, backend=0.3, voice=0.08)
    assert found.asked_again


def test_an_answer_that_was_held_and_went_on_counts_once_and_a_backchannel_does_not() -> None:
    stages = fold(
        *turn_of(1, 3.0)[:-1],
        e.UserStarted(4.5, 2),
        e.AssistantHeld(4.5, 1),
        e.UserBackchannel(4.9, 2, "mhm"),
        e.AssistantResumed(4.9, 1),
        e.AssistantStarted(4.98, 1, 1),
    )
    assert [round(found.response, 6) for found in stages.answers] == [0.76]


def test_a_typed_turn_has_no_recognition_in_it() -> None:
    stages = fold(
        AFTER,
        e.UserStarted(3.0, 1),
        e.UserEnded(3.0, 1, 3.0, "typed"),
        e.TranscriptFinal(3.0, 1, "hi", 3.0),
        asked(3.0, 1, 1, True),
        e.OracleDelta(3.4, 1, "Yes."),
        e.OracleFed(3.44, 1, 1, 40.0),
        e.AssistantStarted(3.6, 1, 1),
    )
    found = only(stages)
    assert found.response == pytest.approx(0.6)
    assert found.took == near(backend=0.4, voice=0.16)
    assert found.wait == near(noticing=0, writing=0, backend=0.4, voice=0.16, between=0.04)
    assert stages.apply(e.UserEnded(9.0, 2, 8.5, "unheard of")) is None  # type: ignore[arg-type]
    stages.apply(e.AssistantStarted(9.2, 2, 0))
    assert stages.answers[-1].took == near(noticing=0.5)


@pytest.mark.parametrize("revision", [0, 1])
def test_a_front_end_that_speaks_on_its_own_waits_for_no_backend(revision: int) -> None:
    stages = fold(
        asked(1.0, 1, 1, True),
        e.OracleDelta(1.1, 1, "Old."),
        e.OracleFed(1.2, 1, 1, 0.0),
        e.UserEnded(3.2, 2, 3.0, "words"),
        asked(3.3, 2, 2, True),
        e.AssistantStarted(3.44, 2, revision),
        e.OracleDelta(3.8, 2, "New."),
    )
    found = only(stages)
    assert found.took == near(noticing=0.2)
    assert found.wait == near(noticing=0.2, writing=0, backend=0, voice=0.24, between=0)
    assert (found.backend, found.model) == ("", "")


def test_a_secondary_backend_counts_from_its_own_request_once_it_was_handed_over() -> None:
    stages = fold(
        THINKING,
        e.UserEnded(3.2, 1, 3.0, "words"),
        e.TranscriptFinal(3.2, 1, "hi", 3.0),
        asked(3.2, 1, 1, True),
        asked(3.2, 2, 1, True, CLAUDE, secondary=True),
        e.OracleDelta(3.5, 2, "Hello."),
        e.BackendChanged(4.0, *CLAUDE, "handed"),
        e.OracleHandedOver(4.0, 2),
        e.OracleFed(4.08, 2, 1, 80.0),
        e.AssistantStarted(4.16, 1, 2),
    )
    found = only(stages)
    assert (found.backend, found.model, found.swapped) == (*CLAUDE, True)
    assert found.took == near(noticing=0.2, writing=0.2, backend=0.3, voice=0.08)
    assert sum(found.wait.values()) == pytest.approx(found.response)
    assert why_slow(found, stages.answers) == Reason(Cause.SWAPPED, pytest.approx(0.58), who="claude")


def test_a_new_talk_forgets_the_old_one() -> None:
    stages = talk()
    for event in (e.LevelMeasured(1, -20, -20, 4.0), e.FramesDropped(1, 6), e.ContextMeasured(1, 10, 100)):
        stages.apply(event)


def test_only_the_newest_answers_are_kept() -> None:
    stages = talk(before=MOST_ANSWERS + 40)
    assert len(stages.answers) == MOST_ANSWERS
    assert stages.answers[0].turn == 41 and stages.answers[-1].turn == MOST_ANSWERS + 40


@pytest.mark.parametrize("answer_mode", ["thinking", "after"])
def test_the_pieces_of_complete_conversations_add_up(answer_mode: e.AnswerMode) -> None:
    def reply(request: ChatRequest) -> ScriptedAnswer:
        return answer("It is a fine thing to ask. The rest of it follows in a while.")

    script = [
        ScriptedTurn(1.0, 3.0, "What is the capital of France?"),
        ScriptedTurn(9.0, 10.5, "And what about Spain?"),
        ScriptedTurn(12.5, 14.0, "No wait, of Italy?"),  # over the answer
        ScriptedTurn(21.0, 22.0, "And what is the capital of"),
        ScriptedTurn(22.9, 24.0, "Portugal by the way?"),
    ]
    heard = simulate(script, reply, seconds=35, answer_mode=answer_mode)
    stages = fold(*heard.events)
    assert len(stages.answers) == 4 and heard.of(e.UserResumed)
    assert [found.response for found in stages.answers] == [
        max(start.at for start in heard.of(e.AssistantStarted) if start.turn == turn)
        - max(end.speech_end for end in heard.of(e.UserEnded) if end.turn == turn)
        for turn in (found.turn for found in stages.answers)
    ]
    for found in stages.answers:
        assert found.model and {"noticing", "writing", "backend", "voice"} == found.took.keys()
        assert all(seconds >= 0 for seconds in (*found.took.values(), *found.wait.values()))
        assert sum(found.wait.values()) == pytest.approx(max(0.0, found.response))


def test_figures_are_those_of_the_bench() -> None:
    assert figures([]) is None
    assert figures([0.4]) == Figures(0.4, 0.4, 0.4)
    found = figures([n / 100 for n in range(101)])
    assert found is not None and (found.median, found.p95, found.slowest) == pytest.approx((0.5, 0.95, 1.0))


def test_the_frame_budget() -> None:
    stages = fold(*(e.LevelMeasured(n * 0.08, -20, -20, n % 10 + 0.2) for n in range(1000)))
    frames = stages.frames
    assert (frames.steps, frames.late, frames.worst_ms) == (1000, 0, 9.2)
    assert frames.quantile_ms(0.5) == pytest.approx(4.5) and frames.quantile_ms(0.99) == pytest.approx(9.2)
    for event in (
        e.LevelMeasured(80.0, -20, -20, 412.3),
        e.LevelMeasured(80.1, -20, -20, -0.1),
        e.LevelMeasured(80.2, -20, -20, 4000.0),
        e.FramesDropped(80.3, 6),
        e.Underrun(80.4, 2),
        e.Underrun(81, 1),
    ):
        stages.apply(event)
    assert (frames.steps, frames.late, frames.worst_ms, frames.dropped, frames.gaps) == (1003, 2, 4000.0, 6, 3)
    assert frames.quantile_ms(1.0) == 4000.0
    assert frames.quantile_ms(0.999) == pytest.approx(415.0)


def test_an_opening_is_no_answer() -> None:
    stages = Heard()
    for event in (
        THINKING,
        e.UserEnded(5.1, 1, 5.0, "words"),
        e.TranscriptFinal(5.2, 1, "What is it?", 5.1),
        e.OracleRequested(5.2, 1, 1, *GPT, "What is it?", True),
        e.AssistantStarted(5.5, 1, 0),
        e.AssistantOpened(5.5, 1),
        e.AssistantSaid(5.8, 1, "Hmm.", 0),
        e.OracleDelta(6.9, 1, " It is"),
    ):
        stages.apply(event)
    assert not stages.answers
    stages.apply(e.AssistantSaid(7.4, 1, "It", 1))
    stages.apply(e.AssistantSaid(7.6, 1, "is", 1))
    [answer] = stages.answers
    assert answer.response == pytest.approx(2.4) and answer.took["backend"] == pytest.approx(1.7)
