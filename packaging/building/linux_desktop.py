"""The files that integrate the app into a Linux desktop: command, menu entry, icons and metadata."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import format_datetime

from building.source import File, Source

FOLDER = "packaging/desktop/"
APP_ID = "org.kame_desktop.KameDesktop"
"""The menu entry's name. Must equal `app.settings.paths.APP_ID`, so that desktops match the window to the entry."""

WM_CLASS = "kame-desktop"


def filled(source: Source, name: str, **values: str) -> bytes:
    """Returns a file from `packaging/desktop` with its @NAME@ placeholders replaced."""
    text = source.file(FOLDER + name).decode("utf-8")
    known = {"VERSION": source.version, "ID": APP_ID, "WM_CLASS": WM_CLASS, **values}
    known["DATE"] = datetime.fromtimestamp(source.epoch, UTC).strftime("%Y-%m-%d")
    for key, value in known.items():
        text = text.replace(f"@{key}@", value)
    return text.encode("utf-8")


def icons(source: Source, folder: str) -> list[File]:
    """Returns the icon in all sizes, in the directory layout of the hicolor theme below `folder`."""
    found = []
    for file in source.files:
        match = re.fullmatch(r"resources/icons/kame(?:-(\d+)\.png|\.svg)", file.path)
        if match:
            size, ending = (f"{match[1]}x{match[1]}", "png") if match[1] else ("scalable", "svg")
            found.append(File(f"{folder}/{size}/apps/kame-desktop.{ending}", file.data))
    return found


def debian_date(source: Source) -> str:
    """Returns the commit time in the format of a Debian changelog (RFC 5322)."""
    return format_datetime(datetime.fromtimestamp(source.epoch, UTC))
