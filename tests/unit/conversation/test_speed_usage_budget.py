"""How often a model is asked, its usage, and when the cap stops it."""

import pytest

from app.conversation import events as e
from app.conversation.backend_speed import Pace
from app.conversation.oracle import OraclePolicy
from app.conversation.usage import ConversationUsage
from app.session.spending import Budget


@pytest.mark.parametrize(
    ("first", "speed", "interval"),
    [
        (None, None, 0.4),  # nothing is known
        (0.08, 250.0, 0.1),  # as fast as it gets: the paper's least
        (0.15, 50.0, 0.25),  # to begin, and a clause of five words
        (0.4, 60.0, 0.483),
        (3.0, 1.0, 0.5),  # the paper's most
    ],
)
def test_the_interval_is_what_a_backend_needs_to_begin_and_to_say_a_clause(
    first: float | None, speed: float | None, interval: float
) -> None:
    pace = Pace()
    for _ in range(30):
        if first is not None and speed is not None:
            pace.began(first)
            pace.ended(20, 20 / speed)
    assert pace.interval == pytest.approx(interval, abs=0.005)


def test_a_pace_follows_a_backend_that_becomes_slow_but_not_one_slow_answer() -> None:
    pace = Pace()
    for _ in range(10):
        pace.began(0.1)
    pace.began(1.0)
    assert pace.first_seconds == pytest.approx(0.37)
    for _ in range(12):
        pace.began(1.0)
    assert pace.first_seconds == pytest.approx(1.0, abs=0.02)
    assert pace.new_words == 3, "a slow model is restarted for more words only"


def test_a_backend_that_shares_this_machine_is_asked_less_often() -> None:
    pace = Pace(0.4)
    pace.began(0.05)
    pace.ended(20, 0.1)
    assert pace.interval == 0.4


def test_when_sparing_only_pauses_and_ends_are_asked_about() -> None:
    policy = OraclePolicy(interval=0.1)
    policy.sparing = True
    assert policy.decide(1, "What is the", 1.0, final=False) == "keep"
    assert policy.decide(1, "What is the capital", 1.5, final=False, paused=True) == "start"
    policy.started(1, "What is the capital", 1.5)
    policy.spoke()
    assert policy.decide(1, "What is the capital of all of France", 3.0, final=False) == "keep"
    assert policy.decide(1, "What is the capital of all of France", 3.1, final=True) == "start"


def test_a_budget_slows_first_then_stops_and_can_be_raised() -> None:
    budget = Budget(1.0)
    stages = []
    for _ in range(11):
        budget.spent += 0.1
        stages.append(budget.stage)
    assert stages[:6] == ["free"] * 6 and stages[-1] == "stop" and "slow" in stages
    budget.cap = 5.0
    assert budget.stage == "free"
    assert Budget(0.0).stage == "free", "no cap"


def test_the_usage_counts_each_request_once_and_by_backend() -> None:
    usage = ConversationUsage()
    for event in (
        e.OracleRequested(1.0, 1, 1, "OpenAI", "gpt-4.1", "What", False),
        e.OracleRequested(1.2, 2, 1, "Ollama", "gemma3", "What", False, True),
        e.OracleEnded(1.4, 1, "superseded", 3),
        e.OracleCounted(1.4, 1, "OpenAI", "gpt-4.1", 100, 10, 0, False, 0.001, 90.0, 30.0, 400.0),
        e.OracleHandedOver(1.5, 2),
        e.OracleEnded(2.0, 2, "complete", 9),
        e.OracleCounted(2.0, 2, "Ollama", "gemma3", 50, 20, 25, True, None, 80.0, 30.0, 400.0),
    ):
        usage.apply(event)
    assert list(usage.backends) == [("OpenAI", "gpt-4.1"), ("Ollama", "gemma3")]
    openai, ollama = usage.backends.values()
    assert (openai.requests, openai.superseded, openai.tokens_in, openai.cost) == (1, 1, 100, 0.001)
    assert openai.estimated == 1
    assert (ollama.requests, ollama.tokens_cached, ollama.unpriced, ollama.estimated) == (1, 25, 1, 0)
    assert (usage.requests, usage.tokens_in, usage.tokens_out, usage.cost) == (2, 150, 30, 0.001)
    assert ollama.superseded == 0
