"""The window: puts the panes together, and carries commands to the session and events to the panes.

Holds no engine logic: whatever happens in a talk is the session's doing, told in events.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import assert_never

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QMoveEvent, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from app.conversation import events as e
from app.gui.brain_room import BrainRoom
from app.gui.choice import WindowChoices, backend_choice, session_choice
from app.gui.conversation_room import ConversationRoom
from app.gui.conversations_pane import ConversationsPane
from app.gui.demo_room import DemoRoom
from app.gui.dialogs import Dialogs
from app.gui.errands import Errands
from app.gui.event_pump import EventPump
from app.gui.keeper import SessionKeeper
from app.gui.latency_room import LatencyRoom
from app.gui.list_room import ListRoom
from app.gui.live_settings import LiveSettings
from app.gui.log_model import LogSource
from app.gui.menu import TalkMenu, copy_selection
from app.gui.message_bar import MessageBar
from app.gui.model_bar import ModelBar
from app.gui.model_lists import ModelLists
from app.gui.model_room import ModelRoom
from app.gui.oracle_pane import OraclePane
from app.gui.panels import DiagnoseAll, Panels
from app.gui.panes import LayoutKeeper, Panes
from app.gui.push_to_talk import PushToTalk
from app.gui.replay_room import ReplayRoom
from app.gui.settings_room import SettingsRoom
from app.gui.setup_bar import SetupBar
from app.gui.sound_room import DeviceLister, SoundRoom
from app.gui.status_line import StatusLine
from app.gui.talk_bar import TalkBar
from app.gui.talk_keys import TalkKeys
from app.gui.talk_state import Phase, TalkState
from app.gui.timeline_pane import TimelinePane
from app.gui.transcript_pane import TranscriptPane
from app.gui.weights_keeper import WeightsKeeper
from app.session.control import ROUTER, BackendChoice, SessionFactory, WeightsStore
from app.session.demo import DemoDesk, DemoOrder
from app.session.desks import BrainDesk, SoundDesk
from app.session.history import HistoryDesk, KeptTalk, Setup
from app.session.machine import MachineDesk
from app.settings import Settings, default_path, recordings_folder

LEAST_PX = 860, 480


class MainWindow(QMainWindow):
    """`begin` starts the first session; `closing` says that the user is done; `finish` ends everything. `watch` is told
    every event of every session.
    """

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
        history: HistoryDesk | None = None,
        machine: MachineDesk | None = None,
        log: LogSource | None = None,
        diagnose: DiagnoseAll | None = None,
        demo: DemoDesk | None = None,
        watch: Callable[[e.Event], None] = lambda event: None,
    ) -> None:
        super().__init__()
        self._watch = watch
        self.settings = settings
        self.talk = TalkState(phase="stopped", duplex=settings.duplex)
        self._progress = ""
        self._starting: asyncio.Task[None] | None = None
        self._filtered = False
        self._borrowed = False
        """Whether the brain is that of a conversation that was opened, or took over: not the user's choice."""

        self.keep = SettingsRoom(settings, self)
        self.errands = Errands(self)
        self.lists = ModelLists(choices.brains, desk, self.errands, self)
        self.dialogs = Dialogs(settings, self.lists, self.errands, desk, choices.mcp_servers, self)
        self.setup = SetupBar(settings, choices, self.lists, with_desk=desk is not None, parent=self)
        self.model = ModelBar(settings, self)
        self.weights = WeightsKeeper(weights, self) if weights is not None else None
        self.messages = MessageBar(self)
        self.messages.with_desk, self.messages.with_log = desk is not None, log is not None
        self.conversations = ConversationsPane(self)
        self.transcript = TranscriptPane(self.setup.new_button, self)
        self.oracle = OraclePane(self)
        self.timeline = TimelinePane(self)
        self.panes = Panes(self.conversations, self.transcript, self.oracle, self.timeline, self)
        self.talk_bar = TalkBar(self.setup.microphone, self.setup.loudspeaker, self.setup.stop_button, self)
        self.status = StatusLine(self)
        self.latency = LatencyRoom(self.status, self)
        self.menu = TalkMenu(self.menuBar(), settings.keep_recordings, self, self.panes.actions_)
        self.menu.desk_action.setVisible(desk is not None)
        self.menu.routes_action.setVisible(ROUTER in self.lists.views)
        self.pump = EventPump(self._apply, self._settle, self._fault, self)
        self.keeper = SessionKeeper(factory, self._hear, self)
        self.keeper.wanted = session_choice(settings)
        self.models = ModelRoom(settings, self.keeper, self.model, self.weights, choices.weighty, self)
        self.talks = ConversationRoom(history, settings, self.keeper, self.transcript, self.errands, self)
        self.list = ListRoom(
            history, self.talks, self.keeper, self.dialogs, self.conversations, self.errands, self.menu, self
        )
        self.brains = BrainRoom(
            settings, self.keeper, self.dialogs, self.setup, self.transcript.header, self.oracle.header, self.menu, self
        )
        self.push = PushToTalk(self)
        self.sound = SoundRoom(
            settings, self.keeper, self.setup, self.talk_bar, self.menu, self.messages, list_devices, self.errands,
            sound_desk, self,
        )  # fmt: skip
        self.keys = TalkKeys(self.push, self.sound, self.talk, self)
        self.replay = ReplayRoom(sound_desk, settings, self.keeper, self.transcript, self.errands, self)
        self.live = LiveSettings(
            settings, self.keep, self.keeper, self.setup, self.models, self.sound, self.menu, self
        )
        self.panels = Panels(
            settings, self.keep, self.live, self.sound, self.setup, self.menu, choices, self.lists, self.errands, self,
            list_devices=list_devices, machine=machine, weights=self.weights, desk=desk, sound_desk=sound_desk,
            log=log, diagnose=diagnose,
        )  # fmt: skip
        self.demo = DemoRoom(demo, self.keeper, self.errands, self) if demo is not None else None
        self.menu.demo_action.setVisible(demo is not None)
        self.layout_keeper = LayoutKeeper(self, self.panes, (settings.path or default_path()).with_name("window.json"))

        self._restart_soon = QTimer(self, singleShot=True, interval=0)  # several changes make one fresh start
        self._restart_soon.timeout.connect(self._restart)

        self._lay_out()
        self._order_tabs()
        self._connect()
        self._connect_demo()
        self.talk_bar.duplex.setChecked(settings.duplex)
        self._set_talk_mode(settings.talk_mode)
        self.models.show()
        if settings.notice:
            self.messages.say(settings.notice, level="warning")
        self._show_state()

    # -- life

    def begin(self, order: DemoOrder | None = None) -> None:
        """Looks for devices and starts a session, in the background. Needs the running event loop. `order`: runs the
        demo in its place, unattended.
        """
        self.talk_bar.button.setFocus()
        self.keys.set_keys(self.settings.talk_hotkey, self.settings.mute_hotkey)
        self.lists.awake = True
        self.setup.picker.ask()
        self.live.begin()
        self.list.begin()
        if order is not None and self.demo is not None:
            self.demo.run_alone(order)
        else:
            self.start_fresh()
            self.panels.begin()

    async def finish(self, seconds: float = 1.0) -> None:
        """Ends the session and all that is under way."""
        if self._starting is not None:
            self._starting.cancel()
        if self.weights is not None:
            await self.weights.close()
        self._close_dialogs()
        self.keys.hush()
        await self.sound.close()
        if self.demo is not None:
            await self.demo.close()
        await self.list.finish()
        # What is being tried out may take a while to end: the talk's microphone is not to stay open so long.
        await asyncio.gather(self.errands.close(), self.keeper.close(seconds))
        await self.list.close()
        self.keys.close()  # the last of all: it waits, and nothing else goes on meanwhile
        self.pump.flush()

    def _close_dialogs(self) -> None:
        self.dialogs.close_all()
        self.sound.close_dialog()
        self.panels.close_all()
        self.latency.close()

    def start_fresh(self, *, as_before: bool = False) -> None:
        """Starts a session with the settings of now; devices are looked up first, since they change.

        `as_before`: it goes on with the conversation that is shown, held as it was, and not as new ones are.
        """
        if not as_before:
            self.talks.begin_new()
            if self._borrowed:  # new conversations have the brain that the user chose last, not an old one's
                self._borrowed = False
                self.setup.show_brain(backend_choice(self.settings))
        if self._starting is not None:
            self._starting.cancel()
        self.keeper.stop()  # it belongs to what was shown before: nothing that is said or typed now is for it
        self.transcript.type_box.set_phase("loading")
        self.talk.phase = "loading"
        self._progress = self.tr("looking for microphones and loudspeakers")
        self._show_state()
        loop = asyncio.get_running_loop()
        self._starting = loop.create_task(self._find_devices_and_start(as_before), name="find devices, start")

    async def _find_devices_and_start(self, as_before: bool) -> None:
        await self.sound.list_devices()
        self._build(as_before)

    def _build(self, as_before: bool) -> None:
        self.pump.flush()  # what was just said is to be known
        # The brain that the picker shows: the settings take it over only when a session has.
        was = self.keeper.wanted
        folder = self.talks.record_folder(recordings_folder()) if self.settings.keep_recordings else ""
        choice = replace(
            session_choice(self.settings), backend=self.setup.choice, aside=was.aside, muted=was.muted,
            earlier=self.talks.earlier, record_folder=folder,
        )  # fmt: skip
        if as_before:
            choice = replace(choice, style=was.style, tools=was.tools, cap=was.cap)
        self.transcript.header.show_choice(choice.style, choice.tools, choice.cap)
        self.keeper.start(choice)
        if not self._borrowed and choice.backend != backend_choice(self.settings):
            # It was on its way to the session that this one takes the place of.
            self.keeper.backend_settled.emit(choice.backend)

    def _offer_frontend(self, key: str, precision: str) -> None:
        """Its weights have come while nobody watched: a talk may be going on."""
        place = self.setup.frontend.findData(key)
        name = self.setup.frontend.itemText(place)
        words = self.tr("{0} is downloaded, and can hear and speak from now on.").format(name)
        offer = (self.tr("Use it"), lambda: self._use_frontend(key, precision))
        self.messages.say(words, offer=offer, topic="frontend", level="notice")

    def _use_frontend(self, key: str, precision: str) -> None:
        self.messages.clear_topic("frontend")
        self.live.pick_frontend(key, precision)

    def _restart(self) -> None:
        """Begins a new talk, in the same conversation, with the devices that are known."""
        if self._starting is None or self._starting.done():
            self._build(as_before=True)

    def _go_on(self, setup: Setup) -> None:
        """Another conversation is shown, which is held so: the talk goes on in it."""
        self.keeper.wanted = replace(
            self.keeper.wanted, backend=setup.backend, style=setup.style, tools=setup.tools, cap=setup.cap, aside=None
        )
        self._borrowed = True
        if setup.backend.provider not in self.lists.views:
            words = self.tr("The brain of this conversation, {0}, is not known here; {1} goes on in its place.")
            unknown = setup.backend.model or setup.backend.provider
            setup = replace(setup, backend=backend_choice(self.settings))
            self.messages.say(words.format(unknown, self.setup.favourites.words(setup.backend)), level="warning")
            self.keeper.wanted = replace(self.keeper.wanted, backend=setup.backend)
        self.setup.show_brain(setup.backend)
        self.transcript.header.show_choice(setup.style, setup.tools, setup.cap)
        if self._talks_now:
            self.start_fresh(as_before=True)

    @property
    def _talks_now(self) -> bool:
        """Whether a talk runs, is being built, or could not be: not if the user has stopped it. Who only wants to read
        is not listened to.
        """
        starting = self._starting is not None and not self._starting.done()
        return self.keeper.phase != "stopped" or self.keeper.gave_up or starting

    def _clear(self) -> None:
        """The conversation that was shown is removed."""
        if self._talks_now:
            self.start_fresh()
        else:
            self.talks.begin_new()

    def _stop(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
        self.keeper.stop()
        self._phase_changed("stopped")

    # -- from the session

    def _hear(self, event: e.Event) -> None:
        self._watch(event)
        self.talks.heard(event)
        self.pump.put(event)

    def _apply(self, event: e.Event) -> None:
        """Shows one event; called by the pump."""
        match event:
            case e.LevelMeasured():
                # A frame may still come in when the talk is over.
                if self.keeper.phase == "running":
                    self.sound.show_levels(event)
                    self.panels.show_levels(event)
                    self.latency.apply(event)
                    if not self.talks.past:
                        self.timeline.apply(event)
                return
            case e.DeviceChanged() | e.SoundMeasured():
                self.sound.apply(event)
                if not self.talks.past:
                    self.timeline.apply(event)
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
        self.latency.apply(event)
        if self.talks.past:
            return  # the last words of a talk whose conversation is not shown any more
        self.transcript.apply(event)
        self.oracle.apply(event)
        self.timeline.apply(event)

    def _settle(self) -> None:
        """Repaints what a batch has changed; called by the pump."""
        self.transcript.settle()
        self.oracle.settle()
        self.latency.settle()
        self.timeline.settle()
        self._show_state()

    def _fault(self, error: Exception) -> None:
        sentence = self.tr("The window could not show something ({0}); the talk goes on.")
        self.messages.say(sentence.format(type(error).__name__), fault=True)

    def _phase_changed(self, phase: Phase) -> None:
        """The session is being built, runs, or is over."""
        self.pump.flush()  # what the last session said belongs to the last talk
        self.push.let_go_all()
        self.talk.phase = phase
        if phase == "loading":
            self._progress = ""
            self.messages.clear_retries()
            self.timeline.end()
        elif phase == "running":
            self._begin_talk()
        else:
            self._end_talk()
        self.transcript.type_box.set_phase(phase)
        self.sound.begin()
        if phase != "running":
            self.talk.muted = False  # nothing is heard anyway
            self.talk_bar.microphone.clear()
            self.talk_bar.loudspeaker.clear()
        self.list.show_live(phase == "running")
        self._show_state()

    def _begin_talk(self) -> None:
        first = self.talks.begin_talk(self.keeper.wanted)
        self.talk.begin()
        self.status.begin()
        self.latency.begin()
        self.model.forget_memory()
        self.transcript.begin(first)
        if folder := self.keeper.wanted.record_folder:
            self.replay.folders[self.transcript.talk] = Path(folder)  # for when its own memory is gone
        self.oracle.begin()
        self.timeline.begin()
        self.messages.clear_retries()
        self.messages.clear_talk()

    def _end_talk(self) -> None:
        self.transcript.end()
        self.oracle.end()
        self.timeline.end()

    def _forget_talk(self) -> None:
        """What the oracle and the timeline show is of a conversation that is not shown any more."""
        self.replay.stop()
        self.replay.folders.clear()
        self.oracle.clear()
        self.timeline.begin()
        self.timeline.end()

    def _show_kept_talk(self, talk: KeptTalk) -> None:
        if talk.folder is not None:
            self.replay.folders[self.transcript.talk] = talk.folder
        self.oracle.show_talk(talk.events)

    def _show_title(self, title: str) -> None:
        self.transcript.header.show_title(title)
        self.setWindowTitle(self.tr("{0} – KAME").format(title) if title else self.tr("KAME"))

    def _progressed(self, words: str) -> None:
        self._progress = words
        self._show_state()

    def _failed(self, sentence: str, retry: bool) -> None:
        self.messages.say(sentence, retry)

    def _brain_refused(self, choice: BackendChoice, sentence: str) -> None:
        self.messages.say(sentence, brain=choice, topic="brain")

    def _brain_settled(self, _: BackendChoice) -> None:
        self._borrowed = False
        self.talks.setup_changed()

    def _brain_lent(self, _: BackendChoice) -> None:
        self._borrowed = True

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

    def _go_on_talking(self) -> None:
        """The big button of a talk that is over begins it again."""
        if self.keeper.phase == "stopped" and not self._talks_now:
            self.start_fresh(as_before=True)

    def _write(self, text: str) -> None:
        self.push.let_go_all()  # what is typed ends what is being said
        if self.keeper.session is not None:
            self.keeper.session.write(text)

    def _switch_duplex(self, duplex: bool) -> None:
        self.push.let_go_all()
        self.talk.duplex = duplex
        self.talk_bar.duplex.setChecked(duplex)
        self.keeper.set_duplex(duplex)
        self.messages.clear_topic("echo")
        self._show_state()

    def _begin_talking(self) -> None:
        self.activateWindow()
        self.talk_bar.button.setFocus()
        if self.keeper.phase == "stopped":
            self.start_fresh(as_before=True)

    def _show_test(self, testing: bool) -> None:
        self.talk.testing = testing
        self._show_state()

    def _set_talk_mode(self, mode: str) -> None:
        self.talk.toggles = mode == "toggle"
        self.push.set_mode(mode)
        self._show_state()

    # -- building

    def _lay_out(self) -> None:
        self.setObjectName("KAME")
        self.setWindowTitle(self.tr("KAME"))
        body = QWidget(self)
        column = QVBoxLayout(body)
        column.setContentsMargins(12, 10, 12, 10)
        column.setSpacing(10)
        for widget in (self.setup, self.model, self.messages, self.panes, self.talk_bar, self.status):
            column.addWidget(widget, 1 if widget is self.panes else 0)
        self.setCentralWidget(body)
        self._make_room()
        self.setup.picker.reshaped.connect(self._make_room)
        room = self.screen().availableSize()
        width, height = min(1280, room.width()), min(860, room.height())
        self.resize(width, height)
        self.panes.fit_into(width, height)
        self.panes.divide(width, height)
        self.layout_keeper.restore()

    def _order_tabs(self) -> None:
        """Tab goes through the window as one reads it."""
        setup, bar, timeline, list_ = self.setup, self.talk_bar, self.timeline, self.conversations
        widgets = (
            setup.brain, setup.model, setup.picker.refresh, setup.url, setup.favourites, setup.desk_button,
            setup.manner, setup.frontend, list_.new_button, list_.more, list_.search, list_.rows,
            self.transcript.header.button, setup.new_button, self.transcript.view, self.transcript.type_box.field,
            self.transcript.type_box.button, self.oracle.header.quiet, self.oracle.header.switch,
            self.oracle.header.hand_button,
            *(widget for column in self.oracle.columns for widget in (column.hand_button, column.view)),
            self.oracle.quiet_view, timeline.follow_button, timeline.out_button,
            timeline.in_button, timeline.last_button, timeline.export_button, bar.mute, setup.stop_button,
            setup.microphone, bar.button, setup.loudspeaker, bar.duplex, bar.sound, self.status.response,
        )  # fmt: skip
        for one, other in itertools.pairwise(widgets):
            self.setTabOrder(one, other)

    def _make_room(self) -> None:
        """No smaller than what stands in it: brains with more fields, or large letters, need more."""
        needed = self.centralWidget().minimumSizeHint().width()
        if needed > self.minimumWidth():
            self.setMinimumSize(max(LEAST_PX[0], needed), LEAST_PX[1])

    def _connect_demo(self) -> None:
        if self.demo is None:
            return
        self.menu.demo.connect(self.demo.open)
        self.demo.began.connect(self._begin_demo)
        self.demo.ended.connect(self._end_demo)
        self.demo.brain_shown.connect(self.setup.show_brain)
        self.demo.failed.connect(self.messages.say)

    def _begin_demo(self) -> None:
        if self._starting is not None:
            self._starting.cancel()
        self.talks.begin_new()  # all of its talks are one conversation
        self.talk.duplex = True
        self.talk_bar.duplex.setEnabled(False)

    def _end_demo(self, again: bool) -> None:
        self.talk.duplex = self.settings.duplex
        self.talk_bar.duplex.setEnabled(True)
        self._show_state()
        if again:
            self.start_fresh(as_before=True)

    def _connect(self) -> None:
        keeper, menu, button = self.keeper, self.menu, self.talk_bar.button
        keeper.phase_changed.connect(self._phase_changed)
        keeper.progressed.connect(self._progressed)
        keeper.failed.connect(self._failed)
        keeper.backend_refused.connect(self._brain_refused)
        keeper.backend_taken.connect(lambda _: self.messages.clear_refusals())
        keeper.aside_refused.connect(self._aside_refused)
        keeper.aside_taken.connect(lambda _: self.messages.clear_refusals(aside=True))
        keeper.backend_settled.connect(self._brain_settled)
        keeper.backend_fell_back.connect(self._brain_lent)
        self.dialogs.conversation_set.connect(lambda *_: self.talks.setup_changed())
        self.dialogs.servers_moved.connect(lambda _: self.talks.setup_changed())
        self.push.pressed.connect(self._press)
        self.push.released.connect(self._release)
        button.pressed.connect(lambda: self.push.hold("mouse"))
        button.released.connect(lambda: self.push.let_go("mouse"))
        self.talk_bar.duplex.toggled.connect(lambda on: self.live.change("duplex", on))
        self.messages.retried.connect(lambda: self.start_fresh(as_before=True))
        self.messages.brain_wanted.connect(self.dialogs.open_brain)
        self.transcript.type_box.sent.connect(self._write)
        self.transcript.type_box.talk_wanted.connect(lambda: self.start_fresh(as_before=True))
        button.clicked.connect(self._go_on_talking)
        self.transcript.ask_wanted.connect(self.transcript.type_box.put)
        self.live.restart_wanted.connect(self._restart_soon.start)
        self.live.quiet_changed.connect(self.oracle.set_quiet)
        self.live.motion_changed.connect(lambda reduced: setattr(self.timeline, "reduced_motion", reduced))
        self.oracle.quiet_toggled.connect(lambda quiet: self.live.change("oracle_quiet", quiet))
        self.panels.frontend_arrived.connect(self._offer_frontend)
        self.panels.talk_wanted.connect(self._begin_talking)
        self.replay.failed.connect(self.messages.say)
        self.replay.testing.connect(self._show_test)
        self.timeline.failed.connect(self.messages.say)
        self.messages.log_wanted.connect(lambda: self.panels.open_log(fault=True))
        self.setup.new_talk.connect(lambda: self.start_fresh())
        self.setup.stop_talk.connect(self._stop)
        self.setup.typed.connect(lambda: button.setFocus())
        self.models.changed.connect(self.keep.later)
        self.models.arrived.connect(lambda: self.start_fresh(as_before=True))
        self.models.failed.connect(lambda sentence: self.messages.say(sentence, topic="weights"))
        self.models.arrived.connect(lambda: self.messages.solved("weights"))
        self.talks.left.connect(self._forget_talk)
        self.talks.opened.connect(self._go_on)
        self.talks.failed.connect(self.messages.say)
        self.talks.on_talk = self._show_kept_talk
        self.list.cleared.connect(self._clear)
        self.list.new_wanted.connect(self.start_fresh)
        self.list.titled.connect(self._show_title)
        self.list.failed.connect(lambda sentence: self.messages.say(sentence, private=True))
        self.list.told.connect(lambda sentence: self.messages.say(sentence, level="notice", private=True))
        menu.new_talk.connect(lambda: self.start_fresh())
        menu.stop_talk.connect(self._stop)
        menu.quit.connect(self.close)
        menu.copy.connect(lambda: copy_selection(self.transcript.view, *self.oracle.views))
        menu.find.connect(self.transcript.find.appear)
        menu.latency.connect(self.latency.open)
        QShortcut(QKeySequence("F6"), self, self.messages.take_focus)
        self.keep.failed.connect(lambda sentence: self.messages.say(sentence, topic="settings"))
        self.keep.saved.connect(lambda: self.messages.solved("settings"))
        self.brains.changed.connect(self.keep.later)
        self.brains.changed.connect(self.talks.setup_changed)
        self.brains.save.connect(self.keep.save)
        self.sound.changed.connect(self.keep.later)
        self.sound.talk_mode_changed.connect(self._set_talk_mode)
        self.sound.hotkeys_changed.connect(self.keys.set_keys)
        self.sound.testing.connect(self._show_test)
        self.sound.keys_typed.connect(self.keys.let_type)
        self.keys.trouble.connect(self.sound.show_key_trouble)
        self.keys.told.connect(self.sound.show_granted)
        self.keep.follow("duplex", does=self._switch_duplex)
        self.keep.follow("talk_mode", does=self._set_talk_mode)

    # -- Qt's own events

    def showEvent(self, event: QShowEvent) -> None:
        """The native window exists from now on: listens to its keys."""
        super().showEvent(event)
        if not self._filtered and self.windowHandle() is not None:
            self.windowHandle().installEventFilter(self.push)
            self._filtered = True

    def moveEvent(self, event: QMoveEvent) -> None:
        """Its place is kept."""
        super().moveEvent(event)
        self.layout_keeper.moved()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Its size is kept."""
        super().resizeEvent(event)
        self.panes.fit_into(event.size().width(), event.size().height())
        self.layout_keeper.moved()

    def changeEvent(self, event: QEvent) -> None:
        """A window that loses the focus never hears the key go up: lets go for it."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self.timeline.window_changed()
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
        self._close_dialogs()
        self.layout_keeper.save()
        self.keep.close()
        event.accept()
        self.closing.emit()
