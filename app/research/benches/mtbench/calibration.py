"""The gate that a judge must pass: it has to tell right answers from those to other questions.

Each reference answer is judged beside the reference of another question of the same turn. The area under the ROC curve
(AUC: how often the right one has the higher score, equal scores counting half) must reach `LEAST_AUC`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from app.backend.base import Backend, Usage
from app.diagnostics.tables import Progress
from app.research.benches.mtbench.judge import UNJUDGED, judge
from app.research.benches.mtbench.questions import Question

LEAST_AUC = 0.95
"""A judge below it can't tell good from bad, and its scores say nothing."""
MOST_UNJUDGED = 0.2
"""The share of answers that a judge may leave without a score."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """What a judge gave right and shuffled answers; `usages`: of its requests."""

    right: tuple[float, ...]
    shuffled: tuple[float, ...]
    usages: tuple[Usage, ...] = ()

    @property
    def auc(self) -> float:
        """The area under the ROC curve; an answer without a score counts as the lowest."""
        pairs = [(right > wrong) + 0.5 * (right == wrong) for right in self.right for wrong in self.shuffled]
        return sum(pairs) / len(pairs) if pairs else 0.0

    @property
    def passed(self) -> bool:
        """Whether the judge may judge."""
        return self.auc >= LEAST_AUC and self.unjudged <= MOST_UNJUDGED * (len(self.right) + len(self.shuffled))

    @property
    def unjudged(self) -> int:
        """How many answers got no score."""
        return sum(score == UNJUDGED for score in (*self.right, *self.shuffled))

    @property
    def sentence(self) -> str:
        """The result in a sentence."""
        verdict = "so it may judge" if self.passed else f"and it takes {LEAST_AUC:g}: its scores are withheld"
        if self.auc >= LEAST_AUC and not self.passed:
            verdict = "but gave too many no score: its scores are withheld"
        return (
            f"The judge told right answers to the first turns of the reasoning questions, which alone have references, "
            f"from shuffled ones with an AUC of {self.auc:.2f}, {verdict} "
            f"({self.unjudged} of {len(self.right) + len(self.shuffled)} without a score)."
        )


async def calibrate(backend: Backend, questions: Sequence[Question], progress: Progress) -> Calibration:
    """Lets the judge score the references of `questions`, and the same shuffled. Raises BackendError."""
    known = [question for question in questions if question.references]
    right: list[float] = []
    shuffled: list[float] = []
    usages: list[Usage] = []
    for place, question in enumerate(known):
        other = known[(place + len(known) // 2) % len(known)]
        progress(f"the judge is calibrated: question {place + 1} of {len(known)}")
        for answers, scores in ((question.references, right), (other.references, shuffled)):
            score, _, usage = await judge(backend, question, 1, answers[:1])
            scores.append(score)
            if usage is not None:
                usages.append(usage)
    return Calibration(tuple(right), tuple(shuffled), tuple(usages))
