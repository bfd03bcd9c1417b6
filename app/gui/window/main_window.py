"""The main window: builds its parts, lays them out, and answers to Qt."""

from __future__ import annotations

import asyncio
import itertools

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QMoveEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QDialog, QMainWindow, QMenu, QVBoxLayout, QWidget

from app.demo.base import DemoOrder
from app.gui.controllers.asker import Asker
from app.gui.controllers.backend_controller import BackendsController
from app.gui.controllers.conversation_controller import ConversationController
from app.gui.controllers.dialogs import Dialogs
from app.gui.controllers.documents_controller import DocumentsController, FileDrops
from app.gui.controllers.list_controller import ConversationListController
from app.gui.controllers.live_settings import LiveSettings
from app.gui.controllers.session_starter import SessionStarter
from app.gui.controllers.sound_controller import SoundController
from app.gui.controllers.talk_keys import TalkKeys
from app.gui.conversations.pane import ConversationsPane
from app.gui.demo.controller import DemoController
from app.gui.design import model_colours
from app.gui.hotkeys.push_to_talk import PushToTalk
from app.gui.inspector.pane import InspectorPane
from app.gui.inspector.timeline_page import MiniTimeline
from app.gui.models.downloads import GraphicsController, ModelsController
from app.gui.models.favourites import Favourites
from app.gui.models.frontend_bar import FrontEndBar
from app.gui.models.model_lists import ModelLists
from app.gui.oracle.pane import OraclePane
from app.gui.shell.key_routing import KeyRouting
from app.gui.shell.menu import TalkMenu
from app.gui.shell.message_bar import MessageBar
from app.gui.shell.model_popover import ModelPopover
from app.gui.shell.panes import Panes, WindowLayoutStore
from app.gui.shell.status_line import StatusLine
from app.gui.shell.top_bar import TopBar
from app.gui.sound.devices_popover import DevicesPopover
from app.gui.sound.talk_dock import TalkDock
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_state import SessionState
from app.gui.state.settings_controller import SettingsController
from app.gui.transcript.pane import TranscriptPane
from app.gui.transcript.replay_controller import ReplayController
from app.gui.window.mini_mode import MiniMode
from app.gui.window.offers import Offers
from app.gui.window.panels import Panels
from app.gui.window.quick_access import QuickAccess
from app.gui.window.services import WindowServices
from app.gui.window.session_view import SessionView
from app.gui.window.system_parts import SystemParts
from app.gui.window.wiring import Wiring
from app.history.base import LONGEST_TITLE
from app.session.control import ROUTER, SessionFactory
from app.settings.declarations import Settings
from app.settings.kept_state import WindowState, strings
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
        service, choices = services.backend_service, services.choices

        state = WindowState.load((settings.path or default_path()).with_name("window.json"))
        self.keep = SettingsController(settings, state, self)
        model_colours.load(strings(state.model_colours), lambda names: self.keep.remember(model_colours=names))
        self.background = BackgroundTasks(self)
        self.lists = ModelLists(choices.backends, service, self.background, self)
        self._build_downloads(services)
        favourites = Favourites(self, self.lists)
        catalogue = services.models.models if services.models is not None else tuple
        self.dialogs = Dialogs(
            settings,
            self.lists,
            favourites,
            catalogue,
            self.background,
            service,
            choices.mcp_servers,
            self,
            models=self.models_controller,
            machine=services.machine,
            graphics=self.graphics,
            sound=services.sound_service,
        )
        self.setup = ModelPopover(settings, choices, self.lists, favourites, catalogue, self)
        self.setup.models_button.setVisible(self.dialogs.has_models)
        self.frontend_bar = FrontEndBar(
            settings, choices.weighty, services.missing_weights, self.models_controller, self
        )
        self.setup.column.addWidget(self.frontend_bar)
        self.messages = MessageBar(self._body)
        self.messages.with_service, self.messages.with_log = service is not None, services.log is not None
        self._build_panes()
        self.view = SessionView(self, services.watch)
        self.pump = self.view.pump
        self.manager = SessionManager(factory, self.view.on_event, self)
        self.state = SessionState(self.manager, settings, self)
        self.offers = Offers(self)
        self._build_controllers(services)
        self.layout_store = WindowLayoutStore(self, self.panes, self.keep)
        self._lay_out()
        self._order_tabs()
        self.mini_mode = MiniMode(self)
        Wiring(self)
        self.quick = QuickAccess(self)
        self.system = SystemParts(self, services)
        self.dock.duplex.setChecked(settings.duplex)
        self.set_talk_mode(settings.talk_mode)
        if notice := " ".join(filter(None, (settings.notice, state.notice))):
            self.messages.say(notice, level="warning")
        self.view.show_state()

    # -- building

    def _build_downloads(self, services: WindowServices) -> None:
        models, graphics = services.models, services.graphics
        self.models_controller = ModelsController(models, self) if models is not None else None
        self.graphics = GraphicsController(graphics, self) if graphics is not None else None

    def _build_panes(self) -> None:
        self.conversations = ConversationsPane(self)
        self.transcript = TranscriptPane(self)
        self.oracle = OraclePane(self)
        self.inspector = InspectorPane(self)
        self.panes = Panes(self.conversations, self.transcript, self.oracle, self.inspector, self._body)
        self.devices = DevicesPopover(self.settings, self)
        self.dock = TalkDock(self)
        self.transcript.add_below(self.dock)
        self.mini = MiniTimeline(self.inspector.activity, self)
        self.status = StatusLine(self.mini, self.panes.inspector_action, self._body)
        self.inspector.attach(self.panes.inspector_action, self.status)
        self.menu = TalkMenu(QMenu(self), self.settings.keep_recordings, self, self.panes.actions_)
        self.top_bar = TopBar(
            self.transcript.header, self.menu.bar, self.panes.conversations_action, self.panes.oracle_action, self._body
        )

    def _build_controllers(self, services: WindowServices) -> None:
        settings, manager, menu, background = self.settings, self.manager, self.menu, self.background
        history, sound_service = services.history, services.sound_service
        menu.models_action.setVisible(self.dialogs.has_models)
        menu.routes_action.setVisible(ROUTER in self.lists.views)
        menu.demo_action.setVisible(services.demo is not None)
        self.talks = ConversationController(history, settings, manager, self.transcript, background, self)
        self.list = ConversationListController(
            history, self.talks, manager, self.dialogs, self.conversations, background, menu, self
        )
        self.backends = BackendsController(
            settings, manager, self.dialogs, self.setup, self.transcript.header, self.oracle.header, menu, self
        )
        self.push = PushToTalk(self)
        self.routing = KeyRouting(self.push, self, self.transcript.composer.field)
        self.sound = SoundController(
            settings,
            manager,
            self.devices,
            self.dock,
            menu,
            self.messages,
            services.list_devices,
            background,
            sound_service,
            self,
        )
        self.starter = SessionStarter(
            settings,
            manager,
            self.talks,
            self.setup,
            self.transcript.header,
            self.sound,
            self,
            knows=self.lists.views.__contains__,
            settle=self.pump.flush,
        )
        self.documents = DocumentsController(manager, self.transcript.documents, background, self)
        self.drops = FileDrops(self)
        self.asker = Asker(services.asking, manager, background, self)
        self.keys = TalkKeys(self.push, self.sound, self.state.talk, self)
        self.replay = ReplayController(sound_service, settings, manager, self.transcript, background, self)
        self.live = LiveSettings(
            settings, self.keep, manager, self.setup, self.devices, self.frontend_bar, self.sound, menu, self
        )
        self.panels = Panels(self, services)
        self.demo = (
            DemoController(services.demo, manager, background, self, talks=lambda: self.starter.talks_now)
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
        for popover in (self.setup, self.devices):
            popover.setParent(self._body)  # over all that is in it
            popover.home = self.transcript.composer.field
        self._make_room()
        room = self.screen().availableSize()
        width, height = min(USUAL_PX[0], room.width()), min(USUAL_PX[1], room.height() - FRAME_PX)
        self.resize(width, height)
        self.panes.fit_into(width)
        self.panes.divide(width, height)
        self.layout_store.restore()

    def _order_tabs(self) -> None:
        """Tab goes through the window as one reads it."""
        setup, dock, timeline, list_ = self.setup, self.dock, self.inspector.timeline, self.conversations
        bar = self.top_bar
        widgets = (
            bar.sidebar_button,
            bar.new_button,
            self.transcript.header.button,
            bar.pill,
            setup.search,
            setup.list,
            setup.models_button,
            setup.compare_button,
            setup.routes_button,
            setup.answer_mode,
            setup.frontend,
            bar.oracle_button,
            bar.menu_button,
            list_.new_button,
            list_.more,
            list_.search,
            list_.rows,
            *self.transcript.welcome.questions,
            self.transcript.view,
            *self.transcript.consent.controls,
            self.transcript.composer.attach,
            self.transcript.composer.field,
            self.transcript.composer.button,
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
        """Keep the window at least as wide as what is open in it, which grows with the text size."""
        body = self.centralWidget()
        assert body is not None
        needed = min(body.minimumSizeHint().width(), self.screen().availableSize().width())
        self.setMinimumSize(max(LEAST_PX[0], needed), LEAST_PX[1])

    # -- life

    def begin(self, order: DemoOrder | None = None) -> None:
        """Looks for devices and starts a session, in the background. Needs the running event loop. `order`: shows the
        demo in its place.
        """
        self.transcript.composer.field.setFocus()
        self.keys.set_keys(self.settings.talk_hotkey, self.settings.mute_hotkey)
        self.lists.awake = True
        self.lists.ask(self.setup.choice)
        self.live.begin()
        self.list.begin()
        self.system.begin()
        if order is not None and self.demo is not None:
            self.demo.begin(order)
        else:
            self.starter.start_fresh()
            self.panels.begin()

    async def finish(self, seconds: float = 1.0) -> None:
        """Ends the session and all that is under way."""
        self.starter.cancel()
        for fetching in filter(None, (self.graphics, self.models_controller)):
            await fetching.close()
        self._close_dialogs()
        self.keys.stop_reporting()
        await self.sound.close()
        if self.demo is not None:
            await self.demo.close()
        # The conversation's microphone is not to stay open until all is written, or what is being tried out has ended.
        await asyncio.gather(self._finish_background(), self.manager.close(seconds))
        await self.list.close()
        self.keys.close()  # the last of all: it waits, and nothing else goes on meanwhile
        self.pump.flush()

    async def _finish_background(self) -> None:
        await self.list.finish()
        await self.background.close()

    def _close_dialogs(self) -> None:
        for dialog in self.findChildren(QDialog):
            dialog.close()

    # -- what it can be told

    def show_title(self, title: str) -> None:
        """The conversation that is shown has this title."""
        self.transcript.header.show_title(title)
        title = one_line(title, LONGEST_TITLE)
        self.setWindowTitle(self.tr("{0} – KAME").format(title) if title else self.tr("KAME"))

    def set_duplex(self, duplex: bool) -> None:
        """Switch hands-free mode on or off."""
        self.push.let_go_all()
        self.dock.duplex.setChecked(duplex)
        self.messages.clear_topic("echo")
        self.state.set_duplex(duplex)

    def set_talk_mode(self, mode: str) -> None:
        """Use the talk button in this way: "hold" or "toggle"."""
        self.push.set_mode("toggle" if mode == "toggle" else "hold")
        self.state.set_toggles(mode == "toggle")

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
            self.push.let_go_own()

    def come_forward(self) -> None:
        """Shows itself in front, as somebody who has started the app once more expects."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Goes away at once, or into the tray; `finish` does the rest out of sight."""
        self.push.let_go_all()
        self._close_dialogs()
        self.layout_store.save()
        if event.spontaneous() and self.system.tray.hide_instead():
            event.ignore()
            return
        model_colours.forget()
        self.keep.close()
        event.accept()
        self.closing.emit()
