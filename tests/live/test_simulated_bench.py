"""`bench facts` in simulated time with the app's real models."""

from __future__ import annotations

import json
import subprocess
import sys


def test_the_bench_of_facts_asks_and_judges_in_simulated_time() -> None:
    command = [sys.executable, "-m", "app", "bench", "facts", "--simulated", "--questions", "1", "--json"]
    done = subprocess.run([*command, "--way", "hands-free"], capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    [group] = told["groups"]
    [answer] = group["answers"]
    assert not told["failures"] and group["model"] == "smollm2-135m"
    assert answer["heard"] == "What is the capital of Sweden?" and "Stockholm" in answer["said"]
    assert answer["right"] and group["right"] == 1 and 0.1 < answer["first_sound"] < 2.0
