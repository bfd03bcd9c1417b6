"""Reasoning questions: made by rule with right answers, matched, and read from Big Bench Audio's form."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.research.benches.reasoning import FORMS, found_in, generate, is_right, load_big_bench_audio
from app.session.control import UserError
from tests.support.tables import cases

pytestmark = pytest.mark.slow
ITEMS = generate(400, seed=3)


def of(form: str) -> list:
    return [item for item in ITEMS if item.form == form]


def test_the_same_seed_makes_the_same_questions_and_answers_are_balanced() -> None:
    assert generate(40, 3) == ITEMS[:40] and generate(40, 4) != ITEMS[:40]
    assert len({item.text for item in ITEMS}) > 350 and {item.form for item in ITEMS} == set(FORMS)
    for form in FORMS[1:]:
        shares = [item.answer in ("yes", "valid") for item in of(form)]
        assert 0.3 < sum(shares) / len(shares) < 0.7, form


def test_arguments_are_valid_in_every_small_world_or_refuted_in_one() -> None:
    """Each group is a set of some of three people; what follows must hold wherever the premises do."""
    worlds = [(a, b, c) for a in range(8) for b in range(8) for c in range(8)]
    for item in of("formal fallacies")[:60]:
        premises, _, rest = item.text.partition(" It follows that ")
        conclusion = rest.partition(". Is this")[0]
        sentences = [part.strip() for part in premises.split(".") if part.strip()]
        groups = sorted(
            set(re.findall(r"(?:all|some|no) (\w+) are (\w+)", premises.lower())[0])
            | set(re.findall(r"(?:all|some|no) (\w+) are (\w+)", premises.lower())[1])
        )

        def holds(sentence: str, sets: dict[str, int]) -> bool:
            kind, a, b = re.fullmatch(r"(all|some|no) (\w+) are (\w+)", sentence.lower()).groups()
            if kind == "all":
                return not sets[a] & ~sets[b]
            return bool(sets[a] & sets[b]) if kind == "some" else not sets[a] & sets[b]

        follows = all(
            holds(conclusion, sets)
            for sets in (dict(zip(groups, world, strict=True)) for world in worlds)
            if all(holds(sentence, sets) for sentence in sentences)
        )
        assert follows == (item.answer == "valid"), item


@cases(
    "answer, right, said",
    ("Two apples and five plums make seven.", "7", "7"),
    ("Yes, you are back.", "yes", "yes"),
    ("No. I said no, yes?", "yes", "no"),
    ("This is not a valid argument.", "invalid", "invalid"),
    ("It isn\N{RIGHT SINGLE QUOTATION MARK}t logically valid.", "invalid", "invalid"),
    ("It is not invalid.", "valid", "valid"),
    ("I don't know.", "yes", ""),
    ("", "7", ""),
)
def test_what_an_answer_says(answer: str, right: str, said: str) -> None:
    assert found_in(answer, right) == said and is_right(answer, right) is (said == right)


@pytest.mark.parametrize("name", ["metadata.csv", "metadata.jsonl"])
def test_big_bench_audio_is_read(tmp_path: Path, name: str) -> None:
    rows = []
    for number, (kind, answer) in enumerate((("web_of_lies", "yes"), ("object_counting", "7"))):
        soundfile.write(tmp_path / f"{number}.wav", np.full(16_000, 0.1), 16_000)
        rows.append({"id": number, "category": kind, "official_answer": answer, "file_name": f"{number}.wav"})
    lines = [json.dumps(row) for row in rows]
    if name.endswith("csv"):
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    (tmp_path / name).write_text("\n".join(lines))
    items = load_big_bench_audio(tmp_path)
    assert [(item.form, item.answer) for item in items] == [("web of lies", "yes"), ("object counting", "7")]
    assert len(items[0].samples) == 24_000 and len(load_big_bench_audio(tmp_path, 1)) == 1


def test_a_set_that_is_none_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="metadata"):
        load_big_bench_audio(tmp_path)
    row = {"category": "x", "official_answer": "y", "file_name": "../outside.wav"}
    (tmp_path / "metadata.jsonl").write_text(json.dumps(row) + "\n")
    with pytest.raises(UserError, match="outside"):
        load_big_bench_audio(tmp_path)
