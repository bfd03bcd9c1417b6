"""The command `ptt`: presses and releases the talk button of the window that runs, from a key of the desktop.

Imports as little as can be, since a press waits for it; knows nothing of talks.
"""

from __future__ import annotations

import sys
import time

from app.platform import single_instance

COMMANDS = ("ptt",)
WORDS = ("press", "release", "toggle", "mute", "unmute", "mute-toggle")


def main(argv: list[str]) -> int | None:
    """Runs `ptt` with the arguments that follow it; the exit code. None: not for here, but for the whole parser."""
    at = time.monotonic()  # first of all: by this the window knows which of two commands came first
    words = [word for word in argv if word != "--json"]
    if len(words) != 1 or words[0] not in WORDS:
        return None
    return perform(words[0], as_json=len(words) != len(argv), at=at)


def add_commands(commands, common) -> None:  # type: ignore[no-untyped-def]  # argparse is not imported for a type
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    ptt = commands.add_parser(
        "ptt",
        parents=[common],
        help="press or release the running window's talk button, or mute it",
        description="For keys of your desktop: bind one to “ptt press” and its release to “ptt release”, or one to "
        "“ptt toggle”. A key for “ptt mute-toggle” mutes, and the next time no longer.",
    )
    ptt.add_argument("word", metavar="|".join(WORDS), choices=WORDS)


def perform(word: str, *, as_json: bool, at: float | None = None) -> int:
    """Tells the running window `word`, which was given `at`; 0, or 2 with a sentence when it can't be done."""
    try:
        answer = single_instance.tell(word, at=at)
    except (single_instance.NotRunning, single_instance.NoAnswer) as error:
        answer = single_instance.Answer(False, str(error))
    except PermissionError:
        sentence = "KAME's window can't be reached: it may be another user's. Run this as the user who started KAME."
        answer = single_instance.Answer(False, sentence)
    if as_json:
        import json

        print(json.dumps({"ok": True} if answer.ok else {"ok": False, "error": answer.sentence}))
    elif not answer.ok:
        print(answer.sentence, file=sys.stderr)
    return 0 if answer.ok else 2
