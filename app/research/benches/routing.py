"""`bench routing`: how often the router classifies a question correctly, from how many words, and how long it takes."""

from __future__ import annotations

import itertools
import operator
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from app.diagnostics.tables import markdown, paragraphs, rounded
from app.platform.installation import resource
from app.research.results import unreadable
from app.routing.classifier import KINDS, KindClassifier
from app.routing.policy import RoutePolicy
from app.session.control import UserError
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE

BEGINNINGS = (4, 6, 8)
"""Word counts at which a growing question is classified, in addition to the whole question."""
LOADS = 5
STEP = 2
"""Words between two decisions of the policy."""

Labelled = list[tuple[str, str]]
"""Kind and text."""


@dataclass(slots=True)
class SetFigures:
    """Figures of one set of questions; shares from 0 to 1."""

    name: str
    questions: int
    right: float
    beginnings: dict[int, float]
    """Share classified correctly from only the first words, by word count; a shorter question counts in full."""
    confusion: list[list[int]]
    """(kinds, kinds) in the order of KINDS: rows are the correct kinds, columns the classifier's."""
    policy_right: float
    """Share correct at the question's end with the policy, which decides every STEP words."""
    policy_changes: float
    """How often the kind changes while a question grows, with the policy."""
    bare_changes: float
    """The same without the policy, taking the likeliest kind at every step."""


@dataclass(slots=True)
class RoutingResult:
    """Figures of all sets, and times in milliseconds. `left_out`: messages about missing data."""

    sets: list[SetFigures] = field(default_factory=list)
    load_ms: float = 0.0
    call_p50_ms: float = 0.0
    call_p95_ms: float = 0.0
    calls: int = 0
    left_out: list[str] = field(default_factory=list)

    def table(self) -> str:
        """Returns the result as Markdown tables: the shares, and the confusion matrix of each set."""
        head = ("right, %", "questions", "whole", *(f"{words} words" for words in BEGINNINGS), "with the policy")
        shares = [(one.right, *one.beginnings.values(), one.policy_right) for one in self.sets]
        rows = [
            (one.name, one.questions, *(f"{100 * share:.1f}" for share in found))
            for one, found in zip(self.sets, shares, strict=True)
        ]
        lines = markdown(head, rows)
        for one in self.sets:
            confused = [(kind, *row) for kind, row in zip(KINDS, one.confusion, strict=True) if any(row)]
            lines += [
                *("", f"{one.name}: rows are what it is, columns what it was taken for", ""),
                *markdown(("", *KINDS), confused),
                "",
                f"Changes of kind in a growing question: {one.policy_changes:.2f} with the policy, "
                f"{one.bare_changes:.2f} without.",
            ]
        times = (
            f"One call takes {self.call_p50_ms:.3f} ms (median of {self.calls}; p95 {self.call_p95_ms:.3f} ms), "
            f"loading {self.load_ms:.0f} ms."
        )
        return "\n".join([*lines, *paragraphs([times, *self.left_out])]).strip()

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-serialisable dict."""
        return {"kinds": list(KINDS), **rounded(asdict(self))}


def run_routing(mt_bench: Path | None = None, held_out: Path | None = None, calls: int = 2000) -> RoutingResult:
    """Scores the available sets and times `calls` calls on one thread. Raises UserError.

    `mt_bench`: MT-Bench's question.jsonl, of which only the categories known to the router are used; `held_out`: a file
    in the format of the training questions, `resources/routing/held_out.jsonl` by default.
    """
    result = RoutingResult(calls=calls)
    loads = []
    for _ in range(LOADS):
        begin = time.perf_counter()
        classifier = KindClassifier()
        loads.append(1000 * (time.perf_counter() - begin))
    result.load_ms = float(np.median(loads))

    path = held_out or resource("routing", "held_out.jsonl")
    result.sets.append(_score("held out", _labelled(path), classifier))
    if mt_bench is None:
        result.left_out.append("MT-Bench was not scored: give its question.jsonl.")
    else:
        rows = [row for row in _rows(mt_bench, "category", "turns") if row["category"] in KINDS]
        first: Labelled = [(row["category"], row["turns"][0]) for row in rows]
        both: Labelled = [(row["category"], turn) for row in rows for turn in row["turns"]]
        talks: Labelled = [(row["category"], " ".join(row["turns"])) for row in rows]
        result.sets.append(_score("MT-Bench, first turns", first, classifier))
        result.sets.append(_score("MT-Bench, both turns, each by itself", both, classifier))
        result.sets.append(_score("MT-Bench, both turns in one", talks, classifier))

    texts = [text for _, text in _labelled(resource("routing", "questions.jsonl"))]
    times = np.empty(calls)
    for call in range(calls):
        text = texts[call * 7 % len(texts)]
        begin = time.perf_counter()
        classifier.scores(text)
        times[call] = 1000 * (time.perf_counter() - begin)
    if calls:
        result.call_p50_ms, result.call_p95_ms = (float(share) for share in np.percentile(times, (50, 95)))
    return result


def _rows(path: Path, *fields: str) -> list[dict[str, Any]]:
    """Reads the rows of a file, all of which must have these fields. Raises UserError."""
    sentence = "The questions can't be read ({}). Give files of lines like those in resources/routing."
    with unreadable(UserError, sentence):
        rows = read_json_lines(path, CORPUS, CORPUS_LINE)
        if not all(field in row for row in rows for field in fields):
            raise ValueError(f"a line lacks {' or '.join(fields)}")
        return rows


def _labelled(path: Path) -> Labelled:
    return [(row["kind"], row["text"]) for row in _rows(path, "kind", "text")]


def _score(name: str, questions: Labelled, classifier: KindClassifier) -> SetFigures:
    kinds, texts = [kind for kind, _ in questions], [text.split() for _, text in questions]

    def likeliest(words: Sequence[str]) -> str:
        scores = classifier.scores(" ".join(words))
        return max(scores, key=lambda kind: scores[kind])

    def share(found: Iterable[str]) -> float:
        return sum(map(operator.eq, kinds, found)) / max(1, len(kinds))

    whole, held, bare = [likeliest(words) for words in texts], [], []
    for words in texts:
        policy = RoutePolicy(classifier.scores)
        lengths = (*range(BEGINNINGS[0], len(words), STEP), len(words))
        held.append([policy.decide(1, " ".join(words[:length])).kind for length in lengths])
        bare.append([likeliest(words[:length]) for length in lengths])
    pairs = Counter(zip(kinds, whole, strict=True))
    return SetFigures(
        name=name,
        questions=len(questions),
        right=share(whole),
        beginnings={length: share(likeliest(words[:length]) for words in texts) for length in BEGINNINGS},
        confusion=[[pairs[kind, other] for other in KINDS] for kind in KINDS],
        policy_right=share(steps[-1] for steps in held),
        policy_changes=sum(map(_changes, held)) / max(1, len(kinds)),
        bare_changes=sum(map(_changes, bare)) / max(1, len(kinds)),
    )


def _changes(kinds: list[str]) -> int:
    return sum(one != other for one, other in itertools.pairwise(kinds))
