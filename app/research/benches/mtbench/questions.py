"""The thirty questions of MT-Bench that the KAME paper speaks: reasoning, STEM and humanities, two turns each.

From lm-sys/FastChat, Apache-2.0 (Zheng et al., 2023, arXiv 2306.05685).

The sound of the questions: recordings where there are some, else a voice of the app.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.conversation.spoken_form import spoken
from app.diagnostics.tables import Progress
from app.platform.installation import resource
from app.research.benches.recordings import SUFFIXES, read_sound, voice_end
from app.session.errors import UserError
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE


@dataclass(frozen=True, slots=True)
class SpokenTurn:
    """One turn of a question: `samples` float32 24 kHz, in which the voice ends at second `end`."""

    text: str
    samples: np.ndarray
    end: float


def speak(
    questions: Iterable[Question], folder: Path | None, voice: str, progress: Progress
) -> dict[tuple[int, int], SpokenTurn]:
    """The turns' sound, by question and turn (from 1). `folder`: recordings named QUESTION_TURN.flac, or folders of
    them by voice; what is not there is said by the app's voice `voice` (empty: the usual one).

    Raises TranscriberError and VoiceError.
    """
    from app.tts.voices import make_voice

    out: dict[tuple[int, int], SpokenTurn] = {}
    missing: list[tuple[int, int, str]] = []
    for question in questions:
        for turn, text in enumerate(question.turns, 1):
            file = _recording(folder, question.number, turn)
            if file is None:
                missing.append((question.number, turn, text))
            else:
                samples = read_sound(file)
                out[question.number, turn] = SpokenTurn(text, samples, voice_end(samples))
    if missing:
        with make_voice(voice) as speaker:
            for place, (number, turn, text) in enumerate(missing, 1):
                progress(f"the voice says question {place} of {len(missing)}")
                samples = speaker.synthesize(spoken(text)).result().samples
                out[number, turn] = SpokenTurn(text, samples, voice_end(samples))
    return out


def _recording(folder: Path | None, number: int, turn: int) -> Path | None:
    if folder is None:
        return None
    places = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())] if folder.is_dir() else []
    files = (place / f"{number}_{turn}{suffix}" for place in places for suffix in SUFFIXES)
    return next((file for file in files if file.is_file()), None)


CATEGORIES = ("reasoning", "stem", "humanities")
LONG = (105, 106, 110, 157)
"""Questions that take more than a minute to speak; the paper does not say how it read them."""
TURNS = 2


@dataclass(frozen=True, slots=True)
class Question:
    """A question of two `turns`; `references`: right answers to both, where there are any."""

    number: int
    category: str
    turns: tuple[str, ...]
    references: tuple[str, ...] = ()


def load_questions(numbers: Sequence[int] = ()) -> list[Question]:
    """The questions with these numbers, all without any. Raises UserError."""
    folder = resource("bench", "mt_bench")
    references = {
        int(row["question_id"]): tuple(map(str, row["turns"])) for row in _rows(folder / "reference_answer_gpt4.jsonl")
    }
    rows = [row for row in _rows(folder / "question.jsonl") if row["category"] in CATEGORIES]
    questions = [
        Question(
            int(row["question_id"]),
            row["category"],
            tuple(map(str, row["turns"])),
            references.get(int(row["question_id"]), ()) if row["category"] == "reasoning" else (),
        )
        for row in rows
    ]
    known = {question.number for question in questions}
    if unknown := [number for number in numbers if number not in known]:
        raise UserError(f"There is no question {unknown[0]}. There are: {', '.join(map(str, sorted(known)))}.")
    return [question for question in questions if not numbers or question.number in numbers]


def _rows(file: Path) -> list[dict[str, Any]]:
    return read_json_lines(file, CORPUS, CORPUS_LINE)
