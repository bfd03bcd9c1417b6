"""The slow side of a conversation: which brains think, what they are told, what they may use and cost.

Owns the runners that ask: one for the brain that drives the voice, and one for a brain at its side. Everything here can
be changed at any moment. Knows no sound, no window and no concrete brain.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Literal

from app.backend.address import without_secrets
from app.backend.base import MENDABLE, Backend, BackendError, ChatRequest, FaultKind, StreamItem, Usage
from app.backend.tool_calls import stream_with_tools
from app.conversation import events as e
from app.conversation.backend_speed import Pace
from app.conversation.budget import Budget
from app.conversation.languages import ENGLISH
from app.conversation.oracle import OraclePolicy
from app.conversation.prompt import ChatMessage, Length, build_prompt, system_prompt
from app.conversation.transcript import Transcript, Turn
from app.session.backend_pool import BackendPool
from app.session.control import BackendChoice, Style, ToolChoice
from app.session.mailbox import Message
from app.session.oracle_context import OracleContext, backend_failure
from app.session.oracle_runner import OracleRunner
from app.tools.base import ToolError
from app.tools.toolbox import Toolbox

ROOM: dict[Length, float] = {"short": 0.6, "medium": 1.0, "long": 4.0}
"""How much of a brain's usual limit of tokens an answer of this length may take."""


@dataclass(slots=True)
class BackendControllerParts:
    """See `SessionParts` and `SessionConfig`. `backend` is there already, for `choice`."""

    backend: Backend
    make_backend: Callable[[BackendChoice], Awaitable[Backend]] | None
    make_tools: Callable[[ToolChoice], Toolbox] | None
    cost: Callable[[Backend, Usage], float | None]
    paces: dict[tuple[str, str], Pace]
    choice: BackendChoice
    style: Style
    cap: float
    earlier: tuple[ChatMessage, ...] = ()


class BackendController:
    """`post` reaches the front-end, `emit` everyone; `now` is the session's time; `transcript` is what was said."""

    def __init__(
        self,
        parts: BackendControllerParts,
        transcript: Transcript,
        *,
        post: Callable[[Message], None],
        emit: Callable[[e.Event], None],
        now: Callable[[], float],
    ) -> None:
        self.parts = parts
        self.language = "en"
        """What the user speaks, by its two letters; empty while that is to be found out and not heard yet."""
        self._transcript = transcript
        self._post = post
        self._tell = emit
        self._now = now
        # Turns of this talk count from 1: those before it are told in every prompt, and never asked about again.
        self._earlier = [Turn(m.role, 0, 0.0, m.content) for m in parts.earlier if m.role != "system"]
        self._style = parts.style
        self._choice = parts.choice
        self._tools: Toolbox | None = None
        self._tool_choice = ToolChoice()
        self._runner: OracleRunner | None = None
        self._secondary: OracleRunner | None = None
        self._partials = True
        self._acted: set[int] = set()
        self._budget = Budget(parts.cap)
        self._stage = self._budget.stage
        self._answered = 0  # the last turn whose answer was heard to its end
        self._backends = BackendPool(parts.make_backend, parts.backend, parts.choice, self._in_use)
        self._wishes = self._secondary_wishes = 0
        self._granted = self._secondary_granted = 0
        self._tooling = asyncio.Lock()
        self._group: asyncio.TaskGroup | None = None
        self._tidying: asyncio.Task[None] | None = None
        self._untidy = False
        self._opening: list[asyncio.Task[None]] = []

    # -- life --------------------------------------------------------------------------------------

    def start(
        self, group: asyncio.TaskGroup, *, partials: bool, secondary: BackendChoice | None, tools: ToolChoice
    ) -> None:
        """From now on questions may come. What runs meanwhile runs in `group`."""
        self._group = group
        self._partials = partials
        self._host = OracleContext(
            request=self._request,
            post=self._post,
            emit=self._emit,
            now=self._now,
            group=group,
            numbers=itertools.count(1),
            stream=self._stream,
            paces=self.parts.paces,
            cost=self.parts.cost,
            allowed=self._allowed,
            acts=lambda: bool(self._acting),
            used=self._used,
            failed=self._failed,
            changed=self._fell_back,
        )
        self._runner = OracleRunner(self._host, self.parts.backend, self._policy())
        self._tell_conversation()
        self._tell_problems(self.parts.backend)
        if tools.names:
            self._opening.append(group.create_task(self._first_tools(tools), name="tools"))
        if secondary is not None:
            self._opening.append(group.create_task(self._first_secondary(secondary), name="the brain at the side"))

    async def stop(self) -> None:
        """Asks nothing more, and waits until nothing is under way."""
        self._group = None
        for task in self._opening:
            task.cancel()  # a model may take minutes to load
        if self._opening:
            await asyncio.wait(self._opening)
        for runner in self._runners:
            await runner.close()
        if self._tidying is not None:
            await asyncio.wait([self._tidying])

    async def close(self) -> None:
        """Closes all brains and tools."""
        try:
            await self._backends.close()
        finally:
            if self._tools is not None:
                await self._tools.close()

    # -- questions ---------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether an answer is under way."""
        return any(runner.busy for runner in self._runners)

    def ask(self, turn: int, words: str, *, final: bool, settled: bool) -> None:
        """See `OracleRunner.transcript`."""
        if self._group is None:
            return  # the talk is over
        for runner in self._runners:
            runner.transcript(turn, words, final=final, settled=settled, language=self.language)

    def abandon(self, turn: int) -> None:
        """The answer to `turn` is not wanted any more."""
        for runner in self._runners:
            runner.abandon(turn)

    def answered(self, turn: int, *, interrupted: bool) -> None:
        """The answer to `turn` is over."""
        if self._runner is None or turn != self._runner.refused_turn:
            self._answered = max(self._answered, turn)
        if interrupted:
            self.abandon(turn)
        elif self._runner is not None and self._group is not None:
            self._runner.prime(turn + 1)

    def reopened(self, turn: int) -> None:
        """The user goes on in `turn`, or is being answered anew: what was said of it before was not the answer."""
        self._answered = min(self._answered, turn - 1)

    def set_partials(self, partials: bool) -> None:
        """Whether growing words are asked about, or complete turns alone."""
        self._partials = partials
        for runner in self._runners:
            runner.policy.partials = partials

    @property
    def _runners(self) -> list[OracleRunner]:
        return [runner for runner in (self._runner, self._secondary) if runner is not None]

    @property
    def _acting(self) -> frozenset[str]:
        """The tools that may change something in the world."""
        specs = self._tools.specs if self._tools is not None else ()
        return frozenset(spec.name for spec in specs if spec.acts)

    def _used(self, turn: int, tool: str) -> None:
        if tool in self._acting:
            self._acted.add(turn)  # done is done: neither a new brain nor a second try does it again

    def _failed(self, backend: Backend, kind: FaultKind) -> None:
        if kind in MENDABLE:
            self._backends.spoil(backend)  # chosen again, it is made anew: the user may have mended it meanwhile

    @property
    def _unanswered(self) -> int | None:
        """The user's turn that is being asked, or answered, right now; None when nobody waits for anything."""
        said = (turn for turn in reversed(self._transcript.turns) if turn.speaker == "user")
        asked = next((turn for turn in said if turn.text and not turn.backchannel), None)
        return None if asked is None or asked.number <= self._answered else asked.number

    # -- what a runner asks of us ------------------------------------------------------------------

    def _policy(self) -> OraclePolicy:
        return OraclePolicy(partials=self._partials)

    def _request(self, backend: Backend, turn: int, words: str, final: bool) -> ChatRequest:
        traits, style = backend.traits, self._style
        messages = build_prompt(
            [*self._earlier, *self._transcript.turns],
            turn,
            words,
            persona=system_prompt(traits.persona, style.persona, style.length, self.language or ENGLISH),
            history_words=traits.history_words,
        )
        temperature = traits.temperature if style.temperature is None else style.temperature
        may_act = final and turn not in self._acted
        return ChatRequest(messages, round(traits.max_tokens * ROOM[style.length]), temperature, final=may_act)

    def _stream(self, backend: Backend, request: ChatRequest) -> AbstractAsyncContextManager[AsyncIterator[StreamItem]]:
        if self._tools is None:
            return backend.stream(request)
        return stream_with_tools(backend, request, self._tools)

    def _allowed(self, backend: Backend) -> bool:
        return self._stage != "stop" or backend.traits.free

    def _in_use(self, backend: Backend) -> bool:
        return any(runner.uses(backend) for runner in self._runners)

    def _fell_back(self) -> None:
        """A brain has failed and the one before it has taken over."""
        assert self._runner is not None
        failed, self.parts.backend = self.parts.backend, self._runner.backend
        self._choice = self._backends.choice_of(self.parts.backend) or self._choice
        if failed is not self.parts.backend:
            self._backends.spoil(failed)
        self._tell_change("fallback")
        self._tell_conversation()
        if self._secondary is not None and self._secondary.backend is self.parts.backend and self._group is not None:
            self._opening.append(self._group.create_task(self.set_secondary(None), name="no brain at the side"))
        self._tidy_backends()

    def _tidy_backends(self) -> None:
        self._untidy = True
        if self._tidying is None or self._tidying.done():
            self._tidying = asyncio.get_running_loop().create_task(self._tidy(), name="close spare brains")

    async def _tidy(self) -> None:
        while self._untidy:
            self._untidy = False
            await self._backends.tidy()

    def _watch_budget(self) -> None:
        stage, before = self._budget.stage, self._stage
        if stage == before:
            return
        self._stage = stage
        for runner in self._runners:
            runner.sparing = stage != "free"
        spent, cap, now = self._budget.spent, self._budget.cap, self._now()
        self._emit(e.BudgetChanged(now, stage, round(spent, 6), cap))
        if stage == "stop":
            self._emit(
                e.Failure(
                    now,
                    "backend",
                    f"This conversation has cost ${spent:.2f} of the ${cap:.2f} that you allow, so brains that cost "
                    "are not asked any more. Raise the cap, or choose a brain on this machine.",
                    about="cap",
                )
            )
        elif stage == "slow" and before == "free":
            self._emit(
                e.Failure(
                    now,
                    "backend",
                    f"This conversation has cost ${spent:.2f} of the ${cap:.2f} that you allow: the brain is asked "
                    "less often from now on, so answers may begin later.",
                    about="cap",
                )
            )

    # -- commands ----------------------------------------------------------------------------------

    async def set_backend(self, choice: BackendChoice) -> None:
        """See `SessionControl.set_backend`."""
        self._wishes += 1
        mine = self._wishes
        backend = await self._open(choice)
        if mine < self._granted:
            return  # a later wish has overtaken it while it loaded
        self._granted = mine
        if self._secondary is not None and self._secondary.backend is backend:
            self.hand_over()  # it thinks already: the two change places
        else:
            self._take_backend(
                backend, "chosen", lambda runner: runner.swap(backend, again=self._unanswered is not None)
            )
            self._tell_problems(backend)

    async def set_secondary(self, choice: BackendChoice | None) -> None:
        """See `SessionControl.set_secondary`."""
        self._secondary_wishes += 1
        mine = self._secondary_wishes
        if choice is None:
            self._secondary_granted = mine
            secondary, self._secondary = self._secondary, None
            if secondary is not None:
                self._emit(e.SecondaryChanged(self._now(), "", ""))
                await secondary.close()
                self._tidy_backends()
            return
        if choice == self._choice:
            raise BackendError("The second brain would be the same as the first. Choose another one.", "request")
        backend = await self._open(choice)
        if mine < self._secondary_granted:
            return
        if self._runner is not None and self._runner.backend is backend:  # it has become the first meanwhile
            raise BackendError("The second brain would be the same as the first. Choose another one.", "request")
        self._secondary_granted = mine
        if self._secondary is None:
            self._secondary = OracleRunner(self._host, backend, self._policy(), secondary=True)
            self._secondary.sparing = self._stage != "free"
        else:
            self._secondary.abandon(self._unanswered or 0)
            self._secondary.swap(backend, again=False)
            self._secondary.standby = None
            self._secondary.policy.forget()
        self._emit(e.SecondaryChanged(self._now(), backend.name, backend.model))
        self._tell_problems(backend, secondary=True)
        asked = self._transcript.last("user")
        if asked is not None and asked.text and self._unanswered == asked.number:
            self._secondary.transcript(asked.number, asked.text, final=not asked.open, settled=True)
        self._tidy_backends()

    async def _first_tools(self, choice: ToolChoice) -> None:
        try:
            await self.set_tools(choice)
        except Exception as error:
            self._emit(e.Failure(self._now(), "backend", f"{_sentence(error)} The talk goes on without tools."))

    async def _first_secondary(self, choice: BackendChoice) -> None:
        try:
            await self.set_secondary(choice)
        except Exception as error:
            text = f"{_sentence(error)} The talk goes on without a second brain."
            mendable = isinstance(error, BackendError) and error.kind in MENDABLE
            who = (choice.provider, choice.model, without_secrets(choice.base_url)) if mendable else ("", "", "")
            self._emit(e.Failure(self._now(), "backend", text, False, *who, secondary=True, about="backend"))

    def hand_over(self) -> None:
        """See `SessionControl.hand_over`."""
        runner, secondary = self._runner, self._secondary
        if runner is None or secondary is None or self._group is None:
            return
        self._take_backend(secondary.backend, "handed", lambda driver: secondary.hand_over_to(driver, self._unanswered))
        self._emit(e.SecondaryChanged(self._now(), secondary.backend.name, secondary.backend.model))

    async def _open(self, choice: BackendChoice) -> Backend:
        """The brain of a choice, ready. Raises BackendError, also when the talk has ended meanwhile."""
        backend = await self._backends.get(choice)
        if self._group is None:
            raise BackendError("The talk is over, so its brain can't be changed. Begin a new one.", "setup")
        return backend

    def _take_backend(
        self, backend: Backend, reason: Literal["chosen", "handed"], take: Callable[[OracleRunner], None]
    ) -> None:
        assert self._runner is not None
        self.parts.backend = backend
        self._choice = self._backends.choice_of(backend) or self._choice
        self._tell_change(reason)
        take(self._runner)
        self._tell_conversation()
        self._tidy_backends()

    def set_style(self, style: Style) -> None:
        """See `SessionControl.set_style`."""
        self._style = style
        self._tell_conversation()

    async def set_tools(self, choice: ToolChoice) -> None:
        """See `SessionControl.set_tools`."""
        async with self._tooling:
            if not choice.names and choice == self._tool_choice:
                return
            old, new = self._tools, None
            if choice.names and self.parts.make_tools is not None:
                try:
                    new = self.parts.make_tools(choice)
                except ToolError as error:
                    raise BackendError(str(error), "setup") from None
                if choice == self._tool_choice and old is not None and new.is_like(old):
                    return  # it was never opened
                try:
                    problems = await new.open()
                    if self._group is None:
                        raise BackendError("The talk is over, so it needs no tools.", "setup")
                except BaseException:
                    await new.close()
                    raise
                for problem in problems:
                    self._emit(e.Failure(self._now(), "backend", problem))
            self._tools, self._tool_choice = new, choice
            if old is not None:
                await old.close()
            self._tell_conversation()

    def set_cap(self, dollars: float) -> None:
        """See `SessionControl.set_cap`."""
        self._budget.cap = max(0.0, dollars)
        self._watch_budget()
        if self._runner is not None:
            self._runner.ask_refused()

    def _tell_conversation(self) -> None:
        style, choice = self._style, self._choice
        self._emit(
            e.ConversationConfigured(
                self._now(),
                choice.provider,
                self.parts.backend.model,
                without_secrets(choice.base_url),
                style.persona,
                style.temperature,
                style.length,
                self._tool_choice.names,
                style.voice,
            )
        )

    def _tell_change(self, reason: Literal["chosen", "fallback", "handed"]) -> None:
        backend, choice = self.parts.backend, self._choice
        self._emit(
            e.BackendChanged(
                self._now(),
                backend.name,
                backend.model,
                reason,
                choice.provider,
                choice.model,
                without_secrets(choice.base_url),
            )
        )

    def _tell_problems(self, backend: Backend, *, secondary: bool = False) -> None:
        for lost, error in getattr(backend, "lost", ()):
            # Each of them is news: none takes the place of another.
            self._emit(backend_failure(self._now(), str(error), error, lost, secondary=secondary, about=""))

    def _emit(self, event: e.Event) -> None:
        self._tell(event)
        if isinstance(event, e.OracleCounted) and event.cost:
            self._budget.spent += event.cost
            self._watch_budget()


def _sentence(error: Exception) -> str:
    return str(error) if isinstance(error, BackendError) else f"Something unexpected failed ({type(error).__name__})."
