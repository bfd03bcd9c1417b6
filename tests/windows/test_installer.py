"""The online installer on an empty Windows machine: installed, started from the menu, repaired, upgraded, removed."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.conversation import events as e
from tests.support import sounds
from tests.support.patience import in_real_time
from tests.support.screen import Screen
from tests.support.servers import Script, peer
from tests.support.virtual_audio import VirtualAudio
from tests.support.window_talk import ANSWER, check_talk, events_in, wait_until, wait_until_silent
from tests.windows import installer_checks as checks
from tests.windows.awake import awake
from tests.windows.conftest import TABLE, give_desktop
from tests.windows.installation import SYSTEM
from tests.windows.running_window import BLANK, CLOSE_SECONDS, START_SECONDS, picture, server_settings, write_settings
from tests.windows.wine import Wine

BUILD_SECONDS = 240


@pytest.fixture(scope="module")
def machine(
    building: object, screen: Screen, audio: VirtualAudio, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Wine]:
    """A Windows machine on which nothing is installed, not even Python; made while the installer is built."""
    wine = Wine(tmp_path_factory.mktemp("empty") / "prefix")
    give_desktop(wine, screen, audio)
    try:
        wine.boot(SYSTEM)
        yield wine
    finally:
        wine.end()


@pytest.fixture(scope="module")
def installer(building: tuple[subprocess.Popen[str], Path], machine: Wine) -> Path:
    """The online installer, signed."""
    build, folder = building
    assert build.wait(BUILD_SECONDS) == 0, (folder / "log").read_text()
    [built] = folder.glob("*-online-setup.exe")
    TABLE.append(f"{built.name}: {built.stat().st_size / 10**6:.1f} MB")
    return built


@pytest.fixture(autouse=True)
def keep_awake(machine: Wine) -> Iterator[None]:
    with awake(machine):
        yield


@pytest.fixture(scope="module")
def folder(machine: Wine, installer: Path) -> Path:
    """The installed program's folder, with its environment."""
    with awake(machine):
        folder = checks.install(machine, installer)
        begin = time.monotonic()
        checks.set_up(machine, folder)
    TABLE.append(f"installed app: environment set up by the command in {time.monotonic() - begin:.0f} s")
    return folder


def test_installer_and_programs_are_signed(installer: Path, folder: Path, certificate: tuple[Path, Path]) -> None:
    for program in (installer, *(folder / name for name in ("KAME Desktop.exe", "kame-desktop.exe", "uninstall.exe"))):
        done = subprocess.run(
            ["osslsigncode", "verify", "-CAfile", str(certificate[0]), "-in", str(program)],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 0 and "Signature verification: ok" in done.stdout, done.stdout + done.stderr


def test_it_is_installed_and_its_command_works(machine: Wine, folder: Path) -> None:
    checks.check_imports(machine, folder)
    checks.check_exit_code_and_letters(machine, folder)


@in_real_time
def test_it_starts_from_the_start_menu_and_answers_aloud(
    machine: Wine, folder: Path, screen: Screen, audio: VirtualAudio, tmp_path: Path
) -> None:
    """The Start menu opens the window; a spoken question is answered aloud, and the window's shortcut closes it."""
    words = tuple(f" {word}" for word in ANSWER.split())
    machine.end()  # the rest of an earlier try
    with awake(machine), peer(Script(words)) as url:
        recordings = write_settings(machine, **server_settings(url)) / "recordings"
        # Not with `run`, which waits for the end of the output: the app holds its streams until it ends.
        with machine.started("start", machine.windows(checks.shortcut_of(machine))):
            wait_until(lambda: bool(events_in(recordings)), START_SECONDS, "the conversation is ready")
        picture(screen, "installed")
        assert _programs_of(folder, machine)
        with audio.record_loudspeaker(tmp_path / "heard.wav") as heard:
            assert checks.command(machine, folder, "ptt", "press").code == 0
            audio.play_into_microphone(sounds.question("103_2")).wait(20)
            assert checks.command(machine, folder, "ptt", "release").code == 0
            wait_until(lambda: _count(recordings, e.AssistantEnded) > 0, 60, "the answer ends")
            wait_until_silent(heard)
        check_talk(events_in(recordings), heard.path)
        screen.click(*BLANK)
        screen.close_window()
        wait_until(
            lambda: _count(recordings, e.SessionEnded) > 0, CLOSE_SECONDS, "the conversation ends with its window"
        )
        wait_until(lambda: not _programs_of(folder, machine), CLOSE_SECONDS, "the app ends with all its processes")


def test_a_damaged_environment_is_repaired(machine: Wine, folder: Path) -> None:
    checks.check_repair(machine, folder)


def test_an_upgrade_keeps_what_is_the_users(machine: Wine, folder: Path, installer: Path) -> None:
    checks.check_cut_off_upgrade(machine, installer)
    with awake(machine):
        checks.check_damaged_program(machine, folder, installer)


def test_an_interrupted_set_up_is_repaired_by_the_next(machine: Wine, folder: Path) -> None:
    checks.check_without_network(machine, folder)
    checks.check_interrupted(machine, folder, after=3.0)


def test_uninstalling_leaves_only_what_is_the_users(machine: Wine, folder: Path, installer: Path) -> None:
    """With /PURGE, not even that is left. A script that fails to start once costs nothing."""
    with awake(machine):
        checks.hinder_path_once(folder)
        checks.uninstall(machine)
        checks.install(machine, installer)
        checks.uninstall(machine, "/PURGE")


def _count(recordings: Path, kind: type[e.Event]) -> int:
    return sum(isinstance(event, kind) for event in events_in(recordings))


def _programs_of(folder: Path, machine: Wine) -> list[str]:
    """The running processes of the installed app."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().decode("utf-8", "replace")
            here = str(machine.folder).encode() in (process / "environ").read_bytes()
            if here and f"{folder.name}\\environment\\" in words:
                found.append(words)
    return found
