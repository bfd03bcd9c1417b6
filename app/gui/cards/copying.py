"""Converts selections to readable plain text, and provides the copy buttons above code blocks.

List items keep their markers, and fully selected tables are copied as their Markdown source.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from PySide6.QtCore import QObject, QRectF, QSize, Qt
from PySide6.QtGui import QGuiApplication, QTextBlock, QTextCursor
from PySide6.QtWidgets import QAbstractScrollArea, QPushButton, QWidget

from app.gui.cards.card import LINE_BREAK, Element, Paragraph
from app.gui.cards.document import CardDocument
from app.gui.design.icons import icon
from app.gui.design.look import Look
from app.gui.design.motion import timer

Key = tuple[int, int]
"""The index of a card and of a code block within it."""
TELLS_MS = 2000
"""How long a button displays "Copied" after a click."""
STYLE = "QPushButton { padding: 2px 8px } QPushButton:focus { padding: 0px 6px }"
"""Style sheet with less padding than usual, so that a button is no taller than a line of text."""


class CodeButtons(QObject):
    """Maintains a copy button for each visible code block. The buttons directly follow `parent` in the tab order."""

    def __init__(self, parent: QAbstractScrollArea) -> None:
        super().__init__(parent)
        self._view = parent
        self._buttons: dict[Key, CodeButton] = {}

    def place(self, strips: Mapping[Key, tuple[QRectF, Paragraph]]) -> None:
        """Positions a button at the right end of each strip and removes all other buttons.

        `strips`: the header strip, in viewport coordinates, and the paragraph of each code block.
        """
        for key in self._buttons.keys() - strips.keys():
            button = self._buttons.pop(key)
            if button.hasFocus():
                self._view.setFocus()
            button.hide()
            button.deleteLater()
        new = strips.keys() - self._buttons.keys()
        for key, (strip, code) in strips.items():
            button = self._buttons.get(key) or CodeButton(self._view.viewport())
            self._buttons[key] = button
            button.show_code(code)
            size = button.sizeHint()
            height = min(size.height(), round(strip.height()))
            button.setGeometry(
                round(strip.right()) - size.width() - 2,
                round(strip.center().y() - height / 2),
                size.width(),
                height,
            )
        if new:
            self._order()

    def restyle(self) -> None:
        """Updates the buttons to the view's current colours."""
        for button in self._buttons.values():
            button.restyle()

    def _order(self) -> None:
        """Shows the buttons and inserts them into the tab order, starting after the view."""
        before: QWidget = self._view
        for key in sorted(self._buttons):
            button = self._buttons[key]
            QWidget.setTabOrder(before, button)
            button.show()
            before = button


class CodeButton(QPushButton):
    """A button that copies a code block to the clipboard."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._code = ""
        self._copied = False
        self._timer = timer(self, TELLS_MS, lambda: self._tell(copied=False))
        self.setProperty("flat", True)
        self.setStyleSheet(STYLE)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.clicked.connect(self._copy)
        self._tell(copied=False)

    def show_code(self, code: Paragraph) -> None:
        """Sets the code that the button copies."""
        self._code = code.code
        name = self.tr("Copy the code in {0}").format(code.language) if code.language else self.tr("Copy the code")
        if self.accessibleName() != name:
            self.setAccessibleName(name)

    def restyle(self) -> None:
        """Redraws the icon in the current text colour."""
        size = self.fontMetrics().ascent()
        self.setIconSize(QSize(size, size))
        self.setIcon(icon("check" if self._copied else "copy", Look.of(self.palette()).dim, size=size))

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self._code)
        self._tell(copied=True)
        self._timer.start()

    def _tell(self, *, copied: bool) -> None:
        self._copied = copied
        self.setText(self.tr("Copied") if copied else self.tr("Copy"))
        self.restyle()
        right = self.geometry().right()
        self.resize(self.sizeHint().width(), self.height())
        self.move(right - self.width() + 1, self.y())


def selected_text(content: CardDocument, cursor: QTextCursor) -> str:
    """Returns the selection as plain text.

    Fully selected code blocks and tables are returned as their Markdown source. If the selection lies within a single
    code block, its fences are omitted.
    """
    begin, end = cursor.selectionStart(), cursor.selectionEnd()
    if begin == end or not content.cards:
        return ""
    if cursor.hasComplexSelection():  # a rectangular selection of cells in one table
        return _clean(_selected_cells(content, cursor))
    document = cursor.document()
    first = content.place_of(document.findBlock(begin))
    last = content.place_of(document.findBlock(end))
    parts: list[tuple[str, Paragraph | None]] = []
    for place in range(first, last + 1):
        head = content.block(place, 0)
        if _touches(head, begin, end):
            parts.append((_letters(head, begin, end), None))
        for element, block in content.elements(place):
            parts += _element(element, _blocks(block, element.blocks), begin, end)
    text = ""
    for number, (part, paragraph) in enumerate(parts):
        text += f"{_gap(parts[number - 1][1], paragraph) if number else ''}{part}"
    return _clean(text)


def _clean(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u2060", "")


def _selected_cells(content: CardDocument, cursor: QTextCursor) -> str:
    """Returns the selected cells as tab-separated text, or the table's source if all cells are selected."""
    table = cursor.currentTable()
    # PySide returns four integers, but its stub declares `object`.
    first_row, rows, first_column, columns = cast("tuple[int, int, int, int]", cursor.selectedTableCells())
    if (rows, columns) == (table.rows(), table.columns()):
        before = table.firstCursorPosition().block().previous()
        place = content.place_of(before)
        return next(element.source for element, block in content.elements(place) if block == before)
    return "\n".join(
        "\t".join(
            table.cellAt(row, column).firstCursorPosition().block().text()
            for column in range(first_column, first_column + columns)
        )
        for row in range(first_row, first_row + rows)
    )


def _element(
    element: Element, blocks: list[QTextBlock], begin: int, end: int
) -> Iterator[tuple[str, Paragraph | None]]:
    inside = [block for block in blocks if _touches(block, begin, end)]
    whole = begin <= blocks[0].position() and blocks[-1].position() + blocks[-1].length() - 1 <= end
    if not inside or (isinstance(element, Paragraph) and element.look == "end"):
        return
    if isinstance(element, Paragraph):
        within = blocks[0].position() <= begin and end < blocks[0].position() + blocks[0].length()
        if whole and element.source and not within:
            yield element.source, element
        else:
            yield _marked(element, _letters(blocks[0], begin, end)), element
    elif whole or len(inside) == len(blocks) - 2:
        yield element.source, Paragraph(look="code")
    else:
        yield _cells(blocks, len(element.aligns), begin, end), Paragraph(look="code")


def _cells(blocks: list[QTextBlock], columns: int, begin: int, end: int) -> str:
    """Returns the selected cells as tab-separated text, one line per row."""
    cells = blocks[1:-1]
    rows = (cells[place : place + columns] for place in range(0, len(cells), columns))
    lines = ("\t".join(_letters(cell, begin, end) for cell in row if _touches(cell, begin, end)) for row in rows)
    return "\n".join(line for line in lines if line)


def _marked(paragraph: Paragraph, text: str) -> str:
    indent = "  " * (paragraph.level - 1) if paragraph.look == "item" else ""
    if paragraph.look == "rule":
        return "---"
    return f"{'> ' * paragraph.quote}{indent}{text if paragraph.look == 'code' else text.replace(chr(9), ' ')}"


def _gap(before: Paragraph | None, paragraph: Paragraph | None) -> str:
    """Returns the separator between two paragraphs: a blank line within a body, except between list items."""
    if before is None or paragraph is None or before.look == paragraph.look == "item":
        return "\n"
    return "\n\n"


def _blocks(block: QTextBlock, count: int) -> list[QTextBlock]:
    blocks = [block]
    while len(blocks) < count:
        blocks.append(blocks[-1].next())
    return blocks


def _touches(block: QTextBlock, begin: int, end: int) -> bool:
    return block.position() <= end and begin < block.position() + block.length()


def _letters(block: QTextBlock, begin: int, end: int) -> str:
    """Returns the selected part of a paragraph."""
    start = block.position()
    cursor = QTextCursor(block)
    cursor.setPosition(max(begin, start))
    cursor.setPosition(min(end, start + block.length() - 1), QTextCursor.MoveMode.KeepAnchor)
    return cursor.selectedText().replace(LINE_BREAK, "\n")
