"""Decides which back-ends answer in a session, and exchanges them while it runs.

Two `OracleRunner`s ask: the driver, whose revisions the front-end speaks, and the secondary one, whose revisions are
only shown. `apply` states what is wanted; what takes time runs in tasks, of which the newest wins.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
from collections.abc import Callable, Collection
from typing import Literal

from app.backend.base import USER_FIXABLE, Backend, BackendError, ChatRequest, FaultKind, without_secrets
from app.conversation import events as e
from app.conversation.languages import AUTOMATIC
from app.conversation.oracle import OraclePolicy
from app.conversation.record.transcript import Transcript
from app.session.backend_pool import BackendPool, LatestTask, Prompts, Spending, ToolAccess
from app.session.control import BackendChoice, Reopened, SessionChoice
from app.session.mailbox import Message
from app.session.oracle_runner import OracleRunner
from app.session.oracle_stream import OracleContext, backend_failure
from app.session.parts import SessionParts

SAME_TWICE = "The comparison model would be the same as the first one. Choose another one."
OVER = "The conversation has ended, so its model can't be changed. Start a new one."

_log = logging.getLogger(__name__)


class BackendController:
    """The back-ends of one session. `parts.backend` is the driver, at first the one of `choice.backend`.

    `post` sends a message to the front-end, `emit` an event to every listener; `now` is the session's time in seconds.
    """

    def __init__(
        self,
        parts: SessionParts,
        choice: SessionChoice,
        transcript: Transcript,
        *,
        post: Callable[[Message], None],
        emit: Callable[[e.Event], None],
        now: Callable[[], float],
    ) -> None:
        self.parts = parts
        language = "" if choice.speech.language == AUTOMATIC else choice.speech.language
        self.prompts = Prompts(transcript, choice.earlier, choice.style, language, choice.documents)
        self._transcript = transcript
        self._post = post
        self._emit_event = emit
        self._now = now
        self._driving = choice.backend
        self._partials = choice.answer_mode == "thinking"
        self._runner: OracleRunner | None = None
        self._secondary: OracleRunner | None = None
        self._secondary_choice: BackendChoice | None = None
        self.wanted = (choice.backend, choice.secondary, choice.tools)
        """The driver, the secondary back-end and the tools, but for what could not be had or has failed."""
        self._tools = ToolAccess(parts.make_tools)
        self._cap = choice.cap
        self._spending = Spending(choice.cap, self._emit, now)
        self._pool = BackendPool(parts.make_backend, parts.backend, choice.backend, self._in_use)
        self._changes = {name: LatestTask(f"change the {name}") for name in ("backend", "secondary", "tools")}
        self._closing: set[asyncio.Task[None]] = set()
        self._group: asyncio.TaskGroup | None = None

    # -- life --------------------------------------------------------------------------------------

    def start(self, group: asyncio.TaskGroup) -> None:
        """Accept questions from now on; streams run as tasks of `group`."""
        self._group = group
        self._context = OracleContext(
            request=self._request,
            post=self._post,
            emit=self._emit,
            now=self._now,
            group=group,
            numbers=itertools.count(1),
            stream=self._tools.stream,
            paces=self.parts.paces,
            cost=self.parts.cost,
            allowed=self._spending.allows,
            acts=lambda: bool(self._tools.acting),
            used=self._tools.used,
            failed=self._failed,
            changed=self._fell_back,
        )
        self._runner = OracleRunner(self._context, self.parts.backend, self._policy())
        self._emit_conversation()
        self._emit_lost(self.parts.backend)
        if self.prompts.documents:
            self._runner.prime(1)
        _, secondary, tools = self.wanted
        if tools.names:
            self._changes["tools"].start(self._change_tools)
        if secondary is not None:
            self._changes["secondary"].start(self._change_secondary)

    async def tools_opened(self) -> None:
        """Wait until the tools are there, or those that are missing have been told."""
        await self._changes["tools"].wait()

    async def stop(self) -> None:
        """Ask nothing more and wait until nothing is under way."""
        self._group = None
        for change in self._changes.values():
            await change.stop()  # a model may take minutes to load
        for runner in self._runners:
            await runner.close()
        if self._closing:
            await asyncio.wait(self._closing)

    async def close(self) -> None:
        """Close all back-ends and tools."""
        try:
            await self._pool.close()
        finally:
            await self._tools.close()

    # -- questions ---------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether an answer is under way."""
        return any(runner.busy for runner in self._runners)

    def ask(self, turn: int, words: str, *, final: bool, settled: bool) -> None:
        """Pass the words of the user's turn to both runners. `settled`: the user is silent; `final`: the turn is
        over.
        """
        if self._group is None:
            return  # the session is over
        for runner in self._runners:
            runner.transcript(turn, words, final=final, settled=settled, language=self.prompts.language)

    def abandon(self, turn: int) -> None:
        """Close the streams that answer `turn`."""
        for runner in self._runners:
            runner.abandon(turn)

    def answered(self, turn: int, *, interrupted: bool) -> None:
        """Note that the answer to `turn` is over."""
        if self._runner is None or turn != self._runner.refused_turn:
            self.prompts.answered(turn)
        if interrupted:
            self.abandon(turn)
        elif self._runner is not None and self._group is not None:
            self._runner.prime(turn + 1)

    def reopened(self, turn: int) -> None:
        """Note that the user goes on in `turn`, or is answered again: what was said to it is not the answer."""
        self.prompts.reopened(turn)

    # -- what is wanted ----------------------------------------------------------------------------

    def apply(self, choice: SessionChoice, reopen: Collection[Reopened] = ()) -> None:
        """Bring back-ends, style, documents, tools, cap and answer mode to what `choice` says.

        `reopen`: parts to open again even if the choice of them is the same.
        """
        if choice.answer_mode != ("thinking" if self._partials else "after"):
            self._partials = choice.answer_mode == "thinking"
            for runner in self._runners:
                runner.policy.partials = self._partials
        if choice.style != self.prompts.style:
            self.prompts.style = choice.style
            self._emit_conversation()
        if choice.documents != self.prompts.documents:
            self.prompts.documents = choice.documents
            if self._runner is not None:
                self._emit_conversation()
                asked = self._transcript.last("user")
                self._runner.prime(asked.number + 1 if asked is not None else 1)
        if choice.cap != self._cap:
            self._cap = choice.cap
            self._spending.set_cap(choice.cap)
            self._spare()
            if self._runner is not None:
                self._runner.ask_refused()
        backend, secondary, tools = self.wanted
        self.wanted = (choice.backend, choice.secondary, choice.tools)
        if self._swaps_roles(choice):
            self._changes["backend"].cancel()
            self._changes["secondary"].cancel()
            self._hand_over()
        else:
            if choice.backend != backend or "backend" in reopen:
                self._changes["backend"].start(self._change_backend)
            if choice.secondary != secondary or ("secondary" in reopen and choice.secondary is not None):
                self._changes["secondary"].start(self._change_secondary)
        if choice.tools != tools or ("tools" in reopen and choice.tools.names):
            self._changes["tools"].start(self._change_tools)

    async def settled(self) -> None:
        """Wait until every change that was asked for is made or refused."""
        for change in self._changes.values():
            await change.wait()

    def _swaps_roles(self, choice: SessionChoice) -> bool:
        return (
            self._secondary is not None
            and (choice.backend, choice.secondary) == (self._secondary_choice, self._driving)
            and choice.backend != choice.secondary
        )

    async def _change_backend(self) -> None:
        choice = self.wanted[0]
        try:
            backend = await self._open(choice)
        except Exception as error:
            self._want(backend=self._driving)
            self._refuse("backend", error, choice)
            return
        if self._secondary is not None and self._secondary.backend is backend:
            self._hand_over()  # it thinks already: the two change roles
        else:
            self._drive(
                backend, "chosen", lambda driver: driver.swap(backend, again=self.prompts.unanswered is not None)
            )
            self._emit_lost(backend)

    async def _change_secondary(self) -> None:
        choice = self.wanted[1]
        if choice is None:
            await self._end_secondary()
            return
        try:
            if choice == self._driving:
                raise BackendError(SAME_TWICE, "request")
            backend = await self._open(choice)
            if self._runner is not None and self._runner.backend is backend:  # it became the driver meanwhile
                raise BackendError(SAME_TWICE, "request")
        except Exception as error:
            self._want(secondary=self._secondary_choice)
            # The same model twice is nothing that its key or its address could put right.
            self._refuse("secondary", error, None if str(error) == SAME_TWICE else choice)
            return
        self._secondary_choice = choice
        if self._secondary is None:
            self._secondary = OracleRunner(self._context, backend, self._policy(), secondary=True)
            self._secondary.sparing = self._spending.sparing
        else:
            self._secondary.abandon(self.prompts.unanswered or 0)
            self._secondary.swap(backend, again=False)
            self._secondary.standby = None
            self._secondary.policy.forget()
        self._emit(e.SecondaryChanged(self._now(), backend.name, backend.model))
        self._emit_lost(backend, secondary=True)
        asked = self._transcript.last("user")
        if asked is not None and asked.text and self.prompts.unanswered == asked.number:
            self._secondary.transcript(asked.number, asked.text, final=not asked.open, settled=True)
        self._close_spare()

    async def _end_secondary(self) -> None:
        runner, self._secondary, self._secondary_choice = self._secondary, None, None
        if runner is not None:
            self._emit(e.SecondaryChanged(self._now(), "", ""))
            await runner.close()
            self._close_spare()

    async def _change_tools(self) -> None:
        choice = self.wanted[2]
        try:
            problems = await self._tools.change(choice)
        except Exception as error:
            self._want(tools=self._tools.choice)
            self._refuse("tools", error, None)
            return
        for problem in problems:
            self._emit(e.Failure(self._now(), "backend", problem))
        self._emit_conversation()

    def _want(self, **wanted: object) -> None:
        """Correct what is wanted, for a part that could not be had: asked for again, it is a change again."""
        parts = dict(zip(("backend", "secondary", "tools"), self.wanted, strict=True)) | wanted
        self.wanted = (parts["backend"], parts["secondary"], parts["tools"])  # type: ignore[assignment]

    def _refuse(
        self, part: Literal["backend", "secondary", "tools"], error: Exception, choice: BackendChoice | None
    ) -> None:
        if isinstance(error, BackendError):
            sentence = str(error)
        else:
            _log.exception("the %s could not be changed", part, exc_info=error)
            sentence = f"Something unexpected failed ({type(error).__name__}). The log has the details."
        who = (choice.provider, choice.model, without_secrets(choice.base_url)) if choice is not None else ("", "", "")
        self._emit(e.ChangeRefused(self._now(), part, sentence, *who))

    # -- who drives --------------------------------------------------------------------------------

    async def _open(self, choice: BackendChoice) -> Backend:
        """Return the back-end of a choice, ready. Raises BackendError, also when the session has ended meanwhile."""
        backend = await self._pool.get(choice)
        if self._group is None:
            raise BackendError(OVER, "setup")
        return backend

    def _drive(
        self, backend: Backend, reason: Literal["chosen", "handed"], take: Callable[[OracleRunner], None]
    ) -> None:
        assert self._runner is not None
        self.parts.backend = backend
        self._driving = self._pool.choice_of(backend) or self._driving
        self._emit_change(reason)
        take(self._runner)
        self._emit_conversation()
        self._close_spare()

    def _hand_over(self) -> None:
        """Let the secondary back-end drive, with what it has said to the present turn; the driver becomes secondary."""
        secondary = self._secondary
        if self._runner is None or secondary is None or self._group is None:
            return
        driving = self._driving
        self._drive(secondary.backend, "handed", lambda driver: secondary.hand_over_to(driver, self.prompts.unanswered))
        self._secondary_choice = driving
        self._want(backend=self._driving)
        if not self._changes["secondary"].running:
            self._want(secondary=driving)
        self._emit(e.SecondaryChanged(self._now(), secondary.backend.name, secondary.backend.model))

    def _fell_back(self) -> None:
        """The driver has failed and the back-end before it has taken over."""
        assert self._runner is not None
        failed, self.parts.backend = self.parts.backend, self._runner.backend
        self._driving = self._pool.choice_of(self.parts.backend) or self._driving
        if not self._changes["backend"].running:
            self._want(backend=self._driving)
        if failed is not self.parts.backend:
            self._pool.spoil(failed)
        self._emit_change("fallback")
        self._emit_conversation()
        if self._secondary is not None and self._secondary.backend is self.parts.backend and self._group is not None:
            self._want(secondary=None)
            self._changes["secondary"].start(self._change_secondary)
        self._close_spare()

    def _failed(self, backend: Backend, kind: FaultKind) -> None:
        if kind in USER_FIXABLE:
            self._pool.spoil(backend)  # the user may put it right: chosen again, it is opened again

    def _close_spare(self) -> None:
        task = asyncio.get_running_loop().create_task(self._pool.close_spare(), name="close spare back-ends")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _in_use(self, backend: Backend) -> bool:
        return any(runner.uses(backend) for runner in self._runners)

    # -- what runners need -------------------------------------------------------------------------

    @property
    def _runners(self) -> list[OracleRunner]:
        return [runner for runner in (self._runner, self._secondary) if runner is not None]

    def _policy(self) -> OraclePolicy:
        return OraclePolicy(partials=self._partials)

    def _request(self, backend: Backend, turn: int, words: str, final: bool) -> ChatRequest:
        return self.prompts.request(backend, turn, words, may_act=final and self._tools.may_act(turn))

    def _spare(self) -> None:
        for runner in self._runners:
            runner.sparing = self._spending.sparing

    # -- events ------------------------------------------------------------------------------------

    def _emit_conversation(self) -> None:
        style, choice = self.prompts.style, self._driving
        self._emit(
            e.ConversationConfigured(
                self._now(),
                choice.provider,
                self.parts.backend.model,
                without_secrets(choice.base_url),
                style.persona,
                style.temperature,
                style.length,
                self._tools.choice.names,
                style.voice,
                self.prompts.given(self.parts.backend),
            )
        )

    def _emit_change(self, reason: Literal["chosen", "fallback", "handed"]) -> None:
        backend, choice = self.parts.backend, self._driving
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

    def _emit_lost(self, backend: Backend, *, secondary: bool = False) -> None:
        """Tell which back-ends of a router could not be opened. None of these messages replaces another."""
        for lost, error in getattr(backend, "lost", ()):
            self._emit(backend_failure(self._now(), str(error), error, lost, secondary=secondary, about=""))

    def _emit(self, event: e.Event) -> None:
        self._emit_event(event)
        if isinstance(event, e.OracleCounted) and event.cost:
            self._spending.add(event.cost)
            self._spare()
