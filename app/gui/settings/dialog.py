"""The dialog “Settings”: every setting that people change, by group or by search.

It is made from the declarations of the settings. It emits what the user changes, and applies nothing itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QLineEdit, QListWidget, QWidget

from app.gui.settings.area import SettingsArea
from app.gui.settings.choice_editors import Choice
from app.gui.settings.reset_bar import ResetBar
from app.gui.settings.text_editors import Keys
from app.gui.widgets import form
from app.gui.widgets.panel import Panel
from app.gui.widgets.translation import said
from app.settings.declarations import Settings

SIZE_PX = 760, 560


class SettingsDialog(Panel):
    """`changed` emits a setting's key and its new value, as soon as the input is complete."""

    changed = Signal(str, object)
    keys_typed = Signal(bool)
    """Whether a field for hotkeys has the focus; meanwhile the hotkeys should do nothing."""

    def __init__(self, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Settings"))
        self._settings = settings
        self._group = 0
        self._before_reset: dict[str, Any] = {}
        self.search = QLineEdit(self)
        self.search.setAccessibleName(self.tr("Search the settings"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setClearButtonEnabled(True)
        self.groups = QListWidget(self)
        self.groups.setAccessibleName(self.tr("Groups of settings"))
        self.groups.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.area = SettingsArea(self)
        self.area.setAccessibleName(self.tr("Settings shown"))
        self.rows = self.area.rows
        self.groups.addItems([said(Settings.groups[group]) for group in self.area.groups])
        self.reset_bar = ResetBar(self)
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"))
        self._lay_out()
        self._connect()
        self._refresh()
        self.groups.setCurrentRow(0)

    def open_refreshed(self, key: str = "") -> None:
        """Opens with the present settings; with `key`, at that setting."""
        if not self.isVisible():
            self._refresh()
        self.appear()
        if key in self.rows:
            self.search.clear()
            row = self.rows[key]
            self.groups.setCurrentRow(self.area.groups.index(row.declared.group))
            row.editor.setFocus()
            self.area.ensureWidgetVisible(row)
        elif not key:
            self._focus_search()

    def show_value(self, key: str, value: object) -> None:
        """Shows a setting that was changed elsewhere; ignores settings that have no row."""
        if key in self.rows:
            self.rows[key].keep(value)
            self._kept(key)

    def set_choices(self, key: str, choices: Sequence[tuple[str, str]]) -> None:
        """Offers these values of a setting, each with its words. The present one stays offered in any case."""
        editor = self.rows[key].editor
        assert isinstance(editor, Choice), f"{key} isn't chosen from a list"
        editor.offer(choices)

    # -- what is shown

    def _refresh(self) -> None:
        for key, row in self.rows.items():
            row.editor.revert()
            row.keep(getattr(self._settings, key))
            row.show_error("")
        self._share_keys()
        self._before_reset, self.reset_bar.asking = {}, False
        self._show_foot()

    def _show_rows(self) -> None:
        searching = bool(self.search.text().strip())
        with QSignalBlocker(self.groups):
            if searching:
                self.groups.setCurrentRow(-1)
            elif self.groups.currentRow() < 0:
                self.groups.setCurrentRow(self._group)
        if searching:
            self.area.search(self.search.text())
        else:
            self.area.show_group(self.area.groups[self._group])
        self.area.verticalScrollBar().setValue(0)

    def _pick_group(self, place: int) -> None:
        if place >= 0:
            self._group = place
            with QSignalBlocker(self.search):
                self.search.clear()
            self._show_rows()

    def _focus_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _show_foot(self) -> None:
        changed = sum(not row.is_default for row in self.rows.values())
        self.reset_bar.show_state(changed, len(self._before_reset))

    # -- what the user changes

    def _changed(self, key: str, value: object) -> None:
        self._before_reset = {}
        self._kept(key)
        self.changed.emit(key, value)

    def _kept(self, key: str) -> None:
        if isinstance(self.rows[key].editor, Keys):
            self._share_keys()
        self._show_foot()

    def _share_keys(self) -> None:
        """Tells each field for hotkeys which keys the others use."""
        fields = [row.editor for row in self.rows.values() if isinstance(row.editor, Keys)]
        for field in fields:
            field.taken = tuple(other.value for other in fields if other is not field)

    def _reset_all(self) -> None:
        before = {key: row.value for key, row in self.rows.items() if not row.is_default}
        self._set({key: self.rows[key].declared.default for key in before})
        self._before_reset = before
        self._show_foot()

    def _undo(self) -> None:
        self._set(dict(self._before_reset))
        self._show_foot()

    def _set(self, values: Mapping[str, object]) -> None:
        for key, value in values.items():
            self.rows[key].set_value(value)

    def _commit(self) -> None:
        for row in self.rows.values():
            if row.editor.dirty:
                row.editor.commit()

    # -- building

    def _lay_out(self) -> None:
        middle = form.row(self.groups, self.area, spacing=4, stretch=1)
        foot = form.row(self.reset_bar, self.close_button, stretch=0)
        self.column.addWidget(self.search)
        self.column.addLayout(middle, 1)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self._fit_widths()
        self.resize(*SIZE_PX)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._show_rows)
        self.search.returnPressed.connect(self.area.focus_first)
        self.groups.currentRowChanged.connect(self._pick_group)
        for key, row in self.rows.items():
            row.changed.connect(lambda value, key=key: self._changed(key, value))
            if isinstance(row.editor, Keys):
                row.editor.typing.connect(self.keys_typed)
        self.reset_bar.asked.connect(self._commit)
        self.reset_bar.confirmed.connect(self._reset_all)
        self.reset_bar.undone.connect(self._undo)
        self.close_button.clicked.connect(self.close)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._focus_search)

    def _fit_widths(self) -> None:
        """Makes the list of groups as wide as its longest name."""
        metrics = self.groups.fontMetrics()
        items = [self.groups.item(place) for place in range(self.groups.count())]
        for item in items:
            item.setSizeHint(QSize(0, round(metrics.lineSpacing() * 1.7)))
        widest = max(metrics.horizontalAdvance(item.text()) for item in items)
        self.groups.setFixedWidth(widest + 2 * metrics.averageCharWidth() + 12)
        self.area.fit()
        self.column.activate()
        self.setMinimumWidth(self.column.totalMinimumSize().width())

    # -- Qt's own events

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_widths()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape reverts half-typed input, the search or the question, before it closes the dialog."""
        if event.key() == Qt.Key.Key_Escape:
            half_typed = next((row for row in self.rows.values() if row.editor.dirty), None)
            if half_typed is not None:
                half_typed.editor.revert()
                return
            if self.search.hasFocus() and self.search.text():
                self.search.clear()
                return
            if self.reset_bar.asking:
                self.reset_bar.decline()
                return
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self.area.focus_first()
            return
        super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Keeps what was typed."""
        self._commit()
        super().hideEvent(event)
