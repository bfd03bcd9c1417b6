"""Build the Windows installers: online, which fetches the app's packages at the first start, and offline."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from building.bom import bill_of_materials
from building.payload import list_of_files, payload
from building.signing import Sign
from building.source import BuildError, File, Source
from building.tools import uv_files
from building.wheels import Target, fetch
from building.windows_installer import made
from building.windows_programs import CONSOLE, WINDOWED, compiled
from installation.provision import LOCKS
from installation.sizes import sizes_of

KINDS = ("online", "offline")
ONLINE_LIMIT = 40 * 10**6
NOTICES = "packaging/windows/licences/"


def build_windows(
    root: Path, source: Source, python: tuple[str, list[File]], kinds: Sequence[str], sign: Sign, uv: Path | None = None
) -> list[tuple[str, bytes]]:
    """Return the installers' names and contents. `python`: the version and files of the Python to bring along."""
    version, runtime = python
    shared = [*runtime, *uv_files(source, "win_amd64", uv), *_notices(source)]
    shared += [File(program[0], sign(compiled(source, *program)), True) for program in (WINDOWED, CONSOLE)]
    sizes = sizes_of(source.file("packaging/locks/sizes.json"), f"windows-{version}").values()
    told = {
        "download": sum(size.download for size in sizes),
        "unpacked": sum(size.unpacked for size in sizes),
    }
    built = []
    for kind in kinds:
        shipped = kind == "offline"
        bill = bill_of_materials(source, f"windows-{kind}", packages_shipped=shipped, python=_component(version))
        bom = File("resources/bom.json", bill)
        wheels = _wheels(root, version) if kind == "offline" else []
        files = payload(source, f"windows-{kind}", [*shared, bom, *wheels])
        files.append(list_of_files(files))
        installer = sign(made(source, kind, files, told))
        if kind == "online" and len(installer) > ONLINE_LIMIT:
            raise BuildError(
                f"The online installer has {len(installer) / 10**6:.1f} MB, and may have {ONLINE_LIMIT / 10**6:.0f}. "
                "Something came into it that belongs into the first start's download."
            )
        built.append((f"kame-desktop-{source.version}-{kind}-setup.exe", installer))
    return built


def _wheels(root: Path, version: str) -> list[File]:
    locks = [root / "packaging" / "locks" / name for name in LOCKS]
    target = Target("windows", version)
    wheels = fetch(locks, target, root / "build" / "wheels" / str(target))
    return [File(f"wheels/{wheel.name}", wheel.read_bytes()) for wheel in wheels]


def _notices(source: Source) -> list[File]:
    """Return the licences that go with what the installer carries."""
    return [
        File("licences/" + file.path.removeprefix(NOTICES), file.data)
        for file in source.files
        if file.path.startswith(NOTICES)
    ]


def _component(version: str) -> dict:
    """Describe the Python that is brought along, for the bill of materials."""
    return {
        "type": "platform",
        "bom-ref": "python",
        "name": "CPython",
        "version": version,
        "scope": "required",
        "licenses": [{"expression": "PSF-2.0"}],
        "properties": [{"name": "kame-desktop:comes", "value": "part of the installation"}],
    }
