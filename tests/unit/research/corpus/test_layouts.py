"""Corpora in the public layouts are read, and what is written is read back as it was."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.models.catalogue import ModelError
from app.research.corpus.dialogue import CorpusFolder, Dialogue, OracleEvent, Word, utterances
from app.research.corpus.layouts import read_kame, read_moshi, write_kame, write_moshi

pytestmark = pytest.mark.slow


def dialogue() -> Dialogue:
    asked = ["where", "is", "the", "museum"]
    words = [Word(word, 0.5 + n, 0.75 + n, "user") for n, word in enumerate(asked)]
    said = ["It", "is", "in", "Cambridge."]
    words += [Word(word, 5.0 + n, 5.5 + n, "model") for n, word in enumerate(said)]
    events = [
        OracleEvent(2.0, "Perhaps it is closed today.", 0.5),
        OracleEvent(4.25, "It is in Cambridge.", 1.0, True),
    ]
    return Dialogue("one", words, events, "", 9.0)


@pytest.fixture
def stored(tmp_path: Path) -> CorpusFolder:
    folder = CorpusFolder(tmp_path / "corpus")
    samples = np.zeros((24_000 * 9, 2), np.float32)
    samples[:, 0], samples[:, 1] = 0.25, -0.5
    folder.write(dialogue(), samples)
    return folder


def test_kames_layout_is_read_back_as_it_was_written(stored: CorpusFolder, tmp_path: Path) -> None:
    one = stored.read("one")
    write_kame(one, tmp_path / "kame", stored.folder)
    again = next(read_kame(tmp_path / "kame"))
    assert again.words == one.words and again.events == one.events
    samples, _ = soundfile.read(tmp_path / "kame" / "audio" / "one.wav")
    assert samples[0, 0] < 0 < samples[0, 1]  # A, the user, is on the left there
    event = json.loads((tmp_path / "kame" / "oracle_raw" / "one.json").read_text())[0]
    assert event["channel"] == 1 and event["conversation_context"] == "A: where is" and event["trigger_word"] == "is"
    assert event["hint"] == "" and event["use_hint"] is False


def test_moshis_layout_is_read_back_as_it_was_written(stored: CorpusFolder, tmp_path: Path) -> None:
    one = stored.read("one")
    (tmp_path / "sound").mkdir()
    write_moshi(one, tmp_path / "moshi", stored.folder)
    again = next(read_moshi(tmp_path / "moshi" / "corpus.jsonl"))
    assert again.words == one.words and again.seconds == one.seconds and Path(again.sound).exists()


def test_words_out_of_order_are_sorted_and_older_events_choose_by_their_share(tmp_path: Path) -> None:
    (tmp_path / "text").mkdir()
    (tmp_path / "oracle_raw").mkdir()
    words = [
        {"speaker": "B", "word": "fine", "start": 2.0, "end": 2.3},
        {"speaker": "A", "word": "you?", "start": 0.9, "end": 1.2},
        {"speaker": "A", "word": "How", "start": 0.1, "end": 0.3},
        {"speaker": "A", "word": "are", "start": 0.5, "end": 0.7},
    ]
    events = [
        {"timestamp_ms": 1500, "prediction": "good", "hint": "fine", "current_spoken_ratio": 1.0, "channel": 1},
        {"timestamp_ms": 800, "prediction": "what", "hint": "fine", "current_spoken_ratio": 0.7, "channel": 1},
        {"timestamp_ms": 2500, "prediction": "mine", "hint": "", "current_spoken_ratio": 1.0, "channel": 0},
    ]
    (tmp_path / "text" / "x.json").write_text(json.dumps(words))
    (tmp_path / "oracle_raw" / "x.json").write_text(json.dumps(events))
    found = next(read_kame(tmp_path))
    assert [word.text for word in found.words] == ["How", "are", "you?", "fine"]
    assert [(event.text, event.true) for event in found.events] == [("what", False), ("fine", True)]
    assert [utterance.speaker for utterance in utterances(found.words)] == ["user", "model"]


@pytest.mark.parametrize("content", ["", "[1, 2", '{"alignments": [["a", 1]]}'])
def test_a_damaged_file_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    (tmp_path / "list.jsonl").write_text(json.dumps({"path": "a.wav", "duration": 1.0}))
    with pytest.raises(ModelError, match=r"a\.json"):
        list(read_moshi(tmp_path / "list.jsonl"))
