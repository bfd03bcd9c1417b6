"""A scrolling column of text cards that can be selected and copied, and changed one at a time.

Each card is two paragraphs of one text document, a head and a body, with a rounded box painted behind
them. A change touches only the letters that differ. Knows nothing of talks or revisions.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFont,
    QFontMetricsF,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QTextBlock,
    QTextCharFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QFrame, QTextEdit, QWidget

from app.gui.card import GAP, PAD, ROUND, Card, Run, block_formats, text_formats
from app.gui.look import Look

COLUMN_PX = 860.0


class CardView(QTextEdit):
    """Shows cards by their place. `newest_first` decides which end stays in view."""

    _kinds: dict[str, QTextCharFormat] = {}

    def __init__(self, *, newest_first: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards: list[Card] = []
        self.edits = 0
        """How often a card was written; what didn't change must not cost anything."""
        self.empty_text = ""
        """What stands in the middle while there is no card."""
        self._newest_first = newest_first
        self._look = Look.of(self.palette())
        self.setReadOnly(True)
        self.setUndoRedoEnabled(False)
        self.setTabChangesFocus(True)
        self.setTextInteractionFlags(
            Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
        )
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.document().setDocumentMargin(0)
        self._kinds = text_formats(self._look, self.font())

    # -- changing cards

    def insert_card(self, place: int, card: Card) -> None:
        """Puts a card before the one that is at `place` now."""
        card = card.clean()
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if not self.cards:
            cursor.insertBlock()  # an empty document has one paragraph already
        else:
            if place < len(self.cards):
                cursor.setPosition(self._block(place, 0).position())
            else:
                cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertBlock()
            cursor.insertBlock()
        self.cards.insert(place, Card((), (), ""))
        self._write(place, card)
        cursor.endEditBlock()

    def set_card(self, place: int, card: Card) -> None:
        """Shows `card` at `place`; costs nothing when it is there already."""
        card = card.clean()
        if self.cards[place] != card:
            self._write(place, card)

    def remove_card(self, place: int) -> None:
        """Takes the card at `place` out."""
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        last = place == len(self.cards) - 1
        if last and place:
            cursor.setPosition(self._block(place - 1, 1).position() + self._block(place - 1, 1).length() - 1)
            cursor.movePosition(QTextCursor.MoveOperation.End, QTextCursor.MoveMode.KeepAnchor)
        elif last:
            cursor.select(QTextCursor.SelectionType.Document)
        else:
            cursor.setPosition(self._block(place, 0).position())
            cursor.setPosition(self._block(place + 1, 0).position(), QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        del self.cards[place]
        if place < len(self.cards):
            self._format_blocks(place, self.cards[place])
        cursor.endEditBlock()

    def clear_cards(self) -> None:
        """Takes all cards out."""
        self.document().clear()
        self.cards.clear()

    def card_text(self, place: int) -> str:
        """The text of a card as it stands in the document: head, line break, body."""
        return f"{self._block(place, 0).text()}\n{self._block(place, 1).text()}"

    def card_formats(self, place: int) -> list[tuple[str, QTextCharFormat]]:
        """The pieces of a card's body with the formats they have in the document."""
        pieces = []
        iterator = self._block(place, 1).begin()
        while not iterator.atEnd():
            fragment = iterator.fragment()
            pieces.append((fragment.text(), fragment.charFormat()))
            iterator += 1
        return pieces

    # -- keeping the newest in view

    def at_newest(self) -> bool:
        """Whether the newest card is in view, so that it should stay so."""
        bar = self.verticalScrollBar()
        return bar.value() <= 4 if self._newest_first else bar.value() >= bar.maximum() - 24

    def show_newest(self) -> None:
        """Scrolls to the newest card."""
        bar = self.verticalScrollBar()
        bar.setValue(0 if self._newest_first else bar.maximum())

    def keep_view(self, at_newest: bool, height_before: float) -> None:
        """After changes: stays with the newest, or, with newer cards above, on what was being read."""
        if at_newest:
            self.show_newest()
        elif self._newest_first:
            bar = self.verticalScrollBar()
            bar.setValue(bar.value() + round(self.document().size().height() - height_before))

    # -- inner parts

    def _block(self, place: int, part: int) -> QTextBlock:
        return self.document().findBlockByNumber(2 * place + part)

    def _write(self, place: int, card: Card) -> None:
        self.edits += 1
        old = self.cards[place]
        self.cards[place] = card
        cursor = QTextCursor(self.document())
        cursor.beginEditBlock()
        if old.style != card.style:
            self._format_blocks(place, card)
        for part, before, after in ((0, old.head, card.head), (1, old.body, card.body)):
            if before != after:
                self._write_runs(self._block(place, part), before, after)
        cursor.endEditBlock()
        if old.style != card.style:
            self.viewport().update()

    def _write_runs(self, block: QTextBlock, before: tuple[Run, ...], after: tuple[Run, ...]) -> None:
        # Whole runs that stay the same are kept, then the letters that the next two runs share: a
        # growing text only appends, and a selection in what stays survives.
        keep = 0
        while keep < min(len(before), len(after)) and before[keep] == after[keep]:
            keep += 1
        start = sum(_qt_length(text) for text, _ in after[:keep])
        cursor = QTextCursor(block)
        rest = list(after[keep:])
        if keep < min(len(before), len(after)) and before[keep][1] == after[keep][1]:
            shared = _shared_letters(before[keep][0], after[keep][0])
            start += _qt_length(after[keep][0][:shared])
            rest[0] = (rest[0][0][shared:], rest[0][1])
        cursor.setPosition(block.position() + start)
        cursor.movePosition(QTextCursor.MoveOperation.EndOfBlock, QTextCursor.MoveMode.KeepAnchor)
        cursor.removeSelectedText()
        for text, kind in rest:
            cursor.insertText(text, self._kinds[kind])

    def _format_blocks(self, place: int, card: Card) -> None:
        for part, block_format in enumerate(block_formats(card.style)):
            QTextCursor(self._block(place, part)).setBlockFormat(block_format)

    def _rewrite(self) -> None:
        """Writes all cards anew, in the colours and the font of now."""
        self._look = Look.of(self.palette())
        self._kinds = text_formats(self._look, self.font())
        cards, self.cards = self.cards, []
        self.document().clear()
        for place, card in enumerate(cards):
            self.insert_card(place, card)

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's colours and font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.FontChange) and self._kinds:
            self._rewrite()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the column readable on wide windows, and the newest card in view."""
        stay = self.at_newest()
        frame = self.document().rootFrame()
        margin = max(0.0, (event.size().width() - COLUMN_PX) / 2)
        frame_format = frame.frameFormat()
        if frame_format.leftMargin() != margin or not frame_format.bottomMargin():
            frame_format.setLeftMargin(margin)
            frame_format.setRightMargin(margin)
            # The first paragraph's own margin is not laid out, so the first box needs room here.
            frame_format.setTopMargin(GAP + PAD)
            frame_format.setBottomMargin(GAP + PAD)
            frame.setFrameFormat(frame_format)
        super().resizeEvent(event)
        if stay:
            self.show_newest()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints the boxes of the cards in view, and the text upon them."""
        painter = QPainter(self.viewport())
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.cards:
            # The place under the top edge: the card above may reach into view with its margin.
            top = self.cursorForPosition(QPoint(4, 0)).blockNumber() // 2
            for place in range(max(0, top - 1), len(self.cards)):
                box = self._box(place)
                if box.top() > self.viewport().height():
                    break
                self._paint_box(painter, box, self.cards[place])
        else:
            painter.setPen(self._look.dim)
            room = self.viewport().rect().adjusted(24, 24, -24, -24)
            flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(room, flags, self.empty_text)
        painter.end()
        super().paintEvent(event)

    def _font_of(self, kind: str) -> QFont:
        font = QFont(self.font())
        font.setPointSizeF(self._kinds[kind].fontPointSize())
        return font

    def _box(self, place: int) -> QRectF:
        layout = self.document().documentLayout()
        head, body = self._block(place, 0), self._block(place, 1)
        rect = layout.blockBoundingRect(head).united(layout.blockBoundingRect(body))
        margins = head.blockFormat()
        side = self.document().rootFrame().frameFormat().leftMargin()
        width = self.viewport().width()
        left = side + margins.leftMargin() - PAD
        right = width - side - margins.rightMargin() + PAD
        scrolled = self.verticalScrollBar().value()
        return QRectF(left, rect.top() - PAD - scrolled, right - left, rect.height() + 2 * PAD)

    def _paint_box(self, painter: QPainter, box: QRectF, card: Card) -> None:
        look, style = self._look, card.style
        if style == "divider":
            painter.setPen(QPen(look.line, 1))
            middle = round(box.top() + PAD + self.fontMetrics().height() / 2) + 0.5
            # The lines leave the words alone; words that fill the width, or wrap, have none.
            words = sum(QFontMetricsF(self._font_of(kind)).horizontalAdvance(text) for text, kind in card.head)
            part = (box.width() - words) / 2 - PAD
            if part < GAP:
                return
            painter.drawLine(QPointF(box.left(), middle), QPointF(box.left() + part, middle))
            painter.drawLine(QPointF(box.right() - part, middle), QPointF(box.right(), middle))
            return
        if style == "beside":
            painter.setPen(QPen(look.line, 1))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), ROUND, ROUND)
            return
        fill = {"user": look.user_card, "live": look.live_card}.get(style, look.plain_card)
        painter.setPen(QPen(look.accent, 1.5) if style == "live" else Qt.PenStyle.NoPen)
        painter.setBrush(fill)
        painter.drawRoundedRect(box, ROUND, ROUND)


def _qt_length(text: str) -> int:
    """How many places `text` takes in a Qt document, which counts in UTF-16."""
    return len(text) + sum(char > "\uffff" for char in text)


def _shared_letters(a: str, b: str) -> int:
    shared = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        shared += 1
    return shared
