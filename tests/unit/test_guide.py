"""The guide's tables of settings are up to date with the declarations."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from app.settings.declarations import Settings, declarations

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def guide() -> ModuleType:
    spec = importlib.util.spec_from_file_location("packaging_guide", ROOT / "packaging" / "guide.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_guide_holds_the_present_tables(guide: ModuleType) -> None:
    assert guide.main(["--check"]) == 0


def test_the_tables_name_every_setting(guide: ModuleType) -> None:
    lines = [line for line in guide.settings_markdown().splitlines() if line.startswith("| ")]
    rows = [line for line in lines if "`" in line]
    assert len(lines) == len(rows) + 2 * len(Settings.pages)
    for declared, line in zip(declarations(), rows, strict=True):
        assert f"| `{declared.name}` |" in line and line.count("|") == 5
    table = guide.settings_markdown()
    heads = [line.removeprefix("### ") for line in table.splitlines() if line.startswith("#")]
    assert heads == ["General", "Voice", "Models", "Sound", "Privacy", "Advanced"]
    assert "One of `thinking` (“While I speak”), `after` (“When I finish”)." in table
    assert "From 80 to 200 %." in table and "From 0 to 2; -1: the model's own." in table
    assert "From 0 to $1000; 0: no limit." in table
    assert "`routes`" in table
