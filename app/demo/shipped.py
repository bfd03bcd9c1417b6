"""Reads the questions and recordings that come with the app.

`questions.json` has the texts of the questions, which are long, and what they ask becomes clear early, so that thinking
along wins time; and when their speech ends, in seconds. `recorded.json` has the events of the recordings, whose voices
are audio files. `python -m tests.support.demo_recording` makes it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from app.conversation.event_json import checked_event
from app.demo.base import SIDES, DemoQuestion, Side
from app.demo.record import Pair, Take

INDEX = "recorded.json"


def load_sound(path: Path) -> np.ndarray:
    """Returns the audio of a file, float32 mono at 24 kHz."""
    from app.audio.io.files import read_frames

    return read_frames(path)


def load_questions(folder: Path) -> tuple[DemoQuestion, ...]:
    """Returns the questions in `folder`."""
    rows = json.loads((folder / "questions.json").read_text("utf-8"))
    return tuple(DemoQuestion(row["text"], load_sound(folder / row["file"]), row["seconds"]) for row in rows)


def load_pairs(folder: Path, questions: Sequence[DemoQuestion]) -> tuple[Pair, ...]:
    """Returns the recordings of these questions in `folder`, if any."""
    if not (folder / INDEX).is_file():
        return ()
    found = json.loads((folder / INDEX).read_text("utf-8"))
    asked = {question.text: question for question in questions}

    def take(side: Side, row: dict[str, Any]) -> Take:
        events = tuple(map(checked_event, row[side].pop("events")))
        return Take(asked[row["question"]], events, sound=load_sound(folder / row[side].pop("voice")), **row[side])

    return tuple(
        Pair({side: take(side, row) for side in SIDES}, found["backend"], found["began"], found["machine"])
        for row in found["pairs"]
        if row["question"] in asked
    )
