"""How many examples a property is tried with."""

from hypothesis import settings

SHARE = 5
"""The short test command tries a fifth of the examples."""


def examples(whole: int) -> int:
    """Returns `whole` with `test --all`, and `SHARE` times fewer in the short test command."""
    if settings.get_current_profile_name() != "short":
        return whole
    return max(1, whole // SHARE)
