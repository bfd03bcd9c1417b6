"""Puts the mini window in the main window's place, and back; the conversation continues meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QMenu

from app.conversation import events as e
from app.conversation.record.record import Change
from app.gui.controllers.context import WindowContext
from app.gui.controllers.sound_controller import SoundController
from app.gui.controllers.talk_controller import TalkController
from app.gui.models.current_model import CurrentModel
from app.gui.shell.key_routing import KeyRouting
from app.gui.shell.panes import WindowLayoutStore
from app.gui.sound.talk_dock import TalkDock
from app.gui.transcript.composer import ComposerField

if TYPE_CHECKING:
    from app.gui.mini.window import MiniWindow


class MiniController(QObject):
    """The mini window is built on first use. It ends whenever the main window is shown again, for any reason.

    - `draft`: the main window's field for messages, whose text the mini window's shares.
    - `send`: sends the draft, once a session runs.
    - `add_models`: adds what can be chosen to a menu of models.
    - `go_on`: starts a session in the conversation that is shown, if none runs.
    - `come_forward`: shows the main window in front.
    """

    def __init__(
        self,
        context: WindowContext,
        dock: TalkDock,
        talk: TalkController,
        sound: SoundController,
        current: CurrentModel,
        layout: WindowLayoutStore,
        draft: ComposerField,
        *,
        send: Callable[[], object],
        add_models: Callable[[QMenu], object],
        go_on: Callable[[], object],
        come_forward: Callable[[], object],
    ) -> None:
        super().__init__(context.window)
        self._window = window = context.window
        self._model = context.model
        self._manager = context.manager
        self._dock = dock
        self._push = talk.push
        self._sound = sound
        self._layout = layout
        self._commands = commands = context.commands
        self._draft = draft
        self._send, self._add_models = send, add_models
        self._go_on = go_on
        self._come_forward = come_forward
        self._current = current
        self.mini: MiniWindow | None = None
        self._routing: KeyRouting | None = None
        commands.on("mini", self.toggle)
        current.changed.connect(self._show_model)
        draft.textChanged.connect(self._show_draft)
        context.model.follow(self._take)
        context.model.changed.connect(self._show_state)
        window.installEventFilter(self)

    @property
    def is_on(self) -> bool:
        """Whether the mini window stands for the main one."""
        return self.mini is not None and self.mini.isVisible()

    def toggle(self) -> None:
        """Goes to the mini window, or back."""
        if self.is_on:
            self._come_forward()
            return
        if self.mini is None:
            self.mini = self._make()
            self._show_model()
            self.mini.mute.setChecked(self._dock.mute.isChecked())
        self._show_state()
        place = self._layout.mini
        self.mini.show_at(QPoint(*place) if place is not None else None, self._window)
        assert self._routing is not None
        self._routing.watch(self.mini.windowHandle())
        self._window.hide()

    def close(self) -> None:
        """Closes it for good, with the main window."""
        if self.mini is not None:
            self.mini.hide()
            self.mini.deleteLater()
            self.mini = self._routing = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Leaves the mini window once the main one is shown."""
        if self.mini is not None and event.type() == QEvent.Type.Show:
            self.mini.hide()
        return False

    def _take(self, change: Change) -> None:
        match change.event:
            case e.LevelMeasured(user_dbfs=user, assistant_dbfs=assistant) if self.is_on and self.mini is not None:
                self.mini.button.show_levels(user, assistant)
            case e.ConsentAsked() if self.is_on:
                self._come_forward()  # the arguments must be seen

    def _show_state(self) -> None:
        """Shows what the session is doing, and what was said last."""
        if self.mini is None:
            return
        dock, turns = self._dock, self._model.record.turns if self._model.in_view else []
        self.mini.show_state(dock.button, muted=dock.mute.confirmed, can_silence=self._model.talk.can_silence)
        self.mini.show_words(next((turn for turn in reversed(turns) if turn.text and not turn.backchannel), None))

    def _make(self) -> MiniWindow:
        from app.gui.mini.window import MiniWindow

        mini, push = MiniWindow(), self._push
        self._routing = KeyRouting(push, mini, mini.field)
        self._routing.escaped.connect(lambda: mini.silence.click() if mini.silence.isVisible() else None)
        mini.send_wanted.connect(self._write)
        mini.field.setText(self._draft.text())
        mini.field.textChanged.connect(lambda: _copy_text(mini.field, self._draft))
        mini.model.clicked.connect(self._open_models)
        mini.button.pressed.connect(lambda: push.hold("mouse"))
        mini.button.released.connect(lambda: push.let_go("mouse"))
        mini.button.clicked.connect(self._go_on)
        mini.mute.toggled.connect(self._sound.set_muted)
        self._dock.mute.toggled.connect(mini.mute.setChecked)
        mini.silence_wanted.connect(self._manager.silence)
        mini.back_wanted.connect(self._come_forward)
        mini.active_changed.connect(self._on_active_changed)
        mini.placed.connect(lambda place: self._layout.keep_mini((place.x(), place.y())))
        mini.addActions([self._commands["mute"], self._commands["mini"]])  # for their keys
        return mini

    def _write(self) -> None:
        self._send()
        if self._routing is not None:
            self._routing.end_typing()

    def _open_models(self) -> None:
        assert self.mini is not None
        menu = QMenu(self.mini)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._add_models(menu)
        menu.popup(self.mini.model.mapToGlobal(self.mini.model.rect().bottomLeft()))

    def _on_active_changed(self) -> None:
        if self.mini is not None and not self.mini.isActiveWindow():
            self._push.let_go_own()

    def _show_model(self) -> None:
        if self.mini is not None:
            self.mini.model.show_model(self._current.answers)

    def _show_draft(self) -> None:
        if self.mini is not None:
            _copy_text(self._draft, self.mini.field)


def _copy_text(field: ComposerField, other: ComposerField) -> None:
    if field.text() != other.text():
        other.setText(field.text())
