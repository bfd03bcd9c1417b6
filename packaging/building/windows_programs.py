"""Compiles the native programs of the Windows installation and builds their icon."""

from __future__ import annotations

import struct
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from building.source import BuildError, Source

FOLDER = "packaging/windows/"
COMPILER, RESOURCES = "x86_64-w64-mingw32-gcc", "x86_64-w64-mingw32-windres"
OPTIONS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-municode", "-s", "-Wl,--no-insert-timestamp")
ICON_SIZES = (16, 24, 32, 48, 64, 128, 256)
WINDOWED = ("KAME Desktop.exe", "KAME Desktop", ("launcher.c", "window.c", "reports.c", "program.c"), True)
CONSOLE = ("kame-desktop.exe", "KAME Desktop in a terminal", ("console.c", "program.c"), False)


def icon(source: Source) -> bytes:
    """Returns the icon as an .ico file: a directory, followed by PNG images in all sizes."""
    pictures = [source.file(f"resources/icons/kame-{size}.png") for size in ICON_SIZES]
    index, at = struct.pack("<HHH", 0, 1, len(pictures)), 6 + 16 * len(pictures)
    for size, picture in zip(ICON_SIZES, pictures, strict=True):
        # The format encodes 256 as 0.
        index += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(picture), at)
        at += len(picture)
    return index + b"".join(pictures)


def numbers(version: str) -> str:
    """Returns a version as the four numbers that Windows requires: `0.1.0.0` for `0.1.0`."""
    parts = [part for part in version.split(".") if part.isdigit()]
    return ".".join([*parts, "0", "0", "0", "0"][:4])


def compiled(source: Source, name: str, description: str, sources: Sequence[str], windowed: bool) -> bytes:
    """Compiles a program and returns the executable. Raises BuildError if that fails.

    - `name`: its file name
    - `description`: its description in the version resource
    - `sources`: its C files in `packaging/windows`
    - `windowed`: whether it runs without a console
    """
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        for file in source.files:
            inside = file.path.removeprefix(FOLDER)
            if inside != file.path and "/" not in inside:
                (folder / inside).write_bytes(file.data)
        (folder / "kame.ico").write_bytes(icon(source))
        values = {
            "NUMBERS": numbers(source.version).replace(".", ","),
            "VERSION": f'"{source.version}"',
            "PUBLISHER": '"KAME Desktop contributors"',
            "DESCRIPTION": f'"{description}"',
            "FILENAME": f'"{name}"',
        }
        head = "".join(f"#define {key} {value}\n" for key, value in values.items())
        described = folder / "described.rc"
        described.write_text(head + (folder / "programs.rc").read_text("utf-8"), "utf-8")
        _run([RESOURCES, "described.rc", "-O", "coff", "-o", "described.o"], folder)
        kind = ("-mwindows",) if windowed else ()
        libraries = ("-lcomctl32", "-lgdi32") if windowed else ()
        _run([COMPILER, *OPTIONS, *kind, "-o", "program.exe", *sources, "described.o", *libraries], folder)
        return (folder / "program.exe").read_bytes()


def _run(command: Sequence[str], folder: Path) -> None:
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise BuildError(
            f"{command[0]} was not found. The programs for Windows are compiled with it; on Debian type: "
            "sudo apt-get install gcc-mingw-w64-x86-64-posix"
        ) from error
    if done.returncode != 0:
        raise BuildError(f"A program for Windows could not be compiled:\n{done.stdout}{done.stderr}")
