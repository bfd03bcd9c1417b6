"""Reads untrusted files within limits. Only regular files are opened, so that a pipe or device never blocks the app."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, Any, BinaryIO

from app.untrusted.json_text import decoded, read_json
from app.untrusted.limits import Limits, OtherVersion, Refused, in_words


def open_regular(path: Path | str, *, links: bool = True) -> BinaryIO:
    """Opens a regular file for reading. If `links`, symbolic links are followed.

    Raises OSError, or Refused for a pipe or a device.
    """
    # Opening a pipe would wait for a writer; O_NONBLOCK has no effect on a regular file.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags if links else flags | getattr(os, "O_NOFOLLOW", 0))
    except PermissionError:
        if os.path.isdir(path):  # Windows can't open a folder
            raise IsADirectoryError(21, "it is a folder", str(path)) from None
        raise
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(21, "it is a folder", str(path))
        if not stat.S_ISREG(mode):
            raise Refused("it is no file, but a pipe or a device")
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read_bytes(path: Path | str, limits: Limits) -> bytes:
    """Returns a file's contents. Raises OSError, or Refused if it is not a regular file or is too long."""
    with open_regular(path) as file:
        data = file.read(limits.bytes + 1)
    if len(data) > limits.bytes:
        raise Refused(f"it is longer than {in_words(limits.bytes)}")
    return data


def read_line(file: IO[bytes], limits: Limits) -> bytes:
    """Returns the next line of a file or pipe, or b"" at its end. Raises Refused if the line is too long."""
    line = file.readline(limits.bytes + 1)
    if len(line) > limits.bytes:
        raise Refused(f"a line of it is longer than {in_words(limits.bytes)}")
    return line


def read_json_line(pipe: IO[bytes], limits: Limits) -> Any:
    """Parses the next line of a child process's output as JSON. Raises Refused if it is invalid or missing."""
    return read_json(read_line(pipe, limits), limits)


def check_version(value: Any, known: int) -> None:
    """Raises OtherVersion for a version other than `known`, or Refused for a non-object or an invalid version.

    A missing version counts as 0, since the first file formats had none.
    """
    found = value.get("version", 0) if isinstance(value, dict) else None
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < 1000:
        raise Refused("its version makes no sense")
    if found != known:
        raise OtherVersion(found, known)


def read_text(path: Path | str, limits: Limits) -> str:
    """Returns the text of a UTF-8 file. Raises OSError or Refused."""
    return decoded(read_bytes(path, limits), limits)


def read_json_lines(path: Path | str, whole: Limits, line: Limits) -> list[Any]:
    """Returns the values of a JSON Lines file, with their strings sanitized. Raises OSError or Refused."""
    return [read_json(one, line) for one in read_text(path, whole).split("\n") if one.strip()]


def read_json_file(path: Path | str, limits: Limits, *, any_number: bool = False) -> Any:
    """Parses a JSON file as `read_json` does. Raises OSError or Refused."""
    return read_json(read_bytes(path, limits), limits, any_number=any_number)


def read_versioned(path: Path | str, limits: Limits, version: int, *, any_number: bool = False) -> dict[str, Any]:
    """Returns the object in a JSON file without its `version` field, which must equal `version`.

    Raises OSError, Refused, or OtherVersion if the version differs.
    """
    value = read_json_file(path, limits, any_number=any_number)
    check_version(value, version)
    return {name: field for name, field in value.items() if name != "version"}
