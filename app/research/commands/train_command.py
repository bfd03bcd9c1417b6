"""The `train` command: fine-tunes a KAME-style model on a corpus, or trains a small one from scratch."""

from __future__ import annotations

import argparse
import dataclasses
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from app.cli.output import Terminal
from app.frontend import require_torch
from app.research.commands.benches import Option, add, count, flag, folder, one_of, real
from app.research.nano.codec_layout import CODEC_VOICE
from app.session.control import UserError

if TYPE_CHECKING:
    from app.research.training.kame.run import RunFolder, TrainSettings

COMMANDS = ("train",)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` has the options shared by all commands."""
    train = commands.add_parser("train", parents=[common], help="train a model of KAME's class")
    actions = train.add_subparsers(dest="action", metavar="ACTION", required=True)
    for name, (help, options) in _OPTIONS.items():
        add(actions.add_parser(name, parents=[common], help=help), *options)


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs one action; returns the exit code. Raises UserError."""
    require_torch()
    return _ACTIONS[args.action](args, terminal)


def _init(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.training.kame.run import RunFolder, Start

    start = Start(str(args.weights.absolute()), args.fresh, args.lora, args.lora_scaling)
    RunFolder(args.run).create(start)
    what = f"adapters of rank {args.lora}" if args.lora else "all weights"
    terminal.say(f"The run in {args.run} trains {what}. Start it: train run {args.run} --corpus FOLDER")
    terminal.document({"ok": True, **dataclasses.asdict(start)})
    return 0


def _nano(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.frontend.kame.engine.checkpoint import load
    from app.models.layout import CONFIG_NAME, read_layout
    from app.models.locations import model_path
    from app.research.training.nano.corpus import Sizes, make_corpora, read_texts
    from app.research.training.nano.dialogues import speakers
    from app.research.training.nano.start import make_start
    from app.tts.voices import make_voice

    start, voice = args.folder / "start", model_path(CODEC_VOICE)
    general = read_texts(args.texts) if args.texts else []
    with make_voice(CODEC_VOICE) as speaking:
        users = speakers(speaking)
        if not (start / CONFIG_NAME).exists():
            left = make_start(start, voice, [answer for _, answer in general], users, terminal.progress)
            terminal.say(f"The codec leaves {left['own'][-1]:.1%} of the voice's variance.")
        loaded = load(read_layout(start), device="cpu")
        sizes = Sizes(args.readings, args.aloud, args.dialogues, args.questions)
        corpus = make_corpora(args.folder, loaded, voice, users, general, sizes, args.seed, terminal.progress)
    terminal.say(f"{corpus.frames:,} frames are in {corpus.folder}. Begin a run: train init RUN --from {start}")
    terminal.document({"ok": True, "frames": corpus.frames, "shards": len(corpus.hashes)})
    return 0


def _run(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.training.kame.run import LossWeights, RunFolder, TrainSettings
    from app.research.training.kame.trainer import checkpoints

    folder = RunFolder(args.run)
    if checkpoints(folder.folder):
        raise UserError(f"The run in {args.run} has begun. Go on with it: train resume {args.run} --corpus FOLDER")
    given = vars(args)
    weights = LossWeights(**{field.name: given[field.name] for field in dataclasses.fields(LossWeights)})
    own = {field.name: given[field.name] for field in dataclasses.fields(TrainSettings) if field.name in given}
    settings = TrainSettings(**own, weights=weights, train_audio=not args.text_only)
    return _train(args, terminal, folder, settings)


def _resume(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.training.kame.run import RunFolder
    from app.research.training.kame.trainer import checkpoints, read_settings

    folder = RunFolder(args.run)
    found = checkpoints(folder.folder)
    if not found:
        raise UserError(f"The run in {args.run} has no checkpoint to go on from. Start it: train run {args.run}")
    return _train(args, terminal, folder, read_settings(found[-1]))


def _train(args: argparse.Namespace, terminal: Terminal, folder: RunFolder, settings: TrainSettings) -> int:
    from app.research.corpus.tokens import open_corpus
    from app.research.training.kame.report import bar, cost_of, figure, read_curves
    from app.research.training.kame.trainer import CURVES, Batches, Trainer, joined_processes

    with joined_processes(args.device) as processes:
        corpora = [open_corpus(path) for path in args.corpus]
        batches = Batches(corpora, settings.batch, settings.seed, processes.rank, processes.count)
        lm = folder.model()
        silence = folder.silence()
        if settings.weights.audio_share < 1 and silence is None:
            raise UserError("Only a voice's codec has fixed codes for silence: leave --audio-share at 1.")
        cost = cost_of(lm, settings, batches.longest, processes.count)
        if processes.first:
            terminal.say(cost.sentence())
        lm.to(processes.device)
        speeds: list[float] = []

        def report(line: dict[str, float]) -> None:
            speeds.append(line["frames_per_second"])
            recent = sorted(speeds[-20:])[len(speeds[-20:]) // 2]
            frames = settings.batch * batches.longest
            terminal.progress(bar(line, settings.steps, (settings.steps - line["step"]) * frames / recent))

        trainer = Trainer(lm, batches, settings, folder.folder, silence, report, processes)
        trainer.resume()
        started = time.monotonic()
        with _interrupted() as asked:
            trainer.run(asked.is_set)
    if processes.first:
        lines = read_curves(folder.folder / CURVES)
        drawn = figure(lines, folder.folder / "curves.svg")
        last = lines[-1] if lines else {}
        terminal.say(
            f"{trainer.step:,} of {settings.steps:,} steps are done ({(time.monotonic() - started) / 60:.0f} min this "
            f"time); the curves are in {folder.folder / ('curves.svg' if drawn else CURVES)}."
        )
        terminal.document({"ok": True, "step": trainer.step, "steps": settings.steps, "last": last})
    return 0


@contextmanager
def _interrupted() -> Iterator[threading.Event]:
    """Sets the event on the first Ctrl-C, to stop after the current step with a checkpoint.

    A second Ctrl-C stops immediately.
    """
    asked = threading.Event()

    def ask(*_: object) -> None:
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield asked
    finally:
        signal.signal(signal.SIGINT, before)


def _eval(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.corpus.tokens import open_corpus
    from app.research.training.kame.report import evaluate_run
    from app.research.training.kame.run import RunFolder

    result = evaluate_run(RunFolder(args.run), [open_corpus(path) for path in args.corpus], terminal.progress)
    terminal.say("\n".join(f"{name.replace('_', ' '):>16}  {value:.4f}" for name, value in result.items()))
    terminal.document({"ok": True, **result})
    return 0


def _try(args: argparse.Namespace, terminal: Terminal) -> int:
    import random

    from app.conversation.frame import as_frames
    from app.models.catalogue import DEFAULTS
    from app.models.locations import model_path
    from app.research.benches.recordings import Reader
    from app.research.nano.frontend import load_engine, read_pieces
    from app.research.training.nano import trial
    from app.research.training.nano.dialogues import speak_questions, speakers, trial_speaker
    from app.research.training.nano.facts import draw_fact
    from app.research.training.nano.trial import TrialScore, score_trials
    from app.tts.voices import make_voice

    reader = Reader(args.reader or model_path(DEFAULTS["stt"]))
    draw = random.Random(args.seed)
    facts = [draw_fact(draw, test=True) for _ in range(args.questions)]
    with make_voice(CODEC_VOICE) as voice:
        asked = speak_questions(facts, speakers(voice, test=True), args.seed, terminal.progress)
    score = TrialScore(trial_speaker())
    engine = load_engine(args.weights, model_path(CODEC_VOICE))
    pieces, delay = read_pieces(args.weights), as_frames(args.delay_ms)
    for kind in trial.KINDS:
        terminal.progress(f"{len(asked)} questions, oracle: {kind}")
        pairs = [(question, question.fact) for question in asked]
        results = trial.run_trials(engine, pieces, pairs, kind, seed=args.seed, delay=delay)
        score.step_seconds += [seconds for result in results for seconds in result.step_seconds]
        score.kinds.append(score_trials(results, reader.read))
        if args.sounds is not None:
            trial.write_sounds(results[:10], args.sounds)
    terminal.say(score.table())
    terminal.document({"ok": True, **score.document()})
    return 0


def _merge(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.training.kame.report import merge_run
    from app.research.training.kame.run import RunFolder

    checkpoint = merge_run(RunFolder(args.run), args.target, compact=args.compact)
    terminal.say(
        f"The weights of {checkpoint.name} are in {args.target}. Talk with them: talk --frontend kame --weights "
        f"{args.target}"
    )
    terminal.document({"ok": True, "checkpoint": checkpoint.name, "folder": str(args.target)})
    return 0


_RUN = folder("run", "the folder of the run", "RUN")
_CORPUS = folder("--corpus", "shards; again", action="append", required=True)
_DEVICE = one_of("--device", ("auto", "cuda", "cpu"), "where to train")
_OPTIONS: dict[str, tuple[str, tuple[Option, ...]]] = {
    "init": (
        "begin a run",
        (
            _RUN,
            folder("--from", "weights to start from", dest="weights", required=True),
            flag("--fresh", "start with random weights of that shape"),
            count("--lora", 0, "the rank of adapters, which alone are trained", none="none"),
            real("--lora-scaling", 2.0, "X", "of the adapters"),
        ),
    ),
    "nano": (
        "make what training a Nano KAME needs: start and corpus",
        (
            folder("folder", "where `start` and `corpus` are made"),
            folder("--texts", "questions with answers, as lines of JSON {q, a}", "FILE"),
            count("--dialogues", 7500, "spoken dialogues"),
            count("--readings", 16000, "dialogues of text"),
            count("--aloud", 6000, "dialogues that are read aloud"),
            count("--questions", 5000, "spoken questions"),
            count("--seed", 0, "another one makes other dialogues", none="0"),
        ),
    ),
    "run": (
        "train",
        (
            _RUN,
            _CORPUS,
            count("--steps", 1000, "steps in all"),
            count("--batch", 1, "dialogues a step", least=1),
            real("--rate", 3e-5, "X", "learning rate"),
            real("--final-rate", 1.0, "X", "share of it at the end"),
            count("--warm-up", 100, "steps", least=1),
            one_of("--precision", ("bf16", "fp32"), "of computing; weights are kept in float32"),
            ("--seed", {"type": int, "default": 0, "help": "of the order and of what is drawn"}),
            count("--save-every", 500, "steps between checkpoints", least=1),
            real("--padding-weight", 0.5, "X", "of the text's padding", dest="padding"),
            real("--first-book-weight", 100.0, "X", "of the first codebook", dest="first_book"),
            real("--audio-weight", 1.0, "X", "of the sound; the paper: 1.5", dest="audio"),
            flag("--one-text-mean", "of words and padding, as Moshi's trainer has it"),
            real("--audio-share", 1.0, "X", "of the frames, mostly speech"),
            real("--own-share", 0.0, "X", "share of own frames given as it chose them"),
            flag("--text-only", "train the text alone"),
            flag("--compile", "use torch's compiler"),
            _DEVICE,
        ),
    ),
    "resume": ("go on exactly where a run was stopped", (_RUN, _CORPUS, _DEVICE)),
    "eval": ("measure the losses on a corpus that was not trained on", (_RUN, _CORPUS)),
    "try": (
        "ask a trained Nano KAME questions, and hear what it says",
        (
            folder("weights", "its weights, as “merge --compact” writes them"),
            count("--questions", 60, "of each kind", least=1),
            folder("--reader", "a Whisper model that reads back"),
            count("--seed", 1, "another one asks other questions"),
            folder("--sounds", "write the first ten answers of each kind there"),
            count("--delay-ms", 0, "silence before each answer, in milliseconds", none="none"),
        ),
    ),
    "merge": (
        "write weights for talk --frontend kame --weights FOLDER",
        (
            _RUN,
            folder("target", "where to write them", "TARGET"),
            flag("--compact", "in eight bits: half the size, for this app alone"),
        ),
    ),
}
_ACTIONS = {"init": _init, "nano": _nano, "run": _run, "resume": _resume, "eval": _eval, "try": _try, "merge": _merge}
