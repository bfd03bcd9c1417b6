"""The mini window: the talk button, the latest words, a field for messages, the model with its menu, and three buttons.

The latest words fill as many lines as fit; earlier text is replaced by "…".
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractButton, QApplication, QSizePolicy, QWidget

from app.conversation.record.transcript import Turn
from app.gui.design.fonts import set_size
from app.gui.design.icons import IconButton
from app.gui.design.look import draw_rounded, painter_on
from app.gui.design.motion import timer
from app.gui.design.plain import PlainLabel, draw_words, elided, named
from app.gui.design.theme import tokens
from app.gui.models.current_model import ShownModel
from app.gui.models.model_pill import paint_dot
from app.gui.sound.talk_button import TalkButton
from app.gui.sound.talk_dock import MuteButton
from app.gui.transcript.composer import ComposerField
from app.gui.widgets.form import column, row

ELLIPSIS = "…"


class LastLines(PlainLabel):
    """A label that shows as many of the last lines of a text as fit, in a dimmed colour if `dim`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent=parent)
        self.dim = False
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def show_words(self, text: str, *, dim: bool) -> None:
        """Sets the text, with whitespace normalised, and whether it is dimmed."""
        words = " ".join(text.split())
        if (words, dim) != (self.text(), self.dim):
            self.dim = dim
            self.setText(words)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().lineSpacing())

    def lines(self) -> list[str]:
        """Returns the visible lines, from top to bottom."""
        text, wide = self.text(), max(1, self.width())
        layout = QTextLayout(text, self.font())
        layout.setTextOption(QTextOption(Qt.AlignmentFlag.AlignLeft))
        found: list[str] = []
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(wide)
            found.append(text[line.textStart() : line.textStart() + line.textLength()].strip())
        layout.endLayout()
        shown = found[-max(1, self.height() // self.fontMetrics().lineSpacing()) :]
        if len(shown) < len(found):
            before = f"{ELLIPSIS} {shown[0]}"
            shown[0] = elided(self.fontMetrics(), before, Qt.TextElideMode.ElideLeft, wide)
        return shown

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setPen(QColor(tokens().dim if self.dim else tokens().text))
            high = self.fontMetrics().lineSpacing()
            lines = self.lines()
            top = (self.height() - high * len(lines)) / 2
            for place, line in enumerate(lines):
                room = QRectF(0, top + place * high, self.width(), high)
                painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.TextFlag.TextSingleLine, line)


DOT_PX, GAP_PX = 8, 8


class ModelName(QAbstractButton):
    """A button with a model's name, elided if necessary, preceded by a dot in the model's colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model: ShownModel | None = None
        self.name = ""
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setToolTip(self.tr("Choose a model"))

    def sizeHint(self) -> QSize:
        return QSize(0, self.fontMetrics().height() + 4)

    def show_model(self, model: ShownModel) -> None:
        """Shows a model's name and colour."""
        self._model = model
        self.name = model.name
        self.setAccessibleName(self.tr("Model: {0}").format(model.name))
        self.update()

    def colour(self) -> QColor | None:
        """Returns the model's colour, or None if it has none yet."""
        return self._model.colour() if self._model is not None else None

    def paintEvent(self, event: QPaintEvent) -> None:
        with painter_on(self) as painter:
            if self._model is not None:
                paint_dot(painter, self._model, QRectF(0, (self.height() - DOT_PX) / 2, DOT_PX, DOT_PX))
            room = self.rect().adjusted(DOT_PX + GAP_PX, 0, 0, 0)
            colour = tokens().text if self.underMouse() or self.hasFocus() else tokens().dim
            draw_words(painter, room, self.tr("{0} ▾").format(self.name), QColor(colour))


MOST_LETTERS = 400
"""Number of characters shown, which is more than fit into the window."""

WIDTH_PX, HEIGHT_PX = 360, 156
USUAL_LINE_PX = 17
"""The line height that the window size is designed for. The window grows with larger text."""
EDGE_PX = 24
"""The initial distance from the edges of the screen."""
SETTLE_MS = 400
"""How long the window must be at rest before it is moved back onto the screen and its position is reported."""


class MiniWindow(QWidget):
    """A frameless window of fixed size, which the user can drag by its background. It is always kept on screen."""

    back_wanted = Signal()
    """Emitted when the user asks to return to the main window."""
    silence_wanted = Signal()
    send_wanted = Signal()
    """Emitted when the user sends what the field contains."""
    active_changed = Signal()
    """Emitted when the window gains or loses keyboard focus."""
    placed = Signal(QPoint)
    """Emits the window's new position in desktop coordinates, once it is no longer moving."""

    def __init__(self) -> None:
        flags = Qt.WindowType.Window | Qt.WindowType.FramelessWindowHint | Qt.WindowType.WindowStaysOnTopHint
        super().__init__(None, flags)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setWindowTitle(self.tr("KAME"))
        self.setAccessibleName(self.tr("Mini window"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.button = named(TalkButton(self, words=False), self.tr("Talk"))
        self.model = ModelName(self)
        self.words = LastLines(self)
        self.mute = MuteButton(self)
        self.silence = IconButton("square", self.tr("Stop speaking"), self, keys=self.tr("Esc"), size=16)
        self.back = IconButton("maximize-2", self.tr("Back to the window"), self, keys=self.tr("Enter"), size=16)
        self.silence.clicked.connect(self.silence_wanted)
        self.back.clicked.connect(self.back_wanted)
        self.field = named(ComposerField(self, most_lines=1), self.tr("Message"))
        self.field.setPlaceholderText(self.tr("Type a message"))
        self.field.returned.connect(self._send)
        self._grip: QPoint | None = None  # where the mouse button was pressed, relative to the window
        self._settled = timer(self, SETTLE_MS, self._settle)
        self._lay_out()
        self._fit()

    def _lay_out(self) -> None:
        unit = tokens().unit
        head = row((self.model, 1), self.mute, self.silence, self.back, spacing=unit)
        side = column(head, (self.words, 1), self.field, spacing=unit)
        margins = (2 * unit, 2 * unit, 3 * unit, 2 * unit)
        row(self.button, (side, 1), within=self, spacing=2 * unit, margins=margins)

    def _fit(self) -> None:
        set_size(self.words, "body")
        scale = max(1.0, self.fontMetrics().height() / USUAL_LINE_PX)
        self.setFixedSize(round(WIDTH_PX * scale), round(HEIGHT_PX * scale))

    # -- display

    def show_state(self, like: TalkButton, *, muted: bool, can_silence: bool) -> None:
        """Shows the same state as the button `like`.

        - `muted`: whether the session has muted the microphone
        - `can_silence`: whether there is a response to stop
        """
        self.button.show_state(like.word, like.text(), like.hint)
        self.button.setEnabled(like.isEnabled())
        self.mute.confirm(muted)
        self.silence.setVisible(can_silence)

    def show_words(self, turn: Turn | None) -> None:
        """Shows the latest words, those of `turn`; if there are none yet, the talk button's state and hint."""
        state = ", ".join(part for part in (self.button.text(), self.button.hint) if part)
        text = turn.text[-MOST_LETTERS:] if turn is not None else ""
        self.words.show_words(text or state, dim=turn is None or turn.speaker == "user")

    def _send(self) -> None:
        """Sends the message; without one, Enter returns to the main window."""
        (self.send_wanted if self.field.text().strip() else self.back_wanted).emit()

    # -- placement

    def show_at(self, place: QPoint | None, beside: QWidget) -> None:
        """Shows the window at `place`; if that is None, in the bottom right corner of the screen with `beside`."""
        if place is None:
            room = beside.screen().availableGeometry()
            place = room.bottomRight() - QPoint(self.width() + EDGE_PX, self.height() + EDGE_PX)
        self.move(self._on_screen(place))
        self.show()
        self.raise_()
        self.activateWindow()
        self.field.setFocus()

    def _on_screen(self, place: QPoint) -> QPoint:
        """Returns the position closest to `place` at which the window is entirely on a screen."""
        screen = QGuiApplication.screenAt(QRect(place, self.size()).center()) or self.screen()
        room = screen.availableGeometry()
        right, bottom = room.right() + 1 - self.width(), room.bottom() + 1 - self.height()
        return QPoint(max(room.left(), min(place.x(), right)), max(room.top(), min(place.y(), bottom)))

    def _settle(self) -> None:
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
            self._settled.start()  # still being dragged
            return
        self.move(self._on_screen(self.pos()))
        self.placed.emit(self.pos())

    # -- Qt events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._grip = event.position().toPoint()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drags the window, delegating this to the window system if possible. On Wayland, there is no other way."""
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
        """Stops the response on Escape, and returns to the main window on Enter. `KeyRouting` handles the space bar."""
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
        """Requests a return to the main window instead of quitting, which only closing the main window does."""
        super().closeEvent(event)
        self.back_wanted.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a rounded background with a thin edge."""
        shown = tokens()
        with painter_on(self) as painter:
            fill, edge = QColor(shown.raised), QColor(shown.frame)
            draw_rounded(painter, self.rect(), shown.card_radius, inset=0.5, fill=fill, edge=edge)
