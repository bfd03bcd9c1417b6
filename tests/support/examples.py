"""How many examples a property is tried with."""

from __future__ import annotations

from hypothesis import settings

SHARE = 8
"""The short test command tries an eighth of the examples,"""
FEWEST = 5
"""but no fewer than these."""


def examples(whole: int) -> int:
    """Returns `whole` with `test --all`, and a share of it in the short test command."""
    if settings.get_current_profile_name() != "short":
        return whole
    return min(whole, max(FEWEST, whole // SHARE))
