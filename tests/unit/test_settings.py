"""The settings: what is saved comes back, and no file however broken keeps the app from starting."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from app.settings import Settings, choices_of, declarations, settings_markdown


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "settings.json"


def test_no_file_gives_the_defaults_without_a_word(path: Path) -> None:
    settings = Settings.load(path)
    assert (settings.frontend, settings.manner, settings.provider) == ("cascade", "thinking", "embedded")
    assert settings.duplex is False
    assert settings.notice == ""
    assert not path.exists()


def test_what_is_saved_comes_back(path: Path) -> None:
    settings = Settings.load(path)
    settings.provider, settings.ollama_model, settings.duplex = "ollama", "gemma3:4b", True
    settings.microphone = "Mikrofon für Gäste"
    settings.save()
    again = Settings.load(path)
    assert again == settings
    assert again.microphone == "Mikrofon für Gäste"
    assert again.notice == ""


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff\xfe\x00", b""])
def test_a_broken_file_is_set_aside(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    settings = Settings.load(path)
    broken = path.with_name("settings.json.broken")
    assert settings == Settings()
    assert broken.read_bytes() == content
    assert not path.exists()
    assert str(broken) in settings.notice


def test_one_bad_value_costs_only_that_value(path: Path) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"manner": "sideways", "duplex": 1, "microphone": "Desk", "later": 3}))
    settings = Settings.load(path)
    assert (settings.manner, settings.duplex, settings.microphone) == ("thinking", False, "Desk")
    assert "“Manner”" in settings.notice and "“Full duplex”" in settings.notice
    assert "Microphone" not in settings.notice


def test_an_unreadable_file_stays_where_it_is(path: Path) -> None:
    path.mkdir(parents=True)  # reading a folder fails for every user, also for root
    settings = Settings.load(path)
    assert settings == Settings()
    assert str(path) in settings.notice
    assert path.is_dir()


def test_a_failed_save_leaves_the_old_file_and_no_draft(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings.load(path)
    settings.save()
    before = path.read_bytes()
    settings.microphone = "Desk"

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError):
        settings.save()
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == ["settings.json"]


def test_the_file_holds_every_setting_and_no_secret(path: Path) -> None:
    settings = Settings.load(path)
    settings.save()
    keys = set(json.loads(path.read_text()))
    assert keys == {declared.name for declared in declarations()}
    hotkeys = {"talk_hotkey", "mute_hotkey"}
    assert not [key for key in keys - hotkeys if "key" in key or "secret" in key or "token" in key]


def test_every_setting_is_declared_whole() -> None:
    for declared in declarations():
        assert declared.metadata["label"] and declared.metadata["help"].endswith(".")
        choices = choices_of(declared.name)
        assert not choices or declared.default in choices


def test_the_table_names_every_setting() -> None:
    lines = settings_markdown().splitlines()
    for declared in declarations():
        assert any(f"| `{declared.name}` |" in line for line in lines)
    assert len(lines) == 2 + len(list(declarations()))
    assert "One of `thinking`, `after`." in settings_markdown()
