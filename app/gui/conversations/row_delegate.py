"""The delegate of the conversation list, which paints the rows and provides the title editor.

Search snippets are shortened so that their first match stays visible.
"""

from __future__ import annotations

from itertools import accumulate

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontInfo,
    QFontMetrics,
    QPainter,
    QPen,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QLineEdit, QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.gui.cards.card import qt_length
from app.gui.conversations.list_model import ConversationList, Row
from app.gui.design.icons import icon
from app.gui.design.look import Look, blend, draw_rounded, set_ink
from app.gui.design.plain import draw_words, elided, named
from app.history.base import LONGEST_TITLE, ConversationView

_ONE_LINE = str.maketrans("\n\r\t\u2028\u2029", "     ")


def shortened(snippet: str, metrics: QFontMetrics, width: int) -> tuple[str, list[tuple[int, int]]]:
    """Shortens a search snippet to a line of at most `width` pixels that includes its first match.

    In `snippet`, each match is enclosed in the control characters U+0002 and U+0003. Returns the line without them, and
    the (start, length) of each visible match in UTF-16 code units.
    """
    pieces = snippet.translate(_ONE_LINE).replace("\x03", "\x02").split("\x02")
    text = "".join(pieces)
    ends = list(accumulate(len(piece) for piece in pieces))
    matches = [(ends[place - 1], ends[place]) for place in range(1, len(pieces), 2)]
    cut = 0
    if matches and metrics.horizontalAdvance(text[: matches[0][1]]) > width * 2 // 3:
        first, last = matches[0]
        # Keep as many whole words before the match as possible while it still ends in the left half.
        while cut < first and metrics.horizontalAdvance("…" + text[cut:last]) > max(width // 2, 1):
            space = text.find(" ", cut, first)
            cut = first if space < 0 else space + 1
    lead = "…" if cut else ""
    whole = lead + text[cut:]
    line = elided(metrics, whole, Qt.TextElideMode.ElideRight, width)
    kept = len(whole) if line == whole else len(line) - 1
    places = []
    for first, last in matches:
        first, last = first - cut + len(lead), min(last - cut + len(lead), kept)
        if len(lead) <= first < last:
            places.append((qt_length(line[:first]), qt_length(line[first:last])))
    return line, places


PAD_X, PAD_Y, EDGE = 10, 6, 4
DOT_PX, PIN_PX, FOLDER_PX = 8, 12, 16

_Index = QModelIndex | QPersistentModelIndex


class _Fonts:
    """Fonts and row sizes derived from the list's font."""

    def __init__(self, font: QFont) -> None:
        self.title = font
        self.open_title, self.small, self.heading = QFont(font), QFont(font), QFont(font)
        for bold in (self.open_title, self.heading):
            bold.setWeight(QFont.Weight.DemiBold)
        for small in (self.small, self.heading):
            small.setPointSizeF(QFontInfo(font).pointSizeF() * 0.88)
        title, small_height = QFontMetrics(self.open_title).height(), QFontMetrics(self.small).height()
        self.title_height, self.small_height = title, small_height
        self.row = QSize(0, title + small_height + 2 * PAD_Y + 3)
        self.heading_row, self.folder_row = QSize(0, small_height + 14), QSize(0, title + 2 * PAD_Y)


class ConversationItems(QStyledItemDelegate):
    """An item delegate that paints each conversation as two lines.

    The second line shows the date and model or, in a search result, the snippet.
    """

    def __init__(self, model: ConversationList, view: QListView) -> None:
        super().__init__(view)
        self._model = model
        self._view = view
        self._fonts: _Fonts | None = None
        self._look: Look | None = None

    def forget(self) -> None:
        """Discards the cached fonts and colours. Must be called when the font or palette has changed."""
        self._fonts = self._look = None

    @property
    def fonts(self) -> _Fonts:
        if self._fonts is None:
            self._fonts = _Fonts(self._view.font())
        return self._fonts

    @property
    def look(self) -> Look:
        if self._look is None:
            self._look = Look.of(self._view.palette())
        return self._look

    # -- painting

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        """Returns the row size, which depends on whether the row is a conversation, folder or other heading."""
        row = self._model.rows[index.row()]
        if row.folder:
            return self.fonts.folder_row
        return self.fonts.row if row.view is not None else self.fonts.heading_row

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        row = self._model.rows[index.row()]
        painter.save()
        if row.folder:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_folder(painter, option, row, index)
        elif row.view is None:
            room, words = option.rect.adjusted(EDGE + PAD_X, 0, -EDGE - PAD_X, -3), self._model.texts.heading(row.name)
            draw_words(painter, room, words, self.look.dim, self.fonts.heading, Qt.AlignmentFlag.AlignBottom)
        else:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_box(painter, option, index, is_open=row.view.key == self._model.current)
            self._paint_words(painter, option, row.view)
        painter.restore()

    def _paint_folder(self, painter: QPainter, option: QStyleOptionViewItem, row: Row, index: _Index) -> None:
        look, fonts = self.look, self.fonts
        self._paint_box(painter, option, index, is_open=False)
        room = option.rect.adjusted(EDGE + PAD_X, 0, -EDGE - PAD_X, 0)
        middle = room.center().y() - FOLDER_PX // 2 + 1
        sign = QRect(room.left() - 2, middle, FOLDER_PX, FOLDER_PX)
        count = str(row.count)
        wide = QFontMetrics(fonts.small).horizontalAdvance(count)
        icon("folder-open" if row.open else "folder", look.dim, size=FOLDER_PX).paint(
            painter, QStyle.visualRect(option.direction, option.rect, sign)
        )
        number = QRect(room.right() - wide - 1, room.top(), wide + 2, room.height())
        place = QStyle.visualRect(option.direction, option.rect, number)
        draw_words(painter, place, count, look.dim, fonts.small, Qt.AlignmentFlag.AlignCenter)
        words = QRect(sign.right() + 7, room.top(), room.width() - FOLDER_PX - wide - 14, room.height())
        place = QStyle.visualRect(option.direction, option.rect, words)
        draw_words(painter, place, row.folder, look.text, fonts.open_title)

    def _paint_box(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index, *, is_open: bool) -> None:
        look, box = self.look, QRectF(option.rect).adjusted(EDGE, 1, -EDGE, -1)
        highlighted = index.row() == self._view.currentIndex().row()
        fill: QColor | None = None
        if is_open:
            fill = look.user_card
        elif highlighted:
            fill = blend(look.base, look.text, 0.1)
        elif option.state & QStyle.StateFlag.State_MouseOver:
            fill = look.plain_card
        if fill is not None:
            draw_rounded(painter, box, 6, fill=fill)
        if is_open:
            bar = QRect(option.rect.left() + EDGE + 3, option.rect.top() + 9, 3, option.rect.height() - 18)
            painter.setBrush(look.accent)
            painter.drawRoundedRect(QStyle.visualRect(option.direction, option.rect, bar), 1.5, 1.5)
        if highlighted and self._view.hasFocus():
            draw_rounded(painter, box, 5, inset=0.75, edge=QPen(look.accent, 1.5))

    def _paint_words(self, painter: QPainter, option: QStyleOptionViewItem, view: ConversationView) -> None:
        look, fonts = self.look, self.fonts
        room = option.rect.adjusted(EDGE + PAD_X, PAD_Y + 1, -EDGE - PAD_X, 0)
        title_room, small_room = QRect(room), QRect(room)
        title_room.setHeight(fonts.title_height)
        small_room.setTop(room.top() + fonts.title_height + 1)
        small_room.setHeight(fonts.small_height)
        taken = 0  # width already occupied at the end of the title line, in pixels
        if view.key == self._model.live:
            dot = QRect(room.right() - DOT_PX + 1, title_room.center().y() - DOT_PX // 2 + 1, DOT_PX, DOT_PX)
            set_ink(painter, fill=look.good)
            painter.drawEllipse(QStyle.visualRect(option.direction, room, dot))
            taken += DOT_PX + 6
        if view.pinned:
            middle = title_room.center().y() - PIN_PX // 2 + 1
            pin = QRect(room.right() - taken - PIN_PX + 1, middle, PIN_PX, PIN_PX)
            icon("pin", look.dim, size=PIN_PX).paint(painter, QStyle.visualRect(option.direction, room, pin))
            taken += PIN_PX + 6
        title_room.setWidth(room.width() - taken)
        title_room = QStyle.visualRect(option.direction, room, title_room)
        font = fonts.open_title if view.key == self._model.current else fonts.title
        flags = QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft)
        ink = look.text if view.title else look.dim
        draw_words(painter, title_room, self._model.texts.title(view), ink, font, flags)
        if view.snippet:
            self._paint_snippet(painter, option, small_room, view.snippet)
        else:
            draw_words(painter, small_room, self._model.texts.detail(view), look.dim, fonts.small, flags)

    def _paint_snippet(self, painter: QPainter, option: QStyleOptionViewItem, room: QRect, snippet: str) -> None:
        text, matches = shortened(snippet, QFontMetrics(self.fonts.small), room.width())
        layout = QTextLayout(text, self.fonts.small)
        way = QTextOption(QStyle.visualAlignment(option.direction, Qt.AlignmentFlag.AlignLeft))
        way.setWrapMode(QTextOption.WrapMode.NoWrap)
        way.setTextDirection(option.direction)
        layout.setTextOption(way)
        ranges = []
        for start, length in matches:
            shown = QTextLayout.FormatRange()
            shown.start, shown.length, shown.format = start, length, self._match_format()
            ranges.append(shown)
        layout.setFormats(ranges)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(room.width())
        layout.endLayout()
        painter.setPen(self.look.dim)
        layout.draw(painter, room.topLeft().toPointF())

    def _match_format(self) -> QTextCharFormat:
        look, made = self.look, QTextCharFormat()
        made.setForeground(look.text)
        # Not bold, because the text was elided to fit at the regular weight.
        made.setBackground(blend(look.base, look.warn, 0.4 if look.dark else 0.45))
        return made

    # -- the title editor

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: _Index) -> QWidget:
        field = named(QLineEdit(parent), self.tr("Title of the conversation"))
        field.setMaxLength(LONGEST_TITLE)
        field.setPlaceholderText(self.tr("From its first words"))
        field.setAutoFillBackground(True)
        return field

    def setEditorData(self, editor: QWidget, index: _Index) -> None:
        """Fills the editor only once, so that changes to the list don't overwrite what the user is typing."""
        assert isinstance(editor, QLineEdit)
        if not editor.property("filled"):
            editor.setProperty("filled", True)
            editor.setText(index.data(Qt.ItemDataRole.EditRole))
            editor.selectAll()

    def setModelData(self, editor: QWidget, model: QAbstractItemModel, index: _Index) -> None:
        assert isinstance(editor, QLineEdit)
        model.setData(index, editor.text())

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: _Index) -> None:
        """Positions the editor over the title."""
        height = min(editor.sizeHint().height(), option.rect.height())
        top = option.rect.top() + max(0, PAD_Y + self.fonts.title_height + 2 - height)  # leave the second line visible
        editor.setGeometry(option.rect.left() + EDGE + 2, top, option.rect.width() - 2 * EDGE - 4, height)
