"""Why an answer was slow: the stage that took longer than usual, and its cause."""

import pytest

from app.conversation import events as e
from app.conversation.record.latency import Cause, Reason, Stages, culprit, slow_beyond, why_slow
from tests.unit.conversation.test_latency import AFTER, CLAUDE, GPT, THINKING, asked, fold, talk, turn_of


def reason_of_last(stages: Stages) -> Reason | None:
    return why_slow(stages.answers[-1], stages.answers)


def test_a_usual_answer_is_not_slow() -> None:
    assert slow_beyond(()) == 1.0
    stages = talk(turn_of(7, 70.0, backend=0.4))
    assert slow_beyond(stages.answers) == 1.0
    assert reason_of_last(stages) is None


def test_a_quick_conversation_has_quick_answers_that_are_slow_for_it() -> None:
    stages = talk(turn_of(7, 70.0, noticing=0.1, writing=0.05, backend=0.15, voice=0.08), turn_of(8, 80.0))
    assert reason_of_last(stages) is None
    quick = [turn_of(n, n * 10.0, noticing=0.1, writing=0.0, backend=0.1, voice=0.08) for n in range(1, 6)]
    stages = talk(*quick, turn_of(6, 60.0, noticing=0.1, writing=0.0, backend=0.6, voice=0.08), before=0)
    assert slow_beyond(stages.answers) == pytest.approx(0.28 + 0.25) and stages.answers[-1].response < 1.0
    assert reason_of_last(stages) == Reason(Cause.BACKEND, pytest.approx(0.6), pytest.approx(0.1), "gpt-4.1")
    few = talk(*quick[:3], turn_of(4, 60.0, noticing=0.1, writing=0.0, backend=0.6, voice=0.08), before=0)
    assert reason_of_last(few) is None  # nobody can tell yet what is usual


@pytest.mark.parametrize(
    ("start", "noticing", "told", "cause"),
    [
        (THINKING, 1.64, "silence", Cause.UNFINISHED),
        (THINKING, 1.02, "silence", Cause.UNSURE),
        (THINKING, 1.0, "words", Cause.NOTICED_LATE),
        (AFTER, 1.02, "silence", Cause.UNSURE),
        (AFTER, 1.4, "button", Cause.BUTTON),
        (AFTER, 1.4, "input_end", Cause.NOTICED_LATE),
    ],
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
