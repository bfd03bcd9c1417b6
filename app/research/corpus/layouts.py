"""Reads and writes corpora in the layouts of the public trainers, KAME's and Moshi's.

KAME's:

- `audio/NAME.wav`: stereo, A on the left and B on the right
- `text/NAME.json`: all words, `{speaker: "A" or "B", word, start, end}`
- `oracle_raw/NAME.json`: the revisions, `{timestamp_ms, prediction, hint, current_spoken_ratio, channel, use_hint, …}`.
  `channel` is the speaker who will answer (0: A, 1: B). The revision's text is `hint`, the true answer, if `use_hint`
  is set, and otherwise `prediction`. In older files without `use_hint` it is `hint` once the whole question was heard.

Moshi's (moshi-finetune): a .jsonl file of `{path, duration}`. Each path is a stereo file with the model on the left and
the user on the right. A .json file of the same name holds the model's words, `{"alignments": [[word, [start, end],
"SPEAKER_MAIN"], …]}`; the user's words may be included under another speaker name. There is no oracle.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import soundfile

from app.models.catalogue import ModelError
from app.platform.files import write_json
from app.research.corpus.dialogue import Dialogue, OracleEvent, Word, exchanges, in_order, utterances
from app.research.results import unreadable
from app.untrusted.files import read_json_file, read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE

_CHANNELS = {"A": 0, "B": 1}
_HEARD = 0.99
"""Share of the question heard from which the hint applies in files without `use_hint`."""


def read_kame(folder: Path, model: str = "B") -> Iterator[Dialogue]:
    """Yields the dialogues in a folder; `model` (“A” or “B”) is the assistant. Raises ModelError."""
    texts = sorted((folder / "text").glob("*.json"))
    if not texts:
        raise ModelError(f"There are no dialogues in {folder / 'text'}. Name the folder that holds audio/ and text/.")
    for path in texts:
        words = in_order(
            Word(
                str(word["word"]),
                float(word["start"]),
                float(word["end"]),
                "model" if word["speaker"] == model else "user",
            )
            for word in _read(path)
        )
        sound = folder / "audio" / f"{path.stem}.wav"
        oracle = folder / "oracle_raw" / path.name
        events = [
            _event(event)
            for event in (_read(oracle) if oracle.exists() else [])
            if event.get("channel", _CHANNELS[model]) == _CHANNELS[model]
        ]
        yield Dialogue(
            path.stem,
            words,
            sorted(events, key=lambda event: event.at),
            str(sound) if sound.exists() else "",
            max((word.end for word in words), default=0.0),
        )


def write_kame(dialogue: Dialogue, folder: Path, source: Path) -> None:
    """Writes one dialogue, with the assistant as B. `source`: the folder that the path of its sound is relative to.

    The audio channels are swapped, since a `Dialogue` has the model on the left.
    """
    names = {"model": "B", "user": "A"}
    words = [
        {"speaker": names[word.speaker], "word": word.text, "start": round(word.start, 3), "end": round(word.end, 3)}
        for word in dialogue.words
    ]
    write_json(folder / "text" / f"{dialogue.name}.json", words)
    write_json(folder / "oracle_raw" / f"{dialogue.name}.json", [_record(event, dialogue) for event in dialogue.events])
    (folder / "audio").mkdir(parents=True, exist_ok=True)
    if dialogue.sound:
        samples, rate = soundfile.read(source / dialogue.sound, dtype="int16", always_2d=True)
        soundfile.write(folder / "audio" / f"{dialogue.name}.wav", samples[:, ::-1], rate)


def _event(record: dict[str, Any]) -> OracleEvent:
    share = float(record.get("current_spoken_ratio", 0.0))
    hint, prediction = str(record.get("hint") or ""), str(record.get("prediction") or "")
    chosen = record.get("use_hint")
    true = bool(hint) and (share >= _HEARD if chosen is None else bool(chosen))
    return OracleEvent(float(record["timestamp_ms"]) / 1000, hint if true else prediction, share, true)


def _record(event: OracleEvent, dialogue: Dialogue) -> dict[str, Any]:
    heard = [word for word in dialogue.words if word.end <= event.at]
    pairs = ((q.words, a.text) for q, a in exchanges(dialogue.words) if q.start <= event.at < a.end)
    question, answer = next(pairs, ((), ""))
    recent = [word.text for word in question if word.end <= event.at]
    return {
        "timestamp_ms": round(event.at * 1000),
        "conversation_context": "\n".join(
            f"{'B' if one.speaker == 'model' else 'A'}: {one.text}" for one in utterances(heard)
        ),
        "prediction": event.text,
        "total_word_count": len(heard),
        "trigger_word": heard[-1].text if heard else "",
        "recent_words": " ".join(recent),
        "current_spoken_ratio": round(event.share, 4),
        "channel": _CHANNELS["B"],
        "hint": answer if event.share > 0.5 else "",
        "use_hint": event.true,
    }


def _read(path: Path) -> list[dict[str, Any]]:
    with unreadable(ModelError, f"{path} can't be read as JSON ({{}}). Mend or remove it."):
        return list(read_json_file(path, CORPUS))


MAIN, OTHER = "SPEAKER_MAIN", "SPEAKER_OTHER"


def read_moshi(index: Path) -> Iterator[Dialogue]:
    """Yields the dialogues listed in a .jsonl file. Raises ModelError."""
    with unreadable(ModelError, f"{index} is no list of sounds ({{}})."):
        lines = read_json_lines(index, CORPUS, CORPUS_LINE)
        entries = [(str(line["path"]), float(line["duration"])) for line in lines]
    for path, seconds in entries:
        sound = index.parent / path
        yield Dialogue(sound.stem, _words(sound.with_suffix(".json")), [], str(sound), seconds)


def write_moshi(dialogue: Dialogue, folder: Path, source: Path) -> None:
    """Appends one dialogue to `folder/corpus.jsonl`. `source`: the folder that the path of its sound is relative to."""
    (folder / "data_stereo").mkdir(parents=True, exist_ok=True)
    path = Path("data_stereo", f"{dialogue.name}.wav")
    shutil.copyfile(source / dialogue.sound, folder / path)
    alignments = [
        [word.text, [round(word.start, 3), round(word.end, 3)], MAIN if word.speaker == "model" else OTHER]
        for word in dialogue.words
    ]
    write_json((folder / path).with_suffix(".json"), {"alignments": alignments})
    with (folder / "corpus.jsonl").open("a", encoding="utf-8") as index:
        index.write(json.dumps({"path": path.as_posix(), "duration": round(dialogue.seconds, 3)}) + "\n")


def _words(path: Path) -> list[Word]:
    with unreadable(ModelError, f"{path} holds no alignments ({{}}). Mend or remove it."):
        return in_order(
            Word(str(text), float(start), float(end), "model" if speaker == MAIN else "user")
            for text, (start, end), speaker in read_json_file(path, CORPUS)["alignments"]
        )
