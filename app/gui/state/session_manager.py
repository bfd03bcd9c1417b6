"""Keeps one session going for the window: starts it, restarts it, changes it live, ends it.

The newest wish wins: a restart ends whatever start is under way. Nothing here blocks. Knows sessions
only by their protocols, and nothing of widgets.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.conversation.events import (
    AnswerMode,
    BackendChanged,
    Event,
    Failure,
    SecondaryChanged,
    SessionEnded,
    SessionStarted,
)
from app.conversation.sound_processing import Processing
from app.gui.state.background_tasks import log_fault
from app.gui.state.choice import as_made
from app.gui.state.live_change import LiveChange
from app.gui.state.talk_state import Phase
from app.session.control import (
    BackendChoice,
    SessionChoice,
    SessionControl,
    SessionFactory,
    SpeechChoice,
    Style,
    ToolChoice,
)
from app.session.errors import UserError

STOP_SECONDS = 5.0
"""How long a session that is replaced may take to end before it is left to itself."""

_log = logging.getLogger(__name__)


class SessionManager(QObject):
    """Owns the session. `phase` is `loading`, `running` or `stopped`; `wanted` is what the user's talk is made of.

    A guest's session, see `start_guest`, takes its place for a while. What the user changes meanwhile is for their own
    talk, and reaches no guest.
    """

    phase_changed = Signal(str)
    progressed = Signal(str)
    failed = Signal(str, bool)
    """A sentence for the user, and whether trying again makes sense."""
    backend_settled = Signal(object)
    """The `BackendChoice` in force, after a change or the refusal of one."""
    backend_fell_back = Signal(object)
    """The `BackendChoice` that drives since another one has failed: nobody has chosen it."""
    backend_taken = Signal(object)
    """A `BackendChoice` that a running session has changed to."""
    backend_refused = Signal(object, str)
    """A `BackendChoice` that it has not, and why, in a sentence for the user."""
    secondary_settled = Signal(object)
    """The one at the side, or None, likewise."""
    secondary_taken = Signal(object)
    """The one at the side, or None, that a running session has changed to."""
    secondary_refused = Signal(object, str)
    """A `BackendChoice` for the side that it has not, likewise."""
    deaf_changed = Signal(bool)
    """Whether the talk hears nothing for a while, see `set_deaf`."""
    _told = Signal(int, str)

    def __init__(self, factory: SessionFactory, heard: Callable[[Event], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.phase: Phase = "stopped"
        self.wanted = SessionChoice()
        self.gave_up = False
        """Whether the last start failed: another brain may get it going."""
        self.model = ""
        """The model that drives, as the session names it; empty before it has."""
        self._deaf: set[str] = set()
        self._factory = factory
        self._guest: SessionChoice | None = None
        self._guests = False
        """Whether `_session` is one of a guest's, also when it is being ended."""
        self._heard = heard
        self._session: SessionControl | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._backend = BackendChoice()
        self._drove: list[BackendChoice] = []
        """All that have driven in this session, the last one last."""
        self._secondary: BackendChoice | None = None
        self._backend_change = LiveChange(self._spawn, "change the brain")
        self._secondary_change = LiveChange(self._spawn, "change the brain at the side")
        self._tools_change = LiveChange(self._spawn, "change the tools")
        self._tasks: set[asyncio.Task[Any]] = set()
        self._starts = 0
        self._closed = False
        # A factory may report from the thread that loads: a signal brings its words to this one.
        self._told.connect(self._tell)

    # -- starting and ending

    def start(self, choice: SessionChoice) -> None:
        """Starts a session of `choice` in the background; one that runs or is being started ends first."""
        if self._closed:
            return
        self.wanted, self._guest = choice, None
        self._begin(choice, self._factory)

    def start_guest(self, choice: SessionChoice, factory: SessionFactory) -> None:
        """Starts a session that is not the user's, likewise. The next `start` or `stop` ends it, whoever's that is."""
        if self._closed:
            return
        self._guest = choice
        self._begin(choice, factory)

    def _begin(self, choice: SessionChoice, factory: SessionFactory) -> None:
        self.gave_up = False
        self.model = ""
        self._starts += 1
        self._spawn(self._start(self._starts, choice, factory, self._cancel_tasks()), "start a session")
        self._set_phase("loading")

    def stop(self) -> None:
        """Ends the session in the background, whoever's it is."""
        if self._closed:
            return
        if self._guest is not None:  # that its start has failed says nothing of the user's
            self._guest, self.gave_up = None, False
        if self.phase == "stopped" and self._session is None:
            return
        self.gave_up = False
        self._starts += 1
        self.model = ""
        self._spawn(self._stop(self._cancel_tasks()), "stop the session")
        self._set_phase("stopped")

    async def close(self, seconds: float = 1.0) -> None:
        """Ends everything for good, within about `seconds`."""
        self._closed = True
        self._starts += 1
        deadline = asyncio.get_running_loop().time() + seconds
        session_end = asyncio.create_task(self._end_session(seconds), name="end the session")
        older = self._cancel_tasks()
        await asyncio.wait({session_end, *older}, timeout=seconds)
        if self._session is not None:  # a start that was too far gone to be cancelled
            left = max(deadline - asyncio.get_running_loop().time(), 0.05)
            await self._end_session(left)
        self._set_phase("stopped")

    async def _start(
        self, number: int, choice: SessionChoice, factory: SessionFactory, older: set[asyncio.Task[Any]]
    ) -> None:
        if older:
            await asyncio.wait(older)
        await self._end_session(STOP_SECONDS)
        try:
            choice = replace(choice, muted=choice.muted or bool(self._deaf))
            session = await factory(choice, lambda words: self._report(number, words))
        except UserError as error:
            self._give_up(number, choice, str(error))
            return
        except Exception as error:
            _log.exception("the session could not be built")
            self._give_up(
                number,
                choice,
                self.tr("The talk could not start, because of a fault in the program ({0}).").format(error)
                + " "
                + self.tr("The log has the details."),
            )
            return
        self._session, self._guests = session, self._guest is not None
        if number != self._starts:  # it was cancelled, and came all the same
            await self._end_session(STOP_SECONDS)
            return
        self._backend = choice.backend
        self._drove = [choice.backend]
        self._secondary = choice.secondary
        if self._guest is None:
            self._catch_up(session, choice)
        self._set_phase("running")
        session.add_listener(lambda event: self._pass_on(session, event))

    def _catch_up(self, session: SessionControl, built: SessionChoice) -> None:
        """Tells a session that was just built what the user has changed since."""
        if self.wanted.answer_mode != built.answer_mode:
            session.set_answer_mode(self.wanted.answer_mode)
        if self.wanted.patience != built.patience:
            session.set_patience(self.wanted.patience)
        if self.wanted.openings != built.openings:
            session.set_openings(self.wanted.openings)
        if self.wanted.speech != built.speech:
            session.set_speech(self.wanted.speech)
        if self.wanted.duplex != built.duplex:
            session.set_duplex(self.wanted.duplex)
        if (self.wanted.muted or bool(self._deaf)) != built.muted:
            session.set_muted(self.wanted.muted or bool(self._deaf))
        if self.wanted.processing != built.processing:
            session.set_processing(self.wanted.processing)
        if _devices(self.wanted) != _devices(built):
            session.set_devices(self.wanted.microphone, self.wanted.loudspeaker)
        dials, had = self.wanted.model, built.model
        if (dials.delay, dials.lead) != (had.delay, had.lead):
            session.set_dials(dials.delay, dials.lead)
        if self.wanted.style != built.style:
            session.set_style(self.wanted.style)
        if self.wanted.cap != built.cap:
            session.set_cap(self.wanted.cap)
        if self.wanted.tools != built.tools:
            self._change_tools(session, self.wanted.tools)
        if self.wanted.secondary != built.secondary:
            self._change_secondary(session, self.wanted.secondary)

    def _give_up(self, number: int, built: SessionChoice, sentence: str) -> None:
        if number != self._starts:
            return
        if self._guest is None and _devices(self.wanted) != _devices(built):
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

    # -- the running session

    @property
    def backends(self) -> list[BackendChoice]:
        """The brains of the session: the one that drives, the one at the side, all that drove before, newest first."""
        mine = (self._backend, self._secondary, *reversed(self._drove))
        return list(dict.fromkeys(choice for choice in mine if choice is not None))

    @property
    def session(self) -> SessionControl | None:
        """The user's session, while it runs."""
        return self._session if self.phase == "running" and self._guest is None else None

    @property
    def guest(self) -> SessionControl | None:
        """A guest's session, while it runs."""
        return self._session if self.phase == "running" and self._guest is not None else None

    @property
    def has_guest(self) -> bool:
        """Whether a guest's session runs, or is being built."""
        return self._guest is not None

    @property
    def made_of(self) -> SessionChoice:
        """What the talk that is shown is made of, whoever's it is."""
        return self._guest or self.wanted

    def set_answer_mode(self, answer_mode: AnswerMode) -> None:
        """Changes the manner, live if a session runs."""
        self.wanted = replace(self.wanted, answer_mode=answer_mode)
        if self.session is not None:
            self.session.set_answer_mode(answer_mode)

    def set_patience(self, patience: float) -> None:
        """Changes how long pauses are waited out, live if a session runs."""
        self.wanted = replace(self.wanted, patience=patience)
        if self.session is not None:
            self.session.set_patience(patience)

    def set_openings(self, on: bool) -> None:
        """Whether waits are filled with short openings, live if a session runs."""
        self.wanted = replace(self.wanted, openings=on)
        if self.session is not None:
            self.session.set_openings(on)

    def set_speech(self, choice: SpeechChoice) -> None:
        """Changes what hears and speaks, live if a session runs."""
        self.wanted = replace(self.wanted, speech=choice)
        if self.session is not None:
            self.session.set_speech(choice)

    def set_duplex(self, duplex: bool) -> None:
        """Changes between the button and full duplex, live if a session runs."""
        self.wanted = replace(self.wanted, duplex=duplex)
        if self.session is not None:
            self.session.set_duplex(duplex)

    def set_muted(self, muted: bool) -> None:
        """Mutes the microphone or no longer, now and in the talks to come."""
        self.wanted = replace(self.wanted, muted=muted)
        self._mute_session()

    def set_deaf(self, deaf: bool, why: str = "test") -> None:
        """Mutes it for a while, whatever the user wants: what is said then is not for a talk. It hears again once no
        reason is left.
        """
        (self._deaf.add if deaf else self._deaf.discard)(why)
        self._mute_session()
        self.deaf_changed.emit(bool(self._deaf))

    def _mute_session(self) -> None:
        if self.session is not None:
            self.session.set_muted(self.wanted.muted or bool(self._deaf))

    def set_devices(self, microphone: str, loudspeaker: str) -> None:
        """Goes on with these devices: live if a session runs, or once it does; one that could not be built begins
        anew.
        """
        self.wanted = replace(self.wanted, microphone=microphone, loudspeaker=loudspeaker)
        if self.gave_up and self._guest is None:
            self.start(self.wanted)
        elif self.session is not None:
            self.session.set_devices(microphone, loudspeaker)

    def set_processing(self, processing: Processing) -> None:
        """Processes the microphone's sound in this way, live if a session runs."""
        self.wanted = replace(self.wanted, processing=processing)
        if self.session is not None:
            self.session.set_processing(processing)

    def set_dials(self, delay: int, lead: int) -> None:
        """Turns the dials, live if a session runs. In frames."""
        self.wanted = replace(self.wanted, model=replace(self.wanted.model, delay=delay, lead=lead))
        if self.session is not None:
            self.session.set_dials(delay, lead)

    def set_backend(self, choice: BackendChoice) -> None:
        """Changes the brain: live if a session runs; one that is still being built, or could not be, begins anew."""
        self.wanted = replace(self.wanted, backend=choice)
        if self._guest is None and (self.phase == "loading" or self.gave_up):
            self.start(self.wanted)
        session = self.session
        if session is None:
            self.backend_settled.emit(choice)
            return
        self._backend_change.ask(
            lambda: session.set_backend(choice),
            lambda: self._backend_changed(session, choice),
            lambda sentence: self._backend_refused(session, choice, sentence),
        )

    def _backend_changed(self, session: SessionControl, choice: BackendChoice) -> None:
        if session is self.session:
            self._backend = choice
            self._drove.append(choice)
            self.backend_settled.emit(choice)
            self.backend_taken.emit(choice)

    def _backend_refused(self, session: SessionControl, choice: BackendChoice, sentence: str) -> None:
        if session is self.session:
            self.wanted = replace(self.wanted, backend=self._backend)
            self.backend_settled.emit(self._backend)
            self.backend_refused.emit(choice, sentence or self.tr("The brain could not be changed."))

    def settle_backend(self) -> None:
        """What the next session is made of counts as chosen, before that is there."""
        self.backend_settled.emit(self.wanted.backend)

    def set_secondary(self, choice: BackendChoice | None) -> None:
        """Has this brain answer, too, or no longer: live if a session runs, else from the next one on."""
        self.wanted = replace(self.wanted, secondary=choice)
        if self.session is not None:
            self._change_secondary(self.session, choice)

    def _change_secondary(self, session: SessionControl, choice: BackendChoice | None) -> None:
        def done() -> None:
            if session is self.session:
                self._secondary = choice
                self.secondary_settled.emit(choice)
                self.secondary_taken.emit(choice)

        def refused(sentence: str) -> None:
            if session is self.session:
                self.wanted = replace(self.wanted, secondary=self._secondary)
                self.secondary_settled.emit(self._secondary)
                # The same brain twice is nothing that its key or its address could mend.
                told = None if choice == self.wanted.backend else choice
                self.secondary_refused.emit(told, sentence or self.tr("The brain could not be changed."))

        self._secondary_change.ask(lambda: session.set_secondary(choice), done, refused)

    def hand_over(self) -> None:
        """Has the brain at the side drive, if there is one."""
        if self.session is not None and self._secondary is not None:
            self.session.hand_over()

    def _handed_over(self) -> None:
        """The session says that it has done so: the two have changed places."""
        if self._secondary is not None:
            self._backend, self._secondary = self._secondary, self._backend
            self._drove.append(self._backend)
            self.wanted = replace(self.wanted, backend=self._backend, secondary=self._secondary)
            self.backend_settled.emit(self._backend)
            self.secondary_settled.emit(self._secondary)

    def _fell_back(self, event: BackendChanged) -> None:
        """A brain has failed, and one before it drives again."""
        told = BackendChoice(event.provider, event.chosen_model, event.base_url)
        self._backend = as_made(told, reversed(self._drove))
        self.wanted = replace(self.wanted, backend=self._backend)
        self.backend_fell_back.emit(self._backend)

    def set_conversation(self, style: Style, tools: ToolChoice, cap: float) -> None:
        """Holds the conversation so, live if a session runs."""
        self.wanted = replace(self.wanted, style=style, tools=tools, cap=cap)
        session = self.session
        if session is not None:
            session.set_style(style)
            session.set_cap(cap)
            self._change_tools(session, tools)

    def _change_tools(self, session: SessionControl, tools: ToolChoice) -> None:
        self._tools_change.ask(
            lambda: session.set_tools(tools), lambda: None, lambda sentence: self.failed.emit(sentence, False)
        )

    # -- small parts

    def _pass_on(self, session: SessionControl, event: Event) -> None:
        # Also while it is being stopped: its last words belong to its transcript.
        if session is not self._session:
            return
        if isinstance(event, SessionStarted | BackendChanged):
            self.model = event.model
        if self._guests:
            pass  # its brains are no choice of the user's
        elif isinstance(event, BackendChanged) and event.reason == "handed":
            self._handed_over()
        elif isinstance(event, BackendChanged) and event.reason == "fallback":
            self._fell_back(event)
        elif isinstance(event, SecondaryChanged) and not event.backend and self.wanted.secondary == self._secondary:
            self.wanted = replace(self.wanted, secondary=None)  # it failed: the next talk begins without it
        self._heard(event)
        over = isinstance(event, SessionEnded) or (isinstance(event, Failure) and event.fatal)
        if over and self.phase == "running":
            self.stop()

    def _report(self, number: int, words: str) -> None:
        # A thread that still loads when the window is gone finds no signal to send with.
        with contextlib.suppress(RuntimeError):
            self._told.emit(number, words)

    @Slot(int, str)
    def _tell(self, number: int, words: str) -> None:
        if number == self._starts and self.phase == "loading":
            self.progressed.emit(words)

    def _set_phase(self, phase: Phase) -> None:
        self.phase = phase
        self.phase_changed.emit(phase)

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
