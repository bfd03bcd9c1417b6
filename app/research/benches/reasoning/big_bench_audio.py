"""Reads Big Bench Audio (Artificial Analysis): 1,000 spoken reasoning questions in four categories.

The folder holds `metadata.jsonl` or `metadata.csv`, whose rows name each sound (`file_name`), its `category` and its
`official_answer`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from app.research.benches.recordings import read_sound
from app.session.errors import UserError
from app.untrusted.files import read_json_lines, read_text
from app.untrusted.limits import CORPUS, CORPUS_LINE


@dataclass(frozen=True, slots=True)
class AudioItem:
    """One question as sound: float32 mono 24 kHz."""

    number: int
    category: str
    answer: str
    samples: np.ndarray


def load_big_bench_audio(folder: Path, count: int = 0) -> list[AudioItem]:
    """`count` items of all categories in turn, all for 0.

    Raises UserError, and TranscriberError for a sound that can't be read.
    """
    try:
        rows = _rows(folder)
        items = [
            (number, str(row["category"]).replace("_", " "), str(row["official_answer"]), str(row["file_name"]))
            for number, row in enumerate(_in_turn(rows)[: count or None], 1)
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UserError(
            f"{folder} can't be read as Big Bench Audio ({error}). Give the folder with its metadata.jsonl, whose rows "
            "have file_name, category and official_answer."
        ) from error
    for _, _, _, name in items:
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise UserError(f"The sound {name} would lie outside of {folder}. Correct the metadata.")
    return [AudioItem(number, kind, answer, read_sound(folder / name)) for number, kind, answer, name in items]


def _in_turn(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows, the first of each category before the second of any."""
    seen: dict[str, int] = {}
    places = []
    for row in rows:
        kind = str(row["category"])
        seen[kind] = seen.get(kind, 0) + 1
        places.append(seen[kind])
    return [row for _, row in sorted(zip(places, rows, strict=True), key=lambda pair: pair[0])]


def _rows(folder: Path) -> list[Mapping[str, Any]]:
    if (folder / "metadata.jsonl").is_file():
        return list(read_json_lines(folder / "metadata.jsonl", CORPUS, CORPUS_LINE))
    text = read_text(folder / "metadata.csv", CORPUS)
    return list(csv.DictReader(io.StringIO(text)))
