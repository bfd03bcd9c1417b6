"""The system tray icon: its menu, its notifications, and a dot that shows the state of the conversation.

Each response triggers one notification, which shows its first words.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from PySide6.QtCore import QObject, QPointF, QRectF, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPen, QPixmap
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.conversation import events as e
from app.gui.design.look import painter_on, set_ink
from app.gui.design.plain import set_tip
from app.gui.state.talk_state import Word
from app.platform.installation import resource

Dot = Literal["idle", "listening", "thinking", "speaking", "muted"]

DOTS: dict[Word, Dot] = {
    "loading": "idle",
    "ready": "idle",
    "stopped": "idle",
    "listening": "listening",
    "hearing": "listening",
    "thinking": "thinking",
    "speaking": "speaking",
    "muted": "muted",
}
COLOURS: dict[Dot, str] = {
    "listening": "#35c46a",
    "thinking": "#f0a020",
    "speaking": "#9b6cf0",
    "muted": "#e5383b",
}
"""The dot's colours, brighter than in the window because the dot is only seven pixels wide on a teal icon."""

SIZES_PX = (16, 22, 24, 32, 48, 64)
SHARE, RING = 0.44, 0.06
"""Diameter of the dot and width of the ring around it, as fractions of the icon size."""


@lru_cache(maxsize=len(DOTS))
def tray_picture(dot: Dot) -> QIcon:
    """Returns the icon in all sizes used by trays. "idle" has no dot; the dot for "muted" also has a bar, for users who
    can't distinguish its colour.
    """
    icon = QIcon()
    for side in SIZES_PX:
        icon.addPixmap(_pixmap(dot, side))
    return icon


def _pixmap(dot: Dot, side: int) -> QPixmap:
    made = QPixmap(side, side)
    made.fill(Qt.GlobalColor.transparent)
    with painter_on(made) as painter:
        QSvgRenderer(str(resource("icons", "kame.svg"))).render(painter, QRectF(0, 0, side, side))
        if dot != "idle":
            ring = max(1.0, RING * side)
            round_ = QRectF(0, 0, SHARE * side, SHARE * side)
            round_.moveBottomRight(QPointF(side - ring / 2, side - ring / 2))
            set_ink(painter, fill=QColor(COLOURS[dot]), edge=QPen(QColor("white"), ring))
            painter.drawEllipse(round_)
            if dot == "muted":
                bar = round_.adjusted(round_.width() * 0.25, 0, -round_.width() * 0.25, 0)
                painter.drawLine(QPointF(bar.left(), bar.center().y()), QPointF(bar.right(), bar.center().y()))
    return made


ENOUGH_WORDS = 12
LONGEST = 140
"""The maximum length of a response in a notification, in characters."""


@dataclass(slots=True)
class AnswerNotice:
    """Collects the words of a response for a notification.

    `apply` returns its text once per response, as soon as there are enough words or the response has ended. All other
    calls return an empty string.
    """

    _words: list[str] = field(default_factory=list)
    _told: bool = True

    def apply(self, event: e.Event) -> str:
        match event:
            case e.AssistantStarted():
                self._words, self._told = [], False
            case e.AssistantSaid(revision=revision) if revision:  # 0 is an opening, which isn't part of the response
                self._add(event)
                if len(self._words) >= ENOUGH_WORDS:
                    return self._tell(more=True)
            case e.AssistantEnded():
                return self._tell(more=False)
            case e.SessionEnded():
                self._words, self._told = [], True
        return ""

    def _add(self, said: e.AssistantSaid) -> None:
        words = said.text.split()
        if said.glued and words and self._words:
            self._words[-1] += words.pop(0)
        self._words += words

    def _tell(self, *, more: bool) -> str:
        if self._told or not self._words:
            return ""
        self._told = True
        text = " ".join(self._words)
        if len(text) > LONGEST:
            text = text[:LONGEST].rsplit(None, 1)[0]
            more = True
        return f"{text} …" if more else text


SHOWN_MS = 10_000
"""How long a notification is shown, unless the desktop overrides this."""


class Tray(QObject):
    """The tray icon. Emits the user's menu choices without acting on them. Its state must be set with `show_state` and
    `show_window`.
    """

    window_toggled = Signal()
    """Emitted when the user asks to show the window if it is hidden, or to hide it otherwise."""
    window_wanted = Signal()
    """Emitted when a notification is clicked, to request that the window be shown."""
    talk_toggled = Signal()
    """Emitted when the user asks to press the talk button, or to release it if it is pressed."""
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
        """Returns whether the desktop has a system tray. Some desktops only start theirs a while after login."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    @property
    def is_on(self) -> bool:
        """Whether the icon is shown."""
        return self.icon.isVisible()

    def set_on(self, on: bool) -> None:
        self.icon.setVisible(on)

    def show_window(self, shown: bool) -> None:
        """Updates the menu to offer to show or hide the window. `shown`: whether the window is visible."""
        self.window_action.setText(self.tr("&Hide KAME") if shown else self.tr("&Show KAME"))

    def show_state(self, word: Word, *, held: bool, muted: bool, can_talk: bool) -> None:
        """Shows the state of the conversation.

        - `held`: whether the talk button is pressed
        - `muted`: whether the microphone is muted
        - `can_talk`: whether the talk button can be pressed
        """
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
        """Shows a plain-text notification, unless the icon is hidden."""
        if self.is_on:
            self.icon.showMessage(title, plain(text), self.icon.icon(), SHOWN_MS)

    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.window_toggled.emit()


def plain(text: str) -> str:
    """Modifies a notification text so that no desktop interprets it as markup. Escaping isn't an option, because some
    desktops would display the entities literally.

    Angle brackets are replaced by similar quotation marks, and ampersands are followed by a word joiner.
    """
    return text.replace("<", "‹").replace(">", "›").replace("&", "&\u2060")
