"""Builds the system-wide Debian package, for Debian 12, Ubuntu 22.04 and later."""

from __future__ import annotations

import gzip
import hashlib
import lzma
from collections.abc import Sequence

from building import archives, linux_desktop
from building.bom import bill_of_materials
from building.payload import payload
from building.source import File, Source
from installation.system_parts import MODEL_PARTS, SOUND_PARTS, WINDOW_PARTS, package_names

KIND = "deb"
CODE = "usr/lib/kame-desktop"
DOC = "usr/share/doc/kame-desktop"
COMMAND = "/usr/bin/kame-desktop"
MANUAL = "usr/share/man/man1/kame-desktop.1.gz"

RENAMED = {"libglib2.0-0": "libglib2.0-0t64 | libglib2.0-0"}
"""Dependencies on libraries whose package was renamed in Debian 13 and Ubuntu 24.04, keyed by the old name."""

RECOMMENDED = ("python3-tk", "libasound2-plugins", "libpulse0", "gnome-keyring | kwalletmanager")
"""Packages for the set-up's progress window, for audio through PulseAudio or PipeWire, and for storing API keys."""

AUTHORS = "The authors of KAME Desktop <no-address@kame-desktop.invalid>"
"""Debian requires an address, but the project has none yet; the .invalid domain is reserved by RFC 2606."""

REMOVE_COMPILED = f"""\
#!/bin/sh
# Remove what Python has compiled into the program's folder, which the package manager does not list.
set -e
find /{CODE} -type d -name __pycache__ -prune -exec rm -rf {{}} +
"""

CONTROL = """\
Package: kame-desktop
Version: {version}
Architecture: amd64
Maintainer: {authors}
Installed-Size: {kibibytes}
Depends: {depends}
Recommends: {recommends}
Section: sound
Priority: optional
Description: talk with a computer that speaks while it thinks
 A voice assistant in two halves: one hears and speaks at once, the other, any
 language model, thinks meanwhile, and its words reach the voice while it
 already talks.
 .
 Its own speech recogniser, voice and small language model run on the processor, without
 an account and without a network. They are fetched when a user starts the app
 for the first time (0.5 GB) and are kept in that user's home.
"""


def build_deb(source: Source, tools: Sequence[File]) -> tuple[str, bytes]:
    """Returns the file name and content of the package. `tools`: uv and the files that belong to it."""
    files = sorted([*_program(source, tools), *_desktop(source), *_documents(source)])
    members = [
        ("debian-binary", b"2.0\n"),
        ("control.tar.xz", _xz(archives.tar(_control(source, files), source.epoch, top="./"))),
        ("data.tar.xz", _xz(archives.tar(files, source.epoch, top="./"))),
    ]
    return f"kame-desktop_{source.version}_amd64.deb", archives.ar(members, source.epoch)


def _program(source: Source, tools: Sequence[File]) -> list[File]:
    bom = File("resources/bom.json", bill_of_materials(source, KIND))
    return [file._replace(path=f"{CODE}/{file.path}") for file in payload(source, KIND, [*tools, bom])]


def _desktop(source: Source) -> list[File]:
    name = linux_desktop.APP_ID
    return [
        File(COMMAND[1:], linux_desktop.filled(source, "kame-desktop.sh", CODE=f"/{CODE}"), executable=True),
        File(f"usr/share/applications/{name}.desktop", linux_desktop.filled(source, f"{name}.desktop", EXEC=COMMAND)),
        File(f"usr/share/metainfo/{name}.metainfo.xml", linux_desktop.filled(source, f"{name}.metainfo.xml")),
        *linux_desktop.icons(source, "usr/share/icons/hicolor"),
    ]


def _documents(source: Source) -> list[File]:
    changes = (
        f"kame-desktop ({source.version}) unstable; urgency=medium\n\n  * Built from commit {source.commit}.\n\n"
        f" -- {AUTHORS}  {linux_desktop.debian_date(source)}\n"
    )
    return [
        File(f"{DOC}/copyright", linux_desktop.filled(source, "copyright")),
        File(MANUAL, gzip.compress(linux_desktop.filled(source, "kame-desktop.1"), mtime=0)),
        File(f"{DOC}/changelog.gz", gzip.compress(changes.encode(), mtime=0)),
    ]


def _control(source: Source, files: Sequence[File]) -> list[File]:
    libraries = package_names((*WINDOW_PARTS, *SOUND_PARTS, *MODEL_PARTS), "apt-get")
    depends = [RENAMED.get(name, name) for name in libraries]
    control = CONTROL.format(
        version=source.version,
        authors=AUTHORS,
        kibibytes=sum(-(-len(file.data) // 1024) for file in files),
        depends=", ".join(["libc6 (>= 2.34)", "python3 (>= 3.8)", *depends]),
        recommends=", ".join(RECOMMENDED),
    )
    sums = "".join(f"{hashlib.md5(file.data).hexdigest()}  {file.path}\n" for file in files)
    return [
        File("control", control.encode("utf-8")),
        File("md5sums", sums.encode("utf-8")),
        File("prerm", REMOVE_COMPILED.encode("utf-8"), executable=True),
    ]


def _xz(data: bytes) -> bytes:
    return lzma.compress(data, preset=6)
