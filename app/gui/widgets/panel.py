"""The base class of the window's dialogs, modeless so that they never block a conversation, and their labels."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import QApplication, QDialog, QFrame, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.gui.design.fonts import embolden
from app.gui.design.look import Dressed, Look, blend, draw_rounded, painter_on
from app.gui.design.plain import OnClick, PlainLabel, connect_click, draw_words, named
from app.gui.design.theme import tokens

NARROWEST_PX = 460
LEAST_LABEL_PX = 24


class Panel(QDialog):
    """Base class of modeless dialogs that consist of a column of titled sections, with buttons at the bottom."""

    left = Signal()
    """Emitted when the dialog is closed in any way."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setModal(False)
        self.setMinimumWidth(NARROWEST_PX)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(16, 14, 16, 14)
        self.column.setSpacing(8)
        self.finished.connect(lambda _: self.left.emit())
        self._needed_height = self._least_height = self._last_height = 0

    def appear(self) -> None:
        """Shows the dialog, raises it and gives it focus."""
        if self.isVisible():
            self.raise_()
        self._make_room()
        self.show()
        QTimer.singleShot(0, self, self._make_room)  # sizes are final only once the style is applied
        self.activateWindow()

    def set_panel_title(self, title: str) -> None:
        """Sets the window title and the accessible name."""
        self.setWindowTitle(title)
        self.setAccessibleName(title)

    def fit(self) -> None:
        """Adjusts the height to the content at the current width, but not below a height chosen by the user."""
        if self.isVisible():
            layout = self.column
            QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)  # lay out what is nested in it first
            self._make_room()
            height = layout.heightForWidth(self.width()) if layout.hasHeightForWidth() else layout.sizeHint().height()
            self._needed_height = height
            self.resize(self.width(), max(height, self._least_height))

    def _make_room(self) -> None:
        """Increases the minimum width to fit the content, which depends on language and font."""
        self.column.invalidate()
        self.column.activate()
        if (needed := self.column.minimumSize().width()) > self.minimumWidth():
            self.setMinimumWidth(needed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Remembers the height if the user has changed it."""
        super().resizeEvent(event)
        # Spontaneous events come from the window system, but they may also confirm a size that the app has requested.
        if event.spontaneous() and self.height() != self._last_height:
            self._least_height = self.height() if self.height() > self._needed_height + 1 else 0
        self._last_height = self.height()

    def heading(self, text: str) -> PlainLabel:
        """Adds a section title."""
        if self.column.count():
            self.column.addSpacing(6)
        label = PlainLabel(text, self)
        embolden(label)
        self.column.addWidget(label)
        return label

    def foot(self, *buttons: QPushButton) -> None:
        """Adds the row of buttons at the bottom. The first one becomes the default button."""
        row = QHBoxLayout()
        row.addStretch(1)
        for button in buttons:
            button.setAutoDefault(False)
            row.addWidget(button)
        buttons[0].setDefault(True)
        self.column.addSpacing(4)
        self.column.addLayout(row)

    def button(self, text: str, name: str = "", does: OnClick | None = None) -> QPushButton:
        """Returns a button that isn't triggered by Enter in a text field.

        `name` is its accessible name, by default `text`. `does` is called or emitted on a click.
        """
        button = named(QPushButton(text, self), name or text.replace("&", ""))
        button.setAutoDefault(False)
        connect_click(button, does)
        return button


class Quiet(Dressed, PlainLabel):
    """A dimmed label with word wrap. If `selectable`, its text can be selected and copied."""

    dressed_by = (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange)

    def __init__(
        self, text: str = "", parent: QWidget | None = None, *, name: str = "", selectable: bool = False
    ) -> None:
        super().__init__(text, parent)
        self.setWordWrap(True)
        self.setAccessibleName(name)
        if selectable:
            flags = Qt.TextInteractionFlag
            self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self._dress()

    def ink(self) -> QColor:
        """Returns the text colour for the current theme."""
        palette = QApplication.palette()
        ink, ground = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)
        return blend(ink, ground, 0.3)

    def _dress(self) -> None:
        palette = QApplication.palette()
        palette.setColor(QPalette.ColorRole.WindowText, self.ink())
        if palette.color(QPalette.ColorRole.WindowText) != self.palette().color(QPalette.ColorRole.WindowText):
            self.setPalette(palette)  # triggers another palette change event


class Trouble(Quiet):
    """A label for errors and warnings."""

    def ink(self) -> QColor:
        return QColor(tokens().bad)


class ElidedLabel(PlainLabel):
    """One line of plain text, truncated with "…" if it doesn't fit; in a dimmed colour if `dim`.

    The owner is responsible for setting a tooltip.
    """

    def __init__(self, text: str = "", parent: QWidget | None = None, *, dim: bool = False) -> None:
        super().__init__(text, parent)
        self._dim = dim
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST_LABEL_PX, super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        palette = QApplication.palette(self)
        ink, ground = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)
        with QPainter(self) as painter:
            colour = blend(ink, ground, 0.3) if self._dim else ink
            flags = self.alignment() | Qt.AlignmentFlag.AlignVCenter
            draw_words(painter, self.rect(), self.text(), colour, flags=flags)


class Boxed(QFrame):
    """A column of widgets on a rounded background, in the accent colour if `live`."""

    def __init__(self, parent: QWidget, *, live: bool = False) -> None:
        super().__init__(parent)
        self.live = live
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(14, 10, 14, 10)
        self.column.setSpacing(4)

    def paintEvent(self, event: QPaintEvent) -> None:
        look = Look.of(self.palette())
        edge = look.line if tokens().scheme == "contrast" else look.plain_card
        with painter_on(self) as painter:
            fill = look.live_card if self.live else look.plain_card
            draw_rounded(painter, self.rect(), 8, inset=1, fill=fill, edge=look.accent if self.live else edge)
