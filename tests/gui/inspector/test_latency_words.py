"""Why an answer was slow, in words: one sentence for each cause."""

from __future__ import annotations

import re

import pytest

from app.conversation.latency import PIECES, Answer, Cause, Reason
from app.gui.inspector.latency import LatencyWords
from app.gui.widgets.formats import seconds_words

SLOW = Answer(1, 2.0, "words", {}, dict.fromkeys(PIECES, 0.4))

SAID = [
    (Reason(Cause.FELL_BEHIND, 2.0, count=5), "This machine fell behind and dropped frames (5). Close other programs"),
    (
        Reason(Cause.UNFINISHED, 1.64, 0.2),
        "KAME waited 1.64 s (usually 0.20 s) because your sentence sounded unfinished. Without hands-free",
    ),
    (
        Reason(Cause.UNSURE, 1.4),
        "KAME waited 1.40 s because it wasn't clear whether you had finished. Without hands-free",
    ),
    (Reason(Cause.BUTTON, 1.2), "You released the talk button 1.20 s after your last sound."),
    (Reason(Cause.NOTICED_LATE, 1.2, 0.2), "It took KAME 1.20 s to notice that you had finished (usually 0.20 s)."),
    (
        Reason(Cause.RECOGNITION_BEHIND, 1.2, None, count=3),
        "This machine was too busy to transcribe what you said, which took 1.20 s. Close other programs.",
    ),
    (Reason(Cause.WRITING, 1.2, 0.3), "Transcribing what you said took 1.20 s (usually 0.30 s)."),
    (Reason(Cause.STARTED_LATE, 1.2), "One stage waited 1.20 s for another. If this keeps happening"),
    (
        Reason(Cause.ASKED_AGAIN, 1.1, 0.3, "m"),
        "m was asked again because your last words changed the question, and took 1.10 s to its first words (usually "
        "0.30 s).",
    ),
    (
        Reason(Cause.FELL_BACK, 1.1, None, "m"),
        "Another model had failed, so m was asked instead, and took 1.10 s to its first words.",
    ),
    (Reason(Cause.SWAPPED, 1.1, None, "m"), "You had switched the model, so m was asked again, which took 1.10 s."),
    (Reason(Cause.TOOL, 1.2, None, "clock"), "The tool “clock” ran for 1.20 s before the model could answer."),
    (
        Reason(Cause.FIRST, 2.5, None, "m"),
        "m took 2.50 s to its first words. It was its first answer in this conversation:",
    ),
    (Reason(Cause.BACKEND, 1.9, 0.4, "gpt-4.1"), "gpt-4.1 took 1.90 s to its first words (usually 0.40 s)."),
    (
        Reason(Cause.BACKEND, 1.9, 1.7, "m"),
        "m took 1.90 s to its first words (usually 1.70 s). If this keeps happening, choose a faster model.",
    ),
    (Reason(Cause.DELAY, 0.8), "You set a pause of 0.80 s before each answer."),
    (Reason(Cause.BY_ITSELF, 1.5), "The voice's own model started after 1.50 s, without waiting for another model."),
    (
        Reason(Cause.VOICE, 1.2, 0.16),
        "The voice took 1.20 s from the model's first words to its first sound (usually 0.16 s).",
    ),
]


@pytest.mark.parametrize(("reason", "begins"), SAID, ids=[f"{r.cause.name}-{n}" for n, (r, _) in enumerate(SAID)])
def test_each_cause_in_words(reason: Reason, begins: str) -> None:
    said = LatencyWords().why(reason, SLOW, "backend")
    assert said.startswith(begins)
    assert said.endswith(".") and not re.search(r"[{}]|\s\s|\.\.", said)


def test_no_cause_is_without_words() -> None:
    assert {reason.cause for reason, _ in SAID} == set(Cause)


def test_what_was_not_slow_is_said_to_be_so() -> None:
    answer = Answer(1, 0.5, "words", {}, {**dict.fromkeys(PIECES, 0.0), "voice": 0.5})
    assert LatencyWords().why(None, answer, "voice") == (
        "It was not slow. The longest part was “The voice's first sound”, 0.50 s."
    )


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0.00 s"),
        (-0.001, "0.00 s"),
        (0.454, "0.45 s"),
        (-0.1, "\u22120.10 s"),
        (9.994, "9.99 s"),
        (9.996, "10.0 s"),
        (61.04, "61.0 s"),
    ],
)
def test_times_in_few_letters(seconds: float, text: str) -> None:
    assert seconds_words(seconds) == text
