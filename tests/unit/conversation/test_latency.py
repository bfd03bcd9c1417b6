"""How long each stage of an answer took, folded from a session's events, and why an answer was slow."""

from typing import Any

import pytest

from app.backend.base import ChatRequest
from app.backend.scripted import ScriptedAnswer, answer
from app.conversation import events as e
from app.conversation.record.latency import (
    MOST_ANSWERS,
    PIECES,
    Answer,
    Cause,
    Figures,
    Reason,
    Stages,
    culprit,
    figures,
    slow_beyond,
    why_slow,
)
from app.conversation.record.record import Record
from tests.support.scripted import ScriptedTurn
from tests.support.tables import cases
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


def reason_of_last(stages: Stages) -> Reason | None:
    return why_slow(stages.answers[-1], stages.answers)


def test_a_usual_answer_is_not_slow_and_a_quick_talk_has_slow_ones_of_its_own() -> None:
    assert slow_beyond(()) == 1.0
    stages = talk(turn_of(7, 70.0, backend=0.4))
    assert slow_beyond(stages.answers) == 1.0
    assert reason_of_last(stages) is None
    stages = talk(turn_of(7, 70.0, noticing=0.1, writing=0.05, backend=0.15, voice=0.08), turn_of(8, 80.0))
    assert reason_of_last(stages) is None
    quick = [turn_of(n, n * 10.0, noticing=0.1, writing=0.0, backend=0.1, voice=0.08) for n in range(1, 6)]
    stages = talk(*quick, turn_of(6, 60.0, noticing=0.1, writing=0.0, backend=0.6, voice=0.08), before=0)
    assert slow_beyond(stages.answers) == pytest.approx(0.28 + 0.25) and stages.answers[-1].response < 1.0
    assert reason_of_last(stages) == Reason(Cause.BACKEND, pytest.approx(0.6), pytest.approx(0.1), "gpt-4.1")
    few = talk(*quick[:3], turn_of(4, 60.0, noticing=0.1, writing=0.0, backend=0.6, voice=0.08), before=0)
    assert reason_of_last(few) is None  # too few to know what is usual


@cases(
    "start, noticing, told, cause",
    (THINKING, 1.64, "silence", Cause.UNFINISHED),
    (THINKING, 1.02, "silence", Cause.UNSURE),
    (THINKING, 1.0, "words", Cause.NOTICED_LATE),
    (AFTER, 1.02, "silence", Cause.UNSURE),
    (AFTER, 1.4, "button", Cause.BUTTON),
    (AFTER, 1.4, "input_end", Cause.NOTICED_LATE),
)
def test_the_end_was_noticed_late(start: e.SessionStarted, noticing: float, told: str, cause: Cause) -> None:
    stages = talk(turn_of(7, 70.0, noticing=noticing, reason=told), start=start)
    assert reason_of_last(stages) == Reason(cause, pytest.approx(noticing), pytest.approx(0.2))


def test_each_cause_is_told() -> None:
    stages = talk(turn_of(7, 70.0, writing=1.1))
    assert reason_of_last(stages) == Reason(Cause.WRITING, pytest.approx(1.3), pytest.approx(0.3))
    stages = talk([e.RecognitionSkipped(69.0, 3), e.RecognitionSkipped(60.0, 9), *turn_of(7, 70.0, writing=1.1)])
    assert reason_of_last(stages) == Reason(Cause.RECOGNITION_BEHIND, pytest.approx(1.3), pytest.approx(0.3), count=3)
    stages = talk(turn_of(7, 70.0, backend=1.9, tool=("calculator", 1.2)))
    assert reason_of_last(stages) == Reason(Cause.TOOL, pytest.approx(1.2), who="calculator")
    stages = talk(turn_of(7, 70.0, backend=1.9, tool=("calculator", 0.2)))
    assert reason_of_last(stages) == Reason(Cause.BACKEND, pytest.approx(1.9), pytest.approx(0.3), "gpt-4.1")
    stages = talk(
        [e.BackendChanged(65.0, *CLAUDE), *again(e.OracleEnded(70.25, 70, "failed", 0), words="hi", backend=GPT)],
        start=THINKING,
    )
    assert reason_of_last(stages) == Reason(Cause.FELL_BACK, pytest.approx(1.1), pytest.approx(0.3), "gpt-4.1")
    stages = talk(again(e.BackendChanged(70.25, *CLAUDE, "chosen"), backend=CLAUDE), start=THINKING)
    assert reason_of_last(stages) == Reason(Cause.SWAPPED, pytest.approx(1.1), who="claude")
    stages = talk(turn_of(7, 70.0, voice=1.2))
    assert reason_of_last(stages) == Reason(Cause.VOICE, pytest.approx(1.2), pytest.approx(0.16))
    stages = talk([e.DialsChanged(65.0, 10, 0), *turn_of(7, 70.0, voice=0.96)])
    assert reason_of_last(stages) == Reason(Cause.DELAY, pytest.approx(0.8))
    by_itself = [e.UserEnded(70.1, 7, 70.0, "words"), e.AssistantStarted(71.6, 7, 0)]
    assert reason_of_last(talk(by_itself)) == Reason(Cause.BY_ITSELF, pytest.approx(1.5))
    stages = talk([e.FramesDropped(69.9, 7), e.FramesDropped(70.3, 5), *turn_of(7, 70.0, backend=1.9)])
    assert reason_of_last(stages) == Reason(Cause.FELL_BEHIND, pytest.approx(2.36), count=5)
    late = turn_of(7, 70.0)
    place = next(n for n, event in enumerate(late) if isinstance(event, e.OracleFed))
    late[place:] = [e.OracleFed(71.8, 7, 2, 1200.0), e.AssistantStarted(71.9, 7, 7)]
    stages = talk(late)
    assert culprit(stages.answers[-1], stages.answers) == "between"
    assert reason_of_last(stages) == Reason(Cause.STARTED_LATE, pytest.approx(1.2))


def test_a_backends_first_answer_of_the_conversation_is_reported_as_such() -> None:
    stages = fold(AFTER, *turn_of(1, 10.0, backend=2.5))
    assert reason_of_last(stages) == Reason(Cause.FIRST, pytest.approx(2.5), who="gpt-4.1")
    stages = talk(turn_of(7, 70.0, backend=2.5, model=CLAUDE), turn_of(8, 80.0, backend=2.0, model=CLAUDE))
    assert [why_slow(found, stages.answers) for found in stages.answers[-2:]] == [
        Reason(Cause.FIRST, pytest.approx(2.5), who="claude"),
        Reason(Cause.BACKEND, pytest.approx(2.0), who="claude"),
    ]


def again(*between: e.Event, words: str = "hi but why", backend: tuple[str, str] = GPT) -> list[e.Event]:
    """Turn 7 is asked at 69.0 on its first words, and at 70.3 once more."""
    return [
        e.UserStarted(68.0, 7),
        asked(69.0, 70, 7, False),
        e.UserEnded(70.2, 7, 70.0, "words"),
        *between,
        e.TranscriptFinal(70.3, 7, words, 70.0),
        asked(70.3, 71, 7, True, backend, words=words),
        e.OracleDelta(71.4, 71, "Because."),
        e.OracleFed(71.4, 71, 1, 0.0),
        e.AssistantStarted(71.5, 7, 71),
    ]


def test_the_backend_was_asked_again_since_the_last_words_changed_the_question() -> None:
    spoken = [e.OracleDelta(69.4, 70, "Hello."), e.OracleFed(69.44, 70, 1, 40.0)]
    stages = talk(again(*spoken), start=THINKING)
    assert reason_of_last(stages) == Reason(Cause.ASKED_AGAIN, pytest.approx(1.1), pytest.approx(0.3), "gpt-4.1")
    same = talk(again(*spoken, words="Hi"), start=THINKING)
    assert reason_of_last(same).cause is Cause.BACKEND


def test_the_time_that_a_failed_backend_cost_is_not_that_of_the_one_that_answered() -> None:
    dead = [
        e.UserEnded(70.2, 7, 70.0, "words"),
        e.TranscriptFinal(70.3, 7, "hi", 70.0),
        asked(70.3, 70, 7, True, CLAUDE),
    ]
    taken_over = [
        e.OracleEnded(75.3, 70, "failed", 0),
        e.BackendChanged(75.3, *GPT, "fallback"),
        asked(75.3, 71, 7, True, GPT),
        e.OracleDelta(75.6, 71, "Because."),
        e.OracleFed(75.6, 71, 1, 0.0),
        e.AssistantStarted(75.7, 7, 71),
    ]
    stages = talk([*dead, *taken_over])
    assert stages.answers[-1].lost == pytest.approx(5.0)
    assert reason_of_last(stages) == Reason(Cause.FAILED, pytest.approx(5.0), who="gpt-4.1")
    assert talk(turn_of(7, 70.0)).answers[-1].lost == 0.0
