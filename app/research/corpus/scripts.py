"""Turns questions with answers into spoken dialogues: reads items, prompts for scripts, and synthesizes them.

Items are read from local .jsonl, .json, .csv or .parquet files: MMLU-Pro, GSM8K and HSSBench as published, or custom
lists. The columns, as documented in the data set cards:

- MMLU-Pro: `question`, `options` and `answer_index`
- GSM8K: `question` and `answer`, with the result after “####”
- HSSBench: `question`, options `A` to `D` (or `options`), and `answer`, a letter
- custom lists: `question` and `answer`

A script is a short dialogue about an item between the user and the assistant. The app's voices speak it in stereo, the
model on the left and the user on the right, with word timings.
"""

from __future__ import annotations

import csv
import io
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from app.conversation.frame import SAMPLE_RATE
from app.conversation.languages import ENGLISH, language
from app.models.catalogue import ModelError
from app.research.corpus.dialogue import Dialogue, Speaker, Word, in_order
from app.tts.base import Clip, Voice
from app.untrusted.files import read_json_file, read_json_lines, read_text
from app.untrusted.limits import CORPUS, CORPUS_LINE

Format = Literal["mmlu-pro", "gsm8k", "hssbench", "list"]
FORMATS: tuple[Format, ...] = ("mmlu-pro", "gsm8k", "hssbench", "list")

_PICTURE = re.compile(r"\b(image|picture|figure|photo|diagram|shown (above|below))\b", re.IGNORECASE)
_LETTERS = "ABCDEFGHIJ"


@dataclass(frozen=True, slots=True)
class Item:
    """One question. `answer`: the correct answer, in a few words; `reason`: the explanation, which may be empty."""

    name: str
    question: str
    answer: str
    reason: str = ""
    choices: tuple[str, ...] = ()


def read_items(path: Path, form: Format) -> list[Item]:
    """Reads the items that can be asked by voice, which excludes questions about pictures. Raises ModelError."""
    items = []
    for number, row in enumerate(_rows(path)):
        try:
            item = _ITEM_OF[form](f"{path.stem}-{number:05d}", row)
        except (KeyError, ValueError, IndexError, TypeError) as error:
            raise ModelError(
                f"Row {number + 1} of {path.name} is no item of {form} ({type(error).__name__}: {error}). Check the "
                f"format; its columns are {', '.join(map(str, row))}."
            ) from error
        if item.question and item.answer and not _PICTURE.search(item.question) and not row.get("image_needed"):
            items.append(item)
    if not items:
        raise ModelError(f"{path.name} holds no question that can be spoken.")
    return items


def _mmlu_pro(name: str, row: dict[str, Any]) -> Item:
    options = _listed(row["options"])
    reason = str(row.get("cot_content") or "").removeprefix("A: Let's think step by step.").strip()
    return Item(name, str(row["question"]).strip(), options[int(row["answer_index"])], reason, tuple(options))


def _gsm8k(name: str, row: dict[str, Any]) -> Item:
    reason, _, answer = str(row["answer"]).rpartition("####")
    if not reason:
        raise ValueError("the answer has no “####”")
    return Item(name, str(row["question"]).strip(), answer.strip(), re.sub(r"<<.*?>>", "", reason).strip())


def _hssbench(name: str, row: dict[str, Any]) -> Item:
    options = (
        _listed(row["options"]) if "options" in row else [str(row[letter]) for letter in "ABCD" if row.get(letter)]
    )
    answer = str(row["answer"]).strip()
    if answer.upper() in _LETTERS[: len(options)]:
        answer = options[_LETTERS.index(answer.upper())]
    return Item(name, str(row["question"]).strip(), answer, "", tuple(options))


def _own(name: str, row: dict[str, Any]) -> Item:
    return Item(str(row.get("name") or name), str(row["question"]).strip(), str(row["answer"]).strip())


_ITEM_OF = {"mmlu-pro": _mmlu_pro, "gsm8k": _gsm8k, "hssbench": _hssbench, "list": _own}


def _listed(value: Any) -> list[str]:
    """Returns a list of options, parsing the JSON string that some files hold instead."""
    return [str(option) for option in (json.loads(value) if isinstance(value, str) else value)]


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    try:
        if path.suffix == ".parquet":
            yield from _parquet(path)
        elif path.suffix == ".csv":
            yield from csv.DictReader(io.StringIO(read_text(path, CORPUS), newline=""))
        elif path.suffix == ".json":
            yield from _objects(read_json_file(path, CORPUS))
        else:
            yield from read_json_lines(path, CORPUS, CORPUS_LINE)
    except (OSError, ValueError, csv.Error) as error:
        raise ModelError(f"{path} can't be read ({error}). Name a .jsonl, .json, .csv or .parquet file.") from error


def _objects(values: Iterable[Any]) -> Iterator[dict[str, Any]]:
    for value in values:
        if not isinstance(value, dict):
            raise ValueError("its entries are no objects")
        yield value


def _parquet(path: Path) -> Iterator[dict[str, Any]]:
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise ModelError(
            f"{path.name} is a Parquet file, and the package pyarrow, which reads them, is not installed. Install it, "
            "or convert the file to JSON lines."
        ) from error
    for batch in parquet.ParquetFile(path).iter_batches(columns=_without_pictures(path)):
        yield from batch.to_pylist()


def _without_pictures(path: Path) -> list[str]:
    """Returns the names of the columns without image data, which would take too much memory."""
    from pyarrow import parquet, types

    schema = parquet.read_schema(path)
    return [
        field.name
        for field in schema
        if not types.is_binary(field.type) and not (types.is_struct(field.type) and "bytes" in str(field.type))
    ]


MOST_QUESTION_WORDS = 90
MOST_ANSWER_WORDS = 60


@dataclass(frozen=True, slots=True)
class Script:
    """The text of a dialogue. `turns` alternate between user and assistant, starting with the user."""

    name: str
    turns: tuple[str, ...]


def prompt_of(item: Item, code: str = ENGLISH) -> str:
    """Returns the prompt for a dialogue about an item, in the language `code`."""
    lines = [
        "Write a short spoken dialogue between a user and an assistant, about this question.",
        f"Question: {item.question}",
    ]
    if code != ENGLISH:
        lines.append(f"The dialogue is in {language(code).name}.")
    if item.choices:
        lines.append("Choices: " + "; ".join(item.choices))
    lines.append(f"Right answer: {item.answer}")
    if item.reason:
        lines.append(f"Why: {item.reason[:600]}")
    lines.append(
        "The user asks aloud, in one or two natural sentences that hold all that is needed to answer; choices are "
        "named in the sentence. The assistant gives the right answer and the reason in at most two sentences. Write "
        "numbers, symbols and formulas as they are spoken. No lists, no markup. You may add one follow-up question "
        "with its answer.\n"
        'Write only JSON: {"turns": ["the user\'s words", "the assistant\'s words", …]}'
    )
    return "\n\n".join(lines)


def script_of(item: Item, answer: str) -> Script:
    """Parses the dialogue in a back-end's answer. Raises ValueError with a short description of the fault."""
    found = re.search(r"\{.*\}", answer, re.DOTALL)
    if found is None:
        raise ValueError("no JSON")
    try:
        turns = json.loads(found[0])["turns"]
    except (ValueError, KeyError, TypeError):
        raise ValueError("no JSON of that form") from None
    if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        raise ValueError("turns are no strings")
    script = Script(item.name, tuple(" ".join(turn.split()) for turn in turns))
    if fault := fault_of(script, item):
        raise ValueError(fault)
    return script


def fault_in(item: Item, answer: str) -> str:
    """Returns the fault in a back-end's answer, in a few words; an empty string if it contains a usable script."""
    try:
        script_of(item, answer)
    except ValueError as error:
        return str(error)
    return ""


def fault_of(script: Script, item: Item | None = None) -> str:
    """Returns why a script is unusable, in a few words; an empty string if it is usable."""
    turns = script.turns
    if len(turns) < 2 or len(turns) % 2:
        return "no question with an answer"
    for place, turn in enumerate(turns):
        words = turn.split()
        most = MOST_ANSWER_WORDS if place % 2 else MOST_QUESTION_WORDS
        if not words:
            return "an empty turn"
        if len(words) > most:
            return "too long a turn"
        if re.search(r"[*#_<>\[\]{}|`\\=^]", turn):
            return "not spoken words"
        if re.match(r"(user|assistant)\s*:", turn, re.IGNORECASE):
            return "names the speaker"
    if len(set(turns)) < len(turns):
        return "repeats a turn"
    if item is not None and not _holds(turns[1], item.answer):
        return "without the right answer"
    return ""


def _holds(text: str, answer: str) -> bool:
    """Whether a text may state an answer.

    If the answer has numbers, the text must have one of them or, since it may spell them out, no digits at all.
    Otherwise, it must have half of the answer's content words.
    """
    have, wanted = (set(re.findall(r"[\w']+", part.lower())) for part in (text, answer))
    if any(word.isdigit() for word in wanted):
        digits = {word for word in have if word.isdigit()}
        return not digits or bool(digits & wanted)
    content = {word for word in wanted if len(word) > 3} or wanted
    return len(content & have) * 2 >= len(content)


@dataclass(frozen=True, slots=True)
class SpeakingOptions:
    """How often spoken dialogues get harder conditions, as shares from 0 to 1.

    `pauses`: questions with a pause of 0.8 to 2 s between two words. `noise`: dialogues in which the user's room is
    noisy. `interruptions`: answers that the user's next question interrupts and that are cut short.
    """

    pauses: float = 0.1
    noise: float = 0.3
    interruptions: float = 0.05


@dataclass(slots=True)
class SpokenDialogue:
    """A dialogue with its audio, float32 `[samples, 2]` at 24 kHz."""

    dialogue: Dialogue
    samples: np.ndarray = field(repr=False)


_GAP = (0.05, 0.4)
"""Seconds between a question and its answer; short, since the model should learn to answer almost immediately."""
_BETWEEN = (0.6, 2.5)
"""Seconds from an answer to the next question."""
_BREAK_IN = 0.4
"""Seconds the model keeps speaking after the user interrupts."""


def speak_script(
    script: Script, model: Voice, users: Mapping[str, Voice], options: SpeakingOptions, draw: random.Random
) -> SpokenDialogue:
    """Synthesizes a script, with a random one of `users` as the user's voice. Raises VoiceError."""
    user = users[draw.choice(sorted(users))]
    clips = [(user if place % 2 == 0 else model).synthesize(turn) for place, turn in enumerate(script.turns)]
    at = draw.uniform(0.3, 1.5)
    words: list[Word] = []
    placed: list[tuple[Speaker, float, np.ndarray]] = []
    for place, future in enumerate(clips):
        clip = future.result()
        speaker: Speaker = "model" if place % 2 else "user"
        if speaker == "user" and draw.random() < options.pauses:
            clip = _with_pause(clip, draw)
        last = place == len(clips) - 1
        if speaker == "model" and not last and draw.random() < options.interruptions:
            clip, gap = _cut(clip, draw), -_BREAK_IN
        else:
            gap = draw.uniform(*(_BETWEEN if speaker == "model" else _GAP))
        words += [
            Word(word.text, at + word.start / SAMPLE_RATE, at + word.end / SAMPLE_RATE, speaker) for word in clip.words
        ]
        placed.append((speaker, at, clip.samples))
        at += max(0.1, len(clip.samples) / SAMPLE_RATE + gap)
    seconds = max(start + len(samples) / SAMPLE_RATE for _, start, samples in placed) + 1.0
    sound = _mixed(placed, seconds, draw.random() < options.noise, draw)
    return SpokenDialogue(Dialogue(script.name, in_order(words), [], "", seconds), sound)


def _mixed(
    placed: Sequence[tuple[Speaker, float, np.ndarray]], seconds: float, noisy: bool, draw: random.Random
) -> np.ndarray:
    out = np.zeros((round(seconds * SAMPLE_RATE), 2), np.float32)
    gain = 10 ** (draw.uniform(-12, 3) / 20)
    for speaker, at, samples in placed:
        start = round(at * SAMPLE_RATE)
        out[start : start + len(samples), 0 if speaker == "model" else 1] += samples * (
            gain if speaker == "user" else 1.0
        )
    numbers = np.random.default_rng(draw.randrange(1 << 32))
    noise = numbers.standard_normal(len(out), np.float32)
    level = 10 ** (draw.uniform(*((-55, -38) if noisy else (-80, -65))) / 20)
    out[:, 1] += np.convolve(noise, np.full(16, 16**-0.5, np.float32), mode="same") * level
    return np.clip(out, -1, 1)


def _with_pause(clip: Clip, draw: random.Random) -> Clip:
    """Inserts silence between two words of the clip. Clips of fewer than four words are returned unchanged."""
    if len(clip.words) < 4:
        return clip
    place = draw.randrange(2, len(clip.words))
    at, pause = clip.words[place - 1].end, round(draw.uniform(0.8, 2.0) * SAMPLE_RATE)
    samples = np.concatenate([clip.samples[:at], np.zeros(pause, np.float32), clip.samples[at:]])
    moved = [
        word if number < place else type(word)(word.text, word.start + pause, word.end + pause)
        for number, word in enumerate(clip.words)
    ]
    return Clip(samples, tuple(moved))


def _cut(clip: Clip, draw: random.Random) -> Clip:
    """Cuts the clip after one of its words. Clips of fewer than four words are returned unchanged."""
    if len(clip.words) < 4:
        return clip
    count = draw.randrange(2, len(clip.words))
    return Clip(clip.samples[: clip.words[count - 1].end], clip.words[:count])
