"""The Windows installer in unusual situations, with a program of a few bytes instead of the real one."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from building.source import File, Source
from building.windows_installer import made
from building.windows_programs import FOLDER, ICON_SIZES
from tests.support.window_talk import wait_until
from tests.windows import installer_checks as checks
from tests.windows.installation import ROOT, Installation
from tests.windows.wine import Wine

WRONG_FOLDER, NO_ROOM, NOT_CHANGED = 5, 6, 7
NAMES = (f"{FOLDER}setup.nsi", f"{FOLDER}welcome.bmp", *(f"resources/icons/kame-{size}.png" for size in ICON_SIZES))
PROGRAM = {
    "installed.json": "{}",
    "files.json": "{}",
    "KAME Desktop.exe": "windowed",
    "kame-desktop.exe": "console",
    "app/__init__.py": "",
    "python/python.exe": "not a program",
    "packaging/installation/running.py": "",
}
WHEEL = bytes(range(256)) * 99


class Terabytes(bytes):
    """A few bytes whose length claims to be two terabytes."""

    def __len__(self) -> int:
        return 2 * 10**12


def installer(folder: Path, version: str, kind: str = "online", **more: bytes) -> Path:
    """Builds an installer of the small program with further files; the offline kind with a wheel."""
    source = Source("", version, 1_700_000_000, tuple(File(name, (ROOT / name).read_bytes()) for name in NAMES))
    files = [File(name, text.encode()) for name, text in PROGRAM.items()]
    files += [File("app/version.txt", version.encode()), *(File(f"app/{name}", data) for name, data in more.items())]
    files += [File("wheels/one.whl", WHEEL)] if kind == "offline" else []
    path = folder / f"setup {version}.exe"
    path.write_bytes(made(source, kind, files, {"download": 0, "unpacked": 0}))
    return path


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installer(tmp_path_factory.mktemp("first"), "1.0.0", "offline", old=b"of the first version alone")


@pytest.fixture(scope="module")
def second(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return installer(tmp_path_factory.mktemp("second"), "2.0.0")


@pytest.fixture
def wine(windows: Installation) -> Iterator[Wine]:
    """A Windows machine without KAME Desktop."""
    wine = windows.wine
    yield wine
    folder = checks.folder_of(wine)
    if (folder / "uninstall.exe").exists():
        assert wine.run(*checks.uninstaller(wine)).code == 0
        shutil.rmtree(folder)


def set_up(wine: Wine, setup: Path, *words: str) -> int:
    return wine.run(setup, "/S", *words, seconds=60).code


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def version_in(folder: Path) -> str:
    return (folder / "app" / "version.txt").read_text()


@contextlib.contextmanager
def held_open(windows: Installation, file: Path) -> Iterator[subprocess.Popen]:
    """Another program has a file open during the block, without sharing it."""
    held = file.with_name("held")
    code = (
        "import ctypes, sys, time\n"
        "open_file = ctypes.windll.kernel32.CreateFileW\n"
        "open_file.restype = ctypes.c_void_p\n"
        "handle = open_file(sys.argv[1], 0x80000000, 1, None, 3, 0, None)\n"
        "open(sys.argv[2], 'w').close()\n"
        "time.sleep(60)\n"
    )
    words = ("-c", code, windows.wine.windows(file), windows.wine.windows(held))
    with windows.wine.started(windows.base / "python.exe", *words) as child:
        wait_until(held.exists, 20, "the file is open")
        held.unlink()
        yield child


def test_an_upgrade_leaves_nothing_of_the_old_version(wine: Wine, first: Path, second: Path) -> None:
    folder = checks.folder_of(wine)
    assert set_up(wine, first) == 0
    before = content(folder)
    assert before.keys() - {"uninstall.exe"} == {*PROGRAM, "app/version.txt", "app/old", "wheels/one.whl"}
    assert before["wheels/one.whl"] == WHEEL
    assert set_up(wine, second) == 0
    assert content(folder).keys() - {"uninstall.exe"} == {*PROGRAM, "app/version.txt"}
    assert version_in(folder) == "2.0.0" and not list(folder.glob("kame-desktop.*/"))


def test_a_folder_with_other_files_is_not_written_to(wine: Wine, first: Path) -> None:
    tools = wine.folder / "drive_c" / "Tools"
    shutil.rmtree(tools, ignore_errors=True)
    (tools / "app").mkdir(parents=True)
    (tools / "app" / "mine.txt").write_text("mine")
    assert set_up(wine, first, "/D=C:\\Tools") == WRONG_FOLDER
    assert content(tools) == {"app/mine.txt": b"mine"}


def test_a_second_copy_elsewhere_is_refused(wine: Wine, first: Path, second: Path) -> None:
    assert set_up(wine, first) == 0
    assert set_up(wine, second, "/D=C:\\Elsewhere") == WRONG_FOLDER
    assert version_in(checks.folder_of(wine)) == "1.0.0"
    assert not (wine.folder / "drive_c" / "Elsewhere").exists()


def test_too_little_room_is_reported_before_anything_is_changed(wine: Wine, first: Path, tmp_path: Path) -> None:
    large = installer(tmp_path, "3.0.0", large=Terabytes(b"."))
    assert set_up(wine, large) == NO_ROOM
    assert not checks.folder_of(wine).exists()
    assert set_up(wine, first) == 0
    before = content(checks.folder_of(wine))
    assert set_up(wine, large) == NO_ROOM
    assert content(checks.folder_of(wine)) == before


def test_while_a_file_is_in_use_the_old_version_stays_intact(
    windows: Installation, wine: Wine, first: Path, second: Path
) -> None:
    """A file that a virus scanner closes after a moment is waited for."""
    folder = checks.folder_of(wine)
    assert set_up(wine, first) == 0
    before = content(folder)
    with held_open(windows, folder / "kame-desktop.exe"):
        assert set_up(wine, second) == NOT_CHANGED
        assert content(folder) == before
    assert set_up(wine, second) == 0 and version_in(folder) == "2.0.0"


def test_what_can_not_be_removed_keeps_its_uninstaller(windows: Installation, wine: Wine, first: Path) -> None:
    folder = checks.folder_of(wine)
    assert set_up(wine, first) == 0
    uninstall = checks.uninstaller(wine)
    with held_open(windows, folder / "app" / "version.txt"):
        assert wine.run(*uninstall).code == NOT_CHANGED
    assert (folder / "app").exists() and (folder / "uninstall.exe").exists()
    assert checks.registry(wine, checks.UNINSTALL_KEY)["DisplayVersion"] == "1.0.0"
    assert wine.run(*uninstall).code == 0
    assert [path.name for path in folder.iterdir()] == ["uninstall.exe"]
    assert not checks.registry(wine, checks.UNINSTALL_KEY)


def test_an_upgrade_keeps_what_was_chosen(wine: Wine, first: Path, second: Path) -> None:
    """Removed shortcuts are not made again, and existing ones stay."""
    desktop = wine.home / "Desktop" / "KAME Desktop.lnk"
    login = checks.shortcut_of(wine).parent / "StartUp" / "KAME Desktop.lnk"
    assert set_up(wine, first) == 0
    assert not desktop.exists() and not login.exists()
    for shortcut in (desktop, login):
        shortcut.write_bytes(b"of the first version")
    assert checks.registry(wine, checks.UNINSTALL_KEY)["CommandInTerminals"] == "0x1"
    wine.run("reg", "add", checks.UNINSTALL_KEY, "/v", "CommandInTerminals", "/t", "REG_DWORD", "/d", "0", "/f")
    assert set_up(wine, second) == 0
    assert checks.registry(wine, checks.UNINSTALL_KEY)["CommandInTerminals"] == "0x0"
    assert all(path.read_bytes()[:4] == b"L\0\0\0" for path in (desktop, login)), "as shortcuts begin"
