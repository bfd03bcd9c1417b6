"""Compares a judge's scores of the same questions before and after."""

from __future__ import annotations

import random
import re
import statistics
from typing import Any

from app.research.benches.mtbench.questions import LONG

RESAMPLES = 1000
"""Of the bootstrap over questions."""


def question_scores(document: dict[str, Any], figure: str) -> dict[str, float]:
    """The judge's mean score of each question of a system's category, if `figure` is the mean of these."""
    found = re.fullmatch(r"systems\[(.*)\]\.scores(?:\.(\w+)\.mean|_without_long)", figure)
    systems = document.get("systems")
    if found is None or not isinstance(systems, list):
        return {}
    for system in systems:
        if isinstance(system, dict) and system.get("name") == found[1]:
            groups = system.get("by_question")
            groups = groups if isinstance(groups, dict) else {}
            chosen = [group for name, group in groups.items() if found[2] in (name, "average", None)]
            return {
                key: float(score)
                for group in chosen
                if isinstance(group, dict)
                for key, score in group.items()
                if isinstance(score, int | float) and (found[2] or key not in map(str, LONG))
            }
    return {}


def may_be_chance(before: dict[str, float], after: dict[str, float]) -> bool:
    """Whether the 95 % interval of the mean difference between scores of the same questions has 0 in it, by a bootstrap
    over the questions. A single question tells nothing. False where the questions are not the same or not known.
    """
    if not before or before.keys() != after.keys():
        return False
    if len(before) == 1:
        return True
    differences = [after[key] - before[key] for key in before]
    chance = random.Random(0)
    drawn = sorted(statistics.fmean(chance.choices(differences, k=len(differences))) for _ in range(RESAMPLES))
    return drawn[round(0.025 * (RESAMPLES - 1))] <= 0.0 <= drawn[round(0.975 * (RESAMPLES - 1))]
