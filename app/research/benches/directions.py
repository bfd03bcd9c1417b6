"""Says of a bench's figure whether less or more of it is better, and what a result is of."""

from __future__ import annotations

import re
from typing import Literal

Direction = Literal["lower", "higher"]

CONDITIONS = frozenset(
    """bench machine model language simulated questions runs seed judge asked cases recordings samples words turns count
    starts sentences rounds calls delay decode_seconds judge_seconds words_seconds seconds goals goal frames decodes
    low high prebuffer_ms stated_ms canceller_ms""".split()
)
"""Names of what a result is of, and of the bounds of intervals, which belong to their mean: no figures of quality."""

_RULES: tuple[tuple[str, Direction], ...] = (
    (r"tasks\[(?:pause handling|backchannel)\]\.takeover_rate", "lower"),
    (r"\.takeover_rate", "higher"),
    (r"tasks\[overlap: interruption\]\.respond_share", "higher"),
    (r"tasks\[overlap: interruption\]\.resume_share", "lower"),
    (r"\.respond_share", "lower"),
    (r"\.resume_share", "higher"),
    (r"(?:^|\.)sounds\.(?:interrupt|answered)", "lower"),
    (r"(?:^|\.)speech\.(?:interrupt|answered)", "higher"),
    (r"within_\d+_ms", "higher"),
    (r"scores\.\w+\.mean|\.scores_without_long|auc", "higher"),
    (r"\.(?:facts_share|right|right_share|adopted|relevance|whole|accuracy|backchannels_rate)", "higher"),
    (r"\.by_\w+\.[^.]+", "higher"),
    (r"(?:^|\.)(?:first_(?:sound|content|word)|sound|word|latency|partial_lag|final_lag)\w*(?:\.\w+)?", "lower"),
    (r"_seconds(?:_\w+)?|_ms(?:\.\w+)?", "lower"),
    (r"(?:^|\.)(?:p\d+|worst|median|max|min)|_p\d+", "lower"),
    (r"(?:^|[._])(?:wrong|wer|error_rate|read_back|read_back_errors|words_wrong\.[^.]+)", "lower"),
    (r"\.(?:unanswered|unjudged|failures|early|early_starts|talked_over|cut_off|audible|share|audible_share)", "lower"),
    (r"\.(?:missed|taken_back|cost|memory\w*|processor\w*|model_processor|uncertain_share|divergence)", "lower"),
    (
        r"(?:^|[._])(?:over_user|too_early|underruns|lost|skipped|gaps|beginnings_lost|core_share|variance_left)",
        "lower",
    ),
)
"""By the end of a figure's name; the first that fits decides."""
_COMPILED = tuple((re.compile(f"(?:{pattern})$"), direction) for pattern, direction in _RULES)


def direction_of(figure: str) -> Direction | None:
    """Whether less or more of a figure is better; None where neither can be said."""
    return next((direction for pattern, direction in _COMPILED if pattern.search(figure)), None)
