"""The commands `models list`, `get`, `check`, `remove`, `bench` and `sample`."""

from __future__ import annotations

import argparse
import asyncio
from typing import Any

from app.cli import provider_models
from app.cli.arguments import speaking_rate, speaking_volume
from app.cli.output import Terminal
from app.session.errors import UserError

COMMANDS = ("models",)

DEFAULT = "default"
"""Stands for all models that a conversation with the default settings needs."""


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    models = commands.add_parser("models", parents=[common], help="get, check and measure models").add_subparsers(
        dest="models", metavar="WHAT", required=True
    )
    listing = models.add_parser("list", parents=[common], help="which there are, which are here, and how fast they are")
    listing.add_argument("--kind", choices=("frontend", "stt", "endpointing", "llm", "tts"), default="")
    listing.add_argument(
        "--provider",
        default="",
        metavar="P",
        help="the models of a back-end in place of the app's own: ollama, openai, …; all",
    )
    listing.add_argument("--base-url", default="", metavar="URL", help="where that back-end's server is")
    get = models.add_parser("get", parents=[common], help="download one, or continue a download; Ctrl-C stops it")
    get.add_argument("name", metavar="NAME", help=f"a name of “models list”, {DEFAULT}, or owner/name on the hub")
    get.add_argument("--provider", default="", metavar="P", help="pull it with ollama")
    get.add_argument("--base-url", default="", metavar="URL", help="where Ollama is")
    get.add_argument("--folder", default="", help="where to put weights (default: the app's own folder)")
    get.add_argument("--mirror", default="", metavar="URL", help="a mirror of the hub")
    check = models.add_parser("check", parents=[common], help="read all of one and compare")
    check.add_argument("name", metavar="NAME")
    check.add_argument("--folder", default="", help="where its weights are (default: the app's own folder)")
    models.add_parser("remove", parents=[common], help="delete one").add_argument("name", metavar="NAME")
    sample = models.add_parser("sample", parents=[common], help="hear a voice")
    sample.add_argument("name", metavar="VOICE", help="a voice, as “models list --kind tts” names it")
    sample.add_argument("--output", default="", metavar="A.wav", help="a file for it, instead of the loudspeaker")
    sample.add_argument("--rate", type=speaking_rate, default=1.0, metavar="R", help="how fast it speaks: 0.5 to 2")
    sample.add_argument("--volume", type=speaking_volume, default=1.0, metavar="V", help="how loud it is: 0 to 2")
    bench = models.add_parser("bench", parents=[common], help="measure how fast those that are here run, and save it")
    bench.add_argument("name", metavar="NAME", nargs="*", help="(default: all that are here)")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs one of the commands; returns the exit code. Raises UserError."""
    from app import main as compose

    work = {"list": _list, "get": _get, "check": _check, "remove": _remove, "bench": _bench, "sample": _sample}
    try:
        return work[args.models](args, terminal)
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error


def _list(args: argparse.Namespace, terminal: Terminal) -> int:
    if args.provider or args.base_url:
        return provider_models.list_models(args, terminal)
    from app.models.store import model_rows
    from app.services.model_service import ModelService

    views = [view for view in ModelService(str, str).models() if args.kind in ("", view.kind)]
    kind = ""
    for view in views:
        if view.kind != kind:
            kind = view.kind
            terminal.say(f"{_TITLES[kind]}:")
        known = ", ".join(filter(None, (view.speed, f"{view.right} of 120 facts" if view.right else "")))
        languages = "many languages" if view.languages == ("*",) else " ".join(view.languages)
        terminal.say(
            f"  {view.key:22} {view.bytes / 1e9:6.2f} GB  {_STATES[view.state]:19} {view.label}; {languages}; "
            f"{view.licence}" + (f"; {known}" if known else "")
        )
        if view.note:
            terminal.say(f"  {'':22} {view.note}")
        if view.voices:
            terminal.say(f"  {'':22} voices: " + ", ".join(voice.key for voice in view.voices))
    if terminal.as_json:
        rows = model_rows({view.key: view.speed for view in views})
        terminal.document({"ok": True, "models": [row for row in rows if args.kind in ("", row["kind"])]})
    return 0


_STATES = {"here": "here", "installed": "here, with the app", "incomplete": "not complete", "absent": ""}
_TITLES = {
    "frontend": "Front-ends with weights",
    "stt": "Speech recognition",
    "endpointing": "End of turn",
    "llm": "Language models",
    "tts": "Voices",
}


def _get(args: argparse.Namespace, terminal: Terminal) -> int:
    if args.provider or args.base_url:
        return provider_models.pull_model(args, terminal)
    from app.main import hub_token
    from app.models.catalogue import DEFAULTS, find_model
    from app.models.locations import model_path, state_of
    from app.models.store import get_model

    names = [args.name]
    if args.name == DEFAULT:
        needed = [key for kind, key in DEFAULTS.items() if kind != "frontend"]
        names = [key for key in needed if state_of(find_model(key)) not in ("here", "installed")]
        if not names:
            terminal.say("All models that a conversation needs are here.")
    places = []
    for name in names:
        try:
            place = get_model(
                name,
                lambda words, _share: terminal.progress(words),
                folder=args.folder,
                mirror=args.mirror,
                token=hub_token,
            )
        except KeyboardInterrupt:
            raise UserError(
                "The download was stopped. What has been downloaded is kept; the same command continues from there."
            ) from None
        terminal.say(f"{name} is in {place}.")
        places.append(str(place))
    if args.name == DEFAULT and not names:
        places = [str(model_path(key)) for kind, key in DEFAULTS.items() if kind != "frontend"]
    terminal.document({"ok": True, "folder": places[0] if len(places) == 1 else "", "folders": places})
    return 0


def _check(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.models.store import check_model

    folder, compared = check_model(args.name, args.folder)
    terminal.say(
        f"All files in {folder} are what was downloaded."
        if compared
        else f"All files in {folder} are there and of the right size. They were not downloaded by this app, so "
        "there is no record to compare their contents with."
    )
    terminal.document({"ok": True, "folder": str(folder), "compared": compared})
    return 0


def _remove(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.models.locations import remove_model

    freed = remove_model(args.name)
    terminal.say(f"{args.name} is removed; {freed / 1e9:.2f} GB are free again.")
    terminal.document({"ok": True, "freed": freed})
    return 0


def _sample(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.audio.io.files import FileSink
    from app.services.sound_service import SoundTestService
    from app.tts.voices import make_sample

    terminal.progress(f"{args.name} …")
    chosen, samples = make_sample(args.name, args.rate, args.volume)
    if args.output:
        with FileSink(args.output) as sink:
            sink.write(samples)
    else:
        asyncio.run(SoundTestService().play(samples, ""))
    terminal.say(f"{chosen.label}: {args.output}" if args.output else chosen.label)
    terminal.document({"ok": True, "voice": chosen.key, "output": args.output})
    return 0


def _bench(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.main import USER_ERRORS
    from app.models.catalogue import catalogue, find_model
    from app.models.locations import is_here
    from app.models.selection import best_language_model
    from app.models.speeds import keep_speed, load_speeds
    from app.platform.hardware import memory_bytes
    from app.services.model_service import MEASURED
    from app.services.model_speed import measure_speed

    wanted = [find_model(name) for name in args.name] or [
        model for model in catalogue().values() if model.kind in MEASURED and is_here(model.key)
    ]
    rows, failed = [], 0
    for model in wanted:
        try:
            speed = measure_speed(model, terminal.progress)
        except USER_ERRORS as error:
            if len(wanted) == 1:
                raise
            terminal.say(f"{model.label:28} not measured: {error}")
            failed = 1
            continue
        keep_speed(model.key, speed)
        terminal.say(f"{model.label:28} {speed.words(model.kind)}")
        rows.append({"name": model.key, "kind": model.kind, "first": speed.first, "rate": speed.rate})
    best = best_language_model(catalogue().values(), load_speeds(), memory_bytes())
    if best is not None:
        here = "" if is_here(best.key) else f" Get it: models get {best.key} ({best.bytes / 1e9:.1f} GB)."
        terminal.say(f"The best language model that this machine runs in time is {best.label}.{here}")
    terminal.document({"ok": not failed, "models": rows, "best": best.key if best is not None else ""})
    return failed
