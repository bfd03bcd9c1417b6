"""Builds the installable packages from the checked-out commit.

    python packaging/build.py TARGET [--out FOLDER] [--uv WHEEL]

`--help` lists the targets. Prints the path, size and SHA-256 of each file that is built. Builds of the same commit are
byte-identical on machines with the same versions of Python, zlib, liblzma and setuptools.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
if str(HERE) not in sys.path:
    sys.path.append(str(HERE))

from building.source import BuildError, read_source  # noqa: E402
from installation.problems import Problem  # noqa: E402

ROOT = HERE.parent
LINUX_WHEEL = "manylinux_2_17_x86_64"


def deb(args: argparse.Namespace) -> list[tuple[str, bytes]]:
    """the Debian package, for Debian 12, Ubuntu 22.04 and later"""
    from building.deb import build_deb
    from building.tools import uv_files

    source = read_source(ROOT)
    return [build_deb(source, uv_files(source, LINUX_WHEEL, args.uv))]


def run(args: argparse.Namespace) -> list[tuple[str, bytes]]:
    """the self-extracting installer for one user of any other Linux"""
    from building.selfextract import build_run
    from building.tools import uv_files

    source = read_source(ROOT)
    return [build_run(source, uv_files(source, LINUX_WHEEL, args.uv))]


def wheel(args: argparse.Namespace) -> list[tuple[str, bytes]]:
    """the wheel for uv tool install and pipx"""
    from building.wheel import build_wheel

    return [build_wheel(read_source(ROOT))]


def bom(args: argparse.Namespace) -> list[tuple[str, bytes]]:
    """the bill of materials alone, as CycloneDX JSON"""
    from building.bom import bill_of_materials

    source = read_source(ROOT)
    return [(f"kame-desktop-{source.version}.cdx.json", bill_of_materials(source, "source", uv_shipped=False))]


def windows(args: argparse.Namespace) -> list[tuple[str, bytes]]:
    """the installers for one user of 64-bit Windows; needs --python"""
    from building.signing import with_certificate, with_command
    from building.windows import KINDS, build_windows
    from building.windows_python import python_files

    if args.python is None:
        raise BuildError("Name the Python to include with --python; see packaging/README.md.")
    if args.timestamp and not args.sign_with:
        raise BuildError("--timestamp belongs to --sign-with. A command of --sign asks for the time itself.")
    source, sign = read_source(ROOT), ()
    if args.sign_with:
        sign = with_certificate(*args.sign_with, source.epoch, args.timestamp)
    elif args.sign:
        sign = with_command(args.sign)
    kinds = KINDS if args.kind == "both" else (args.kind,)
    python = python_files(args.python, args.python_sha256)
    return build_windows(ROOT, source, python, kinds, sign, args.uv)


TARGETS = {build.__name__: build for build in (deb, run, windows, wheel, bom)}


def main(words: list[str]) -> int:
    """Builds one target and returns the exit code: 0, or 2 for an error that the user can fix."""
    listed = "\n".join(f"  {name:8} {build.__doc__}" for name, build in TARGETS.items())
    parser = argparse.ArgumentParser(
        description="Build what users install, from the commit that is checked out.",
        epilog=f"targets:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", choices=TARGETS, metavar="TARGET", help="what to build")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where to put it (default: dist)")
    parser.add_argument("--uv", type=Path, metavar="WHEEL", help="the wheel of uv to put in (default: pip fetches it)")
    group = parser.add_argument_group("windows")
    group.add_argument("--python", type=Path, metavar="PATH", help="the Python to include: an archive or a folder")
    group.add_argument("--python-sha256", metavar="DIGEST", help="its publisher's digest, for one that is not pinned")
    group.add_argument("--kind", choices=("online", "offline", "both"), default="both")
    group.add_argument("--sign-with", nargs=2, type=Path, metavar=("CERTIFICATE", "KEY"), help="files in PEM")
    group.add_argument("--timestamp", metavar="URL", help="who confirms the time of --sign-with (RFC 3161)")
    group.add_argument("--sign", metavar="COMMAND", help="signs the program that is its last argument in place")
    args = parser.parse_args(words)
    try:
        built = TARGETS[args.target](args)
        args.out.mkdir(parents=True, exist_ok=True)
        for name, data in built:
            (args.out / name).write_bytes(data)
    except (BuildError, Problem) as error:
        print(error, file=sys.stderr)
        return 2
    for name, data in built:
        print(f"{args.out / name}  {len(data) / 10**6:.1f} MB  sha256 {hashlib.sha256(data).hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
