"""`run_routing`: how often the kind of a question is told right, from how many words, and how long that takes.

Knows the sets of questions and the form of the figures; telling kinds and holding on to them is `app.routing`'s.
"""

from __future__ import annotations

import itertools
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from app.platform.resources import resource
from app.routing.classifier import KINDS, KindClassifier
from app.routing.policy import RoutePolicy

BEGINNINGS = (4, 6, 8)
"""Words after which a question is judged while it grows; beside it, whole."""
LOADS = 5
STEP = 2
"""Words that come between two decisions of the policy."""

Labelled = list[tuple[str, str]]
"""Kind and text."""


@dataclass(slots=True)
class SetFigures:
    """What one set of questions gave. Shares are of 1."""

    name: str
    questions: int
    right: float
    beginnings: dict[int, float]
    """Words heard, and the share right from these alone; a shorter question counts with all it has."""
    confusion: list[list[int]]
    """(kinds, kinds) in the order of KINDS: a row is what it is, a column what it was taken for."""
    policy_right: float
    """Share right at the end of the question as the policy has it, asked every STEP words."""
    policy_changes: float
    """How often a question changes its kind on the way after the first words, with the policy."""
    bare_changes: float
    """The same without: the likeliest kind at every step."""


@dataclass(slots=True)
class RoutingResult:
    """What a run of the bench gave. Times in milliseconds."""

    sets: list[SetFigures] = field(default_factory=list)
    load_ms: float = 0.0
    call_p50_ms: float = 0.0
    call_p95_ms: float = 0.0
    calls: int = 0
    left_out: list[str] = field(default_factory=list)
    """What could not be scored, as sentences."""

    def table(self) -> str:
        """For people: Markdown."""
        lines: list[str] = []
        if self.sets:
            lines += [
                "| right, % | questions | whole |"
                + "".join(f" {words} words |" for words in BEGINNINGS)
                + " with the policy |",
                "| --- | ---: | ---: |" + " ---: |" * (len(BEGINNINGS) + 1),
            ]
        for one in self.sets:
            shares = [one.right, *(one.beginnings[words] for words in BEGINNINGS), one.policy_right]
            lines.append(f"| {one.name} | {one.questions} |" + "".join(f" {100 * share:.1f} |" for share in shares))
        for one in self.sets:
            lines += ["", f"{one.name}: rows are what it is, columns what it was taken for", ""]
            lines += ["| |" + "".join(f" {kind} |" for kind in KINDS), "| --- |" + " ---: |" * len(KINDS)]
            for kind, row in zip(KINDS, one.confusion, strict=True):
                if any(row):
                    lines.append(f"| {kind} |" + "".join(f" {count} |" for count in row))
            lines += [
                "",
                f"Changes of kind in a growing question: {one.policy_changes:.2f} with the policy, "
                f"{one.bare_changes:.2f} without.",
            ]
        lines += [
            "",
            f"One call takes {self.call_p50_ms:.3f} ms (median of {self.calls}; p95 {self.call_p95_ms:.3f} ms), "
            f"loading {self.load_ms:.0f} ms.",
        ]
        for sentence in self.left_out:
            lines += ["", sentence]
        return "\n".join(lines).strip()

    def document(self) -> dict[str, Any]:
        """For programs."""
        return {
            "kinds": list(KINDS),
            "sets": [
                {
                    "name": one.name,
                    "questions": one.questions,
                    "right": round(one.right, 4),
                    "beginnings": {str(words): round(share, 4) for words, share in one.beginnings.items()},
                    "confusion": one.confusion,
                    "policy_right": round(one.policy_right, 4),
                    "policy_changes": round(one.policy_changes, 3),
                    "bare_changes": round(one.bare_changes, 3),
                }
                for one in self.sets
            ],
            "load_ms": round(self.load_ms, 2),
            "call_p50_ms": round(self.call_p50_ms, 4),
            "call_p95_ms": round(self.call_p95_ms, 4),
            "calls": self.calls,
            "left_out": self.left_out,
        }


def run_routing(mt_bench: Path | None = None, held_out: Path | None = None, calls: int = 2000) -> RoutingResult:
    """Scores the sets that are there and times `calls` calls on one thread. Raises OSError, ValueError or KeyError.

    `mt_bench` is MT-Bench's question.jsonl, of which the categories that are kinds here count; `held_out` a file
    in the form of the training questions (default: `resources/routing/held_out.jsonl`).
    """
    result = RoutingResult(calls=calls)
    loads = []
    for _ in range(LOADS):
        begin = time.perf_counter()
        classifier = KindClassifier()
        loads.append(1000 * (time.perf_counter() - begin))
    result.load_ms = float(np.median(loads))

    path = resource("routing", "held_out.jsonl") if held_out is None else held_out
    if held_out is None and not path.exists():
        result.left_out.append("There are no held-out questions.")
    else:
        result.sets.append(_score("held out", [(row["kind"], row["text"]) for row in _rows(path)], classifier))
    if mt_bench is None:
        result.left_out.append("MT-Bench was not scored: give its question.jsonl.")
    else:
        rows = [row for row in _rows(mt_bench) if row["category"] in KINDS]
        first: Labelled = [(row["category"], row["turns"][0]) for row in rows]
        both: Labelled = [(row["category"], turn) for row in rows for turn in row["turns"]]
        talks: Labelled = [(row["category"], " ".join(row["turns"])) for row in rows]
        result.sets.append(_score("MT-Bench, first turns", first, classifier))
        result.sets.append(_score("MT-Bench, both turns, each by itself", both, classifier))
        result.sets.append(_score("MT-Bench, both turns in one", talks, classifier))

    texts = [text for _, text in _rows_of(resource("routing", "questions.jsonl"))]
    times = np.empty(calls)
    for call in range(calls):
        text = texts[call * 7 % len(texts)]
        begin = time.perf_counter()
        classifier.scores(text)
        times[call] = 1000 * (time.perf_counter() - begin)
    if calls:
        result.call_p50_ms, result.call_p95_ms = (float(share) for share in np.percentile(times, (50, 95)))
    return result


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _rows_of(path: Path) -> Labelled:
    return [(row["kind"], row["text"]) for row in _rows(path)]


def _score(name: str, questions: Labelled, classifier: KindClassifier) -> SetFigures:
    confusion = [[0] * len(KINDS) for _ in KINDS]
    early = dict.fromkeys(BEGINNINGS, 0)
    policy_right = policy_changes = bare_changes = 0
    for kind, text in questions:
        confusion[KINDS.index(kind)][KINDS.index(_likeliest(classifier, text))] += 1
        words = text.split()
        for heard in BEGINNINGS:
            early[heard] += _likeliest(classifier, " ".join(words[:heard])) == kind
        policy = RoutePolicy(classifier.scores)
        steps = [" ".join(words[:heard]) for heard in (*range(BEGINNINGS[0], len(words), STEP), len(words))]
        held = [policy.decide(1, step).kind for step in steps]
        bare = [_likeliest(classifier, step) for step in steps]
        policy_right += held[-1] == kind
        policy_changes += _changes(held)
        bare_changes += _changes(bare)
    count = max(1, len(questions))
    return SetFigures(
        name=name,
        questions=len(questions),
        right=sum(row[place] for place, row in enumerate(confusion)) / count,
        beginnings={heard: right / count for heard, right in early.items()},
        confusion=confusion,
        policy_right=policy_right / count,
        policy_changes=policy_changes / count,
        bare_changes=bare_changes / count,
    )


def _likeliest(classifier: KindClassifier, text: str) -> str:
    scores = classifier.scores(text)
    return max(scores, key=lambda kind: scores[kind])


def _changes(kinds: list[str]) -> int:
    return sum(one != other for one, other in itertools.pairwise(kinds))
