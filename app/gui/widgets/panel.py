"""What the window's dialogs share: they stand beside the talk, which goes on, and never block anything."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QPalette, QResizeEvent
from PySide6.QtWidgets import QApplication, QDialog, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from app.gui.widgets.palette import blend

NARROWEST_PX = 460


class Panel(QDialog):
    """A modeless dialog: a column of titled parts, with the buttons at its foot."""

    left = Signal()
    """It was closed, in whichever way."""

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
        """Shows it in front, and gives it the keyboard."""
        if self.isVisible():
            self.raise_()
        self._make_room()
        self.show()
        self.activateWindow()

    def entitle(self, title: str) -> None:
        """Names it."""
        self.setWindowTitle(title)
        self.setAccessibleName(title)

    def fit(self) -> None:
        """Makes it as high as what it shows now, at the width that it has; no lower than its user has made it."""
        if self.isVisible():
            layout = self.layout()
            self._make_room()
            height = layout.heightForWidth(self.width()) if layout.hasHeightForWidth() else layout.sizeHint().height()
            self._needed_height = height
            self.resize(self.width(), max(height, self._least_height))

    def _make_room(self) -> None:
        """Gets no narrower than what stands in it: other languages have longer words, and letters may be large."""
        self.layout().activate()
        if (needed := self.layout().minimumSize().width()) > self.minimumWidth():
            self.setMinimumWidth(needed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Notes which height the user gives it."""
        super().resizeEvent(event)
        # From the window system, which may also confirm what the app itself has asked for.
        if event.spontaneous() and self.height() != self._last_height:
            self._least_height = self.height() if self.height() > self._needed_height + 1 else 0
        self._last_height = self.height()

    def heading(self, text: str) -> QLabel:
        """Adds the title of a part."""
        if self.column.count():
            self.column.addSpacing(6)
        label = QLabel(text, self)
        font = label.font()
        font.setBold(True)
        label.setFont(font)
        self.column.addWidget(label)
        return label

    def foot(self, *buttons: QPushButton) -> None:
        """Adds the row of buttons, the first one the default."""
        row = QHBoxLayout()
        row.addStretch(1)
        for button in buttons:
            button.setAutoDefault(False)
            row.addWidget(button)
        buttons[0].setDefault(True)
        self.column.addSpacing(4)
        self.column.addLayout(row)

    def button(self, text: str, name: str = "") -> QPushButton:
        """A button that Enter in a text field does not press."""
        button = QPushButton(text, self)
        button.setAutoDefault(False)
        button.setAccessibleName(name or text.replace("&", ""))
        return button


class Quiet(QLabel):
    """Dimmed words that wrap; with `selectable`, they can be copied."""

    def __init__(self, text: str = "", parent: QWidget | None = None, *, selectable: bool = False) -> None:
        super().__init__(text, parent)
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        if selectable:
            flags = Qt.TextInteractionFlag
            self.setTextInteractionFlags(flags.TextSelectableByMouse | flags.TextSelectableByKeyboard)
        self._dim()

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's colours."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self._dim()

    def _dim(self) -> None:
        palette = QApplication.palette()
        ink, ground = palette.color(QPalette.ColorRole.WindowText), palette.color(QPalette.ColorRole.Window)
        palette.setColor(QPalette.ColorRole.WindowText, blend(ink, ground, 0.3))
        if palette.color(QPalette.ColorRole.WindowText) != self.palette().color(QPalette.ColorRole.WindowText):
            self.setPalette(palette)  # which says once more that the palette has changed
