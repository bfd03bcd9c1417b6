"""The window's menus and their shortcuts."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMenu, QPlainTextEdit, QTextEdit, QWidget

from app.gui.oracle.header import HAND_OVER_KEYS


class TalkMenu(QObject):
    """Fills the menu `bar` and emits a signal for each command.

    `keep`: whether the sound of new conversations is currently kept. `panes`: the actions that show and hide the panes.
    """

    new_talk = Signal()
    stop_talk = Signal()
    keep_recordings = Signal(bool)
    style = Signal()
    routes = Signal()
    models = Signal()
    secondary = Signal()
    hand_over = Signal()
    copy = Signal()
    find = Signal()
    settings = Signal()
    commands = Signal()
    quit = Signal()
    mute = Signal(bool)
    sound = Signal()
    earlier = Signal(bool)
    latency = Signal()
    mini = Signal()
    log = Signal()
    demo = Signal()
    export = Signal()
    bring_in = Signal()
    keys = Signal()
    guide = Signal()
    about = Signal()

    def __init__(self, bar: QMenu, keep: bool, parent: QWidget, panes: Iterable[QAction] = ()) -> None:
        super().__init__(parent)
        self.bar = bar
        bar.setAccessibleName(self.tr("Menus"))
        self._fill_conversation(bar.addMenu(self.tr("&Conversation")), keep)
        edit = bar.addMenu(self.tr("&Edit"))
        self._add(edit, self.tr("&Copy"), self.copy, QKeySequence(QKeySequence.StandardKey.Copy))
        self._add(edit, self.tr("&Find in the conversation…"), self.find, QKeySequence(QKeySequence.StandardKey.Find))
        edit.addSeparator()
        # Windows has no standard key for preferences.
        self.settings_action = self._add(edit, self.tr("&Settings…"), self.settings, QKeySequence("Ctrl+,"))
        self.settings_action.setMenuRole(QAction.MenuRole.PreferencesRole)
        self.commands_action = self._add(edit, self.tr("C&ommands…"), self.commands, QKeySequence("Ctrl+K"))
        view = bar.addMenu(self.tr("&View"))
        for action in panes:
            view.addAction(action)
        view.addSeparator()
        self.earlier_action = self._add(view, self.tr("&Earlier thoughts"), self.earlier, checked=False)
        view.addSeparator()
        self._add(view, self.tr("&Latency"), self.latency, QKeySequence("Ctrl+L"))
        self.mini_action = self._add(view, self.tr("&Mini window"), self.mini, QKeySequence("Ctrl+Shift+K"))
        backend = bar.addMenu(self.tr("&Model"))
        self.models_action = self._add(backend, self.tr("Models and s&ervers…"), self.models)
        self.routes_action = self._add(backend, self.tr("&Routing…"), self.routes)
        backend.addSeparator()
        self.secondary_action = self._add(backend, self.tr("Co&mpare…"), self.secondary)
        self.hand_action = self._add(
            backend, self.tr("S&witch to the comparison model"), self.hand_over, QKeySequence(HAND_OVER_KEYS)
        )
        for action in (self.mini_action, self.hand_action):  # must work in all windows of the app
            action.setShortcutContext(Qt.ShortcutContext.ApplicationShortcut)
        help_menu = bar.addMenu(self.tr("&Help"))
        self._add(help_menu, self.tr("Ke&ys"), self.keys, QKeySequence("F1"))
        self._add(help_menu, self.tr("&Guide"), self.guide)
        self.demo_action = self._add(help_menu, self.tr("&Demo…"), self.demo)
        help_menu.addSeparator()
        self.log_action = self._add(help_menu, self.tr("&Log…"), self.log)
        self.about_action = self._add(help_menu, self.tr("&About KAME"), self.about)
        self.about_action.setMenuRole(QAction.MenuRole.AboutRole)
        for sub_menu in bar.findChildren(QMenu):
            # A closed menu's shortcuts only work if its actions are also added to the window.
            parent.addActions([action for action in sub_menu.actions() if not action.shortcut().isEmpty()])

    def _fill_conversation(self, menu: QMenu, keep: bool) -> None:
        self._add(menu, self.tr("&New conversation"), self.new_talk, QKeySequence(QKeySequence.StandardKey.New))
        self._add(menu, self.tr("En&d conversation"), self.stop_talk)
        menu.addSeparator()
        self._add(menu, self.tr("St&yle and tools…"), self.style)
        self.sound_action = self._add(menu, self.tr("S&ound…"), self.sound)
        mute, keys = self.tr("&Mute the microphone"), QKeySequence("Ctrl+M")
        self.mute_action = self._add(menu, mute, self.mute, keys, checked=False)
        recordings = self.tr("&Keep the sound of new conversations")
        self.recordings_action = self._add(menu, recordings, self.keep_recordings, checked=keep)
        menu.addSeparator()
        self.export_action = self._add(menu, self.tr("&Export this conversation…"), self.export)
        self.bring_in_action = self._add(menu, self.tr("&Import a conversation…"), self.bring_in)
        menu.addSeparator()
        # Windows has no standard key for quitting, and the documentation specifies Ctrl+Q for all systems.
        quit_action = self._add(menu, self.tr("&Quit"), self.quit, QKeySequence("Ctrl+Q"))
        quit_action.setMenuRole(QAction.MenuRole.QuitRole)

    @staticmethod
    def _add(
        menu: QMenu,
        text: str,
        signal: SignalInstance,
        keys: QKeySequence | None = None,
        *,
        checked: bool | None = None,
    ) -> QAction:
        """Adds an action, which can be checked unless `checked` is None. `signal` emits each use of it."""
        action = menu.addAction(text)
        if keys is not None:
            action.setShortcut(keys)
        if checked is None:
            action.triggered.connect(lambda: signal.emit())
        else:
            action.setCheckable(True)
            action.setChecked(checked)
            action.toggled.connect(signal)
        return action


def copy_selection(*views: QTextEdit) -> None:
    """Copies the selection of the focused widget or, failing that, of the first of `views` that has a selection."""
    focus = QApplication.focusWidget()
    if isinstance(focus, QComboBox):
        focus = focus.lineEdit()
    if isinstance(focus, QLineEdit | QPlainTextEdit):
        focus.copy()
        return
    candidates = [focus] if isinstance(focus, QTextEdit) else []
    for view in [*candidates, *views]:
        if view.textCursor().hasSelection():
            view.copy()
            return
