"""The main window: builds its parts, lays them out, and answers to Qt."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QMoveEvent, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QDialog, QMainWindow, QMenu, QVBoxLayout, QWidget

from app.conversation import events as e
from app.conversation.record.record import Change
from app.conversation.record.transcript import Turn
from app.demo.base import DemoOrder
from app.gui.controllers.asker import Asker
from app.gui.controllers.backend_controller import BackendController
from app.gui.controllers.context import WindowContext, WindowServices
from app.gui.controllers.conversation_controller import ConversationController
from app.gui.controllers.dialogs import Dialogs
from app.gui.controllers.documents_controller import DocumentsController, FileDrops
from app.gui.controllers.list_controller import ConversationListController
from app.gui.controllers.mini_controller import MiniController
from app.gui.controllers.model_offers import ModelOffers
from app.gui.controllers.palette_controller import PaletteController
from app.gui.controllers.panels import Panels
from app.gui.controllers.replay_controller import ReplayController
from app.gui.controllers.session_messages import SessionMessages
from app.gui.controllers.session_starter import SessionStarter
from app.gui.controllers.sound_controller import SoundController
from app.gui.controllers.system_controller import SystemController
from app.gui.controllers.talk_controller import TalkController
from app.gui.controllers.tray_controller import TrayController
from app.gui.conversations.pane import ConversationsPane
from app.gui.demo.controller import DemoController
from app.gui.design import model_look
from app.gui.design.motion import reduce_motion
from app.gui.design.theme import apply_theme
from app.gui.first_run.first_start import FirstStart
from app.gui.inspector.pane import InspectorPane
from app.gui.inspector.timeline_page import MiniTimeline
from app.gui.models.booth import BoothStrip
from app.gui.models.current_model import CurrentModel
from app.gui.models.downloads import GraphicsController, ModelsController
from app.gui.models.favourites import Favourites
from app.gui.models.frontend_bar import FrontEndBar
from app.gui.models.model_lists import ModelLists
from app.gui.models.model_search import ModelSearch
from app.gui.models.servers import Servers
from app.gui.oracle.pane import OraclePane
from app.gui.shell.commands import Commands, copy_selection
from app.gui.shell.key_routing import KeyRouting
from app.gui.shell.message_bar import MessageBar
from app.gui.shell.model_popover import ModelPopover
from app.gui.shell.panes import Panes, WindowLayoutStore
from app.gui.shell.status_line import StatusLine
from app.gui.shell.top_bar import TopBar
from app.gui.sound.devices_popover import DevicesPopover
from app.gui.sound.talk_dock import TalkDock
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import LOCATED, backend_choice
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.gui.state.settings_controller import SettingsController
from app.gui.transcript.pane import TranscriptPane
from app.history.base import LONGEST_TITLE
from app.session.control import BackendChoice, SessionFactory
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from app.settings.paths import default_path
from app.untrusted.text import one_line

LEAST_PX = 480, 480
USUAL_PX = 1100, 720
FRAME_PX = 40
"""The window's frame and title, which the screen must have room for, too."""


class MainWindow(QMainWindow):
    """`begin` starts the first session; `closing` says that the user is done; `finish` ends everything."""

    closing = Signal()

    def __init__(self, factory: SessionFactory, settings: Settings, services: WindowServices) -> None:
        super().__init__()
        self.settings = settings
        self._filtered = False
        # Made first: what moves into it later costs as much as it cost to make.
        self._body = QWidget(self)
        self.setCentralWidget(self._body)
        state = WindowState.load((settings.path or default_path()).with_name("window.json"))
        self.keep = SettingsController(settings, state, self)
        model_look.load(state.model_colours, lambda colours: self.keep.remember(model_colours=colours))
        self.background = BackgroundTasks(self)
        self.model = SessionModel(self, duplex=settings.duplex)
        self.manager = SessionManager(factory, self.model, self)
        self.model.arrived.connect(services.watch)
        self.messages = MessageBar(self._body)
        self._build_panes(services)
        context = WindowContext(
            self,
            settings,
            services,
            self.keep,
            self.background,
            self.model,
            self.manager,
            self.messages,
            self.commands,
        )
        self._build_models(context)
        self._build_controllers(context)
        self.layout_store = WindowLayoutStore(self, self.panes, self.commands["booth"], self.keep)
        self._build_system(context)
        self._lay_out()
        self._order_tabs()
        self._connect()
        self._follow_settings()
        if notice := " ".join(filter(None, (settings.notice, state.notice))):
            self.messages.say(notice, level="warning")

    # -- building

    def _build_panes(self, services: WindowServices) -> None:
        self.conversations = ConversationsPane(self)
        self.transcript = TranscriptPane(self.model, self)
        self.oracle = OraclePane(self.model, self)
        self.inspector = InspectorPane(self.model, self)
        self.panes = Panes(self.conversations, self.transcript, self.oracle, self.inspector, self._body)
        self.commands = Commands(self, self.panes.actions_)
        self.devices = DevicesPopover(self.settings, self.model, self)
        self.dock = TalkDock(self.model, self)
        self.transcript.add_below(self.dock)
        self.mini = MiniTimeline(self.inspector.activity, self)
        self.model.follow(None, self.mini.settle)
        self.status = StatusLine(self.model, self.mini, self.panes.inspector_action, self._body)
        self.inspector.attach(self.panes.inspector_action, self.status)
        bar, panes = self.commands.bar, self.panes
        self.top_bar = TopBar(self.transcript.header, bar, panes.conversations_action, panes.oracle_action, self._body)

    def _build_models(self, context: WindowContext) -> None:
        services, choices = context.services, context.services.choices
        models, graphics = services.models, services.graphics
        self.servers = Servers(self.keep, self)
        for provider in LOCATED:
            self.servers.add(backend_choice(self.settings, provider))
        self.lists = ModelLists(choices.backends, services.backend_service, self.servers, self.background, self)
        self.current = CurrentModel(self.manager, self.lists, self)
        self.top_bar.pill.follow(self.current)
        self.models_controller = ModelsController(models, self) if models is not None else None
        self.graphics = GraphicsController(graphics, self) if graphics is not None else None
        favourites = Favourites(self, self.lists)
        catalogue = models.models if models is not None else tuple
        self.dialogs = Dialogs(context, self.lists, favourites, catalogue, self.models_controller, self.graphics)
        search = ModelSearch(
            self.settings, self.lists, favourites, catalogue, services.backend_service, self.background, self
        )
        self.popover = ModelPopover(self.settings, choices, search, favourites, self.current, self.top_bar.pill, self)
        self.popover.models_button.setVisible(self.dialogs.has_models)
        self.commands["models"].setVisible(self.dialogs.has_models)
        self.commands["tools"].setVisible(self.dialogs.has_tool_servers)
        self.booth = BoothStrip(self.model, favourites, self.lists, self.current, self)
        self.transcript.add_below(self.booth)
        self.commands.on("booth", self.booth.setVisible)
        self.frontend_bar = FrontEndBar(
            self.settings,
            choices.weighty,
            services.missing_weights,
            self.models_controller,
            self.keep,
            self.model,
            self,
        )
        self.popover.column.addWidget(self.frontend_bar)

    def _build_controllers(self, context: WindowContext) -> None:
        composer, put = self.transcript.composer, self.transcript.composer.put
        self.talks = ConversationController(context)
        self.list = ConversationListController(context, self.talks, self.dialogs, self.conversations)
        self.backends = BackendController(
            context,
            self.dialogs,
            self.lists,
            self.popover,
            self.oracle.header,
            changed=self.talks.setup_changed,
            ask=self.transcript.ask_again,
        )
        self.sound = SoundController(context, self.devices, self.dock)
        self.starter = SessionStarter(context, self.talks, self.lists, self.sound.list_devices)
        self.documents = DocumentsController(context, self.transcript.documents)
        self.drops = FileDrops(self)
        self.asker = Asker(context, put)
        go_on = self.starter.go_on_if_stopped
        repeat = self.transcript.repeat_wanted
        self.talk = TalkController(context, self.dock, composer, self.sound, self.asker, go_on, repeat)
        self.routing = KeyRouting(self.talk.push, self, composer.field)
        self.replay = ReplayController(context, self.transcript)
        self.offers = ModelOffers(context, self.dialogs, self.backends, self.models_controller, self.graphics)
        pickers = {
            "microphone": self.devices.microphone,
            "loudspeaker": self.devices.loudspeaker,
            "frontend": self.popover.frontend,
        }
        self.panels = Panels(
            context, self.dialogs, self.backends, self.sound, self.models_controller, self.inspector, pickers
        )
        SessionMessages(
            context,
            dialogs=self.dialogs,
            panels=self.panels,
            popover=self.popover,
            lists=self.lists,
            frontend=self.frontend_bar,
            again=self.starter.go_on,
        )
        self.quick = PaletteController(
            context,
            self.lists,
            self.list,
            self.talks,
            choose=self.backends.choose,
            ask=put,
            panels=self.panels,
        )

    def _build_system(self, context: WindowContext) -> None:
        services = context.services
        self.mini_mode = MiniController(
            context,
            self.dock,
            self.talk,
            self.sound,
            self.current,
            self.layout_store,
            self.transcript.composer.field,
            send=self.transcript.composer.send,
            add_models=self._add_models,
            go_on=self.starter.go_on_if_stopped,
            come_forward=self.come_forward,
        )
        self.tray = TrayController(
            context, self.mini_mode, self.panels, self.sound, self.talk.push, self.talks, self.come_forward
        )
        self.system = SystemController(context, self.panels)
        self.first_start: FirstStart | None = None
        if services.machine is not None and self.keep.state.first_run_done:
            if self.settings.provider == "embedded" and not self.keep.state.better_model_decided:
                self.offers.look(services.machine)
                self.offers.offer_better()
        elif services.machine is not None:
            self.first_start = FirstStart(
                context,
                services.machine,
                self.transcript.welcome,
                self.lists,
                self.dialogs,
                self.popover,
                self.current,
                self.backends,
                self.sound,
                self.offers,
                self.models_controller,
            )
        self.commands["demo"].setVisible(services.demo is not None)
        self.demo = (
            DemoController(
                services.demo,
                self.manager,
                self,
                talks=lambda: self.starter.talks_now,
                known=self._answering,
                label=self.lists.words,
            )
            if services.demo is not None
            else None
        )

    def _lay_out(self) -> None:
        self.setObjectName("KAME")
        self.setWindowTitle(self.tr("KAME"))
        column = QVBoxLayout(self._body)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.top_bar, self.messages, self.panes, self.status):
            column.addWidget(widget, 1 if widget is self.panes else 0)
        for popover in (self.popover, self.devices):
            popover.setParent(self._body)  # over all that is in it
            popover.home = self.transcript.composer.field
        self._make_room()
        room = self.screen().availableSize()
        width, height = min(USUAL_PX[0], room.width()), min(USUAL_PX[1], room.height() - FRAME_PX)
        self.resize(width, height)
        self.panes.fit_into(width)
        self.panes.divide(width, height)
        self.layout_store.restore()

    def _answering(self) -> list[BackendChoice]:
        """Returns the user's back-ends: the one of the conversation, the favourites, and what is known of servers."""
        servers = [BackendChoice(server.provider, "", server.base_url) for server in self.lists.servers.servers]
        models = [replace(place, model=model) for place in servers for model in self.lists.offered(place)[:2]]
        return [self.current.choice, *self.popover.favourites.backends, *models, *servers]

    def _order_tabs(self) -> None:
        """Tab goes through the window as one reads it."""
        popover, dock, timeline, list_ = self.popover, self.dock, self.inspector.timeline, self.conversations
        bar, cards = self.top_bar, self.first_start.cards if self.first_start is not None else None
        widgets = (
            bar.sidebar_button,
            bar.new_button,
            self.transcript.header.button,
            bar.pill,
            popover.search,
            popover.list,
            popover.models_button,
            popover.compare_button,
            popover.answer_mode,
            popover.frontend,
            bar.oracle_button,
            bar.menu_button,
            list_.new_button,
            list_.more,
            list_.search,
            list_.rows,
            *(cards.controls if cards is not None else ()),
            *self.transcript.welcome.questions,
            self.transcript.view,
            *self.transcript.consent.controls,
            self.transcript.composer.attach,
            self.transcript.composer.field,
            self.transcript.composer.button,
            *self.booth.chips,
            dock.mute,
            dock.devices_button,
            dock.button,
            dock.silence,
            dock.duplex,
            self.oracle.header.earlier,
            self.oracle.header.details,
            self.oracle.header.switch,
            self.oracle.header.hand_button,
            *(widget for column in self.oracle.columns for widget in (column.hand_button, column.view)),
            self.oracle.thought.view,
            self.inspector.tabs,
            *timeline.buttons,
            timeline.view,
            self.status.inspector_button,
            self.status.response,
            self.mini,
        )
        for one, other in itertools.pairwise(widgets):
            self.setTabOrder(one, other)

    def _make_room(self) -> None:
        """Keeps the window at least as wide as the conversation, which grows with the text size."""
        needed = min(
            max(self.panes.least_width, self.top_bar.minimumSizeHint().width()), self.screen().availableSize().width()
        )
        self.setMinimumSize(max(LEAST_PX[0], needed), LEAST_PX[1])

    # -- connections between parts that don't know each other

    def _connect(self) -> None:
        transcript, composer, starter, commands = self.transcript, self.transcript.composer, self.starter, self.commands
        composer.talk_wanted.connect(starter.go_on)
        composer.attach_wanted.connect(self.documents.ask)
        transcript.welcome.asked.connect(self.asker.ask)
        transcript.branch_wanted.connect(self.talks.choose_branch)
        composer.replacing.connect(self.talks.replace)
        transcript.consent.allowed.connect(self.manager.allow)
        transcript.consent.denied.connect(self.manager.deny)
        transcript.other_model_wanted.connect(self.backends.ask_another)
        transcript.thoughts_wanted.connect(self._show_thoughts)
        transcript.header.style_wanted.connect(commands["style"].trigger)
        self.inspector.timeline.failed.connect(self.messages.say)
        self.mini.clicked.connect(lambda: self.inspector.toggle_at("timeline"))
        self.top_bar.new_button.clicked.connect(commands["new"].trigger)
        self.conversations.new_wanted.connect(commands["new"].trigger)
        self.list.cleared.connect(starter.clear)
        self.list.titled.connect(self.show_title)
        self.top_bar.pill.clicked.connect(lambda: self.popover.toggle_at(self.top_bar.pill))
        self.devices.stop_talk.connect(starter.stop)
        self.dock.devices_button.clicked.connect(lambda: self.devices.toggle_at(self.dock.devices_button))
        self.documents.changed.connect(self.talks.setup_changed)
        self.drops.dropped.connect(self.documents.add)
        self.drops.hovering.connect(composer.show_drag)
        self.frontend_bar.download_wanted.connect(lambda key: self.dialogs.open_models("embedded", key))
        self.frontend_bar.arrived.connect(starter.restart_soon)
        if self.models_controller is not None:
            self.popover.download_wanted.connect(self.models_controller.get)
        commands.on("new", starter.start_fresh)
        commands.on("end", starter.stop)
        commands.on("quit", self.close)
        commands.on("silence", self.talk.silence)
        commands.on("attach", self.documents.ask)
        commands.on("tools", self.dialogs.open_servers)
        commands.on("choose_model", lambda: self.popover.toggle_at(self.top_bar.pill))
        commands.on("copy", lambda: copy_selection(transcript.view, *self.oracle.views))
        commands.on("find", transcript.find_bar.appear)
        self.booth.picked.connect(self.backends.choose)
        self.booth.took_over.connect(self.replay.tick)
        self.routing.swap = self.booth.pick
        commands.on("latency", self.inspector.open_latency)
        newest = QShortcut(QKeySequence("F6"), self, self.messages.take_focus)
        newest.setWhatsThis(self.tr("Go to the newest message"))
        menu = QShortcut(QKeySequence("F10"), self, self.top_bar.open_menu)
        menu.setWhatsThis(self.tr("Open the menu"))
        self.model.follow(self._take)
        self.model.changed.connect(self._show_state)
        self._show_state()
        if self.demo is not None:
            commands.on("demo", self.demo.open)
            self.demo.began.connect(starter.cancel)
            self.demo.ended.connect(lambda again: starter.go_on_if_stopped() if again else None)
            self.demo.failed.connect(self.messages.say)
            starter.taking_over.connect(self.demo.make_way)
        self._connect_focus()

    def _connect_focus(self) -> None:
        """A user who has done one of these things continues with a message: the field gets the focus."""
        routing, composer = self.routing, self.transcript.composer
        routing.sheet_wanted.connect(self.commands["keys"].trigger)
        routing.escaped.connect(self._escape)
        composer.field.returned.connect(routing.end_typing)
        composer.button.clicked.connect(routing.end_typing)
        for done in (
            self.commands["new"].triggered,
            self.conversations.opened,
            self.documents.asked,
            self.dock.duplex.toggled,
        ):
            done.connect(lambda *_: routing.go_home())

    def _escape(self) -> None:
        """Closes a popover, or stops editing, or what is asked, said or played, or closes the newest message: the
        first of these that there is.
        """
        popover = next((one for one in (self.popover, self.devices) if one.isVisible()), None)
        if popover is not None:
            popover.shut()
        elif self.transcript.composer.cancel_edit():
            pass
        elif self.dock.silence.isVisible():
            self.talk.silence()
        elif self.replay.playing:
            self.replay.stop()
        else:
            self.messages.close_newest()

    def _take(self, change: Change) -> None:
        if isinstance(change.event, e.SecondaryChanged) and self.model.in_view:
            self.panes.compare(bool(change.event.backend))

    def _show_state(self) -> None:
        running = self.model.talk.phase == "running"
        self.oracle.header.set_running(running)
        self.popover.set_running(running)
        self.commands["compare"].setEnabled(running)
        self.commands["hand_over"].setEnabled(running and bool(self.oracle.header.sides.comparison))

    def _show_thoughts(self, turn: Turn) -> None:
        self.panes.show_oracle()
        QTimer.singleShot(0, self, lambda: self._scroll_to_thoughts(turn))  # once the pane has its size

    def _scroll_to_thoughts(self, turn: Turn) -> None:
        if not self.oracle.show_turn(turn.talk, turn.number):
            words = self.tr("The thoughts behind this answer are no longer here: only the newest ones are kept.")
            self.messages.say(words, level="notice", topic="thoughts")

    # -- settings

    def _follow_settings(self) -> None:
        """Shows the settings in the controls that change them, and applies those of the window's look."""
        keep, settings, header, commands = self.keep, self.settings, self.oracle.header, self.commands
        for key, controls in (
            ("oracle_earlier", (header.earlier, commands["earlier"])),
            ("oracle_details", (header.details,)),
            ("keep_recordings", (commands["recordings"],)),
        ):
            for control in controls:
                control.setChecked(getattr(settings, key))
                control.toggled.connect(lambda on, key=key: keep.change(key, on))
                keep.follow(key, does=control.setChecked)
        popover = self.popover
        popover.answer_mode_picked.connect(lambda mode: keep.change("answer_mode", mode))
        popover.frontend_picked.connect(lambda key: keep.change("frontend", key))
        keep.follow("answer_mode", does=popover.show_answer_mode)
        keep.follow("frontend", does=popover.show_frontend)
        popover.favourites.show_rows(keep.state.favourites)
        popover.favourites.changed.connect(lambda: keep.remember(favourites=popover.favourites.rows))
        popover.favourites.picked.connect(self.backends.choose)
        keep.follow("theme", "accent", "font_scale", does=lambda _: self._look())
        keep.follow("reduced_motion", does=self._move)

    def _look(self) -> None:
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        apply_theme(app, self.settings.theme, self.settings.font_scale, self.settings.accent)

    def _move(self, reduced: bool) -> None:
        reduce_motion(reduced)
        self.inspector.timeline.view.reduced_motion = reduced

    # -- life

    def begin(self, order: DemoOrder | None = None) -> None:
        """Looks for devices and starts a session, in the background. Needs the running event loop. `order`: shows the
        demo in its place.
        """
        self.transcript.composer.field.setFocus()
        self.talk.begin()
        self.lists.awake = True
        self.lists.ask(self.current.choice)
        self._look()
        self._move(self.settings.reduced_motion)
        self.list.begin()
        self.system.begin()
        if order is not None and self.demo is not None:
            self.demo.begin(order)
        else:
            self.starter.start_fresh()

    async def finish(self, seconds: float = 1.0) -> None:
        """Ends the session and all that is under way."""
        self.starter.cancel()
        for fetching in filter(None, (self.graphics, self.models_controller)):
            await fetching.close()
        self._close_dialogs()
        self.talk.stop_reporting()
        await self.sound.close()
        if self.demo is not None:
            await self.demo.close()
        # The conversation's microphone is not to stay open until all is written, or what is being tried out has ended.
        await asyncio.gather(self._finish_background(), self.manager.close(seconds))
        await self.list.close()
        self.talk.close()  # the last of all: it waits, and nothing else continues meanwhile
        self.model.flush()

    async def _finish_background(self) -> None:
        await self.list.finish()
        await self.background.close()

    def _close_dialogs(self) -> None:
        for dialog in self.findChildren(QDialog):
            dialog.close()

    def show_title(self, title: str) -> None:
        """The conversation that is shown has this title."""
        self.transcript.header.show_title(title)
        title = one_line(title, LONGEST_TITLE)
        self.setWindowTitle(self.tr("{0} – KAME").format(title) if title else self.tr("KAME"))

    # -- Qt's own events

    def showEvent(self, event: QShowEvent) -> None:
        """The native window exists from now on: listens to its keys."""
        super().showEvent(event)
        if not self._filtered and self.windowHandle() is not None:
            self.routing.watch(self.windowHandle())
            self._filtered = True

    def moveEvent(self, event: QMoveEvent) -> None:
        """Its place is kept."""
        super().moveEvent(event)
        self.layout_store.moved()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Its size is kept."""
        super().resizeEvent(event)
        self.panes.fit_into(event.size().width())
        self.layout_store.moved()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """No control has used this key: it may be one for the message field."""
        if not self.routing.take_unclaimed(event):
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """A window that loses the focus never hears the key go up: lets go for it."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            QTimer.singleShot(0, self, self._make_room)
        if event.type() == QEvent.Type.WindowStateChange:
            self.inspector.timeline.view.watch()
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.talk.push.let_go_own()

    def _add_models(self, menu: QMenu) -> None:
        """Adds the favourites to a menu, and the way to all models."""
        menu.addActions(self.popover.favourites.picks)
        menu.addSeparator()
        menu.addAction(self.tr("All models…"), self._choose_in_front)

    def _choose_in_front(self) -> None:
        self.come_forward()
        self.popover.open_from_pill()

    def come_forward(self) -> None:
        """Shows itself in front, as a user who has started the app once more expects."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Goes away at once, or into the tray; `finish` does the rest out of sight."""
        self.talk.push.let_go_all()
        self._close_dialogs()
        self.layout_store.save()
        if event.spontaneous() and self.tray.hide_instead():
            event.ignore()
            return
        model_look.forget()
        self.keep.close()
        event.accept()
        self.quick.palette.hide()
        self.tray.close()
        self.mini_mode.close()
        self.closing.emit()
