"""`bench audio` on a real sound server whose loudspeaker is connected to its microphone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.patience import alone, in_real_time
from tests.support.virtual_audio import VirtualAudio, virtual_audio

ROOT = Path(__file__).resolve().parents[2]


def bench(audio: VirtualAudio, rounds: int) -> tuple[int, dict]:
    done = subprocess.run(
        [sys.executable, "-m", "app", "bench", "audio", "--json", "--rounds", str(rounds)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=audio.env,
        timeout=60,
    )
    return done.returncode, json.loads(done.stdout)


@pytest.mark.slow
@alone
@in_real_time
def test_parts_of_a_round_trip() -> None:
    with virtual_audio() as audio:
        audio.control(
            "load-module", "module-loopback", "source=kame_speaker.monitor", "sink=kame_mic_in", "latency_msec=1"
        )
        code, document = bench(audio, 8)
    assert code == 0 and document["rounds"] == 8 and document["lost"] == 0
    stages = {name: times["median"] for name, times in document["stages"].items()}
    trip, device = stages["round trip"], stages["devices, out and in, by themselves"]
    assert 5 < device < trip and trip > 80 + device  # a frame at the least
    assert document["beyond_ms"] == pytest.approx(trip - device - 80, abs=0.2)
    # The time in the ring is part of the trip, and nothing large is left unexplained but the canceller's step.
    assert trip - device - 80 - stages["ring before the loudspeaker"] < 60


def test_without_a_loop_the_error_says_what_to_do() -> None:
    with virtual_audio() as audio:
        code, document = bench(audio, 5)
    assert code == 2 and "doesn't come back" in document["error"] and "cable" in document["error"]
