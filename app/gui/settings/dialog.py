"""The dialog “Settings”: every setting that people change, by group or by what they search for.

Derives all of it from the declaration of the settings, which it reads. Says what the user wants, and changes nothing
itself; knows nothing of talks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.gui.settings.choice_editors import Choice
from app.gui.settings.row import SettingRow
from app.gui.settings.text_editors import Keys
from app.gui.shell.translation import said
from app.gui.widgets.panel import Panel, Quiet
from app.settings.declarations import Settings, declarations

SIZE_PX = 760, 560
ROW_SPACE_PX = 16
WIDEST_LETTERS = 140


class SettingsDialog(Panel):
    """`open_afresh` shows it; `changed` tells a key and its new value, as soon as it is whole."""

    changed = Signal(str, object)
    keys_typed = Signal(bool)
    """Keys are about to be typed into a field, or no longer: meanwhile the hotkeys should take none."""

    def __init__(self, settings: Settings, parent: QWidget) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Settings"))
        self._settings = settings
        self._before: dict[str, Any] = {}
        """What was kept when all was reset, for the way back."""
        self._asking = False
        self.search = QLineEdit(self)
        self.search.setAccessibleName(self.tr("Search the settings"))
        self.search.setPlaceholderText(self.tr("Search"))
        self.search.setClearButtonEnabled(True)
        self.groups = QListWidget(self)
        self.groups.setAccessibleName(self.tr("Groups of settings"))
        self.scroll = QScrollArea(self)
        self.scroll.setAccessibleName(self.tr("Settings shown"))
        self.rows = {one.name: SettingRow(one) for one in declarations() if one.place == "dialog"}
        held = {row.declared.group for row in self.rows.values()}
        self._groups = [group for group in Settings.groups if group in held]
        self.titles = {group: QLabel(said(Settings.groups[group])) for group in self._groups}
        self.nothing = Quiet(parent=self)
        self.note = Quiet(parent=self)
        self.note.setAccessibleName(self.tr("What changes do"))
        self.reset_button = self.button(self.tr("&Reset all…"), self.tr("Reset all settings"))
        self.confirm_button = self.button(self.tr("&Reset them"), self.tr("Reset all settings now"))
        self.keep_button = self.button(self.tr("&Keep them"), self.tr("Keep the settings as they are"))
        self.undo_button = self.button(self.tr("&Undo"), self.tr("Undo the reset"))
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"))
        self._lay_out()
        self._connect()
        self._refresh()
        self._settle_foot()
        self.groups.setCurrentRow(0)

    def open_afresh(self, key: str = "") -> None:
        """Appears, with the settings as they are now; with `key`, at that setting."""
        if not self.isVisible():
            self._refresh()
            self._settle_foot()
        self.appear()
        if key in self.rows:
            self.search.clear()
            row = self.rows[key]
            self.groups.setCurrentRow(self._groups.index(row.declared.group))
            row.editor.setFocus()
            self.scroll.ensureWidgetVisible(row)
        elif not key:
            self.search.setFocus()
            self.search.selectAll()

    def show_value(self, key: str, value: object) -> None:
        """Shows a setting that was changed elsewhere meanwhile; settings that aren't here don't matter."""
        if key in self.rows:
            self.rows[key].keep(value)
            self._kept(key)

    def set_choices(self, key: str, choices: Sequence[tuple[str, str]]) -> None:
        """Offers these values of a setting, each with its words. A kept one that isn't among them stays offered."""
        editor = self.rows[key].editor
        assert isinstance(editor, Choice), f"{key} isn't chosen from a list"
        editor.offer(choices)

    # -- what is shown

    def _refresh(self) -> None:
        for key, row in self.rows.items():
            row.editor.revert()
            row.keep(getattr(self._settings, key))
            row.refuse("")
        self._share_keys()
        self._before, self._asking = {}, False

    def _show(self) -> None:
        """Shows the rows of the group, or those that are searched for."""
        words = self.search.text().casefold().split()
        with QSignalBlocker(self.groups):
            if words:
                self.groups.setCurrentRow(-1)
            elif self.groups.currentRow() < 0:
                self.groups.setCurrentRow(self._group)
        group = self._groups[self._group]
        found = set()
        for row in self.rows.values():
            shown = row.holds(words) if words else row.declared.group == group
            row.setVisible(shown)
            if shown:
                found.add(row.declared.group)
        for name, title in self.titles.items():
            title.setVisible(name in found)
        self.nothing.setText(self.tr("Nothing found for “{0}”.").format(self.search.text().strip()))
        self.nothing.setVisible(not found)

    def _pick_group(self, place: int) -> None:
        if place >= 0:
            self._group = place
            with QSignalBlocker(self.search):
                self.search.clear()
            self._show()
            self.scroll.verticalScrollBar().setValue(0)

    def _searched(self) -> None:
        self._show()
        self.scroll.verticalScrollBar().setValue(0)

    def _enter_found(self) -> None:
        """The keyboard goes to the first setting that is shown."""
        first = next((row for row in self.rows.values() if not row.isHidden()), None)
        if first is not None:
            first.editor.setFocus(Qt.FocusReason.TabFocusReason)

    # -- what is wanted

    def _wanted(self, key: str, value: object) -> None:
        self._before = {}
        self._kept(key)
        self.changed.emit(key, value)

    def _kept(self, key: str) -> None:
        if isinstance(self.rows[key].editor, Keys):
            self._share_keys()
        self._settle_foot()

    def _share_keys(self) -> None:
        fields = [row.editor for row in self.rows.values() if isinstance(row.editor, Keys)]
        for field in fields:
            field.taken = tuple(other.value for other in fields if other is not field)

    @property
    def _odd(self) -> list[SettingRow]:
        return [row for row in self.rows.values() if not row.is_default]

    def _ask(self) -> None:
        self._commit()
        self._asking = True
        self._settle_foot()
        self.confirm_button.setFocus()

    def _reset_all(self) -> None:
        before = {row.declared.name: row.value for row in self._odd}
        self._change({key: self.rows[key].declared.default for key in before})
        self._before, self._asking = before, False
        self._settle_foot()
        self.undo_button.setFocus()

    def _undo(self) -> None:
        self._change(dict(self._before))
        self._settle_foot()
        self.reset_button.setFocus()

    def _change(self, values: Mapping[str, object]) -> None:
        for key, value in values.items():
            self.rows[key].want(value)

    def _keep_all(self) -> None:
        self._asking = False
        self._settle_foot()
        self.reset_button.setFocus()

    def _settle_foot(self) -> None:
        asking = self._asking
        number = len(self._odd)
        if asking:
            words = self.tr("Settings that aren't at their defaults: {0}. Reset them?").format(number)
        elif self._before:
            words = self.tr("Settings that are back at their defaults: {0}.").format(len(self._before))
        else:
            words = self.tr("Changes hold at once, unless it says otherwise.")
        self.note.setText(words)
        undoing = bool(self._before) and not asking
        self.reset_button.setVisible(not asking)
        self.reset_button.setEnabled(number > 0)
        self.confirm_button.setVisible(asking)
        self.keep_button.setVisible(asking)
        self.undo_button.setVisible(undoing)

    def _commit(self) -> None:
        for row in self.rows.values():
            if row.editor.dirty:
                row.editor.commit()

    # -- inner parts

    def _lay_out(self) -> None:
        self.column.addWidget(self.search)
        inside = QWidget(self.scroll)
        column = QVBoxLayout(inside)
        column.setContentsMargins(16, 4, 12, 12)
        column.setSpacing(ROW_SPACE_PX)
        column.addWidget(self.nothing)
        for group in self._groups:
            title = self.titles[group]
            font = title.font()
            font.setBold(True)
            title.setFont(font)
            title.setContentsMargins(0, 6, 0, 0)
            column.addWidget(title)
            for row in self.rows.values():
                if row.declared.group == group:
                    column.addWidget(row)
        column.addStretch(1)
        self.scroll.setWidget(inside)
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.groups.addItems([said(Settings.groups[group]) for group in self._groups])
        self.groups.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        middle = QHBoxLayout()
        middle.setSpacing(4)
        middle.addWidget(self.groups)
        middle.addWidget(self.scroll, 1)
        self.column.addLayout(middle, 1)
        foot = QHBoxLayout()
        foot.addWidget(self.reset_button)
        foot.addWidget(self.note, 1)
        for button in (self.confirm_button, self.keep_button, self.undo_button, self.close_button):
            foot.addWidget(button)
        self.column.addSpacing(4)
        self.column.addLayout(foot)
        self._group = 0
        self._fit_widths()
        self.resize(*SIZE_PX)

    def _connect(self) -> None:
        self.search.textChanged.connect(self._searched)
        self.search.returnPressed.connect(self._enter_found)
        self.groups.currentRowChanged.connect(self._pick_group)
        for key, row in self.rows.items():
            row.changed.connect(lambda value, key=key: self._wanted(key, value))
            if isinstance(row.editor, Keys):
                row.editor.typing.connect(self.keys_typed)
        self.reset_button.clicked.connect(self._ask)
        self.confirm_button.clicked.connect(self._reset_all)
        self.keep_button.clicked.connect(self._keep_all)
        self.undo_button.clicked.connect(self._undo)
        self.close_button.clicked.connect(self.close)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self.search.setFocus)
        find.activated.connect(self.search.selectAll)

    def _fit_widths(self) -> None:
        """The list is as wide as its longest name, and what is beside it as wide as its widest setting needs."""
        metrics = self.groups.fontMetrics()
        bar = self.scroll.verticalScrollBar().sizeHint().width()
        items = [self.groups.item(place) for place in range(self.groups.count())]
        for item in items:
            item.setSizeHint(QSize(0, round(metrics.lineSpacing() * 1.7)))
        texts = [item.text() for item in items]
        self.groups.setFixedWidth(max(map(metrics.horizontalAdvance, texts)) + 2 * metrics.averageCharWidth() + 12)
        # On a wide dialog, an editor must not stand far from its label.
        self.scroll.widget().setMaximumWidth(metrics.averageCharWidth() * WIDEST_LETTERS)
        margins = self.scroll.widget().layout().contentsMargins()
        widest = max(row.minimumSizeHint().width() for row in self.rows.values())
        self.scroll.setMinimumHeight(metrics.lineSpacing() * 12)
        self.scroll.setMinimumWidth(widest + margins.left() + margins.right() + bar)
        self.column.activate()
        self.setMinimumWidth(self.column.totalMinimumSize().width())

    # -- Qt's own events

    def changeEvent(self, event: QEvent) -> None:
        """Follows the fonts."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._fit_widths()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape takes back what is half done, before it closes."""
        if event.key() == Qt.Key.Key_Escape:
            half_typed = next((row for row in self.rows.values() if row.editor.dirty), None)
            if half_typed is not None:
                half_typed.editor.revert()
                return
            if self.search.hasFocus() and self.search.text():
                self.search.clear()
                return
            if self.confirm_button.isVisible():
                self._keep_all()
                return
        if event.key() == Qt.Key.Key_Down and self.search.hasFocus():
            self._enter_found()
            return
        super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """What is typed is meant."""
        self._commit()
        super().hideEvent(event)
