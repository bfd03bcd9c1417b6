"""The page about the house names files that there are."""

from __future__ import annotations

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
