"""The Settings dialog: all user-editable settings, by page or by search, with a button to reset them all.

The dialog is generated from the declared settings. It emits the user's changes without applying them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QEvent, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QWidget

from app.gui.design.look import Dressed
from app.gui.design.plain import named
from app.gui.settings.choice_editors import Choice
from app.gui.settings.pages import PageList, SettingsArea
from app.gui.settings.text_editors import Keys
from app.gui.widgets import form
from app.gui.widgets.form import push_button
from app.gui.widgets.panel import Panel, Quiet
from app.settings.declarations import Settings

SIZE_PX = 920, 680


class ResetBar(QWidget):
    """The bar that resets all settings after asking for confirmation.

    Emits `asked` before the question is shown, `confirmed` to reset the settings, and `undone` to restore them.
    """

    asked = Signal()
    confirmed = Signal()
    undone = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.asking = False
        self._changed = self._undoable = 0
        self.note = Quiet(parent=self, name=self.tr("Effect of changes"))
        self.reset_button = push_button(self.tr("&Reset all…"), self.tr("Reset all settings"), self, self._ask)
        self.confirm_button = push_button(self.tr("&Reset them"), self.tr("Reset all settings now"), self)
        self.keep_button = push_button(self.tr("&Keep them"), self.tr("Keep the settings as they are"), self)
        self.undo_button = push_button(self.tr("&Undo"), self.tr("Undo the reset"), self, self._undo)
        buttons = (self.confirm_button, self.keep_button, self.undo_button)
        form.row(self.reset_button, (self.note, 1), *buttons, within=self)
        self.confirm_button.clicked.connect(self._confirm)
        self.keep_button.clicked.connect(self.decline)

    def show_state(self, changed: int, undoable: int) -> None:
        """Updates the bar.

        `changed`: number of settings that differ from their defaults. `undoable`: number of settings that have just
        been reset and can be restored.
        """
        self._changed, self._undoable = changed, undoable
        if self.asking:
            words = self.tr("Settings that are not at their defaults: {0}. Reset them?").format(changed)
        elif undoable:
            words = self.tr("Settings that are back at their defaults: {0}.").format(undoable)
        else:
            words = self.tr("Changes take effect at once, unless it says otherwise.")
        self.note.setText(words)
        self.reset_button.setVisible(not self.asking)
        self.reset_button.setEnabled(changed > 0)
        self.confirm_button.setVisible(self.asking)
        self.keep_button.setVisible(self.asking)
        self.undo_button.setVisible(undoable > 0 and not self.asking)

    def decline(self) -> None:
        """Dismisses the question without resetting anything."""
        self._set_asking(False)
        self.reset_button.setFocus()

    def _set_asking(self, asking: bool) -> None:
        self.asking = asking
        self.show_state(self._changed, self._undoable)

    def _ask(self) -> None:
        self.asked.emit()
        self._set_asking(True)
        self.confirm_button.setFocus()

    def _confirm(self) -> None:
        self.asking = False
        self.confirmed.emit()
        self.undo_button.setFocus()

    def _undo(self) -> None:
        self.undone.emit()
        self.reset_button.setFocus()


class SettingsDialog(Dressed, Panel):
    """The Settings dialog. Its pages can link to the dialogs named in `dialogs`."""

    changed = Signal(str, object)
    """Emits a setting's key and its new value once the user has committed it."""
    dialog_wanted = Signal(str)
    """Emits the name of another dialog that the user asks to open."""
    keys_typed = Signal(bool)
    """Emits whether a hotkey field has focus. Global hotkeys should be ignored meanwhile."""

    def __init__(self, settings: Settings, parent: QWidget, dialogs: Collection[str] = ()) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Settings"))
        self._settings = settings
        self._page = 0
        self._before_reset: dict[str, Any] = {}
        self.search = form.search_field(self, self.tr("Search the settings"), self.tr("Search"))
        self.pages = PageList(self)
        self.area = named(SettingsArea(self, dialogs), self.tr("Settings shown"))
        self.rows = self.area.rows
        self.reset_bar = ResetBar(self)
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"), does=self.close)
        self._lay_out()
        self._connect()
        self._refresh()
        self.pages.setCurrentRow(0)

    def open_refreshed(self, key: str = "") -> None:
        """Opens the dialog with the current settings, and navigates to the setting or page with this key, if any."""
        if not self.isVisible():
            self._refresh()
        self.appear()
        if key in self.rows:
            self._go_to(key)
        elif key in Settings.pages:
            self.search.clear()
            self.pages.setCurrentRow(list(Settings.pages).index(key))
            self.pages.setFocus()
        elif not key:
            self._focus_search()

    def show_value(self, key: str, value: object) -> None:
        """Shows the stored value of a setting. No-op for settings that aren't in the dialog."""
        if key in self.rows:
            self.rows[key].keep(value)
            self._kept(key)

    def say(self, key: str, sentence: str) -> None:
        """Shows an error message below a setting, e.g. if it could not be applied. An empty `sentence` clears it."""
        self.rows[key].refusal.say(sentence)

    def tell(self, key: str, sentence: str, *, usable: bool = True) -> None:
        """Shows a hint below a setting. If not `usable`, also disables its editor; the hint should then explain why."""
        self.rows[key].note.say(sentence)
        self.rows[key].editor.setEnabled(usable)

    def set_choices(self, key: str, choices: Sequence[tuple[str, str]]) -> None:
        """Sets the (value, label) pairs to choose from for a setting. Its current value is always listed."""
        editor = self.rows[key].editor
        assert isinstance(editor, Choice), f"{key} isn't chosen from a list"
        editor.offer(choices)
        self._show_links(key)

    # -- display

    def _refresh(self) -> None:
        for key, row in self.rows.items():
            row.editor.revert()
            row.keep(getattr(self._settings, key))
            row.refusal.say("")
            self._show_links(key)
        self._share_keys()
        self._before_reset, self.reset_bar.asking = {}, False
        self._show_foot()

    def _show_rows(self) -> None:
        searching = bool(self.search.text().strip())
        with QSignalBlocker(self.pages):
            if searching:
                self.pages.setCurrentRow(-1)
            elif self.pages.currentRow() < 0:
                self.pages.setCurrentRow(self._page)
        # Tab leads from the search to what it has found: the list of pages would open one.
        self.pages.setFocusPolicy(Qt.FocusPolicy.ClickFocus if searching else Qt.FocusPolicy.StrongFocus)
        self.pages.tint()
        if searching:
            self.area.search(self.search.text())
        else:
            self.area.show_page(list(Settings.pages)[self._page])
        self.area.verticalScrollBar().setValue(0)

    def _pick_page(self, place: int) -> None:
        if place >= 0:
            self._page = place
            self.search.clear()
            self._show_rows()

    def _follow_link(self, target: str) -> None:
        if target in self.rows:
            self._go_to(target)
        else:
            self.dialog_wanted.emit(target)

    def _go_to(self, key: str) -> None:
        """Switches to a setting's page, scrolls to the setting and gives it focus."""
        self.search.clear()
        self.pages.setCurrentRow(list(Settings.pages).index(self.area.page_of(key)))
        row = self.rows[key]
        row.editor.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.sendPostedEvents(None, QEvent.Type.LayoutRequest.value)  # lay out the page's rows first
        self.area.ensureWidgetVisible(row)

    def _show_links(self, key: str) -> None:
        """Updates the value shown in rows that link to this setting."""
        row = self.rows[key]
        for link in self.area.links:
            if link.link.target == key:
                link.show_value(row.editor.in_words(row.value))

    def _focus_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    def _show_foot(self) -> None:
        changed = sum(not row.is_default for row in self.rows.values())
        self.reset_bar.show_state(changed, len(self._before_reset))

    # -- user changes

    def _changed(self, key: str, value: object) -> None:
        self._before_reset = {}
        self._kept(key)
        self.changed.emit(key, value)

    def _kept(self, key: str) -> None:
        self._show_links(key)
        if isinstance(self.rows[key].editor, Keys):
            self._share_keys()
        self._show_foot()

    def _share_keys(self) -> None:
        """Passes each hotkey field the keys used by the other ones."""
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
        side = form.column(self.search, self.pages, spacing=12, stretch=1)
        foot = form.row(self.reset_bar, self.close_button, stretch=0)
        form.add_items(self.column, (form.row(side, self.area, spacing=8, stretch=1), 1), 4, foot)
        self._dress()
        room = self.screen().availableSize()
        self.resize(min(SIZE_PX[0], room.width()), min(SIZE_PX[1], room.height()))

    def _connect(self) -> None:
        self.search.textChanged.connect(self._show_rows)
        self.search.returnPressed.connect(self.area.focus_first)
        self.pages.currentRowChanged.connect(self._pick_page)
        for link in self.area.links:
            link.wanted.connect(self._follow_link)
        for key, row in self.rows.items():
            row.changed.connect(lambda value, key=key: self._changed(key, value))
            if isinstance(row.editor, Keys):
                row.editor.typing.connect(self.keys_typed)
        self.reset_bar.asked.connect(self._commit)
        self.reset_bar.confirmed.connect(self._reset_all)
        self.reset_bar.undone.connect(self._undo)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._focus_search)

    def _dress(self) -> None:
        self.pages.fit()
        self.search.setFixedWidth(self.pages.width())
        self.area.fit()
        self.column.activate()
        self.setMinimumWidth(self.column.totalMinimumSize().width())

    # -- Qt events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """On Escape, performs the first applicable action: reverts uncommitted input, clears the search, dismisses the
        question of the reset bar, or closes the dialog.
        """
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
        """Commits pending input."""
        self._commit()
        super().hideEvent(event)
