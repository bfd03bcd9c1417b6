"""faster-whisper is imported without PyAV, whether PyAV is installed or not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]

LOADS = """
import importlib.abc, sys

class NoPyAV(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        assert name.partition(".")[0] != "av", "PyAV was imported"

sys.meta_path.insert(0, NoPyAV())
from app.stt.whisper_library import faster_whisper
assert faster_whisper("feature_extractor").FeatureExtractor and faster_whisper().WhisperModel
assert "av" not in sys.modules
try:
    faster_whisper().decode_audio("any.wav")
except AttributeError as error:
    print(error)
"""


def test_faster_whisper_is_imported_without_pyav() -> None:
    done = subprocess.run([sys.executable, "-c", LOADS], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "faster-whisper can't open files (av." in done.stdout
