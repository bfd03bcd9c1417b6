"""Key facts: for the turns with an answer that can be checked, patterns of which a right answer has one.

They were written by hand for this bench (`resources/bench/mt_bench/facts.json`) from the questions and the references.
No pattern matches its own question, so that repeating that is no right answer. Four of FastChat's references are wrong
and were not followed: both turns of 104 (David has no brother; then one), the first of 105 (the fourth space is the
secretary's and Alice's), and the second of 109 (a shadow to the right after sunrise points west, so Suresh faces
south).
"""

from __future__ import annotations

import json
import re
from functools import cache

from app.platform.resources import resource
from app.research.benches.mtbench.measures import plain


@cache
def known_facts() -> dict[tuple[int, int], tuple[re.Pattern[str], ...]]:
    """The patterns by question and turn."""
    table = json.loads(resource("bench", "mt_bench", "facts.json").read_text("utf-8"))
    return {
        (int(key.split("_")[0]), int(key.split("_")[1])): tuple(re.compile(pattern) for pattern in patterns)
        for key, patterns in table.items()
    }


def has_fact(question: int, turn: int, answer: str) -> bool | None:
    """Whether an answer has the key fact of its turn; None where there is none to be checked."""
    patterns = known_facts().get((question, turn))
    return None if patterns is None else any(pattern.search(plain(answer)) for pattern in patterns)
