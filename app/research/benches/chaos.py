"""`bench chaos`: breaks one part after the other in the middle of conversations, and checks what the user gets.

Each turn of a conversation in real time is a spoken question, during which a part is killed, stopped or broken, at a
moment that the seed chooses. The turn must end with an answer, or with a sentence that says what happened. Threads,
open files, children and locks are counted before and after. Windows can't stop a process, so stops are left out there.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import signal
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from app.backend.base import BackendError
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.diagnostics.tables import Progress, markdown, no_progress
from app.models.pool import MODELS
from app.platform.children import ChildError, ChildWorker
from app.platform.supervision import CARD, CardBusyError
from app.research.benches.recordings import Conversation, MakeSession, Recording, load_questions
from app.research.results import report
from app.session.control import BackendChoice, SessionChoice, SpeechChoice
from app.session.recorder import BROKEN_PART
from app.stt.base import TranscriberError
from app.stt.whisper_decoder import WhisperDecoder
from app.tts.base import VoiceError

Way = Literal["kill", "stop", "break"]
Moment = Literal["load", "partial", "first word", "mid-answer", "pause"]
MOMENTS: tuple[Moment, ...] = ("load", "partial", "first word", "mid-answer", "pause")
WAYS: tuple[Way, ...] = ("kill", "break") if sys.platform == "win32" else ("kill", "stop", "break")
LIMIT_FRAMES = round(30 / FRAME_SECONDS)
"""By then a turn must have ended, counted from the question's end."""
ENOUGH_WORDS = 1
"""An answer is silenced after so many more of its pieces, since the rest would only take time."""
QUIET_SECONDS = 0.8
"""How long a session must have been quiet before its turn counts as over: a sentence about a failure may come late."""
SETTLE_SECONDS = 0.3
"""Silence between a turn and the next one."""
CHECKS_OF_REST = 60
"""How often to look, every `SETTLE_SECONDS`, whether all children have ended."""
MODULES = {
    "model": "app.backend.embedded_server",
    "voice": "app.tts.",
    "recogniser": "app.stt.moonshine_worker",
    "words": "app.stt.text_endpointing_worker",
    "server": "app.research.benches.chaos_server",
}
"""The module that the child of each part runs, or the start of its name."""
PARTS = tuple(MODULES)
_AT: dict[Moment, type[e.Event]] = {
    "partial": e.TranscriptPartial,
    "pause": e.UserPaused,
    "first word": e.OracleDelta,
    "mid-answer": e.AssistantSaid,
}


@dataclass(frozen=True, slots=True)
class ChaosTurn:
    """What became of a turn.

    - `hit`: whether the moment came, and there was something to break
    - `answered`: whether any word of an answer was heard
    - `sentences`: the failures that the user was shown
    - `frames`: from the question's end to the turn's end
    - `notices`: what the user was told besides, such as that a part was started again
    """

    part: str
    way: Way
    moment: Moment
    hit: bool
    answered: bool
    sentences: tuple[str, ...]
    frames: int
    notices: tuple[str, ...] = ()

    @property
    def fault(self) -> str:
        """What is wrong with the turn; empty if nothing is."""
        if any(BROKEN_PART in sentence or "fault of the app" in sentence for sentence in self.sentences):
            return "a fault of the app"
        if not (self.answered or self.sentences):
            return "neither an answer nor a sentence"
        return "too late" if self.frames > LIMIT_FRAMES else ""


@dataclass(slots=True)
class ChaosResult:
    """All turns, and the counts of each part's threads, files, children and locks before and after its turns."""

    turns: list[ChaosTurn] = field(default_factory=list)
    before: dict[str, dict[str, int]] = field(default_factory=dict)
    after: dict[str, dict[str, int]] = field(default_factory=dict)

    @property
    def leaks(self) -> list[str]:
        """What there was more of after a part's turns than before."""
        return [
            f"{part}: {what} {self.before[part][what]} → {count}"
            for part, counts in self.after.items()
            for what, count in counts.items()
            if count > self.before[part][what]
        ]

    @property
    def ok(self) -> bool:
        """Whether every turn ended as it must, and nothing leaked."""
        return bool(self.turns) and not self.leaks and not any(turn.fault for turn in self.turns)

    def table(self) -> str:
        """Returns the result as a Markdown table, with each wrong turn below it."""
        head = ["part", "turns", "hit", "answered", "a failure", "a notice", "wrong", "longest (s)"]
        rows = []
        for part in dict.fromkeys(turn.part for turn in self.turns):
            own = [turn for turn in self.turns if turn.part == part]
            counts = (len(own), *(sum(bool(x) for x in column) for column in zip(*map(_columns, own), strict=True)))
            rows.append((part, *counts, f"{max(turn.frames for turn in own) * FRAME_SECONDS:.1f}"))
        wrong = [f"{t.part}, {t.way} at {t.moment}: {t.fault}. {' '.join(t.sentences)}" for t in self.turns if t.fault]
        leaks = [f"Leaked: {leak}" for leak in self.leaks]
        return report("Parts killed, stopped and broken", "", markdown(head, rows), [*wrong, *leaks])

    def document(self) -> dict[str, Any]:
        """Returns the result as a JSON-compatible dict."""
        turns = [{**asdict(turn), "fault": turn.fault} for turn in self.turns]
        return {"turns": turns, "before": self.before, "after": self.after, "leaks": self.leaks}


def _columns(turn: ChaosTurn) -> tuple[object, ...]:
    return turn.hit, turn.answered, turn.sentences, turn.notices, turn.fault


def processes(part: str) -> list[int]:
    """Returns the process IDs of a part's children."""
    import psutil

    found = []
    for child in psutil.Process().children():
        with suppress(psutil.Error):
            if any(argument.startswith(MODULES[part]) for argument in child.cmdline()):
                found.append(child.pid)
    return found


def counted() -> dict[str, int]:
    """Counts what a conversation could leave behind."""
    import psutil

    gc.collect()
    own = psutil.Process()
    threads = [one for one in threading.enumerate() if not one.name.startswith("asyncio_")]  # these are kept for reuse
    files = own.num_handles() if sys.platform == "win32" else own.num_fds()
    return {"threads": len(threads), "files": files, "children": len(own.children()), "locks": _locks()}


async def _counted_at_rest() -> dict[str, int]:
    """Counts once no child is left: one that was loading at the end of a conversation ends a little later."""
    for _ in range(CHECKS_OF_REST):
        if not counted()["children"]:
            break
        await asyncio.sleep(SETTLE_SECONDS)
    return counted()


def _locks() -> int:
    held = 0
    for take in (CARD.hold, CARD.work):
        try:
            with take("the bench", 0.0):
                pass
        except CardBusyError:
            held += 1
    return held


class _Breaker:
    """Breaks a part. While entered, the passes of Whisper and the answers of children can be made to fail."""

    def __init__(self, part: str, way: Way) -> None:
        self.part, self.way = part, way
        self.hit = False
        self._fails = 0
        self._stopped: list[int] = []

    def strike(self) -> None:
        """Does it, once."""
        if self.hit:
            return
        pids = processes(self.part)
        if self.part == "recogniser" and not pids:  # Whisper runs in this process
            self.hit, self._fails = True, 1 if self.way == "kill" else 3
        elif self.way == "break" and self.part not in ("model", "server"):
            self.hit, self._fails = bool(pids), 1
        for pid in pids if not self._fails else ():
            self.hit = True
            with suppress(ProcessLookupError):
                if self.way == "stop":
                    os.kill(pid, signal.SIGSTOP)
                    self._stopped.append(pid)
                else:
                    crash = signal.SIGTERM if sys.platform == "win32" else signal.SIGSEGV
                    os.kill(pid, crash if self.way == "break" else getattr(signal, "SIGKILL", signal.SIGTERM))

    @contextmanager
    def at_hand(self) -> Iterator[None]:
        decode, ask = WhisperDecoder.decode, ChildWorker._ask

        def fails() -> bool:
            self._fails -= self._fails > 0
            return True

        def broken_decode(decoder: WhisperDecoder, samples: Any) -> str:
            if self.part == "recogniser" and self._fails and fails():
                decoder._loaded.broken = True
                raise RuntimeError("CUDA failed with error unspecified launch failure")
            return decode(decoder, samples)

        def broken_ask(child: ChildWorker, *arguments: Any) -> Any:
            if self._fails and child._module.startswith(MODULES[self.part]) and fails():
                raise ValueError("the answer is malformed")
            return ask(child, *arguments)

        WhisperDecoder.decode, ChildWorker._ask = broken_decode, broken_ask  # type: ignore[method-assign,assignment]
        try:
            yield
        finally:
            WhisperDecoder.decode, ChildWorker._ask = decode, ask  # type: ignore[method-assign]
            for pid in self._stopped:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)


class _Server:
    """The loopback server; started again on the same port after it was killed."""

    def __init__(self) -> None:
        self._port = 0
        self._child: ChildWorker | None = None

    def start(self) -> BackendChoice:
        if self._child is None or not self._child.alive():
            self.close()
            self._child = ChildWorker(MODULES["server"], str(self._port))
            self._port = json.loads(self._child.start())["port"]
        return BackendChoice("compatible", "chaos", f"http://127.0.0.1:{self._port}/v1")

    def close(self) -> None:
        if self._child is not None:
            self._child.close()


async def run_chaos(
    make: MakeSession,
    parts: Sequence[str] = PARTS,
    turns: int = 40,
    seed: int = 0,
    questions: Sequence[Recording] = (),
    progress: Progress = no_progress,
    recogniser: str = "",
) -> ChaosResult:
    """Has `turns` turns for each of `parts`. `make` creates a session from a choice.

    - `questions`: what is asked; by default the shortest one of the benches' questions
    - `recogniser`: the recogniser's key; empty for the default
    """
    asked = questions or sorted(load_questions(), key=lambda question: len(question.samples))[:1]
    result = ChaosResult()
    choice = SessionChoice(duplex=True, openings=False, speech=SpeechChoice(recogniser=recogniser))
    for part in parts:
        await _run_part(make, choice, part, 1, random.Random(seed), asked, ChaosResult(), progress)  # opens libraries
        result.before[part] = await _counted_at_rest()
        await _run_part(make, choice, part, turns, random.Random(f"{seed} {part}"), asked, result, progress)
        result.after[part] = await _counted_at_rest()
    return result


async def _run_part(
    make: MakeSession,
    choice: SessionChoice,
    part: str,
    turns: int,
    rng: random.Random,
    asked: Sequence[Recording],
    result: ChaosResult,
    progress: Progress,
) -> None:
    server, done = _Server(), 0
    with MODELS.keeping(), ExitStack() as held:
        held.callback(server.close)
        while done < turns:
            moments = [MOMENTS[0], *rng.sample(MOMENTS[1:], len(MOMENTS) - 1)][: turns - done]
            plans = [(moment, rng.choice(WAYS)) for moment in moments]
            found = await _run_talk(make, choice, part, plans, rng, asked, server)
            result.turns += found
            done += len(found)
            progress(f"{part}: {done} of {turns} turns")


async def _run_talk(
    make: MakeSession,
    choice: SessionChoice,
    part: str,
    plans: Sequence[tuple[Moment, Way]],
    rng: random.Random,
    asked: Sequence[Recording],
    server: _Server,
) -> list[ChaosTurn]:
    """Has a conversation with one turn for each of `plans`, of which the first one is at the load."""
    found: list[ChaosTurn] = []
    if part == "server":
        choice = SessionChoice(duplex=True, openings=False, speech=choice.speech, backend=server.start())
    first = _Breaker(part, plans[0][1])
    with first.at_hand():
        striking = asyncio.create_task(_strike_while_loading(first, rng.uniform(0.0, 1.0)))
        try:
            talk = await Conversation(make, choice).__aenter__()
        except (BackendError, TranscriberError, VoiceError, ChildError) as error:
            return [ChaosTurn(part, plans[0][1], "load", first.hit, False, (str(error),), 0)]
        finally:
            await striking
        found.append(await _ask(talk, first, "load", rng.choice(asked)))
    try:
        for moment, way in plans[1:]:
            if part == "server":
                server.start()
            breaker = _Breaker(part, way)
            with breaker.at_hand():
                found.append(await _ask(talk, breaker, moment, rng.choice(asked)))
    finally:
        await talk.__aexit__(None, None, None)
    return found


async def _strike_while_loading(breaker: _Breaker, delay: float) -> None:
    await asyncio.sleep(delay)
    for _ in range(40):
        breaker.strike()
        if breaker.hit:
            return
        await asyncio.sleep(0.05)


async def _ask(talk: Conversation, breaker: _Breaker, moment: Moment, question: Recording) -> ChaosTurn:
    seen: Counter[type[e.Event]] = Counter()
    needed = 2 if moment == "mid-answer" else 1
    over = [False]

    def watch(event: e.Event) -> None:
        seen[type(event)] += 1
        if not over[0] and moment != "load" and isinstance(event, _AT[moment]) and seen[type(event)] == needed:
            breaker.strike()
        if not over[0] and isinstance(event, e.AssistantSaid) and seen[type(event)] == needed + ENOUGH_WORDS:
            talk.session.silence()

    talk.session.add_listener(watch)
    turn = await talk.ask(question, settle=QUIET_SECONDS, patience=LIMIT_FRAMES * FRAME_SECONDS + 1)
    over[0] = True
    frames = talk.session.frames - round(turn.end / FRAME_SECONDS)
    told = tuple(dict.fromkeys(event.sentence for event in turn.of(e.Failure)))
    notices = tuple(dict.fromkeys(event.sentence for event in turn.of(e.Notice)))
    answered = bool(turn.of(e.AssistantSaid))
    return ChaosTurn(breaker.part, breaker.way, moment, breaker.hit, answered, told, frames, notices)
