"""The app's names, and the locations of the user's files."""

from __future__ import annotations

from pathlib import Path

import platformdirs

APP_NAME = "kame-desktop"
APP_ID = "org.kame_desktop.KameDesktop"
"""Identifies the app to a Linux desktop: for its menu entry (`<id>.desktop`), and when it requests hotkeys."""


def default_path() -> Path:
    """Returns the user's settings file."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "settings.json"


def prices_path() -> Path:
    """Returns the user's own price table, which may be missing."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "prices.json"


def servers_path() -> Path:
    """Returns the user's list of MCP servers, which may be missing."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "mcp.json"


def recordings_folder() -> Path:
    """Returns the folder of recorded conversations."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "recordings"


def echoes_path() -> Path:
    """Returns the file with the measured echoes of this machine's devices, which may be missing."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "echoes.npz"


def pauses_path() -> Path:
    """Returns the file with the lengths of the user's pauses, which may be missing."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "pauses.json"


def updates_path() -> Path:
    """Returns the file with the time of the last check for updates, which may be missing."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "updates.json"
