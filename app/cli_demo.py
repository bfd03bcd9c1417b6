"""The command `demo`: the swap demo from start to chart, in the window or without one, with nobody there."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Callable
from pathlib import Path

from app.session.demo import DemoDesk, DemoOrder, DemoPlan, DemoProgress, chosen_brains
from app.session.demo_report import document, lines
from app.session.demo_run import DemoRunner
from app.session.demo_stage import DeskStage
from app.terminal import Terminal
from app.wholefile import write_json

COMMANDS = ("demo",)


def add_commands(commands, common) -> None:  # type: ignore[no-untyped-def]  # argparse has no public type for it
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    demo = commands.add_parser(
        "demo", parents=[common], help="a tour: spoken questions through the brains that are here, and a chart",
        description="Asks spoken questions of each brain that is here, changes the brain in mid-answer, and ends with "
        "a chart of response times. Needs no network, no microphone and nobody. With --picture or --report it "
        "writes them and ends; otherwise the window stays open.",
    )  # fmt: skip
    demo.add_argument("--picture", default="", metavar="FILE", help="write chart and answers as an image (.png)")
    demo.add_argument("--report", default="", metavar="FILE", help="write what came of it as JSON")
    demo.add_argument("--brains", default="", metavar="NAMES",
                      help="the brains to ask, by parts of their names, with commas; one that costs money takes part "
                      "only if it is named here (default: all that cost nothing)")  # fmt: skip
    demo.add_argument("--quick", action="store_true", help="one question each, and of the answers their beginning")
    demo.add_argument("--headless", action="store_true", help="without a window; prints what came of it")
    demo.add_argument("--silent", action="store_true", help="play nothing, whatever loudspeaker there is")


def order_of(args: argparse.Namespace) -> DemoOrder:
    """What the arguments ask for."""
    names = tuple(name.strip() for name in args.brains.split(",") if name.strip())
    return DemoOrder(names, args.quick, args.picture, args.report, not args.silent)


def run(
    args: argparse.Namespace, terminal: Terminal, desk: Callable[[bool], DemoDesk], window: Callable[[DemoOrder], int]
) -> int:
    """Runs the tour; the exit code. `desk` makes the demo's desk, aloud or not; `window` opens the window, runs an
    order in it and gives its exit code. Raises UserError.
    """
    order = order_of(args)
    if not args.headless:
        return window(order)
    return asyncio.run(_headless(desk(order.aloud), order, terminal))


async def _headless(desk: DemoDesk, order: DemoOrder, terminal: Terminal) -> int:
    brains, frontends = await asyncio.gather(desk.brains(), desk.frontends())
    plan = DemoPlan(chosen_brains(brains, order.brains), frontends, order.quick)

    def told(progress: DemoProgress) -> None:
        who = progress.stop.brain.label if progress.stop.brain else progress.stop.frontend.label
        doing = "getting ready" if progress.asking is None else "changing it in mid-answer" if progress.swapping else \
            "asking"  # fmt: skip
        terminal.note(f"{progress.number} of {progress.total}: {who} ({progress.stop.manner}), {doing}")

    result = await DemoRunner(DeskStage(desk), desk.questions, plan, told).run()
    for line in lines(result):
        terminal.say(line)
    found = document(result)
    terminal.document(found)
    if order.json:
        await asyncio.to_thread(write_json, Path(order.json), found, indent=1)
    if order.picture:
        from app.gui.demo_picture import draw

        draw(result, Path(order.picture))
    return 0 if found["ok"] else 2
