"""The icon in the system's tray: its menu, and notifications."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSignalBlocker, Signal
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.gui.design.plain import set_tip
from app.gui.desktop.tray_picture import DOTS, tray_picture
from app.gui.state.talk_state import Word

SHOWN_MS = 10_000
"""How long a notification stays, where the system does not decide."""


class Tray(QObject):
    """Emits what is chosen in its menu, and shows what `show_state` and `show_window` tell; changes nothing itself."""

    window_toggled = Signal()
    """The window is to be shown or hidden."""
    window_wanted = Signal()
    """A notification was clicked: the window is to be shown."""
    talk_toggled = Signal()
    """The talk button is to be pressed, or released."""
    mute_toggled = Signal(bool)
    new_talk = Signal()
    quit = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.icon = QSystemTrayIcon(tray_picture("idle"), self)
        self.menu = QMenu()
        self.window_action = self.menu.addAction("")
        self.menu.addSeparator()
        self.talk_action = self.menu.addAction(self.tr("&Talk"))
        self.talk_action.setCheckable(True)
        self.mute_action = self.menu.addAction(self.tr("&Mute the microphone"))
        self.mute_action.setCheckable(True)
        self.new_action = self.menu.addAction(self.tr("&New conversation"))
        self.menu.addSeparator()
        self.quit_action = self.menu.addAction(self.tr("&Quit KAME"))
        self.icon.setContextMenu(self.menu)
        self.window_action.triggered.connect(lambda: self.window_toggled.emit())
        self.talk_action.triggered.connect(lambda: self.talk_toggled.emit())
        self.mute_action.toggled.connect(self.mute_toggled)
        self.new_action.triggered.connect(lambda: self.new_talk.emit())
        self.quit_action.triggered.connect(lambda: self.quit.emit())
        self.icon.activated.connect(self._activated)
        self.icon.messageClicked.connect(self.window_wanted)
        self.show_window(True)
        self.show_state("stopped", held=False, muted=False, can_talk=False)

    @staticmethod
    def is_available() -> bool:
        """Whether this desktop has a tray now; some get theirs only after the login."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    @property
    def is_on(self) -> bool:
        """Whether the icon is shown."""
        return self.icon.isVisible()

    def set_on(self, on: bool) -> None:
        self.icon.setVisible(on)

    def show_window(self, shown: bool) -> None:
        """Whether the window is on the screen."""
        self.window_action.setText(self.tr("&Hide KAME") if shown else self.tr("&Show KAME"))

    def show_state(self, word: Word, *, held: bool, muted: bool, can_talk: bool) -> None:
        """What the conversation is doing; `held`: the talk button is, `can_talk`: it can be."""
        words = {
            "idle": self.tr("KAME"),
            "listening": self.tr("KAME – listening"),
            "thinking": self.tr("KAME – thinking"),
            "speaking": self.tr("KAME – speaking"),
            "muted": self.tr("KAME – muted"),
        }
        dot = DOTS[word]
        if self.icon.toolTip() != words[dot]:
            self.icon.setIcon(tray_picture(dot))
            set_tip(self.icon, words[dot])
        self.talk_action.setChecked(held)
        self.talk_action.setEnabled(can_talk)
        with QSignalBlocker(self.mute_action):
            self.mute_action.setChecked(muted)

    def tell(self, title: str, text: str) -> None:
        """Shows a notification of plain text."""
        if self.is_on:
            self.icon.showMessage(title, plain(text), self.icon.icon(), SHOWN_MS)

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.window_toggled.emit()


def plain(text: str) -> str:
    """Text in which no desktop finds markup: many read notifications as such, and others show what is escaped as it is.

    Angle brackets become the quotation marks that look like them; an ampersand stands apart from what follows.
    """
    return text.replace("<", "‹").replace(">", "›").replace("&", "&\u2060")
