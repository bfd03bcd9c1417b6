"""The commands `talk` and `replay`, which print the turns of a conversation and then a summary."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.cli.arguments import (
    add_backend,
    add_engine,
    backend,
    choice_of,
    dollars,
    milliseconds,
    patience,
    speaking_rate,
    speaking_volume,
    swap,
    temperature,
    whole_number,
)
from app.cli.interrupts import unless, until_interrupted
from app.cli.output import Terminal
from app.cli.talk_report import TalkReport
from app.conversation import events as e
from app.conversation.events import Processing
from app.session.control import (
    BackendChoice,
    ModelChoice,
    SessionChoice,
    SpeechChoice,
    Style,
    ToolChoice,
    UserError,
)
from app.settings.paths import echoes_path

if TYPE_CHECKING:
    from app.session.session import Session

COMMANDS = ("talk", "replay")


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
    talk = commands.add_parser("talk", parents=[common], help="a conversation with a sound file, or with the devices")
    talk.add_argument("--input", metavar="Q.wav", help="a sound file that asks, instead of the microphone")
    talk.add_argument("--output", metavar="A.wav", help="a file for the answer, instead of the loudspeaker")
    talk.add_argument("--frontend", default="cascade", help="what hears and speaks (default: cascade)")
    talk.add_argument(
        "--url", default="", metavar="URL", help="with --frontend remote: the voice server, ws://HOST:8998"
    )
    add_backend(talk)
    add_engine(talk)
    talk.add_argument(
        "--swap",
        action="append",
        default=[],
        type=swap,
        metavar="SECONDS=BACKEND[:MODEL][@URL]",
        help="change the back-end at that time of the conversation; may be given again",
    )
    talk.add_argument(
        "--compare",
        dest="secondary",
        default=None,
        type=backend,
        metavar="BACKEND[:MODEL][@URL]",
        help="a second back-end that answers beside the first, and is written down",
    )
    talk.add_argument(
        "--temperature", type=temperature, default=None, metavar="T", help="0 to 2 (default: the back-end's own)"
    )
    talk.add_argument("--length", choices=("short", "medium", "long"), default="medium", help="of answers")
    talk.add_argument(
        "--tool",
        action="append",
        default=[],
        metavar="NAME",
        help="a tool that the back-end may use: calculator, clock, files, mcp:NAME",
    )
    talk.add_argument("--folder", action="append", default=[], help="a folder that the tool “files” may read")
    talk.add_argument(
        "--allow-acting",
        action="store_true",
        help="let tools send and change things without asking; whoever wrote what the model reads may then decide what",
    )
    talk.add_argument("--cap", type=dollars, default=0.0, metavar="DOLLARS", help="what the conversation may cost")
    talk.add_argument("--context", type=whole_number, default=0, metavar="FRAMES", help="how far they remember")
    talk.add_argument(
        "--delay-ms",
        type=milliseconds,
        default=0,
        metavar="MS",
        help="silence that kame or moshi keeps before it answers",
    )
    talk.add_argument(
        "--lead-ms",
        type=milliseconds,
        default=0,
        metavar="MS",
        help="how much later than the transcriber kame or moshi hears you",
    )
    talk.add_argument(
        "--patience",
        type=patience,
        default=0.0,
        metavar="N",
        help="how long your pauses are waited out: 0 (shortest) to 10, default 5",
    )
    talk.add_argument(
        "--recogniser",
        default="",
        metavar="MODEL",
        help="what hears you: a model of “models list” (default: the app's choice)",
    )
    talk.add_argument("--rate", type=speaking_rate, default=1.0, metavar="R", help="how fast it speaks: 0.5 to 2")
    talk.add_argument("--volume", type=speaking_volume, default=1.0, metavar="V", help="how loud it is: 0 to 2")
    talk.add_argument("--realtime", action="store_true", help="play the file at the pace of sound")
    talk.add_argument("--record", default="", metavar="FOLDER", help="keep events.jsonl and both sides' sound")
    talk.add_argument("--microphone", default="", metavar="NAME", help="an input device by name")
    talk.add_argument("--loudspeaker", default="", metavar="NAME", help="an output device by name")
    talk.add_argument(
        "--no-echo-cancellation", action="store_true", help="leave the app's own voice in the microphone's sound"
    )
    talk.add_argument("--noise-suppression", action="store_true", help="take steady noise out of it")
    talk.add_argument("--auto-gain", action="store_true", help="make a quiet voice louder")

    replay = commands.add_parser("replay", parents=[common], help="tell a recorded talk again")
    replay.add_argument("folder", metavar="FOLDER")
    replay.add_argument("--realtime", action="store_true", help="at the pace at which it happened")
    replay.add_argument("--play", action="store_true", help="play both sides on the loudspeaker")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Runs one of `COMMANDS`; returns the exit code. Raises UserError."""
    return asyncio.run(_talk(args, terminal)) if args.command == "talk" else _replay(args, terminal)


class Swapper:
    """Changes a session's back-end at the times in `swaps`, in seconds since the session started.

    Each swap waits until the previous one has completed or been rejected, so that they happen in order.
    """

    def __init__(self, session: Session, swaps: list[tuple[float, BackendChoice]]) -> None:
        self._session = session
        self._swaps = sorted(swaps, key=lambda pair: pair[0])
        if swaps:
            session.add_listener(self._take)

    def _take(self, event: e.Event) -> None:
        state = self._session.state
        if isinstance(event, e.LevelMeasured) and self._swaps and state.wanted.backend == state.driving:
            seconds, choice = self._swaps[0]
            if event.at >= seconds:
                del self._swaps[0]
                self._session.change(backend=choice)


async def _talk(args: argparse.Namespace, terminal: Terminal) -> int:
    from app import main as compose
    from app.audio.devices.duplex import DeviceDuplexAudio
    from app.audio.devices.loudspeaker import Loudspeaker
    from app.audio.devices.microphone import Microphone
    from app.audio.echo.store import EchoStore
    from app.audio.io.base import AudioSink, AudioSource
    from app.audio.io.files import FileSink, FileSource

    if args.input and args.output and os.path.realpath(args.input) == os.path.realpath(args.output):
        raise UserError("The answer can't be written over the question. Choose another file for --output.")
    edge = None
    if args.input or args.output:
        # One side is a file, so there is no echo to cancel.
        source: AudioSource = (
            FileSource(args.input, realtime=args.realtime or not args.output)
            if args.input
            else Microphone(args.microphone or None)
        )
        sink: AudioSink = FileSink(args.output) if args.output else Loudspeaker(args.loudspeaker or None)
    else:
        processing = Processing(not args.no_echo_cancellation, args.noise_suppression, args.auto_gain)
        edge = DeviceDuplexAudio(args.microphone, args.loudspeaker, processing, echoes=EchoStore(echoes_path()))
        source, sink = edge.source, edge.sink
    paced = args.realtime or not (args.input and args.output)
    choice = SessionChoice(
        frontend=args.frontend,
        backend=choice_of(args),
        secondary=args.secondary,
        style=Style(args.persona, args.temperature, args.length),
        tools=ToolChoice(tuple(args.tool), tuple(args.folder)),
        cap=args.cap,
        model=ModelChoice(args.weights, args.precision, args.device, args.context, args.delay_ms, args.lead_ms),
        speech=SpeechChoice(args.language, args.recogniser, args.voice, args.rate, args.volume),
        answer_mode=args.answer_mode,
        patience=args.patience,
        openings=not args.no_openings,
        duplex=True,
        record_folder=args.record,
        server=args.url,
    )
    report = TalkReport(terminal, paced=paced)
    # Report problems with files and devices immediately, not after the models have loaded.
    _check_ends(args)
    terminal.progress("Getting ready …")
    talk = compose.session(
        choice,
        source,
        sink,
        edge=edge,
        pace="real" if paced else "fast",
        consent="allow" if args.allow_acting else "refuse",
        tools_first=bool(args.input),  # a file can't wait for a tool server that starts late
    )
    async with talk:
        talk.add_listener(report.take)
        if not args.input:
            keys = "Enter silences an answer, and Ctrl-C ends the conversation"
            if not _on_enter(talk.silence):
                keys = "Ctrl-C ends the conversation"
            terminal.note(f"Talk now; {keys}.")
        Swapper(talk, args.swap)
        with until_interrupted() as stopped:
            if not await unless(stopped, talk.ended()):
                await talk.stop()
    heard = any(t.speaker == "user" and t.text for t in report.record.turns)
    if args.input and not heard and not report.failures:
        report.fail(
            f"No words were heard in {Path(args.input).name}, so nothing was answered. Speak nearer to the "
            "microphone, or choose another file."
        )
    report.say_summary()
    terminal.document({"ok": not report.failures, **report.summary(), "output": args.output, "record": args.record})
    return 2 if report.failures else 0


def _check_ends(args: argparse.Namespace) -> None:
    from app.audio.devices.listing import find_device
    from app.audio.io.files import FileSink, check_sound_file

    if args.input:
        check_sound_file(Path(args.input))
    else:
        find_device("microphone", args.microphone or None)
    if args.output:
        with FileSink(args.output):
            pass
    else:
        find_device("loudspeaker", args.loudspeaker or None)


def _on_enter(call: Callable[[], None]) -> bool:
    """Calls `call` on the running loop whenever Enter is pressed, until the process exits.

    Returns False if standard input is not a terminal, in which case nothing is ever called.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        return False
    loop, keys = asyncio.get_running_loop(), sys.stdin.fileno()

    def read() -> None:
        with contextlib.suppress(OSError, RuntimeError):  # the terminal is gone, or the conversation is over
            while os.read(keys, 1024):  # not from `sys.stdin`, whose lock would be held when Python exits
                loop.call_soon_threadsafe(call)

    threading.Thread(target=read, name="keys", daemon=True).start()
    return True


def _replay(args: argparse.Namespace, terminal: Terminal) -> int:
    from app.history.recordings import Replay

    replay = Replay(Path(args.folder))
    report = TalkReport(terminal)
    for event in replay.events(realtime=args.realtime and not args.play):
        report.take(event)
    if args.play:
        replay.play()
    report.say_summary()
    terminal.document({"ok": True, **report.summary(), "events": replay.counts()})
    return 0
