"""Events, the transcript and the prompt; when a back-end is asked, which revision speaks, and what the cap stops."""

import gc
import itertools

import pytest

from app.conversation import events as e
from app.conversation.event_json import read_event
from app.conversation.oracle import OraclePolicy, Pace, RequestBudget
from app.conversation.prompt import PERSONA, ChatMessage, build_prompt, system_prompt
from app.conversation.record.record import Record
from app.conversation.record.transcript import Transcript, Turn
from app.conversation.speaking.revisions import KnownRevision, OracleAsked, Revisions
from app.conversation.turns.floor import TakeFloor
from tests.support.tables import cases


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


def _asked(policy: OraclePolicy, turn: int, text: str, at: float, **kind: bool) -> str:
    kind = {"final": False, **kind}
    decision = policy.decide(turn, text, at, **kind)
    if decision == "start":
        policy.started(turn, text, at)
    return decision


def test_when_a_backend_is_asked() -> None:
    policy = OraclePolicy(interval=0.4, new_words=2)
    assert _asked(policy, 1, "What", 0.3) == "keep"
    assert _asked(policy, 1, "What is", 0.5) == "start"
    policy.spoke()
    assert _asked(policy, 1, "What is the capital", 0.8) == "keep"  # too soon
    assert _asked(policy, 1, "What is the", 1.0) == "keep"  # too little
    assert _asked(policy, 1, "What is the capital", 1.0) == "start"
    policy = OraclePolicy()
    assert _asked(policy, 1, "Where is the White", 1.0) == "start"
    assert _asked(policy, 1, "Where is the White House?", 1.1, final=True) == "start"
    policy = OraclePolicy()
    assert _asked(policy, 1, "where is the white house", 1.0, paused=True) == "start"
    assert _asked(policy, 1, "Where is the White House?", 1.1, final=True) == "promote"
    policy = OraclePolicy(interval=0.0)
    assert _asked(policy, 1, "I like two cats", 1.0) == "start"
    policy.spoke()
    assert _asked(policy, 1, "I like to sing", 1.5) == "start"
    assert _asked(OraclePolicy(), 1, " … ", 1.0, final=True) == "keep"


def test_an_older_revision_continues_until_a_newer_one_has_words() -> None:
    revisions = Revisions()
    for number in (1, 2):
        revisions.ask(OracleAsked(number, 1, False))
    assert revisions.add(1, "Well,") is not None and revisions.newest_with_words == 1
    assert revisions.add(2, "- ") is not None and revisions.newest_with_words == 1, "the mark of a list is no word"
    assert revisions.add(1, " you") is not None
    assert revisions.add(2, "No,") is not None and revisions.newest_with_words == 2
    assert revisions.add(1, " are") is None
    assert revisions.add(7, "words") is None, "it was never requested"
    assert revisions.get(2) is not None and revisions.get(2).text == "- No,"  # type: ignore[union-attr]


QUESTION = "What is the capital of Norway"
STATEMENT = "I would like to see the capital of Norway"
ANSWER = "It is Oslo. It lies by the sea."


def asked(number: int, words: str, text: str = ANSWER, **more: bool) -> KnownRevision:
    return KnownRevision(number, 1, asked=words, text=text, done=True, order=number, **more)


@cases(
    "revisions, ended, rule",
    ([asked(1, "What", complete=True)], TakeFloor(1), "complete turn"),
    ([asked(1, "What", wanted=True)], TakeFloor(1, explicit=True), "chosen back-end"),
    ([asked(1, QUESTION)], TakeFloor(1, 1.0, f"{QUESTION}?"), "whole question"),
    ([asked(1, QUESTION)], TakeFloor(1, 1.0, f"{QUESTION}?", explicit=True), "-incomplete turn"),
    ([asked(1, QUESTION)], TakeFloor(1, 1.0, f"{QUESTION} and of Spain?"), "-other words"),
    ([asked(1, QUESTION)], TakeFloor(1, 1.0), "-unconfirmed"),  # there may have been more
    ([asked(2, QUESTION), asked(3, f"{QUESTION} and", "")], TakeFloor(1, 1.0, QUESTION), "-newer request"),
    ([asked(1, STATEMENT)], TakeFloor(1, 1.0, STATEMENT), "-unconfirmed"),
    ([asked(1, STATEMENT)], TakeFloor(2, 1.0, STATEMENT), "-another turn"),
    ([asked(2, STATEMENT), asked(1, "I would like to see")], TakeFloor(1, 1.0, STATEMENT), "same beginning"),
    ([asked(2, STATEMENT), asked(1, "I would", "It is a wish.")], TakeFloor(1, 1.0, STATEMENT), "-unconfirmed"),
    ([asked(3, STATEMENT), asked(2, "I would like", ""), asked(1, "I would")], TakeFloor(1, 1.0), "same beginning"),
    ([asked(2, STATEMENT), asked(1, "I would like", "It")], TakeFloor(1, 1.0), "-unconfirmed"),
    ([asked(1, QUESTION, language="de")], TakeFloor(1, 1.0, f"{QUESTION}?"), "-unconfirmed"),
)
def test_a_rule_lets_a_revision_pass_or_holds_it(revisions: list[KnownRevision], ended: TakeFloor, rule: str) -> None:
    known = Revisions()
    known._known = {revision.number: revision for revision in sorted(revisions, key=lambda one: one.order)}
    verdict = known.gate(revisions[0], ended, "thinking")
    assert (verdict.passes, verdict.rule) == (not rule.startswith("-"), rule.removeprefix("-"))
    assert known.gate(revisions[0], ended, "after").passes == (rule == "complete turn")
    in_use = known.gate(revisions[0], ended, "thinking", in_use=revisions[0].number)
    assert in_use.passes == (rule != "-another turn"), "what is being spoken goes on"


def test_only_english_words_can_be_found_incomplete() -> None:
    assert not KnownRevision(1, 1, asked=STATEMENT, paused=False, language="de").may_be_complete
    assert KnownRevision(1, 1, asked=STATEMENT, paused=False).may_be_complete


def told(*said: tuple[str, int], interrupted: bool = False) -> tuple[str, str]:
    """What is shown of an answer that was spoken so, and what the back-end is told of it."""
    transcript = Transcript()
    answers = {1: " It is Bergen. It is old.", 2: " It is Oslo, in the south. It lies by the sea. It is new."}
    transcript.apply(e.TranscriptFinal(1.0, 1, "What is it?", 1.0))
    for number, text in answers.items():
        transcript.apply(e.OracleRequested(1.0, number, 1, "b", "m", "What", number == 2))
        transcript.apply(e.OracleDelta(1.0, number, text))
    transcript.apply(e.AssistantStarted(2.0, 1, said[0][1]))
    if not said[0][1]:
        transcript.apply(e.AssistantOpened(2.0, 1))
    for text, revision in said:
        for word in text.split():
            transcript.apply(e.AssistantSaid(3.0, 1, word, revision))
    transcript.apply(e.AssistantEnded(4.0, 1, interrupted))
    messages = build_prompt(transcript.turns, 2, "And then?")
    return transcript.turns[-1].text, " ".join(m.content for m in messages if m.role == "assistant")


def test_what_is_sent_to_the_backend_of_an_answer() -> None:
    mended = (("Let me think.", 0), ("It is Bergen.", 1), ("Or rather, it is Oslo, in the south.", 2))
    shown, meant = told(*mended, ("It lies by the sea. It is new.", 2))
    assert shown.startswith("Let me think. It is Bergen. Or rather,")
    assert meant == "It is Oslo, in the south. It lies by the sea. It is new."
    assert told(*mended, interrupted=True)[1] == "It is Oslo, in the south."
    assert told(("It is Bergen.", 1), ("Or rather,", 2), interrupted=True)[1] == "It is Bergen."
    assert told(("Let me", 0), interrupted=True) == ("Let me", "")
    assert told(("Oh that would be the city of Bergen I guess", 2))[1] == "Oh that would be the city of Bergen I guess"


@cases(
    "first, speed, interval",
    (None, None, 0.4),  # nothing is known
    (0.08, 250.0, 0.1),  # as fast as it gets: the paper's least
    (0.15, 50.0, 0.25),  # to begin, and a clause of five words
    (0.4, 60.0, 0.483),
    (3.0, 1.0, 0.5),  # the paper's most
)
def test_the_interval_is_what_a_clause_needs(first: float | None, speed: float | None, interval: float) -> None:
    limited, free = Pace(budget=RequestBudget(60)), Pace()
    for _ in range(30):
        for pace in (limited, free):
            if first is not None and speed is not None:
                pace.began(first)
                pace.ended(20, 20 / speed)
    assert limited.interval == pytest.approx(interval, abs=0.005)
    assert free.interval == pytest.approx(0.4 if first is None else min(0.5, max(0.1, first)))


def test_a_pace_follows_its_backend_and_a_machine_that_is_shared() -> None:
    pace = Pace()
    pace.began(9.0, "cold")
    assert pace.first_seconds == 9.0, "nothing else is known"
    for _ in range(10):
        pace.began(0.1)
    pace.began(1.0)
    pace.began(9.0, "cold")
    pace.began(0.01, "superseded")
    assert pace.first_seconds == 0.1
    for _ in range(4):
        pace.began(1.0)
    assert pace.first_seconds == 1.0
    assert pace.new_words == 2, "a slow model is restarted for more words only"
    pace.budget.limit = 60.0
    assert pace.new_words == 3, "and a limited one for still more"
    pace = Pace(0.4)
    pace.began(0.05)
    pace.ended(20, 0.1)
    assert pace.interval == 0.4


def test_the_usage_counts_each_request_once_and_by_backend() -> None:
    record = Record()
    usage = record.usage
    for event in (
        e.OracleRequested(1.0, 1, 1, "OpenAI", "gpt-4.1", "What", False),
        e.OracleRequested(1.2, 2, 1, "Ollama", "gemma3", "What", False, True),
        e.OracleEnded(1.4, 1, "superseded", 3),
        e.OracleCounted(1.4, 1, "OpenAI", "gpt-4.1", 100, 10, 0, False, 0.001, 90.0, 30.0, 400.0),
        e.OracleHandedOver(1.5, 2),
        e.OracleEnded(2.0, 2, "complete", 9),
        e.OracleCounted(2.0, 2, "Ollama", "gemma3", 50, 20, 25, True, None, 80.0, 30.0, 400.0),
    ):
        record.apply(event)
    assert list(usage.backends) == [("OpenAI", "gpt-4.1"), ("Ollama", "gemma3")]
    openai, ollama = usage.backends.values()
    assert (openai.requests, openai.superseded, openai.tokens_in, openai.cost) == (1, 1, 100, 0.001)
    assert openai.estimated == 1
    assert (ollama.requests, ollama.tokens_cached, ollama.unpriced, ollama.estimated) == (1, 25, 1, 0)
    total = usage.total
    assert (total.requests, total.tokens_in, total.tokens_out, total.cost) == (2, 150, 30, 0.001)
    assert ollama.superseded == 0
