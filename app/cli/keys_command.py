"""The command `keys`: stores, tests, deletes and lists API keys.

Keys are read from the terminal with echo turned off, or from standard input, but never from arguments, which are
visible in process lists and shell histories.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from typing import TYPE_CHECKING, Any

from app.cli.arguments import read_standard_input
from app.cli.output import Terminal
from app.session.control import BackendChoice, UserError

if TYPE_CHECKING:
    from app.services.backend_service import BackendService

COMMANDS = ("keys",)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
    keys = commands.add_parser("keys", parents=[common], help="API keys of back-ends").add_subparsers(
        dest="keys", metavar="WHAT", required=True
    )
    for name, words in (
        ("set", "keep a key in the system's keyring; it is asked for, or read from standard input"),
        ("test", "request a word from the back-end with its key"),
        ("forget", "delete a key from the keyring"),
        ("list", "where the key of each back-end is; never the key itself"),
    ):
        one = keys.add_parser(name, parents=[common], help=words)
        one.add_argument(
            "provider",
            metavar="PROVIDER",
            nargs="?" if name == "list" else None,
            default="",
            help="openai, anthropic, google, or compatible with --base-url",
        )
        one.add_argument("--base-url", default="", metavar="URL", help="the server that the key is for")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs the command; returns the exit code. Raises UserError."""
    from app.services.backend_service import BackendService

    work = {"set": _set, "test": _test, "forget": _forget, "list": _list}[args.keys]
    return work(BackendChoice(args.provider, "", args.base_url), terminal, BackendService())


def _set(choice: BackendChoice, terminal: Terminal, service: BackendService) -> int:
    from app.services.provider_keys import required_names

    names = required_names(choice)
    kept = asyncio.run(service.keys.keep(choice, _read_key(choice.provider)))
    if kept.place == "memory":
        raise UserError(
            f"{kept.trouble} So the key was not kept: it would be gone with this command. Set the environment variable "
            f"{names[0]} instead, or give the key in the window, for as long as it is open."
        )
    terminal.say(kept.sentence)
    terminal.document(
        {"ok": True, "provider": choice.provider, "name": names[0], "place": kept.place, "words": kept.sentence}
    )
    return 0


def _test(choice: BackendChoice, terminal: Terminal, service: BackendService) -> int:
    terminal.progress("Asking …")
    sentence = asyncio.run(service.test(choice))
    terminal.say(sentence)
    terminal.document({"ok": True, "provider": choice.provider, "words": sentence})
    return 0


def _forget(choice: BackendChoice, terminal: Terminal, service: BackendService) -> int:
    done = asyncio.run(service.keys.forget(choice))
    if done.trouble:
        raise UserError(done.sentence)
    terminal.say(done.sentence)
    terminal.document({"ok": True, "provider": choice.provider, "place": done.place, "words": done.sentence})
    return 0


def _list(choice: BackendChoice, terminal: Terminal, service: BackendService) -> int:
    from app.services.provider_keys import required_names

    if choice.provider or choice.base_url:
        choices = [BackendChoice(choice.provider or "compatible", "", choice.base_url)]
    else:
        choices = [BackendChoice(view.key) for view in service.providers if view.key_name]
    rows = []
    for one in choices:
        names = required_names(one)
        place, trouble = asyncio.run(service.keys.find(one))
        rows.append({"provider": one.provider, "names": list(names), "place": place, "problem": trouble})
        words = {
            "none": f"no key: `keys set {one.provider}`, or {' or '.join(names)}",
            "environment": f"in the environment ({' or '.join(names)})",
            "keyring": "in the system's keyring",
            "memory": "in memory",
        }[place]
        terminal.say(f"{one.provider:12} {words}")
        if trouble:
            terminal.say(f"{'':12} {trouble}")
    terminal.document({"ok": True, "keys": rows})
    return 0


def _read_key(provider: str) -> str:
    """Reads a key from the terminal with echo turned off, or from standard input if that isn't a terminal."""
    if not sys.stdin.isatty():
        return read_standard_input()
    import getpass
    import warnings

    hidden = True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", getpass.GetPassWarning)
            return getpass.getpass(f"Key for {provider} (it is not shown): ")
    except EOFError:
        pass
    except getpass.GetPassWarning:
        hidden = False
    if not hidden:
        raise UserError("This terminal can't hide what is typed. Pipe the key in: keys set PROVIDER < FILE.")
    raise UserError("No key was typed, so nothing has changed.")
