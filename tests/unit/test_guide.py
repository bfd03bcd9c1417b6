"""The guide's table of settings is what the settings' declarations say."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_the_table_of_settings_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "packaging/guide.py", "--check"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
