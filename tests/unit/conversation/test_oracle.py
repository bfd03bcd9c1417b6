"""When and how often a back-end is asked, which revision speaks and may speak early, and what the cap stops."""

import pytest

from app.conversation import events as e
from app.conversation.oracle import OraclePolicy, Pace, RequestBudget
from app.conversation.prompt import build_prompt
from app.conversation.record.record import Record
from app.conversation.record.transcript import Transcript
from app.conversation.speaking.revisions import KnownRevision, OracleAsked, Revisions
from app.conversation.turns.floor import TakeFloor
from tests.support.tables import cases


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
    ([asked(1, QUESTION)], TakeFloor(1, 1.0), "-unconfirmed"),  # nobody knows whether there was more
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


def test_neither_an_opening_nor_a_bridge_is_sent_to_the_backend() -> None:
    mended = (("Let me think.", 0), ("It is Bergen.", 1), ("Or rather, it is Oslo, in the south.", 2))
    shown, meant = told(*mended, ("It lies by the sea. It is new.", 2))
    assert shown.startswith("Let me think. It is Bergen. Or rather,")
    assert meant == "It is Oslo, in the south. It lies by the sea. It is new."
    assert told(*mended, interrupted=True)[1] == "It is Oslo, in the south."
    assert told(("It is Bergen.", 1), ("Or rather,", 2), interrupted=True)[1] == "It is Bergen."
    assert told(("Let me", 0), interrupted=True) == ("Let me", "")


def test_of_a_model_that_speaks_in_words_of_its_own_what_was_heard_is_sent() -> None:
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


def test_a_pace_follows_a_backend_that_becomes_slow_but_not_one_slow_answer() -> None:
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


def test_a_backend_that_shares_this_machine_is_asked_less_often() -> None:
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
