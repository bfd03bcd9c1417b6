"""What is no event is refused, the transcript is in the order of the sound, the prompt is made of whole turns."""

import gc
import itertools

import pytest

from app.conversation import events as e
from app.conversation.event_json import read_event
from app.conversation.prompt import PERSONA, ChatMessage, build_prompt, system_prompt
from app.conversation.record.transcript import Transcript, Turn


@pytest.mark.parametrize("line", ["", "{}", "[1]", '{"type":"Nothing","at":1}', '{"type":"UserStarted","at":1}', "x"])
def test_what_is_not_an_event_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="not an event"):
        read_event(line)


def test_turns_stand_in_the_order_of_their_sound() -> None:
    transcript = Transcript()
    transcript.apply(e.UserStarted(1.0, 1))
    transcript.apply(e.AssistantStarted(3.0, 1, 1))
    transcript.apply(e.AssistantSaid(3.5, 1, "Well,", 1))
    # The words of the question settle only after the answer has begun.
    transcript.apply(e.TranscriptFinal(3.6, 1, "What is it?", 2.9))
    transcript.apply(e.AssistantSaid(3.8, 1, "no.", 2))
    transcript.apply(e.AssistantEnded(4.0, 1, True))
    assert [(t.speaker, t.text, t.interrupted) for t in transcript.turns] == [
        ("user", "What is it?", False),
        ("assistant", "Well, no.", True),
    ]


def test_the_prompt_has_roles_whole_words_and_a_stable_beginning() -> None:
    transcript = Transcript()
    for event in (
        e.UserStarted(1.0, 1),
        e.TranscriptFinal(2.0, 1, "Who was Fitzwilliam?", 2.0),
        e.AssistantSaid(3.0, 1, "A viscount.", 1),
        e.AssistantEnded(3.5, 1, True),
        e.UserBackchannel(3.6, 2, "mhm"),
        e.UserStarted(5.0, 3),
        e.TranscriptPartial(6.0, 3, "And where", "is", 6.0),
    ):
        transcript.apply(event)
    short = build_prompt(transcript.turns, 3, "And where is", persona="P")
    long = build_prompt(transcript.turns, 3, "And where is his museum?", persona="P")
    assert short == (
        ChatMessage("system", "P"),
        ChatMessage("user", "Who was Fitzwilliam?"),
        ChatMessage("assistant", "A viscount."),
        ChatMessage("user", "And where is"),
    )
    assert long[:-1] == short[:-1] and long[-1].content == "And where is his museum?"


def test_old_turns_leave_the_prompt_when_there_are_too_many_words() -> None:
    transcript = Transcript()
    for number in range(1, 40):
        transcript.apply(e.UserStarted(number * 10.0, number))
        transcript.apply(e.TranscriptFinal(number * 10.0 + 1, number, "word " * 29 + str(number), 0.0))
        transcript.apply(e.AssistantSaid(number * 10.0 + 2, number, "answer " * 30, 1))
    messages = build_prompt(transcript.turns, 40, "Now?")
    assert sum(len(m.content.split()) for m in messages[1:]) < 700
    assert messages[1].role == "user" and messages[-2].role == "assistant"
    assert messages[-3].content.endswith("39")


def test_a_question_that_was_never_answered_does_not_break_the_alternation() -> None:
    transcript = Transcript()
    for number, text in ((1, "First?"), (2, "Second?")):
        transcript.apply(e.UserStarted(number * 1.0, number))
        transcript.apply(e.TranscriptFinal(number + 0.5, number, text, 0.0))
    messages = build_prompt(transcript.turns, 3, "Third?")
    assert messages[-1].content == "First? Second? Third?"
    roles = [m.role for m in messages]
    assert all(a != b for a, b in itertools.pairwise(roles))


def test_a_persona_comes_first_in_every_backends_own_prompt() -> None:
    small = system_prompt("Answer briefly.", "You are\n Ada.", "short")
    assert small == "You are Ada. Answer briefly. Say one or two short sentences."
    assert system_prompt("Answer briefly.") == "Answer briefly.", "a small model gets as little as possible"
    assert system_prompt(PERSONA) == PERSONA
    large = system_prompt(PERSONA, "You are Ada.", "long")
    assert large.startswith("You are Ada. Your answer is read aloud") and "friendly" not in large


def test_an_answer_counts_the_revisions_that_had_words_until_it_ended() -> None:
    transcript = Transcript()

    def asked(number: int, text: str = "It is.", *, turn: int = 1, secondary: bool = False) -> list[Turn | None]:
        request = e.OracleRequested(1.0, number, turn, "B", "m", "why", True, secondary)
        return [transcript.apply(event) for event in (request, *([e.OracleDelta(1.1, number, text)] if text else []))]

    asked(1)
    asked(2, "")  # superseded before it had said anything
    asked(3, secondary=True)
    asked(4)
    transcript.apply(e.AssistantStarted(2.0, 1, 1))
    answer = transcript.turns[0]
    assert answer.revisions == 2
    assert asked(5)[-1] is answer and answer.revisions == 3, "while it is spoken, too"
    assert transcript.apply(e.OracleDelta(2.2, 5, " More.")) is None, "nothing to show"
    assert transcript.apply(e.OracleHandedOver(2.3, 3)) is answer and answer.revisions == 4
    transcript.apply(e.AssistantEnded(3.0, 1, False))
    asked(6)
    asked(7, turn=2)
    transcript.apply(e.AssistantStarted(9.0, 2, 7))
    assert [turn.revisions for turn in transcript.turns] == [4, 1]


def _kept(thing: object) -> int:
    """How many objects a turn is made of."""
    found, ahead = {id(thing): thing}, [thing]
    while ahead:
        for one in gc.get_referents(ahead.pop()):
            if id(one) not in found and not isinstance(one, type):
                found[id(one)] = one
                ahead.append(one)
    return len(found)


def test_a_long_turn_is_kept_in_as_few_objects_as_a_short_one() -> None:
    kept = []
    for words in (20, 200):
        transcript = Transcript()
        said = [f"word{number} " for number in range(words)]
        for event in (
            e.UserStarted(0.5, 1),
            e.TranscriptFinal(1.0, 1, "".join(said).strip(), 1.0),
            e.OracleRequested(1.0, 1, 1, "scripted", "", "".join(said), True),
            *(e.OracleDelta(1.1, 1, word) for word in said),
            e.OracleEnded(1.2, 1, "complete", words),
            e.AssistantStarted(1.3, 1, 1),
            *(e.AssistantSaid(1.4, 1, word.strip(), 1) for word in said),
            e.AssistantEnded(60.0, 1, False),
        ):
            transcript.apply(event)
        user, assistant = transcript.turns
        assert assistant.text == assistant.meant == user.text
        kept.append((_kept(user), _kept(assistant)))
    assert kept[0] == kept[1]
    assert sum(kept[0]) < 60


def test_a_start_that_the_voice_broke_off_is_told_from_the_answer() -> None:
    """The user paused, and went on after the first word."""
    transcript = Transcript()
    for event in (
        e.UserStarted(1, 1),
        e.OracleRequested(2, 1, 1, "Embedded", "small", "What is the symbol for iron", False),
        e.OracleDelta(2.1, 1, "The symbol is Fe."),
        e.UserEnded(2.5, 1, 2.4, "words"),
        e.AssistantStarted(2.5, 1, 1),
        e.AssistantSaid(2.7, 1, "The", 1, False, 0, 3),
        e.AssistantEnded(2.8, 1, True),
        e.UserResumed(2.8, 1),
        e.OracleRequested(4, 2, 1, "Embedded", "small", "What is the symbol for iron at school?", True),
        e.OracleDelta(4.1, 2, "The symbol is Fe."),
        e.UserEnded(4.5, 1, 4.4, "words"),
        e.AssistantStarted(4.6, 1, 2),
        *(e.AssistantSaid(4.8 + at / 10, 1, word, 2) for at, word in enumerate("The symbol is Fe.".split())),
        e.AssistantEnded(6, 1, False),
    ):
        transcript.apply(event)
    turn = transcript.turns[-1]
    assert turn.text == "The – The symbol is Fe."
    assert "".join(passage.text for passage in turn.passages) == "The – The symbol is Fe."
    assert turn.meant == "The symbol is Fe." and not turn.interrupted
