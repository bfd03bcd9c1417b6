"""Parsers for option values, such as numbers within limits and back-end specifications; also reads standard input.

The parsers raise ValueError, or argparse.ArgumentTypeError with an error message.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from collections.abc import Callable

from app.backend import PROVIDERS
from app.conversation.frame import as_frames
from app.models.fit import PRECISIONS
from app.session.control import BackendChoice
from app.settings.declarations import patience_of


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Adds `--backend`, `--model` and `--base-url`."""
    parser.add_argument(
        "--backend",
        default="",
        metavar="NAME",
        help=f"{', '.join(PROVIDERS)} (default: embedded; with --base-url: compatible)",
    )
    parser.add_argument("--model", default="", help="its model (default: the back-end's own choice)")
    parser.add_argument("--base-url", default="", metavar="URL", help="the address of its server")


def add_engine(parser: argparse.ArgumentParser) -> None:
    """Adds the options of a session that hears and speaks: its model, its language and its voice."""
    parser.add_argument("--weights", default="", metavar="FOLDER", help="the weights of kame or moshi")
    parser.add_argument("--precision", choices=("auto", *PRECISIONS), default="auto", help="how they are kept")
    parser.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto", help="where they run")
    parser.add_argument(
        "--answer-mode",
        choices=("after", "thinking"),
        default="thinking",
        help="answer after the whole turn, or while thinking (default)",
    )
    parser.add_argument(
        "--no-openings", action="store_true", help="keep silent until the answer is there, without a “Let me think.”"
    )
    parser.add_argument("--persona", default="", metavar="TEXT", help="who answers")
    parser.add_argument(
        "--language",
        default="en",
        metavar="XX",
        help="what is spoken: en, de, es …, or auto for what is heard (default: en); the words tell when a turn is "
        "finished in English only, in other languages the sound and the silence",
    )
    parser.add_argument(
        "--voice",
        default="",
        metavar="VOICE",
        help="a voice of “models list” (default: the app's choice for the language)",
    )


def choice_of(args: argparse.Namespace) -> BackendChoice:
    """Returns the back-end selected by these options; a server address alone is enough."""
    return BackendChoice(args.backend or ("compatible" if args.base_url else "embedded"), args.model, args.base_url)


def read_standard_input() -> str:
    """Reads standard input until EOF, decoding it as UTF-8 or, if it isn't valid UTF-8, in the locale's encoding."""
    data = sys.stdin.buffer.read()
    with contextlib.suppress(UnicodeDecodeError):
        return data.decode("utf-8-sig")
    import locale

    return data.decode(locale.getpreferredencoding(False), errors="replace")


def whole_number(text: str) -> int:
    """Parses a non-negative integer."""
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def port_number(text: str) -> int:
    """Parses a TCP port number; 0 means any free port."""
    value = int(text)
    if not 0 <= value <= 65_535:
        raise argparse.ArgumentTypeError("must be between 0 and 65535")
    return value


def between(least: float, most: float) -> Callable[[str], float]:
    """Returns a parser for a number from `least` to `most`."""

    def parse(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f"must be between {least:g} and {most:g}")
        return value

    return parse


temperature = between(0.0, 2.0)
dollars = between(0.0, 1_000_000.0)
speaking_rate = between(0.5, 2.0)
speaking_volume = between(0.0, 2.0)


def milliseconds(text: str) -> int:
    """Parses a duration in milliseconds, up to 20 s, and rounds it to a whole number of frames."""
    return as_frames(between(0.0, 20_000.0)(text))


def patience(text: str) -> float:
    """Parses a patience setting, 0 to 10, and converts it to the value that sessions use."""
    return patience_of(between(0.0, 10.0)(text))


def number(text: str) -> float:
    """Parses a finite number."""
    value = float(text)
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError("must be a number")
    return value


def backend(text: str) -> BackendChoice:
    """Parses a back-end written as BACKEND, BACKEND:MODEL or BACKEND:MODEL@URL."""
    rest, _, url = text.partition("@")
    provider, _, model = rest.partition(":")
    if provider not in PROVIDERS:
        raise argparse.ArgumentTypeError(f"there is no back-end “{provider}”; there are: {', '.join(PROVIDERS)}")
    return BackendChoice(provider, model, url)


def swap(text: str) -> tuple[float, BackendChoice]:
    """Parses a back-end swap written as SECONDS=BACKEND; returns its time and the new back-end."""
    seconds, _, rest = text.partition("=")
    try:
        at = float(seconds)
    except ValueError:
        at = math.nan
    if not 0 <= at < math.inf:
        raise argparse.ArgumentTypeError("must be written like 4.5=ollama:gemma3:4b")
    return at, backend(rest)
