"""Builds the Windows installers: `offline`, and `online`, which downloads the app's packages on first start."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from building.bom import bill_of_materials
from building.payload import list_of_files, payload
from building.signing import Sign, signed
from building.source import BuildError, File, Source
from building.tools import uv_files
from building.wheels import Target, fetch, pin_of
from building.windows_installer import made
from building.windows_programs import CONSOLE, WINDOWED, compiled
from building.windows_python import Python
from installation.locks import sizes_of
from installation.provision import LOCKS

KINDS = ("online", "offline")
ONLINE_LIMIT = 40 * 10**6
NOTICES = "packaging/windows/licences/"


def build_windows(
    root: Path, source: Source, python: Python, kinds: Sequence[str], sign: Sign, uv: Path | None = None
) -> list[tuple[str, bytes]]:
    """Returns the file names and contents of the installers.

    - `root`: the checkout, whose `build` folder keeps downloaded wheels
    - `source`: the commit to build
    - `python`: the Python to include
    - `kinds`: a selection of `KINDS`
    - `sign`: the signing command, or empty
    - `uv`: the path of uv's wheel; if None, pip downloads it
    """
    target, tools = Target("windows", python.minor), uv_files(source, "win_amd64", uv)
    shared = [*python.files, *tools, *_notices(source)]
    shared += [File(program[0], signed(compiled(source, *program), sign), True) for program in (WINDOWED, CONSOLE)]
    sizes = sizes_of(source.file("packaging/locks/sizes.json"), str(target)).values()
    total = {"download": sum(size.download for size in sizes), "unpacked": sum(size.unpacked for size in sizes)}
    built = []
    for kind in kinds:
        wheels = _wheels(root, target) if kind == "offline" else []
        shipped = {pin_of(wheel.path).partition("==")[0]: sha256(wheel) for wheel in wheels}
        shipped["uv"] = sha256(next(file for file in tools if file.executable))
        bill = bill_of_materials(
            source, f"windows-{kind}", target=target, shipped=shipped, python=python_component(python)
        )
        bom = File("resources/bom.json", bill)
        files = payload(source, f"windows-{kind}", [*shared, bom, *wheels])
        files.append(list_of_files(files))
        installer = made(source, kind, files, total, sign)
        if kind == "online" and len(installer) > ONLINE_LIMIT:
            raise BuildError(
                f"The online installer has {len(installer) / 10**6:.1f} MB, and may have {ONLINE_LIMIT / 10**6:.0f}. "
                "Something came into it that belongs into the first start's download."
            )
        built.append((f"kame-desktop-{source.version}-{kind}-setup.exe", installer))
    return built


def sha256(file: File) -> str:
    """Returns the SHA-256 of a file's content, as hexadecimal digits."""
    return hashlib.sha256(file.data).hexdigest()


def _wheels(root: Path, target: Target) -> list[File]:
    locks = [root / "packaging" / "locks" / name for name in LOCKS]
    wheels = fetch(locks, target, root / "build" / "wheels" / str(target))
    return [File(f"wheels/{wheel.name}", wheel.read_bytes()) for wheel in wheels]


def _notices(source: Source) -> list[File]:
    """Returns the text of the licences of the third-party components in the installer."""
    return [
        File("licences/" + file.path.removeprefix(NOTICES), file.data)
        for file in source.files
        if file.path.startswith(NOTICES)
    ]


def python_component(python: Python) -> dict:
    """Returns the CycloneDX component for the included Python."""
    return {
        "type": "platform",
        "bom-ref": "python",
        "name": "CPython",
        "version": python.version,
        "scope": "required",
        "licenses": [{"expression": "PSF-2.0"}],
        "hashes": [{"alg": "SHA-256", "content": python.sha256}],
        "properties": [{"name": "kame-desktop:comes", "value": "part of the installation"}],
    }
