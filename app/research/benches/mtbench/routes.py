"""Makes the router's table from a run: for each kind of question the model that answered best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.research.benches.mtbench.answer import Answer
from app.research.benches.mtbench.facts import has_fact
from app.research.benches.mtbench.judge import UNJUDGED, Judgement
from app.research.benches.mtbench.questions import CATEGORIES, Question
from app.research.benches.mtbench.systems import Kind, System
from app.session.control import BackendChoice

_KINDS: tuple[Kind, ...] = ("kame", "nano", "tandem", "cascade", "typed")


@dataclass(frozen=True, slots=True)
class Route:
    """The best model for a kind of question, and the figure of each model that decided (`by`: what the figures are)."""

    kind: str
    backend: BackendChoice
    figures: dict[str, float]
    by: str


def best_routes(
    systems: Sequence[System],
    questions: Sequence[Question],
    answers: Sequence[Answer],
    judgements: Sequence[Judgement],
) -> list[Route]:
    """One route for each kind of question for which one model was better than every other: by the judge's scores, or
    else by key facts. Models are compared in one kind of system, the first of `_KINDS` in which two were measured.
    """
    kinds = {question.number: question.category for question in questions}
    routes = []
    for category in CATEGORIES:
        scored = [one for one in judgements if one.score != UNJUDGED and kinds.get(one.question) == category]
        if scored:
            points = [(one.system, one.score) for one in scored]
        else:
            known = [(one, has_fact(one.question, one.turn, one.said)) for one in answers]
            points = [
                (one.system, float(fact))
                for one, fact in known
                if fact is not None and kinds.get(one.question) == category
            ]
        if (found := _best(systems, points)) is not None:
            backend, figures = found
            routes.append(Route(category, backend, figures, "score" if scored else "share of key facts"))
    return routes


def _best(
    systems: Sequence[System], points: Sequence[tuple[str, float]]
) -> tuple[BackendChoice, dict[str, float]] | None:
    """The back-end with the highest mean of `points` (by the systems' names), and the mean of each model; None without
    one that is better than all others.
    """
    for kind in _KINDS:
        values = {
            system.model: ([value for name, value in points if name == system.name], system.backend)
            for system in systems
            if system.kind == kind and not system.delay
        }
        figures = {model: round(sum(found) / len(found), 4) for model, (found, _) in values.items() if found}
        if len(figures) > 1:
            best, second = sorted(figures, key=lambda model: figures[model], reverse=True)[:2]
            return (values[best][1], figures) if figures[best] > figures[second] else None
    return None
