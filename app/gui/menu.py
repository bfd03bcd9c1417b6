"""The menus and their shortcuts. Says what was chosen; does nothing but copy."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, SignalInstance
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QApplication, QComboBox, QLineEdit, QMenu, QMenuBar, QTextEdit

from app.gui.oracle_header import HAND_OVER_KEYS


class TalkMenu(QObject):
    """Fills `bar` with the window's menus."""

    new_talk = Signal()
    stop_talk = Signal()
    keep_recordings = Signal(bool)
    style = Signal()
    desk = Signal()
    routes = Signal()
    aside = Signal()
    hand_over = Signal()
    copy = Signal()
    quit = Signal()
    mute = Signal(bool)
    sound = Signal()

    def __init__(self, bar: QMenuBar, keep: bool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        bar.setAccessibleName(self.tr("Menus"))
        talk = bar.addMenu(self.tr("&Talk"))
        self._add(talk, self.tr("&New talk"), self.new_talk, QKeySequence(QKeySequence.StandardKey.New))
        self._add(talk, self.tr("&Stop"), self.stop_talk)
        talk.addSeparator()
        self._add(talk, self.tr("St&yle and tools…"), self.style)
        self.sound_action = self._add(talk, self.tr("S&ound…"), self.sound)
        self.mute_action = talk.addAction(self.tr("&Mute the microphone"))
        self.mute_action.setCheckable(True)
        self.mute_action.setShortcut(QKeySequence("Ctrl+M"))
        self.mute_action.toggled.connect(self.mute)
        recordings = talk.addAction(self.tr("&Keep recordings of new talks"))
        recordings.setCheckable(True)
        recordings.setChecked(keep)
        recordings.toggled.connect(self.keep_recordings)
        talk.addSeparator()
        # Windows has no standard key for leaving, and the app promises this one everywhere.
        leave = self._add(talk, self.tr("&Quit"), self.quit, QKeySequence("Ctrl+Q"))
        leave.setMenuRole(QAction.MenuRole.QuitRole)
        brain = bar.addMenu(self.tr("B&rain"))
        self.desk_action = self._add(brain, self.tr("&Key, connection, models…"), self.desk)
        self.routes_action = self._add(brain, self.tr("By kind of &question…"), self.routes)
        brain.addSeparator()
        self.aside_action = self._add(brain, self.tr("&Side by side…"), self.aside)
        self.hand_action = self._add(brain, self.tr("&Hand over"), self.hand_over, QKeySequence(HAND_OVER_KEYS))
        edit = bar.addMenu(self.tr("&Edit"))
        self._add(edit, self.tr("&Copy"), self.copy, QKeySequence(QKeySequence.StandardKey.Copy))

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
    if isinstance(focus, QLineEdit):
        focus.copy()
        return
    candidates = [focus] if isinstance(focus, QTextEdit) else []
    for view in [*candidates, *views]:
        if view.textCursor().hasSelection():
            view.copy()
            return
