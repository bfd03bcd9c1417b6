"""Reads the values of command-line options: numbers with their limits, back-ends in one word, standard input.

Each function that reads a value raises argparse.ArgumentTypeError with what is wrong.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys

from app.backend import PROVIDERS
from app.conversation.frame import as_frames
from app.session.control import ROUTER, BackendChoice
from app.settings.declarations import patience_of


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


def whole_number(text: str) -> int:
    """A count, 0 or more."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def port_number(text: str) -> int:
    """A TCP port; 0 for a free one."""
    value = int(text)
    if not 0 <= value <= 65_535:
        raise argparse.ArgumentTypeError("must be between 0 and 65535")
    return value


def milliseconds(text: str) -> int:
    """Milliseconds as frames: the nearest number of whole ones."""
    return as_frames(_between(text, 0.0, 20_000.0))


def patience(text: str) -> float:
    """Steps of the patience dial, 0 to 10, as sessions take it."""
    return patience_of(_between(text, 0.0, 10.0))


def number(text: str) -> float:
    """Any number, which “nan” and “inf” are not."""
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError("must be a number")
    return value


def temperature(text: str) -> float:
    """How freely a model chooses its words."""
    return _between(text, 0.0, 2.0)


def dollars(text: str) -> float:
    """What a conversation may cost; 0 for any amount."""
    return _between(text, 0.0, 1_000_000.0)


def speaking_rate(text: str) -> float:
    """How fast a voice speaks, 1 at its own pace."""
    return _between(text, 0.5, 2.0)


def speaking_volume(text: str) -> float:
    """How loud a voice is, as a factor."""
    return _between(text, 0.0, 2.0)


def _between(text: str, least: float, most: float) -> float:
    value = float(text)
    if not least <= value <= most:
        raise argparse.ArgumentTypeError(f"must be between {least:g} and {most:g}")
    return value


def backend(text: str) -> BackendChoice:
    """A back-end as it is written in one word: BACKEND, BACKEND:MODEL or BACKEND:MODEL@URL."""
    rest, _, url = text.partition("@")
    provider, _, model = rest.partition(":")
    if provider not in (*PROVIDERS, ROUTER):
        raise argparse.ArgumentTypeError(
            f"there is no back-end “{provider}”; there are: {', '.join(PROVIDERS)}, {ROUTER}"
        )
    return BackendChoice(provider, model, url)


def swap(text: str) -> tuple[float, BackendChoice]:
    """A swap as it is written: SECONDS=BACKEND."""
    seconds, _, rest = text.partition("=")
    try:
        at = float(seconds)
    except ValueError:
        at = math.nan
    if not 0 <= at < math.inf:
        raise argparse.ArgumentTypeError("must be written like 4.5=ollama:gemma3:4b")
    return at, backend(rest)


def route(text: str) -> tuple[str, BackendChoice]:
    """A row of the router's table as it is written: KIND=BACKEND."""
    from app.routing.classifier import KINDS

    kind, _, rest = text.partition("=")
    if kind not in KINDS:
        raise argparse.ArgumentTypeError(f"there is no kind “{kind}”; there are: {', '.join(KINDS)}")
    return kind, backend(rest)
