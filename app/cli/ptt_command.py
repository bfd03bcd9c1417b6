"""The command `ptt`: talk button, mute and silence of the running window, from a key of the desktop.

It imports as little as possible, since a key press waits for it.
"""

from __future__ import annotations

import contextlib
import sys
import time

from app.platform import single_instance

TYPE_CHECKING = False  # `typing` takes too long to import
if TYPE_CHECKING:
    import argparse
    from typing import Any

    from app.cli.output import Terminal

COMMANDS = ("ptt",)
WORDS = single_instance.WORDS[:-1]  # all but "raise"


def main(argv: list[str]) -> int | None:
    """Runs `ptt` with the arguments that follow it; the exit code. None: the whole parser has to handle them."""
    at = time.monotonic()  # first: by this the window orders two commands
    words = [word for word in argv if word != "--json"]
    if len(words) != 1 or words[0] not in WORDS:
        return None
    return perform(words[0], as_json=len(words) != len(argv), at=at)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    ptt = commands.add_parser(
        "ptt",
        parents=[common],
        help="press or release the running window's talk button, mute it, or silence the answer",
        description="For keys of your desktop: bind one to “ptt press” and its release to “ptt release”, or one to "
        "“ptt toggle”. A key for “ptt mute-toggle” mutes, and the next time no longer; one for “ptt silence” stops the "
        "answer.",
    )
    ptt.add_argument("word", metavar="|".join(WORDS), choices=WORDS)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs the command; returns the exit code."""
    return perform(args.word, as_json=terminal.as_json)


def perform(word: str, *, as_json: bool, at: float | None = None) -> int:
    """Sends `word`, given at the time `at`, to the running window; 0, or 2 with a sentence when it can't be done."""
    try:
        answer = single_instance.tell(word, at=at)
    except (single_instance.NotRunning, single_instance.NoAnswer) as error:
        answer = single_instance.Answer(False, str(error))
    except PermissionError:
        sentence = "KAME's window can't be reached: it may be another user's. Run this as the user who started KAME."
        answer = single_instance.Answer(False, sentence)
    with contextlib.suppress(OSError):  # nobody reads what it says
        _say(answer, as_json=as_json)
    return 0 if answer.ok else 2


def _say(answer: single_instance.Answer, *, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps({"ok": True} if answer.ok else {"ok": False, "error": answer.sentence}))
    elif not answer.ok:
        from app.untrusted.text import harmless

        print(harmless(answer.sentence), file=sys.stderr)
