"""The command `bench card`: everything that a graphics card can show about KAME on it, and a page to send in."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from app.cli.arguments import between
from app.cli.output import Terminal
from app.session.control import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options of `bench card`."""
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--quick", action="store_true", help="only what takes about a minute")
    which.add_argument("--steps", default="", metavar="A,B", help="these steps, in this order (default: all)")
    parser.add_argument(
        "--minutes", type=between(0.0, 24 * 60.0), default=0.0, metavar="N", help="stop after so many minutes"
    )
    models = parser.add_mutually_exclusive_group()
    models.add_argument("--weights", type=Path, default=None, metavar="FOLDER", help="KAME's weights")
    models.add_argument(
        "--random-weights", action="store_true", help="weights of the true shape (default if KAME's aren't installed)"
    )
    parser.add_argument("--size", choices=("7b", "tiny"), default="", help="the published shape, or a small one")
    parser.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    parser.add_argument(
        "--folder", type=Path, default=None, metavar="FOLDER", help="where 16 GB may be written for a while"
    )
    parser.add_argument(
        "--output", type=Path, default=Path(), metavar="FOLDER", help="where the page goes (default: this folder)"
    )


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs the steps, writes their results and the page; returns the exit code, 1 if a step has failed.

    With `--json`, prints a line of JSON for each step as soon as it is done, and one at the end. Raises UserError.
    """
    from app.diagnostics.machine import probe_system
    from app.frontend import require_torch
    from app.platform.nvidia import look
    from app.services.card_bench import STEPS, CardBench, StepResult, chosen_steps, make_plan
    from app.services.card_page import card_page, summary

    require_torch()
    names = [name.strip() for name in args.steps.split(",") if name.strip()]
    try:
        steps = chosen_steps(names, quick=args.quick)
    except ValueError as error:
        known = ", ".join(step.name for step in STEPS)
        raise UserError(f"There is no step “{error}”. There are: {known}.") from error
    plan = make_plan(
        steps,
        device=args.device,
        size=args.size,
        weights=args.weights,
        random_weights=args.random_weights,
        folder=args.folder,
        quick=args.quick,
        minutes=args.minutes,
    )
    place = args.output / f"kame-card-{time.strftime('%Y-%m-%d-%H%M%S')}"
    args.output.mkdir(parents=True, exist_ok=True)
    with place.with_suffix(".jsonl").open("w", encoding="utf-8") as lines:

        def note(result: StepResult) -> None:
            lines.write(json.dumps(result.document(), ensure_ascii=False) + "\n")
            lines.flush()
            terminal.line(result.document())
            terminal.say(f"{result.outcome:>8}  {result.step:<14} {result.seconds:6.1f} s  {result.sentence}")

        results = CardBench(plan).run(lambda words, share: terminal.progress(f"{share:4.0%}  {words} …"), note)
    page = place.with_suffix(".md")
    page.write_text(card_page(plan, results, probe_system(), look()), "utf-8")
    ok = all(result.outcome != "failed" for result in results)
    terminal.say(f"\n{summary(results)} The page to send in is {page}; all figures are in {page.stem}.jsonl.")
    terminal.line({"ok": ok, "bench": "card", "page": str(page)})
    return 0 if ok else 1
