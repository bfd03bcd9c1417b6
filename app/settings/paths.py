"""The app's names, and the paths of the user's files and folders, which may not exist yet."""

from __future__ import annotations

from pathlib import Path

import platformdirs

from app.platform.files import APP_FOLDER

APP_NAME = APP_FOLDER
APP_ID = "org.kame_desktop.KameDesktop"
"""The app's ID on a Linux desktop, used for its menu entry (`<id>.desktop`) and when it requests hotkeys."""


def default_path() -> Path:
    """Returns the path of the user's settings file."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "settings.json"


def prices_path() -> Path:
    """Returns the path of the user's own price table."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "prices.json"


def servers_path() -> Path:
    """Returns the path of the user's list of MCP servers."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "mcp.json"


def recordings_folder() -> Path:
    """Returns the path of the folder with recorded conversations."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "recordings"


def echoes_path() -> Path:
    """Returns the path of the file that stores the measured echo paths of this machine's devices."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "echoes.npz"


def pauses_path() -> Path:
    """Returns the path of the file that stores statistics of the user's pauses."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "pauses.json"


def model_records_path() -> Path:
    """Returns the path of the file that stores what was learned of models and their servers."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "model_records.json"


def updates_path() -> Path:
    """Returns the path of the file that stores the time of the last update check."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "updates.json"


def kernels_path() -> Path:
    """Returns the path of the file that stores which of the app's kernels this machine's graphics card has proven."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "kernels.json"
