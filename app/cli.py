"""The command line: reads arguments, runs a command, prints words or one JSON document.

Exit codes: 0 well, 2 for what the user can put right, 1 for a fault of ours. Knows no adapter.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import signal
import sys
from pathlib import Path
from typing import Any

from app.conversation import events as e
from app.conversation.frame import as_frames
from app.conversation.transcript import Transcript
from app.session.control import BackendChoice, ModelChoice, SessionChoice
from app.session.errors import UserError
from app.weights.catalogue import PUBLISHED
from app.weights.fit import PRECISIONS


class Terminal:
    """Progress on standard error, results on standard output; with `as_json` one document alone."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._live = not as_json and sys.stderr.isatty()
        self._line = ""

    def say(self, text: str = "") -> None:
        """A line of the result."""
        if not self.as_json:
            self._clear()
            print(text, flush=True)

    def progress(self, text: str) -> None:
        """What goes on at the moment; overwritten by the next on a terminal."""
        if self._live:
            self._clear()
            width = 100
            self._line = text if len(text) <= width else "…" + text[-width + 1 :]
            print(self._line, end="", file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """A line beside the result: a warning, an error."""
        if not self.as_json:
            self._clear()
            print(text, file=sys.stderr, flush=True)

    def document(self, value: dict[str, Any]) -> None:
        """The JSON document."""
        if self.as_json:
            print(json.dumps(value, ensure_ascii=False, indent=1), flush=True)

    def _clear(self) -> None:
        if self._line:
            print("\r" + " " * len(self._line) + "\r", end="", file=sys.stderr, flush=True)
            self._line = ""


class TalkReport:
    """Follows a talk's events: prints turns as they settle, and sums the talk up."""

    def __init__(self, terminal: Terminal) -> None:
        self.transcript = Transcript()
        self.failures: list[str] = []
        self._terminal = terminal
        self._speech_end: dict[int, float] = {}
        self._responses: list[float] = []
        self._revisions = 0
        self._underruns = 0
        self._dropped = 0
        self._shed = 0
        self._seconds = 0.0

    def take(self, event: e.Event) -> None:
        """One event of the session."""
        turn = self.transcript.apply(event)
        match event:
            case e.TranscriptPartial():
                self._terminal.progress(f"you: {event.text}")
            case e.TranscriptFinal() if event.text:
                self._terminal.say(f"you:  {event.text}")
            case e.UserEnded():
                self._speech_end[event.turn] = event.speech_end
            case e.AssistantStarted() if event.turn in self._speech_end:
                self._responses.append(round(event.at - self._speech_end.pop(event.turn), 3))
            case e.AssistantSaid() if turn is not None:
                self._terminal.progress(f"KAME: {turn.text}")
            case e.AssistantEnded() if turn is not None and turn.text:
                self._terminal.say(f"KAME: {turn.text}{' — interrupted' if event.interrupted else ''}")
            case e.OracleRequested():
                self._revisions += 1
            case e.Underrun():
                self._underruns += event.count
            case e.FramesDropped():
                self._dropped += event.frames
            case e.SpeechShed():
                self._shed += event.decodes
            case e.Failure():
                self.failures.append(event.sentence)
                self._terminal.note(event.sentence)
            case e.SessionEnded():
                self._seconds = event.at

    def summary(self) -> dict[str, Any]:
        """The talk in numbers and words."""
        return {
            "turns": [
                {"speaker": t.speaker, "turn": t.number, "text": t.text, "interrupted": t.interrupted}
                for t in self.transcript.turns
                if t.text
            ],
            "seconds": self._seconds,
            "response_seconds": self._responses,
            "oracle_revisions": self._revisions,
            "underruns": self._underruns,
            "frames_dropped": self._dropped,
            "looks_skipped": self._shed,
            "failures": self.failures,
        }

    def say_summary(self) -> None:
        """The numbers as one line."""
        heard = sum(1 for t in self.transcript.turns if t.speaker == "user" and t.text)
        parts = [f"{self._seconds:.1f} s of talk", f"{heard} {'turn' if heard == 1 else 'turns'} heard"]
        if self._responses:
            parts.append("answered after " + ", ".join(f"{r:.2f} s" for r in self._responses))
        parts.append(f"{self._revisions} oracle revisions, {self._underruns} underruns")
        self._terminal.say("; ".join(parts) + ".")


def build_parser() -> argparse.ArgumentParser:
    """All commands and their options."""
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON document and nothing else")
    parser = argparse.ArgumentParser(
        prog="kame-desktop",
        description="Talk with KAME: it speaks while it thinks. Without a command the window opens.",
        parents=[common],
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")

    talk = commands.add_parser("talk", parents=[common], help="a talk with a sound file, or with the devices")
    talk.add_argument("--input", metavar="Q.wav", help="a sound file that asks, instead of the microphone")
    talk.add_argument("--output", metavar="A.wav", help="a file for the answer, instead of the loudspeaker")
    talk.add_argument("--frontend", default="cascade", help="what hears and speaks (default: cascade)")
    talk.add_argument("--backend", default="embedded", help="the brain: embedded, ollama, openai")
    talk.add_argument("--model", default="", help="the brain's model (default: the brain's own choice)")
    talk.add_argument("--weights", default="", metavar="FOLDER", help="the weights of kame or moshi")
    talk.add_argument("--precision", choices=("auto", *PRECISIONS), default="auto", help="how they are kept")
    talk.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto", help="where they run")
    talk.add_argument("--context", type=_frames, default=0, metavar="FRAMES", help="how far they remember")
    talk.add_argument("--delay-ms", type=_milliseconds, default=0, metavar="MS",
                      help="silence that kame or moshi keeps before it answers")  # fmt: skip
    talk.add_argument("--lead-ms", type=_milliseconds, default=0, metavar="MS",
                      help="how much later than the transcriber kame or moshi hears you")  # fmt: skip
    talk.add_argument("--base-url", default="", help="where the brain's server is")
    talk.add_argument("--manner", choices=("after", "thinking"), default="thinking",
                      help="answer after the whole turn, or while thinking (default)")  # fmt: skip
    talk.add_argument("--realtime", action="store_true", help="play the file at the pace of sound")
    talk.add_argument("--record", default="", metavar="FOLDER", help="keep events.jsonl and both sides' sound")
    talk.add_argument("--microphone", default="", metavar="NAME", help="an input device by name")
    talk.add_argument("--loudspeaker", default="", metavar="NAME", help="an output device by name")

    replay = commands.add_parser("replay", parents=[common], help="tell a recorded talk again")
    replay.add_argument("folder", metavar="FOLDER")
    replay.add_argument("--realtime", action="store_true", help="at the pace at which it happened")
    replay.add_argument("--play", action="store_true", help="play both sides on the loudspeaker")

    weights = commands.add_parser("weights", parents=[common], help="the models' weights").add_subparsers(
        dest="weights", metavar="WHAT", required=True
    )
    weights.add_parser("list", parents=[common], help="what there is to have, and what is here")
    for name, words in (("get", "download them, or go on with a download"), ("check", "read all and compare")):
        one = weights.add_parser(name, parents=[common], help=words)
        one.add_argument("name", metavar="NAME", help=f"{', '.join(PUBLISHED)}, moshi, or owner/name on the hub")
        one.add_argument("--folder", default="", help="where they are to lie (default: the app's own folder)")
        if name == "get":
            one.add_argument("--mirror", default="", metavar="URL", help="a mirror of the hub")

    doctor = commands.add_parser("doctor", parents=[common], help="what this machine has, and whether it will do")
    doctor.add_argument("--weights", default="", metavar="FOLDER", help="where KAME's weights are")

    commands.add_parser("devices", parents=[common], help="list microphones and loudspeakers")

    bench = commands.add_parser("bench", parents=[common], help="measure").add_subparsers(
        dest="bench", metavar="WHAT", required=True
    )
    latency = bench.add_parser(
        "latency", parents=[common], help="ten spoken questions in real time, in both manners"
    )
    latency.add_argument("--questions", type=int, default=10, help="how many of the ten (default: all)")
    latency.add_argument("--backend", default="embedded")
    latency.add_argument("--model", default="")
    latency.add_argument("--base-url", default="")
    frame = bench.add_parser("frame", parents=[common], help="one step of the model, in parts, on this machine")
    frame.add_argument("--random-weights", action="store_true", required=True,
                       help="weights of the true shape; their values don't matter to the speed")  # fmt: skip
    frame.add_argument("--size", choices=("7b", "tiny"), default="7b", help="the published shape, or a small one")
    frame.add_argument("--precision", choices=("all", *PRECISIONS), default="bf16")
    frame.add_argument("--context", type=_frames, default=0, metavar="FRAMES", help="frames of memory (default: 3000)")
    frame.add_argument("--context-fill", type=_frames, default=None, metavar="FRAMES",
                       help="how many of them are filled (default: all)")  # fmt: skip
    frame.add_argument("--frames", type=_frames, default=200, metavar="N", help="how many steps are timed")
    frame.add_argument("--device", choices=("auto", "cuda", "cpu"), default="auto")
    frame.add_argument("--check", action="store_true", help="also compare this machine's paths, to the bit")
    return parser


def _frames(text: str) -> int:
    value = int(text)
    if value < 0:
        raise argparse.ArgumentTypeError("must not be negative")
    return value


def _milliseconds(text: str) -> int:
    """Milliseconds as frames: the nearest number of whole ones."""
    value = float(text)
    if not 0 <= value <= 20_000:
        raise argparse.ArgumentTypeError("must be between 0 and 20000")
    return as_frames(value)


def main(argv: list[str]) -> int:
    """Runs the command line; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(AttributeError, ValueError):
            stream.reconfigure(encoding="utf-8", errors="replace")  # a Windows console is not UTF-8
    args = build_parser().parse_args(argv)
    terminal = Terminal(args.json)
    run = {
        "talk": lambda: asyncio.run(_talk(args, terminal)),
        "replay": lambda: _replay(args, terminal),
        "devices": lambda: _devices(terminal),
        "bench": lambda: _bench_frame(args, terminal) if args.bench == "frame" else asyncio.run(_bench(args, terminal)),
        "weights": lambda: _weights(args, terminal),
        "doctor": lambda: _doctor(args, terminal),
        None: lambda: _window(args),
    }[args.command]
    try:
        return run()
    except UserError as error:
        terminal.note(str(error))
        terminal.document({"ok": False, "error": str(error)})
        return 2
    except KeyboardInterrupt:
        return 0
    except Exception as error:
        import traceback

        traceback.print_exc(file=sys.stderr)
        sentence = (
            f"The app itself failed ({type(error).__name__}: {error}). This is a fault of ours; "
            "the lines above help to find it."
        )
        terminal.note(sentence)
        terminal.document({"ok": False, "error": sentence})
        return 1


async def _talk(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.audio.portaudio import Loudspeaker, Microphone
    from app.audio.wav import FileSink, FileSource

    if args.input and args.output and Path(args.input).resolve() == Path(args.output).resolve():
        raise UserError("The answer can't be written over the question. Choose another file for --output.")
    source = (
        FileSource(args.input, realtime=args.realtime or not args.output)
        if args.input
        else Microphone(args.microphone or None)
    )
    sink = FileSink(args.output) if args.output else Loudspeaker(args.loudspeaker or None)
    paced = args.realtime or not (args.input and args.output)
    choice = SessionChoice(
        frontend=args.frontend,
        backend=BackendChoice(args.backend, args.model, args.base_url),
        model=ModelChoice(args.weights, args.precision, args.device, args.context, args.delay_ms, args.lead_ms),
        manner=args.manner,
        duplex=True,
        record_folder=args.record,
    )
    report = TalkReport(terminal)
    try:
        # What is wrong with files and devices is said at once, not after the models have loaded.
        _check_ends(args)
        terminal.progress("Getting ready …")
        talk = compose.session(choice, source, sink, pace="real" if paced else "fast")
        async with talk:
            talk.add_listener(report.take)
            if not args.input:
                terminal.note("Talk now; Ctrl-C ends the talk.")
            _stop_on_interrupt(talk)
            await talk.ended()
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    heard = any(t.speaker == "user" and t.text for t in report.transcript.turns)
    if args.input and not heard and not report.failures:
        report.failures.append(
            f"No words were heard in {Path(args.input).name}, so nothing was answered. Speak nearer to the "
            "microphone, or choose another file."
        )
        terminal.note(report.failures[-1])
    report.say_summary()
    terminal.document({"ok": not report.failures, **report.summary(), "output": args.output, "record": args.record})
    return 2 if report.failures else 0


def _check_ends(args: argparse.Namespace) -> None:
    from app.audio.devices import find_input, find_output
    from app.audio.filecheck import check_sound_file
    from app.audio.wav import FileSink

    if args.input:
        check_sound_file(Path(args.input))
    else:
        find_input(args.microphone or None)
    if args.output:
        with FileSink(args.output):
            pass
    else:
        find_output(args.loudspeaker or None)


def _stop_on_interrupt(talk: Any) -> None:
    loop = asyncio.get_running_loop()
    stopping: set[asyncio.Task[None]] = set()

    def stop() -> None:
        stopping.add(loop.create_task(talk.stop()))

    with contextlib.suppress(NotImplementedError):  # Windows: Ctrl-C raises KeyboardInterrupt instead
        loop.add_signal_handler(signal.SIGINT, stop)


def _replay(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.session.replay import Replay, ReplayError

    try:
        replay = Replay(Path(args.folder))
        report = TalkReport(terminal)
        for event in replay.events(realtime=args.realtime and not args.play):
            report.take(event)
        if args.play:
            replay.play()
    except ReplayError as error:
        raise UserError(str(error)) from error
    report.say_summary()
    terminal.document({"ok": True, **report.summary(), "events": replay.counts()})
    return 0


def _devices(terminal: Terminal) -> int:
    from app.audio.devices import list_devices
    from app.audio.errors import AudioError

    try:
        devices = list_devices()
    except AudioError as error:
        raise UserError(str(error)) from error
    if not devices:
        terminal.say("There is no sound device. Plug in a microphone and a loudspeaker, and try again.")
    for device in devices:
        what = [f"{device.inputs} in" if device.inputs else "", f"{device.outputs} out" if device.outputs else ""]
        marks = ["default microphone" if device.is_default_input else "",
                 "default loudspeaker" if device.is_default_output else ""]  # fmt: skip
        chosen = ", ".join(filter(None, marks))
        terminal.say(
            f"{device.name}  ({device.host_api}; {', '.join(filter(None, what))}; {device.default_rate:.0f} Hz)"
            + (f"  ← {chosen}" if chosen else "")
        )
    import dataclasses

    terminal.document({"ok": True, "devices": [dataclasses.asdict(d) for d in devices]})
    return 0


async def _bench(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.latency import run_latency

    choice = SessionChoice(backend=BackendChoice(args.backend, args.model, args.base_url), duplex=True)
    try:
        result = await run_latency(compose.session, choice, args.questions, terminal.progress)
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": True, **result.document()})
    return 0


def _bench_frame(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.frame import run_frame

    try:
        result = run_frame(
            [args.size], list(PRECISIONS) if args.precision == "all" else [args.precision], device=args.device,
            context=args.context or None, fill=args.context_fill, frames=max(1, args.frames), check=args.check,
            progress=terminal.progress,
        )  # fmt: skip
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    terminal.say(result.table())
    terminal.document({"ok": result.ok, **result.document()})
    return 0 if result.ok else 1


def _doctor(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.evaluation.doctor import examine

    report = examine(brains=compose.brain_states(), weights_folder=args.weights, progress=terminal.progress)
    terminal.say(report.table())
    terminal.document({"ok": report.ok, **report.document()})
    return 0 if report.ok else 2


def _weights(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose

    try:
        if args.weights == "list":
            rows = compose.weights_states()
            for row in rows:
                terminal.say(f"{row['name']:8} {row['bytes'] / 1e9:5.1f} GB  {row['state']:12} {row['label']}")
                terminal.say(f"{'':8} {row['repository']}, {row['licence']}; {row['folder']}")
            terminal.document({"ok": True, "weights": rows})
            return 0
        if args.weights == "check":
            folder, compared = compose.check_weights(args.name, args.folder)
            terminal.say(
                f"All files in {folder} are what was downloaded." if compared else
                f"All files in {folder} are there and of the right size. They were not downloaded by this app, so "
                "there is no record to compare their contents with."
            )  # fmt: skip
        else:
            folder = compose.get_weights(
                args.name, args.folder, args.mirror, lambda words, _share: terminal.progress(words)
            )
            terminal.say(f"The weights are in {folder}.")
    except compose.USER_ERRORS as error:
        raise UserError(str(error)) from error
    except KeyboardInterrupt:
        raise UserError("The download was stopped. What has come stays; the same command goes on from there.") from None
    terminal.document({"ok": True, "folder": str(folder)})
    return 0


def _window(args: argparse.Namespace) -> int:
    from app.main import open_window

    return open_window()
