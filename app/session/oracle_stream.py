"""Streams one oracle revision from a back-end to the runner that asked for it, and what both need of the session."""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from typing import Protocol

from app.backend.base import (
    USER_FIXABLE,
    Backend,
    BackendError,
    CallDeferred,
    CallRefused,
    ChatRequest,
    ConsentNeeded,
    FaultKind,
    Notice,
    StreamItem,
    Thinking,
    ToolEnded,
    ToolStarted,
    Usage,
    made_for,
)
from app.backend.model_record import ModelRecords
from app.backend.thinking import KEPT_LETTERS
from app.conversation import events as e
from app.conversation.oracle import COLD_SECONDS, Kind, Pace
from app.conversation.speaking.revisions import OracleThinks
from app.conversation.words import WordGatherer
from app.session.mailbox import Message
from app.tools.consent import Proposal
from app.untrusted.text import harmless


@dataclass(slots=True)
class OracleContext:
    """`request` builds the chat request for (back-end, turn, words, whether tools may act); `stream` sends it.

    `post` sends a message to the front-end, `emit` an event to every listener; `now` is the session's time in seconds.
    `ask_consent` lets calls that a revision wants to make for a turn wait for the user.
    `group` holds the tasks of all streams, `numbers` counts revisions. `records`: what is known of models. `cost`
    returns US dollars or None; `allowed` returns whether a back-end may be asked at all. `acts`: whether tools may
    change something. Callbacks: `used` gets each tool call and its turn; `failed` the event that is about to report a
    failure, its kind and the back-end; `changed` the back-end that the standby replaced. `rescue` has another back-end
    opened, since none is left; it returns False if there is none.
    """

    request: Callable[[Backend, int, str, bool], ChatRequest]
    post: Callable[[Message], None]
    emit: Callable[[e.Event], None]
    now: Callable[[], float]
    group: asyncio.TaskGroup
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    stream: Callable[[Backend, ChatRequest], AbstractAsyncContextManager[AsyncIterator[StreamItem]]] = (
        lambda backend, request: backend.stream(request)
    )
    records: ModelRecords = field(default_factory=ModelRecords)
    cost: Callable[[Backend, Usage], float | None] = lambda backend, usage: None
    allowed: Callable[[Backend], bool] = lambda backend: True
    acts: Callable[[], bool] = lambda: False
    ask_consent: Callable[[int, int, Proposal], None] = lambda revision, turn, proposal: None
    used: Callable[[int, str], None] = lambda turn, tool: None
    failed: Callable[[e.Failure, FaultKind, Backend], None] = lambda failure, kind, backend: None
    changed: Callable[[Backend], None] = lambda failed: None
    rescue: Callable[[], bool] = lambda: False

    def pace(self, backend: Backend) -> Pace:
        """Returns what is known of a back-end's speed."""
        return self.records.of_backend(backend).pace_of(backend.traits)


def backend_failure(at: float, sentence: str, kind: FaultKind, backend: Backend, *, secondary: bool) -> e.Failure:
    """Returns the event for a back-end's failure, which names it if the user can correct its key or server."""
    if secondary:
        sentence = f"The comparison model: {sentence}"
    who = made_for(backend) if kind in USER_FIXABLE else ("", "", "")
    return e.Failure(at, "backend", sentence, False, *who, secondary=secondary, about="backend")


_log = logging.getLogger(__name__)

LONGEST_REST_SECONDS = 120.0
"""The longest time for which no request is sent because a server asked for it: it may work again by then."""
SHORT_WAIT_SECONDS = 2.0
"""Longer waits for a server's rate limit are explained to the user."""
ROUNDING_SECONDS = 0.01

CHARS_PER_TOKEN = 4.0
"""Of English text; estimates tokens where the server did not count them."""


LONG_THINKING_SECONDS = 5.0
"""After such a time the user is told that the model is thinking."""


class StreamOwner(Protocol):
    """The part of a runner that its streams use."""

    @property
    def secondary(self) -> bool: ...
    def deliver(self, stream: OracleStream, text: str) -> None: ...
    def notify(self, stream: OracleStream, notice: Notice) -> None: ...
    def fail(self, stream: OracleStream, error: BackendError) -> None: ...
    def end(self, stream: OracleStream, reason: e.EndReason) -> None: ...


class RequestSchedule:
    """Sends requests when the rate limits of their servers allow it: final ones first, partial ones if room is left.

    All times are the event loop's, since budgets outlive a session.

    - `ask`: called with the turn that has waited, once its server accepts requests again.
    - `secondary`: waits are not reported to the user.
    """

    def __init__(self, context: OracleContext, ask: Callable[[int], None], *, secondary: bool) -> None:
        self._context = context
        self._ask = ask
        self._secondary = secondary
        self._waiting: asyncio.TimerHandle | None = None
        self._waited_turn = self._left_out_turn = 0
        self._explained_limit = False

    @property
    def waits(self) -> bool:
        """Whether a request waits for its server."""
        return self._waiting is not None

    def may_send(self, backend: Backend, turn: int, kind: Kind, longest_wait: float) -> bool:
        """Returns whether a request may be sent now. If a short wait is all that it needs, it waits instead."""
        budget, clock = self._context.pace(backend).budget, self._clock()
        if not budget.allows(kind, clock):
            if turn != self._left_out_turn:
                self._left_out_turn = turn
                limit = "unknown" if budget.limit is None else f"{budget.limit:.0f} a minute"
                _log.info("turn %d: %s is not asked early, to keep its limit (%s) free", turn, backend.name, limit)
            if budget.known and budget.limit is not None and not self._explained_limit:
                self._explained_limit = True
                self._explain(
                    f"{backend.name} accepts about {budget.limit:.0f} requests a minute. While that is used up, it is "
                    "asked only when you have finished, so its answers take longer to begin."
                )
            return False
        self.stop()
        if ROUNDING_SECONDS < (rest := budget.rests_until - clock) <= longest_wait:
            self.wait(backend, turn, rest)
            return False
        return True

    def sent(self, backend: Backend) -> bool:
        """Counts a request. Returns whether the model may have been unloaded since the one before."""
        return self._context.pace(backend).budget.sent(self._clock()) > COLD_SECONDS

    def refused(self, backend: Backend, error: BackendError) -> float:
        """Records a failure. Returns how many seconds the server asked to wait."""
        rest, clock = min(error.retry_after, LONGEST_REST_SECONDS), self._clock()
        budget = self._context.pace(backend).budget
        if error.kind == "quota" and rest > 0:
            budget.refused(clock, rest)
        elif rest:
            budget.rests_until = clock + rest
        return rest

    def wait(self, backend: Backend, turn: int, seconds: float) -> None:
        """Asks about `turn` once its server accepts requests again."""
        self.stop()

        def ask() -> None:
            self._waiting = None
            self._ask(turn)

        self._waiting = asyncio.get_running_loop().call_later(seconds + ROUNDING_SECONDS, ask)
        if seconds > SHORT_WAIT_SECONDS and self._waited_turn != turn:
            self._waited_turn = turn
            self._explain(
                f"{backend.name} accepts no more requests this minute, so the answer comes in {round(seconds)} seconds."
            )

    def stop(self) -> None:
        """Drops the request that is waiting."""
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _explain(self, sentence: str) -> None:
        if not self._secondary:
            self._context.emit(e.Notice(self._context.now(), "backend", sentence))

    @staticmethod
    def _clock() -> float:
        return asyncio.get_running_loop().time()


@dataclass(slots=True, eq=False)
class OracleStream:
    """One revision while it arrives: its request, and what has been received.

    - `owner`: its runner, which changes when the revision is handed over; `order`: its place among that one's
      revisions.
    - `count`: words received; `sent`: tokens sent. Times are seconds of session time.
    """

    owner: StreamOwner
    revision: int
    turn: int
    words: str
    final: bool
    backend: Backend
    asked_at: float
    order: int = 0
    cold: bool = False
    """The model may have been unloaded before this request."""
    task: asyncio.Task[None] | None = None
    count: int = 0
    text: str = ""
    first_at: float | None = None
    sent: int = 0
    usage: Usage | None = None
    counted_letters: int = 0
    thought_letters: int = 0
    """Characters of the model's thinking that the server has not counted yet."""
    thought: str = ""
    """What it has thought and not emitted yet."""
    thinking_reported: bool = False
    uncounted: bool = True  # the server has not counted the newest request
    over: bool = False
    enough: bool = False
    paused: bool = False
    """The user was silent at the request, so the words may be complete."""
    complete: bool = False
    retry: bool = False
    deferred: bool = False
    """It wanted to call a tool that waits for the whole turn."""

    @property
    def usable(self) -> bool:
        """Whether it is complete or still arriving."""
        return self.complete or not self.over

    def add_usage(self, usage: Usage) -> None:
        """Adds the tokens that the server has counted."""
        before = self.usage or Usage(0, 0)
        self.uncounted, self.counted_letters, self.thought_letters = False, len(self.text), 0
        self.usage = Usage(
            before.tokens_in + usage.tokens_in,
            before.tokens_out + usage.tokens_out,
            before.tokens_cached + usage.tokens_cached,
            before.counted and usage.counted,
        )

    def total(self) -> Usage | None:
        """Returns the tokens of the request, estimated where the server has not counted; None if nothing was sent."""
        usage = self.usage
        if usage is None and not self.sent:
            return None
        if usage is not None and not self.uncounted:
            return usage
        usage = usage or Usage(0, 0)
        letters = len(self.text) - self.counted_letters + self.thought_letters
        return Usage(
            usage.tokens_in + self.sent,
            usage.tokens_out + round(letters / CHARS_PER_TOKEN),
            usage.tokens_cached,
            counted=False,
        )


def count(stream: OracleStream, context: OracleContext, now: float) -> None:
    """Emits the usage and the speed of a stream that has ended."""
    usage = stream.total()
    if usage is None:
        return
    first, speed = None, None
    pace = context.pace(stream.backend)
    if stream.first_at is not None:
        first = round(1000 * (stream.first_at - stream.asked_at), 1)
        pace.ended(stream.count, now - stream.first_at)
        if now > stream.first_at:
            speed = round(stream.count / (now - stream.first_at), 1)
    context.emit(
        e.OracleCounted(
            now,
            stream.revision,
            stream.backend.name,
            stream.backend.model,
            usage.tokens_in,
            usage.tokens_out,
            usage.tokens_cached,
            usage.counted,
            context.cost(stream.backend, usage),
            first,
            speed,
            round(1000 * pace.interval, 1),
            stream.owner.secondary,
        )
    )


async def run(stream: OracleStream, context: OracleContext) -> None:
    """Runs one stream from its request to its end."""
    gatherer = WordGatherer()
    reason: e.EndReason = "complete"
    name = stream.backend.name
    try:
        await _take_in(stream, context, gatherer)
        if stream.deferred:
            reason = "superseded"  # by the request for the whole turn
        elif not stream.over and not stream.count:
            raise BackendError(f"{name} gave an empty answer. Ask again, or choose another model.", "empty")
    except asyncio.CancelledError:
        reason = "superseded"
        raise
    except BackendError as error:
        stream.owner.deliver(stream, gatherer.flush())
        stream.owner.fail(stream, error)
        reason = "failed"
    except Exception as error:
        stream.owner.deliver(stream, gatherer.flush())
        stream.owner.fail(
            stream,
            BackendError(
                f"{name} failed in a way that this app does not know ({type(error).__name__}). "
                "Ask again, or choose another model."
            ),
        )
        reason = "failed"
    finally:
        stream.owner.end(stream, reason)


async def _take_in(stream: OracleStream, context: OracleContext, gatherer: WordGatherer) -> None:
    may_act = stream.final and not stream.owner.secondary
    request = context.request(stream.backend, stream.turn, stream.words, may_act)
    request = replace(request, defers=not stream.final and not stream.owner.secondary)
    async with context.stream(stream.backend, request) as items:
        stream.sent = round(_letters(request) / CHARS_PER_TOKEN)
        async for item in items:
            match item:
                case str():
                    if item.strip():
                        _tell_thought(stream, context)
                    stream.owner.deliver(stream, gatherer.push(item))
                case Usage():
                    stream.add_usage(item)
                case Thinking(letters, text):
                    stream.thought_letters += letters
                    stream.thought = (stream.thought + text)[:KEPT_LETTERS]
                    _report_thinking(stream, context)
                case Notice():
                    stream.owner.notify(stream, item)
                case ToolStarted():
                    context.used(stream.turn, item.name)
                    context.emit(e.ToolCalled(context.now(), stream.revision, item.name, item.arguments))
                case ConsentNeeded(proposal) if not stream.over:
                    context.ask_consent(stream.revision, stream.turn, proposal)
                case CallDeferred():
                    stream.deferred = True
                    return
                case CallRefused():
                    context.emit(e.CallNotMade(context.now(), stream.revision, item.name, item.arguments))
                case ToolEnded(name, ok, text, seconds):
                    stream.uncounted = True  # the result is sent to the model
                    context.emit(e.ToolReturned(context.now(), stream.revision, name, ok, text, round(seconds, 3)))
            if stream.over or stream.enough:
                return  # its first words have started a newer one, or what follows belongs to the next sentence
    _tell_thought(stream, context)
    stream.owner.deliver(stream, gatherer.flush())


def _tell_thought(stream: OracleStream, context: OracleContext) -> None:
    """Emits what the model has thought, once."""
    if stream.thought and not stream.over:
        context.emit(e.OracleThought(context.now(), stream.revision, harmless(stream.thought)))
    stream.thought = ""


def _report_thinking(stream: OracleStream, context: OracleContext) -> None:
    """Explains the wait once, on the screen and aloud, if the model thinks for long about a complete turn."""
    waited = context.now() - stream.asked_at
    if stream.final and not stream.count and not stream.thinking_reported and waited >= LONG_THINKING_SECONDS:
        stream.thinking_reported = True
        name = stream.backend.name
        stream.owner.notify(stream, Notice(f"{name} is still thinking. Its answer comes when it has finished."))
        if not stream.owner.secondary:
            context.post(OracleThinks(stream.revision))


def _letters(request: ChatRequest) -> int:
    return sum(len(getattr(m, "content", "") or getattr(m, "text", "")) for m in request.messages)
