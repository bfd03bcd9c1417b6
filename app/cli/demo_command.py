"""The command `demo`: shows the demo in a window, or runs it without a window and prints the figures."""

from __future__ import annotations

import argparse
import asyncio
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.output import Terminal
from app.demo.base import SIDES, DemoOrder, DemoResult, chosen_backends
from app.demo.record import Recorder
from app.demo.service import document, lines
from app.platform.files import write_json
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
        "each takes until it is heard; then visitors ask. Needs no network. With --picture or --report nobody is "
        "waited for: it writes them and ends.",
    )
    demo.add_argument("--picture", default="", metavar="FILE", help="write the figures as an image (.png)")
    demo.add_argument("--report", default="", metavar="FILE", help="write the figures as JSON")
    demo.add_argument(
        "--backends",
        default="",
        metavar="NAMES",
        help="the models, by parts of their names, with commas: the first one answers, and the keys 1 to 9 change it; "
        "one that costs money takes part only if it is named here (default: all that cost nothing)",
    )
    demo.add_argument("--windowed", action="store_true", help="in a window, not full screen")
    demo.add_argument("--headless", action="store_true", help="without a window; prints the figures")
    demo.add_argument("--silent", action="store_true", help="play nothing, whatever loudspeaker there is")


def order_of(args: argparse.Namespace) -> DemoOrder:
    """Converts the parsed arguments to a `DemoOrder`."""
    names = tuple(name.strip() for name in args.backends.split(",") if name.strip())
    return DemoOrder(names, args.picture, args.report, not args.silent, not args.windowed)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Shows the demo, or runs it without a window; returns the exit code. Raises UserError."""
    from app import main as compose

    order = order_of(args)
    if not args.headless:
        return compose.open_window(order=order)
    return asyncio.run(run_headless(compose.make_demo_service(order.aloud), order, terminal))


async def run_headless(service: DemoService, order: DemoOrder, terminal: Terminal) -> int:
    """Asks both sides all questions, prints and saves the figures, and returns the exit code. Raises UserError."""
    offer = await service.offer()
    backends = chosen_backends(offer.backends, order.backends)
    if not backends:
        raise UserError("There is no model, so nobody can answer. Get one with “models get”.")
    recorder = Recorder(service, backends[0].choice, offer.frontend)
    figures = []
    for number, question in enumerate(service.questions):
        terminal.note(f"{number + 1} of {len(service.questions)}: {question.text}")
        pair = await recorder.pair(question, first=SIDES[number % 2], began=time.time())
        figures.append(pair.figure())
    result = DemoResult(tuple(figures), True, backends[0].label)
    for line in lines(result):
        terminal.say(line)
    found = document(result)
    terminal.document(found)
    if order.json:
        await asyncio.to_thread(write_json, Path(order.json), found, indent=1)
    if order.picture:
        from app.gui.demo.figures_page import draw

        draw(result, Path(order.picture))
    return 0 if found["ok"] else 2
