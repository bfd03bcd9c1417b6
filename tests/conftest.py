"""What all tests share: properties are searched the same way each time, and a busy machine is no failure."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from hypothesis import settings

settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("suite")

collect_ignore: list[str] = []
"""What isn't run on Windows without torch, which is no part of what the tests install there."""

if sys.platform == "win32" and importlib.util.find_spec("torch") is None:
    collect_ignore += ["unit/kame", "unit/weights/test_fit.py", "session/test_kame_talk.py"]


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says what was left out."""
    if collect_ignore:
        terminalreporter.write_line(f"LEFT OUT without torch: {', '.join(collect_ignore)}")
