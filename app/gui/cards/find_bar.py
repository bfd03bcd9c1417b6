"""A search bar for a text view, with a text field, a match count, and buttons for the next and previous match."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut, QTextCursor
from PySide6.QtWidgets import QTextEdit, QToolButton, QWidget

from app.gui.design.look import Look, blend
from app.gui.design.motion import timer
from app.gui.design.plain import PlainLabel, named, set_tip
from app.gui.widgets.form import row, search_field

MOST_MARKED = 500
"""Maximum number of highlighted matches. The match count has no limit."""

SEARCH_AFTER_MS = 80


class FindBar(QWidget):
    """A bar that searches `view` and highlights the matches. Initially hidden."""

    closed = Signal()

    def __init__(self, view: QTextEdit, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = view
        self._places: list[int] = []
        self._current = -1
        self._words = ""  # the last search text
        self._mark_at: QTextCursor | None = None  # selects the current match, and moves along with the text
        self.field = search_field(self, self.tr("Find in this conversation"))
        self.count = named(PlainLabel(parent=self), self.tr("How often it was found"))
        self.previous_button = self._button(Qt.ArrowType.UpArrow, self.tr("Previous (Shift+Enter)"))
        self.next_button = self._button(Qt.ArrowType.DownArrow, self.tr("Next (Enter)"))
        self.close_button = named(QToolButton(self), self.tr("Close the search"))
        self.close_button.setText("✕")
        self.close_button.setAutoRaise(True)
        self.close_button.setToolTip(self.tr("Close the search (Esc)"))
        buttons = (self.previous_button, self.next_button, self.close_button)
        row(self.field, self.count, *buttons, within=self, spacing=6, stretch=0)
        self._later = timer(self, SEARCH_AFTER_MS, self._search)
        self.field.textChanged.connect(lambda _: self._later.start())
        self.next_button.clicked.connect(lambda: self.step(1))
        self.previous_button.clicked.connect(lambda: self.step(-1))
        self.close_button.clicked.connect(self.leave)
        escape = QShortcut(QKeySequence(Qt.Key.Key_Escape), self, self.leave)
        escape.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)  # PySide ignores it as a constructor argument
        view.document().contentsChanged.connect(self._changed)
        self.hide()

    def appear(self) -> None:
        """Shows the bar. If the view's selection is a single line, searches for it."""
        chosen = self._view.textCursor().selectedText()
        self.show()
        if len(chosen.splitlines()) == 1:
            self.field.setText(chosen)
        self.field.setFocus()
        self.field.selectAll()
        self._search()

    def leave(self) -> None:
        """Hides the bar, removes the highlights and focuses the view."""
        if self.isHidden():
            return
        self.hide()
        self._later.stop()
        self._places, self._current, self._mark_at = [], -1, None
        self._view.setExtraSelections([])
        self._view.setFocus()
        self.closed.emit()

    def step(self, by: int) -> None:
        """Moves to the next match if `by` is 1, or to the previous one if it is -1. Wraps around."""
        if self._later.isActive():
            self._later.stop()
            self._search()
        if self._places:
            self._go((self._current + by) % len(self._places))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Moves to the next match on Enter, or to the previous one on Shift+Enter."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.step(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
            event.accept()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self._places:
            self._mark()

    # -- internals

    def _button(self, arrow: Qt.ArrowType, name: str) -> QToolButton:
        button = named(QToolButton(self), name)
        button.setArrowType(arrow)
        button.setAutoRaise(True)
        set_tip(button, name)
        return button

    def _changed(self) -> None:
        # Don't restart a running timer, or it would never fire while the text keeps changing.
        if not self.isHidden() and self.field.text() and not self._later.isActive():
            self._later.start()

    def _search(self) -> None:
        words = self.field.text()
        before, same = self._current_place(), words == self._words
        self._words = words
        self._places = _all_places(self._view.toPlainText(), words) if words else []
        if not self._places:
            self._current = -1
            self.count.setText(self.tr("not found") if words else "")
            self._view.setExtraSelections([])
        elif before in self._places:
            self._show(self._places.index(before))
        elif before is not None and same:  # the current match is gone, so select the nearest one
            self._show(min(range(len(self._places)), key=lambda place: abs(self._places[place] - before)))
        else:
            # The user is most likely looking for the newest match.
            self._go(len(self._places) - 1)
        for button in (self.previous_button, self.next_button):
            button.setEnabled(len(self._places) > 1)

    def _current_place(self) -> int | None:
        """Returns the current match's position in the document, or None if there are no matches."""
        if not 0 <= self._current < len(self._places):
            return None
        moved = self._mark_at
        # An empty selection means that the whole text was rewritten; the stored position is still valid.
        return moved.selectionStart() if moved is not None and moved.hasSelection() else self._places[self._current]

    def _go(self, place: int) -> None:
        self._show(place)
        cursor = QTextCursor(self._view.document())
        cursor.setPosition(self._places[place])
        view = self._view
        before = view.textCursor()
        view.setTextCursor(cursor)
        view.ensureCursorVisible()
        if before.hasSelection():
            view.setTextCursor(before)

    def _show(self, place: int) -> None:
        self._current = place
        self.count.setText(self.tr("{0} of {1}").format(place + 1, len(self._places)))
        self._mark()

    def _mark(self) -> None:
        look, length = Look.of(self.palette()), len(self.field.text())
        first = max(0, min(self._current - MOST_MARKED // 2, len(self._places) - MOST_MARKED))
        marks = []
        for n in range(first, min(len(self._places), first + MOST_MARKED)):
            mark = QTextEdit.ExtraSelection()
            mark.cursor = QTextCursor(self._view.document())
            mark.cursor.setPosition(self._places[n])
            mark.cursor.setPosition(self._places[n] + length, QTextCursor.MoveMode.KeepAnchor)
            mark.format.setBackground(blend(look.base, look.warn, 0.75 if n == self._current else 0.35))
            mark.format.setForeground(look.text)
            marks.append(mark)
            if n == self._current:
                self._mark_at = QTextCursor(mark.cursor)
        self._view.setExtraSelections(marks)


def _all_places(text: str, wanted: str) -> list[int]:
    """Returns the positions of `wanted` in `text`, in UTF-16 code units, ignoring case if possible."""
    if len(text.lower()) == len(text):  # a few letters ("İ") become longer in lowercase, which would shift positions
        text, wanted = text.lower(), wanted.lower()
    places, at = [], text.find(wanted)
    wide = counted = 0
    while at >= 0:
        wide += sum(char > "\uffff" for char in text[counted:at])
        counted = at
        places.append(at + wide)
        at = text.find(wanted, at + len(wanted))
    return places
