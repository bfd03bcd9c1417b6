"""Sentences for the user above the talk: what happened, with a way to close it and to try again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAccessible, QAccessibleEvent, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStyle, QVBoxLayout, QWidget

from app.gui.choice import MODELLED
from app.gui.look import Look, blend
from app.session.control import BackendChoice

MOST = 3


class MessageRow(QWidget):
    """One sentence with its buttons."""

    closed = Signal()
    retried = Signal()
    brain_wanted = Signal()
    offer_taken = Signal()

    def __init__(
        self,
        sentence: str,
        retry: bool,
        brain: BackendChoice | None = None,
        aside: bool = False,
        topic: str = "",
        offer: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.sentence = sentence
        self.retry = retry
        self.brain = brain
        self.aside = aside
        self.topic = topic
        self.setAccessibleName(sentence)
        icon = QLabel()
        size = self.style().pixelMetric(QStyle.PixelMetric.PM_SmallIconSize)
        warning = self.style().standardIcon(QStyle.StandardPixmap.SP_MessageBoxWarning)
        icon.setPixmap(warning.pixmap(size, size))
        self.label = QLabel(sentence)
        self.label.setTextFormat(Qt.TextFormat.PlainText)
        self.label.setWordWrap(True)
        self.label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 6, 6, 6)
        row.addWidget(icon, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.label, 1)
        self.retry_button = QPushButton(self.tr("Try again"))
        self.retry_button.setAccessibleName(self.tr("Try again"))
        self.retry_button.clicked.connect(self.retried)
        self.retry_button.setVisible(retry)
        row.addWidget(self.retry_button)
        self.brain_button = QPushButton(self.tr("Key and connection…"))
        self.brain_button.setAccessibleName(
            self.tr("Key and connection of the brain at the side") if aside
            else self.tr("Key and connection of the brain")
        )  # fmt: skip
        self.brain_button.clicked.connect(self.brain_wanted)
        self.brain_button.setVisible(False)
        row.addWidget(self.brain_button)
        self.offer_button = QPushButton(offer)
        self.offer_button.setAccessibleName(offer)
        self.offer_button.clicked.connect(self.offer_taken)
        self.offer_button.setVisible(bool(offer))
        row.addWidget(self.offer_button)
        self.close_button = QPushButton(self.tr("Close"))
        self.close_button.setAccessibleName(self.tr("Close this message"))
        self.close_button.clicked.connect(self.closed)
        row.addWidget(self.close_button)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a box in a warning colour, mixed from the palette of now."""
        look, ground = Look.of(self.palette()), self.palette().color(QPalette.ColorRole.Window)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(blend(ground, look.warn, 0.6), 1))
        painter.setBrush(blend(ground, look.warn, 0.18))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), 6, 6)
        painter.end()


class MessageBar(QWidget):
    """At most a few messages, the newest at the bottom; the same sentence is never shown twice.

    A message with a topic takes the place of the one before it on that topic and that side.
    """

    retried = Signal()
    brain_wanted = Signal(object, bool)
    """The user wants to see about the `BackendChoice` that a message is about; whether it is the one at the side."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.with_desk = False
        """Whether there is a dialog for brains, to lead to."""
        self.rows: list[MessageRow] = []
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(4)
        self.hide()

    def say(
        self,
        sentence: str,
        retry: bool = False,
        brain: BackendChoice | None = None,
        aside: bool = False,
        topic: str = "",
        offer: tuple[str, Callable[[], None]] | None = None,
    ) -> None:
        """Shows a sentence; with `retry`, a button to try again; with `brain`, one that leads to the brain that was
        refused, the one at the side if `aside`; with `offer`, a button with these words that does this.
        """
        for row in self.rows:
            if (row.sentence, row.retry, row.brain, row.aside) == (sentence, retry, brain, aside):
                return
        if topic:
            self._drop_all(row for row in self.rows if (row.topic, row.aside) == (topic, aside))
        if len(self.rows) >= MOST:
            # What can still be acted on stays longest.
            self._drop(next((row for row in self.rows if not row.retry), self.rows[0]))
        row = MessageRow(sentence, retry, brain, aside, topic, offer[0] if offer is not None else "", self)
        if offer is not None:
            row.offer_taken.connect(offer[1])
        row.brain_button.setVisible(self.with_desk and brain is not None and brain.provider in MODELLED)
        row.brain_wanted.connect(lambda: self.brain_wanted.emit(brain, aside))
        row.closed.connect(lambda: self._drop(row))
        row.retried.connect(self.retried)
        self.rows.append(row)
        self._layout.addWidget(row)
        self.show()
        QAccessible.updateAccessibility(QAccessibleEvent(row, QAccessible.Event.Alert))

    def sentences(self) -> list[str]:
        """What is shown."""
        return [row.sentence for row in self.rows]

    def clear_retries(self) -> None:
        """Takes away what has been got over by a fresh start."""
        self._drop_all(row for row in self.rows if row.retry)

    def clear_refusals(self, *, aside: bool = False) -> None:
        """Takes away what brains were refused for, on one side: another one has been taken there since."""
        self._drop_all(row for row in self.rows if row.brain is not None and row.aside == aside)

    def clear_topic(self, topic: str) -> None:
        """Takes away what was said on a topic: it has been got over."""
        self._drop_all(row for row in self.rows if row.topic == topic)

    def clear_talk(self) -> None:
        """Takes away what was said about the last talk; the hotkeys are there without any."""
        self._drop_all(row for row in self.rows if row.topic not in ("", "hotkey"))

    def _drop_all(self, rows: Iterable[MessageRow]) -> None:
        for row in list(rows):
            self._drop(row)

    def _drop(self, row: MessageRow) -> None:
        if row in self.rows:
            self.rows.remove(row)
            self._layout.removeWidget(row)
            row.hide()
            row.deleteLater()
        if not self.rows:
            self.hide()
