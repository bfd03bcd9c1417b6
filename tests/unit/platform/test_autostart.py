"""The start at login: entries for desktops on Linux, and values in the registry on Windows."""

import configparser
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from app.platform import autostart, single_instance
from app.platform.installation import CHECKOUT, Installed
from app.settings.paths import APP_ID

linux = pytest.mark.skipif(sys.platform == "win32", reason="an entry for desktops on Linux")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "autostart" / autostart.ENTRY


def command(monkeypatch: pytest.MonkeyPatch, *words: str) -> None:
    monkeypatch.setattr(single_instance, "command_words", lambda: list(words))


def read(entry: Path) -> configparser.SectionProxy:
    parser = configparser.RawConfigParser(strict=True)
    parser.optionxform = str  # type: ignore[assignment]
    parser.read(entry)
    return parser["Desktop Entry"]


def words_of(entry: Path) -> list[str]:
    """The command of an entry as a desktop takes it apart."""
    value = read(entry)["Exec"].replace("\\\\", "\\")
    quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', value)
    assert value == " ".join(f'"{word}"' for word in quoted) and "%" not in value.replace("%%", "")
    return [re.sub(r"\\(.)", r"\1", word).replace("%%", "%") for word in quoted]


@linux
def test_the_entry_is_the_apps_and_comes_and_goes(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert f"{APP_ID}.desktop" == autostart.ENTRY
    command(monkeypatch, "/opt/kame/kame-desktop")
    assert autostart.is_supported() and not autostart.is_on()
    autostart.set_on(False)  # which is so already
    autostart.set_on(True)
    assert autostart.is_on()
    entry = read(config)
    assert entry["Type"] == "Application" and entry["TryExec"] == "/opt/kame/kame-desktop" and "Path" not in entry
    assert words_of(config) == ["/opt/kame/kame-desktop", "--hidden"]
    autostart.set_on(False)
    assert not autostart.is_on() and not config.exists()


@linux
def test_the_command_is_named_by_its_whole_path(config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "kame-desktop"
    program.parent.mkdir()
    program.touch(0o755)
    monkeypatch.setenv("PATH", str(program.parent))
    command(monkeypatch, "kame-desktop")
    autostart.set_on(True)
    assert words_of(config) == [str(program), "--hidden"] and read(config)["TryExec"] == str(program)


@linux
@pytest.mark.parametrize("folder", ["with a space", 'with "quotes"', "with $HOME and `ls`", "100% back\\slash", "%f"])
def test_odd_paths_are_quoted_as_desktops_want_it(config: Path, monkeypatch: pytest.MonkeyPatch, folder: str) -> None:
    command(monkeypatch, f"/opt/{folder}/kame-desktop")
    autostart.set_on(True)
    assert words_of(config) == [f"/opt/{folder}/kame-desktop", "--hidden"]
    assert read(config)["TryExec"].replace("\\\\", "\\") == f"/opt/{folder}/kame-desktop"


@linux
def test_a_checkout_starts_in_its_folder(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(monkeypatch, "/usr/bin/python3", "-m", "app")
    monkeypatch.setattr(autostart, "installed", lambda: Installed(CHECKOUT, "0.1.0"))
    autostart.set_on(True)
    assert words_of(config)[1:] == ["-m", "app", "--hidden"]
    assert (Path(read(config)["Path"]) / "app" / "platform" / "autostart.py").exists()
    monkeypatch.setattr(autostart, "installed", lambda: Installed("wheel", "0.1.0"))
    autostart.set_on(True)
    assert "Path" not in read(config)


@linux
@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled=false", "Hidden = True"])
def test_what_the_desktop_has_switched_off_is_off(config: Path, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    command(monkeypatch, "/opt/kame-desktop")
    autostart.set_on(True)
    config.write_text(config.read_text().replace("X-GNOME-Autostart-enabled=true", line))
    assert not autostart.is_on()
    autostart.set_on(True)
    assert autostart.is_on()


@linux
def test_a_folder_that_cannot_be_written_is_told(config: Path, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("no folder")
    assert not autostart.is_on()
    with pytest.raises(OSError):
        autostart.set_on(True)


def test_other_systems_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    assert not autostart.is_supported()


class FakeRegistry(ModuleType):
    """Keys of the current user by their paths, each with its values."""

    HKEY_CURRENT_USER, REG_SZ, REG_BINARY, KEY_SET_VALUE = object(), 1, 3, 2

    def __init__(self) -> None:
        super().__init__("winreg")
        self.keys: dict[str, dict[str, tuple[object, int]]] = {autostart.RUN_KEY: {"Other": ("other.exe", 1)}}

    @contextmanager
    def OpenKey(self, root: object, path: str, reserved: int = 0, access: int = 0) -> Iterator[str]:
        assert root is self.HKEY_CURRENT_USER
        if path not in self.keys:
            raise FileNotFoundError(2, "no key")
        yield path

    @contextmanager
    def CreateKey(self, root: object, path: str) -> Iterator[str]:
        assert root is self.HKEY_CURRENT_USER
        self.keys.setdefault(path, {})
        yield path

    def QueryValueEx(self, key: str, name: str) -> tuple[object, int]:
        try:
            return self.keys[key][name]
        except KeyError:
            raise FileNotFoundError(2, "no value") from None

    def SetValueEx(self, key: str, name: str, reserved: int, kind: int, value: object) -> None:
        self.keys[key][name] = (value, kind)

    def DeleteValue(self, key: str, name: str) -> None:
        if name not in self.keys[key]:
            raise FileNotFoundError(2, "no value")
        del self.keys[key][name]


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeRegistry:
    made = FakeRegistry()
    monkeypatch.setitem(sys.modules, "winreg", made)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("APPDATA", str(tmp_path / "Roaming"))
    python = tmp_path / "env" / "python.exe"
    python.parent.mkdir()
    python.touch()
    python.with_name("pythonw.exe").touch()
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.setattr(autostart, "installed", lambda: Installed("wheel", "0.1.0"))
    return made


def test_a_value_in_the_registry_starts_it_without_a_console(registry: FakeRegistry, tmp_path: Path) -> None:
    assert autostart.is_supported() and not autostart.is_on()
    autostart.set_on(True)
    command = f'"{tmp_path / "env" / "pythonw.exe"}" -m app --hidden'
    assert registry.keys[autostart.RUN_KEY][autostart.NAME] == (command, registry.REG_SZ)
    assert autostart.is_on()
    autostart.set_on(False)
    autostart.set_on(False)
    assert not autostart.is_on() and registry.keys[autostart.RUN_KEY] == {"Other": ("other.exe", 1)}


def test_an_installation_starts_itself(registry: FakeRegistry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autostart, "__file__", str(tmp_path / "KAME" / "app" / "platform" / "autostart.py"))
    program = (tmp_path / "KAME" / "KAME Desktop.exe").resolve()
    program.parent.mkdir()
    program.touch()
    autostart.set_on(True)
    assert registry.keys[autostart.RUN_KEY][autostart.NAME][0] == f'"{program}" --hidden'


def test_what_windows_own_settings_have_switched_off_is_off(registry: FakeRegistry) -> None:
    autostart.set_on(True)
    registry.keys[autostart.APPROVED_KEY] = {autostart.NAME: (b"\x03" + bytes(11), registry.REG_BINARY)}
    assert not autostart.is_on()
    registry.keys[autostart.APPROVED_KEY][autostart.NAME] = (b"\x02" + bytes(11), registry.REG_BINARY)
    assert autostart.is_on()
    registry.keys[autostart.APPROVED_KEY][autostart.NAME] = (b"\x03" + bytes(11), registry.REG_BINARY)
    autostart.set_on(True)
    assert autostart.is_on() and registry.keys[autostart.APPROVED_KEY] == {}


def test_the_installers_link_counts_and_makes_room(registry: FakeRegistry, tmp_path: Path) -> None:
    link = tmp_path / "Roaming/Microsoft/Windows/Start Menu/Programs/Startup/KAME Desktop.lnk"
    link.parent.mkdir(parents=True)
    link.touch()
    assert autostart.is_on()
    autostart.set_on(True)
    assert autostart.is_on() and not link.exists(), "two would start it twice"
    link.touch()
    autostart.set_on(False)
    assert not autostart.is_on() and not link.exists()


def test_a_checkout_on_windows_says_that_it_cannot(registry: FakeRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autostart, "installed", lambda: Installed(CHECKOUT, "0.1.0"))
    assert not autostart.is_supported()
    with pytest.raises(OSError, match="no program"):
        autostart.set_on(True)
