"""Full-Duplex-Bench's layout on disk: finds samples, makes small sets, and writes and reads outputs.

A sample is a folder with `input.wav` and annotations in JSON. Its output is stored next to them, as `output.wav` (16
kHz, as long as the input) and `output.json` with the words.

The generated sets let the bench run without Full-Duplex-Bench's data. Their questions are the recordings of `bench
facts` in four voices. The speech over the assistant is another question, a backchannel by the app's voice, a remark to
somebody else (6 dB softer), or another voice in the background (15 dB softer). Given recordings of real speakers, the
sets also include samples of their pauses and turn ends.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import soundfile
import soxr

from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import Progress
from app.platform.files import whole_file
from app.research.benches.answers import load_facts
from app.research.benches.pauses import Case
from app.research.benches.recordings import at_level, trim
from app.research.results import grouped, unreadable
from app.session.control import UserError
from app.untrusted.files import read_json_file
from app.untrusted.limits import BENCH_MARKS, BENCH_RESULT

RATE = 16_000
"""Sample rate in Hz of inputs and outputs, as Full-Duplex-Bench expects."""
LEAD_SECONDS = 0.6
LEVEL_DBFS, ROOM_DBFS = -24.0, -65.0
EVENT_AFTER_SECONDS = 1.8
"""Time from the end of a question until the event over the answer, which the app begins within a second."""
LISTENED_SECONDS = 9.0
"""Room noise after the last utterance."""
TO_OTHERS_DB, BACKGROUND_DB = -6.0, -15.0
BACKCHANNELS = ("Mhm.", "Yeah.", "Right.", "Uh-huh.", "Okay.", "I see.")
REMARKS = (
    "Could you close the window, please?",
    "Dinner is in the oven, it takes ten minutes.",
    "No, the other one, on the left.",
    "Tell him that I will call back.",
    "Put it on the table over there.",
    "Are you coming along later?",
)

Say = Callable[[str], np.ndarray]
"""Synthesizes a text as float32 at 24 kHz."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of an output, with its start and end."""

    text: str
    begin: float
    end: float


def make_sets(
    folder: Path, count: int, say: Say, pauses: Sequence[Case], people: Sequence[Case], progress: Progress
) -> None:
    """Writes `count` samples of each task into `folder`. `pauses`: synthetic cases with inserted pauses; `people`:
    cases of real speakers, which form separate sets. Raises OSError.
    """
    progress("the sets are made")
    facts = load_facts(3 * count + 1)
    questions = [(fact.question.text, trim(fact.question.samples)) for fact in facts]
    for label, cases in (("synthetic", pauses), ("people", people)):
        held = [case for case in cases if case.pauses and not case.untold]
        for number, case in enumerate(held[:count], 1):
            _write_pauses(folder / f"{label}_pause_handling" / str(number), case)
        for number, case in enumerate(cases[:count], 1):
            _write_turn(folder / f"{label}_turn_taking" / str(number), case)
    for number in range(count):
        asked, other, third = (questions[(number + step * count) % len(questions)] for step in (0, 1, 2))
        soft = say(BACKCHANNELS[number % len(BACKCHANNELS)])
        remark = REMARKS[number % len(REMARKS)]
        story = [questions[(number + step) % len(questions)] for step in range(4)]
        _write_story(folder / "icc_backchannel" / str(number + 1), story)
        both, marks = _event(asked[1], other[1])
        interrupt = [{"context": asked[0], "interrupt": other[0], "timestamp": marks}]
        _write(folder / "synthetic_user_interruption" / str(number + 1), both, interrupt=interrupt)
        events = (
            ("user_interruption", other[0], other[1], 0.0),
            ("user_backchannel", BACKCHANNELS[number % len(BACKCHANNELS)], soft, 0.0),
            ("talking_to_other", remark, say(remark), TO_OTHERS_DB),
            ("background_speech", third[0], third[1], BACKGROUND_DB),
        )
        for name, words, sound, db in events:
            _write_overlap(folder / name / str(number + 1), asked, words, trim(sound), db)


def _write_pauses(folder: Path, case: Case) -> None:
    """Writes a turn without its last part, so that any answer means that a pause was mistaken for the end."""
    last = case.pauses[-1][1]
    marks = [{"text": "[PAUSE]", "timestamp": [round(begin, 3), round(end, 3)]} for begin, end in case.pauses]
    _write(folder, case.samples[: round(last * SAMPLE_RATE)], pause=marks)


def _write_turn(folder: Path, case: Case) -> None:
    sound = _with_room([case.samples], LISTENED_SECONDS - 2.0)
    span = [round(case.end, 3), round(len(sound) / SAMPLE_RATE, 3)]
    _write(folder, sound, turn_taking=[{"text": case.text, "timestamp": span}])


def _write_story(folder: Path, parts: Sequence[tuple[str, np.ndarray]]) -> None:
    """Writes a long turn of several sentences with short pauses."""
    rest = np.zeros(round(0.25 * SAMPLE_RATE), np.float32)
    _write(folder, _with_room([piece for _, sound in parts for piece in (at_level(sound, LEVEL_DBFS), rest)], 0.0))


def _event(asked: np.ndarray, sound: np.ndarray, db: float = 0.0) -> tuple[np.ndarray, list[float]]:
    """Returns a question followed by an event over the answer, and the event's start and end in seconds."""
    gap = np.zeros(round(EVENT_AFTER_SECONDS * SAMPLE_RATE), np.float32)
    begin = LEAD_SECONDS + len(asked) / SAMPLE_RATE + EVENT_AFTER_SECONDS
    event = at_level(sound, LEVEL_DBFS) * np.float32(10 ** (db / 20))
    marks = [round(begin, 3), round(begin + len(sound) / SAMPLE_RATE, 3)]
    return _with_room([at_level(asked, LEVEL_DBFS), gap, event], LISTENED_SECONDS), marks


def _write_overlap(folder: Path, asked: tuple[str, np.ndarray], words: str, sound: np.ndarray, db: float) -> None:
    """Writes an input with an event, and the same one without it."""
    both, marks = _event(asked[1], sound, db)
    _write(folder, both, metadata={"context_text": asked[0], "current_turn_text": words, "timestamps": marks})
    _sound(folder / CLEAN, _event(asked[1], np.zeros_like(sound))[0])


def _with_room(parts: Sequence[np.ndarray], tail: float) -> np.ndarray:
    """Joins the parts, adds a lead and a tail of `tail` seconds, and mixes in quiet room noise."""
    lead, rest = (np.zeros(round(seconds * SAMPLE_RATE), np.float32) for seconds in (LEAD_SECONDS, tail))
    sound = np.concatenate([lead, *parts, rest])
    room = np.random.default_rng(5).standard_normal(len(sound)) * 10 ** (ROOM_DBFS / 20)
    return (sound + room).astype(np.float32)


def _write(folder: Path, sound: np.ndarray, **marks: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _sound(folder / INPUT, sound)
    for name, value in marks.items():
        (folder / f"{name}.json").write_text(json.dumps(value, ensure_ascii=False, indent=1), "utf-8")


def _sound(file: Path, sound: np.ndarray) -> None:
    soundfile.write(file, soxr.resample(np.clip(sound, -1.0, 1.0), SAMPLE_RATE, RATE), RATE, subtype="PCM_16")


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
"""File next to backchannel samples: when people give backchannels, as shares per bin of 0.2 s."""

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
    """One sample; all times are in seconds from the start of the input.

    - `end`: the end of the user's turn
    - `begin`, `stop`: the start and end of the speech over the assistant
    - `people`: shares per bin, see PEOPLE_BINS
    """

    task: Task
    folder: Path
    end: float = 0.0
    begin: float = 0.0
    stop: float = 0.0
    people: tuple[float, ...] = field(default=())

    @property
    def name(self) -> str:
        """The last two components of the folder's path."""
        return f"{self.folder.parent.name}/{self.folder.name}"

    @property
    def has_clean_twin(self) -> bool:
        """Whether the same input exists without the event."""
        return (self.folder / CLEAN).is_file()


def find_samples(folder: Path, count: int = 0) -> list[Sample]:
    """Returns the samples below `folder`, or the first `count` of each task if not 0. Raises UserError."""
    found = list(_found(folder))
    if not found:
        raise UserError(
            f"There are no samples in {folder}. Give a folder in Full-Duplex-Bench's layout, whose samples each have "
            f"an {INPUT}, or make a small one with --make."
        )
    chosen = [one for group in grouped(found, lambda one: one.task).values() for one in group[: count or None]]
    return [one for one in found if one in chosen]


def _found(folder: Path) -> Iterator[Sample]:
    for file in sorted(folder.rglob(INPUT), key=lambda path: (str(path.parent.parent), _order(path.parent.name))):
        sentence = f"The marks of the sample {file.parent} can't be read ({{}}). Leave it out, or correct them."
        with unreadable(UserError, sentence):
            sample = _read(file.parent)
        if sample is not None:
            yield sample


def _order(name: str) -> tuple[int, str]:
    return (int(name), "") if name.isdigit() else (1 << 30, name)


def _read(folder: Path) -> Sample | None:
    for name, task in _BY_FILE.items():
        if (folder / name).is_file():
            begin, stop = _span([read_json_file(folder / name, BENCH_MARKS)[0]["timestamp"]])
            return Sample(task, folder, begin if task == "smooth turn taking" else stop, begin, stop)
    if (folder / "metadata.json").is_file():
        begin, stop = _span(read_json_file(folder / "metadata.json", BENCH_MARKS)["timestamps"])
        kind = next((task for name, task in _BY_NAME if name in folder.parent.name.lower()), None)
        return None if kind is None else Sample(kind, folder, begin=begin, stop=stop)
    if "backchannel" in folder.parent.name.lower():
        return Sample("backchannel", folder, people=_people(folder))
    return None


def _span(marks: Any) -> tuple[float, float]:
    """Returns the start of the first span and the end of the last, in seconds. `marks`: one span or several."""
    flat = [float(at) for part in marks for at in (part if isinstance(part, list) else [part])]
    return flat[0], flat[-1]


def _people(folder: Path) -> tuple[float, ...]:
    for place in (folder, folder.parent):
        if (place / PEOPLE_BINS).is_file():
            found = read_json_file(place / PEOPLE_BINS, BENCH_MARKS)
            values = found.get(folder.name, []) if isinstance(found, dict) else found
            return tuple(float(value) for value in values)
    return ()


LONGEST_WORD = 0.6
"""Maximum assumed duration of a word, in seconds."""


def words_of(events: Sequence[e.Event]) -> list[Word]:
    """Returns the played words with estimated times, since events report only when words had been spoken."""
    out: list[Word] = []
    for event in events:
        if not isinstance(event, e.AssistantSaid):
            continue
        pieces = event.text.split()
        before = out[-1].end if out else 0.0
        begin = max(before, event.at - LONGEST_WORD * len(pieces))
        step = (event.at - begin) / max(1, len(pieces))
        out += [
            Word(piece, round(begin + n * step, 3), round(begin + (n + 1) * step, 3)) for n, piece in enumerate(pieces)
        ]
    return out


def write_output(sound: Path, words_file: Path, samples: np.ndarray, words: Sequence[Word]) -> None:
    """Writes audio and words in the format of Full-Duplex-Bench."""
    soundfile.write(sound, soxr.resample(samples, SAMPLE_RATE, RATE), RATE, subtype="PCM_16")
    document: dict[str, Any] = {
        "text": " ".join(word.text for word in words),
        "chunks": [{"text": word.text, "timestamp": [word.begin, word.end]} for word in words],
    }
    with whole_file(words_file) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode())


def read_words(file: Path) -> list[Word]:
    """Reads the words of an output, whether written by this app or another.

    Raises OSError, ValueError, KeyError and TypeError.
    """
    chunks = read_json_file(file, BENCH_RESULT)["chunks"]
    found = [(str(one["text"]).strip(), *one["timestamp"]) for one in chunks]
    return [Word(text, float(begin), float(begin if end is None else end)) for text, begin, end in found if text]
