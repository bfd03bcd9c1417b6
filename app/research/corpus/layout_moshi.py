"""Reads and writes corpora in the layout of Moshi's public trainer, moshi-finetune.

A .jsonl file of `{path, duration}`; each path is a stereo file with the model on the left and the user on the right,
and beside it lies a .json file of the same name: `{"alignments": [[word, [start, end], "SPEAKER_MAIN"], …]}`, which
holds the model's words. The user's words may be there as another speaker's. It has no oracle.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

from app.models.errors import ModelError
from app.research.corpus.dialogue import Dialogue, Word, in_order
from app.untrusted.files import read_json_file, read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE

MAIN, OTHER = "SPEAKER_MAIN", "SPEAKER_OTHER"


def read_moshi(index: Path) -> Iterator[Dialogue]:
    """Yields the dialogues of a .jsonl file. Raises ModelError."""
    try:
        lines = read_json_lines(index, CORPUS, CORPUS_LINE)
        entries = [(str(line["path"]), float(line["duration"])) for line in lines]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{index} is no list of sounds ({type(error).__name__}: {error}).") from error
    for path, seconds in entries:
        sound = index.parent / path
        yield Dialogue(sound.stem, _words(sound.with_suffix(".json")), [], str(sound), seconds)


def write_moshi(dialogue: Dialogue, folder: Path, source: Path) -> None:
    """Adds one dialogue to `folder/corpus.jsonl`. `source`: the folder that its sound's path is relative to."""
    (folder / "data_stereo").mkdir(parents=True, exist_ok=True)
    path = Path("data_stereo", f"{dialogue.name}.wav")
    shutil.copyfile(source / dialogue.sound, folder / path)
    alignments = [
        [word.text, [round(word.start, 3), round(word.end, 3)], MAIN if word.speaker == "model" else OTHER]
        for word in dialogue.words
    ]
    (folder / path).with_suffix(".json").write_text(
        json.dumps({"alignments": alignments}, ensure_ascii=False) + "\n", "utf-8"
    )
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as index:
        index.write(json.dumps({"path": path.as_posix(), "duration": round(dialogue.seconds, 3)}) + "\n")


def _words(path: Path) -> list[Word]:
    try:
        alignments = read_json_file(path, CORPUS)["alignments"]
        return in_order(
            Word(str(text), float(start), float(end), "model" if speaker == MAIN else "user")
            for text, (start, end), speaker in alignments
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path} holds no alignments ({type(error).__name__}: {error}). Mend or remove it.") from error
