"""Names the app to the system, and locates the user's files."""

from __future__ import annotations

from pathlib import Path

import platformdirs

APP_NAME = "kame-desktop"
APP_ID = "org.kame_desktop.KameDesktop"
"""The app's name for a Linux desktop: of its menu entry (`<id>.desktop`), and when it requests hotkeys."""


def default_path() -> Path:
    """The user's settings file."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "settings.json"


def prices_path() -> Path:
    """The user's own price table, which may be missing."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "prices.json"


def servers_path() -> Path:
    """The user's list of MCP servers, which may be missing."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "mcp.json"


def recordings_folder() -> Path:
    """The folder of recorded talks."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "recordings"


def echoes_path() -> Path:
    """What was learned of the echoes of this machine's devices; the file may be missing."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "echoes.npz"


def pauses_path() -> Path:
    """How long the user's pauses are; the file may be missing."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "pauses.json"


def updates_path() -> Path:
    """When new versions were last looked for; the file may be missing."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "updates.json"
