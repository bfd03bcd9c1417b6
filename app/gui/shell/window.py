"""The window: puts the panes together, and carries commands to the session and events to the panes.

Holds no engine logic: whatever happens in a talk is the session's doing, told in events.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import assert_never

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeySequence, QMoveEvent, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QMainWindow, QVBoxLayout, QWidget

from app.conversation import events as e
from app.demo.base import DemoOrder
from app.demo.service import DemoService
from app.gui.backends.controller import BackendsController
from app.gui.backends.model_lists import ModelLists
from app.gui.conversations.conversation_controller import ConversationController
from app.gui.conversations.list_controller import ConversationListController
from app.gui.conversations.pane import ConversationsPane
from app.gui.demo.controller import DemoController
from app.gui.hotkeys.push_to_talk import PushToTalk
from app.gui.hotkeys.talk_keys import TalkKeys
from app.gui.latency.controller import LatencyController
from app.gui.logs.table_model import LogSource
from app.gui.models.frontend_bar import FrontEndBar
from app.gui.models.frontend_controller import FrontEndController
from app.gui.models.graphics_controller import GraphicsController
from app.gui.models.models_controller import ModelsController
from app.gui.models.weights_controller import WeightsController
from app.gui.oracle.pane import OraclePane
from app.gui.settings.live_settings import LiveSettings
from app.gui.shell.dialogs import Dialogs
from app.gui.shell.event_pump import EventPump
from app.gui.shell.menu import TalkMenu, copy_selection
from app.gui.shell.message_bar import MessageBar
from app.gui.shell.panels import DiagnoseAll, Panels
from app.gui.shell.panes import Panes, WindowLayoutStore
from app.gui.shell.setup_bar import SetupBar
from app.gui.shell.status_line import StatusLine
from app.gui.sound.controller import DeviceLister, SoundController
from app.gui.sound.talk_bar import TalkBar
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import WindowChoices
from app.gui.state.session_manager import SessionManager
from app.gui.state.settings_controller import SettingsController
from app.gui.state.talk_starter import TalkStarter
from app.gui.state.talk_state import Phase, TalkState
from app.gui.timeline.pane import TimelinePane
from app.gui.transcript.pane import TranscriptPane
from app.gui.transcript.replay_controller import ReplayController
from app.history.base import ConversationView, HistoryService, KeptTalk
from app.services.backend_service import BackendService
from app.services.graphics_service import GraphicsService
from app.services.machine_service import MachineService
from app.services.model_service import ModelService
from app.services.sound_service import SoundTestService
from app.session.control import ROUTER, BackendChoice, SessionFactory, WeightsStore
from app.settings.declarations import Settings
from app.settings.paths import default_path

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
        service: BackendService | None = None,
        sound_service: SoundTestService | None = None,
        history: HistoryService | None = None,
        machine: MachineService | None = None,
        graphics: GraphicsService | None = None,
        log: LogSource | None = None,
        diagnose: DiagnoseAll | None = None,
        demo: DemoService | None = None,
        models: ModelService | None = None,
        watch: Callable[[e.Event], None] = lambda event: None,
    ) -> None:
        super().__init__()
        self._watch = watch
        self.settings = settings
        self.talk = TalkState(phase="stopped", duplex=settings.duplex)
        self._progress = ""
        self._filtered = False

        self.keep = SettingsController(settings, self)
        self.background = BackgroundTasks(self)
        self.lists = ModelLists(choices.backends, service, self.background, self)
        self.dialogs = Dialogs(settings, self.lists, self.background, service, choices.mcp_servers, self)
        self.setup = SetupBar(settings, choices, self.lists, with_service=service is not None, parent=self)
        self.model = FrontEndBar(settings, self)
        self.weights = WeightsController(weights, self) if weights is not None else None
        self.models_controller = ModelsController(models, self) if models is not None else None
        if self.models_controller is not None:
            self.dialogs.voices = self.models_controller.voices
        self.graphics = GraphicsController(graphics, self) if graphics is not None else None
        self.messages = MessageBar(self)
        self.messages.with_service, self.messages.with_log = service is not None, log is not None
        self.conversations = ConversationsPane(self)
        self.transcript = TranscriptPane(self.setup.new_button, self)
        self.oracle = OraclePane(self)
        self.timeline = TimelinePane(self)
        self.panes = Panes(self.conversations, self.transcript, self.oracle, self.timeline, self)
        self.talk_bar = TalkBar(self.setup.microphone, self.setup.loudspeaker, self.setup.stop_button, self)
        self.status = StatusLine(self)
        self.latency = LatencyController(self.status, self)
        self.menu = TalkMenu(self.menuBar(), settings.keep_recordings, self, self.panes.actions_)
        self.menu.connection_action.setVisible(service is not None)
        self.menu.routes_action.setVisible(ROUTER in self.lists.views)
        self.pump = EventPump(self._apply, self._settle, self._fault, self)
        self.manager = SessionManager(factory, self._hear, self)
        self.models = FrontEndController(settings, self.manager, self.model, self.weights, choices.weighty, self)
        self.talks = ConversationController(history, settings, self.manager, self.transcript, self.background, self)
        self.list = ConversationListController(
            history, self.talks, self.manager, self.dialogs, self.conversations, self.background, self.menu, self
        )
        self.backends = BackendsController(
            settings,
            self.manager,
            self.dialogs,
            self.setup,
            self.transcript.header,
            self.oracle.header,
            self.menu,
            self,
        )
        self.push = PushToTalk(self)
        self.sound = SoundController(
            settings,
            self.manager,
            self.setup,
            self.talk_bar,
            self.menu,
            self.messages,
            list_devices,
            self.background,
            sound_service,
            self,
        )
        self.starter = TalkStarter(
            settings,
            self.manager,
            self.talks,
            self.setup,
            self.transcript.header,
            self.sound,
            self,
            knows=self.lists.views.__contains__,
            settle=self.pump.flush,
        )
        self.keys = TalkKeys(self.push, self.sound, self.talk, self)
        self.replay = ReplayController(sound_service, settings, self.manager, self.transcript, self.background, self)
        self.live = LiveSettings(
            settings, self.keep, self.manager, self.setup, self.models, self.sound, self.menu, self
        )
        self.panels = Panels(
            settings,
            self.keep,
            self.live,
            self.sound,
            self.setup,
            self.menu,
            choices,
            self.lists,
            self.background,
            self,
            list_devices=list_devices,
            machine=machine,
            weights=self.weights,
            graphics=self.graphics,
            service=service,
            sound_service=sound_service,
            log=log,
            diagnose=diagnose,
            models=self.models_controller,
        )
        self.demo = DemoController(demo, self.manager, self.background, self) if demo is not None else None
        self.menu.demo_action.setVisible(demo is not None)
        self.layout_store = WindowLayoutStore(
            self, self.panes, (settings.path or default_path()).with_name("window.json")
        )

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
            self.starter.start_fresh()
            self.panels.begin()

    async def finish(self, seconds: float = 1.0) -> None:
        """Ends the session and all that is under way."""
        self.starter.cancel()
        for fetching in filter(None, (self.weights, self.graphics, self.models_controller)):
            await fetching.close()
        self._close_dialogs()
        self.keys.hush()
        await self.sound.close()
        if self.demo is not None:
            await self.demo.close()
        # The talk's microphone is not to stay open until all is written, or what is being tried out has ended.
        await asyncio.gather(self._finish_errands(), self.manager.close(seconds))
        await self.list.close()
        self.keys.close()  # the last of all: it waits, and nothing else goes on meanwhile
        self.pump.flush()

    async def _finish_errands(self) -> None:
        await self.list.finish()
        await self.background.close()

    def _close_dialogs(self) -> None:
        self.dialogs.close_all()
        self.sound.close_dialog()
        self.panels.close_all()
        self.latency.close()

    def _offer_frontend(self, key: str, precision: str) -> None:
        """Its weights have come while nobody watched: a talk may be going on."""
        place = self.setup.frontend.findData(key)
        name = self.setup.frontend.itemText(place)
        words = self.tr("{0} is downloaded, and can hear and speak from now on.").format(name)
        offer = (self.tr("Use it"), lambda: self._use_frontend(key, precision))
        self.messages.say(words, offer=offer, topic="frontend", level="notice")

    def _offer_restart(self) -> None:
        """What a graphics card needs has come while nobody watched."""
        words = self.tr("What the graphics card needs is installed, and is used after a restart of KAME.")
        assert self.graphics is not None
        offer = (self.tr("Restart KAME"), self.graphics.restart)
        self.messages.say(words, offer=offer, topic="graphics", level="notice")

    def _offer_model(self, key: str, label: str) -> None:
        """A language model has come while the talk went on with another one."""
        words = self.tr("{0} is here. New talks on the built-in brain use it.").format(label)
        offer = (self.tr("Use it now"), lambda: self._use_model(key))
        self.messages.say(words, offer=offer, topic="model", level="notice")

    def _use_model(self, key: str) -> None:
        self.messages.clear_topic("model")
        self.live.pick_backend(BackendChoice("embedded", key))

    def _use_frontend(self, key: str, precision: str) -> None:
        self.messages.clear_topic("frontend")
        self.live.pick_frontend(key, precision)

    def _show_looking(self) -> None:
        self.transcript.type_box.set_phase("loading")
        self.talk.phase = "loading"
        self._progress = self.tr("looking for microphones and loudspeakers")
        self._show_state()

    def _show_stopped(self) -> None:
        self.transcript.type_box.take_back()  # nothing will send it
        self._phase_changed("stopped")

    def _tell_missing(self, missing: BackendChoice, instead: BackendChoice) -> None:
        words = self.tr("The brain of this conversation, {0}, is not known here; {1} goes on in its place.")
        unknown = missing.model or missing.provider
        self.messages.say(words.format(unknown, self.setup.favourites.words(instead)), level="warning")

    def _ask_to_open(self, view: ConversationView) -> None:
        words = self.tr("What was said here is not kept: when you open another conversation, it is gone.")
        offer = (self.tr("Open it"), lambda: self.talks.open_after_all(view))
        self.messages.say(words, offer=offer, topic="unkept", level="warning")

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
                if self.manager.phase == "running":
                    self.sound.show_levels(event)
                    self.panels.show_levels(event)
                    self.latency.apply(event)
                    if not self.talks.past:
                        self.timeline.apply(event)
                        self.oracle.time.hear(event.at)
                return
            case e.DeviceChanged() | e.SoundMeasured():
                self.sound.apply(event)
                if not self.talks.past:
                    self.timeline.apply(event)
                return
            case e.Failure(sentence=sentence, fatal=fatal, secondary=secondary, about=about):
                topic = "cap" if about == "unanswered" else about
                button = (self.tr("Use the talk button"), lambda: self.talk_bar.duplex.setChecked(False))
                offer = button if about == "echo" else None
                self.messages.say(sentence, fatal, self.backends.blame(event), secondary, topic, offer)
            case e.BudgetChanged():
                self.messages.clear_topic("cap")
            case (
                e.SessionEnded()
                | e.UserStarted()
                | e.UserPaused()
                | e.UserResumed()
                | e.UserEnded()
                | e.UserBackchannel()
                | e.TranscriptPartial()
                | e.TranscriptFinal()
                | e.OracleRequested()
                | e.OraclePromoted()
                | e.OracleDelta()
                | e.OracleFed()
                | e.OracleSuperseded()
                | e.OracleEnded()
                | e.AssistantStarted()
                | e.AssistantOpened()
                | e.AssistantSaid()
                | e.AssistantCorrected()
                | e.AssistantHeld()
                | e.AssistantResumed()
                | e.AssistantEnded()
                | e.AnswerModeChanged()
                | e.SessionStarted()
                | e.BackendChanged()
                | e.DialsChanged()
                | e.OracleTaken()
                | e.ContextMeasured()
                | e.ContextRestarted()
                | e.FrontEndChanged()
                | e.SpeechChanged()
                | e.OracleCounted()
                | e.OracleHandedOver()
                | e.SecondaryChanged()
                | e.BackendRouted()
                | e.ConversationConfigured()
                | e.ToolCalled()
                | e.ToolReturned()
                | e.Underrun()
                | e.FramesDropped()
                | e.SoundLost()
                | e.RecognitionSkipped()
                | e.MicrophoneMuted()
            ):
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
        choice = self.manager.made_of
        first = self.talks.begin_talk(choice)
        self.talk.begin()
        self.status.begin()
        self.latency.begin()
        self.model.forget_memory()
        self.transcript.begin(first)
        if choice.record_folder:
            self.replay.folders[self.transcript.talk] = Path(choice.record_folder)  # for when its own memory is gone
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
        self.messages.clear_topic("unkept")
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
        if self.manager.gave_up:
            self.transcript.type_box.take_back()  # nothing will send it
        self.messages.say(sentence, retry)

    def _backend_refused(self, choice: BackendChoice, sentence: str) -> None:
        self.messages.say(sentence, backend=choice, topic="backend")

    def _backend_settled(self, _: BackendChoice) -> None:
        if self.manager.has_guest:
            words = self.tr("The demo goes on with its own brains; yours counts once it is over.")
            self.messages.say(words, level="notice", topic="demo")

    def _secondary_refused(self, choice: BackendChoice | None, sentence: str) -> None:
        if choice is not None:
            sentence = self.tr("The brain at the side: {0}").format(sentence)
        self.messages.say(sentence, False, choice, True, "backend")

    def _show_state(self) -> None:
        talk = self.talk
        self.talk_bar.show_state(talk, self._progress)
        self.setup.set_running(talk.phase)
        self.oracle.header.set_running(talk.phase == "running")
        beside = talk.phase == "running" and bool(self.oracle.header.beside)
        self.menu.secondary_action.setEnabled(talk.phase == "running")
        self.menu.hand_action.setEnabled(beside)
        self.push.set_enabled(talk.phase == "running" and not talk.duplex)
        self.status.show_state(talk, self._progress)

    # -- from the user

    def _press(self) -> None:
        self.talk.held = True
        if self.manager.session is not None:
            self.manager.session.press()
        self._show_state()

    def _release(self) -> None:
        self.talk.held = False
        if self.manager.session is not None:
            self.manager.session.release()
        self._show_state()

    def _write(self, text: str) -> None:
        self.push.let_go_all()  # what is typed ends what is being said
        if self.manager.session is not None:
            self.manager.session.write(text)

    def _switch_duplex(self, duplex: bool) -> None:
        self.push.let_go_all()
        self.talk.duplex = duplex
        self.talk_bar.duplex.setChecked(duplex)
        self.manager.set_duplex(duplex)
        self.messages.clear_topic("echo")
        self._show_state()

    def _begin_talking(self) -> None:
        self.activateWindow()
        self.talk_bar.button.setFocus()
        self.starter.go_on_if_stopped()

    def _show_deaf(self, deaf: bool) -> None:
        self.talk.testing = deaf
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
        self.layout_store.restore()

    def _order_tabs(self) -> None:
        """Tab goes through the window as one reads it."""
        setup, bar, timeline, list_ = self.setup, self.talk_bar, self.timeline, self.conversations
        widgets = (
            setup.backend,
            setup.model,
            setup.picker.refresh,
            setup.url,
            setup.favourites,
            setup.connection_button,
            setup.answer_mode,
            setup.frontend,
            list_.new_button,
            list_.more,
            list_.search,
            list_.rows,
            self.transcript.header.button,
            setup.new_button,
            self.transcript.view,
            self.transcript.type_box.field,
            self.transcript.type_box.button,
            self.oracle.header.quiet,
            self.oracle.header.switch,
            self.oracle.header.hand_button,
            *(widget for column in self.oracle.columns for widget in (column.hand_button, column.view)),
            self.oracle.quiet_view,
            timeline.follow_button,
            timeline.out_button,
            timeline.in_button,
            timeline.last_button,
            timeline.export_button,
            bar.mute,
            setup.stop_button,
            setup.microphone,
            bar.button,
            setup.loudspeaker,
            bar.duplex,
            bar.sound,
            self.status.response,
        )
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
        self.starter.taking_over.connect(self.demo.make_way)
        self.demo.backend_shown.connect(self.setup.show_backend)
        self.demo.failed.connect(self.messages.say)

    def _begin_demo(self) -> None:
        self.starter.make_room()
        self.talk.duplex = True
        self.talk_bar.duplex.setEnabled(False)
        self.transcript.type_box.setEnabled(False)

    def _end_demo(self, again: bool) -> None:
        self.talk.duplex = self.settings.duplex
        self.talk_bar.duplex.setEnabled(True)
        self.transcript.type_box.setEnabled(True)
        self.messages.clear_topic("demo")
        self._show_state()
        self.starter.resume(again)

    def _connect(self) -> None:
        manager, menu, button = self.manager, self.menu, self.talk_bar.button
        manager.phase_changed.connect(self._phase_changed)
        manager.progressed.connect(self._progressed)
        manager.failed.connect(self._failed)
        manager.backend_refused.connect(self._backend_refused)
        manager.backend_taken.connect(lambda _: self.messages.clear_refusals())
        manager.secondary_refused.connect(self._secondary_refused)
        manager.secondary_taken.connect(lambda _: self.messages.clear_refusals(secondary=True))
        manager.backend_settled.connect(self._backend_settled)
        manager.deaf_changed.connect(self._show_deaf)
        self.starter.looking.connect(self._show_looking)
        self.starter.stopped.connect(self._show_stopped)
        self.starter.backend_missing.connect(self._tell_missing)
        self.dialogs.conversation_set.connect(lambda *_: self.talks.setup_changed())
        self.dialogs.servers_moved.connect(lambda _: self.talks.setup_changed())
        self.push.pressed.connect(self._press)
        self.push.released.connect(self._release)
        button.pressed.connect(lambda: self.push.hold("mouse"))
        button.released.connect(lambda: self.push.let_go("mouse"))
        self.talk_bar.duplex.toggled.connect(lambda on: self.live.change("duplex", on))
        self.messages.retried.connect(self.starter.go_on)
        self.messages.backend_wanted.connect(self.dialogs.open_backend)
        self.transcript.type_box.sent.connect(self._write)
        self.transcript.type_box.talk_wanted.connect(self.starter.go_on)
        button.clicked.connect(self.starter.go_on_if_stopped)
        self.transcript.ask_wanted.connect(self.transcript.type_box.put)
        self.live.restart_wanted.connect(self.starter.restart_soon)
        self.live.quiet_changed.connect(self.oracle.set_quiet)
        self.live.motion_changed.connect(lambda reduced: setattr(self.timeline, "reduced_motion", reduced))
        self.oracle.quiet_toggled.connect(lambda quiet: self.live.change("oracle_quiet", quiet))
        self.panels.frontend_arrived.connect(self._offer_frontend)
        self.panels.model_arrived.connect(self._offer_model)
        self.panels.talk_wanted.connect(self._begin_talking)
        if self.graphics is not None:
            self.graphics.restarting.connect(self.close)
            self.graphics.arrived_unseen.connect(self._offer_restart)
            self.graphics.failed_unseen.connect(lambda sentence: self.messages.say(sentence, topic="graphics"))
        self.replay.failed.connect(self.messages.say)
        self.timeline.failed.connect(self.messages.say)
        self.messages.log_wanted.connect(lambda: self.panels.open_log(fault=True))
        self.setup.new_talk.connect(self.starter.start_fresh)
        self.setup.stop_talk.connect(self.starter.stop)
        self.setup.typed.connect(lambda: button.setFocus())
        self.models.changed.connect(self.keep.later)
        self.models.arrived.connect(self.starter.restart_soon)
        self.models.failed.connect(lambda sentence: self.messages.say(sentence, topic="weights"))
        self.models.arrived.connect(lambda: self.messages.solved("weights"))
        self.talks.left.connect(self._forget_talk)
        self.talks.would_lose.connect(self._ask_to_open)
        self.talks.failed.connect(self.messages.say)
        self.talks.on_talk = self._show_kept_talk
        self.list.cleared.connect(self.starter.clear)
        self.list.new_wanted.connect(self.starter.start_fresh)
        self.list.titled.connect(self._show_title)
        self.list.failed.connect(lambda sentence: self.messages.say(sentence, private=True))
        self.list.told.connect(lambda sentence: self.messages.say(sentence, level="notice", private=True))
        menu.new_talk.connect(self.starter.start_fresh)
        menu.stop_talk.connect(self.starter.stop)
        menu.quit.connect(self.close)
        menu.copy.connect(lambda: copy_selection(self.transcript.view, *self.oracle.views))
        menu.find.connect(self.transcript.find.appear)
        menu.latency.connect(self.latency.open)
        QShortcut(QKeySequence("F6"), self, self.messages.take_focus)
        self.keep.failed.connect(lambda sentence: self.messages.say(sentence, topic="settings"))
        self.keep.saved.connect(lambda: self.messages.solved("settings"))
        self.backends.changed.connect(self.keep.later)
        self.backends.changed.connect(self.talks.setup_changed)
        self.backends.save.connect(self.keep.save)
        self.sound.changed.connect(self.keep.later)
        self.sound.talk_mode_changed.connect(self._set_talk_mode)
        self.sound.hotkeys_changed.connect(self.keys.set_keys)
        self.sound.keys_typed.connect(self.keys.let_type)
        self.keys.trouble.connect(self.sound.show_key_trouble)
        self.keys.told.connect(self.sound.show_granted)
        self.keep.follow("duplex", does=self._switch_duplex)

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
        self.layout_store.moved()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Its size is kept."""
        super().resizeEvent(event)
        self.panes.fit_into(event.size().width(), event.size().height())
        self.layout_store.moved()

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
        self.layout_store.save()
        self.keep.close()
        event.accept()
        self.closing.emit()
