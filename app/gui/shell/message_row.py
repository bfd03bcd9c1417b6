"""A single message to the user, with its text, level, count and buttons."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QEnterEvent,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QApplication, QBoxLayout, QMenu, QPushButton, QStyle, QWidget

from app.gui.design.look import Look, blend, draw_rounded, painter_on
from app.gui.design.plain import PlainLabel, named, set_tip
from app.gui.widgets.form import row

LONGEST = 480
"""Maximum number of characters shown of a message. The full text of a longer one is in its tooltip."""

Level = Literal["error", "warning", "notice"]
"""The severity of a message.

- `error`: something doesn't work
- `warning`: something works, but not as intended
- `notice`: no action is needed; the message disappears automatically unless it has an offer
"""

_ICONS = {
    "error": QStyle.StandardPixmap.SP_MessageBoxCritical,
    "warning": QStyle.StandardPixmap.SP_MessageBoxWarning,
    "notice": QStyle.StandardPixmap.SP_MessageBoxInformation,
}
_BREAK = "\u200b"
"""Zero-width space, which allows a line break."""
_LONG_WORD = re.compile(r"\S{24,}")
_JOINT = re.compile(r"([/\\?&=._:,;@+-]+|\w{24})(?=\S)")


def reading_ms(sentence: str) -> int:
    """Returns the display time of a notice: 4 s to notice it, plus reading time at a leisurely 150 words per minute."""
    return 4_000 + 400 * len(sentence.split())


def breakable(text: str) -> str:
    """Inserts zero-width spaces into long words, so that a path or URL doesn't widen the window."""
    return _LONG_WORD.sub(lambda word: _JOINT.sub(rf"\1{_BREAK}", word[0]), text)


class Sentence(PlainLabel):
    """A label that wraps even long words, using zero-width spaces that are omitted from copied text."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.setWordWrap(True)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        if len(text) > LONGEST:
            set_tip(self, text)
            text = text[:LONGEST].rsplit(None, 1)[0] + " …"
        super().setText(breakable(text))

    def text(self) -> str:
        """Returns the displayed text without the zero-width spaces."""
        return super().text().replace(_BREAK, "")

    def copy(self) -> None:
        """Copies the selection, or the whole text if nothing is selected."""
        QApplication.clipboard().setText(self.selectedText().replace(_BREAK, "") or self.text())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handles the Copy shortcut."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
            event.accept()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Opens a menu with a Copy command."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Copy")).triggered.connect(self.copy)
        menu.popup(event.globalPos())


@dataclass(frozen=True, slots=True)
class Offer:
    """A button of a message. `does` is called when it is clicked. `name`: what a screen reader says, if not `text`."""

    text: str
    does: Callable[[], object]
    name: str = ""


class MessageRow(QWidget):
    """A row that shows a message. `topic`: see `MessageBar.say`."""

    closed = Signal()

    def __init__(
        self, sentence: str, offers: Sequence[Offer], level: Level, topic: str, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.sentence = sentence
        self.topic = topic
        self.level: Level = level
        self.times = 1
        self.icon = PlainLabel(parent=self)
        self.label = Sentence(sentence, self)
        self.count = PlainLabel(parent=self)
        self.count.hide()
        self.offers = tuple(self._button(offer.text, offer.does, offer.name) for offer in offers)
        self.close_button = self._button(self.tr("Close"), self.closed.emit, self.tr("Close this message"))
        self.close_button.setToolTip(self.tr("Close this message (Esc)"))
        icon = (self.icon, 0, Qt.AlignmentFlag.AlignVCenter)
        self._foot = row(None, *self.buttons)
        head = row(icon, 2, (self.label, 1), self.count)
        self._layout = row((head, 1), self._foot, within=self, margins=(10, 6, 6, 6))
        self.reading = QTimer(self, singleShot=True)
        """Runs until a notice is considered read. Stopped while the row is `held`."""
        self._pointed = False
        self.set_level(level)

    @property
    def buttons(self) -> tuple[QPushButton, ...]:
        """All buttons from left to right."""
        return *self.offers, self.close_button

    def set_level(self, level: Level) -> None:
        """Sets the level, which determines the icon and colour."""
        self.level = level
        self._update_icon()
        self._update_names()
        self.update()

    def count_again(self) -> None:
        """Increments the count of a repeated message."""
        self.times += 1
        self.count.setText(self.tr("({0}×)").format(self.times))
        set_tip(self.count, self.tr("This has happened {0} times.").format(self.times))
        self.count.show()
        self._update_names()
        self.restart_reading()

    @property
    def held(self) -> bool:
        """Whether the pointer or the keyboard focus is in this row."""
        focus = QApplication.focusWidget()
        return self._pointed or (focus is not None and self.isAncestorOf(focus))

    def restart_reading(self) -> None:
        """Restarts the `reading` timer of a notice, or stops it while the row is `held`."""
        if self.held or not self.reading.interval():
            self.reading.stop()
        else:
            self.reading.start()

    def _button(self, text: str, does: Callable[[], object], name: str) -> QPushButton:
        button = named(QPushButton(text, self), name or text)
        button.clicked.connect(lambda: does())
        return button

    def _update_names(self) -> None:
        kinds = {"error": self.tr("Error"), "warning": self.tr("Warning"), "notice": self.tr("Notice")}
        self.setAccessibleName(self.sentence)
        times = self.tr("{0} times").format(self.times) if self.times > 1 else ""
        self.setAccessibleDescription(", ".join(filter(None, (kinds[self.level], times))))

    def _update_icon(self) -> None:
        size = self.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize)
        self.icon.setPixmap(self.style().standardIcon(_ICONS[self.level]).pixmap(QSize(size, size)))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Closes the message on Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
            event.accept()
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Moves the buttons below the sentence if it needs more room, and would have less than half the width."""
        super().resizeEvent(event)
        room = self.width() - self._foot.sizeHint().width()
        wanted = min(self.width() // 2, self.label.fontMetrics().horizontalAdvance(self.sentence))
        ways = QBoxLayout.Direction
        self._layout.setDirection(ways.LeftToRight if room >= wanted else ways.TopToBottom)

    def enterEvent(self, event: QEnterEvent) -> None:
        """Stops the `reading` timer while the pointer is over the message."""
        super().enterEvent(event)
        self._pointed = True
        self.restart_reading()

    def leaveEvent(self, event: QEvent) -> None:
        """Restarts the `reading` timer."""
        super().leaveEvent(event)
        self._pointed = False
        self.restart_reading()

    def changeEvent(self, event: QEvent) -> None:
        """Updates the icon when the style changes."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange and hasattr(self, "reading"):
            self._update_icon()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a box in the level's colour."""
        look, ground = Look.of(self.palette()), self.palette().color(QPalette.ColorRole.Window)
        shades = {"error": (look.bad, 0.14), "warning": (look.warn, 0.18), "notice": (look.accent, 0.08)}
        colour, share = shades[self.level]
        with painter_on(self) as painter:
            edge = blend(ground, QColor(colour), 0.35 if self.level == "notice" else 0.6)
            draw_rounded(painter, self.rect(), 6, inset=0.5, fill=blend(ground, QColor(colour), share), edge=edge)
