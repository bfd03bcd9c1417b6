"""Builds the self-extracting per-user installer: a shell script followed by an archive."""

from __future__ import annotations

import gzip
import hashlib
import io
from collections.abc import Sequence

from building import archives, linux_desktop
from building.bom import bill_of_materials
from building.payload import list_of_files, payload
from building.source import File, Source

KIND = "run"


def build_run(source: Source, tools: Sequence[File]) -> tuple[str, bytes]:
    """Returns the file name and content of the installer. `tools`: uv and the files that belong to it."""
    bom = File("resources/bom.json", bill_of_materials(source, KIND))
    files = payload(source, KIND, [*tools, bom, *_desktop(source)])
    packed = _gzip(archives.tar([*files, list_of_files(files)], source.epoch))
    # The script contains the offset of the archive, in a fixed number of digits.
    script = linux_desktop.filled(source, "install.sh", SHA256=hashlib.sha256(packed).hexdigest())
    length = len(script.replace(b"@OFFSET@", b"00000000"))
    script = script.replace(b"@OFFSET@", b"%08d" % (length + 1))
    return f"kame-desktop-{source.version}-linux-x86_64.run", script + packed


def _desktop(source: Source) -> list[File]:
    """Returns the desktop files, which the script copies to their destinations after filling in the paths."""
    names = ("kame-desktop.sh", "uninstall.sh", f"{linux_desktop.APP_ID}.desktop")
    kept = [File(f"desktop/{name}", linux_desktop.filled(source, name)) for name in names]
    return [*kept, *linux_desktop.icons(source, "desktop/icons")]


def _gzip(data: bytes) -> bytes:
    written = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=written, mtime=0) as file:
        file.write(data)
    return written.getvalue()
