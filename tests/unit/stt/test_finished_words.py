"""Whether words make a whole turn: how they are put to the language model, and what is made of its answer."""

from __future__ import annotations

import pytest

from app.offline_models import model_path
from app.stt import finished_words
from app.stt.finished_words import WordOdds, as_heard, probability, without_marks


def test_marks_of_the_recogniser_are_taken_out_and_the_users_i_stays() -> None:
    assert as_heard(" where does the water come from? ") == "Where does the water come from"
    assert without_marks("How far is it from? London to... Edinburgh.") == "How far is it from london to edinburgh"
    assert without_marks("Tell me. I am here") == "Tell me I am here"
    assert without_marks("... um") == "Um" and as_heard("?") == "" and without_marks("") == ""


def test_whole_words_and_a_finished_sound_are_an_end_and_either_missing_is_less() -> None:
    text, whole, open_ = "What is the capital of France?", WordOdds(2.0, 1.0), WordOdds(-6.0, -2.0)
    assert probability(text, whole, 0.95) > 0.85
    assert probability(text, whole, 0.05) < probability(text, whole, 0.95)
    assert probability("What is the capital of?", open_, 0.95) < 0.05
    assert probability("David has three sisters.", whole, 0.95) < probability(text, whole, 0.95)


def test_without_a_model_the_rules_stand_in() -> None:
    texts = ("What is the capital of France?", "What is the capital of?")
    whole, open_ = (probability(text, None, 0.9) for text in texts)
    assert open_ < 0.3 < whole


def test_a_model_that_is_not_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finished_words, "model_path", lambda part: model_path(part) / "nowhere")
    assert finished_words.load() is None


@pytest.mark.skipif(not model_path("brain").is_file(), reason="the model is not installed")
def test_the_model_knows_a_whole_question_from_its_beginning() -> None:
    pytest.importorskip("xllamacpp")
    judge = finished_words.load()
    assert judge is not None
    try:
        whole, open_ = judge.odds("What is the capital of France?"), judge.odds("What is the capital of")
        assert whole is not None and open_ is not None and whole.close > 0 > -4 > open_.close
        # Whatever was asked before, the same words get the same answer.
        first = judge.odds("Who wrote Hamlet?")
        judge.odds("Who wrote")
        judge._known.clear()
        assert judge.odds("Who wrote Hamlet?") == first
    finally:
        judge.close()
    assert judge.odds("What is love?") is None
