"""The bar at the top of the window, with the title, the model pill, the menu button and buttons for the panes."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from app.gui.design.icons import IconButton
from app.gui.design.look import Dressed
from app.gui.design.theme import tokens
from app.gui.models.model_pill import ModelPill
from app.gui.widgets.form import row


class TopBar(Dressed, QWidget):
    """The top bar.

    - `header`: the widget that shows the conversation's title
    - `menu`: the menu opened by the menu button
    - `sidebar`, `oracle`: the actions that show and hide these panes
    """

    def __init__(
        self, header: QWidget, menu: QMenu, sidebar: QAction, oracle: QAction, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self.sidebar_button = _switch("panel-left", self.tr("Sidebar"), sidebar, self)
        self.new_button = IconButton("plus", self.tr("New conversation"), self, keys=self.tr("Ctrl+N"))
        self.new_button.setToolTip(self.tr("Ends this conversation and begins a new one (Ctrl+N)."))
        self.pill = ModelPill(self)
        self.oracle_button = _switch("sparkles", self.tr("Oracle"), oracle, self)
        self.oracle_button.setToolTip(self.tr("What the model thinks while you speak (Ctrl+2)."))
        self.menu_button = IconButton("ellipsis", self.tr("Menu"), self, keys="F10", does=self.open_menu)
        self._menu = menu
        self.new_button.setVisible(not sidebar.isChecked())  # the sidebar has its own
        sidebar.toggled.connect(lambda on: self.new_button.setVisible(not on))
        header.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        unit = tokens().unit
        items = (self.sidebar_button, self.new_button, unit, (header, 1), unit, self.pill, self.oracle_button)
        row(*items, self.menu_button, within=self, spacing=unit, margins=(2 * unit, unit, 2 * unit, unit))
        self._dress()

    def open_menu(self) -> None:
        """Opens the menu below its button."""
        button = self.menu_button
        # `exec` would run a nested event loop.
        self._menu.popup(button.mapToGlobal(button.rect().bottomRight() - QPoint(self._menu.sizeHint().width(), 0)))

    def _dress(self) -> None:
        self.setMinimumHeight(max(tokens().bar, self.fontMetrics().height() + 24))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a separator at the bottom."""
        with QPainter(self) as painter:
            painter.fillRect(QRectF(0, self.height() - 1, self.width(), 1), QColor(tokens().line))


def _switch(name: str, label: str, action: QAction, parent: QWidget) -> IconButton:
    keys = action.shortcut().toString()
    button = IconButton(name, label, parent, keys=keys)
    button.setCheckable(True)
    button.setChecked(action.isChecked())
    action.toggled.connect(button.setChecked)
    button.clicked.connect(action.trigger)
    return button
