"""The scroll area with all rows of the settings dialog, of which it shows a group, or those that a search finds."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from app.gui.settings.row import SettingRow
from app.gui.widgets.form import bold
from app.gui.widgets.panel import Quiet
from app.gui.widgets.translation import said
from app.settings.declarations import Settings, declarations

ROW_SPACE_PX = 16
WIDEST_LETTERS = 140


class SettingsArea(QScrollArea):
    """`rows` by the settings' keys; `groups` are the keys of the groups that have rows."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows = {one.name: SettingRow(one) for one in declarations() if one.place == "dialog"}
        used = {row.declared.group for row in self.rows.values()}
        self.groups = [group for group in Settings.groups if group in used]
        self._inside = QWidget(self)
        self.titles = {group: bold(said(Settings.groups[group]), self._inside) for group in self.groups}
        self.nothing = Quiet(parent=self)
        self._column = QVBoxLayout(self._inside)
        self._column.setContentsMargins(16, 4, 12, 12)
        self._column.setSpacing(ROW_SPACE_PX)
        self._column.addWidget(self.nothing)
        for group in self.groups:
            self.titles[group].setContentsMargins(0, 6, 0, 0)
            self._column.addWidget(self.titles[group])
            for row in self.rows.values():
                if row.declared.group == group:
                    self._column.addWidget(row)
        self._column.addStretch(1)
        self.setWidget(self._inside)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def show_group(self, group: str) -> None:
        self._show_if(lambda row: row.declared.group == group)

    def search(self, text: str) -> None:
        """Shows the rows that contain every word of `text`."""
        words = text.casefold().split()
        self._show_if(lambda row: row.holds(words))
        self.nothing.setText(self.tr("Nothing found for “{0}”.").format(text.strip()))

    def focus_first(self) -> None:
        """Moves the focus to the first setting that is shown."""
        first = next((row for row in self.rows.values() if not row.isHidden()), None)
        if first is not None:
            first.editor.setFocus(Qt.FocusReason.TabFocusReason)

    def fit(self) -> None:
        """Makes it as wide as its widest setting needs."""
        metrics = self.fontMetrics()
        # On a wide dialog, an editor must not be far from its label.
        self._inside.setMaximumWidth(metrics.averageCharWidth() * WIDEST_LETTERS)
        margins = self._column.contentsMargins()
        widest = max(row.minimumSizeHint().width() for row in self.rows.values())
        bar = self.verticalScrollBar().sizeHint().width()
        self.setMinimumHeight(metrics.lineSpacing() * 12)
        self.setMinimumWidth(widest + margins.left() + margins.right() + bar)

    def _show_if(self, shown: Callable[[SettingRow], bool]) -> None:
        found = set()
        for row in self.rows.values():
            row.setVisible(shown(row))
            if not row.isHidden():
                found.add(row.declared.group)
        for group, title in self.titles.items():
            title.setVisible(group in found)
        self.nothing.setVisible(not found)
