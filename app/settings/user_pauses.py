"""Keep how long the user's pauses within turns are from talk to talk: two numbers in a file of their own."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path

import platformdirs

from app.conversation.endpointing import PauseLengths
from app.platform.atomic_files import write_json
from app.settings.declarations import APP_NAME


def pace_file() -> Path:
    """Return where the two numbers lie."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "pauses.json"


def load_pace() -> PauseLengths:
    """Return what is known of the user's pauses; nothing yet where the file is missing or makes no sense."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        kept = json.loads(pace_file().read_text(encoding="utf-8"))
        mean_log, count = float(kept["mean_log"]), int(kept["count"])
        if math.log(0.1) <= mean_log <= math.log(3.0) and count > 0:
            return PauseLengths(mean_log, count)
    return PauseLengths()


def keep_pace(pauses: PauseLengths) -> None:
    """Write the file; a disk that refuses costs nothing but what was learned."""
    if pauses.count:
        with contextlib.suppress(OSError):
            write_json(pace_file(), {"mean_log": round(pauses.mean_log, 4), "count": pauses.count})
