"""The pane of saved conversations: heading, search field, list, menus and undo bar.

The pane itself stores nothing. It shows the conversations passed to it and emits the user's requests as signals.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QInputDialog, QLineEdit, QMenu, QSizePolicy, QWidget

from app.gui.conversations.list_model import ConversationList
from app.gui.conversations.list_view import ConversationRows
from app.gui.design.fonts import embolden
from app.gui.design.icons import IconButton
from app.gui.design.motion import timer
from app.gui.design.plain import named, verbatim
from app.gui.widgets.form import column, row, search_field
from app.gui.widgets.panel import ElidedLabel
from app.gui.widgets.undo_bar import ConfirmBar, NoteBox, UndoBar
from app.history.base import LONGEST_TITLE, ConversationView


class FolderMenu(QMenu):
    """A submenu for moving a conversation to a folder, and the context menu of folders (`open_for`)."""

    moved = Signal(str, str)
    """Emits a conversation's key and its new folder, which is empty to move it out of its folder."""
    folder_renamed = Signal(str, str)
    """Emits a folder's name and its new name, which is empty to remove the folder."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(self.tr("Mo&ve to folder"), parent)
        self._owner = parent
        self._about = ""
        self._group = QActionGroup(self)
        self.dialog: QInputDialog | None = None
        self.own = QMenu(parent)
        """The context menu of a folder."""
        self.own.addAction(self.tr("&Rename…")).triggered.connect(lambda: self.ask_name(self._about))
        self.own.addAction(self.tr("Remove &folder")).triggered.connect(
            lambda: self.folder_renamed.emit(self._about, "")
        )
        self.own.setToolTipsVisible(True)
        self.own.actions()[-1].setToolTip(self.tr("Removes the folder; its conversations stay."))

    def fill(self, view: ConversationView, folders: Sequence[str]) -> None:
        """Fills the submenu with `folders`, as targets for the conversation `view`."""
        self.clear()
        for name in folders:
            action = self.addAction(verbatim(name))
            action.setCheckable(True)
            action.setChecked(name == view.folder)
            action.triggered.connect(lambda _=False, name=name: self.moved.emit(view.key, name))
            self._group.addAction(action)
        if folders:
            self.addSeparator()
        new = self.addAction(self.tr("&New folder…"))
        new.triggered.connect(lambda: self._ask(self.tr("New folder"), "", lambda name: self._move(view.key, name)))
        out = self.addAction(self.tr("Move &out of the folder"))
        out.setEnabled(bool(view.folder))
        out.triggered.connect(lambda: self.moved.emit(view.key, ""))

    def open_for(self, folder: str, place: QPoint) -> None:
        """Opens the context menu of a folder at a screen position."""
        self._about = folder
        self.own.popup(place)

    def ask_name(self, folder: str) -> None:
        """Opens a dialog that asks for a folder's new name."""
        self._ask(self.tr("Rename folder"), folder, lambda name: self._rename(folder, name))

    def _ask(self, title: str, name: str, chosen: Callable[[str], None]) -> None:
        label = self.tr("The folder's name:")
        self.dialog = dialog = QInputDialog(self._owner.window())
        dialog.setWindowTitle(title)
        dialog.setLabelText(label)
        dialog.setTextValue(name)
        field = dialog.findChild(QLineEdit)
        if field is not None:
            field.setMaxLength(LONGEST_TITLE)
            field.setAccessibleName(label)
        dialog.textValueSelected.connect(chosen)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _move(self, key: str, name: str) -> None:
        if name := " ".join(name.split()):
            self.moved.emit(key, name)

    def _rename(self, folder: str, name: str) -> None:
        name = " ".join(name.split())
        if name and name != folder:
            self.folder_renamed.emit(folder, name)


SEARCH_MS = 150
"""Delay between the last keystroke and the search."""

DAY_CHECK_MS = 60_000
NARROWEST_PX = 180
WIDEST_PX = 400


class ConversationsPane(QWidget):
    """The pane of saved conversations. Signals carry a conversation's key unless noted otherwise."""

    opened = Signal(str)
    new_wanted = Signal()
    searched = Signal(str)
    """Emits the search text, which is empty to list all conversations."""
    renamed = Signal(str, str)
    """Emits a key and a new title, which is empty to request an automatic title."""
    pin_wanted = Signal(str, bool)
    """Emits a key and whether to pin (True) or unpin (False) the conversation."""
    remove_wanted = Signal(str)
    remove_all_wanted = Signal()
    undo_wanted = Signal()
    undo_expired = Signal()
    duplicate_wanted = Signal(str)
    export_wanted = Signal(str)
    import_wanted = Signal()

    def __init__(self, parent: QWidget | None = None, *, now: Callable[[], float] = time.time) -> None:
        super().__init__(parent)
        self._now = now
        self._words: str | None = None
        self.list = ConversationList(self)
        self._lay_out()
        self._search_timer = timer(self, SEARCH_MS, self._search)
        self._day_timer = timer(self, DAY_CHECK_MS, lambda: self.list.grow_old(self._now()), repeats=True)
        self._day_timer.setTimerType(Qt.TimerType.VeryCoarseTimer)
        self._day_timer.start()
        self._make_menus()
        self._connect()

    # -- display

    def show_conversations(self, views: Sequence[ConversationView], words: str = "") -> None:
        """Shows these conversations. `words`: the search text that found them, or empty if all are listed.

        Preserves the highlight and, unless the search text has changed, the scroll position.
        """
        new_search, self._words = words != self._words, words
        seen = [] if new_search else self.rows.in_view()
        highlighted = self.rows.highlighted
        self.list.show(views, self._now(), self.locale(), all_open=bool(words))
        if highlighted and self.rows.highlighted != highlighted:
            self.rows.highlight(highlighted)
        self.rows.hold(seen)
        self._show_empty_text()

    def show_trouble(self, sentence: str) -> None:
        """Shows an error message, for example if conversations can't be saved. An empty `sentence` hides it."""
        self.trouble.say(sentence)
        self._show_empty_text()

    def highlight(self, key: str) -> None:
        """Highlights a conversation if it is listed, and opens its folder if necessary."""
        self.list.reveal(key)
        self.rows.highlight(key)

    def clear_search(self) -> None:
        self.search.clear()
        self._search()

    def focus_search(self) -> None:
        self.search.setFocus()
        self.search.selectAll()

    @property
    def words(self) -> str:
        return " ".join(self.search.text().split())

    def _show_empty_text(self) -> None:
        if self._words:
            self.rows.say_empty(self.tr("Nothing found for “{0}”.").format(self._words))
        elif self._words is None or self.trouble.sentence:
            self.rows.say_empty("")  # it is unknown whether any conversations exist
        else:
            self.rows.say_empty(self.tr("Your conversations are kept here."))

    # -- user actions

    def _search(self) -> None:
        self._search_timer.stop()
        self.searched.emit(self.words)

    def _chosen(self) -> str:
        """Returns the key for menu commands: that of the highlighted conversation, else of the open one, else empty."""
        return self.rows.highlighted or (self.list.current if self.list.view(self.list.current) is not None else "")

    def _toggle_pin(self, key: str) -> None:
        if (view := self.list.view(key)) is not None:
            self.pin_wanted.emit(key, not view.pinned)

    def _open_menu(self, key: str, place: QPoint) -> None:
        self._about = key
        view = self.list.view(key)
        if view is not None:
            self.folders.fill(view, self.list.folders)
        self.pin_action.setText(self.tr("Un&pin") if view is not None and view.pinned else self.tr("&Pin"))
        self.menu.popup(place)

    def _open_more(self) -> None:
        some = bool(self.list.rows) or bool(self.words)
        self.export_chosen.setEnabled(bool(self._chosen()))
        self.remove_all.setEnabled(some)
        self.more_menu.popup(self.more.mapToGlobal(self.more.rect().bottomLeft()))

    def _ask_all(self) -> None:
        self.ask.ask(self.tr("Delete all conversations, and the sound that was kept with them?"))

    def _undo(self) -> None:
        if self.undo.sentence:
            self.rows.setFocus()  # before the undo button, which may have the focus, is hidden
            self.undo_wanted.emit()

    # -- construction

    def _lay_out(self) -> None:
        self.setMinimumWidth(NARROWEST_PX)
        self.setMaximumWidth(WIDEST_PX)
        self.heading = ElidedLabel(self.tr("Conversations"), self)
        embolden(self.heading)
        self.new_button = IconButton("plus", self.tr("New conversation"), self, self.new_wanted)
        self.new_button.setText(self.tr("&New conversation"))
        self.new_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.new_button.setToolTip(self.tr("Start a new conversation"))
        self.more = IconButton("ellipsis", self.tr("More about conversations"), self, self._open_more)
        self.more.setToolTip(self.tr("Import, export, delete all"))
        self.search = search_field(self, self.tr("Search conversations"), self.tr("Search"))
        self.trouble = NoteBox(self, urgent=True)
        self.rows = named(ConversationRows(self.list, self), self.tr("Conversations"))
        self.ask = ConfirmBar(self.tr("Delete all"), self.tr("Keep them"), self)
        self.undo = UndoBar(self)
        self.new_button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        top = row(self.heading, self.more, spacing=4, stretch=0)
        top.setContentsMargins(14, 0, 0, 0)  # aligned with the text of the rows
        parts = (top, self.new_button, self.search, self.trouble, (self.rows, 1), self.ask, self.undo)
        column(*parts, within=self, spacing=8, margins=(8, 8, 4, 8))
        self.search.installEventFilter(self)

    def _make_menus(self) -> None:
        self._about = ""
        self.menu = QMenu(self)
        self.folders = FolderMenu(self)
        for name, words, keys, signal in (
            ("open", self.tr("&Open"), "", self.opened),
            ("rename", self.tr("&Rename"), "F2", None),
            ("pin", self.tr("&Pin"), "P", self.rows.pin_wanted),
            ("duplicate", self.tr("&Duplicate with another model…"), "", self.duplicate_wanted),
            ("export", self.tr("&Export…"), "", self.export_wanted),
            ("", "", "", None),
            ("remove", self.tr("De&lete"), "Del", self.remove_wanted),
        ):
            if not name:
                self.menu.addSeparator()
                continue
            action = QAction(words, self.menu)
            action.setObjectName(name)
            # Only for display; the list handles these keys itself.
            action.setShortcut(QKeySequence(keys))
            action.setShortcutVisibleInContextMenu(True)
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            wanted = self.rows.rename if signal is None else signal.emit
            action.triggered.connect(lambda _=False, wanted=wanted: wanted(self._about))
            self.menu.addAction(action)
            if name == "pin":
                self.pin_action = action
                self.menu.addMenu(self.folders)
        self.more_menu = QMenu(self)
        self.more_menu.addAction(self.tr("&Import…")).triggered.connect(lambda: self.import_wanted.emit())
        self.export_chosen = self.more_menu.addAction(self.tr("&Export…"))
        self.export_chosen.triggered.connect(lambda: self.export_wanted.emit(self._chosen()))
        self.more_menu.addSeparator()
        self.remove_all = self.more_menu.addAction(self.tr("&Delete all…"))
        self.remove_all.triggered.connect(self._ask_all)

    def _connect(self) -> None:
        self.search.textChanged.connect(lambda _: self._search_timer.start())
        self.list.renamed.connect(self.renamed)
        self.rows.opened.connect(self.opened)
        self.rows.pin_wanted.connect(self._toggle_pin)
        self.rows.remove_wanted.connect(self.remove_wanted)
        self.rows.undo_wanted.connect(self._undo)
        self.rows.menu_wanted.connect(self._open_menu)
        self.rows.folder_menu_wanted.connect(self.folders.open_for)
        self.rows.folder_rename_wanted.connect(self.folders.ask_name)
        self.rows.left_above.connect(self.focus_search)
        self.undo.undone.connect(self._undo)
        self.undo.expired.connect(self.undo_expired)
        self.ask.left.connect(lambda: self.rows.setFocus())
        self.ask.agreed.connect(self.remove_all_wanted)

    # -- Qt overrides

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handles keys in the search field: Escape clears it, Down and Enter move the focus to the list."""
        if watched is self.search and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            if event.key() == Qt.Key.Key_Escape and self.search.text():
                self.clear_search()
                return True
            if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self._search_timer.isActive():
                    self._search()
                self.rows.setFocus()  # selects the first row if none is highlighted
                return True
        return super().eventFilter(watched, event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LocaleChange and self._words is not None:
            self.list.set_locale(self.locale())
