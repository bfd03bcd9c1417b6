"""Decides which back-ends answer in a session, and exchanges them while it runs.

There are two `OracleRunner`s: the driver, whose revisions are spoken, and the secondary one, whose revisions are only
shown. `apply` states what is wanted. Slow changes run in tasks, of which the newest wins. What is wanted and what is in
use is one `SessionState`, which only `_publish` replaces.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from app.backend.base import USER_FIXABLE, Backend, BackendError, ChatRequest, FaultKind, without_secrets
from app.conversation import events as e
from app.conversation.languages import AUTOMATIC, ENGLISH
from app.conversation.oracle import OraclePolicy
from app.conversation.record.transcript import Transcript
from app.session.backend_pool import BackendPool, FirstBackend, Prompts, Spending, ToolAccess
from app.session.control import (
    PARTS,
    BackendChoice,
    Part,
    Refusal,
    SessionChoice,
    SessionState,
    ToolChoice,
    to_exchange,
)
from app.session.mailbox import Message
from app.session.oracle_runner import OracleRunner
from app.session.oracle_stream import OracleContext, backend_failure
from app.session.parts import LatestTask, SessionParts
from app.session.title_writer import TitleWriter
from app.tools.base import ToolError
from app.tools.consent import Consent, Policy, Proposal

SAME_TWICE = "The comparison model would be the same as the first one. Choose another one."
OVER = "The conversation has ended, so its model can't be changed. Start a new one."

_log = logging.getLogger(__name__)


class BackendController:
    """The back-ends of one session. The first driver is `parts.backend`, which was made for `choice.backend`.

    `consent`: what happens to tool calls that need the user's consent.

    `post` sends a message to the front-end, and `emit` an event to every listener; `now` returns the session's time.
    `state_listeners` are called with each new state before the events that report the change.
    """

    def __init__(
        self,
        parts: SessionParts,
        choice: SessionChoice,
        transcript: Transcript,
        *,
        consent: Policy,
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
        self.state = SessionState(choice, choice.backend)
        self.state_listeners: list[Callable[[SessionState], None]] = []
        self._runner: OracleRunner  # the driver, from `start` on
        self._secondary: OracleRunner | None = None
        self.consent = Consent(consent)
        self.consent.on_answer = lambda turn, allowed, by: self._emit(e.ConsentAnswered(now(), turn, allowed, by))
        self._tools = ToolAccess(parts.make_tools, self.consent)
        self._spending = Spending(choice.cap, self._emit, now)
        self._pool = BackendPool(parts.make_backend, parts.backend, choice.backend, self._in_use)
        self._changes = {name: LatestTask(f"change the {name}") for name in PARTS}
        self._first: FirstBackend | None = None  # wanted at the start, but not open yet
        self._opening = LatestTask("open the wanted back-end")
        self._titles: TitleWriter | None = None
        self._closing: set[asyncio.Task[None]] = set()
        self._group: asyncio.TaskGroup | None = None

    # -- life --------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Opens the wanted back-end, or the fallback if that fails or takes long. Raises BackendError."""
        wanted, fallback = self.parts.backend, self.parts.fallback_backend
        if fallback is None or fallback == self.state.driving or self.parts.make_backend is None:
            await wanted.open()
            return
        first = FirstBackend(self._pool, wanted, self.state.driving)
        self.parts.backend = backend = await first.open(fallback)
        if backend is not wanted:
            self._first = first
            self._publish(driving=fallback, model=backend.model)

    def start(self, group: asyncio.TaskGroup) -> None:
        """Accepts questions from now on. Streams run as tasks of `group`."""
        self._group = group
        self._context = OracleContext(
            request=self._request,
            post=self._post,
            emit=self._emit,
            now=self._now,
            group=group,
            stream=self._tools.stream,
            records=self.parts.records,
            cost=self.parts.cost,
            allowed=self._spending.allows,
            acts=lambda: bool(self._tools.acting),
            ask_consent=self._ask_consent,
            used=self._tools.used,
            failed=self._failed,
            changed=self._fell_back,
            rescue=self._rescue,
        )
        self._runner = OracleRunner(self._context, self.parts.backend, self._policy())
        if self.state.wanted.titled:
            self._titles = TitleWriter(self._context, self._transcript, self.prompts)
        self._publish(model=self.parts.backend.model)
        self._emit_conversation()
        if self.prompts.documents:
            self._runner.prime(1)
        if self._first is not None:
            self._opening.start(functools.partial(self._open_first, self._first))
        if self.state.wanted.tools.names:
            self._changes["tools"].start(self._change_tools)
        if self.state.wanted.secondary is not None:
            self._changes["secondary"].start(self._change_secondary)

    async def tools_opened(self) -> None:
        """Waits until the tools are ready, or the missing ones have been reported."""
        await self._changes["tools"].wait()

    async def stop(self) -> None:
        """Sends no more requests, and waits until everything has ended."""
        self._group = None
        self.consent.withdraw()
        if self._titles is not None:
            await self._titles.stop()
        for change in (self._opening, *self._changes.values()):
            await change.stop()  # a model may take minutes to load
        for runner in self._runners:
            await runner.close()
        if self._closing:
            await asyncio.wait(self._closing)

    async def close(self) -> None:
        """Closes all back-ends and tools."""
        if self._first is not None:
            self._first.give_up()
        try:
            await self._pool.close()
        finally:
            await self._tools.close()

    # -- questions ---------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether an answer is being requested or received."""
        return any(runner.busy for runner in self._runners)

    def ask(self, turn: int, words: str, *, final: bool, settled: bool) -> None:
        """Passes the words of the user's turn to both runners. `settled`: the user is silent; `final`: it is over."""
        if self._group is None:
            return  # the session is over
        if self._titles is not None:
            self._titles.cancel()
        if self.consent.pending and not final:
            return  # what the answer is to be depends on whether these words allow the call
        if final:
            self.consent.answer(turn, words, self.prompts.language or ENGLISH)
        for runner in self._runners:
            self._ask(runner, turn, words, final=final, settled=settled)

    def say(self, turn: int, words: str, text: str) -> None:
        """Has `text` spoken as the answer to `words`; no model is asked."""
        if self._group is not None:
            self.consent.withdraw()
            self._runner.policy.language = self.prompts.language
            self._runner.say(turn, words, text)

    def _ask(self, runner: OracleRunner, turn: int, words: str, *, final: bool, settled: bool) -> None:
        runner.transcript(turn, words, final=final, settled=settled, language=self.prompts.language)

    def abandon(self, turn: int) -> None:
        """Closes the streams that answer `turn`."""
        for runner in self._runners:
            runner.abandon(turn)

    def answered(self, turn: int, *, interrupted: bool) -> None:
        """Records that the answer to `turn` is over."""
        if turn != self._runner.refused_turn:
            self.prompts.answered(turn)
        if interrupted:
            self.abandon(turn)
        elif self._group is not None:
            self._runner.prime(turn + 1)
            if self._titles is not None:
                self._titles.begin(self._runner.backend, turn)

    # -- what is wanted ----------------------------------------------------------------------------

    def apply(self, choice: SessionChoice, reopen: Collection[Part] = ()) -> None:
        """Applies the parts of `choice` that concern back-ends, prompts, tools and cost. See `Session.apply`."""
        before = self.state.wanted
        changed = to_exchange(before, choice, reopen)
        self._publish(wanted=choice, refused=self.state.without_refusal(*changed))
        if choice.answer_mode != before.answer_mode:
            for runner in self._runners:
                runner.policy.partials = choice.answer_mode == "thinking"
        if choice.style != self.prompts.style:
            self.prompts.style = choice.style
            self._emit_conversation()
        if choice.documents != self.prompts.documents:
            self.prompts.documents = choice.documents
            self._emit_conversation()
            asked = self._transcript.last("user")
            self._runner.prime(asked.number + 1 if asked is not None else 1)
        if choice.cap != before.cap:
            self._spending.set_cap(choice.cap)
            self._update_sparing()
            self._runner.ask_refused()
        if self._first is not None and "backend" in changed:
            if self._opening.running and choice.backend == self._first.choice:
                changed.discard("backend")  # it is coming by itself
                self._first.try_again()
            else:
                self._opening.cancel()
                self._first.give_up()
        if self._swaps_roles(choice):
            self._changes["backend"].cancel()
            self._changes["secondary"].cancel()
            self._hand_over()
        else:
            if "backend" in changed:
                self._changes["backend"].start(self._change_backend)
            if "secondary" in changed:
                self._changes["secondary"].start(self._change_secondary)
        if "tools" in changed:
            self._changes["tools"].start(self._change_tools)

    async def settled(self) -> None:
        """Waits until all requested changes have been made or refused."""
        for change in self._changes.values():
            await change.wait()

    def _swaps_roles(self, choice: SessionChoice) -> bool:
        return (
            self._secondary is not None
            and (choice.backend, choice.secondary) == (self.state.secondary, self.state.driving)
            and choice.backend != choice.secondary
        )

    async def _change_backend(self) -> None:
        choice = self.state.wanted.backend
        try:
            backend = await self._open(choice)
        except Exception as error:
            self._refuse("backend", choice, self.state.driving, error)
            return
        self._take_over(backend, again=self.prompts.unanswered is not None)

    async def _open_first(self, first: FirstBackend) -> None:
        """Makes the back-end that was wanted at the start drive as soon as it is open, and reports why it isn't yet."""
        wanted, answers = first.wanted, self.parts.backend

        def failed(error: BackendError) -> None:
            sentence = f"{wanted.name} can't be used yet, so {answers.name} ({answers.model}) answers. {error}"
            self._emit(backend_failure(self._now(), sentence, error.kind, wanted, secondary=False))

        self._take_over(await first.opened(failed), again=False)

    def _take_over(self, backend: Backend, *, again: bool) -> None:
        """Makes `backend`, which is open, drive."""
        if self._secondary is not None and self._secondary.backend is backend:
            self._hand_over()  # it is the secondary one: the two change roles
        else:
            driving = self._pool.choice_of(backend) or self.state.wanted.backend
            self._drive(backend, lambda driver: driver.swap(backend, again=again), driving=driving, reason="chosen")

    async def _change_secondary(self) -> None:
        choice = self.state.wanted.secondary
        if choice is None:
            await self._end_secondary()
            return
        try:
            if choice == self.state.driving:
                raise BackendError(SAME_TWICE, "request")
            backend = await self._open(choice)
            if self._runner.backend is backend:  # it became the driver meanwhile
                raise BackendError(SAME_TWICE, "request")
        except Exception as error:
            self._refuse("secondary", choice, self.state.secondary, error)
            return
        self._publish(secondary=choice, secondary_number=self.state.secondary_number + 1)
        before, self._secondary = self._secondary, OracleRunner(self._context, backend, self._policy(), secondary=True)
        self._emit(e.SecondaryChanged(self._now(), backend.name, backend.model))
        asked = self._transcript.last("user")
        if asked is not None and asked.text and self.prompts.unanswered == asked.number:
            self._ask(self._secondary, asked.number, asked.text, final=not asked.open, settled=True)
        if before is not None:
            await before.close()
        self._close_spare()

    async def _end_secondary(self) -> None:
        runner, self._secondary = self._secondary, None
        if runner is not None:
            self._publish(secondary=None, secondary_number=self.state.secondary_number + 1)
            self._emit(e.SecondaryChanged(self._now(), "", ""))
            await runner.close()
            self._close_spare()

    async def _change_tools(self) -> None:
        choice = self.state.wanted.tools
        try:
            problems = await self._tools.change(choice)
        except Exception as error:
            self._refuse("tools", None, self.state.tools, error)
            return
        self._publish(tools=choice)
        for problem in problems:
            self._emit(e.Failure(self._now(), "backend", problem))
        self._emit_conversation()

    # -- the state ---------------------------------------------------------------------------------

    def _publish(self, **changes: Any) -> None:
        """Replaces these fields of the state, and passes the new state to the listeners."""
        before, self.state = self.state, replace(self.state, **changes)
        if self.state == before:
            return
        for listener in self.state_listeners:
            try:
                listener(self.state)
            except Exception:
                _log.exception("A listener can't handle the state of the session")

    def _refuse(
        self, part: Part, choice: BackendChoice | None, kept: BackendChoice | ToolChoice | None, error: Exception
    ) -> None:
        """Reports that `choice` is refused. `kept` is wanted from now on, so that `choice` can be requested again."""
        if isinstance(error, BackendError):
            sentence = str(error)
        else:
            _log.exception("the %s could not be changed", part, exc_info=error)
            sentence = f"Something unexpected failed ({type(error).__name__}). The log has the details."
        # A different key or address wouldn't help if the model is the same.
        refusal = Refusal(part, choice, sentence, fixable=choice is not None and sentence != SAME_TWICE)
        wanted = replace(self.state.wanted, **{part: kept})  # type: ignore[arg-type]
        self._publish(wanted=wanted, refused=(*self.state.without_refusal(part), refusal))
        who = choice.public if choice is not None and refusal.fixable else ("", "", "")
        self._emit(e.ChangeRefused(self._now(), part, sentence, *who))

    def _failed(self, failure: e.Failure, kind: FaultKind, backend: Backend) -> None:
        """Publishes a `failure` of `backend` that is about to be reported."""
        if kind not in USER_FIXABLE:
            return
        self._pool.mark_failed(backend)  # the user may fix it: if it is chosen again, it is opened again
        choice = self._pool.choice_of(backend)
        if failure.provider and choice is not None:
            self._publish(faults=self.state.faults_with(failure, choice))

    # -- who drives --------------------------------------------------------------------------------

    async def _open(self, choice: BackendChoice) -> Backend:
        """Returns the open back-end of a choice. Raises BackendError, also if the session has ended in the meantime."""
        backend = await self._pool.get(choice)
        if self._group is None:
            raise BackendError(OVER, "setup")
        return backend

    def _drive(self, backend: Backend, take: Callable[[OracleRunner], None], **changes: Any) -> None:
        """Makes `backend` drive. `take` hands it to the driving runner; `changes`: further changes of the state."""
        self._publish(model=backend.model, driver_number=self.state.driver_number + 1, **changes)
        state = self.state
        self._emit(e.BackendChanged(self._now(), backend.name, backend.model, state.reason, *state.driving.public))
        take(self._runner)
        self._emit_conversation()
        self._close_spare()

    def _hand_over(self) -> None:
        """Exchanges the two back-ends' roles: the secondary one drives, with its answer to the current turn."""
        secondary, before = self._secondary, self.state
        if secondary is None or before.secondary is None or self._group is None:
            return
        loads = self._changes["secondary"].running
        wanted = before.wanted.secondary if loads else before.driving
        self._drive(
            secondary.backend,
            lambda driver: secondary.hand_over_to(driver, self.prompts.unanswered),
            driving=before.secondary,
            reason="handed",
            secondary=before.driving,
            secondary_number=before.secondary_number + 1,
            wanted=replace(before.wanted, backend=before.secondary, secondary=wanted),
        )
        self._emit(e.SecondaryChanged(self._now(), secondary.backend.name, secondary.backend.model))

    def _fell_back(self, failed: Backend) -> None:
        """Publishes that the standby has taken over from the driver, which has failed."""
        backend, wanted = self._runner.backend, self.state.wanted
        driving = self._pool.choice_of(backend) or self.state.driving
        if failed is not backend:
            self._pool.mark_failed(failed)
        compared = self._secondary is not None and self._secondary.backend is backend and self._group is not None
        if not self._changes["backend"].running:
            wanted = replace(wanted, backend=driving)
        if compared:
            wanted = replace(wanted, secondary=None)
        self._drive(backend, lambda driver: None, driving=driving, reason="fallback", wanted=wanted)
        if compared:
            self._changes["secondary"].start(self._change_secondary)

    def _rescue(self) -> bool:
        """Opens the fallback, since the driver has failed and no standby is left; returns False if there is none."""
        if self.parts.fallback_backend in (None, self.state.driving) or self._changes["backend"].running:
            return False
        if not self._opening.running:
            self._opening.start(self._open_fallback)
        return True

    async def _open_fallback(self) -> None:
        fallback = self.parts.fallback_backend
        assert fallback is not None
        try:
            backend = await self._open(fallback)
        except BackendError as error:
            self._emit(e.Failure(self._now(), "backend", str(error), about="backend"))
            return
        again = self.prompts.unanswered is not None
        wanted = replace(self.state.wanted, backend=fallback)
        self._drive(
            backend,
            lambda driver: driver.swap(backend, again=again),
            driving=fallback,
            reason="fallback",
            wanted=wanted,
        )

    def _close_spare(self) -> None:
        task = asyncio.get_running_loop().create_task(self._pool.close_spare(), name="close spare back-ends")
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _in_use(self, backend: Backend) -> bool:
        return any(runner.uses(backend) for runner in self._runners)

    # -- what runners need -------------------------------------------------------------------------

    @property
    def _runners(self) -> list[OracleRunner]:
        return [self._runner, *([self._secondary] if self._secondary is not None else [])]

    def _policy(self) -> OraclePolicy:
        partials = self.state.wanted.answer_mode == "thinking"
        return OraclePolicy(partials=partials, sparing=self._spending.sparing)

    def allow(self, turn: int, *, always: bool) -> None:
        """Allows the calls that wait for the user, by turn `turn`. `always`: also all later ones of these tools."""
        places = self._tools.allow_always(self.consent.waiting) if always else []
        self.consent.grant(turn)
        if places and self._group is not None:
            self._group.create_task(self._keep_always(places), name="keep what is always allowed")

    async def _keep_always(self, places: list[tuple[str, str]]) -> None:
        try:
            for server, tool in places:
                await asyncio.to_thread(self.parts.keep_always, server, tool)
        except ToolError as error:
            self._emit(e.Failure(self._now(), "backend", f"It is allowed for this conversation only. {error}"))

    def _request(self, backend: Backend, turn: int, words: str, final: bool) -> ChatRequest:
        if self.prompts.documents or self.state.wanted.earlier:  # imported, or read by a tool in an earlier session
            self.consent.note_outside()
        request = self.prompts.request(backend, turn, words, tools=bool(self._tools.choice.names))
        granted = self.consent.granted(turn) if final else None
        return replace(request, final=final and self._tools.may_act(turn), granted=granted)

    def _ask_consent(self, revision: int, turn: int, proposal: Proposal) -> None:
        self.consent.ask(turn, proposal)
        calls = proposal.waiting
        effects = self._tools.effects
        self._emit(
            e.ConsentAsked(
                self._now(),
                revision,
                turn,
                tuple(call.name for call in calls),
                tuple(call.arguments for call in calls),
                tuple(effects.get(call.name, "changes") for call in calls),
            )
        )

    def _update_sparing(self) -> None:
        for runner in self._runners:
            runner.policy.sparing = self._spending.sparing

    # -- events ------------------------------------------------------------------------------------

    def _emit_conversation(self) -> None:
        style, choice = self.prompts.style, self.state.driving
        backend = self._runner.backend
        self._emit(
            e.ConversationConfigured(
                self._now(),
                choice.provider,
                backend.model,
                without_secrets(choice.base_url),
                style.persona,
                style.temperature,
                style.length,
                self._tools.choice.names,
                style.voice,
                self.prompts.given(backend),
            )
        )

    def _emit(self, event: e.Event) -> None:
        self._emit_event(event)
        if isinstance(event, e.OracleCounted) and event.cost:
            self._spending.add(event.cost)
            self._update_sparing()
