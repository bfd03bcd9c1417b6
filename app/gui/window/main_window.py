"""The main window: how its parts work together, its life, and its answers to Qt."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QEvent, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QKeySequence, QMoveEvent, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QApplication, QDialog

from app.conversation import events as e
from app.conversation.record.record import Change
from app.conversation.record.transcript import Turn
from app.demo.base import DemoOrder
from app.gui.controllers.context import WindowServices
from app.gui.design import model_look
from app.gui.design.motion import reduce_motion
from app.gui.design.theme import apply_theme
from app.gui.shell.commands import copy_selection
from app.gui.window.parts import WindowParts
from app.history.base import LONGEST_TITLE
from app.session.control import SessionFactory
from app.settings.declarations import Settings
from app.untrusted.text import one_line


class MainWindow(WindowParts):
    """`begin` starts the first session; `closing` says that the user is done; `finish` ends everything."""

    closing = Signal()

    def __init__(self, factory: SessionFactory, settings: Settings, services: WindowServices) -> None:
        super().__init__(factory, settings, services)
        self._filtered = False
        self._connect()
        self._follow_settings()
        if notice := " ".join(filter(None, (settings.notice, self.keep.state.notice))):
            self.messages.say(notice, level="warning")

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
        newest.setWhatsThis(self.tr("Go to the newest notice"))
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
        self.setWindowTitle(one_line(title, LONGEST_TITLE) or self.tr("KAME"))  # Qt adds the app's name, as to dialogs

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
