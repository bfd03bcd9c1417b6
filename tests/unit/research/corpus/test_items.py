"""Questions are read from files in the forms in which the data sets are published."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.models.catalogue import ModelError
from app.platform.children import child_environment
from app.research.corpus.layouts import read_moshi
from app.research.corpus.scripts import read_items
from tests.support.tables import cases

pytestmark = pytest.mark.slow
ROWS: dict[str, dict[str, Any]] = {
    "mmlu-pro": {
        "question_id": 1,
        "question": "Which planet is the largest?",
        "options": ["Mars", "Jupiter", "Venus"],
        "answer": "B",
        "answer_index": 1,
        "cot_content": "A: Let's think step by step. Jupiter has the most mass.",
        "category": "physics",
    },
    "gsm8k": {"question": "Tom has 3 apples and buys 4. How many?", "answer": "3+4=<<3+4=7>>7 apples.\n#### 7"},
    "hssbench": {"question": "Who wrote Hamlet?", "A": "Marlowe", "B": "Shakespeare", "C": "", "D": "", "answer": "B"},
    "list": {"question": "When do we open?", "answer": "At nine."},
}
ANSWERS = {"mmlu-pro": "Jupiter", "gsm8k": "7", "hssbench": "Shakespeare", "list": "At nine."}


def write(path: Path, row: dict[str, Any]) -> None:
    if path.suffix == ".jsonl":
        path.write_text(json.dumps(row) + "\n")
    elif path.suffix == ".json":
        path.write_text(json.dumps([row]))
    elif path.suffix == ".parquet":
        import pyarrow
        from pyarrow import parquet

        picture = {"bytes": b"png", "path": "a.png"}  # a column as the hub stores pictures
        parquet.write_table(pyarrow.Table.from_pylist([{**row, "picture": picture}]), path)
    else:
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(row))
            writer.writeheader()
            writer.writerow({name: json.dumps(one) if isinstance(one, list) else one for name, one in row.items()})


@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".csv", ".parquet"])
@pytest.mark.parametrize("form", list(ROWS))
def test_the_right_answer_is_found(tmp_path: Path, form: Any, suffix: str) -> None:
    path = tmp_path / f"items{suffix}"
    write(path, ROWS[form])
    item = read_items(path, form)[0]
    assert item.answer == ANSWERS[form] and item.question == ROWS[form]["question"]
    if form == "gsm8k":
        assert item.reason == "3+4=7 apples."
    if form == "mmlu-pro":
        assert item.reason == "Jupiter has the most mass." and len(item.choices) == 3


def test_questions_about_pictures_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    rows = [{"question": "What does the image show?", "answer": "A cat."}, ROWS["list"]]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [item.question for item in read_items(path, "list")] == ["When do we open?"]


@cases(
    "form, row",
    ("gsm8k", {"question": "How many?", "answer": "seven"}),
    ("mmlu-pro", {"question": "Which?", "options": ["a"], "answer_index": 4}),
    ("list", {"query": "?"}),
)
def test_a_row_of_another_form_is_named(tmp_path: Path, form: Any, row: dict[str, Any]) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text(json.dumps(row))
    with pytest.raises(ModelError, match=r"Row 1 of items\.jsonl"):
        read_items(path, form)


@pytest.mark.parametrize("content", ["", "[1, 2", '{"alignments": [["a", 1]]}'])
def test_a_damaged_file_of_a_corpus_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    (tmp_path / "list.jsonl").write_text(json.dumps({"path": "a.wav", "duration": 1.0}))
    with pytest.raises(ModelError, match=r"a\.json"):
        list(read_moshi(tmp_path / "list.jsonl"))


def test_only_tokens_need_torch_and_say_so(tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"question": "What is the capital of Norway?", "answer": "It is Oslo."}\n', "utf-8")
    without_torch = "import sys; sys.modules['torch'] = None; from app.cli.parser import main; exit(main(sys.argv[1:]))"
    make = ["corpus", "make", str(tmp_path / "corpus"), "--items", str(questions), "--as-they-are", "--steps"]
    for step, code, words in (("scripts", 0, "1 scripts made"), ("tokens", 2, "packages that aren't installed (torch")):
        command = [sys.executable, "-c", without_torch, *make, step]
        done = subprocess.run(command, capture_output=True, text=True, env=child_environment())
        assert done.returncode == code, done.stderr
        assert words in done.stdout + done.stderr
