"""A corpus on disk before it is made into tokens: a JSON file and a stereo sound for each dialogue.

`dialogues/NAME.json` holds words and oracle, `sound/NAME.flac` the sound. A dialogue is there whole or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from app.conversation.frame import SAMPLE_RATE
from app.models.errors import ModelError
from app.platform.atomic_files import write_json
from app.research.corpus.dialogue import Dialogue, OracleEvent, Word
from app.research.corpus.sound import read_stereo
from app.untrusted.files import read_json_file
from app.untrusted.limits import CORPUS_LINE

DIALOGUES, SOUND = "dialogues", "sound"


class CorpusFolder:
    """The dialogues of one corpus, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def names(self) -> list[str]:
        """The names of all dialogues, sorted."""
        return sorted(path.stem for path in (self.folder / DIALOGUES).glob("*.json"))

    def has(self, name: str) -> bool:
        return self._path(name).exists()

    def write(self, dialogue: Dialogue, samples: np.ndarray | None = None) -> None:
        """Writes a dialogue, with its sound if `samples` (float32 `[n, 2]`, 24 kHz) are given."""
        if samples is not None:
            dialogue.sound = f"{SOUND}/{dialogue.name}.flac"
            (self.folder / SOUND).mkdir(parents=True, exist_ok=True)
            soundfile.write(self.folder / dialogue.sound, samples, SAMPLE_RATE)
        self._path(dialogue.name).parent.mkdir(parents=True, exist_ok=True)
        write_json(self._path(dialogue.name), asdict(dialogue))

    def read(self, name: str) -> Dialogue:
        """Reads a dialogue. Raises ModelError."""
        try:
            return _dialogue(read_json_file(self._path(name), CORPUS_LINE))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"{self._path(name)} is no dialogue ({type(error).__name__}: {error}). Remove it."
            ) from error

    def sound(self, dialogue: Dialogue) -> np.ndarray:
        """The sound of a dialogue, float32 `[n, 2]`, 24 kHz. Raises ModelError."""
        return read_stereo(self.folder / dialogue.sound)

    def __iter__(self) -> Iterator[Dialogue]:
        return (self.read(name) for name in self.names())

    def __len__(self) -> int:
        return len(self.names())

    def _path(self, name: str) -> Path:
        return self.folder / DIALOGUES / f"{name}.json"


def _dialogue(stored: dict[str, Any]) -> Dialogue:
    return Dialogue(
        str(stored["name"]),
        [Word(**word) for word in stored["words"]],
        [OracleEvent(**event) for event in stored["events"]],
        str(stored["sound"]),
        float(stored["seconds"]),
    )
