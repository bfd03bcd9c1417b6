"""The main window's parts: makes them in their order, lays them out, and sets the order of Tab."""

from __future__ import annotations

import itertools
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QMenu, QVBoxLayout, QWidget

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
from app.gui.shell.commands import Commands
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
from app.session.control import BackendChoice, SessionFactory
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState
from app.settings.paths import default_path

LEAST_PX = 480, 480
USUAL_PX = 1100, 720
FRAME_PX = 40
"""The window's frame and title, which the screen must have room for, too."""


class WindowParts(QMainWindow):
    """A window with all of its parts, which aren't connected to each other yet."""

    def __init__(self, factory: SessionFactory, settings: Settings, services: WindowServices) -> None:
        super().__init__()
        self.settings = settings
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

    # -- what the parts need of the window

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
