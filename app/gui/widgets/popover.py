"""A panel that floats over the window next to the button that opened it, until something else is clicked or focused."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRectF, Qt, Signal
from PySide6.QtGui import QColor, QFocusEvent, QHideEvent, QKeyEvent, QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from app.gui.design.look import draw_rounded, painter_on
from app.gui.design.theme import tokens
from app.gui.widgets.form import column, fill_area

_OF_MENUS = (Qt.FocusReason.PopupFocusReason, Qt.FocusReason.ActiveWindowFocusReason)
"""Why the focus moves when a context menu opens or closes."""
GAP_PX = 6
EDGE_PX = 8
SHADOW_PX = 12
PAD_PX = 12


class Popover(QWidget):
    """A panel on top of everything else in its parent window. Escape or a click outside closes it. If the window is too
    short, the contents of `column` scroll.
    """

    closed = Signal()
    home: QWidget | None = None
    """The widget that receives focus when the popover closes; by default, its anchor."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._anchor: QWidget | None = None
        self._width = 0
        self._watched: list[QObject] = []
        self._inner = QWidget()
        self.column = column(within=self._inner, spacing=8)
        area = self._area = QScrollArea(self)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        fill_area(area, self._inner)
        column(area, within=self, margins=SHADOW_PX + PAD_PX)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.hide()

    def set_width(self, pixels: int) -> None:
        """Sets the preferred width, not including the shadow."""
        self._width = pixels

    def open_at(self, anchor: QWidget) -> None:
        """Opens the popover next to `anchor`, a widget in the same window."""
        if self.isVisible():
            return
        self._anchor = anchor
        self.place()
        self.show()
        self.raise_()
        self._watched = [widget for widget in (QApplication.instance(), self.window()) if widget is not None]
        for widget in self._watched:
            widget.installEventFilter(self)

    def shut(self) -> None:
        """Closes the popover. If it had focus, `home` or the anchor receives it."""
        if not self.isVisible():
            return
        focus = QApplication.focusWidget()
        had_focus = focus is not None and (focus is self or self.isAncestorOf(focus))
        self.hide()
        if had_focus:
            (self.home or self._anchor or self.window()).setFocus()

    def toggle_at(self, anchor: QWidget) -> None:
        """Opens the popover next to `anchor`, or closes it if it is open."""
        if self.isVisible():
            self.shut()
        else:
            self.open_at(anchor)

    def place(self) -> None:
        """Sets size and position: below the anchor if there is enough space, otherwise above it."""
        anchor, window = self._anchor, self.window()
        if anchor is None:
            return
        inner = window.rect()
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)  # lay out what is nested in it first
        self.column.activate()
        around = 2 * (SHADOW_PX + PAD_PX)
        wide = max(self._width + 2 * SHADOW_PX, self.column.minimumSize().width() + around)
        wide = min(wide, inner.width() - 2 * EDGE_PX + 2 * SHADOW_PX)
        layout = self.column
        needed = layout.heightForWidth(wide - around) if layout.hasHeightForWidth() else layout.sizeHint().height()
        high = needed + around
        corner = anchor.mapTo(window, QPoint(0, 0))
        below = inner.height() - (corner.y() + anchor.height()) - GAP_PX - EDGE_PX
        above = corner.y() - GAP_PX - EDGE_PX
        inside = high - 2 * SHADOW_PX
        goes_down = below >= min(inside, above) or below >= above
        if inside > (below if goes_down else above):
            inside = below if goes_down else above
            wide += self._area.verticalScrollBar().sizeHint().width()
        left = corner.x() + anchor.width() // 2 - wide // 2
        left = max(EDGE_PX - SHADOW_PX, min(left, inner.width() - wide - EDGE_PX + SHADOW_PX))
        top = corner.y() + anchor.height() + GAP_PX if goes_down else corner.y() - GAP_PX - inside
        self.setGeometry(left, top - SHADOW_PX, wide, inside + 2 * SHADOW_PX)

    # -- Qt overrides

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        for widget in self._watched:
            widget.removeEventFilter(self)
        self._watched = []
        self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Closes the popover if the user clicks or focuses another part of the window. Repositions it on resize."""
        if watched is self.window() and event.type() == QEvent.Type.Resize:
            self.place()
        elif event.type() == QEvent.Type.MouseButtonPress and isinstance(watched, QWidget):
            assert isinstance(event, QMouseEvent)
            # By place, as a click that the clicked widget ignores is passed on to the popover's parents.
            inside = self.rect().contains(self.mapFromGlobal(event.globalPosition().toPoint()))
            anchor = self._anchor is not None and (watched is self._anchor or self._anchor.isAncestorOf(watched))
            if not inside and not anchor and watched.window() is self.window():
                self.shut()
        elif event.type() == QEvent.Type.FocusIn and isinstance(watched, QWidget):
            if isinstance(event, QFocusEvent) and event.reason() in _OF_MENUS:
                return False
            other = watched is not self and not self.isAncestorOf(watched)
            if other and watched.window() is self.window() and watched is not self._anchor:
                self.hide()
        return False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.shut()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a raised, rounded background with a soft shadow."""
        shown = tokens()
        with painter_on(self) as painter:
            box = QRectF(self.rect()).adjusted(SHADOW_PX, SHADOW_PX, -SHADOW_PX, -SHADOW_PX)
            painter.setPen(Qt.PenStyle.NoPen)
            for step in range(SHADOW_PX, 0, -2):
                shade = QColor(0, 0, 0, 5 if shown.dark else 3)
                painter.setBrush(shade)
                painter.drawRoundedRect(box.adjusted(-step, -step + 3, step, step), shown.card_radius + step, 14 + step)
            fill, edge = QColor(shown.raised), QColor(shown.frame)
            draw_rounded(painter, box, shown.card_radius, inset=0.5, fill=fill, edge=edge)
