"""Where the files of the top-level folder `resources` are, in a checkout and in a bundle."""

from __future__ import annotations

import sys
from pathlib import Path


def resource(*parts: str) -> Path:
    """The path of a resource; it may not exist."""
    root = Path(getattr(sys, "_MEIPASS", Path(__file__).resolve().parent.parent))
    return root.joinpath("resources", *parts)
