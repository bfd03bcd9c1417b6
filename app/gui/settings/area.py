"""The scroll area with all rows of the settings dialog, of which it shows a page, or those that a search finds."""

from __future__ import annotations

from collections.abc import Callable, Collection

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFont, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QVBoxLayout, QWidget

from app.gui.design.fonts import POINTS_PER_PX, set_size
from app.gui.design.theme import tokens
from app.gui.settings.links import LINKS, LinkRow
from app.gui.settings.row import SettingRow
from app.gui.settings.section import Section
from app.gui.widgets.form import wrapped
from app.gui.widgets.panel import Quiet
from app.gui.widgets.translation import said
from app.settings.declarations import Settings, declarations, page_of

WIDEST_PX = 640
"""Of a page's content, at the usual size of text."""
STACKED_PX = 440
"""Narrower pages have their editors below the labels."""
SECTION_PX, EDGE_PX = 20, 12


class SettingsArea(QScrollArea):
    """`rows` by the settings' keys; `links` may leave the dialog. `dialogs`: the other dialogs that there are."""

    def __init__(self, parent: QWidget, dialogs: Collection[str] = ()) -> None:
        super().__init__(parent)
        self._inside = QWidget(self)
        self.setWidgetResizable(True)
        self.setWidget(self._inside)  # while it is empty: with all rows, moving it takes as long as making them
        self.title = wrapped(self._inside, self.tr("Page"))
        self.nothing = Quiet(parent=self._inside)
        self.rows = {one.name: SettingRow(one, self._inside) for one in declarations() if one.place == "dialog"}
        usable = [link for link in LINKS if link.target in self.rows or link.target in dialogs]
        self.links = [LinkRow(link, self._inside) for link in usable]
        self.sections: dict[str, Section] = {}
        self._extras: list[tuple[str, QWidget, str]] = []
        self._shown: Callable[[], None] = lambda: None
        column = QVBoxLayout(self._inside)
        column.setContentsMargins(EDGE_PX, EDGE_PX, EDGE_PX, EDGE_PX)
        column.setSpacing(SECTION_PX)
        column.addWidget(self.title)
        column.addWidget(self.nothing)
        for page in Settings.pages.values():
            for key, title in page.sections.items():
                section = self.sections[key] = Section(said(title), said(page.label), self._inside)
                for row in self.rows.values():
                    if row.declared.section == key:
                        section.add(row)
                for link in self.links:
                    if link.link.section == key:
                        section.add(link)
                column.addWidget(section)
        column.addStretch(1)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setAutoFillBackground(False)
        self._inside.setAutoFillBackground(False)
        self._dress()

    def add(self, section: str, widget: QWidget, words: str, *, first: bool = False) -> None:
        """Adds a row that is no setting to a section; the search finds it by `words`."""
        self.sections[section].add(widget, first=first)
        self._extras.append((section, widget, words.casefold()))

    def show_page(self, page: str) -> None:
        self._shown = lambda: self.show_page(page)
        sections = Settings.pages[page].sections
        self.title.setText(said(Settings.pages[page].label))
        self._show_if(
            lambda row: row.declared.section in sections,
            lambda link: link.link.section in sections,
            lambda section, _: section in sections,
        )

    def search(self, text: str) -> None:
        """Shows the rows that contain every word of `text`."""
        self._shown = lambda: self.search(text)
        words = text.casefold().split()
        self.title.setText(self.tr("Found for “{0}”").format(text.strip()))
        self.nothing.setText(self.tr("Nothing found for “{0}”.").format(text.strip()))
        self._show_if(
            lambda row: row.holds(words),
            lambda link: link.holds(words),
            lambda _, told: all(word in told for word in words),
            searching=True,
        )

    def show_again(self) -> None:
        """A row's words have changed: looks again for what is to be shown."""
        self._shown()

    def focus_first(self) -> None:
        """Moves the focus to the first setting that is shown."""
        first = next((row for row in self.rows.values() if not row.isHidden()), None)
        if first is not None:
            first.editor.setFocus(Qt.FocusReason.TabFocusReason)

    def fit(self) -> None:
        """Makes it as wide as its widest setting needs, with the editors below the labels."""
        self._dress()
        needed = 0
        for row in self.rows.values():
            row.stack(True)
            needed = max(needed, row.minimumSizeHint().width())
        self._stack()
        self.setMinimumHeight(self.fontMetrics().lineSpacing() * 12)
        self.setMinimumWidth(needed + 2 * EDGE_PX + self.verticalScrollBar().sizeHint().width())

    def page_of(self, key: str) -> str:
        """The page of a setting."""
        return page_of(self.rows[key].declared.section)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stack()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._dress()

    def _dress(self) -> None:
        set_size(self.title, "title", QFont.Weight.DemiBold)
        self._inside.setMaximumWidth(round((WIDEST_PX + 2 * EDGE_PX) * self._scale))

    @property
    def _scale(self) -> float:
        """How large text is, of its usual size."""
        return QApplication.font().pointSizeF() / (tokens().small * POINTS_PER_PX)

    def _stack(self) -> None:
        stacked = self.viewport().width() < (STACKED_PX + 2 * EDGE_PX) * self._scale
        for row in self.rows.values():
            row.stack(stacked)

    def _show_if(
        self,
        row_shown: Callable[[SettingRow], bool],
        link_shown: Callable[[LinkRow], bool],
        extra_shown: Callable[[str, str], bool],
        *,
        searching: bool = False,
    ) -> None:
        for row in self.rows.values():
            row.setVisible(row_shown(row))
        for link in self.links:
            link.setVisible(link_shown(link))
        for section, widget, words in self._extras:
            widget.setVisible(extra_shown(section, words))
        found = [part for part in self.sections.values() if part.settle(with_page=searching)]
        self.nothing.setVisible(not found)
