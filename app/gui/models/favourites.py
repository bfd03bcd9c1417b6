"""The user's favourite back-ends, each with a keyboard shortcut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QWidget

from app.gui.design.plain import verbatim
from app.gui.models.model_lists import ModelLists
from app.session.control import BackendChoice

MAX_FAVOURITES = 9
"""Maximum number of favourites: one for each of the shortcuts Alt+1 to Alt+9."""


def read_rows(rows: Iterable[Any], providers: Iterable[str]) -> list[BackendChoice]:
    """Returns the favourites in `rows`, skipping malformed entries and unknown providers."""
    known = list(providers)  # not a set, as a provider read from a file may be unhashable
    return [
        BackendChoice(*(str(row.get(key, "")) for key in ("provider", "model", "base_url")))
        for row in rows
        if isinstance(row, dict) and row.get("provider") in known
    ]


class Favourites(QObject):
    """An ordered list of favourites, each with a shortcut that works anywhere in `window`."""

    picked = Signal(object)
    """Emits a `BackendChoice` when its shortcut is pressed."""
    changed = Signal()
    """Emitted when the user adds or removes a favourite."""
    shown = Signal()
    """Emitted when `backends` has been replaced."""

    def __init__(self, window: QWidget, lists: ModelLists) -> None:
        super().__init__(window)
        self._lists = lists
        self.backends: tuple[BackendChoice, ...] = ()
        self._window = window
        self._current = BackendChoice()
        self.picks: list[QAction] = []
        """The favourites' actions, in order. They hold the shortcuts."""
        self._group = QActionGroup(self)

    @property
    def rows(self) -> list[dict[str, str]]:
        """The favourites in the format in which they are saved with the window's state."""
        return [{"provider": b.provider, "model": b.model, "base_url": b.base_url} for b in self.backends]

    def show_rows(self, rows: Iterable[Any]) -> None:
        """Restores favourites that were saved with the window's state."""
        self.show_backends(read_rows(rows, self._lists.views))

    def show_backends(self, backends: Iterable[BackendChoice]) -> None:
        """Replaces the favourites. Drops duplicates and any beyond `MAX_FAVOURITES`."""
        self.backends = tuple(dict.fromkeys(backends))[:MAX_FAVOURITES]
        self._fill()

    def show_backend(self, choice: BackendChoice) -> None:
        """Checks the action of the current back-end, if it is a favourite."""
        if choice != self._current:
            self._current = choice
            for action, backend in zip(self.picks, self.backends, strict=True):
                action.setChecked(backend == choice)

    def toggle(self, choice: BackendChoice) -> None:
        """Adds a back-end, unless the list is full, or removes it if it is already a favourite."""
        rest = tuple(one for one in self.backends if one != choice)
        if len(rest) == len(self.backends) >= MAX_FAVOURITES:
            return
        self.show_backends(rest if len(rest) < len(self.backends) else (*self.backends, choice))
        self.changed.emit()

    def _fill(self) -> None:
        for action in self.picks:
            self._window.removeAction(action)
            self._group.removeAction(action)
            action.deleteLater()  # deferred, as this may be the action being triggered
        self.picks = []
        for number, choice in enumerate(self.backends, 1):
            action = QAction(verbatim(self._lists.words(choice)), self)
            action.setCheckable(True)
            action.setChecked(choice == self._current)
            action.setShortcut(QKeySequence(f"Alt+{number}"))
            action.triggered.connect(lambda _=False, choice=choice: self.picked.emit(choice))
            self._group.addAction(action)
            self._window.addAction(action)
            self.picks.append(action)
        self.shown.emit()
