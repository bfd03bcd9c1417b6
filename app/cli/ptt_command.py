"""The command `ptt`: controls the running window's talk button, mute and silence from a desktop keyboard shortcut.

Imports are kept to a minimum, since they delay the response to a key press.
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
    """Runs `ptt` with the arguments in `argv`; returns the exit code, or None if the full parser must handle them."""
    at = time.monotonic()  # taken first, since the window orders commands by their timestamps
    words = [word for word in argv if word != "--json"]
    if len(words) != 1 or words[0] not in WORDS:
        return None
    return perform(words[0], as_json=len(words) != len(argv), at=at)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
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
    """Sends `word` to the running window; returns 0, or 2 after printing an error message.

    `at`: when the user issued the command, as a `time.monotonic()` timestamp; by default now.
    """
    try:
        answer = single_instance.tell(word, at=at)
    except (single_instance.NotRunning, single_instance.NoAnswer) as error:
        answer = single_instance.Answer(False, str(error))
    except PermissionError:
        sentence = "KAME's window can't be reached: it may be another user's. Run this as the user who started KAME."
        answer = single_instance.Answer(False, sentence)
    with contextlib.suppress(OSError):  # the reader has closed the pipe
        _say(answer, as_json=as_json)
    return 0 if answer.ok else 2


def _say(answer: single_instance.Answer, *, as_json: bool) -> None:
    if as_json:
        import json

        print(json.dumps({"ok": True} if answer.ok else {"ok": False, "error": answer.sentence}))
    elif not answer.ok:
        from app.untrusted.text import harmless

        print(harmless(answer.sentence), file=sys.stderr)
