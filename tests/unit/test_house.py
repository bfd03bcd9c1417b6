"""Rules of the house: its pages name files that there are, and children get the environment that is chosen for them."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "app" / "README.md", *sorted((ROOT / "app").rglob("*/README.md")), ROOT / "tests" / "README.md"]


@pytest.mark.parametrize("page", [page for page in PAGES if page.exists()], ids=lambda page: str(page.parent.name))
def test_every_file_that_a_page_names_is_there(page: Path) -> None:
    named = re.findall(r"`([a-z_]+(?:/[a-z_0-9]+)*\.py)`", page.read_text("utf-8"))
    places = (page.parent, ROOT / "app", ROOT)
    missing = [name for name in named if not any((place / name).exists() for place in places)]
    assert not missing


STARTERS = {"run", "call", "check_call", "check_output", "Popen"}
ON_ITS_OWN = "app/platform/nvidia.py"
"""It also runs without the app, and has a list of its own."""
COPIES = re.compile(r"dict\(os\.environ\)|\*\*os\.environ|environ\.copy\(\)")


def test_every_child_gets_the_environment_that_is_chosen_in_one_place() -> None:
    wrong = []
    for path in sorted((ROOT / "app").rglob("*.py")):
        name, text = path.relative_to(ROOT).as_posix(), path.read_text("utf-8")
        wrong += [
            f"{name}: {call}" for call in ("QProcess", "create_subprocess", "os.spawn", "os.posix") if call in text
        ]
        if "subprocess" not in text or name == ON_ITS_OWN:
            continue
        starts = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call) and _starts_a_child(node)]
        whole = [node for node in starts if not any(keyword.arg in ("env", None) for keyword in node.keywords)]
        wrong += [f"{name}:{node.lineno}: a child without quiet_child()" for node in whole]
        if starts and name != "app/platform/children.py" and (COPIES.search(text) or not _uses_the_list(text)):
            wrong.append(f"{name}: a child's environment that is made by hand")
    assert not wrong


def _uses_the_list(text: str) -> bool:
    return "quiet_child(" in text or "child_environment(" in text


def _starts_a_child(call: ast.Call) -> bool:
    function = call.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    return function.value.id == "subprocess" and function.attr in STARTERS
