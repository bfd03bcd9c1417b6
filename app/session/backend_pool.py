"""What the back-ends of a session share: the open back-ends, tools, spending, and the prompts that they get."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
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
from app.session.control import ROUTER, BackendChoice, Style, ToolChoice
from app.tools.base import ToolError
from app.tools.toolbox import Toolbox


class LatestTask:
    """One named task at a time. A new one begins when the one that it replaces has ended, so that two never overlap.

    The work must handle its own errors: what escapes from it is raised by `stop`.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._task: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()

    @property
    def running(self) -> bool:
        """Whether work is under way."""
        return self._task is not None and not self._task.done()

    def start(self, work: Callable[[], Awaitable[None]]) -> None:
        """Cancel what is under way, then run `work`."""
        self.cancel()
        self._task = asyncio.get_running_loop().create_task(self._run(work), name=self._name)

    def cancel(self) -> None:
        """Cancel what is under way, without waiting for its end."""
        if self._task is not None:
            self._task.cancel()

    async def wait(self) -> None:
        """Wait until the newest work has ended."""
        while self.running:
            assert self._task is not None
            await asyncio.wait([self._task])

    async def stop(self) -> None:
        """Cancel what is under way and wait for its end. Raises what the work raised."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait([task])
        async with self._lock:
            pass  # work that was cancelled earlier has ended, too
        if not task.cancelled() and (error := task.exception()) is not None:
            raise error

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        async with self._lock:
            await work()


MOST_SPARE = 4
"""How many back-ends stay open besides those in use: going back to one is instant, but each takes memory."""


class BackendPool:
    """Back-ends by the choice that they were made for. `make` builds one, not open yet; None: none can be added.

    `first` is open already, for `choice`. `in_use` tells which back-ends must not be closed before `close`.
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
        self._spoilt: set[Backend] = set()
        self._in_use = in_use
        self._closed = False
        self._locks: dict[BackendChoice, asyncio.Lock] = {}

    async def get(self, choice: BackendChoice) -> Backend:
        """Return the open back-end of a choice. A router is built each time, since its table may have changed.

        Raises BackendError; then nothing has changed. The result may be closed by the next `close_spare` unless it is
        in use by then.
        """
        async with self._locks.setdefault(choice, asyncio.Lock()):  # a slow one does not delay the others
            usable = [one for one, known in self._open.items() if known == choice and one not in self._spoilt]
            if usable and choice.provider != ROUTER:
                self._open[usable[-1]] = self._open.pop(usable[-1])
                return usable[-1]
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
            # `get` never returns the earlier ones again; they are closed once they are not in use.
            self._spoilt.update(one for one, known in self._open.items() if known == choice)
            self._open[made] = choice
            return made

    def choice_of(self, backend: Backend) -> BackendChoice | None:
        """Return the choice that `backend` was made for."""
        return self._open.get(backend)

    def spoil(self, backend: Backend) -> None:
        """Mark `backend` as failed: the next `get` of its choice builds a new one, with the key and server of then."""
        self._spoilt.add(backend)

    async def close_spare(self) -> None:
        """Close back-ends that have failed, and all but the newest `MOST_SPARE` that are not in use."""
        spare = [backend for backend in self._open if not self._in_use(backend)]
        gone = [backend for backend in spare if backend in self._spoilt]
        rest = [backend for backend in spare if backend not in gone]
        gone += rest[: max(0, len(rest) - MOST_SPARE)]
        for backend in gone:  # before the first await, so that `get` can't return one that is closing
            del self._open[backend]
            self._spoilt.discard(backend)
        await self._close_all(gone)

    async def close(self) -> None:
        """Close all back-ends; one that is still being opened is closed as soon as it is open."""
        self._closed = True
        backends, self._open = list(self._open), {}
        await self._close_all(backends)

    @staticmethod
    async def _close_all(backends: list[Backend]) -> None:
        for backend in backends:
            with contextlib.suppress(Exception):  # one that can't be closed must not keep the others open
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
        self._choice = choice
        self._opening: asyncio.Task[None] | None = None

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
                await opening  # nothing else answers, so this one is waited for, or says why it can't
                return self.wanted
        except BaseException:
            self.give_up()
            raise

    async def opened(self, failed: Callable[[BackendError], None]) -> Backend:
        """Opens the wanted back-end again until it is open, with increasing delays. Calls `failed` the first time."""
        assert self._opening is not None
        restarts, told = Restarts(asyncio.get_running_loop().time), False
        restarts.worked()  # the attempt at the start came before
        while True:
            try:
                if not told:
                    await self._opening
                return await self._pool.get(self._choice)
            except BackendError as error:
                self._pool.spoil(self.wanted)
                if not told:
                    failed(error)
                told = True
            while wait := restarts.attempt():
                await asyncio.sleep(wait)

    def give_up(self) -> None:
        """Stops opening it. The pool makes a new one if it is chosen again."""
        self._pool.spoil(self.wanted)
        if self._opening is not None:
            self._opening.cancel()


Stage = Literal["free", "slow", "stop"]

SLOW_SHARE = 0.7
"""From this share of the cap on, the back-end is asked at pauses only: early requests are most of a turn's cost."""


class Budget:
    """Compares a conversation's cost with its cap, both in US dollars; a cap of 0 is none."""

    def __init__(self, cap: float = 0.0) -> None:
        self.cap = cap
        self.spent = 0.0

    @property
    def stage(self) -> Stage:
        """`free`: no limit yet; `slow`: ask at pauses only; `stop`: ask no back-end that costs."""
        if self.cap <= 0 or self.spent < self.cap * SLOW_SHARE:
            return "free"
        return "slow" if self.spent < self.cap else "stop"


class Spending:
    """US dollars spent against `cap` (0: no cap). Emits `BudgetChanged`, and a `Failure` that explains each limit."""

    def __init__(self, cap: float, emit: Callable[[e.Event], None], now: Callable[[], float]) -> None:
        self._budget = Budget(cap)
        self._stage = self._budget.stage
        self._emit = emit
        self._now = now

    @property
    def sparing(self) -> bool:
        """Whether back-ends are to be asked less often."""
        return self._stage != "free"

    def allows(self, backend: Backend) -> bool:
        """Whether a back-end may be asked at all."""
        return self._stage != "stop" or backend.traits.free

    def add(self, cost: float) -> None:
        """Count what a request cost."""
        self._budget.spent += cost
        self._update()

    def set_cap(self, dollars: float) -> None:
        """Change the cap."""
        self._budget.cap = max(0.0, dollars)
        self._update()

    def _update(self) -> None:
        stage, before = self._budget.stage, self._stage
        if stage == before:
            return
        self._stage = stage
        spent, cap, now = self._budget.spent, self._budget.cap, self._now()
        self._emit(e.BudgetChanged(now, stage, round(spent, 6), cap))
        if stage == "stop":
            consequence = (
                "models that cost are not asked any more. Raise the spending limit, or choose a model that runs on "
                "this machine."
            )
            self._emit(e.Failure(now, "backend", f"{_spent(spent, cap)}, so {consequence}", about="cap"))
        elif stage == "slow" and before == "free":
            consequence = "the model is asked less often from now on, so answers may begin later."
            self._emit(e.Failure(now, "backend", f"{_spent(spent, cap)}: {consequence}", about="cap"))


def _spent(spent: float, cap: float) -> str:
    return f"This conversation has cost ${spent:.2f} of the ${cap:.2f} that you allow"


class ToolAccess:
    """The toolbox in use, none at first. `make` builds the toolbox of a choice, not opened yet; None: no tools here.

    `choice` is what is in use. Calls of `change` must not overlap.
    """

    def __init__(self, make: Callable[[ToolChoice], Toolbox] | None) -> None:
        self.choice = ToolChoice()
        self._make = make
        self._toolbox: Toolbox | None = None
        self._replaced: list[Toolbox] = []  # not closed yet
        self._acted: set[int] = set()

    @property
    def acting(self) -> frozenset[str]:
        """The names of the tools that may change something in the world."""
        specs = self._toolbox.specs if self._toolbox is not None else ()
        return frozenset(spec.name for spec in specs if spec.acts)

    def used(self, turn: int, tool: str) -> None:
        """Note that a tool was called for `turn`: no back-end and no second attempt acts for that turn again."""
        if tool in self.acting:
            self._acted.add(turn)

    def may_act(self, turn: int) -> bool:
        """Whether tools may still change something for `turn`."""
        return turn not in self._acted

    def stream(self, backend: Backend, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        """Ask `backend`, with the tools if there are any."""
        if self._toolbox is None:
            return backend.stream(request)
        return stream_with_tools(backend, request, self._toolbox)

    async def change(self, choice: ToolChoice) -> list[str]:
        """Use the tools of `choice` from the next request on; return a sentence for each server that is missing.

        Raises BackendError for tools that don't exist; then nothing has changed. The same holds
        if it is cancelled while the tools are opened.
        """
        old, new, problems = self._toolbox, None, []
        if choice.names and self._make is not None:
            try:
                new = self._make(choice)
            except ToolError as error:
                raise BackendError(str(error), "setup") from None
            if choice == self.choice and old is not None and new.is_like(old):
                return []  # the new one was never opened
            try:
                problems = await new.open()
            except BaseException:
                await new.close()
                raise
        self._toolbox, self.choice = new, choice
        if old is not None:
            self._replaced.append(old)
        await self._close_replaced()
        return problems

    async def close(self) -> None:
        """Close the connections to tool servers."""
        if self._toolbox is not None:
            self._replaced.append(self._toolbox)
            self._toolbox = None
        await self._close_replaced()

    async def _close_replaced(self) -> None:
        while self._replaced:
            await self._replaced[-1].close()  # cancelled: it is closed again by the next call
            self._replaced.pop()


TOKENS_FACTOR: dict[Length, float] = {"short": 0.6, "medium": 1.0, "long": 4.0}
"""The share of a back-end's usual token limit that an answer of this length may take."""
BLOCK_FACTOR = 6.0
"""The same where code or a table is asked for: some fifty lines. The prompt keeps the words around it few."""


class Prompts:
    """Turns of the session's transcript, preceded by `earlier` ones of the conversation, as chat requests.

    `language` is the user's, as a two-letter code; empty while it is being detected.
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
        # A session counts its turns from 1. Earlier ones are part of every prompt and are never asked about again.
        self._earlier = [Turn(m.role, 0, 0.0, m.content) for m in earlier if m.role != "system"]
        self._answered = 0

    def request(self, backend: Backend, turn: int, words: str, *, may_act: bool) -> ChatRequest:
        """Return the request for an answer to `words` of `turn`. `may_act`: tools may change something."""
        traits, style, code = backend.traits, self.style, self.language or ENGLISH
        persona = system_prompt(traits.persona, style.persona, style.length, code)
        documents = material(self.documents, traits.document_bytes, code)
        shares_room = bool(documents) and traits.document_bytes < LONG_DOCUMENT_BYTES
        messages = build_prompt(
            [*self._earlier, *self._transcript.turns],
            turn,
            words,
            persona=f"{persona}\n\n{documents}" if documents else persona,
            history_words=traits.history_words // 2 if shares_room else traits.history_words,
        )
        temperature = traits.temperature if style.temperature is None else style.temperature
        asks_for_block = language(code).written & set(fold(words))
        factor = max(TOKENS_FACTOR[style.length], BLOCK_FACTOR if asks_for_block else 0.0)
        return ChatRequest(messages, round(traits.max_tokens * factor), temperature, final=may_act)

    def given(self, backend: Backend) -> tuple[int, ...]:
        """Return how many words of each document a back-end gets."""
        return given_words(self.documents, backend.traits.document_bytes)

    def answered(self, turn: int) -> None:
        """Note that the answer to `turn` was heard to its end."""
        self._answered = max(self._answered, turn)

    def reopened(self, turn: int) -> None:
        """Note that `turn` goes on, or is answered again."""
        self._answered = min(self._answered, turn - 1)

    @property
    def unanswered(self) -> int | None:
        """The user's turn that is being asked or answered right now; None when no answer is due."""
        user_turns = (turn for turn in reversed(self._transcript.turns) if turn.speaker == "user")
        asked = next((turn for turn in user_turns if turn.text and not turn.backchannel), None)
        return None if asked is None or asked.number <= self._answered else asked.number
