"""The tests that are not run on Windows, with the reasons."""

from __future__ import annotations

_TORCH = "needs torch, which the embedded default doesn't use; the same code is tested on Linux"
_ARITHMETIC = "minutes of arithmetic on samples, independent of the system; tested on Linux"
_FOR_DEVELOPERS = "a tool for developers, who use Linux; tested there"
_AT_RANDOM = "minutes of contents at random for code that is independent of the system; tested on Linux"
LEFT_OUT = {
    "tests/unit/kame": _TORCH,
    "tests/session/test_kame_talk.py": _TORCH,
    "tests/unit/audio/test_echo.py": _ARITHMETIC,
    "tests/session/test_barge_in.py": _ARITHMETIC,
    "tests/session/test_echo.py": _ARITHMETIC,
    "tests/session/test_endpointing.py": _ARITHMETIC,
    "tests/session/test_live_recognition.py": _ARITHMETIC,
    "tests/session/test_sounds.py": _ARITHMETIC,
    "tests/unit/stt/test_text_endpointing.py": _ARITHMETIC,
    "tests/unit/research": _FOR_DEVELOPERS,
    "tests/unit/test_translations.py": _FOR_DEVELOPERS,
    "tests/unit/history/test_corruption.py::test_random_damage_costs_no_talk_that_sqlite_can_read": _AT_RANDOM,
    "tests/unit/history/test_history_property.py": _AT_RANDOM,
    "tests/unit/session/test_recordings.py::test_any_recording_is_told_or_refused_in_a_sentence": _AT_RANDOM,
    "tests/session/test_oracle_property.py": _AT_RANDOM,
    "tests/unit/backend/test_deadlines.py::test_odd_answers_end_in_words_or_in_a_sentence": _AT_RANDOM,
    "tests/session/test_swaps.py::test_fifty_random_swaps_in_a_quarter_of_an_hour": _ARITHMETIC,
    "tests/unit/packaging/test_locks.py::"
    "test_a_lock_contains_all_dependencies_except_deliberate_omissions[gpu.txt]": _TORCH,
    "tests/unit/packaging/test_locks.py::"
    "test_a_lock_contains_all_dependencies_except_deliberate_omissions[card.txt]": _TORCH,
}
"""Files and folders, or single tests (with "::")."""
