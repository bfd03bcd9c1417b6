"""The sound of the questions: recordings where there are some, else a voice of the app."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.conversation.spoken_form import spoken
from app.diagnostics.tables import Progress
from app.research.benches.mtbench.questions import Question
from app.research.benches.recordings import SUFFIXES, read_sound, voice_end


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
