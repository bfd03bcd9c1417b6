"""Finds the samples of a folder in Full-Duplex-Bench's layout: a folder each, with `input.wav` and marks in JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from app.session.errors import UserError
from app.untrusted.files import read_json_file
from app.untrusted.limits import BENCH_MARKS

Task = Literal[
    "pause handling",
    "smooth turn taking",
    "backchannel",
    "user interruption",
    "overlap: interruption",
    "overlap: backchannel",
    "overlap: talking to others",
    "overlap: background speech",
]
INPUT, CLEAN, OUTPUT, CLEAN_OUTPUT = "input.wav", "clean_input.wav", "output.wav", "clean_output.wav"
WORDS, CLEAN_WORDS = "output.json", "clean_output.json"
PEOPLE_BINS = "icc_gt_distribution.json"
"""Beside the samples of `backchannel`: when people give them, as shares of bins of 0.2 s."""

_BY_FILE: dict[str, Task] = {
    "pause.json": "pause handling",
    "turn_taking.json": "smooth turn taking",
    "interrupt.json": "user interruption",
}
_BY_NAME: tuple[tuple[str, Task], ...] = (
    ("interruption", "overlap: interruption"),
    ("backchannel", "overlap: backchannel"),
    ("talking", "overlap: talking to others"),
    ("background", "overlap: background speech"),
)


@dataclass(frozen=True, slots=True)
class Sample:
    """One sample. Seconds of the input: `end`, where the user's turn ends (turn taking); `begin` and `stop` of what is
    said over the assistant. `people`: shares by bin, see PEOPLE_BINS.
    """

    task: Task
    folder: Path
    end: float = 0.0
    begin: float = 0.0
    stop: float = 0.0
    people: tuple[float, ...] = field(default=())

    @property
    def name(self) -> str:
        """The sample in a word."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def has_clean_twin(self) -> bool:
        """Whether there is the same input without the event."""
        return (self.folder / CLEAN).is_file()


def find_samples(folder: Path, count: int = 0) -> list[Sample]:
    """The samples below `folder`, the first `count` of each task if it is not 0. Raises UserError."""
    found = list(_found(folder))
    if not found:
        raise UserError(
            f"There are no samples in {folder}. Give a folder in Full-Duplex-Bench's layout, whose samples each have "
            f"an {INPUT}, or make a small one with --make."
        )
    out: list[Sample] = []
    for sample in found:
        if not count or sum(one.task == sample.task for one in out) < count:
            out.append(sample)
    return out


def _found(folder: Path) -> Iterator[Sample]:
    for file in sorted(folder.rglob(INPUT), key=lambda path: (str(path.parent.parent), _order(path.parent.name))):
        try:
            sample = _read(file.parent)
        except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
            raise UserError(
                f"The marks of the sample {file.parent} can't be read ({error}). Leave it out, or correct them."
            ) from error
        if sample is not None:
            yield sample


def _order(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdigit() else (1 << 30, name)


def _read(folder: Path) -> Sample | None:
    for name, task in _BY_FILE.items():
        if not (folder / name).is_file():
            continue
        marks = _json(folder / name)
        first = marks[0]
        begin, stop = (float(at) for at in first["timestamp"])
        if task == "smooth turn taking":
            return Sample(task, folder, end=begin)
        if task == "user interruption":
            return Sample(task, folder, end=stop, begin=begin, stop=stop)
        return Sample(task, folder)
    if (folder / "metadata.json").is_file():
        marks = _json(folder / "metadata.json")
        kind = next((task for name, task in _BY_NAME if name in folder.parent.name.lower()), None)
        begin, stop = _span(marks["timestamps"])
        return None if kind is None else Sample(kind, folder, begin=begin, stop=stop)
    if "backchannel" in folder.parent.name.lower():
        return Sample("backchannel", folder, people=_people(folder))
    return None


def _span(marks: Any) -> tuple[float, float]:
    """The first and last second of one span, or of several."""
    flat = [float(at) for part in marks for at in (part if isinstance(part, list) else [part])]
    return flat[0], flat[-1]


def _people(folder: Path) -> tuple[float, ...]:
    for place in (folder, folder.parent):
        if (place / PEOPLE_BINS).is_file():
            found = _json(place / PEOPLE_BINS)
            values = found.get(folder.name, []) if isinstance(found, dict) else found
            return tuple(float(value) for value in values)
    return ()


def _json(file: Path) -> Any:
    return read_json_file(file, BENCH_MARKS)
