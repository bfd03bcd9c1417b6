"""The window: puts the panes together, and carries commands to the session and events to the panes.

Holds no engine logic: whatever happens in a talk is the session's doing, told in events.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import assert_never

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QShowEvent
from PySide6.QtWidgets import QMainWindow, QSplitter, QVBoxLayout, QWidget

from app.conversation import events as e
from app.conversation.frame import FRAME_MS
from app.gui.brain_room import BrainRoom
from app.gui.choice import WindowChoices, session_choice
from app.gui.dialogs import Dialogs
from app.gui.errands import Errands
from app.gui.event_pump import EventPump
from app.gui.keeper import SessionKeeper
from app.gui.menu import TalkMenu, copy_selection
from app.gui.message_bar import MessageBar
from app.gui.model_bar import ModelBar
from app.gui.model_lists import ModelLists
from app.gui.oracle_pane import OraclePane
from app.gui.push_to_talk import PushToTalk
from app.gui.setup_bar import SetupBar
from app.gui.sound_room import DeviceLister, SoundRoom
from app.gui.status_line import StatusLine
from app.gui.talk_bar import TalkBar
from app.gui.talk_keys import TalkKeys
from app.gui.talk_state import Phase, TalkState
from app.gui.transcript_pane import TranscriptPane
from app.gui.weights_keeper import WeightsKeeper
from app.session.control import ROUTER, BackendChoice, SessionFactory, WeightsStore
from app.session.desks import BrainDesk, SoundDesk
from app.settings import Settings

SAVE_AFTER_MS = 400


class MainWindow(QMainWindow):
    """`begin` starts the first session; `closing` says that the user is done; `finish` ends everything."""

    closing = Signal()

    def __init__(
        self,
        factory: SessionFactory,
        settings: Settings,
        *,
        list_devices: DeviceLister,
        choices: WindowChoices,
        weights: WeightsStore | None = None,
        desk: BrainDesk | None = None,
        sound_desk: SoundDesk | None = None,
    ) -> None:
        super().__init__()
        self.settings = settings
        self._weighty = choices.weighty
        self.talk = TalkState(phase="stopped", duplex=settings.duplex)
        self._progress = ""
        self._starting: asyncio.Task[None] | None = None
        self._filtered = False

        self.errands = Errands(self)
        self.lists = ModelLists(choices.brains, desk, self.errands, self)
        self.dialogs = Dialogs(settings, self.lists, self.errands, desk, choices.mcp_servers, self)
        self.setup = SetupBar(settings, choices, self.lists, with_desk=desk is not None, parent=self)
        self.model = ModelBar(settings, self)
        self.weights = WeightsKeeper(weights, self) if weights is not None else None
        self.messages = MessageBar(self)
        self.messages.with_desk = desk is not None
        self.transcript = TranscriptPane(self)
        self.oracle = OraclePane(self)
        self.talk_bar = TalkBar(self)
        self.status = StatusLine(self)
        self.menu = TalkMenu(self.menuBar(), self.settings.keep_recordings, self)
        self.menu.desk_action.setVisible(desk is not None)
        self.menu.routes_action.setVisible(ROUTER in self.lists.views)
        self.pump = EventPump(self._apply, self._settle, self._fault, self)
        self.keeper = SessionKeeper(factory, self.pump.put, self)
        self.keeper.wanted = session_choice(settings)
        self.brains = BrainRoom(
            settings, self.keeper, self.dialogs, self.setup, self.transcript.header, self.oracle.header, self.menu, self
        )
        self.push = PushToTalk(self)
        self.sound = SoundRoom(
            settings, self.keeper, self.setup, self.talk_bar, self.menu, self.messages, list_devices, self.errands,
            sound_desk, self,
        )  # fmt: skip
        self.keys = TalkKeys(self.push, self.sound, self.talk, self)
        self._save_timer = QTimer(self, singleShot=True, interval=SAVE_AFTER_MS)

        self._lay_out()
        self._connect()
        self.talk_bar.duplex.setChecked(settings.duplex)
        self._set_talk_mode(settings.talk_mode)
        self._show_model()
        if settings.notice:
            self.messages.say(settings.notice)
        self._show_state()

    # -- life

    def begin(self) -> None:
        """Looks for devices and starts a session, in the background. Needs the running event loop."""
        self.talk_bar.button.setFocus()
        self.keys.set_keys(self.settings.talk_hotkey, self.settings.mute_hotkey)
        self.lists.awake = True
        self.setup.picker.ask()
        self._start_fresh()

    async def finish(self, seconds: float = 1.0) -> None:
        """Ends the session and all that is under way."""
        if self._starting is not None:
            self._starting.cancel()
        if self.weights is not None:
            await self.weights.close()
        self.dialogs.close_all()
        self.sound.close_dialog()
        self.keys.hush()
        await self.sound.close()
        # What is being tried out may take a while to end: the talk's microphone is not to stay open so long.
        await asyncio.gather(self.errands.close(), self.keeper.close(seconds))
        self.keys.close()  # the last of all: it waits, and nothing else goes on meanwhile
        self.pump.flush()

    def _start_fresh(self, *, as_before: bool = False) -> None:
        """Starts a session with the settings of now; devices are looked up first, since they change.

        `as_before`: held as the one before it was, and not as new conversations are.
        """
        if self._starting is not None:
            self._starting.cancel()
        self.talk.phase = "loading"
        self._progress = self.tr("looking for microphones and loudspeakers")
        self._show_state()
        loop = asyncio.get_running_loop()
        self._starting = loop.create_task(self._find_devices_and_start(as_before), name="find devices, start")

    async def _find_devices_and_start(self, as_before: bool) -> None:
        await self.sound.list_devices()
        self._build(as_before)

    def _build(self, as_before: bool) -> None:
        # The brain that the picker shows: the settings take it over only when a session has.
        was = self.keeper.wanted
        choice = replace(session_choice(self.settings), backend=self.setup.choice, aside=was.aside, muted=was.muted)
        if as_before:
            choice = replace(choice, style=was.style, tools=was.tools, cap=was.cap)
        self.transcript.header.show_choice(choice.style, choice.tools, choice.cap)
        self.keeper.start(choice)

    def _restart(self) -> None:
        """Begins a new talk with the devices that are known."""
        if self._starting is None or self._starting.done():
            self._build(as_before=True)

    def _stop(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
        self.keeper.stop()
        self._phase_changed("stopped")

    # -- from the session

    def _apply(self, event: e.Event) -> None:
        """Shows one event; called by the pump."""
        match event:
            case e.LevelMeasured():
                # A frame may still come in when the talk is over.
                if self.keeper.phase == "running":
                    self.sound.show_levels(event)
                return
            case e.DeviceChanged() | e.SoundMeasured():
                self.sound.apply(event)
                return
            case e.Failure(sentence=sentence, fatal=fatal, aside=aside, about=about):
                topic = "cap" if about == "unanswered" else about
                button = (self.tr("Use the talk button"), lambda: self.talk_bar.duplex.setChecked(False))
                offer = button if about == "echo" else None
                self.messages.say(sentence, fatal, self.brains.blame(event), aside, topic, offer)
            case e.BudgetChanged():
                self.messages.clear_topic("cap")
            case (
                e.SessionEnded() | e.UserStarted() | e.UserPaused() | e.UserResumed() | e.UserEnded()
                | e.UserBackchannel() | e.TranscriptPartial() | e.TranscriptFinal() | e.OracleRequested()
                | e.OraclePromoted() | e.OracleDelta() | e.OracleFed() | e.OracleSuperseded()
                | e.OracleEnded() | e.AssistantStarted() | e.AssistantSaid() | e.AssistantMended()
                | e.AssistantHeld() | e.AssistantWentOn() | e.AssistantEnded() | e.MannerChanged()
                | e.SessionStarted() | e.BackendChanged() | e.DialsChanged() | e.OracleTaken()
                | e.ContextMeasured() | e.ContextBegunAnew() | e.FrontEndChanged()
                | e.OracleCounted() | e.OracleHandedOver() | e.AsideChanged() | e.BrainRouted()
                | e.ConversationSet() | e.ToolCalled() | e.ToolReturned()
                | e.Underrun() | e.FramesDropped() | e.SpeechShed() | e.MicrophoneMuted()
            ):  # fmt: skip
                pass
            case _ as never:
                assert_never(never)
        self.talk.apply(event)
        self.status.apply(event)
        self.model.apply(event)
        self.transcript.apply(event)
        self.oracle.apply(event)

    def _settle(self) -> None:
        """Repaints what a batch has changed; called by the pump."""
        self.transcript.settle()
        self.oracle.settle()
        self._show_state()

    def _fault(self, error: Exception) -> None:
        sentence = self.tr("The window could not show something ({0}); the talk goes on.")
        self.messages.say(sentence.format(type(error).__name__))

    def _phase_changed(self, phase: Phase) -> None:
        """The session is being built, runs, or is over."""
        self.pump.flush()  # what the last session said belongs to the last talk
        self.push.let_go_all()
        self.talk.phase = phase
        if phase == "loading":
            self._progress = ""
            self.messages.clear_retries()
        elif phase == "running":
            self.talk.begin()
            self.status.begin()
            self.model.forget_memory()
            self.transcript.begin()
            self.oracle.begin()
            self.messages.clear_retries()
            self.messages.clear_talk()
        else:
            self.transcript.end()
            self.oracle.end()
        self.sound.begin()
        if phase != "running":
            self.talk.muted = False  # nothing is heard anyway
            self.talk_bar.microphone.clear()
            self.talk_bar.loudspeaker.clear()
        self._show_state()

    def _progressed(self, words: str) -> None:
        self._progress = words
        self._show_state()

    def _failed(self, sentence: str, retry: bool) -> None:
        self.messages.say(sentence, retry)

    def _brain_refused(self, choice: BackendChoice, sentence: str) -> None:
        self.messages.say(sentence, brain=choice, topic="brain")

    def _aside_refused(self, choice: BackendChoice | None, sentence: str) -> None:
        if choice is not None:
            sentence = self.tr("The brain at the side: {0}").format(sentence)
        self.messages.say(sentence, False, choice, True, "brain")

    def _show_state(self) -> None:
        talk = self.talk
        self.talk_bar.show_state(talk, self._progress)
        self.setup.set_running(talk.phase)
        self.oracle.header.set_running(talk.phase == "running")
        beside = talk.phase == "running" and bool(self.oracle.header.beside)
        self.menu.aside_action.setEnabled(talk.phase == "running")
        self.menu.hand_action.setEnabled(beside)
        self.push.set_enabled(talk.phase == "running" and not talk.duplex)
        self.status.show_state(talk, self._progress)

    # -- from the user

    def _press(self) -> None:
        self.talk.held = True
        if self.keeper.session is not None:
            self.keeper.session.press()
        self._show_state()

    def _release(self) -> None:
        self.talk.held = False
        if self.keeper.session is not None:
            self.keeper.session.release()
        self._show_state()

    def _pick_manner(self, manner: str) -> None:
        self.settings.manner = manner
        self.keeper.set_manner("after" if manner == "after" else "thinking")
        self._save_timer.start()

    def _switch_duplex(self, duplex: bool) -> None:
        self.push.let_go_all()
        self.settings.duplex = self.talk.duplex = duplex
        self.keeper.set_duplex(duplex)
        self.messages.clear_topic("echo")
        self._show_state()
        self._save_timer.start()

    def _show_test(self, testing: bool) -> None:
        self.talk.testing = testing
        self._show_state()

    def _set_talk_mode(self, mode: str) -> None:
        self.talk.toggles = mode == "toggle"
        self.push.set_mode(mode)
        self._show_state()

    def _turn_dials(self, delay: int, lead: int) -> None:
        self.settings.answer_delay_ms, self.settings.oracle_lead_ms = delay * FRAME_MS, lead * FRAME_MS
        self.keeper.set_dials(delay, lead)
        self._save_timer.start()

    def _show_model(self) -> None:
        """The row of front-ends with weights, for the one that is chosen."""
        frontend = self.settings.frontend
        self.model.setVisible(frontend in self._weighty)
        if self.weights is None or self.weights.busy:
            return
        missing = self.weights.missing(frontend) if frontend in self._weighty else ""
        self.model.show_weights(not missing, missing)

    def _get_weights(self) -> None:
        if self.weights is not None:
            self.model.show_progress(self.tr("asking for the files"), 0.0)
            self.weights.get(self.settings.frontend)

    def _weights_here(self, frontend: str) -> None:
        self._show_model()
        if frontend == self.settings.frontend:
            self._start_fresh(as_before=True)

    def _weights_failed(self, sentence: str) -> None:
        self._show_model()
        self.messages.say(sentence)

    def _pick_frontend(self, key: str) -> None:
        self._pick("frontend", key)
        self._show_model()

    def _pick(self, key: str, value: str) -> None:
        """Takes over a setting that needs a new session."""
        if getattr(self.settings, key) != value:
            setattr(self.settings, key, value)
            self._save_timer.start()
            self._restart()

    def _keep_recordings(self, keep: bool) -> None:
        self.settings.keep_recordings = keep
        self._save_timer.start()

    def _save(self) -> None:
        self._save_timer.stop()
        try:
            self.settings.save()
        except OSError as error:
            sentence = self.tr("The settings could not be saved ({0}); they hold until you close the window.")
            self.messages.say(sentence.format(error.strerror or error))

    # -- building

    def _lay_out(self) -> None:
        self.setObjectName("KAME")
        self.setWindowTitle(self.tr("KAME"))
        split = QSplitter(Qt.Orientation.Horizontal, self)
        split.setChildrenCollapsible(False)
        for pane, least in ((self.transcript, 320), (self.oracle, 260)):
            pane.setMinimumWidth(least)
            split.addWidget(pane)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([600, 400])
        split.setHandleWidth(12)
        body = QWidget(self)
        column = QVBoxLayout(body)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(10)
        for widget in (self.setup, self.model, self.messages, split, self.talk_bar, self.status):
            column.addWidget(widget, 1 if widget is split else 0)
        self.setCentralWidget(body)
        self.setMinimumSize(820, 480)
        room = self.screen().availableSize()
        self.resize(min(1180, room.width()), min(760, room.height()))

    def _connect(self) -> None:
        self.keeper.phase_changed.connect(self._phase_changed)
        self.keeper.progressed.connect(self._progressed)
        self.keeper.failed.connect(self._failed)
        self.keeper.backend_refused.connect(self._brain_refused)
        self.keeper.backend_taken.connect(lambda _: self.messages.clear_refusals())
        self.keeper.aside_refused.connect(self._aside_refused)
        self.keeper.aside_taken.connect(lambda _: self.messages.clear_refusals(aside=True))
        self.push.pressed.connect(self._press)
        self.push.released.connect(self._release)
        button = self.talk_bar.button
        button.pressed.connect(lambda: self.push.hold("mouse"))
        button.released.connect(lambda: self.push.let_go("mouse"))
        self.talk_bar.duplex.toggled.connect(self._switch_duplex)
        self.messages.retried.connect(lambda: self._start_fresh(as_before=True))
        self.messages.brain_wanted.connect(self.dialogs.open_brain)
        self.setup.manner_picked.connect(self._pick_manner)
        self.setup.frontend_picked.connect(self._pick_frontend)
        self.model.precision_picked.connect(lambda choice: self._pick("precision", choice))
        self.model.dials_turned.connect(self._turn_dials)
        self.model.get_weights.connect(self._get_weights)
        if self.weights is not None:
            self.model.stop_getting.connect(self.weights.stop)
            self.weights.progressed.connect(self.model.show_progress)
            self.weights.done.connect(self._weights_here)
            self.weights.failed.connect(self._weights_failed)
        self.setup.new_talk.connect(lambda: self._start_fresh())
        self.setup.stop_talk.connect(self._stop)
        self.setup.typed.connect(lambda: button.setFocus())
        self.menu.new_talk.connect(lambda: self._start_fresh())
        self.menu.stop_talk.connect(self._stop)
        self.menu.keep_recordings.connect(self._keep_recordings)
        self.menu.quit.connect(self.close)
        self.menu.copy.connect(lambda: copy_selection(self.transcript.view, self.oracle.view))
        self._save_timer.timeout.connect(self._save)
        self.brains.changed.connect(self._save_timer.start)
        self.brains.save.connect(self._save)
        self.sound.changed.connect(self._save_timer.start)
        self.sound.talk_mode_changed.connect(self._set_talk_mode)
        self.sound.hotkeys_changed.connect(self.keys.set_keys)
        self.sound.testing.connect(self._show_test)
        self.sound.keys_typed.connect(self.keys.let_type)
        self.keys.trouble.connect(self.sound.show_key_trouble)
        self.keys.told.connect(self.sound.show_granted)

    # -- Qt's own events

    def showEvent(self, event: QShowEvent) -> None:
        """The native window exists from now on: listens to its keys."""
        super().showEvent(event)
        if not self._filtered and self.windowHandle() is not None:
            self.windowHandle().installEventFilter(self.push)
            self._filtered = True

    def changeEvent(self, event: QEvent) -> None:
        """A window that loses the focus never hears the key go up: lets go for it."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.push.let_go_own()

    def come_forward(self) -> None:
        """Shows itself in front, as somebody who has started the app once more expects."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Goes away at once; `finish` does the rest out of sight."""
        self.push.let_go_all()
        self.dialogs.close_all()
        self.sound.close_dialog()
        if self._save_timer.isActive():
            self._save()
        event.accept()
        self.closing.emit()
