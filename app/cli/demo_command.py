"""The command `demo`: runs the swap demo from start to chart by itself, in the window or without one."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.output import Terminal
from app.demo.base import DemoOrder, DemoPlan, DemoProgress, chosen_backends
from app.demo.report import document, lines
from app.demo.run import DemoRunner
from app.platform.atomic_files import write_json

if TYPE_CHECKING:
    from app.demo.service import DemoService

COMMANDS = ("demo",)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    demo = commands.add_parser(
        "demo",
        parents=[common],
        help="a tour: spoken questions to the models that are here, and a chart",
        description="Puts spoken questions to each model that is here, changes the model in mid-answer, and ends with "
        "a chart of response times. Needs no network, no microphone and nobody. With --picture or --report it "
        "writes them and ends; otherwise the window stays open.",
    )
    demo.add_argument("--picture", default="", metavar="FILE", help="write chart and answers as an image (.png)")
    demo.add_argument("--report", default="", metavar="FILE", help="write the result as JSON")
    demo.add_argument(
        "--backends",
        default="",
        metavar="NAMES",
        help="the models to ask, by parts of their names, with commas; one that costs money takes part "
        "only if it is named here (default: all that cost nothing)",
    )
    demo.add_argument("--quick", action="store_true", help="one question each, and only the beginning of each answer")
    demo.add_argument("--headless", action="store_true", help="without a window; prints the result")
    demo.add_argument("--silent", action="store_true", help="play nothing, whatever loudspeaker there is")


def order_of(args: argparse.Namespace) -> DemoOrder:
    """Returns what the arguments order."""
    names = tuple(name.strip() for name in args.backends.split(",") if name.strip())
    return DemoOrder(names, args.quick, args.picture, args.report, not args.silent)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs the tour; returns the exit code. Raises UserError."""
    from app import main as compose

    order = order_of(args)
    if not args.headless:
        return compose.open_window(order=order)
    return asyncio.run(run_headless(compose.make_demo_service(order.aloud), order, terminal))


async def run_headless(service: DemoService, order: DemoOrder, terminal: Terminal) -> int:
    """Runs the tour without a window; returns the exit code. Raises UserError."""
    from app.demo.stage import HeadlessStage

    backends, frontends = await asyncio.gather(service.backends(), service.frontends())
    plan = DemoPlan(chosen_backends(backends, order.backends), frontends, order.quick)

    def report(progress: DemoProgress) -> None:
        who = progress.stop.backend.label if progress.stop.backend else progress.stop.frontend.label
        doing = "changing it in mid-answer" if progress.swapping else "asking"
        doing = "getting ready" if progress.asking is None else doing
        terminal.note(f"{progress.number} of {progress.total}: {who} ({progress.stop.answer_mode}), {doing}")

    result = await DemoRunner(HeadlessStage(service), service.questions, plan, report).run()
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
