"""What kind of question a text is, and that table, tokenizer and training questions belong together."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from app.platform.installation import resource
from app.research.benches.routing import run_routing
from app.research.training.routing import questions_digest, read_questions
from app.routing.classifier import KINDS, KindClassifier

QUESTIONS = resource("routing", "questions.jsonl")
HELD_OUT = resource("routing", "held_out.jsonl")
MT_BENCH = resource("bench", "questions.json")
NEAR = 0.8
FLOOR = 0.87


@pytest.fixture(scope="module")
def classifier() -> KindClassifier:
    return KindClassifier()


def _best(classifier: KindClassifier, text: str) -> str:
    scores = classifier.scores(text)
    return max(scores, key=lambda kind: scores[kind])


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9']+", text.lower()))


@pytest.mark.parametrize(
    "text",
    ["hello", "Why do leaves fall?", "Ünïcødé — 漢字 🎈 words", "a " * 5000, "x" * 9000, "\x00\n?!", "qzxv jkwq"],
)
def test_the_likelihoods_are_of_all_kinds_and_sum_to_one(classifier: KindClassifier, text: str) -> None:
    scores = classifier.scores(text)
    assert tuple(scores) == KINDS
    assert sum(scores.values()) == pytest.approx(1.0)
    assert all(0.0 <= share <= 1.0 for share in scores.values())


@pytest.mark.parametrize("text", ["", "   ", "\n", "?", "..."])
def test_a_text_without_words_is_as_likely_each(classifier: KindClassifier, text: str) -> None:
    assert classifier.scores(text) == dict.fromkeys(KINDS, pytest.approx(0.2))


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("everyday", "which bakery around here would you go to for fresh rolls on a Sunday morning"),
        ("reasoning", "If nine workers dig a ditch in four days, how many days would six workers need?"),
        ("stem", "how does the electric field behave inside a charged metal sphere"),
        ("humanities", "Why did the Habsburg monarchy collapse after nineteen eighteen?"),
        ("creative", "Write a cheerful poem about a hedgehog who opens a bookshop."),
    ],
)
def test_a_clear_example_of_each_kind_is_told(classifier: KindClassifier, kind: str, text: str) -> None:
    assert text not in QUESTIONS.read_text(encoding="utf-8")
    assert _best(classifier, text) == kind
    assert _best(classifier, text.lower().rstrip("?.")) == kind


def test_the_table_was_made_from_these_questions(classifier: KindClassifier) -> None:
    assert classifier.made_from == questions_digest(QUESTIONS), "run app.research.training.routing again"


def test_a_table_for_other_kinds_or_another_tokenizer_is_refused(tmp_path: Path) -> None:
    for name in ("table.npz", "tokenizer.json"):
        shutil.copy(resource("routing", name), tmp_path / name)
    with np.load(tmp_path / "table.npz", allow_pickle=False) as table:
        arrays = dict(table)
    np.savez(tmp_path / "table.npz", **{**arrays, "kinds": np.array(("a", "b", "c", "d", "e"))})
    with pytest.raises(ValueError, match="other kinds: a, b"):
        KindClassifier(tmp_path)
    np.savez(tmp_path / "table.npz", **{**arrays, "pieces": arrays["pieces"][:-1]})
    with pytest.raises(ValueError, match="don't belong together"):
        KindClassifier(tmp_path)
    with pytest.raises(OSError):
        KindClassifier(tmp_path / "none")


@pytest.mark.slow
@pytest.mark.parametrize("path", [HELD_OUT, MT_BENCH], ids=["held out", "MT-Bench"])
def test_no_training_question_is_nearly_one_of_a_test_set(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    rows = json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    tests = [_words(row["text"]) for row in rows]
    assert len(tests) >= 10
    for text in read_questions(QUESTIONS)[0]:
        words = _words(text)
        for other in tests:
            assert len(words & other) <= NEAR * len(words | other), f"“{text}” is nearly in {path.name}"


@pytest.mark.slow
def test_held_out_questions_are_told_and_the_bench_says_so() -> None:
    result = run_routing(calls=20)
    held_out = result.sets[0]
    assert held_out.right >= FLOOR
    assert sum(map(sum, held_out.confusion)) == held_out.questions
    assert held_out.policy_changes <= held_out.bare_changes
    assert f"| held out | {held_out.questions} | {100 * held_out.right:.1f} |" in result.table()
    assert json.loads(json.dumps(result.document()))["sets"][0]["right"] == round(held_out.right, 4)
