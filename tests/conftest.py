"""What all tests share: properties are searched the same way each time, and nothing of the user's is seen."""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from typing import Any

import pytest
from hypothesis import settings

LONGEST_ID = 60
"""Characters of a parameter in a test's name. Windows can't hold longer names in the environment of a test."""


def pytest_make_parametrize_id(val: Any) -> str | None:
    """Cuts the names of tests whose parameter is a long text."""
    return ascii(val[:LONGEST_ID])[:LONGEST_ID] if isinstance(val, str | bytes) and len(val) > LONGEST_ID else None


settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("short", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("search", deadline=None)
settings.load_profile("suite")


def pytest_configure(config: pytest.Config) -> None:
    """Tries properties with fewer examples where slow tests are left out."""
    if "not slow" in config.option.markexpr:
        settings.load_profile("short")


if sys.platform != "win32":
    # Models that the user has fetched, and what was measured of them, would make other tests of these.
    os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="kame-tests-")
    atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)
