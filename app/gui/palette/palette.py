"""The command palette: a search field that floats over the window, with a list of matching commands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleAnnouncementEvent,
    QColor,
    QCursor,
    QHideEvent,
    QKeyEvent,
    QPaintEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QGraphicsDropShadowEffect,
    QLineEdit,
    QListView,
    QWidget,
)

from app.gui.design.fonts import POINTS_PER_PX, set_size
from app.gui.design.icons import icon
from app.gui.design.look import Dressed, draw_rounded, painter_on
from app.gui.design.plain import LONGEST_NAME, named
from app.gui.design.theme import tokens
from app.gui.palette.command import Command, Provider
from app.gui.palette.delegate import COMMAND_ROLE, MATCH_ROLE, CommandDelegate
from app.gui.palette.ranking import Match, ranked, with_newest
from app.gui.widgets.form import column
from app.untrusted.text import one_line

WIDEST_PX, EDGE_PX, ROWS = 640, 8, 9
STEPS = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Tab: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_Backtab: -1,
    Qt.Key.Key_PageDown: ROWS - 1,
    Qt.Key.Key_PageUp: 1 - ROWS,
}


QUESTION_WORDS = 5


def _is_question(text: str) -> bool:
    """Returns whether a text is more likely a question to the model than the name of something."""
    return text.rstrip().endswith("?") or len(text.split()) >= QUESTION_WORDS


class CommandPalette(Dressed, QFrame):
    """A palette that fetches commands from its providers each time it opens, and closes before running one of them.

    The last row of a search calls `ask` with the typed text. `recent` contains the IDs of recently used commands, most
    recent first; `used` is emitted when it changes.
    """

    dressed_by = (QEvent.Type.FontChange, QEvent.Type.PaletteChange)

    used = Signal()

    def __init__(
        self,
        providers: Sequence[Provider],
        window: QWidget,
        recent: Sequence[str] = (),
        *,
        ask: Callable[[str], object],
    ) -> None:
        super().__init__(window)
        self.recent = list(recent)
        self._providers = providers
        self._ask = ask
        self._commands: list[Command] = []
        self._focus_before: QWidget | None = None
        self._pointer = QCursor.pos()
        self.setAccessibleName(self.tr("Commands"))
        self.field = named(QLineEdit(self), self.tr("Search commands, settings, conversations and models, or ask KAME"))
        self.field.setPlaceholderText(self.tr("Search, or ask KAME"))
        self._glass = self.field.addAction(
            icon("search", QColor(tokens().dim)), QLineEdit.ActionPosition.LeadingPosition
        )
        self.list = named(QListView(self), self.tr("Commands found"))
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setItemDelegate(CommandDelegate(self.list))
        self._model = QStandardItemModel(self)
        self.list.setModel(self._model)
        column(self.field, self.list, within=self, spacing=EDGE_PX, margins=EDGE_PX)
        self._shadow = QGraphicsDropShadowEffect(self)
        self._shadow.setBlurRadius(40)
        self._shadow.setOffset(0, 8)
        self.setGraphicsEffect(self._shadow)
        self.field.textChanged.connect(self._fill)
        self.list.clicked.connect(self._run)
        self.list.entered.connect(self._choose_under_pointer)
        self.field.installEventFilter(self)
        self._dress()
        self.hide()

    def open(self) -> None:
        """Opens the palette with an empty, focused search field, or closes it if it is already open."""
        if self.isVisible():
            self.close()
            return
        self._focus_before = self.window().focusWidget()
        self._commands = [command for provider in self._providers for command in provider()]
        self.field.clear()
        self._fill()
        self._place()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)
        app = QApplication.instance()
        assert app is not None
        app.installEventFilter(self)

    def hideEvent(self, event: QHideEvent) -> None:
        """Restores the previous focus."""
        super().hideEvent(event)
        app = QApplication.instance()
        if app is not None:
            app.removeEventFilter(self)
        before, self._focus_before = self._focus_before, None
        if before is not None:
            with suppress(RuntimeError):  # the widget has since been deleted
                before.setFocus(Qt.FocusReason.PopupFocusReason)
        self._commands = []

    def titles(self) -> list[str]:
        """Returns the titles of the commands in the list."""
        return [self._model.item(place).text() for place in range(self._model.rowCount())]

    # -- the list

    def _fill(self) -> None:
        self._model.clear()
        text = self.field.text()
        found = ranked(text, self._commands, self.recent)
        if text.strip():
            title = self.tr("Ask KAME: “{0}”").format(one_line(text, LONGEST_NAME))
            place = 0 if _is_question(text) else len(found)
            found.insert(place, (Command(title, "", partial(self._ask, text), "ask"), Match(0.0, frozenset())))
        for command, match in found:
            item = QStandardItem(command.title)
            item.setData(command, COMMAND_ROLE)
            item.setData(match, MATCH_ROLE)
            on = self.tr("on") if command.current else ""
            item.setData(", ".join(filter(None, (command.title, on, command.place, command.keys))), _SPOKEN)
            item.setEditable(False)
            self._model.appendRow(item)
        self._choose(0)
        self._place()

    def _choose_under_pointer(self, index: QModelIndex) -> None:
        """Selects the row under the pointer, unless the row has appeared there without the pointer moving."""
        if QCursor.pos() != self._pointer:
            self.list.setCurrentIndex(index)

    def _choose(self, place: int) -> None:
        self._pointer = QCursor.pos()
        index = self._model.index(min(max(place, 0), self._model.rowCount() - 1), 0)
        self.list.setCurrentIndex(index)
        self.list.scrollTo(index)
        if self.isVisible():  # for screen readers, since focus stays in the field
            QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(self.list, index.data(_SPOKEN)))

    def _run(self, index: QModelIndex) -> None:
        command = index.data(COMMAND_ROLE) if index.isValid() else None
        if command is None:
            return
        self.close()
        if command.kind != "ask":
            self.recent = with_newest(self.recent, command.id)
            self.used.emit()
        command.run()

    # -- placement

    def _place(self) -> None:
        window = self.parentWidget()
        assert window is not None
        scale = QApplication.font().pointSizeF() / (tokens().small * POINTS_PER_PX)
        width = min(round(WIDEST_PX * scale), window.width() - 32)
        top = max(16, min(window.height() // 8, 96))
        line = self.list.sizeHintForRow(0) if self._model.rowCount() else 0
        self.list.setFixedHeight(min(self._model.rowCount(), ROWS) * line + 4)
        height = min(self.sizeHint().height(), window.height() - top - 16)
        if height < self.sizeHint().height():
            self.list.setFixedHeight(max(line, self.list.height() - (self.sizeHint().height() - height)))
        self.setGeometry((window.width() - width) // 2, top, width, height)

    # -- Qt events

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handles the field's keys. Closes the palette on a click elsewhere, or when the window is deactivated."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        if not self.isVisible():
            return False
        if event.type() == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget):
            if watched is not self and not self.isAncestorOf(watched):
                self.close()
        elif watched is self.parentWidget() and event.type() == QEvent.Type.Resize:
            self._place()
        elif watched is self.window() and event.type() == QEvent.Type.WindowDeactivate:
            self.close()
        return False

    def _key(self, event: QKeyEvent) -> bool:
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.close()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self.list.currentIndex())
        elif key in STEPS and self._model.rowCount():
            here, count, step = self.list.currentIndex().row(), self._model.rowCount(), STEPS[key]
            self._choose((here + step) % count if abs(step) == 1 else here + step)
        else:
            return False
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        t = tokens()
        with painter_on(self) as painter:
            fill, edge = QColor(t.raised), QColor(t.frame)
            draw_rounded(painter, self.rect(), t.card_radius, inset=0.5, fill=fill, edge=edge)

    def _dress(self) -> None:
        t = tokens()
        set_size(self.field, "body")
        self._glass.setIcon(icon("search", QColor(t.dim)))
        shade = QColor(0, 0, 0, 150 if t.dark else 60)
        self._shadow.setColor(shade)
        sheet = (
            "QLineEdit, QLineEdit:focus { background: transparent; border: none; padding: 4px; }"
            "QListView, QListView:focus { background: transparent; border: none; }"
        )
        if sheet != self.styleSheet():
            self.setStyleSheet(sheet)


_SPOKEN = Qt.ItemDataRole.AccessibleTextRole
