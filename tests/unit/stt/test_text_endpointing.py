"""Endpointing by words: the form in which the language model gets them, and the probability that follows."""

import os
import sys
from pathlib import Path

import pytest

from app.models.locations import default_model
from app.platform.children import ChildError
from app.stt import text_endpointing
from app.stt.text_endpointing import WordOdds, probability, without_marks
from app.stt.text_endpointing_worker import LONGEST, STEP, last_part


def test_marks_of_the_recogniser_are_taken_out_and_the_users_i_stays() -> None:
    assert without_marks("How far is it from? London to... Edinburgh.") == "How far is it from london to edinburgh"
    assert without_marks("Tell me. I am here") == "Tell me I am here"
    assert without_marks("... um") == "Um" and without_marks("?") == "" and without_marks("") == ""
    assert without_marks(" where does the water come from? ") == "Where does the water come from"


def test_whole_words_and_a_finished_sound_are_an_end_also_by_the_rules_alone() -> None:
    text, whole, open_ = "What is the capital of France?", WordOdds(2.0, 1.0), WordOdds(-6.0, -2.0)
    assert probability(text, whole, 0.95) > 0.85
    assert probability(text, whole, 0.05) < probability(text, whole, 0.95)
    assert probability("What is the capital of?", open_, 0.95) < 0.1
    assert probability("I need a train to Leicester.", whole, 0.95) > 0.7
    texts = ("What is the capital of France?", "What is the capital of?")
    whole, open_ = (probability(text, None, 0.9) for text in texts)
    assert open_ < 0.3 < whole


def test_a_model_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ChildError, match="not installed"):
        text_endpointing.open_judge(tmp_path / "nowhere")


def test_of_a_long_turn_the_last_words_are_asked_about_and_their_beginning_seldom_moves() -> None:
    words = [f"word{n}" for n in range(200)]
    beginnings = []
    for count in range(1, 200):
        text = " ".join(words[:count])
        part = last_part(text)
        assert text.endswith(part) and len(part) <= LONGEST and part.split()[0] in words
        assert len(part) >= min(len(text), LONGEST - STEP - 10)
        beginnings.append(part.split()[0])
    assert len(set(beginnings)) <= 2 + len(" ".join(words)) // STEP


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for a process's memory")
@pytest.mark.skipif(not default_model("llm").is_file(), reason="the model is not installed")
def test_long_turns_cost_no_memory() -> None:
    pytest.importorskip("xllamacpp")
    judge = text_endpointing.open_judge(default_model("llm"))

    def megabytes() -> float:
        pages = Path(f"/proc/{judge._child.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20

    turns = [" ".join(f"{word}{n}" for n in range(90)) for word in ("ship", "tree", "road")]
    try:
        judge.odds(turns[0])
        before = megabytes()
        for turn in turns[1:]:
            judge.odds(turn)
        assert megabytes() - before < 8
    finally:
        judge.close()


@pytest.mark.skipif(not default_model("llm").is_file(), reason="the model is not installed")
def test_the_model_knows_a_whole_question_from_its_beginning() -> None:
    pytest.importorskip("xllamacpp")
    judge = text_endpointing.open_judge(default_model("llm"))
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
