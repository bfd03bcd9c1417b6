"""The README's generated parts are what their sources say."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(shutil.which("git") is None, reason="Git lists the files")
def test_tree_and_settings_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "packaging/readme.py", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
