"""Fills in the files that integrate the app into a Linux desktop: command, menu entry, icons, description."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime

from building.source import File, Source

FOLDER = "packaging/desktop/"
APP_ID = "org.kame_desktop.KameDesktop"
"""The menu entry's name; the same as `app.settings.paths.APP_ID`, by which desktops recognise the window."""

WM_CLASS = "kame-desktop"


def filled(source: Source, name: str, **values: str) -> bytes:
    """Returns a file of `packaging/desktop` with its @NAMES@ replaced."""
    text = source.file(FOLDER + name).decode("utf-8")
    known = {"VERSION": source.version, "ID": APP_ID, "WM_CLASS": WM_CLASS, **values}
    known["DATE"] = datetime.fromtimestamp(source.epoch, UTC).strftime("%Y-%m-%d")
    for key, value in known.items():
        text = text.replace(f"@{key}@", value)
    return text.encode("utf-8")


def icons(source: Source, folder: str) -> list[File]:
    """Returns the icon in all sizes, as the theme hicolor lays them out below `folder`."""
    found = []
    for file in source.files:
        match = re.fullmatch(r"resources/icons/kame(?:-(\d+)\.png|\.svg)", file.path)
        if match:
            size, ending = (f"{match[1]}x{match[1]}", "png") if match[1] else ("scalable", "svg")
            found.append(File(f"{folder}/{size}/apps/kame-desktop.{ending}", file.data))
    return found


def debian_date(source: Source) -> str:
    """Returns the commit's time as a Debian changelog writes it."""
    return format_datetime(datetime.fromtimestamp(source.epoch, UTC))
