"""Which kind a growing turn counts as: the hold, the change, the follow-up."""

from collections.abc import Mapping

import pytest

from app.routing.classifier import KindClassifier
from app.routing.policy import CLEAR, SOME, SURE, Route, RoutePolicy

A_BIT = 0.01


def _scores(**shares: float) -> dict[str, float]:
    return {"everyday": 0.0, "reasoning": 0.0, "stem": 0.0, "humanities": 0.0, "creative": 0.0, **shares}


class _Script:
    """Answers with what the test set last."""

    def __init__(self) -> None:
        self.now: Mapping[str, float] = _scores()
        self.calls = 0

    def __call__(self, text: str) -> Mapping[str, float]:
        self.calls += 1
        return self.now


class _Talk:
    """A policy and how much was said; each `hear` adds words."""

    def __init__(self) -> None:
        self.script = _Script()
        self.policy = RoutePolicy(self.script)
        self.turn, self.words = 1, "photons carry momentum"

    def hear(self, words: str = "quarks", **shares: float) -> Route:
        self.words = f"{self.words} {words}".strip()
        self.script.now = _scores(**shares)
        return self.policy.decide(self.turn, self.words)

    def next_turn(self) -> None:
        self.turn, self.words = self.turn + 1, ""


def test_before_any_evidence_it_is_everyday() -> None:
    talk = _Talk()
    assert talk.policy.decide(1, "").kind == "everyday"
    assert talk.policy.decide(1, " ... ").reason == "nothing heard yet: everyday"
    talk.script.now = _scores(stem=1.0)
    assert talk.policy.decide(1, "Um how").kind == "everyday"
    assert "too few words" in talk.policy.decide(1, "Um how").reason
    assert talk.script.calls == 1


STEM, MIXED = {"stem": 0.8}, {"stem": 0.60, "humanities": 0.3}
CLEARLY = {"stem": 0.3, "reasoning": 0.3 + CLEAR + A_BIT}
LITTLE = {"stem": 0.38, "reasoning": 0.38 + SOME + A_BIT}
OTHER = {"stem": 0.35, "humanities": 0.35 + SOME + A_BIT}
TOO_LITTLE = {"stem": 0.40, "reasoning": 0.40 + SOME - A_BIT}


@pytest.mark.parametrize(
    ("heard", "kinds"),
    [
        ([{"stem": 0.41, "reasoning": 0.39}, {"stem": 0.48, "reasoning": 0.40}], "everyday stem"),
        ([STEM, CLEARLY], "stem reasoning"),
        ([STEM, LITTLE, LITTLE], "stem stem reasoning"),
        ([STEM, *[TOO_LITTLE] * 5], "stem " * 6),
        ([STEM, LITTLE, OTHER, MIXED, OTHER, OTHER], "stem " * 5 + "humanities"),
    ],
    ids=["first", "clear", "a little twice", "too little", "not in succession"],
)
def test_a_kind_is_left_by_a_clear_lead_or_by_a_little_one_twice(heard: list[dict[str, float]], kinds: str) -> None:
    talk = _Talk()
    assert [talk.hear(**shares).kind for shares in heard] == kinds.split()


def test_why_a_kind_stays_is_told() -> None:
    talk = _Talk()
    assert talk.hear(stem=0.8) == Route("stem", 0.8, "sounds like stem (80 %)")
    assert talk.hear(**LITTLE) == Route("stem", 0.38, "stays with stem: reasoning leads by too little (44 to 38 %)")
    assert "no longer stem" in talk.hear(**LITTLE).reason


def test_the_same_words_are_the_same_decision() -> None:
    talk = _Talk()
    talk.hear(stem=0.8)
    route = talk.hear(stem=0.35, reasoning=0.45)
    calls = talk.script.calls
    assert talk.policy.decide(talk.turn, talk.words) == talk.policy.decide(talk.turn, talk.words + " ?") == route
    assert talk.script.calls == calls


@pytest.mark.parametrize(
    "words", ["and why is that", "Tell me more.", "Go on", "could you explain that again please", "Why’s it so?"]
)
def test_a_turn_that_asks_for_more_stays_despite_the_scores(words: str) -> None:
    talk = _Talk()
    talk.hear(humanities=0.9)
    talk.next_turn()
    assert talk.hear(words, creative=1.0) == Route("humanities", 0.0, "a follow-up: stays with humanities")


def test_a_short_turn_leaves_only_when_sure() -> None:
    for lead, kind in ((SURE - A_BIT, "humanities"), (SURE + A_BIT, "creative")):
        talk = _Talk()
        talk.hear(humanities=0.9)
        talk.next_turn()
        assert talk.hear("write a poem", humanities=0.1, creative=0.1 + lead).kind == kind


def test_an_undecided_longer_turn_stays_and_a_decided_one_leaves() -> None:
    talk = _Talk()
    talk.hear(humanities=0.9)
    talk.next_turn()
    assert talk.hear("how did the other emperor see it", humanities=0.34, stem=0.36).kind == "humanities"
    assert talk.hear("and how do rockets fly", humanities=0.1, stem=0.8).kind == "stem"


def test_with_the_real_classifier_a_talk_goes_from_kind_to_kind() -> None:
    policy = RoutePolicy(KindClassifier().scores)
    turns = [
        ("How do enzymes speed up the breakdown of sugar in a cell?", "stem"),
        ("And why is that?", "stem"),
        ("Write me a silly poem about a frog who wants to be a pianist.", "creative"),
        ("Tell me more.", "creative"),
        ("Who was the emperor of Rome when Jesus was born, and what did historians write about him?", "humanities"),
    ]
    for turn, (text, kind) in enumerate(turns):
        words = text.split()
        for heard in range(1, len(words) + 1):
            route = policy.decide(turn, " ".join(words[:heard]))
        assert route.kind == kind, route.reason
