"""Unusual machines: data on another drive, and no Visual C++ redistributable."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.conversation import events as e
from app.conversation.words import fold
from app.research.benches.recordings import word_distance
from tests.support.patience import in_real_time
from tests.support.read_back import transcribe
from tests.support.screen import Screen
from tests.support.servers import Script, peer
from tests.support.virtual_audio import VirtualAudio
from tests.support.window_talk import wait_until
from tests.windows.installation import PLACE, Installation
from tests.windows.running_window import running_window, server_settings
from tests.windows.wine import Wine

SHELL_FOLDERS = "HKEY_CURRENT_USER\\Software\\Microsoft\\Windows\\CurrentVersion\\Explorer\\"
VISUAL_C = (
    "concrt140 msvcp140 msvcp140_1 msvcp140_2 msvcp140_atomic_wait msvcp140_codecvt_ids vcamp140 vccorlib140 vcomp140 "
    "vcruntime140 vcruntime140_1 vcruntime140_threads"
).split()
"""What the redistributable installs. Windows itself contains only ucrtbase.dll."""


@in_real_time
def test_data_is_where_windows_keeps_the_profile(windows: Installation, screen: Screen, audio: VirtualAudio) -> None:
    """With the user's local data on drive E:, a session is kept and recorded there, and nothing on C:."""
    drive = PLACE / "drive e"
    shutil.rmtree(drive, ignore_errors=True)
    windows.wine.add_drive("e", drive)
    on_c = windows.wine.home / "AppData" / "Local" / "kame-desktop"
    shutil.rmtree(on_c, ignore_errors=True)
    _move_local_data(windows.wine, "E:\\Profile\\AppData\\Local")
    try:
        local_data = drive / "Profile" / "AppData" / "Local"
        with (
            peer(Script((" Yes.",))) as url,
            running_window(windows, local_data=local_data, **server_settings(url)) as window,
        ):
            window.ask(audio)
            wait_until(lambda: window.count(e.AssistantEnded) > 0, 60, "the answer ends")
            window.close(screen)
            assert isinstance(window.events[-1], e.SessionEnded) and window.log, window.log
            assert (window.folder / "history.sqlite3").is_file()
        assert not on_c.exists(), sorted(on_c.rglob("*"))
    finally:
        _move_local_data(windows.wine, f"C:\\users\\{windows.wine.user}\\AppData\\Local")
        (windows.wine.folder / "dosdevices" / "e:").unlink()
        shutil.rmtree(drive)


def _move_local_data(wine: Wine, folder: str) -> None:
    escaped = folder.replace("\\", "\\\\")
    places = ("Shell Folders", "User Shell Folders")
    entries = (f'[{SHELL_FOLDERS}{place}]\n"Local AppData"="{escaped}"\n' for place in places)
    wine.registry("Windows Registry Editor Version 5.00\n\n" + "\n".join(entries))


@pytest.fixture
def without_visual_c(windows: Installation, tmp_path: Path) -> Installation:
    """The machine without Microsoft's C++ runtime or Wine's own in system32."""
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
    """A sound file is answered into a sound file, in which is what the command says was said. The voice and the
    language model run in processes of their own, which lack the runtime too."""
    windows = without_visual_c
    alone = windows.wine.run(windows.python, "-P", "-c", "import soxr", cwd=windows.wine.home)
    assert alone.code != 0 and "DLL load failed" in alone.printed, "the machine has the runtime after all"
    done = windows.talk_on_files("answer.wav")
    assert done.code == 0, done.printed
    said = fold(" ".join(turn["text"] for turn in done.document["turns"] if turn["speaker"] == "assistant"))
    read_back = fold(transcribe(windows.wine.home / "answer.wav"))
    assert len(said) >= 3 and word_distance(said, read_back) <= max(2, 0.15 * len(said)), (said, read_back)
