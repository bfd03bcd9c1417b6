"""Runs simulated talks again with lost audio, and compares them with the same audio with silence in its place. What the
user does must be seen alike: turns, pauses and words, at the same frames. This can only hold as long as the answering
side does the same. It lives in real time, and a gap holds its voice up, so it may be ready or speak at other frames.
`Rehearsal.inputs` records that for each frame, and user-side events are compared up to the first difference. A gap at
the moment at which the user presses, types or changes something would decide at which frame that takes effect, so no
fault is planned there. A question that is asked aloud comes from the app and isn't lost in a gap, so such talks can't
be compared."""

import asyncio
import contextlib
import logging
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from app.audio.io.base import AudioSource
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.conversation.turns.tracker import TurnTracker
from app.frontend.base import SetAnswerMode, SetDials, SetOpenings
from app.session.mailbox import AskAloud, Mailbox, SetDuplex, SetPatience, SilenceAnswer, TalkButton, TypedTurn
from app.session.session import Session
from tests.support.talks import REHEARSALS, Fault, FaultySource, Talk

LOSSLESS_FRAMES = 4
"""A longer stall than this loses audio."""
ADDRESS = re.compile(r" at 0x[0-9a-f]+")
"""Of an object, which is another one in each run."""
ACTIONS = (TalkButton, TypedTurn, SilenceAnswer, SetDuplex, SetPatience, SetDials, SetAnswerMode, SetOpenings)
"""What the user does besides speaking, at a time of the loop."""
AROUND_FRAMES = 2
"""No fault begins or ends so close to an action."""
USER_SIDE = (
    e.UserStarted,
    e.UserPaused,
    e.UserResumed,
    e.UserEnded,
    e.UserBackchannel,
    e.TalkTapped,
    e.TranscriptPartial,
    e.TranscriptFinal,
)


@dataclass
class Rehearsal:
    """One run of a test.

    - `kind`: with the faults, or with silence in the place of what they lose.
    - `calm`: for each talk, the times around which there are no faults.
    """

    seed: str
    kind: Literal["silence", "faults"]
    calm: list[list[float]] = field(default_factory=list)
    talks: list[Talk] = field(default_factory=list)
    inputs: list[dict[float, tuple[object, ...]]] = field(default_factory=list)
    """For each talk and frame: whether the assistant spoke and was ready, and what came from outside since the last."""
    plans: list[list[Fault]] = field(default_factory=list)
    actions: list[list[float]] = field(default_factory=list)
    """For each talk, the times of the user's actions."""
    asks_aloud: bool = False
    errors: list[str] = field(default_factory=list)
    """Faults of the app, raised or logged."""

    def wrap(self, source: AudioSource, seconds: float) -> AudioSource:
        """Returns the source of the next talk with faults."""
        number = len(self.plans)
        plan = plan_faults(random.Random(f"{self.seed} {number}"), round(seconds / FRAME_SECONDS))
        plan = without_disturbance(plan, self.calm[number] if number < len(self.calm) else [])
        self.plans.append(plan)
        self.inputs.append({})
        self.actions.append([])
        return FaultySource(source, plan if self.kind == "faults" else [silenced(fault) for fault in plan])

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Records while the body of a test runs."""
        outside: list[str] = []
        stepping = False
        post, hear, on_step = Mailbox.post, TurnTracker.hear, Session._on_step

        def noted_post(mailbox: Mailbox, message: Any) -> None:
            self.asks_aloud = self.asks_aloud or isinstance(message, AskAloud)
            if isinstance(message, ACTIONS) and self.actions:
                self.actions[-1].append(asyncio.get_running_loop().time())
            if not stepping:
                outside.append(ADDRESS.sub("", repr(message))[:200])
            post(mailbox, message)

        def noted_hear(tracker: TurnTracker, at: float, windows: Any, **answer: bool) -> Any:
            if self.inputs:
                self.inputs[-1][at] = (*answer.values(), *(text for text in outside))
            outside.clear()
            return hear(tracker, at, windows, **answer)

        def noted_step(session: Session, message: Any) -> None:
            nonlocal stepping
            stepping = True
            try:
                on_step(session, message)
            finally:
                stepping = False

        handler = logging.Handler(logging.ERROR)
        handler.emit = lambda record: self.errors.append(record.msg)  # type: ignore[method-assign]
        logging.getLogger("app").addHandler(handler)
        Mailbox.post, TurnTracker.hear, Session._on_step = noted_post, noted_hear, noted_step  # type: ignore
        REHEARSALS.append(self)
        try:
            yield
        finally:
            REHEARSALS.remove(self)
            Mailbox.post, TurnTracker.hear, Session._on_step = post, hear, on_step  # type: ignore[method-assign]
            logging.getLogger("app").removeHandler(handler)


def plan_faults(rng: random.Random, frames: int) -> list[Fault]:
    """Returns about one fault in two seconds, of all kinds and lengths."""
    faults, at = list[Fault](), rng.randint(2, 12)
    while at < frames - 2:
        kind: Literal["stall", "overrun"] = rng.choice(("stall", "overrun"))
        length = rng.randint(1, LOSSLESS_FRAMES) if rng.random() < 0.5 else rng.randint(LOSSLESS_FRAMES + 1, 25)
        faults.append(Fault(at, min(length, frames - 1 - at), kind))
        at += length + rng.randint(8, 40)
    return faults


def without_disturbance(plan: list[Fault], actions: list[float]) -> list[Fault]:
    """Returns the faults that don't decide at which frame one of these actions takes effect."""

    def disturbs(fault: Fault) -> bool:
        begin, end = fault.at - AROUND_FRAMES, fault.at + fault.frames + AROUND_FRAMES
        return any(begin * FRAME_SECONDS <= at <= end * FRAME_SECONDS for at in actions)

    return [fault for fault in plan if not disturbs(fault)]


def silenced(fault: Fault) -> Fault:
    """Returns what the fault must look like to everybody."""
    lossless = fault.kind == "stall" and fault.frames <= LOSSLESS_FRAMES
    return replace(fault, kind="silence", frames=0 if lossless else fault.frames)


def compare(silence: Rehearsal, faulty: Rehearsal) -> int:
    """Checks that both saw the same of the user; returns how many events were compared."""
    assert set(faulty.errors) <= set(silence.errors), faulty.errors
    compared = 0
    pairs = zip(silence.talks, faulty.talks, silence.inputs, faulty.inputs, faulty.plans, strict=False)
    for expected, found, one, other, plan in pairs:
        until = first_difference(one, other)
        wanted = of_the_user(expected, until)
        assert of_the_user(found, until) == wanted, f"{plan}, compared until {until:.2f} s"
        compared += len(wanted)
        if until > max(*one, *other, 0.0):  # the answering side did the same throughout
            assert answers(found) == answers(expected), plan
    return compared


def answers(talk: Talk) -> dict[int, str]:
    """Returns the words that were heard in answer to each turn."""
    turns = {event.turn for event in talk.of(e.AssistantSaid)}
    return {turn: talk.said(turn) for turn in sorted(turns)}


def first_difference(one: dict[float, tuple[object, ...]], other: dict[float, tuple[object, ...]]) -> float:
    """Returns the time of the first frame at which the answering side was not the same, or one talk was over."""
    differing = (at for at in sorted({*one, *other}) if one.get(at) != other.get(at))
    return next(differing, max(one, default=0.0) + 1.0)


def of_the_user(talk: Talk, until: float) -> list[e.Event]:
    """Returns the user-side events before the frame that ends at `until`. Transcripts are without their time, which is
    that of the moment in which they were there."""
    out: list[e.Event] = []
    for event in talk.events:
        if isinstance(event, e.LevelMeasured) and event.at > until - 1.5 * FRAME_SECONDS:
            break  # a frame's last event
        if isinstance(event, e.TranscriptPartial | e.TranscriptFinal):
            event = replace(event, at=0.0)
        if isinstance(event, USER_SIDE):
            out.append(event)
    return out
