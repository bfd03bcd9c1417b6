"""Estimates what a run will cost before it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.backend.base import Usage
from app.research.benches.mtbench.questions import TURNS, Question
from app.research.benches.mtbench.systems import System
from app.session.control import BackendChoice
from app.session.errors import UserError

REQUESTS_A_TURN = {"typed": 1.0, "cascade": 3.0, "tandem": 8.0, "kame": 8.0, "nano": 8.0, "moshi": 0.0}
"""Measured with the embedded models (`bench mtbench`): a tandem asks again as the words grow."""
PROMPT_TOKENS, ANSWER_TOKENS, TYPED_ANSWER_TOKENS = 450, 160, 600
JUDGE_PROMPT_TOKENS, JUDGE_ANSWER_TOKENS = 900, 250
CALIBRATION_CALLS = 20
SECONDS_A_QUESTION = 60.0
"""Of one question in real time, both turns with their answers."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """Requests to back-ends, calls of the judge, dollars (None where a price is not known) and hours of a run."""

    requests: int
    judge_calls: int
    dollars: float | None
    hours: float

    def check(self, cap: float) -> None:
        """Raises UserError if the run would cost more than `cap` dollars, or an unknown sum. A cap of 0: any sum."""
        if cap and self.dollars is None:
            raise UserError(f"{self.sentence} A cap can't be kept then. Give --cap 0 to run it all the same.")
        if cap and self.dollars is not None and self.dollars > cap:
            raise UserError(f"{self.sentence} That is more than its cap of ${cap:.2f}. Give a higher --cap.")

    @property
    def sentence(self) -> str:
        """The estimate in a sentence."""
        money = "an unknown sum: a model has no price" if self.dollars is None else f"about ${self.dollars:.2f}"
        return (
            f"This run takes about {self.hours:.1f} hours in real time, {self.requests:,} requests and "
            f"{self.judge_calls:,} calls of the judge, and costs {money}."
        )


def estimate(
    systems: Sequence[System],
    runs: int,
    questions: Sequence[Question],
    judge: BackendChoice | None,
    price: Callable[[BackendChoice, Usage], float | None],
    *,
    last_oracle: bool = False,
) -> Estimate:
    """Returns what is to be expected of a run. `price`: the dollars of a request, None if they are not known.
    `last_oracle`: the last oracles are judged, too.
    """
    turns = len(questions) * TURNS * runs
    requests, dollars, seconds = 0.0, 0.0, 0.0
    known = True
    for system in systems:
        asked = REQUESTS_A_TURN[system.kind] * turns
        requests += asked
        tokens = ANSWER_TOKENS if system.speaks else TYPED_ANSWER_TOKENS
        one = price(system.backend, Usage(PROMPT_TOKENS, tokens)) if asked else 0.0
        known = known and one is not None
        dollars += asked * (one or 0.0)
        seconds += (SECONDS_A_QUESTION if system.speaks else 10.0) * len(questions) * runs
    judged = sum(turns * (2 if last_oracle and system.has_oracle else 1) for system in systems) + CALIBRATION_CALLS
    if judge is None:
        judged = 0
    else:
        one = price(judge, Usage(JUDGE_PROMPT_TOKENS, JUDGE_ANSWER_TOKENS))
        known = known and one is not None
        dollars += judged * (one or 0.0)
    return Estimate(round(requests), judged, dollars if known else None, seconds / 3600)
