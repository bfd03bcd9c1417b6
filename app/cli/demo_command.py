"""The command `demo`: shows the demo in a window, or runs it without a window and prints the figures."""

from __future__ import annotations

import argparse
import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.cli.output import Terminal
from app.demo.base import SIDES, DemoOrder, DemoResult, chosen_backends
from app.demo.record import Pair, record_pair
from app.session.control import UserError

if TYPE_CHECKING:
    from app.demo.service import DemoService

COMMANDS = ("demo",)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
    demo = commands.add_parser(
        "demo",
        parents=[common],
        help="for a booth: a cascade and the tandem side by side, full screen",
        description="Puts the same spoken questions to a cascade and to the tandem, and shows side by side how long "
        "each takes until it is heard; then visitors ask. Needs no network. With --headless, it only measures.",
    )
    demo.add_argument("--headless", action="store_true", help="without a window; prints the figures")
    demo.add_argument(
        "--backends",
        default="",
        metavar="NAMES",
        help="the models, by parts of their names, with commas: the first one answers, and the keys 1 to 9 change it; "
        "one that costs money takes part only if it is named here (default: all that cost nothing)",
    )
    demo.add_argument("--windowed", action="store_true", help="in a window, not full screen")
    demo.add_argument("--silent", action="store_true", help="play nothing, even if there is a loudspeaker")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Shows the demo, or runs it without a window; returns the exit code. Raises UserError."""
    from app import main as compose

    names = tuple(name.strip() for name in args.backends.split(",") if name.strip())
    if not args.headless:
        return compose.open_window(order=DemoOrder(names, not args.silent, not args.windowed))
    return asyncio.run(_measure(compose.make_demo_service(False), names, terminal))


async def _measure(service: DemoService, names: tuple[str, ...], terminal: Terminal) -> int:
    """Asks both sides all questions, prints the figures, and returns the exit code. Raises UserError."""
    offer = await service.offer()
    backends = chosen_backends(offer.backends, names)
    if not backends:
        raise UserError("There is no model, so nobody can answer. Get one with “models get”.")
    pairs: list[Pair] = []
    for number, question in enumerate(service.questions):
        terminal.note(f"{number + 1} of {len(service.questions)}: {question.text}")
        pairs.append(await record_pair(service, replace(offer, backends=backends), 0, question, SIDES[number % 2]))
        for side, take in pairs[-1].takes.items():
            heard = "no answer" if take.heard is None else f"{take.heard:.2f} s"
            terminal.say(f"{side}: {heard} ({take.said or take.trouble})")
    found = DemoResult(tuple(pair.figure() for pair in pairs), backends[0].label).document()
    terminal.document(found)
    return 0 if found["ok"] else 2
