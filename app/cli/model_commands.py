"""The command `models` with its subcommands, for the models of the app and of back-ends."""

from __future__ import annotations

import argparse
import asyncio
from typing import TYPE_CHECKING, Any

from app.backend.base import without_secrets
from app.cli.arguments import speaking_rate, speaking_volume
from app.cli.output import Terminal
from app.platform.installation import completing_command
from app.session.control import BackendChoice, UserError

if TYPE_CHECKING:
    from app.services.backend_service import BackendService

LOCAL_SECONDS = 2.5
CLOUD_SECONDS = 10.0
"""How long (s) to wait for a provider's list of models when all providers are queried."""


def _pull_model(args: argparse.Namespace, terminal: Terminal) -> int:
    """Pulls the model `args.name` with Ollama."""
    from app.services.backend_service import BackendService

    choice = BackendChoice(args.provider or "ollama", args.name, args.base_url)
    asyncio.run(BackendService().pull(choice, lambda words, share: terminal.progress(f"{share:4.0%}  {words}")))
    terminal.say(f"{args.name} is here.")
    terminal.document({"ok": True, "model": args.name})
    return 0


async def _list_models(args: argparse.Namespace, terminal: Terminal) -> int:
    """Lists the models of the back-end `args.provider`, or of all."""
    from app.services.backend_service import BackendService

    service = BackendService()
    if args.provider != "all":
        choices = [BackendChoice(args.provider or "compatible", "", args.base_url)]
    else:
        choices = [BackendChoice(view.key) for view in service.providers]
    terminal.progress("Asking …")
    rows = await asyncio.gather(*(_row(choice, service, len(choices) == 1) for choice in choices))
    labels = {view.key: view.label for view in service.providers}
    for row in rows:
        terminal.say(f"{labels.get(row['provider'], row['provider'])}" + (f" at {row['url']}" if row["url"] else ""))
        for model in row["models"]:
            terminal.say(f"  {model}")
        if row["problem"]:
            terminal.say(f"  {row['problem']}")
    failed = len(rows) == 1 and bool(rows[0]["problem"]) and not rows[0]["models"]
    terminal.document({"ok": not failed, "providers": rows})
    return 2 if failed else 0


async def _row(choice: BackendChoice, service: BackendService, alone: bool) -> dict[str, Any]:
    """Returns a provider's models and any error message. `asked` is True if the server itself provided the list."""
    row: dict[str, Any] = {
        "provider": choice.provider,
        "url": without_secrets(choice.base_url),
        "models": [],
        "asked": False,
        "problem": "",
    }
    if choice.provider == "embedded":
        from app.models.catalogue import models_of
        from app.models.locations import is_here

        row["models"] = [model.key for model in models_of("llm") if is_here(model.key)]
        if not row["models"]:
            row["problem"] = f"Its model is not installed. Run {completing_command()}."
        return row
    if choice.provider == "compatible" and not choice.base_url:
        row["problem"] = "Any server that speaks OpenAI's protocol: give its address with --base-url."
        return row
    try:
        seconds = 0.0 if alone else LOCAL_SECONDS if choice.provider == "ollama" else CLOUD_SECONDS
        offer = await service.offer(choice, seconds=seconds)
        row["models"], row["asked"] = list(offer.models), offer.asked
        if not offer.models:
            row["problem"] = "It answers, but has no model."
        elif not offer.asked and await service.key_place(choice) == "none":
            row["problem"] = f"These are suggestions; without a key (`keys set {choice.provider}`) it can't be asked."
        elif not offer.asked:
            row["problem"] = "These are suggestions; the server itself gives no list."
    except UserError as error:
        row["problem"] = str(error)
    return row


COMMANDS = ("models",)

DEFAULT = "default"
"""The name that stands for all models that a conversation with the default settings needs."""


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
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
    """Runs a subcommand of `models`; returns the exit code. Raises UserError."""
    work = {"list": _list, "get": _get, "check": _check, "remove": _remove, "bench": _bench, "sample": _sample}
    try:
        return work[args.models](args, terminal)
    except KeyboardInterrupt:
        if args.models != "get":
            raise
        raise UserError(
            "The download was stopped. What has been downloaded is kept; the same command continues from there."
        ) from None


def _list(args: argparse.Namespace, terminal: Terminal) -> int:
    if args.provider or args.base_url:
        return asyncio.run(_list_models(args, terminal))
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
        return _pull_model(args, terminal)
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
        place = get_model(
            name,
            lambda words, _share: terminal.progress(words),
            folder=args.folder,
            mirror=args.mirror,
            token=hub_token,
        )
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
    from app.models.selection import best_language_model, keep_speed, load_speeds
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
