"""Owns the session for the window: starts it, changes it while it runs, passes commands to it, ends it.

The newest wish wins: a start ends whatever start is under way. Nothing here blocks.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal, Slot

from app.conversation import events as e
from app.gui.state.background_tasks import log_fault
from app.gui.state.session_model import SessionModel
from app.gui.state.talk_state import Phase
from app.session.control import (
    PARTS,
    BackendChoice,
    EarlyTalk,
    Part,
    Progress,
    Repeat,
    SessionChoice,
    SessionFactory,
    SessionState,
    UserError,
    needs_restart,
)

if TYPE_CHECKING:
    from app.session.session import Session

STOP_SECONDS = 5.0
"""How long a session that is replaced may take to end before it is left to itself."""

_log = logging.getLogger(__name__)


class SessionManager(QObject):
    """The only writer of `phase` and `wanted`: what the session should be, or the next one if none runs.

    `model` shows what the session is, and gets its events. Its state corrects `wanted`.
    """

    failed = Signal(str, bool)
    """A sentence for the user, and whether trying again makes sense."""
    settled = Signal(object)
    """The `BackendChoice` in force that the user has chosen: new conversations have it, too."""
    documents_changed = Signal(object)
    """The documents of the conversation, as a tuple of `Document`."""
    restart_wanted = Signal()
    """What is wanted can't be brought about while the session runs: it has to start again."""
    silenced = Signal()
    """Emitted when the user wants to hear no more."""
    _told = Signal(int, object)

    def __init__(self, factory: SessionFactory, model: SessionModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.phase: Phase = "stopped"
        self.wanted = SessionChoice()
        self.model = model
        self.gave_up = False
        """Whether the last start failed: another model or device may make it work."""
        self.before_start: Callable[[], Awaitable[None]] | None = None
        """Awaited before a session is built, such as for devices that somebody else still holds."""
        self._factory = factory
        self._deaf: set[str] = set()
        self._session: Session | None = None
        self._early: EarlyTalk | None = None  # the session that is still loading, but hears the user
        self._stopping: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._starts = 0
        self._closed = False
        self.expecting = False
        """Whether `start` is going to be called, see `expect`."""
        # A factory may report from the thread that loads: a signal brings its words to this one.
        self._told.connect(self._report_progress)

    # -- starting and ending

    def expect(self, note: str) -> None:
        """Says that `start` will be called once something else is known: for the user, the session is loading."""
        if not self._closed:
            self.gave_up, self.expecting = False, True
            self._set_phase("loading", Progress(note=note))

    def start(self, choice: SessionChoice) -> None:
        """Starts a session of `choice` in the background; one that runs or is being started ends first."""
        if self._closed:
            return
        self.prepare(choice)
        self.gave_up = self.expecting = False
        self._starts += 1
        self._spawn(self._start(self._starts, choice, self._cancel_tasks()), "start a session")
        self._set_phase("loading")
        self.model.begin_state(choice)

    def stop(self) -> None:
        """Ends the session in the background."""
        if self._closed:
            return
        self.gave_up = self.expecting = False
        if self.phase == "stopped" and self._session is None:
            return
        self._starts += 1
        self._spawn(self._stop(self._cancel_tasks()), "stop the session")
        self._set_phase("stopped")

    async def idle(self) -> None:
        """Waits until no session runs, starts or ends here. `stop` first."""
        while tasks := {task for task in self._tasks if task is not asyncio.current_task()}:
            await asyncio.wait(tasks)

    async def close(self, seconds: float = 1.0) -> None:
        """Ends everything for good, within about `seconds`."""
        self._closed = True
        self._starts += 1
        deadline = asyncio.get_running_loop().time() + seconds
        session_end = asyncio.create_task(self._end_session(seconds), name="end the session")
        older = self._cancel_tasks()
        await asyncio.wait({session_end, *older}, timeout=seconds)
        if self._session is not None:  # a start that was too far gone to be cancelled
            await self._end_session(max(deadline - asyncio.get_running_loop().time(), 0.05))
        self._set_phase("stopped")

    async def _start(self, number: int, choice: SessionChoice, older: set[asyncio.Task[Any]]) -> None:
        if older:
            await asyncio.wait(older)
        await self._end_session(STOP_SECONDS)
        built = self._with_deafness(choice)
        try:
            if self.before_start is not None:
                await self.before_start()
            session = await self._factory(built, lambda progress: self._told_from_anywhere(number, progress))
        except UserError as error:
            self._give_up(number, choice, str(error))
            return
        except Exception as error:
            _log.exception("the session could not be built")
            sentence = self.tr("The conversation could not start because of a bug in KAME ({0}).").format(error)
            self._give_up(number, choice, sentence + " " + self.tr("The log has the details."))
            return
        self._session = session
        if number != self._starts:  # it was cancelled, and came all the same
            await self._end_session(STOP_SECONDS)
            return
        self._set_phase("running")
        wanted = self.wanted
        session.on_state(lambda state: self._take_state(session, state))
        session.add_listener(lambda event: self._pass_on(session, event))
        # What has been changed meanwhile is wanted, whatever has become of the parts that the session began with.
        changed = {part: getattr(wanted, part) for part in PARTS if getattr(wanted, part) != getattr(choice, part)}
        self.wanted = replace(self.wanted, **changed)
        session.apply(self._with_deafness(self.wanted))
        if needs_restart(built, self.wanted):
            self.restart_wanted.emit()

    def _give_up(self, number: int, built: SessionChoice, sentence: str) -> None:
        if number != self._starts:
            return
        if _devices(self.wanted) != _devices(built):
            self.start(self.wanted)  # they were changed meanwhile, perhaps for what this sentence is about
        else:
            self.gave_up = True
            self._set_phase("stopped")
            self.failed.emit(sentence, True)

    async def _stop(self, older: set[asyncio.Task[Any]]) -> None:
        if older:
            await asyncio.wait(older)
        await self._end_session(STOP_SECONDS)

    async def _end_session(self, seconds: float) -> None:
        session = self._session
        if session is None:
            return
        # A task of its own: being cancelled here must not leave the session half ended.
        if self._stopping is None:
            self._stopping = asyncio.create_task(session.stop(), name="session.stop")
        stopping = self._stopping
        await asyncio.wait([stopping], timeout=seconds)
        if not stopping.done():
            _log.error("the session did not end within %.1f s and is left to itself", seconds)
            stopping.cancel()
        elif not stopping.cancelled() and stopping.exception() is not None:
            _log.error("the session did not end cleanly", exc_info=stopping.exception())
        if self._session is session:
            self._session, self._stopping = None, None

    # -- what is wanted

    @property
    def session(self) -> Session | None:
        """The session, while it runs."""
        return self._session if self.phase == "running" else None

    def prepare(self, choice: SessionChoice) -> None:
        """Says what the next session should be, without an effect on one that runs."""
        before, self.wanted = self.wanted, choice
        if self.session is None:
            self.model.begin_state(choice)
        if choice.documents != before.documents:
            self.documents_changed.emit(choice.documents)

    def want(self, *, reopen: Collection[Part] = (), **parts: Any) -> None:
        """Changes fields of what the session should be; see `Session.apply` for what happens when.

        A session that is being built, or could not be, starts again for another back-end; one that could not be built
        also for other devices.
        """
        before = self.wanted
        self.prepare(replace(before, **parts))
        if needs_restart(before, self.wanted):
            self.restart_wanted.emit()
        new_backend = self.wanted.backend != before.backend or "backend" in reopen
        if (new_backend and ((self.phase == "loading" and not self.expecting) or self.gave_up)) or (
            self.gave_up and _devices(self.wanted) != _devices(before)
        ):
            self.start(self.wanted)
        if self.session is not None:
            self.session.apply(self._with_deafness(self.wanted), reopen=reopen)
        else:
            if self._early is not None:
                self._early.set_muted(self.wanted.muted or bool(self._deaf))
            if new_backend:
                self.settle_backend()

    def reopen(self, choice: BackendChoice, *, secondary: bool = False) -> None:
        """Opens a back-end that was refused or has failed: its key or its server may have changed."""
        part: Part = "secondary" if secondary else "backend"
        self.want(reopen=[part], **{part: choice})

    def settle_backend(self) -> None:
        """Treats the wanted back-end as chosen, before a session has taken it."""
        self.settled.emit(self.wanted.backend)

    def set_deaf(self, deaf: bool, why: str = "test") -> None:
        """Mutes the microphone regardless of the user's own switch, until all reasons for it are gone."""
        (self._deaf.add if deaf else self._deaf.discard)(why)
        if self.session is not None:
            self.session.apply(self._with_deafness(self.wanted))
        self.model.set_talk(testing=bool(self._deaf - {"replay"}), replaying="replay" in self._deaf)

    def _with_deafness(self, choice: SessionChoice) -> SessionChoice:
        return replace(choice, muted=choice.muted or bool(self._deaf))

    # -- commands, which do nothing while no session runs

    def press(self) -> None:
        """The talk button went down."""
        if (session := self.session or self._early) is not None:
            session.press()
        self.model.set_talk(held=True, tapped=False, just_unheard=False)

    def release(self) -> None:
        """The talk button went up."""
        if (session := self.session or self._early) is not None:
            session.release()
        self.model.set_talk(held=False, kept=self.model.talk.kept or self._early is not None)

    def write(self, text: str) -> None:
        """The user has typed a turn."""
        if self.session is not None:
            self.session.write(text)

    def repeat(self, text: str, how: Repeat) -> None:
        """The user wants to hear an answer, or the rest of it, once more."""
        if self.session is not None:
            self.session.repeat(text, how)

    def allow(self, always: bool) -> None:
        """The user has allowed the tool calls that wait, `always` or this time."""
        if self.session is not None:
            self.session.allow(always=always)

    def deny(self) -> None:
        """The user has refused the tool calls that wait."""
        if self.session is not None:
            self.session.deny()

    def silence(self) -> None:
        """The user wants to hear no more of the answer, or of the turn that is played again."""
        self.silenced.emit()
        if self.session is not None:
            self.session.silence()

    def hand_over(self) -> None:
        """Lets the driver and the secondary back-end change roles."""
        state = self.model.state
        if self.session is not None and state.secondary is not None:
            swapped = replace(self.wanted, backend=state.secondary, secondary=state.driving)
            self.session.apply(self._with_deafness(swapped))

    # -- from the session

    def _take_state(self, session: Session, state: SessionState) -> None:
        if session is not self.session:
            return  # it ends: `wanted` is for the next one
        self.wanted = replace(self.wanted, **{part: getattr(state.wanted, part) for part in PARTS})
        before = self.model.state
        self.model.publish(state)
        chosen = state.driver_number > before.driver_number and state.reason != "fallback"
        if chosen and state.driving == state.wanted.backend:  # otherwise the user has chosen yet another one
            self.settled.emit(state.driving)

    def _pass_on(self, session: Session, event: e.Event) -> None:
        # Also while it is being stopped: its last words belong to its transcript.
        if session is not self._session:
            return
        self.model.put(event)
        over = isinstance(event, e.SessionEnded) or (isinstance(event, e.Failure) and event.fatal)
        if over and self.phase == "running":
            self.stop()

    # -- small parts

    def _told_from_anywhere(self, number: int, progress: Progress) -> None:
        # A thread that still loads when the window is gone finds no signal to send with.
        with contextlib.suppress(RuntimeError):
            self._told.emit(number, progress)

    @Slot(int, object)
    def _report_progress(self, number: int, progress: Progress) -> None:
        if number == self._starts and self.phase == "loading":
            if progress.early is not None and self._early is None:
                progress.early.set_muted(self.wanted.muted or bool(self._deaf))
            self._early = progress.early
            self.model.show_progress(progress)

    def _set_phase(self, phase: Phase, progress: Progress | None = None) -> None:
        self.phase, self._early = phase, None
        self.model.set_phase(phase, progress)

    def _spawn(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        task.add_done_callback(log_fault)
        return task

    def _cancel_tasks(self) -> set[asyncio.Task[Any]]:
        """Cancels what is under way, and returns it to be waited for."""
        older = {task for task in self._tasks if not task.done() and task is not asyncio.current_task()}
        for task in older:
            task.cancel()
        return older


def _devices(choice: SessionChoice) -> tuple[str, str]:
    return choice.microphone, choice.loudspeaker
