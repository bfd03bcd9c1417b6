"""A row of tabs over one area. Pages but the timeline are built when they are looked at for the first time."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QTabBar, QToolButton, QVBoxLayout, QWidget

from app.gui.design.theme import tokens


class InspectorPane(QWidget):
    """`add_page` adds a tab; `action` shows and hides the pane, and is set by the owner."""

    def __init__(self, timeline: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.action: QAction | None = None
        self.tabs = QTabBar(self)
        self.tabs.setAccessibleName(self.tr("Parts of the inspector"))
        self.tabs.setDrawBase(False)
        self.tabs.setExpanding(False)
        self.tabs.setUsesScrollButtons(False)
        for button in self.tabs.findChildren(QToolButton):
            button.setAccessibleName("")  # Qt's own buttons to scroll, which are never shown
        self.pages = QStackedWidget(self)
        self.pages.addWidget(timeline)
        self.tabs.addTab(self.tr("Timeline"))
        self._keys = ["timeline"]
        self._makers: list[Callable[[], QWidget] | None] = [None]  # None once the page is built
        column = QVBoxLayout(self)
        column.setContentsMargins(2 * tokens().unit, 0, 2 * tokens().unit, 0)
        column.setSpacing(tokens().unit)
        column.addWidget(self.tabs, 0, Qt.AlignmentFlag.AlignLeft)
        column.addWidget(self.pages, 1)
        self.tabs.currentChanged.connect(lambda _: self._show_page())

    def add_page(self, key: str, title: str, make: Callable[[], QWidget]) -> None:
        """Adds a tab, whose page `make` builds."""
        self._keys.append(key)
        self._makers.append(make)
        self.pages.addWidget(QWidget(self.pages))
        self.tabs.addTab(title)

    @property
    def current(self) -> str:
        """The key of the page that is chosen."""
        return self._keys[self.tabs.currentIndex()]

    def open_at(self, key: str) -> None:
        """Shows a page; the pane is opened if it is not."""
        assert self.action is not None
        self.tabs.setCurrentIndex(self._keys.index(key))
        self.action.setChecked(True)
        self._show_page()

    def toggle_at(self, key: str) -> None:
        """Shows a page, or closes the pane if that page is shown already."""
        assert self.action is not None
        if self.isVisible() and self.current == key:
            self.action.setChecked(False)
        else:
            self.open_at(key)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._show_page()

    def _show_page(self) -> None:
        place = self.tabs.currentIndex()
        make = self._makers[place]
        if make is not None and self.isVisible():
            self._makers[place] = None
            self._put(place, make())
        self.pages.setCurrentIndex(place)

    def _put(self, place: int, page: QWidget) -> None:
        empty = self.pages.widget(place)
        assert empty is not None
        self.pages.insertWidget(place, page)
        self.pages.removeWidget(empty)
        empty.deleteLater()
        before: QWidget = self.tabs
        for widget in page.findChildren(QWidget):
            if widget.focusPolicy() & Qt.FocusPolicy.TabFocus:
                self.setTabOrder(before, widget)
                before = widget
