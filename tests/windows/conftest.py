"""Fixtures of the Windows tests: the installation with a screen and sound, made once; and the table of results."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.screen import Screen, virtual_screen
from tests.support.virtual_audio import VirtualAudio, virtual_audio
from tests.windows.awake import awake
from tests.windows.certificate import make_certificate
from tests.windows.installation import ROOT, Installation
from tests.windows.wine import Wine

SOUND_VARIABLES = ("XDG_RUNTIME_DIR", "PULSE_RUNTIME_PATH", "PULSE_SERVER", "PULSE_STATE_PATH", "ALSA_CONFIG_PATH")
MEANWHILE, INSTALLER = ("test_commands.py", "test_setup.py", "test_places.py"), "test_installer.py"
"""The tests that can run while the installer is built, and those that need it."""
TABLE: list[str] = []
"""Lines to print at the end of the run."""


@pytest.fixture(scope="session")
def screen() -> Iterator[Screen]:
    """The virtual screen for Wine."""
    with virtual_screen("1400x1000") as one:
        yield one


@pytest.fixture(scope="session")
def audio() -> Iterator[VirtualAudio]:
    """The sound server whose devices Windows uses through WASAPI, at the usual rate of hardware."""
    with virtual_audio(48_000) as one:
        yield one


def give_desktop(wine: Wine, screen: Screen, audio: VirtualAudio) -> None:
    """Makes all programs of a Windows machine use this screen and this sound server."""
    wine.env.update({name: audio.env[name] for name in SOUND_VARIABLES}, DISPLAY=screen.display)


@pytest.fixture(scope="session")
def windows(screen: Screen, audio: VirtualAudio) -> Iterator[Installation]:
    """The project, set up on its own Windows machine."""
    installation = Installation()
    give_desktop(installation.wine, screen, audio)
    try:
        installation.prepare()
        with awake(installation.wine):
            yield installation
    finally:
        installation.wine.end()


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A certificate for signing programs, and its key."""
    return make_certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture(scope="session")
def building(
    windows: Installation, certificate: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """The build of the checked-out commit in its own clone, and its output folder."""
    folder = tmp_path_factory.mktemp("installer")
    subprocess.run(["git", "clone", "-q", str(ROOT), str(folder / "source")], check=True, timeout=60)
    with open(folder / "log", "w") as log:
        build = subprocess.Popen(
            [
                *(sys.executable, "packaging/build.py", "windows", "--python", str(windows.base), "--kind", "online"),
                *("--sign-with", *map(str, certificate), "--out", str(folder)),
            ],
            cwd=folder / "source",
            stdout=log,
            stderr=subprocess.STDOUT,
            text=True,
        )
    try:
        yield build, folder
    finally:
        build.kill()
        build.wait(10)


@pytest.fixture(scope="session", autouse=True)
def _built_meanwhile(request: pytest.FixtureRequest, windows: Installation) -> None:
    """Starts building the installer as soon as there is a Windows Python, if a test is going to need it."""
    if any(item.path == Path(__file__).with_name(INSTALLER) for item in request.session.items):
        request.getfixturevalue("building")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests of the installer behind those that can run while it is built."""
    order = [Path(__file__).with_name(name) for name in (*MEANWHILE, INSTALLER)]
    items.sort(key=lambda item: order.index(item.path) if item.path in order else len(order))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what ran on Windows, and what was left out and why."""
    for line in TABLE:
        terminalreporter.write_line(line)
