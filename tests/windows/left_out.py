"""Tests that are not run on Windows, each with the reason."""

from __future__ import annotations

LEFT_OUT = {
    "tests/unit/kame": "needs torch, which the embedded default does without; the same code is tested on Linux",
}
