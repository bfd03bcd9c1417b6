"""Builds a Windows installer from its files, using NSIS."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from building import signing
from building.payload import write_tree
from building.source import BuildError, File, Source
from building.windows_programs import FOLDER, icon, numbers

OUT = "kame-desktop-setup.exe"


def script_of(files: Iterable[File]) -> str:
    """Returns the NSIS commands that extract all files next to the installed ones, sorted for reproducible builds."""
    lines, folder = [], None
    for file in sorted(files):
        parent, _, _ = file.path.replace("/", "\\").rpartition("\\")
        if parent != folder:
            folder = parent
            lines.append(f'SetOutPath "${{NEW}}\\{parent}"' if parent else 'SetOutPath "${NEW}"')
        # Wheels are already compressed.
        stored = file.path.startswith("wheels/")
        lines += ["SetCompress off"] if stored else []
        lines.append(f'File "${{SOURCE}}/files/{file.path}"')
        lines += ["SetCompress auto"] if stored else []
    return "\n".join(lines) + "\n"


def made(source: Source, kind: str, files: list[File], sizes: Mapping[str, int], sign: signing.Sign = ()) -> bytes:
    """Returns the installer. It is signed with `sign`, if given, as is the uninstaller that it contains.

    `sizes`: the number of bytes that the first start will download (`download`) and write to disk (`unpacked`), which
    the installer shows to the user.
    """
    own = sum(len(file.data) for file in files)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        write_tree(files, work / "files", source.epoch)
        # These get the commit's timestamp as well, since NSIS stores that of the picture.
        own_files = [File(name, source.file(FOLDER + name)) for name in ("setup.nsi", "welcome.bmp")]
        own_files += [File("files.nsh", script_of(files).encode()), File("kame.ico", icon(source))]
        own_files += [File("sign.sh", signing.script_of(sign))] if sign else []
        write_tree(own_files, work, source.epoch)
        values = {
            "VERSION": source.version,
            "NUMBERS": numbers(source.version),
            "KIND": kind,
            "SIZE_MB": str(round(own / 10**6)),
            "DOWNLOAD_MB": str(round(sizes["download"] / 10**6)),
            "UNPACKED_MB": f"{sizes['unpacked'] / 10**6:,.0f}",
            "SIZE_KB": str((own + sizes["unpacked"]) // 1024),
            "SOURCE": str(work),
            "OUT": str(work / OUT),
            **({"SIGN": str(work / "sign.sh")} if sign else {}),
        }
        command = ["makensis", "-V2", "-WX", *(f"-D{name}={value}" for name, value in values.items()), "setup.nsi"]
        env = {**os.environ, "SOURCE_DATE_EPOCH": str(source.epoch), "TZ": "UTC", "LC_ALL": "C.UTF-8"}
        try:
            done = subprocess.run(command, cwd=work, env=env, capture_output=True, text=True, check=False)
        except FileNotFoundError as error:
            raise BuildError(
                "makensis was not found. Installers for Windows are made with NSIS; on Debian type: "
                "sudo apt-get install nsis"
            ) from error
        if done.returncode != 0:
            raise BuildError(f"NSIS could not make the installer:\n{done.stdout}{done.stderr}")
        return signing.signed((work / OUT).read_bytes(), sign)
