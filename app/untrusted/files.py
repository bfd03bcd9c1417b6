"""Reads files from outside within bounds: regular files only, so that a pipe or a device never makes the app wait."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import IO, Any, BinaryIO

from app.untrusted.json_text import decoded, read_json
from app.untrusted.limits import Limits, OtherVersion, Refused, in_words


def open_regular(path: Path | str, *, links: bool = True) -> BinaryIO:
    """Opens a regular file for reading, with `links` also a link to one.

    Raises OSError, and Refused for a pipe or a device.
    """
    # Opening a pipe would wait for a writer; opening it without waiting does no harm to a regular file.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags if links else flags | getattr(os, "O_NOFOLLOW", 0))
    except PermissionError:
        if os.path.isdir(path):  # Windows opens no folder
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
    """Returns a file's contents. Raises OSError, and Refused where it is no file or too long."""
    with open_regular(path) as file:
        data = file.read(limits.bytes + 1)
    if len(data) > limits.bytes:
        raise Refused(f"it is longer than {in_words(limits.bytes)}")
    return data


def read_line(file: IO[bytes], limits: Limits) -> bytes:
    """Returns the next line of a file or a child process, empty at the end. Raises Refused where it is too long."""
    line = file.readline(limits.bytes + 1)
    if len(line) > limits.bytes:
        raise Refused(f"a line of it is longer than {in_words(limits.bytes)}")
    return line


def read_json_line(pipe: IO[bytes], limits: Limits) -> Any:
    """Returns the value of a child process's next line of JSON. Raises Refused, also at the end of its output."""
    return read_json(read_line(pipe, limits), limits)


def check_version(value: Any, known: int) -> None:
    """Raises OtherVersion where the object `value` has not the version `known`, and Refused where it has no such field.

    Files from before formats had versions count as version 0.
    """
    found = value.get("version", 0) if isinstance(value, dict) else None
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found < 1000:
        raise Refused("its version makes no sense")
    if found != known:
        raise OtherVersion(found, known)


def read_text(path: Path | str, limits: Limits) -> str:
    """Returns a file's text, in UTF-8. Raises OSError and Refused."""
    return decoded(read_bytes(path, limits), limits)


def read_json_lines(path: Path | str, whole: Limits, line: Limits) -> list[Any]:
    """Returns the values of a file with JSON in each line; their texts are harmless. Raises OSError and Refused."""
    return [read_json(one, line) for one in read_text(path, whole).split("\n") if one.strip()]


def read_json_file(path: Path | str, limits: Limits, *, any_number: bool = False) -> Any:
    """Returns the value of a file of JSON, as `read_json` does. Raises OSError and Refused."""
    return read_json(read_bytes(path, limits), limits, any_number=any_number)


def read_versioned(path: Path | str, limits: Limits, version: int, *, any_number: bool = False) -> dict[str, Any]:
    """Returns the object in a file of JSON, without its field `version`, which must be this one.

    Raises OSError and Refused, and for another version OtherVersion.
    """
    value = read_json_file(path, limits, any_number=any_number)
    check_version(value, version)
    return {name: field for name, field in value.items() if name != "version"}
