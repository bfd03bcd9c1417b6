"""The list of settings pages, and the scroll area with all rows, which shows either a page or search results."""

from __future__ import annotations

from collections.abc import Callable, Collection

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QColor, QFont, QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QWidget

from app.gui.design.fonts import POINTS_PER_PX, set_size
from app.gui.design.icons import icon
from app.gui.design.look import Dressed
from app.gui.design.theme import tokens
from app.gui.settings.rows import LINKS, LinkRow, Section, SettingRow
from app.gui.widgets.form import column, fill_area, wrapped
from app.gui.widgets.lists import SideList
from app.gui.widgets.panel import Quiet
from app.gui.widgets.translation import said
from app.settings.declarations import Settings, declarations, page_of

ICONS = {
    "general": "settings",
    "voice": "audio-lines",
    "models": "sparkles",
    "sound": "volume-2",
    "privacy": "shield",
    "advanced": "sliders-horizontal",
}
ICON_PX = 18
WIDEST_PX = 640
"""The maximum width of a page's content at the default text size."""
STACKED_PX = 440
"""Page width below which editors are placed under their labels."""
SECTION_PX, EDGE_PX = 20, 12


class PageList(SideList):
    """The list of pages, each with its icon."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__("", parent)
        self.setAccessibleName(self.tr("Pages of settings"))
        for page in Settings.pages.values():
            self.addItem(said(page.label))
        self.currentRowChanged.connect(lambda _: self.tint())

    def tint(self) -> None:
        """Tints the icons in theme colours, the current page's in the accent colour."""
        t, here = tokens(), self.currentRow()
        side = max(ICON_PX, self.fontMetrics().ascent())
        self.setIconSize(QSize(side, side))
        for place, name in enumerate(map(ICONS.__getitem__, Settings.pages)):
            self.item(place).setIcon(icon(name, QColor(t.accent_text if place == here else t.dim), size=side))

    def fit(self, before_px: int = 0) -> None:
        """Also sets the icon size. `before_px` is ignored, because the space before names is derived from that size."""
        self.tint()
        super().fit(self.iconSize().width() + 18)

    def _dress(self) -> None:
        super()._dress()
        if self.count():
            self.tint()


class SettingsArea(Dressed, QScrollArea):
    """All settings and links. `rows` is keyed by setting; `dialogs` contains the dialogs that links can open."""

    def __init__(self, parent: QWidget, dialogs: Collection[str] = ()) -> None:
        super().__init__(parent)
        self._inside = QWidget(self)
        fill_area(self, self._inside)  # while empty, because reparenting it later takes as long as creating the rows
        self.title = wrapped(self._inside, self.tr("Page"))
        self.nothing = Quiet(parent=self._inside)
        self.rows = {one.name: SettingRow(one, self._inside) for one in declarations() if one.place == "dialog"}
        usable = [link for link in LINKS if link.target in self.rows or link.target in dialogs]
        self.links = [LinkRow(link, self._inside) for link in usable]
        self.sections: dict[str, Section] = {}
        for page in Settings.pages.values():
            for key, title in page.sections.items():
                section = self.sections[key] = Section(said(title), said(page.label), self._inside)
                for row in self.rows.values():
                    if row.declared.section == key:
                        section.add(row)
                for link in self.links:
                    if link.link.section == key:
                        section.add(link)
        parts = (self.title, self.nothing, *self.sections.values(), None)
        column(*parts, within=self._inside, spacing=SECTION_PX, margins=EDGE_PX)
        self._dress()

    def show_page(self, page: str) -> None:
        sections = Settings.pages[page].sections
        self.title.setText(said(Settings.pages[page].label))
        self._show_if(lambda row: row.declared.section in sections, lambda link: link.link.section in sections)

    def search(self, text: str) -> None:
        """Shows the settings and links on all pages that match every word of `text`."""
        words = text.casefold().split()
        self.title.setText(self.tr("Found for “{0}”").format(text.strip()))
        self.nothing.setText(self.tr("Nothing found for “{0}”.").format(text.strip()))
        self._show_if(lambda row: row.holds(words), lambda link: link.holds(words), searching=True)

    def focus_first(self) -> None:
        """Gives focus to the first visible setting."""
        first = next((row for row in self.rows.values() if not row.isHidden()), None)
        if first is not None:
            first.editor.setFocus(Qt.FocusReason.TabFocusReason)

    def fit(self) -> None:
        """Sets the minimum size. The minimum width fits the widest setting with its editor below the label."""
        self._dress()
        needed = 0
        for row in self.rows.values():
            row.stack(True)
            needed = max(needed, row.minimumSizeHint().width())
        self._stack()
        self.setMinimumHeight(self.fontMetrics().lineSpacing() * 12)
        self.setMinimumWidth(needed + 2 * EDGE_PX + self.verticalScrollBar().sizeHint().width())

    def page_of(self, key: str) -> str:
        """Returns the key of the page that contains a setting."""
        return page_of(self.rows[key].declared.section)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Moves the focus, and scrolls to the whole row that it has reached."""
        moved, focus = super().focusNextPrevChild(next), QApplication.focusWidget()
        for row in (*self.rows.values(), *self.links):
            if focus is not None and row.isAncestorOf(focus):
                self.ensureWidgetVisible(row, 0, EDGE_PX)
        return moved

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._stack()

    def _dress(self) -> None:
        set_size(self.title, "title", QFont.Weight.DemiBold)
        self._inside.setMaximumWidth(round((WIDEST_PX + 2 * EDGE_PX) * self._scale))

    @property
    def _scale(self) -> float:
        """The text size relative to the default."""
        return QApplication.font().pointSizeF() / (tokens().small * POINTS_PER_PX)

    def _stack(self) -> None:
        stacked = self.viewport().width() < (STACKED_PX + 2 * EDGE_PX) * self._scale
        for row in self.rows.values():
            row.stack(stacked)

    def _show_if(
        self,
        row_shown: Callable[[SettingRow], bool],
        link_shown: Callable[[LinkRow], bool],
        *,
        searching: bool = False,
    ) -> None:
        for row in self.rows.values():
            row.setVisible(row_shown(row))
        for link in self.links:
            link.setVisible(link_shown(link))
        found = [part for part in self.sections.values() if part.settle(with_page=searching)]
        self.nothing.setVisible(not found)
