"""Storage for statistics about the user's pauses within turns."""

from __future__ import annotations

import contextlib
import math

from app.conversation.turns.endpointing import PauseLengths
from app.platform.files import write_json
from app.settings.paths import pauses_path
from app.untrusted.files import read_versioned
from app.untrusted.limits import SMALL_FILE

VERSION = 1
"""The format version of the file."""


def load_pauses() -> PauseLengths:
    """Returns the stored statistics, or empty ones if the file is missing or invalid."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        kept = read_versioned(pauses_path(), SMALL_FILE, VERSION)
        mean_log, count = float(kept["mean_log"]), int(kept["count"])
        if math.log(0.1) <= mean_log <= math.log(3.0) and count > 0:
            return PauseLengths(mean_log, count)
    return PauseLengths()


def keep_pauses(pauses: PauseLengths) -> None:
    """Stores the statistics. Write errors are ignored, since only the latest pauses would be lost."""
    if pauses.count:
        with contextlib.suppress(OSError):
            write_json(
                pauses_path(), {"version": VERSION, "mean_log": round(pauses.mean_log, 4), "count": pauses.count}
            )
