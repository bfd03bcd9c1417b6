"""The command `train`: fine-tunes a model of KAME's class on a corpus, or trains a small one from nothing."""

from __future__ import annotations

import argparse
import dataclasses
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.arguments import number, whole_number
from app.cli.fault_log import faults_as_sentences
from app.cli.output import Terminal
from app.frontend import CODEC_VOICE, require_torch
from app.session.errors import UserError

if TYPE_CHECKING:
    from app.research.training.kame.losses import RunFolder, TrainSettings

COMMANDS = ("train",)
KINDS = ("with", "without", "changed")
"""How the oracle of a trial can be."""


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options that every command has."""
    actions = commands.add_parser("train", parents=[common], help="train a model of KAME's class").add_subparsers(
        dest="action", metavar="ACTION", required=True
    )
    init = actions.add_parser("init", parents=[common], help="begin a run")
    _add_run(init)
    init.add_argument(
        "--from", dest="weights", type=Path, required=True, metavar="FOLDER", help="weights to start from"
    )
    init.add_argument("--fresh", action="store_true", help="start with random weights of that shape")
    init.add_argument("--lora", type=whole_number, default=0, metavar="RANK", help="train adapters of this rank only")
    init.add_argument("--lora-scaling", type=number, default=2.0, metavar="X", help="(default: 2)")
    nano = actions.add_parser("nano", parents=[common], help="make what training a Nano KAME needs: start and corpus")
    nano.add_argument("folder", type=Path, metavar="FOLDER", help="where `start` and `corpus` are made")
    nano.add_argument("--texts", type=Path, metavar="FILE", help="questions with answers, as lines of JSON {q, a}")
    nano.add_argument("--dialogues", type=whole_number, default=7500, metavar="N", help="(default: 7500)")
    nano.add_argument(
        "--readings", type=whole_number, default=16000, metavar="N", help="dialogues of text (default: 16000)"
    )
    nano.add_argument(
        "--aloud", type=whole_number, default=6000, metavar="N", help="dialogues that are read aloud (default: 6000)"
    )
    nano.add_argument("--questions", type=whole_number, default=5000, metavar="N", help="spoken ones (default: 5000)")
    nano.add_argument("--seed", type=whole_number, default=0, metavar="N", help="another one makes other dialogues")
    run = actions.add_parser("run", parents=[common], help="train")
    _add_run(run)
    _add_settings(run)
    resume = actions.add_parser("resume", parents=[common], help="go on exactly where a run was stopped")
    _add_run(resume)
    resume.add_argument("--corpus", type=Path, action="append", required=True, metavar="FOLDER")
    resume.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))
    test = actions.add_parser("eval", parents=[common], help="measure the losses on a corpus that was not trained on")
    _add_run(test)
    test.add_argument("--corpus", type=Path, action="append", required=True, metavar="FOLDER")
    trial = actions.add_parser("try", parents=[common], help="ask a trained Nano KAME questions, and hear what it says")
    trial.add_argument("weights", type=Path, metavar="FOLDER", help="its weights, as “merge --compact” writes them")
    trial.add_argument("--questions", type=whole_number, default=60, metavar="N", help="of each kind (default: 60)")
    trial.add_argument(
        "--kinds", default=",".join(KINDS), metavar="LIST", help=f"of oracles, of {','.join(KINDS)} (default: all)"
    )
    trial.add_argument("--reader", type=Path, metavar="FOLDER", help="a Whisper model that reads back")
    trial.add_argument("--seed", type=whole_number, default=1, metavar="N", help="another one asks other questions")
    trial.add_argument("--sounds", type=Path, metavar="FOLDER", help="write the first ten answers of each kind there")
    trial.add_argument("--delay-ms", type=whole_number, default=0, metavar="MS", help="silence before each answer")
    merge = actions.add_parser(
        "merge", parents=[common], help="write weights for talk --frontend kame --weights FOLDER"
    )
    _add_run(merge)
    merge.add_argument("target", type=Path, metavar="TARGET")
    merge.add_argument("--compact", action="store_true", help="in eight bits: half the size, for this app alone")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs one action; returns the exit code. Raises UserError."""
    with faults_as_sentences():
        require_torch()
        return _ACTIONS[args.action](args, terminal)


def _init(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.training.kame.losses import RunFolder, Start

    start = Start(str(args.weights.absolute()), args.fresh, args.lora, args.lora_scaling)
    RunFolder(args.run).create(start)
    what = f"adapters of rank {args.lora}" if args.lora else "all weights"
    terminal.say(f"The run in {args.run} trains {what}. Start it: train run {args.run} --corpus FOLDER")
    terminal.document({"ok": True, **dataclasses.asdict(start)})
    return 0


def _nano(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.frontend.kame.checkpoint import load
    from app.models.layout import CONFIG_NAME, read_layout
    from app.models.locations import model_path
    from app.research.training.nano.corpus import (
        common_words,
        make_aloud_corpus,
        make_fact_corpus,
        make_reading_corpus,
        read_texts,
    )
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
        make_reading_corpus(
            args.folder / "reading", loaded, dialogues=args.readings, seed=args.seed, progress=terminal.progress
        )
        make_aloud_corpus(
            args.folder / "aloud",
            loaded,
            voice,
            [answer for _, answer in general],
            common_words(),
            dialogues=args.aloud,
            seed=args.seed,
            progress=terminal.progress,
        )
        corpus = make_fact_corpus(
            args.folder / "corpus",
            loaded,
            voice,
            users,
            general,
            dialogues=args.dialogues,
            questions=args.questions,
            seed=args.seed,
            progress=terminal.progress,
        )
    terminal.say(f"{corpus.frames:,} frames are in {corpus.folder}. Begin a run: train init RUN --from {start}")
    terminal.document({"ok": True, "frames": corpus.frames, "shards": len(corpus.hashes)})
    return 0


def _run(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.training.kame.losses import LossWeights, RunFolder, TrainSettings
    from app.research.training.kame.trainer import checkpoints

    folder = RunFolder(args.run)
    if checkpoints(folder.folder):
        raise UserError(f"The run in {args.run} has begun. Go on with it: train resume {args.run} --corpus FOLDER")
    settings = TrainSettings(
        steps=args.steps,
        batch=max(1, args.batch),
        rate=args.rate,
        final_rate=args.final_rate,
        warm_up=max(1, args.warm_up),
        precision=args.precision,
        seed=args.seed,
        save_every=max(1, args.save_every),
        weights=LossWeights(
            args.padding_weight,
            args.first_book_weight,
            args.audio_weight,
            args.audio_share,
            args.one_text_mean,
            args.own_share,
        ),
        train_audio=not args.text_only,
        compile=args.compile,
    )
    return _train(args, terminal, folder, settings)


def _resume(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.training.kame.losses import RunFolder
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
        stopping = _Stopping()
        started = time.monotonic()
        with stopping:
            trainer.run(lambda: stopping.asked)
    if processes.first:
        lines = read_curves(folder.folder / CURVES)
        (folder.folder / "curves.svg").write_text(figure(lines), "utf-8")
        last = lines[-1] if lines else {}
        terminal.say(
            f"{trainer.step:,} of {settings.steps:,} steps are done ({(time.monotonic() - started) / 60:.0f} min this "
            f"time); the curves are in {folder.folder / 'curves.svg'}."
        )
        terminal.document({"ok": True, "step": trainer.step, "steps": settings.steps, "last": last})
    return 0


class _Stopping:
    """While it is entered, Ctrl-C asks for a stop after the step, with a checkpoint; a second one stops at once."""

    def __init__(self) -> None:
        self.asked = False
        self._before: Any = None

    def __enter__(self) -> _Stopping:
        self._before = signal.signal(signal.SIGINT, self._ask)
        return self

    def __exit__(self, *exc: object) -> None:
        signal.signal(signal.SIGINT, self._before)

    def _ask(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def _eval(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.corpus.tokens import open_corpus
    from app.research.training.kame.losses import RunFolder
    from app.research.training.kame.report import evaluate_run

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

    kinds = [kind for kind in trial.KINDS if kind in args.kinds.split(",")]
    if not kinds:
        raise UserError(f"There are no such oracles: {args.kinds}. There are: {', '.join(KINDS)}.")
    reader = Reader(args.reader or model_path(DEFAULTS["stt"]))
    draw = random.Random(args.seed)
    facts = [draw_fact(draw, test=True) for _ in range(max(1, args.questions))]
    with make_voice(CODEC_VOICE) as voice:
        asked = speak_questions(facts, speakers(voice, test=True), args.seed, terminal.progress)
    score = TrialScore(trial_speaker())
    engine = load_engine(args.weights, model_path(CODEC_VOICE))
    trials = trial.Trials(engine, read_pieces(args.weights), as_frames(args.delay_ms))
    for kind in kinds:
        terminal.progress(f"{len(asked)} questions, oracle: {kind}")
        results = trials.run([(question, question.fact) for question in asked], kind, args.seed)
        score.step_seconds += [seconds for result in results for seconds in result.step_seconds]
        score.kinds.append(score_trials(results, reader.read))
        if args.sounds is not None:
            trial.write_sounds(results[:10], args.sounds)
    terminal.say(score.table())
    terminal.document({"ok": True, **score.document()})
    return 0


def _merge(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.research.training.kame.losses import RunFolder
    from app.research.training.kame.report import merge_run

    checkpoint = merge_run(RunFolder(args.run), args.target, compact=args.compact)
    terminal.say(
        f"The weights of {checkpoint.name} are in {args.target}. Talk with them: talk --frontend kame --weights "
        f"{args.target}"
    )
    terminal.document({"ok": True, "checkpoint": checkpoint.name, "folder": str(args.target)})
    return 0


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("run", type=Path, metavar="RUN", help="the folder of the run")


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--corpus", type=Path, action="append", required=True, metavar="FOLDER", help="shards")
    parser.add_argument("--steps", type=whole_number, default=1000, metavar="N", help="(default: 1000)")
    parser.add_argument("--batch", type=whole_number, default=1, metavar="N", help="dialogues a step (default: 1)")
    parser.add_argument("--rate", type=number, default=3e-5, metavar="X", help="learning rate (default: 3e-5)")
    parser.add_argument(
        "--final-rate", type=number, default=1.0, metavar="X", help="share of it at the end (default: 1)"
    )
    parser.add_argument("--warm-up", type=whole_number, default=100, metavar="N", help="steps (default: 100)")
    parser.add_argument("--precision", default="bf16", choices=("bf16", "fp32"))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--save-every", type=whole_number, default=500, metavar="N", help="steps (default: 500)")
    parser.add_argument("--padding-weight", type=number, default=0.5, metavar="X", help="of the text's padding")
    parser.add_argument("--first-book-weight", type=number, default=100.0, metavar="X", help="of the first codebook")
    parser.add_argument("--audio-weight", type=number, default=1.0, metavar="X", help="of the sound; the paper: 1.5")
    parser.add_argument("--one-text-mean", action="store_true", help="of words and padding, as Moshi's trainer has it")
    parser.add_argument("--audio-share", type=number, default=1.0, metavar="X", help="of the frames, mostly speech")
    parser.add_argument(
        "--own-share", type=number, default=0.0, metavar="X", help="share of own frames given as it chose them"
    )
    parser.add_argument("--text-only", action="store_true", help="train the text alone")
    parser.add_argument("--compile", action="store_true", help="use torch's compiler")
    parser.add_argument("--device", default="auto", choices=("auto", "cuda", "cpu"))


_ACTIONS = {"init": _init, "nano": _nano, "run": _run, "resume": _resume, "eval": _eval, "try": _try, "merge": _merge}
