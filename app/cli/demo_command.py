"""The command `demo`: the swap demo from start to chart, in the window or without one, with nobody there."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path

from app.cli.output import Terminal
from app.demo.base import DemoOrder, DemoPlan, DemoProgress, DemoService, chosen_backends
from app.demo.report import document, lines
from app.demo.run import DemoRunner
from app.demo.stage import HeadlessStage
from app.platform.atomic_files import write_json

COMMANDS = ("demo",)


def add_commands(commands, common) -> None:  # type: ignore[no-untyped-def]  # argparse has no public type for it
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    demo = commands.add_parser(
        "demo",
        parents=[common],
        help="a tour: spoken questions through the brains that are here, and a chart",
        description="Asks spoken questions of each brain that is here, changes the brain in mid-answer, and ends with "
        "a chart of response times. Needs no network, no microphone and nobody. With --picture or --report it "
        "writes them and ends; otherwise the window stays open.",
    )
    demo.add_argument("--picture", default="", metavar="FILE", help="write chart and answers as an image (.png)")
    demo.add_argument("--report", default="", metavar="FILE", help="write what came of it as JSON")
    demo.add_argument(
        "--brains",
        default="",
        metavar="NAMES",
        help="the brains to ask, by parts of their names, with commas; one that costs money takes part "
        "only if it is named here (default: all that cost nothing)",
    )
    demo.add_argument("--quick", action="store_true", help="one question each, and of the answers their beginning")
    demo.add_argument("--headless", action="store_true", help="without a window; prints what came of it")
    demo.add_argument("--silent", action="store_true", help="play nothing, whatever loudspeaker there is")


def order_of(args: argparse.Namespace) -> DemoOrder:
    """What the arguments ask for."""
    names = tuple(name.strip() for name in args.backends.split(",") if name.strip())
    return DemoOrder(names, args.quick, args.picture, args.report, not args.silent)


def run(
    args: argparse.Namespace,
    terminal: Terminal,
    service: Callable[[bool], DemoService],
    window: Callable[[DemoOrder], int],
) -> int:
    """Runs the tour; the exit code. `service` makes the demo's desk, aloud or not; `window` opens the window, runs an
    order in it and gives its exit code. Raises UserError.
    """
    order = order_of(args)
    if not args.headless:
        return window(order)
    return asyncio.run(_headless(service(order.aloud), order, terminal))


async def _headless(service: DemoService, order: DemoOrder, terminal: Terminal) -> int:
    backends, frontends = await asyncio.gather(service.backends(), service.frontends())
    plan = DemoPlan(chosen_backends(backends, order.backends), frontends, order.quick)

    def told(progress: DemoProgress) -> None:
        who = progress.stop.backend.label if progress.stop.backend else progress.stop.frontend.label
        doing = (
            "getting ready"
            if progress.asking is None
            else "changing it in mid-answer"
            if progress.swapping
            else "asking"
        )
        terminal.note(f"{progress.number} of {progress.total}: {who} ({progress.stop.answer_mode}), {doing}")

    result = await DemoRunner(HeadlessStage(service), service.questions, plan, told).run()
    for line in lines(result):
        terminal.say(line)
    found = document(result)
    terminal.document(found)
    if order.json:
        await asyncio.to_thread(write_json, Path(order.json), found, indent=1)
    if order.picture:
        from app.gui.demo.picture import draw

        draw(result, Path(order.picture))
    return 0 if found["ok"] else 2
