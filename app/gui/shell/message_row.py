"""One message to the user: its sentence, how bad it is, how often it came, and what can be done about it.

Does nothing itself: says which button was pressed.
"""

from __future__ import annotations

import re
from typing import Literal

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
)
from PySide6.QtWidgets import QApplication, QHBoxLayout, QLabel, QMenu, QPushButton, QStyle, QWidget

from app.gui.widgets.palette import Look, blend
from app.session.control import BackendChoice

LONGEST = 480
"""Letters of a sentence that are shown; of a longer one the rest is in its tooltip."""

Level = Literal["error", "warning", "notice"]
"""`error`: something does not work; `warning`: it works, and not as it should; `notice`: nobody has to do anything,
so it goes by itself.
"""

_ICONS = {
    "error": QStyle.StandardPixmap.SP_MessageBoxCritical,
    "warning": QStyle.StandardPixmap.SP_MessageBoxWarning,
    "notice": QStyle.StandardPixmap.SP_MessageBoxInformation,
}
_BREAK = "\u200b"
"""Seen by nobody; a line may end here."""
_LONG_WORD = re.compile(r"\S{24,}")
_JOINT = re.compile(r"([/\\?&=._:,;@+-]+|\w{24})(?=\S)")


def reading_ms(sentence: str) -> int:
    """How long a notice stays: to be noticed, and to be read at an easy 150 words a minute."""
    return 4_000 + 400 * len(sentence.split())


def breakable(text: str) -> str:
    """The text with places to break its long words at: a path or an address is not to make the window wide."""
    return _LONG_WORD.sub(lambda word: _JOINT.sub(rf"\1{_BREAK}", word[0]), text)


class Sentence(QLabel):
    """Words that wrap wherever they have to, and can be copied as they were."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if len(text) > LONGEST:
            self.setToolTip(text)
            text = text[:LONGEST].rsplit(None, 1)[0] + " …"
        super().setText(breakable(text))

    def text(self) -> str:
        """The words."""
        return super().text().replace(_BREAK, "")

    def copy(self) -> None:
        """Puts what is selected on the clipboard; all of it, if nothing is."""
        QApplication.clipboard().setText(self.selectedText().replace(_BREAK, "") or self.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copies without the places to break at."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            event.accept()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offers to copy."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Copy")).triggered.connect(self.copy)
        menu.popup(event.globalPos())


class MessageRow(QWidget):
    """One sentence with its buttons."""

    closed = Signal()
    retried = Signal()
    backend_wanted = Signal()
    offer_taken = Signal()
    log_wanted = Signal()

    def __init__(
        self,
        sentence: str,
        retry: bool,
        backend: BackendChoice | None = None,
        secondary: bool = False,
        topic: str = "",
        offer: str = "",
        parent: QWidget | None = None,
        *,
        level: Level = "error",
        fault: bool = False,
    ) -> None:
        super().__init__(parent)
        self.sentence = sentence
        self.retry = retry
        self.backend = backend
        self.secondary = secondary
        self.topic = topic
        self.level: Level = level
        self.times = 1
        self.icon = QLabel(self)
        self.label = Sentence(sentence, self)
        self.count = QLabel(self)
        self.count.hide()
        self.retry_button = self._button(self.tr("Try again"), self.retried, shown=retry)
        self.backend_button = self._button(self.tr("Key and connection…"), self.backend_wanted, shown=False)
        self.backend_button.setAccessibleName(
            self.tr("Key and connection of the brain at the side")
            if secondary
            else self.tr("Key and connection of the brain")
        )
        self.offer_button = self._button(offer, self.offer_taken, shown=bool(offer))
        self.log_button = self._button(self.tr("Show log"), self.log_wanted, shown=fault)
        self.close_button = self._button(self.tr("Close"), self.closed)
        self.close_button.setAccessibleName(self.tr("Close this message"))
        self.close_button.setToolTip(self.tr("Close this message (Esc)"))
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 6, 6, 6)
        row.addWidget(self.icon, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addSpacing(2)
        row.addWidget(self.label, 1)
        for widget in (self.count, *self.buttons):
            row.addWidget(widget)
        self.reading = QTimer(self, singleShot=True)
        """Runs while a notice may be read, and is neither pointed at nor has the keyboard."""
        self._pointed = False
        self.set_level(level)

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        """From left to right; some are hidden."""
        return self.retry_button, self.backend_button, self.offer_button, self.log_button, self.close_button

    def set_level(self, level: Level) -> None:
        """How bad it is."""
        self.level = level
        self._draw_icon()
        self._name()
        self.update()

    def say_again(self) -> None:
        """The same has happened once more."""
        self.times += 1
        self.count.setText(self.tr("({0}×)").format(self.times))
        self.count.setToolTip(self.tr("This has happened {0} times.").format(self.times))
        self.count.show()
        self._name()
        self.stay(self.held)

    @property
    def held(self) -> bool:
        """Whether the user is at it: the pointer is on it, or the keyboard in it."""
        focus = QApplication.focusWidget()
        return self._pointed or (focus is not None and self.isAncestorOf(focus))

    def stay(self, held: bool) -> None:
        """Keeps a notice while somebody is at it; afterwards it may be read once more before it goes."""
        if held or not self.reading.interval():
            self.reading.stop()
        else:
            self.reading.start()

    def _button(self, text: str, signal: Signal, *, shown: bool = True) -> QPushButton:
        button = QPushButton(text, self)
        button.setAccessibleName(text)
        button.clicked.connect(signal)
        button.setVisible(shown)
        return button

    def _name(self) -> None:
        kinds = {"error": self.tr("Error"), "warning": self.tr("Warning"), "notice": self.tr("Notice")}
        self.setAccessibleName(self.sentence)
        times = self.tr("{0} times").format(self.times) if self.times > 1 else ""
        self.setAccessibleDescription(", ".join(filter(None, (kinds[self.level], times))))

    def _draw_icon(self) -> None:
        size = self.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize)
        self.icon.setPixmap(self.style().standardIcon(_ICONS[self.level]).pixmap(QSize(size, size)))

    # -- Qt's own events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape closes it, from any of its buttons."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    def enterEvent(self, event: QEnterEvent) -> None:
        """What is pointed at stays."""
        super().enterEvent(event)
        self._pointed = True
        self.stay(True)

    def leaveEvent(self, event: QEvent) -> None:
        """The pointer has gone on."""
        super().leaveEvent(event)
        self._pointed = False
        self.stay(self.held)

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's style."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "reading"):
            self._draw_icon()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a box in the level's colour, mixed from the palette of now."""
        look, ground = Look.of(self.palette()), self.palette().color(QPalette.ColorRole.Window)
        colour, share = {
            "error": (look.bad, 0.14),
            "warning": (look.warn, 0.18),
            "notice": (look.accent, 0.08),
        }[self.level]
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(blend(ground, QColor(colour), 0.35 if self.level == "notice" else 0.6), 1))
        painter.setBrush(blend(ground, QColor(colour), share))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.end()
