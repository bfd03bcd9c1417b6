"""What the back-ends of a session share: the pool of open ones, tools, spending and prompts."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Literal

from app.backend.base import Backend, BackendError, ChatRequest, StreamItem
from app.backend.tool_calls import stream_with_tools
from app.conversation import events as e
from app.conversation.languages import ENGLISH, language
from app.conversation.prompt import (
    LONG_DOCUMENT_BYTES,
    ChatMessage,
    Document,
    Length,
    build_prompt,
    given_words,
    material,
    system_prompt,
)
from app.conversation.record.transcript import Transcript, Turn
from app.conversation.words import fold
from app.platform.supervision import Restarts
from app.session.control import BackendChoice, Style, ToolChoice
from app.tools.base import Effect, ToolError
from app.tools.consent import Consent
from app.tools.toolbox import Toolbox

MOST_SPARE = 4
"""How many back-ends stay open besides those in use. Switching back to one is instant, but each takes memory."""


class BackendPool:
    """Back-ends by the choice that they were made for.

    - `make`: creates one without opening it; None if none can be added.
    - `first`: a back-end for `choice`, which is already open.
    - `in_use`: returns whether a back-end must not be closed yet.
    """

    def __init__(
        self,
        make: Callable[[BackendChoice], Awaitable[Backend]] | None,
        first: Backend,
        choice: BackendChoice,
        in_use: Callable[[Backend], bool],
    ) -> None:
        self._make = make
        self._open: dict[Backend, BackendChoice] = {first: choice}  # the one used last at the end
        self._failed: set[Backend] = set()
        self._in_use = in_use
        self._closed = False
        self._locks: dict[BackendChoice, asyncio.Lock] = {}

    async def get(self, choice: BackendChoice) -> Backend:
        """Returns the open back-end of a choice.

        Raises BackendError without any change. The next `close_spare` may close the result unless it is in use by then.
        """
        async with self._locks.setdefault(choice, asyncio.Lock()):  # a slow one does not delay the others
            here = (one for one, known in self._open.items() if known == choice and one not in self._failed)
            if (found := next(here, None)) is not None:
                self._open[found] = self._open.pop(found)
                return found
            if self._make is None:
                raise BackendError("This session can't change its model.", "setup")
            made = await self._make(choice)
            try:
                await made.open()
                if self._closed:
                    raise BackendError("The session is over, so its model can't be changed. Start a new one.", "setup")
            except BaseException:
                await made.close()
                raise
            self._open[made] = choice
            return made

    def choice_of(self, backend: Backend) -> BackendChoice | None:
        """Returns the choice that `backend` was made for."""
        return self._open.get(backend)

    def mark_failed(self, backend: Backend) -> None:
        """Marks `backend` as failed. The next `get` of its choice creates a new one, with the latest key and server."""
        self._failed.add(backend)

    async def close_spare(self) -> None:
        """Closes unused back-ends: those that have failed, and all but the newest `MOST_SPARE`."""
        spare = [backend for backend in self._open if not self._in_use(backend)]
        gone = [backend for backend in spare if backend in self._failed]
        rest = [backend for backend in spare if backend not in gone]
        gone += rest[: max(0, len(rest) - MOST_SPARE)]
        for backend in gone:  # before the first await, so that `get` can't return one that is closing
            del self._open[backend]
            self._failed.discard(backend)
        await self._close_all(gone)

    async def close(self) -> None:
        """Closes all back-ends. One that is still being opened is closed as soon as it is open."""
        self._closed = True
        backends, self._open = list(self._open), {}
        await self._close_all(backends)

    @staticmethod
    async def _close_all(backends: list[Backend]) -> None:
        for backend in backends:
            with contextlib.suppress(Exception):  # one failure must not keep the others open
                await backend.close()


OPEN_SECONDS = 4.0
"""How long the start of a session waits for the wanted back-end before another one is opened to answer meanwhile."""


class FirstBackend:
    """Opens the back-end that is wanted at the start of a session, and one that answers until it is open.

    - `pool`: has the wanted one, not open yet, under `choice`.
    - `wanted`: the wanted back-end.
    """

    def __init__(self, pool: BackendPool, wanted: Backend, choice: BackendChoice) -> None:
        self.wanted = wanted
        self._pool = pool
        self.choice = choice
        self._opening: asyncio.Task[None] | None = None
        self._again = asyncio.Event()

    async def open(self, fallback: BackendChoice) -> Backend:
        """Returns the wanted back-end, or `fallback` if it can't be opened or takes long. Raises BackendError."""
        self._opening = opening = asyncio.create_task(self.wanted.open(), name="open the wanted back-end")
        try:
            await asyncio.wait([opening], timeout=OPEN_SECONDS)
            if opening.done() and not isinstance(opening.exception(), BackendError):
                await opening
                return self.wanted
            try:
                return await self._pool.get(fallback)
            except BackendError:
                await opening  # nothing else could answer, so wait for it, or raise its error
                return self.wanted
        except BaseException:
            self.give_up()
            raise

    async def opened(self, failed: Callable[[BackendError], None]) -> Backend:
        """Opens the wanted back-end again until it is open, with increasing delays. Calls `failed` the first time, and
        after each `try_again`.
        """
        opening, restarts, report = self._opening, Restarts(asyncio.get_running_loop().time), True
        restarts.worked()  # the attempt at the start came before
        while True:
            try:
                if opening is not None:
                    await opening
                return await self._pool.get(self.choice)
            except BackendError as error:
                self._pool.mark_failed(self.wanted)
                if report:
                    failed(error)
                opening, report = None, False
            while not report and (wait := restarts.attempt()):
                report = await self._wait(wait)

    async def _wait(self, seconds: float) -> bool:
        """Waits, but returns True as soon as `try_again` is called."""
        try:
            await asyncio.wait_for(self._again.wait(), seconds)
        except TimeoutError:
            return False
        self._again.clear()
        return True

    def try_again(self) -> None:
        """Opens it now: its key or its server may have changed."""
        self._again.set()

    def give_up(self) -> None:
        """Stops opening it. The pool makes a new one if it is chosen again."""
        self._pool.mark_failed(self.wanted)
        if self._opening is not None:
            self._opening.cancel()


Stage = Literal["free", "slow", "stop"]

SLOW_SHARE = 0.7
"""From this share of the cap on, the back-end is asked at pauses only: early requests are most of a turn's cost."""


class Spending:
    """US dollars spent against `cap` (0: no cap). Emits `BudgetChanged`, and a `Failure` that explains each limit.

    `stage`: `free`: no limit yet; `slow`: ask at pauses only; `stop`: ask no back-end that costs.
    """

    def __init__(self, cap: float, emit: Callable[[e.Event], None], now: Callable[[], float]) -> None:
        self._cap, self._spent = cap, 0.0
        self._stage: Stage = "free"
        self._emit = emit
        self._now = now

    @property
    def sparing(self) -> bool:
        """Whether back-ends are to be asked less often."""
        return self._stage != "free"

    def allows(self, backend: Backend) -> bool:
        """Returns whether a back-end may be asked at all."""
        return self._stage != "stop" or backend.traits.free

    def add(self, cost: float) -> None:
        """Adds the cost of a request."""
        self._spent += cost
        self._update()

    def set_cap(self, dollars: float) -> None:
        """Changes the cap."""
        self._cap = max(0.0, dollars)
        self._update()

    def _update(self) -> None:
        spent, cap, before = self._spent, self._cap, self._stage
        stage: Stage = "stop" if spent >= cap else "slow" if spent >= cap * SLOW_SHARE else "free"
        stage = stage if cap > 0 else "free"
        if stage == before:
            return
        self._stage = stage
        now, paid = self._now(), f"This conversation has cost ${spent:.2f} of the ${cap:.2f} that you allow"
        self._emit(e.BudgetChanged(now, stage, round(spent, 6), cap))
        if stage == "stop":
            sentence = (
                f"{paid}, so models that cost are not asked any more. Raise the spending limit, or choose a model that "
                "runs on this machine."
            )
            self._emit(e.Failure(now, "backend", sentence, about="cap"))
        elif stage == "slow" and before == "free":
            sentence = f"{paid}: the model is asked less often from now on, so answers may begin later."
            self._emit(e.Failure(now, "backend", sentence, about="cap"))


class ToolAccess:
    """The toolbox in use, none at first. `choice`: the tools in use. Calls of `change` must not overlap.

    - `make`: creates the toolbox of a choice without opening it; None if there can't be any.
    - `consent`: what the user allows in this session.
    """

    def __init__(self, make: Callable[[ToolChoice], Toolbox] | None, consent: Consent) -> None:
        self.choice = ToolChoice()
        self.consent = consent
        self._make = make
        self._toolbox: Toolbox | None = None
        self._replaced: list[Toolbox] = []  # not closed yet
        self._acted: set[int] = set()

    @property
    def acting(self) -> frozenset[str]:
        """The names of the tools that may do more than read."""
        return frozenset(name for name, effect in self.effects.items() if effect != "reads")

    @property
    def effects(self) -> dict[str, Effect]:
        """What each tool may do, by its name."""
        return {spec.name: spec.effect for spec in self._toolbox.specs} if self._toolbox is not None else {}

    def allow_always(self, names: Iterable[str]) -> list[tuple[str, str]]:
        """Always allows the calls of these tools; returns the servers' names and the tools' names there."""
        places = [self._toolbox.allow_always(name) for name in names] if self._toolbox is not None else []
        return [place for place in places if place is not None]

    def used(self, turn: int, tool: str) -> None:
        """Records that a tool was called for `turn`, so that no other attempt acts for that turn again."""
        if tool in self.acting:
            self._acted.add(turn)

    def may_act(self, turn: int) -> bool:
        """Returns whether tools may still do more than read for `turn`."""
        return turn not in self._acted

    def stream(self, backend: Backend, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """Sends a request to `backend`, with the tools if there are any."""
        if self._toolbox is None:
            return backend.stream(request)
        return stream_with_tools(backend, request, self._toolbox)

    async def change(self, choice: ToolChoice) -> list[str]:
        """Uses the tools of `choice` from the next request on. Returns a message for each server that is missing.

        Nothing changes if it is cancelled or raises BackendError, which it does for tools that don't exist.
        """
        old, new, problems = self._toolbox, None, []
        if choice.names and self._make is not None:
            try:
                new = self._make(choice)
            except ToolError as error:
                raise BackendError(str(error), "setup") from None
            if choice == self.choice and old is not None and new.is_like(old):
                return []  # the new one was never opened
            new.consent = self.consent
            try:
                problems = await new.open()
            except BaseException:
                await new.close()
                raise
        self._toolbox, self.choice = new, choice
        self.consent.withdraw()
        if old is not None:
            self._replaced.append(old)
        await self._close_replaced()
        return problems

    async def close(self) -> None:
        """Closes the connections to tool servers."""
        if self._toolbox is not None:
            self._replaced.append(self._toolbox)
            self._toolbox = None
        await self._close_replaced()

    async def _close_replaced(self) -> None:
        while self._replaced:
            await self._replaced[-1].close()  # if cancelled, the next call closes it
            self._replaced.pop()


TOKENS_FACTOR: dict[Length, float] = {"short": 0.6, "medium": 1.0, "long": 4.0}
"""The share of a back-end's usual token limit that an answer of this length may take."""
BLOCK_FACTOR = 6.0
"""The same if code or a table is asked for, which allows some fifty lines. The prompt keeps the rest short."""


class Prompts:
    """Creates chat requests from the session's transcript, preceded by the `earlier` turns of the conversation.

    `language`: the user's, as a two-letter code; empty until it has been detected.
    """

    def __init__(
        self,
        transcript: Transcript,
        earlier: tuple[ChatMessage, ...],
        style: Style,
        language: str,
        documents: tuple[Document, ...] = (),
    ) -> None:
        self.style = style
        self.documents = documents
        self.language = language
        self._transcript = transcript
        self._answered = 0
        self.branch(earlier, 0)

    def branch(self, earlier: Sequence[ChatMessage], turn: int) -> None:
        """Continues from `earlier`, and from the session's turns after `turn`: those before it count no more."""
        # A session counts its turns from 1. Earlier ones are part of every prompt and are never asked about again.
        self._earlier = [Turn(m.role, 0, 0.0, m.content) for m in earlier if m.role != "system"]
        self._begin, self._answered = turn, max(self._answered, turn)

    def request(self, backend: Backend, turn: int, words: str, *, tools: bool) -> ChatRequest:
        """Returns the request for an answer to `words` of `turn`. `tools`: the model may call some.

        It doesn't let tools do more than read.
        """
        traits, style, code = backend.traits, self.style, self.language or ENGLISH
        persona = system_prompt(traits.persona, style.persona, style.length, code)
        if tools:
            persona = f"{persona} {language(code).results}"
        documents = material(self.documents, traits.document_bytes, code)
        shares_room = bool(documents) and traits.document_bytes < LONG_DOCUMENT_BYTES
        messages = build_prompt(
            [*self._earlier, *(turn for turn in self._transcript.turns if turn.number > self._begin)],
            turn,
            words,
            persona=f"{persona}\n\n{documents}" if documents else persona,
            history_words=traits.history_words // 2 if shares_room else traits.history_words,
        )
        temperature = traits.temperature if style.temperature is None else style.temperature
        asks_for_block = language(code).written & set(fold(words))
        factor = max(TOKENS_FACTOR[style.length], BLOCK_FACTOR if asks_for_block else 0.0)
        return ChatRequest(messages, round(traits.max_tokens * factor), temperature, final=False, language=code)

    def given(self, backend: Backend) -> tuple[int, ...]:
        """Returns how many words of each document a back-end gets."""
        return given_words(self.documents, backend.traits.document_bytes)

    def answered(self, turn: int) -> None:
        """Records that the answer to `turn` was heard to its end."""
        self._answered = max(self._answered, turn)

    def reopened(self, turn: int) -> None:
        """Records that the user continues `turn`, or that it is answered again: what was said is not the answer."""
        self._answered = max(self._begin, min(self._answered, turn - 1))

    @property
    def unanswered(self) -> int | None:
        """The user's turn that awaits an answer or is being answered; None if there is none."""
        user_turns = (turn for turn in reversed(self._transcript.turns) if turn.speaker == "user")
        asked = next((turn for turn in user_turns if turn.text and not turn.backchannel), None)
        return None if asked is None or asked.number <= self._answered else asked.number
