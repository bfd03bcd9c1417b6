"""The `corpus` command: builds, checks, imports and exports training corpora."""

from __future__ import annotations

import argparse
import asyncio
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.arguments import add_backend, choice_of
from app.cli.output import Terminal
from app.conversation.languages import AUTOMATIC, CODES, ENGLISH
from app.research.commands.benches import Option, add, count, flag, folder, one_of, value
from app.session.control import UserError

if TYPE_CHECKING:
    from app.research.corpus.make import MakeReport, Prompt

COMMANDS = ("corpus",)
STEPS = ("scripts", "speech", "oracle", "tokens")
_AT_ONCE, _EMBEDDED_AT_ONCE = 8, 4
"""Concurrent requests to a back-end, and to the embedded model. Generating an oracle took 47 s with 64 of them on two
cores, and 65 s one by one."""


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` has the options shared by all commands."""
    corpus = commands.add_parser("corpus", parents=[common], help="make and check corpora for training")
    actions = corpus.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (help, options) in _OPTIONS.items():
        parser = add(actions.add_parser(name, parents=[common], help=help), _FOLDER, *options)
        if name == "make":
            add_backend(parser)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs one action and returns the exit code, which is 1 if a corpus fails its check. Raises UserError."""
    return _ACTIONS[args.action](args, terminal)


def _make(args: argparse.Namespace, terminal: Terminal) -> int:
    steps = [step for step in args.steps.split(",") if step]
    if unknown := set(steps) - set(STEPS):
        raise UserError(f"There is no step “{sorted(unknown)[0]}”. There are: {', '.join(STEPS)}.")
    reports: dict[str, Any] = {}
    for step in STEPS:
        if step in steps:
            report = _STEPS[step](args, terminal)
            terminal.say(report.sentence(step))
            if not report.made and not report.there:
                raise UserError(_NOTHING[step])
            reports[step] = {"made": report.made, "there": report.there, "left_out": report.left_out}
    terminal.document({"ok": True, **reports})
    return 0


def _scripts(args: argparse.Namespace, terminal: Terminal) -> MakeReport:
    from app.research.corpus.make import keep_scripts, make_scripts, script_prompts
    from app.research.corpus.scripts import FORMATS, read_items

    if args.items is None:
        raise UserError("Name the file with the questions: --items FILE.")
    if args.format not in FORMATS:
        raise UserError(f"There is no format “{args.format}”. There are: {', '.join(FORMATS)}.")
    items = read_items(args.items, args.format)
    items = items[: args.limit] if args.limit else items
    if args.as_they_are:
        return keep_scripts(items, args.folder)

    work = partial(make_scripts, items, folder=args.folder, progress=terminal.progress, language=args.language)
    return asyncio.run(_asking(args, terminal, script_prompts(items, args.language), work))


def _speech(args: argparse.Namespace, terminal: Terminal) -> MakeReport:
    from app.models.locations import is_here, model_path
    from app.research.benches.recordings import Reader
    from app.research.corpus.dialogue import CorpusFolder
    from app.research.corpus.make import make_speech, read_scripts
    from app.research.corpus.scripts import SpeakingOptions
    from app.stt.selection import choose_recogniser
    from app.tts.voices import choose_voice, make_voice, voices_of

    options = SpeakingOptions(args.pauses, args.noise, args.interruptions)
    read_back = None
    if not args.no_read_back:
        recogniser = choose_recogniser(language=args.language)
        read_back = partial(Reader(model_path(recogniser.key)).read, language=args.language)
    with ExitStack() as entered:
        own = choose_voice(args.voice, args.language).key
        model = entered.enter_context(make_voice(own, args.language))
        others = [voice.key for voice in voices_of(args.language) if is_here(voice.model.key) and voice.key != own]
        users = {key: entered.enter_context(make_voice(key, AUTOMATIC)) for key in others or [own]}
        return make_speech(
            read_scripts(args.folder), CorpusFolder(args.folder), model, users, options, read_back, terminal.progress
        )


def _oracle(args: argparse.Namespace, terminal: Terminal) -> MakeReport:
    from app.research.corpus.dialogue import CorpusFolder
    from app.research.corpus.make import make_oracle, oracle_prompts

    corpus = CorpusFolder(args.folder)
    prompts = [
        prompt
        for dialogue in corpus
        if not dialogue.events
        for prompt, _ in oracle_prompts(dialogue, 0, args.language)
        if prompt is not None
    ]

    work = partial(make_oracle, corpus, progress=terminal.progress, language=args.language)
    return asyncio.run(_asking(args, terminal, prompts, work))


async def _asking(args: argparse.Namespace, terminal: Terminal, prompts: list[Prompt], work: Any) -> MakeReport:
    """Reports what the prompts will cost, asks for confirmation if needed, and runs `work` with an `Asker`."""
    from app.backend.embedded import EmbeddedBackend
    from app.research.corpus.make import ANSWERS, Asker, price_of
    from app.services.backend_service import BackendService
    from app.services.backends import price_table

    backend = await BackendService().make(choice_of(args))
    cost = None if backend.traits.free else price_of(prompts, price_table()[0].find(backend.model))
    price = "free of charge" if backend.traits.free else "for which no price is known"
    terminal.say(
        f"{len(prompts):,} requests to {backend.model} at {backend.name}, "
        f"{price if cost is None else f'about {cost:.2f} US dollars'}."
    )
    if cost is not None and not args.yes and not args.json and sys.stdin.isatty():
        if input("Go on? [y/N] ").strip().lower() not in ("y", "yes"):
            raise UserError("Nothing was sent.")
    elif cost is not None and not args.yes:
        raise UserError("This costs money: give --yes to start it without being asked.")
    at_once = _AT_ONCE
    if isinstance(backend, EmbeddedBackend):
        backend.answer_together(at_once := _EMBEDDED_AT_ONCE)
    try:
        await backend.open()
        report: MakeReport = await work(Asker(backend, args.folder / ANSWERS, at_once))
        return report
    finally:
        await backend.close()


def _tokens(args: argparse.Namespace, terminal: Terminal) -> MakeReport:
    from app.frontend import require_torch
    from app.research.corpus.dialogue import CorpusFolder
    from app.research.corpus.make import SHARDS, make_tokens

    require_torch()
    from app.frontend.kame.engine.checkpoint import load
    from app.models.layout import read_layout
    from app.research.corpus.tokens import Tokeniser

    if args.weights is None:
        raise UserError(
            "Tokens are made with the codec and the vocabulary of the model that is to be trained: name its folder "
            "with --weights, or leave this step out with --steps scripts,speech,oracle."
        )
    tokeniser = Tokeniser(load(read_layout(args.weights), device="cpu"))
    return make_tokens(CorpusFolder(args.folder), tokeniser, args.folder / SHARDS, terminal.progress)


def _check(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.corpus.oracle import check_dialogues

    result = check_dialogues(_folder(args))
    terminal.say(result.table())
    terminal.document(result.document())
    return 0 if result.ok else 1


def _import(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.corpus.dialogue import CorpusFolder, read_stereo
    from app.research.corpus.layouts import read_kame, read_moshi

    corpus = CorpusFolder(args.folder)
    kame = args.source == "kame"
    number = 0
    for number, dialogue in enumerate(read_kame(args.path, args.model_is) if kame else read_moshi(args.path), 1):
        swapped = kame and args.model_is == "B"  # KAME's layout has A on the left, this one the model
        corpus.write(dialogue, read_stereo(Path(dialogue.sound), swapped=swapped) if dialogue.sound else None)
        terminal.progress(f"{number} dialogues")
    terminal.say(f"{number:,} dialogues were read into {args.folder}. Check them: corpus check {args.folder}")
    terminal.document({"ok": True, "dialogues": number})
    return 0


def _export(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.corpus.layouts import write_kame, write_moshi

    for number, dialogue in enumerate(_folder(args), 1):
        (write_kame if args.layout == "kame" else write_moshi)(dialogue, args.target, args.folder)
        terminal.progress(f"{number} dialogues")
    terminal.say(f"{number:,} dialogues were written to {args.target}.")
    terminal.document({"ok": True, "dialogues": number})
    return 0


def _folder(args: argparse.Namespace) -> Any:
    from app.research.corpus.dialogue import CorpusFolder

    corpus = CorpusFolder(args.folder)
    if not len(corpus):
        raise UserError(f"There is no corpus in {args.folder}. Make one with “corpus make”, or import one.")
    return corpus


def _share(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError("must be between 0 and 1")
    return value


_FOLDER = folder("folder", "the corpus")
_LAYOUTS: dict[str, Any] = {"choices": ("kame", "moshi"), "required": True, "help": "whose layout"}
_OPTIONS: dict[str, tuple[str, tuple[Option, ...]]] = {
    "make": (
        "make dialogues, speech, oracle and tokens out of items",
        (
            folder("--items", "questions with answers", "FILE"),
            value("--format", "mmlu-pro, gsm8k, hssbench, or list (default)", default="list"),
            flag("--as-they-are", "speak the items' own words, without a back-end"),
            count("--limit", 0, "at most so many items"),
            value("--steps", f"which of {','.join(STEPS)} (all)", "LIST", default=",".join(STEPS)),
            value("--language", "that the dialogues are in (default: en)", default=ENGLISH, choices=CODES),
            value("--voice", "the model's voice (default: the best that is here)", "KEY"),
            value("--pauses", "questions with a long pause", "SHARE", type=_share, default=0.1),
            value("--noise", "dialogues in noisy rooms", "SHARE", type=_share, default=0.3),
            value("--interruptions", "answers that are cut", "SHARE", type=_share, default=0.05),
            flag("--no-read-back", "keep speech that a recogniser does not understand"),
            folder("--weights", "the model whose codec and vocabulary make tokens"),
            flag("--yes", "start without asking, whatever it costs"),
        ),
    ),
    "check": ("find what would teach a model something wrong, and count what there is", ()),
    "import": (
        "read a corpus in a public layout",
        (
            ("--from", {"dest": "source", **_LAYOUTS}),
            folder("path", "the folder (kame) or the .jsonl file (moshi)", "SOURCE"),
            one_of("--model-is", ("B", "A"), "the speaker who is the model (kame)"),
        ),
    ),
    "export": (
        "write a corpus in a public layout",
        (folder("target", "where to write it", "TARGET"), ("--as", {"dest": "layout", **_LAYOUTS})),
    ),
}
_ACTIONS = {"make": _make, "check": _check, "import": _import, "export": _export}
_NOTHING = {
    "scripts": "No script could be made: this model does not write usable ones. Choose a larger one, or speak the "
    "items' own words with --as-they-are.",
    "speech": "Nothing could be spoken so that a recogniser understands it. Choose another voice.",
    "oracle": "There is no dialogue to make an oracle for. Make the speech first.",
    "tokens": "There is no dialogue to make tokens of. Make the speech first.",
}
_STEPS = {"scripts": _scripts, "speech": _speech, "oracle": _oracle, "tokens": _tokens}
