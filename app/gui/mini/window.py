"""The mini window: the talk button, the words that were said last, the model's name, and three buttons."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QApplication, QHBoxLayout, QVBoxLayout, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.icon_button import IconButton
from app.gui.design.theme import tokens
from app.gui.mini.lines import LastLines
from app.gui.mini.model_name import ModelName
from app.gui.mini.words import LastWords
from app.gui.sound.mute_button import MuteButton
from app.gui.sound.talk_button import TalkButton

WIDTH_PX, HEIGHT_PX = 360, 120
USUAL_LINE_PX = 17
"""The line height for which the size is meant; it grows with larger text."""
EDGE_PX = 24
"""From the corner of the screen, before it was moved."""
SETTLE_MS = 400
"""It is put back onto the screen once it was not moved for so long."""


class MiniWindow(QWidget):
    """A frameless window of a fixed size. The user drags it anywhere on its ground, and it stays on the screen."""

    back_wanted = Signal()
    """The user wants the main window again."""
    silence_wanted = Signal()
    active_changed = Signal()
    """It has got the keyboard, or lost it."""
    placed = Signal(QPoint)
    """It was moved to this place, in the desktop's coordinates."""

    def __init__(self) -> None:
        flags = Qt.WindowType.Window | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint
        super().__init__(None, flags)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setWindowTitle(self.tr("KAME"))
        self.setAccessibleName(self.tr("Mini window"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.button = TalkButton(self, words=False)
        self.button.setAccessibleName(self.tr("Talk"))
        self.model = ModelName(self)
        self.words = LastLines(self)
        self.mute = MuteButton(self)
        self.silence = IconButton("square", self.tr("Stop speaking"), self, keys=self.tr("Esc"), size=16)
        self.back = IconButton("maximize-2", self.tr("Back to the window"), self, keys=self.tr("Enter"), size=16)
        self.silence.clicked.connect(self.silence_wanted)
        self.back.clicked.connect(self.back_wanted)
        self._grip: QPoint | None = None  # from the window's corner to where the mouse was pressed on it
        self._settled = QTimer(self, singleShot=True, interval=SETTLE_MS)
        self._settled.timeout.connect(self._settle)
        self._lay_out()
        self._fit()

    def _lay_out(self) -> None:
        unit = tokens().unit
        head = QHBoxLayout()
        head.setSpacing(unit)
        head.addWidget(self.model, 1)
        for button in (self.mute, self.silence, self.back):
            head.addWidget(button)
        column = QVBoxLayout()
        column.setSpacing(unit)
        column.addLayout(head)
        column.addWidget(self.words, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(2 * unit, 2 * unit, 3 * unit, 2 * unit)
        row.setSpacing(2 * unit)
        row.addWidget(self.button)
        row.addLayout(column, 1)

    def _fit(self) -> None:
        set_size(self.words, "body")
        scale = max(1.0, self.fontMetrics().height() / USUAL_LINE_PX)
        self.setFixedSize(round(WIDTH_PX * scale), round(HEIGHT_PX * scale))

    # -- what it shows

    def show_state(self, like: TalkButton, *, muted: bool, can_silence: bool) -> None:
        """Shows the state as the button `like` does. `muted`: the session has muted the microphone."""
        self.button.show_state(like.word, like.text(), like.hint)
        self.button.setEnabled(like.isEnabled())
        self.mute.confirm(muted)
        self.silence.setVisible(can_silence)

    def show_words(self, words: LastWords) -> None:
        """Shows what was said last or, before the first words, what to do."""
        state = ", ".join(part for part in (self.button.text(), self.button.hint) if part)
        self.words.show_words(words.text or state, dim=not words.text or words.speaker == "user")

    # -- its place

    def show_at(self, place: QPoint | None, beside: QWidget) -> None:
        """Shows itself at `place` or, without one, in the corner of the screen on which `beside` is."""
        if place is None:
            room = beside.screen().availableGeometry()
            place = room.bottomRight() - QPoint(self.width() + EDGE_PX, self.height() + EDGE_PX)
        self.move(self._on_screen(place))
        self.show()
        self.raise_()
        self.activateWindow()
        self.setFocus()

    def _on_screen(self, place: QPoint) -> QPoint:
        """The nearest place at which all of it is on a screen."""
        screen = QGuiApplication.screenAt(QRect(place, self.size()).center()) or self.screen()
        room = screen.availableGeometry()
        right, bottom = room.right() + 1 - self.width(), room.bottom() + 1 - self.height()
        return QPoint(max(room.left(), min(place.x(), right)), max(room.top(), min(place.y(), bottom)))

    def _settle(self) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self._settled.start()  # it is still being dragged
            return
        self.move(self._on_screen(self.pos()))
        self.placed.emit(self.pos())

    # -- Qt's own events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._grip = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drags it; the system does so where it can, which is the only way on Wayland."""
        if self._grip is None:
            return
        moved = event.position().toPoint() - self._grip
        if moved.manhattanLength() < QApplication.startDragDistance():
            return
        if self.windowHandle().startSystemMove():
            self._grip = None
        else:
            self.move(self._on_screen(self.pos() + moved))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._grip = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self.back_wanted.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape silences the answer, Enter leads back. The space bar talks: see `KeyRouting`."""
        if event.key() == Qt.Key.Key_Escape:
            if not self.silence.isHidden():
                self.silence_wanted.emit()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.back_wanted.emit()
        else:
            super().keyPressEvent(event)

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        if self.isVisible():
            self._settled.start()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit()
            self.move(self._on_screen(self.pos()))
        elif event.type() == QEvent.Type.ActivationChange:
            self.active_changed.emit()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Only the main window ends the app: to close this one leads back to it."""
        super().closeEvent(event)
        self.back_wanted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """A rounded ground with a thin edge."""
        shown = tokens()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(QColor(shown.raised))
        painter.setPen(QPen(QColor(shown.outline if shown.scheme == "contrast" else shown.line), 1))
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(box, shown.card_radius, shown.card_radius)
        painter.end()
