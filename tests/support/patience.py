"""Helpers for tests that run in real time on a machine that may be busy."""

import functools
import subprocess
import time
from collections.abc import Callable

import pytest

TRIES = 3
alone = pytest.mark.alone
"""Marks tests that depend on the clock and need the machine to themselves."""


def until(holds: Callable[[], object], seconds: float = 60.0) -> None:
    """Waits until `holds`."""
    give_up = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < give_up
        time.sleep(0.005)


def in_real_time(test: Callable[..., None]) -> Callable[..., None]:
    """Runs a test up to three times: being late once or twice may be the machine's fault, three times is the app's."""

    @functools.wraps(test)
    def patient(*args: object, **kwargs: object) -> None:
        for left in range(TRIES - 1, -1, -1):
            try:
                return test(*args, **kwargs)
            except (AssertionError, subprocess.SubprocessError) as error:
                if not left:
                    raise
                print(f"once more: {error}")
        return None

    return patient
