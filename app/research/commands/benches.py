"""Declares the options of the research commands as data, and the benches added to the product's own.

Most options of a bench are named after parameters of its `run_…` function, which is imported only when it is called.
Benches that compare systems are in `bench_mtbench`.
"""

from __future__ import annotations

import argparse
import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from pathlib import Path
from typing import Any

from app.cli.arguments import add_backend, choice_of, number, whole_number
from app.cli.bench_command import Bench, Progress
from app.session.control import BackendChoice, SessionChoice, UserError

Option = tuple[str, dict[str, Any]]
"""An option's name and its keyword arguments for argparse's `add_argument`."""
Run = Callable[[argparse.Namespace, Progress], Any]


def at_least(least: Any, read: Callable[[str], Any]) -> Callable[[str], Any]:
    """Wraps a number parser so that values below `least` are raised to it."""
    return wraps(read)(lambda text: max(least, read(text)))


def value(name: str, help: str, metavar: str = "", **more: Any) -> Option:
    """Returns a string option, empty by default."""
    return name, {"default": "", "help": help} | ({"metavar": metavar} if metavar else {}) | more


def count(name: str, default: int, help: str, least: int = 0, none: str = "all", **more: Any) -> Option:
    """Returns an integer option; values below `least` are raised to it. `none`: what a default of 0 means."""
    how = {"type": at_least(least, whole_number), "default": default, "metavar": "N"}
    return name, how | {"help": f"{help} (default: {default or none})"} | more


def real(name: str, default: float, metavar: str, help: str, least: float = 0.0, **more: Any) -> Option:
    """Returns a floating-point option; values below `least` are raised to it."""
    how = {"type": at_least(least, number), "default": default, "metavar": metavar}
    return name, how | {"help": f"{help} (default: {default:g})"} | more


def folder(name: str, help: str, metavar: str = "FOLDER", **more: Any) -> Option:
    """Returns a path option, None by default."""
    return name, {"type": Path, "metavar": metavar, "help": help} | more


def flag(name: str, help: str, **more: Any) -> Option:
    """Returns an option without a value."""
    return name, {"action": "store_true", "help": help} | more


def one_of(name: str, choices: Sequence[Any], help: str, **more: Any) -> Option:
    """Returns an option with a fixed set of values; the first is the default."""
    return name, {"choices": choices, "default": choices[0], "help": help} | more


def add(parser: argparse.ArgumentParser, *options: Option) -> argparse.ArgumentParser:
    """Adds options to a parser and returns it."""
    for name, how in options:
        parser.add_argument(name, **how)
    return parser


def calls(function: str) -> Run:
    """Returns a `Bench.run` that calls a function, passing options to the parameters of the same name."""

    def run(args: argparse.Namespace, progress: Progress) -> Any:
        module, _, name = function.rpartition(".")
        called = getattr(import_module(module), name)
        options = {**vars(args), "progress": progress}
        return called(**{name: options[name] for name in signature(called).parameters if name in options})

    return run


def bench(
    name: str,
    help: str,
    run: Run | str,
    *options: Option,
    backend: bool = False,
    needs: str = "",
    can_fail: bool = False,
) -> Bench:
    """Creates a bench.

    - `run`: may be a function's name, see `calls`
    - `backend`: adds the options that choose a back-end
    - `needs`: a package that is only installed for tests
    - `can_fail`: whether the exit code depends on the result's `ok`
    """
    called = calls(run) if isinstance(run, str) else run

    def arguments(parser: argparse.ArgumentParser) -> None:
        add(parser, *options)
        if backend:
            add_backend(parser)

    def checked(args: argparse.Namespace, progress: Progress) -> Any:
        if needs and find_spec(needs) is None:
            raise UserError(f"This bench needs the package {needs}. Run it in a checkout that was set up for tests.")
        return called(args, progress)

    return Bench(name, help, arguments, checked, can_fail)


def _compare(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.comparison import compare, page

    found = compare(args.before, args.after, args.tolerance / 100)
    if args.html is not None:
        args.html.write_text(page(found, args.before, args.after), "utf-8")
    return found


def _codec(args: argparse.Namespace, progress: Progress) -> Any:
    from app.frontend import require_torch

    require_torch()
    from app.models.catalogue import DEFAULTS
    from app.models.layout import read_layout
    from app.models.locations import model_path
    from app.research.benches.recordings import Reader
    from app.research.benches.voices import run_codec
    from app.research.nano.codec_layout import CODEC_VOICE
    from app.research.nano.voice_codec import load_codec

    reader = Reader(args.reader or model_path(DEFAULTS["stt"]))
    return run_codec(load_codec(read_layout(args.codec).mimi), model_path(CODEC_VOICE), reader.read, progress=progress)


def _duplex(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.duplex.run import run_duplex
    from app.research.benches.duplex.samples import find_samples
    from app.research.commands.bench_mtbench import talks
    from app.session.clock import run_simulated

    if args.make:
        _make_duplex(args, progress)
    samples = find_samples(args.folder, args.count)
    choice = SessionChoice(backend=choice_of(args), openings=False, duplex=True)
    if args.outputs:
        return run_duplex(samples, None, run_simulated, choice, progress)
    with talks(simulated=True) as (make, run_talk, costs):
        return run_duplex(samples, make, run_talk, choice, progress, costs=costs)


def _make_duplex(args: argparse.Namespace, progress: Progress) -> None:
    from app.research.benches.duplex.samples import make_sets
    from app.research.benches.pauses import people, spoken_cases
    from app.research.benches.recordings import REPORTED, saying
    from app.research.benches.timed_parts import speech_models
    from app.tts.voices import make_voice

    with speech_models() as models, make_voice() as voice:
        say, held_out = saying(voice), REPORTED
        pauses = spoken_cases(say, models.transcribe, held_out, ("flow",), most=3 * args.make).made
        found = []
        if args.people is not None:
            found = people(args.people, models.transcribe, models.voice_detector, held_out)
        make_sets(args.folder, args.make, say, pauses, found, progress)


def _latency(args: argparse.Namespace, progress: Progress) -> Any:
    from app import main as compose
    from app.research.benches.latency import run_latency, run_remote

    choice = SessionChoice(backend=choice_of(args), openings=False, duplex=True)  # the answers are timed
    run = run_remote if args.bench == "remote" else run_latency
    return asyncio.run(run(compose.session, choice, args.questions, progress))


def _speeds(args: argparse.Namespace, progress: Progress) -> Any:
    from app.backend.embedded import EmbeddedBackend
    from app.conversation.oracle import LEAST_SECONDS
    from app.models.catalogue import DEFAULTS
    from app.models.selection import Speed
    from app.research.benches.latency import run_speeds
    from app.research.results import NOT_DRAWN

    try:
        pairs = [tuple(map(float, one.split(":"))) for one in args.models.split(",")]
        speeds = [Speed(first, rate) for first, rate in pairs]
    except ValueError:
        raise UserError("Name models by their speeds, as in --models 0.4:100,1:50.") from None

    def served(choice: BackendChoice) -> EmbeddedBackend:
        """Returns the model, which answers several requests in parallel, like a server."""
        backend = EmbeddedBackend(choice.model)
        backend.traits = replace(backend.traits, concurrent=True, least_interval=LEAST_SECONDS)
        return backend

    result = run_speeds(served, args.words_of or DEFAULTS["llm"], speeds, args.questions, progress)
    if args.figure is not None and not result.draw(args.figure):
        progress(NOT_DRAWN)
    return result


def _stalls(args: argparse.Namespace, progress: Progress) -> Any:
    from app import main as compose
    from app.research.benches.stalls import run_stalls

    choice = SessionChoice(backend=choice_of(args), openings=False, duplex=True)
    return asyncio.run(run_stalls(compose.session, choice, args.minutes, args.stalls, args.seed, progress))


def _answers(args: argparse.Namespace, progress: Progress) -> Any:
    from app.research.benches.answers import load_asked, run_answers
    from app.research.benches.recordings import Way
    from app.research.commands.bench_mtbench import talks

    choice = SessionChoice(backend=choice_of(args), openings=not args.no_openings)
    asked = load_asked(args.questions, args.recordings, false_premises=args.false_premises)
    ways: list[Way] = [way for way in ("hands-free", "talk button") if args.way in ("both", way)]
    with talks(simulated=args.simulated, measured_speeds=False) as (make, run_talk, costs):
        return run_talk(run_answers(make, choice, asked, progress, ways=ways, reader=args.reader, costs=costs))


def _facts(args: argparse.Namespace, progress: Progress) -> Any:
    from app.models.catalogue import models_of
    from app.models.locations import is_here
    from app.research.benches.answers import load_facts, run_facts
    from app.research.commands.bench_mtbench import talks

    provider = args.backend or ("compatible" if args.base_url else "embedded")
    names = args.model or ([m.key for m in models_of("llm") if is_here(m.key)] if provider == "embedded" else [""])
    models = [BackendChoice(provider, name, args.base_url) for name in names]
    facts, ways = load_facts(args.questions), args.way or ["typed", "hands-free"]
    with talks(simulated=args.simulated) as (make, run_talk, costs):
        return run_talk(run_facts(make, models, facts, progress, ways=ways, costs=costs))


def _launches(args: argparse.Namespace, progress: Progress) -> Any:
    from app.frontend import require_torch
    from app.research.benches.card_stub import load_card_stub

    require_torch()
    load_card_stub()  # before torch
    from app.research.benches.launches import run_launches

    return run_launches(args.size, progress)


def _chaos(args: argparse.Namespace, progress: Progress) -> Any:
    from app import main as compose
    from app.research.benches.chaos import PARTS, run_chaos

    parts = args.part or PARTS
    return asyncio.run(run_chaos(compose.session, parts, args.turns, args.seed, (), progress, args.recogniser))


async def _rivals(args: argparse.Namespace, progress: Progress) -> Any:
    from app.backend.embedded import EmbeddedBackend
    from app.research.benches.rivals.process import chosen
    from app.research.benches.rivals.run import load_items, run_rivals

    assistants = chosen([name.strip() for name in args.assistants.split(",") if name.strip()])
    items = await asyncio.to_thread(load_items, args.questions, args.people, args.utterances)
    backend = EmbeddedBackend(args.model)
    await backend.open()
    stopped = threading.Event()

    def report(text: str) -> None:
        """Reports progress; ends the measuring thread once the command is stopping."""
        if stopped.is_set():
            raise InterruptedError
        progress(text)

    try:
        served = backend.served
        server = {"url": f"{served.url}/v1", "key": served.key, "model": backend.model}
        return await asyncio.to_thread(run_rivals, assistants, items, server, served.pid, args.out, report)
    finally:
        stopped.set()
        await backend.close()


_DEVICES = (
    value("--microphone", "an input device by name", "NAME"),
    value("--loudspeaker", "an output device by name", "NAME"),
)
SPEEDS = "0.15:200,0.4:100,1:100,2:50"
_CASES = count("--cases", 0, "how many")
_TEN = count("--questions", 10, "how many of the ten", least=1)
_WAYS = ("both", "hands-free", "talk button")
_MANIFEST = "manifest.jsonl and the recordings that it names"

BENCHES = (
    bench("latency", "ten spoken questions in real time, in both answer modes", _latency, _TEN, backend=True),
    bench(
        "speeds",
        "what thinking along gains, by speed of the model and length of the question, in simulated time",
        _speeds,
        value(
            "--models",
            f"seconds to the first word, and words a second (default: {SPEEDS})",
            "FIRST:RATE,…",
            default=SPEEDS,
        ),
        count("--questions", 10, "how many short ones, besides the ten"),
        value("--words-of", "one of the app's own models, which answers (default: the smallest)"),
        folder("--figure", "also draw the medians into this SVG file", "FILE"),
    ),
    bench(
        "stalls",
        "a long conversation beside a busy process, in which the app is held up again and again",
        _stalls,
        real("--minutes", 20, "MINUTES", "how long; longer if the stalls need it", least=1.0),
        count("--stalls", 15, "how often", none="none"),
        count("--seed", 1, "when and for how long"),
        backend=True,
        can_fail=True,
    ),
    bench(
        "answers",
        "sixty short questions, and how often an answer is taken back",
        _answers,
        count("--questions", 60, "the first so many", least=1),
        one_of("--way", _WAYS, "how turns end"),
        folder("--recordings", "also the questions as other voices say them: VOICE/01.wav and so on"),
        folder("--reader", "a Whisper model for CTranslate2 that transcribes the spoken answers"),
        flag("--simulated", "in simulated time: the same on every machine, and sooner done"),
        flag("--no-openings", "keep silent until the answer is there"),
        flag("--false-premises", "twenty questions that assume something false"),
        backend=True,
    ),
    bench(
        "facts",
        "120 short questions with one right answer, by model",
        _facts,
        count("--questions", 120, "the first so many", least=1),
        one_of(
            "--way",
            ("typed", *_WAYS[1:]),
            "how they are asked; may be given again (default: typed and hands-free)",
            action="append",
            default=[],
        ),
        flag("--simulated", "in simulated time, with the speeds that “models bench” has measured"),
        value("--backend", "a back-end in place of the language models that are here"),
        value("--model", "its model, or one of the app's own; again", action="append", default=[]),
        value("--base-url", "the address of its server"),
    ),
    bench(
        "turns",
        "ends of turns, on spoken questions with pauses in them",
        "app.research.benches.endpointing.run_endpointing",
        _CASES,
        one_of("--part", (0, 1, 2), "fitted to (0), chosen by (1), or neither (2, the default)", type=int, default=2),
        folder("--people", f"also real speakers: {_MANIFEST}", dest="people_in"),
    ),
    bench("remote", "spoken questions here and by a voice server", _latency, _TEN, backend=True),
    bench(
        "overlap",
        "questions spoken over a new conversation",
        "app.research.benches.overlap.run_overlap",
        count("--questions", 30, "how many in each place"),
    ),
    bench(
        "sounds",
        "laughter and other sounds that are no turn",
        "app.research.benches.endpointing.run_sounds",
        folder("--folder", "recordings of such sounds", required=True),
        folder("--speech", "recordings of speech, which is to interrupt"),
    ),
    bench(
        "rivals",
        "this app beside Pipecat, LiveKit and RealtimeSTT/TTS",
        lambda args, progress: asyncio.run(_rivals(args, progress)),
        value("--assistants", "with commas between (default: all)", "LIST"),
        count("--questions", 10, "of the bench's ten"),
        folder("--people", f"also real speakers: {_MANIFEST}"),
        count("--utterances", 10, "how many of theirs"),
        value("--model", "the embedded model that all ask (default: the smallest)"),
        folder("--out", "results and the assistants' logs", "DIR", required=True),
        needs="psutil",
    ),
    bench(
        "first-word",
        "how soon the real window answers: sound, first word, first new word",
        "app.research.benches.first_word.run.run_first_word",
        one_of("--who", ("both", "synthetic", "people"), "whose questions"),
        one_of("--way", _WAYS, "how turns end"),
        folder("--people", "recordings of the WUW Corpus II: manifest.jsonl and the files that it names"),
        folder("--out", "keeps the answers there; a stopped run continues", "DIR"),
        count("--talks", 0, "with --out: only so many talks this time, of ten questions and some three minutes each"),
        flag("--busy", "measure even if the machine does other work"),
        needs="psutil",
    ),
    bench(
        "chaos",
        "parts killed, stopped and broken in mid-conversation: each turn must end with an answer or a sentence",
        _chaos,
        count("--turns", 40, "of each part", least=1),
        one_of(
            "--part",
            ("model", "voice", "recogniser", "words", "server"),
            "only this one; may be given again",
            action="append",
            default=[],
        ),
        count("--seed", 0, "chooses moments and ways", none="0"),
        value("--recogniser", "a recogniser by its key, such as moonshine-tiny.en, which runs in a child"),
        needs="psutil",
        can_fail=True,
    ),
    bench(
        "startup",
        "from the click to the window, and until one can talk",
        "app.research.benches.window_speed.run_startup",
        count("--starts", 5, "how many are timed", least=1),
        *_DEVICES,
        can_fail=True,
    ),
    bench(
        "compare",
        "two results of a bench, and what has become worse",
        _compare,
        folder("before", "a folder that a bench has written, or its --json", "A"),
        folder("after", "another of the same bench", "B"),
        real("--tolerance", 10.0, "PERCENT", "by how much a figure may differ and count as the same"),
        folder("--html", "also write one page with all figures", "FILE"),
        can_fail=True,
    ),
    bench(
        "window",
        "whether the window stays smooth through a dense talk",
        "app.research.benches.window_speed.run_smoothness",
        real("--minutes", 10.0, "N", "of talk, at full speed", least=0.05),
        real("--live", 40.0, "SECONDS", "of talk, in real time", least=2.0, dest="live_seconds"),
        count("--turns", 2000, "of the long conversation", least=2),
        can_fail=True,
    ),
    bench(
        "launches",
        "what a frame of KAME asks of a card, by precision and generation, counted without a card",
        _launches,
        one_of("--size", ("7b", "tiny"), "the published shape, or a small one"),
        can_fail=True,
    ),
    bench(
        "codec",
        "the codec of a small model: what it keeps of its voice",
        _codec,
        folder("codec", "weights with a voice's codec"),
        folder("--reader", "a Whisper model for CTranslate2 that reads back (default: the app's)"),
    ),
    bench(
        "hearing",
        "words recognised live, against one pass over the same sound",
        "app.research.benches.recognition.run_live_recognition",
        folder("folder", "recordings, and a manifest.jsonl: file, session, text"),
        one_of("--part", (0, 1, 2), "only speakers of this part (2: held out)", type=int, default=None),
        _CASES,
    ),
    bench(
        "recognisers",
        "the speech recognisers that are here",
        "app.research.benches.recognition.run_recognisers",
        folder("--people", "real speakers, as for “hearing”; only those that nothing was fitted to"),
        folder("--recordings", "other recordings, in place of ten synthetic questions", dest="folder"),
        value("--only", "may be given again", "MODEL", action="append", default=[], dest="keys"),
        value("--language", "what is spoken (default: en)", "XX", default="en"),
        _CASES,
    ),
    bench(
        "voices",
        "how quick, clear and loud the voices are that are here",
        "app.research.benches.voices.run_voices",
        ("keys", {"nargs": "*", "metavar": "VOICE", "help": "voices of “models list” (default: all here)"}),
        count("--sentences", 20, "the first so many, of 20", least=1, dest="count"),
        needs="psutil",
    ),
    bench(
        "audio",
        "from the loudspeaker back through the microphone",
        "app.research.benches.audio.run_audio",
        *_DEVICES,
        count("--rounds", 40, "how many round trips", least=5),
    ),
    bench(
        "duplex",
        "pauses, ends of turns, backchannels, interruptions: Full-Duplex-Bench",
        _duplex,
        folder("folder", "samples in Full-Duplex-Bench's layout (1.0 or 1.5)", "DIR"),
        count("--make", 0, "first make so many samples of each task there", none="none"),
        folder("--people", f"for --make: also real speakers, {_MANIFEST}"),
        count("--count", 0, "the first so many of each task"),
        flag("--outputs", "score the outputs that are there, whoever made them"),
        backend=True,
    ),
)
