"""The documents of a conversation, shown as chips above the composer."""

from __future__ import annotations

import math
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QScrollArea, QSizePolicy, QWidget

from app.conversation.events import ConversationConfigured
from app.conversation.prompt import LONG_DOCUMENT_BYTES, Document, given_words
from app.conversation.record.record import Change
from app.gui.design.icons import IconButton, paint_icon
from app.gui.design.look import Dressed, draw_rounded, painter_on
from app.gui.design.plain import PlainLabel, set_tip
from app.gui.design.theme import tokens
from app.gui.state.session_model import SessionModel
from app.gui.widgets.form import fill_area, row
from app.gui.widgets.panel import ElidedLabel

ICON_PX, ROUND_PX, GAP_PX, WIDEST_PX = 16, 8, 8, 320
MOST_ROWS = 2
LEAST_LETTERS = 10
"""Minimum number of characters of a long name that remain visible."""


class DocumentChip(QWidget):
    """A document's name and size, and a button to remove it. `given`: how many of its words the model receives."""

    removed = Signal()

    def __init__(self, document: Document, given: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.name = ElidedLabel(document.name, self)
        words = self.locale().toString(document.words)
        self.size_label = PlainLabel(
            self.tr("1 word") if document.words == 1 else self.tr("{0} words").format(words), self
        )
        self.remove = IconButton("x", self.tr("Remove {0}").format(document.name), self, size=14, does=self.removed)
        parts = (self.name, self.size_label, self.remove)
        row(*parts, within=self, spacing=8, margins=(ICON_PX + 16, 0, 0, 0), stretch=0)
        self.setMaximumWidth(WIDEST_PX)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.show_given(given)

    def show_given(self, given: int) -> None:
        """Updates the tooltip and accessible description, which state how much of the document the model receives."""
        total, locale = self.document.words, self.locale()
        if given < total:
            about = self.tr("The model gets only the first {0} of {1} words: it can't read more at once.").format(
                locale.toString(given), locale.toString(total)
            )
        else:
            about = self.tr("The model gets all of it.")
        self.remove.setAccessibleDescription(f"{self.size_label.text()}. {about}")
        set_tip(self, f"{self.document.name}\n{about}", wrap=True)
        set_tip(self.remove, self.remove.accessibleName(), wrap=True)

    def paintEvent(self, event: QPaintEvent) -> None:
        shown = tokens()
        with painter_on(self) as painter:
            outlined = shown.scheme == "contrast"
            edge = QColor(shown.line) if outlined else None
            draw_rounded(painter, self.rect(), ROUND_PX, inset=0.5, fill=QColor(shown.sunken), edge=edge)
            left = 8 if self.layoutDirection() == Qt.LayoutDirection.LeftToRight else self.width() - ICON_PX - 8
            place = QRectF(left, (self.height() - ICON_PX) / 2, ICON_PX, ICON_PX)
            paint_icon(painter, "file-text", QColor(shown.text), place)


class DocumentChips(Dressed, QScrollArea):
    """Rows of `DocumentChip`s that scroll if there are more than two. Hidden if there are no documents."""

    dressed_by = (QEvent.Type.FontChange, QEvent.Type.StyleChange)

    remove_wanted = Signal(int)
    """Emits the index of the document to remove."""

    def __init__(self, model: SessionModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.chips: list[DocumentChip] = []
        self.setAccessibleName(self.tr("Documents of the conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # only the buttons receive focus; they are then scrolled into view
        self._inner = QWidget(self)
        fill_area(self, self._inner)
        self._grid = QGridLayout(self._inner)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(GAP_PX)
        self._columns = 0
        self.hide()
        model.follow(self._take)

    def _take(self, change: Change) -> None:
        if isinstance(change.event, ConversationConfigured) and self._model.in_view:
            self.show_given(change.event.given)

    def show_documents(self, documents: Sequence[Document]) -> None:
        """Replaces the chips with one for each document. If a chip had focus, its replacement receives it."""
        had_focus = next((n for n, chip in enumerate(self.chips) if chip.remove.hasFocus()), -1)
        for chip in self.chips:
            self._grid.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        given = given_words(documents, LONG_DOCUMENT_BYTES)
        shown = zip(documents, given, strict=True)
        self.chips = [DocumentChip(document, words, self._inner) for document, words in shown]
        for place, chip in enumerate(self.chips):
            chip.removed.connect(lambda place=place: self.remove_wanted.emit(place))
            chip.remove.installEventFilter(self)
            chip.show()
        self._columns = 0
        self._dress()
        self.setVisible(bool(self.chips))
        if had_focus >= 0 and self.chips:
            self.chips[min(had_focus, len(self.chips) - 1)].remove.setFocus()

    def show_given(self, given: Sequence[int]) -> None:
        """Shows how many words of each document the model receives. No-op if the number of documents doesn't match."""
        if len(given) == len(self.chips):
            for chip, words in zip(self.chips, given, strict=True):
                chip.show_given(words)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Scrolls a button into view when it receives focus."""
        if event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            self.ensureWidgetVisible(watched, 0, 0)
        return super().eventFilter(watched, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._dress()

    def _dress(self) -> None:
        """Arranges the chips in rows, with as many per row as possible without hiding `LEAST_LETTERS` of any name."""
        if not self.chips:
            return
        letters = LEAST_LETTERS * self.fontMetrics().averageCharWidth()
        least = max(chip.minimumSizeHint().width() for chip in self.chips) + letters + GAP_PX
        columns = max(1, min(len(self.chips), (self.width() + GAP_PX) // least))
        rows = min(MOST_ROWS, math.ceil(len(self.chips) / columns))
        self.setFixedHeight(rows * (self.chips[0].sizeHint().height() + GAP_PX) - GAP_PX)
        if columns == self._columns:
            return
        for column in range(self._grid.columnCount()):
            self._grid.setColumnStretch(column, 0)
        for place, chip in enumerate(self.chips):
            self._grid.addWidget(chip, place // columns, place % columns)
        self._grid.setColumnStretch(columns, 1)  # aligns the chips to the leading edge
        self._columns = columns
