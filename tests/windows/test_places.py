"""Machines that are set up otherwise: data on another drive, and no Visual C++ redistributable."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.windows.installation import PLACE, Installation
from tests.windows.wine import Wine

SHELL_FOLDERS = "HKEY_CURRENT_USER\\Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\"
VISUAL_C = (
    "concrt140", "msvcp140", "msvcp140_1", "msvcp140_2", "msvcp140_atomic_wait", "msvcp140_codecvt_ids",
    "vcamp140", "vccorlib140", "vcomp140", "vcruntime140", "vcruntime140_1", "vcruntime140_threads",
)  # fmt: skip
"""What the redistributable installs. Windows itself brings only ucrtbase.dll."""


def test_data_lies_where_windows_says_that_the_profile_is(windows: Installation) -> None:
    """With the profile's data moved to drive E:, a talk is recorded there and nothing on C:."""
    drive = PLACE / "drive e"
    windows.wine.add_drive("e", drive)
    _move_local_data(windows.wine, "E:\\Profile\\AppData\\Local")
    try:
        done = windows.app("doctor", "--json")
        logs = [path for path in drive.rglob("*") if path.is_file()]
        where = windows.wine.run(
            windows.python, "-P", "-c",
            "from app.settings import default_path; from app.history.database import history_path; "
            "print(default_path(), history_path(), sep='|')", cwd=windows.project,
        )  # fmt: skip
    finally:
        _move_local_data(windows.wine, f"C:\\users\\{windows.wine.user}\\AppData\\Local")
        (windows.wine.folder / "dosdevices" / "e:").unlink()
        shutil.rmtree(drive)
    assert done.code == 0, done.printed
    assert all(path.startswith("E:\\Profile\\") for path in where.printed.strip().split("|")), (where.printed, logs)


def _move_local_data(wine: Wine, folder: str) -> None:
    escaped = folder.replace("\\", "\\\\")
    places = ("Shell Folders", "User Shell Folders")
    entries = (f'[{SHELL_FOLDERS}{place}]\n"Local AppData"="{escaped}"\n' for place in places)
    wine.registry("Windows Registry Editor Version 5.00\n\n" + "\n".join(entries))


@pytest.fixture
def without_visual_c(windows: Installation, tmp_path: Path) -> Installation:
    """The machine without Microsoft's C++ runtime in system32, nor Wine's own in its place."""
    system = windows.wine.folder / "drive_c" / "windows" / "system32"
    overrides = windows.wine.env["WINEDLLOVERRIDES"]
    for name in VISUAL_C:
        if (system / f"{name}.dll").exists():
            shutil.move(system / f"{name}.dll", tmp_path)
    windows.wine.env["WINEDLLOVERRIDES"] = f"mscoree=;mshtml=;winemenubuilder.exe=;ucrtbase,{','.join(VISUAL_C)}=n"
    yield windows
    windows.wine.env["WINEDLLOVERRIDES"] = overrides
    for path in tmp_path.glob("*.dll"):
        shutil.move(path, system)


def test_the_app_talks_without_the_redistributable(without_visual_c: Installation) -> None:
    """In its children too: the voice and the language model run in processes of their own."""
    windows = without_visual_c
    alone = windows.wine.run(windows.python, "-P", "-c", "import soxr", cwd=windows.wine.home)
    assert alone.code != 0 and "DLL load failed" in alone.printed, "the machine has the runtime after all"
    done = windows.talk_on_files("answer.wav")
    assert done.code == 0, done.printed
    assert [turn for turn in done.document["turns"] if turn["speaker"] == "assistant"], done.printed
