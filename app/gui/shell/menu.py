"""The menus and their shortcuts. Says what was chosen; does nothing but copy."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMenu, QMenuBar, QPlainTextEdit, QTextEdit

from app.gui.oracle.header import HAND_OVER_KEYS


class TalkMenu(QObject):
    """Fills `bar` with the window's menus. `panes`: the actions that show and hide them."""

    new_talk = Signal()
    stop_talk = Signal()
    keep_recordings = Signal(bool)
    style = Signal()
    service = Signal()
    routes = Signal()
    models = Signal()
    secondary = Signal()
    hand_over = Signal()
    copy = Signal()
    find = Signal()
    settings = Signal()
    quit = Signal()
    mute = Signal(bool)
    sound = Signal()
    quiet = Signal(bool)
    latency = Signal()
    log = Signal()
    set_up = Signal()
    demo = Signal()
    export = Signal()
    bring_in = Signal()
    about = Signal()

    def __init__(self, bar: QMenuBar, keep: bool, parent: QObject | None = None, panes: Iterable[QAction] = ()) -> None:
        super().__init__(parent)
        bar.setAccessibleName(self.tr("Menus"))
        self._fill_talk(bar.addMenu(self.tr("&Talk")), keep)
        edit = bar.addMenu(self.tr("&Edit"))
        self._add(edit, self.tr("&Copy"), self.copy, QKeySequence(QKeySequence.StandardKey.Copy))
        self._add(edit, self.tr("&Find in the conversation…"), self.find, QKeySequence(QKeySequence.StandardKey.Find))
        edit.addSeparator()
        # Windows has no standard key for preferences.
        self.settings_action = self._add(edit, self.tr("&Settings…"), self.settings, QKeySequence("Ctrl+,"))
        self.settings_action.setMenuRole(QAction.MenuRole.PreferencesRole)
        view = bar.addMenu(self.tr("&View"))
        for action in panes:
            view.addAction(action)
        view.addSeparator()
        self.quiet_action = view.addAction(self.tr("&Quiet oracle"))
        self.quiet_action.setCheckable(True)
        self.quiet_action.toggled.connect(self.quiet)
        view.addSeparator()
        self.latency_action = self._add(view, self.tr("&Latency…"), self.latency, QKeySequence("Ctrl+L"))
        backend = bar.addMenu(self.tr("B&rain"))
        self.connection_action = self._add(backend, self.tr("&Key, connection, models…"), self.service)
        self.routes_action = self._add(backend, self.tr("By kind of &question…"), self.routes)
        self.models_action = self._add(backend, self.tr("&Models…"), self.models)
        backend.addSeparator()
        self.secondary_action = self._add(backend, self.tr("&Side by side…"), self.secondary)
        self.hand_action = self._add(backend, self.tr("&Hand over"), self.hand_over, QKeySequence(HAND_OVER_KEYS))
        help = bar.addMenu(self.tr("&Help"))
        self.demo_action = self._add(help, self.tr("&Demo"), self.demo)
        self.set_up_action = self._add(help, self.tr("&Set up again…"), self.set_up)
        help.addSeparator()
        self.log_action = self._add(help, self.tr("&Log…"), self.log)
        self.about_action = self._add(help, self.tr("&About KAME"), self.about)
        self.about_action.setMenuRole(QAction.MenuRole.AboutRole)

    def _fill_talk(self, talk: QMenu, keep: bool) -> None:
        self._add(talk, self.tr("&New talk"), self.new_talk, QKeySequence(QKeySequence.StandardKey.New))
        self._add(talk, self.tr("&Stop"), self.stop_talk)
        talk.addSeparator()
        self._add(talk, self.tr("St&yle and tools…"), self.style)
        self.sound_action = self._add(talk, self.tr("S&ound…"), self.sound)
        self.mute_action = talk.addAction(self.tr("&Mute the microphone"))
        self.mute_action.setCheckable(True)
        self.mute_action.setShortcut(QKeySequence("Ctrl+M"))
        self.mute_action.toggled.connect(self.mute)
        self.recordings_action = talk.addAction(self.tr("&Keep the sound of new talks"))
        self.recordings_action.setCheckable(True)
        self.recordings_action.setChecked(keep)
        self.recordings_action.toggled.connect(self.keep_recordings)
        talk.addSeparator()
        self.export_action = self._add(talk, self.tr("&Export this conversation…"), self.export)
        self.bring_in_action = self._add(talk, self.tr("&Import a conversation…"), self.bring_in)
        talk.addSeparator()
        # Windows has no standard key for leaving, and the app promises this one everywhere.
        leave = self._add(talk, self.tr("&Quit"), self.quit, QKeySequence("Ctrl+Q"))
        leave.setMenuRole(QAction.MenuRole.QuitRole)

    @staticmethod
    def _add(menu: QMenu, text: str, signal: SignalInstance, keys: QKeySequence | None = None) -> QAction:
        action = menu.addAction(text)
        if keys is not None:
            action.setShortcut(keys)
        action.triggered.connect(lambda: signal.emit())
        return action


def copy_selection(*views: QTextEdit) -> None:
    """Copies what is selected: in the focused widget, else in the first of `views` with a selection."""
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
