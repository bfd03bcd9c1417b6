"""Tests the settings and the window's state: saving and loading, and files that are broken or of another version."""

import json
import os
from pathlib import Path

import pytest

from app.settings import kept_state
from app.settings.declarations import Settings, declarations, page_of
from app.settings.kept_state import WindowState, strings
from app.untrusted.limits import SETTINGS
from tests.support.raising import raising
from tests.support.tables import cases


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "settings.json"


def test_no_file_gives_the_defaults_without_a_word(path: Path) -> None:
    settings = Settings.load(path)
    assert (settings.frontend, settings.answer_mode, settings.provider) == ("cascade", "thinking", "embedded")
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


@cases(
    "content",
    b"{",
    b"[]",
    b"\xff\xfe\x00",
    b"",
    pytest.param(b'{"persona": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", id="deep"),
    pytest.param(b'{"persona": "' + b"x" * SETTINGS.bytes + b'"}', id="large"),
    pytest.param(b'{"cap_dollars": ' + b"9" * 5000 + b"}", id="number"),
)
def test_a_broken_file_is_set_aside(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    settings = Settings.load(path)
    broken = path.with_name("settings.json.broken")
    assert settings == Settings()
    assert broken.read_bytes() == content
    assert not path.exists()
    assert str(broken) in settings.notice
    path.write_bytes(b"{")
    notice = Settings.load(path).notice
    assert f"{broken}-2" in notice and "no valid JSON" in notice
    assert broken.read_bytes() == content


def test_settings_that_could_not_be_read_again_are_not_written(path: Path) -> None:
    settings = Settings(path=path)
    settings.persona = "Kind."
    settings.save()
    for persona in ("x" * SETTINGS.bytes, "ä" * (SETTINGS.bytes * 6 // 10)):
        settings.persona = persona
        with pytest.raises(OSError, match="longer than 1 MB"):
            settings.save()
    assert Settings.load(path).persona == "Kind."


@pytest.mark.skipif(os.name == "nt", reason="no pipes among files there")
def test_a_pipe_in_place_of_the_file_is_set_aside(path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    assert str(path.with_name("settings.json.broken")) in Settings.load(path).notice


@cases(
    "content",
    "[" * 100_000,
    '{"version": 1, "mean_log": 1e999, "count": 2}',
    '{"version": 1, "mean_log": 0, "count": "9"}',
    '{"version": 2, "mean_log": 0, "count": 7}',
)
def test_senseless_pauses_are_learned_again(content: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_state, "pauses_path", lambda: tmp_path / "pauses.json")
    (tmp_path / "pauses.json").write_text(content)
    assert kept_state.load_pauses().count in (0, 9)


def test_one_bad_value_costs_only_that_value(path: Path) -> None:
    path.parent.mkdir()
    stored = {"version": 1, "answer_mode": "sideways", "duplex": 1, "microphone": "Desk", "later": 3}
    path.write_text(json.dumps(stored))
    settings = Settings.load(path)
    assert (settings.answer_mode, settings.duplex, settings.microphone) == ("thinking", False, "Desk")
    assert "“Answer”" in settings.notice and "“Hands-free”" in settings.notice
    assert "Microphone" not in settings.notice


def test_a_provider_that_is_gone_gives_way_to_the_built_in_model(path: Path) -> None:
    path.parent.mkdir()
    stored = {"version": 1, "provider": "router", "routes": '{"stem": {"provider": "openai"}}', "openai_model": "gpt-x"}
    path.write_text(json.dumps(stored))
    settings = Settings.load(path)
    assert (settings.provider, settings.openai_model) == ("embedded", "gpt-x")
    assert settings.notice == "Some saved settings were not usable and are back at their defaults: “Model”."
    settings.provider = "openai"
    settings.save()
    again = Settings.load(path)
    assert (again.provider, again.notice) == ("openai", "")


def test_the_file_holds_every_setting_and_no_secret(path: Path) -> None:
    settings = Settings.load(path)
    settings.save()
    keys = set(json.loads(path.read_text()))
    assert keys == {"version", *(declared.name for declared in declarations())}
    hotkeys = {"talk_hotkey", "mute_hotkey"}
    assert not [key for key in keys - hotkeys if "key" in key or "secret" in key or "token" in key]


@cases(
    "key, kept, value",
    ("font_scale", 500, 200),
    ("answer_delay_ms", -80, 0),
    ("cap_dollars", 5000, 1000.0),
    ("temperature", -0.5, -1.0),
    ("temperature", 0, 0.0),
    ("answer_delay_ms", 10**400, 5000),
)
def test_a_number_beyond_its_range_becomes_the_nearest(path: Path, key: str, kept: float, value: float) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"version": 1, key: kept}))
    settings = Settings.load(path)
    assert getattr(settings, key) == value and type(getattr(settings, key)) is type(value)
    assert settings.notice == ""


@cases(
    "content",
    '{"temperature": NaN}',
    '{"temperature": "warm"}',
    '{"temperature": true}',
    '{"temperature": 1e999}',
    f'{{"temperature": 1{"0" * 400}}}',
)
def test_what_is_no_number_is_told(path: Path, content: str) -> None:
    path.parent.mkdir()
    path.write_text(content.replace("{", '{"version": 1, ', 1))
    settings = Settings.load(path)
    assert settings.temperature == -1.0 and "“Temperature”" in settings.notice


@pytest.mark.parametrize("version", [None, 0, 2])
def test_a_file_of_another_version_is_set_aside_and_the_app_goes_on(path: Path, version: int | None) -> None:
    stored = {"provider": "openai", "openai_model": "gpt-x"} | ({} if version is None else {"version": version})
    path.parent.mkdir()
    path.write_text(json.dumps(stored))
    settings = Settings.load(path)
    kept = path.with_name(f"settings.json.version-{version or 0}")
    assert settings == Settings() and not path.exists()
    assert f"has written it (in format {version or 0}, and this one has format 1)" in settings.notice
    assert str(kept) in settings.notice and json.loads(kept.read_text()) == stored
    settings.duplex = True
    settings.save()
    again = Settings.load(path)
    assert again == settings and again.notice == "" and json.loads(kept.read_text()) == stored


@pytest.mark.parametrize("version", ["1", True, -1, 10**6, [1]])
def test_a_version_that_makes_no_sense_is_damage(path: Path, version: object) -> None:
    path.parent.mkdir()
    path.write_text(json.dumps({"version": version}))
    assert "its version makes no sense" in Settings.load(path).notice
    assert path.with_name("settings.json.broken").exists()


def test_every_setting_is_declared_whole() -> None:
    labels = [declared.label for declared in declarations()]
    assert len(labels) == len(set(labels))
    for declared in declarations():
        assert declared.label and declared.help.endswith(".") and "`" not in declared.help
        assert page_of(declared.section) in Settings.pages
        assert declared.usable(declared.default) == declared.default
        assert not declared.choices or declared.default in declared.choices
        assert all(declared.words.values())
        if declared.is_number:
            assert declared.lowest < declared.highest and declared.step > 0
            special = declared.special is not None and declared.default == declared.special[0]
            assert special or declared.lowest <= declared.default <= declared.highest
    sections = [section for page in Settings.pages.values() for section in page.sections]
    assert len(sections) == len(set(sections)) and len(Settings.pages) == 6
    used = [declared.section for declared in declarations()]
    assert list(dict.fromkeys(used)) == sections
    assert used == sorted(used, key=sections.index)


def test_what_else_is_in_the_file_stays_there(tmp_path: Path) -> None:
    path = tmp_path / "settings.json"
    path.write_text(json.dumps({"version": 1, "new_one": [1], "theme": "sepia", "answer_mode": "after"}), "utf-8")
    settings = Settings.load(path)
    assert "Theme" in settings.notice and settings.theme == "system"
    settings.duplex = True
    settings.save()
    kept = json.loads(path.read_text("utf-8"))
    assert (kept["new_one"], kept["theme"], kept["answer_mode"], kept["duplex"]) == ([1], "sepia", "after", True)
    settings.theme = "dark"
    settings.save()
    assert json.loads(path.read_text("utf-8"))["theme"] == "dark" == Settings.load(path).theme


def test_a_file_that_could_not_be_read_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "settings.json"
    path.write_text('{"version": 1, "persona": "You are a pirate."}', "utf-8")
    with monkeypatch.context() as patch:
        patch.setattr("app.settings.storage.read_versioned", raising(PermissionError(13, "Permission denied")))
        settings = Settings.load(path)
    assert "could not be read" in settings.notice
    settings.save()
    settings.save()
    assert "pirate" in path.with_name("settings.json.unread").read_text("utf-8")
    assert Settings.load(path).persona == ""


def test_the_windows_state_comes_back_and_what_makes_no_sense_does_not(tmp_path: Path) -> None:
    path = tmp_path / "window.json"
    state = WindowState(first_run_done=True, recent_commands=["a"], layout={"shown": ["oracle"]}, path=path)
    state.save()
    assert WindowState.load(path) == state
    kept = {"version": 1, "first_run_done": "yes", "favourites": {}, "model_colours": ["m", 3], "layout": [], "new": 1}
    path.write_text(json.dumps(kept))
    state = WindowState.load(path)
    assert state == WindowState(model_colours=["m", 3]) and strings(state.model_colours) == ["m"]
    path.write_text(json.dumps({"first_run_done": True, "window": "AAAA"}))
    state = WindowState.load(path)
    assert state == WindowState() and "another version of KAME has written it" in state.notice
    assert path.with_name("window.json.version-0").exists()
    path.write_bytes(b"\xff{")
    state = WindowState.load(path)
    assert state == WindowState() and "window layout can't be used" in state.notice
    assert path.with_name("window.json.broken").exists()
