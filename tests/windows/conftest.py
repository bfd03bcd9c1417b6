"""Fixtures of the Windows tests: the installation with a screen and sound, made once; and the table of results."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.screen import Screen, virtual_screen
from tests.support.virtual_audio import VirtualAudio, virtual_audio
from tests.windows.awake import awake
from tests.windows.installation import Installation
from tests.windows.wine import Wine

SOUND_VARIABLES = ("XDG_RUNTIME_DIR", "PULSE_RUNTIME_PATH", "PULSE_SERVER", "PULSE_STATE_PATH", "ALSA_CONFIG_PATH")
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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what ran on Windows, and what was left out and why."""
    for line in TABLE:
        terminalreporter.write_line(line)
