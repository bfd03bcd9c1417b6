"""Corpora in the public layouts are read, whatever order they are in, and damaged ones are named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from app.models.catalogue import ModelError
from app.research.corpus.dialogue import utterances
from app.research.corpus.layouts import read_kame, read_moshi

pytestmark = pytest.mark.slow


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
