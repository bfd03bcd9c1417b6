"""Makes the router's table from a run: for each kind of question the model that answered best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.evaluation.mtbench.answer import Answer
from app.evaluation.mtbench.facts import has_fact
from app.evaluation.mtbench.judge import UNJUDGED, Judgement
from app.evaluation.mtbench.questions import CATEGORIES, Question
from app.evaluation.mtbench.systems import System
from app.session.control import BackendChoice


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
    """One route for each kind with figures: by the judge's scores, or else by key facts. Equal figures: the first."""
    kinds = {question.number: question.category for question in questions}
    backends = {system.model: system.backend for system in systems if system.model}
    models = {system.name: system.model for system in systems if system.model}
    routes = []
    for category in CATEGORIES:
        values: dict[str, list[float]] = {model: [] for model in backends}
        scored = [one for one in judgements if one.score != UNJUDGED and kinds.get(one.question) == category]
        for one in scored:
            if one.system in models:
                values[models[one.system]].append(one.score)
        if not scored:
            for answer in answers:
                known = has_fact(answer.question, answer.turn, answer.said)
                if known is not None and kinds.get(answer.question) == category and answer.system in models:
                    values[models[answer.system]].append(float(known))
        figures = {model: round(sum(found) / len(found), 4) for model, found in values.items() if found}
        if figures:
            best = max(figures, key=lambda model: figures[model])
            routes.append(Route(category, backends[best], figures, "score" if scored else "share of key facts"))
    return routes
