"""The shortcut sheet: groups of shortcuts in two columns, or in one if the dialog is narrow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QAction, QFont, QPaintEvent, QResizeEvent, QShortcut
from PySide6.QtWidgets import QBoxLayout, QMainWindow, QMenu, QScrollArea, QSizePolicy, QWidget

from app.gui.design.fonts import set_size, sized
from app.gui.design.look import painter_on
from app.gui.design.plain import named
from app.gui.design.theme import tokens
from app.gui.palette.command import menu_actions, native_keys, plain_title
from app.gui.palette.delegate import caps_size, paint_caps
from app.gui.widgets.form import add_items, column, fill_area, row, wrapped
from app.gui.widgets.panel import Panel, Quiet


@dataclass(frozen=True, slots=True)
class Key:
    """The shortcuts of an action, in the system's notation. `words`: the name of the action."""

    keys: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """A titled group of shortcuts."""

    title: str
    keys: tuple[Key, ...]


def menu_groups(bar: QMenu) -> list[KeyGroup]:
    """Returns a group for each menu that has visible entries with shortcuts."""
    return _grouped((place, action) for place, action in menu_actions(bar) if action.isVisible())


def other_keys(window: QMainWindow, menu: QMenu) -> tuple[Key, ...]:
    """Returns the shortcuts of the window that aren't in its menu: those of visible actions, and each `QShortcut` with
    a description (a "What's this?" text).
    """
    in_menus = {action for _, action in menu_actions(menu)}
    others = [action for action in window.actions() if action not in in_menus and action.isVisible()]
    keys = [key for group in _grouped(("", action) for action in others) for key in group.keys]
    for shortcut in window.findChildren(QShortcut):
        if shortcut.whatsThis() and not shortcut.key().isEmpty():
            keys.append(Key((native_keys(shortcut.key()),), shortcut.whatsThis()))
    return tuple(keys)


def _grouped(actions: Iterable[tuple[str, QAction]]) -> list[KeyGroup]:
    found: dict[str, list[Key]] = {}
    for place, action in actions:
        keys = tuple(native_keys(one) for one in action.shortcuts() if not one.isEmpty())
        if keys:
            found.setdefault(place, []).append(Key(keys, plain_title(action).rstrip("… ")))
    return [KeyGroup(title, tuple(keys)) for title, keys in found.items()]


SIZE_PX = 800, 560
COLUMN_LETTERS = 40
"""Minimum width of each column in the two-column layout, in average character widths."""


class KeyCaps(QWidget):
    """The shortcuts of an action, painted side by side as key caps."""

    def __init__(self, keys: Sequence[str], parent: QWidget) -> None:
        super().__init__(parent)
        self.keys = tuple(keys)
        self.setAccessibleName(", ".join(keys))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        sizes = [caps_size(one, self._letters()) for one in self.keys]
        width = sum(size.width() for size in sizes) + 12 * (len(sizes) - 1)
        return QSize(round(width) + 1, round(max(size.height() for size in sizes)))

    def paintEvent(self, event: QPaintEvent) -> None:
        with painter_on(self) as painter:
            right = float(self.width())
            for keys in reversed(self.keys):
                paint_caps(painter, keys, self._letters(), right, self.height() / 2, tokens())
                right -= caps_size(keys, self._letters()).width() + 12

    def _letters(self) -> QFont:
        return sized(self.font(), "caption")


class _Group(QWidget):
    def __init__(self, group: KeyGroup, parent: QWidget) -> None:
        super().__init__(parent)
        self.title = Quiet(group.title, self)
        lines = [
            row(wrapped(self, text=key.words), KeyCaps(key.keys, self), spacing=12, stretch=0) for key in group.keys
        ]
        column(self.title, *lines, within=self, spacing=8)
        set_size(self.title, "small", QFont.Weight.DemiBold)


class ShortcutSheet(Panel):
    """A dialog that lists all keyboard shortcuts. Emits `guide_wanted` when the user asks for the guide."""

    guide_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Keys"))
        self.groups: tuple[KeyGroup, ...] = ()
        self._halves = QWidget(self)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._halves)
        self._columns.setContentsMargins(8, 8, 8, 8)
        self._columns.setSpacing(40)
        self.area = named(QScrollArea(self), self.tr("All keys"))
        self.area.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        fill_area(self.area, self._halves)
        self.guide_button = self.button(self.tr("Open the &guide"), does=self._open_guide)
        self.close_button = self.button(self.tr("Close"), does=self.close)
        add_items(self.column, (self.area, 1), 4, row(self.guide_button, None, self.close_button))
        room = self.screen().availableSize()
        self.resize(min(SIZE_PX[0], room.width()), min(SIZE_PX[1], room.height()))

    def open_with(self, groups: Sequence[KeyGroup]) -> None:
        """Opens the dialog with these groups, split into columns of similar height. Empty groups are omitted."""
        self.groups = tuple(group for group in groups if group.keys)
        while (old := self._columns.takeAt(0)) is not None:
            if (widget := old.widget()) is not None:
                widget.deleteLater()
        for half in _halves(self.groups):
            side = QWidget(self._halves)
            column(*(_Group(group, side) for group in half), None, within=side, spacing=24)
            self._columns.addWidget(side, 1)
        self._arrange()
        self.appear()
        self.close_button.setFocus()

    def _arrange(self) -> None:
        """Arranges the columns side by side if they fit, otherwise stacks them."""
        wide = self.width() > 2 * COLUMN_LETTERS * self.fontMetrics().averageCharWidth()
        ways = QBoxLayout.Direction
        self._columns.setDirection(ways.LeftToRight if wide else ways.TopToBottom)
        self._columns.setSpacing(40 if wide else 24)

    def _open_guide(self) -> None:
        self.close()
        self.guide_wanted.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()


def _halves(groups: Sequence[KeyGroup]) -> tuple[Sequence[KeyGroup], Sequence[KeyGroup]]:
    """Splits the groups into two parts of similar height, counting a group's title as one and a half rows."""
    heights = [len(group.keys) + 1.5 for group in groups]
    best = min(range(len(groups) + 1), key=lambda cut: abs(sum(heights[:cut]) - sum(heights[cut:])))
    return groups[:best], groups[best:]
