"""The options that choose a back-end, and standard input."""

from __future__ import annotations

import argparse
import contextlib
import sys

from app.session.control import BackendChoice


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Adds `--backend`, `--model` and `--base-url`."""
    parser.add_argument(
        "--backend", default="", metavar="NAME", help="the back-end (default: embedded; with --base-url: compatible)"
    )
    parser.add_argument("--model", default="", help="its model (default: the back-end's own choice)")
    parser.add_argument("--base-url", default="", metavar="URL", help="the address of its server")


def choice_of(args: argparse.Namespace) -> BackendChoice:
    """The choice that these options make: a server's address alone will do."""
    return BackendChoice(args.backend or ("compatible" if args.base_url else "embedded"), args.model, args.base_url)


def read_standard_input() -> str:
    """Reads all of standard input, as UTF-8 or else in the console's code page."""
    data = sys.stdin.buffer.read()
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig")
    import locale

    return data.decode(locale.getpreferredencoding(False), errors="replace")
