"""The tests that are not run on Windows, with the reasons."""

from __future__ import annotations

_TORCH = "needs torch, which the embedded default doesn't use; the same code is tested on Linux"
_ARITHMETIC = "minutes of arithmetic on samples, independent of the system; tested on Linux"

LEFT_OUT = {
    "tests/unit/kame": _TORCH,
    "tests/unit/models/test_fit.py": _TORCH,
    "tests/session/test_kame_talk.py": _TORCH,
    "tests/unit/audio/test_drift.py": _ARITHMETIC,
    "tests/unit/audio/test_echo.py": _ARITHMETIC,
    "tests/session/test_barge_in.py": _ARITHMETIC,
    "tests/session/test_echo.py": _ARITHMETIC,
    "tests/session/test_endpointing.py": _ARITHMETIC,
    "tests/session/test_live_recognition.py": _ARITHMETIC,
    "tests/session/test_sounds.py": _ARITHMETIC,
    "tests/unit/evaluation/test_overlap.py": _ARITHMETIC,
    "tests/session/test_swaps.py::test_fifty_random_swaps_in_a_quarter_of_an_hour": _ARITHMETIC,
    "tests/unit/packaging/test_locks.py::"
    "test_a_lock_contains_all_dependencies_except_deliberate_omissions[gpu.txt]": _TORCH,
    "tests/unit/packaging/test_locks.py::"
    "test_a_lock_contains_all_dependencies_except_deliberate_omissions[card.txt]": _TORCH,
}
"""Files and folders, or single tests (with "::")."""
