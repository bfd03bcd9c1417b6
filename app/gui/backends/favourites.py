"""The user's favourite back-ends, one click or one key away, for swapping during a conversation."""

from __future__ import annotations

import json
from collections.abc import Iterable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.gui.state.choice import MODELLED, is_router
from app.session.control import BackendChoice

MAX_FAVOURITES = 9
"""Alt+1 to Alt+9."""


class FavouritesButton(QToolButton):
    """A star with a menu: the favourites, each with its key, and an entry that adds or removes the current back-end."""

    picked = Signal(object)
    """A `BackendChoice`."""
    changed = Signal(object)
    """All favourites, as a tuple of `BackendChoice`, after one was added or removed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._backends: tuple[BackendChoice, ...] = ()
        self._current = BackendChoice()
        self._labels: dict[str, str] = {}
        self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMenu(QMenu(self))
        name = self.tr("Favourite models")
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.picks: list[QAction] = []
        """Belong to the window, so that their keys work wherever the focus is."""
        self._group = QActionGroup(self)
        self._keep = QAction(self)
        self._keep.triggered.connect(self._toggle)
        self._fill()

    def set_labels(self, labels: dict[str, str]) -> None:
        """Sets the providers' names for people, by key."""
        self._labels = labels
        self._fill()

    def show_backends(self, backends: Iterable[BackendChoice]) -> None:
        self._backends = tuple(dict.fromkeys(backends))[:MAX_FAVOURITES]
        self._fill()

    def show_backend(self, choice: BackendChoice) -> None:
        """Marks the current back-end."""
        if choice != self._current:
            self._current = choice
            self._fill()

    def words(self, choice: BackendChoice) -> str:
        """A back-end's name for people."""
        label = self._labels.get(choice.provider, choice.provider)
        return f"{choice.model} ({label})" if choice.model else label

    def _fill(self) -> None:
        menu = self.menu()
        menu.clear()
        for action in self.picks:
            self.window().removeAction(action)
            self._group.removeAction(action)
            action.deleteLater()  # not at once: it may be the one that was triggered
        self.picks = []
        for number, choice in enumerate(self._backends, 1):
            action = QAction(self.words(choice), self)
            action.setCheckable(True)
            action.setChecked(choice == self._current)
            action.setShortcut(QKeySequence(f"Alt+{number}"))
            action.triggered.connect(lambda _=False, choice=choice: self.picked.emit(choice))
            self._group.addAction(action)
            menu.addAction(action)
            self.window().addAction(action)
            self.picks.append(action)
        if self._backends:
            menu.addSeparator()
        is_one = self._current in self._backends
        backend = self.words(self._current)
        self._keep.setText((self.tr("Remove {0}") if is_one else self.tr("Add {0}")).format(backend))
        self._keep.setEnabled(is_one or len(self._backends) < MAX_FAVOURITES)
        menu.addAction(self._keep)
        self.setText("★" if is_one else "☆")

    def _toggle(self) -> None:
        rest = tuple(choice for choice in self._backends if choice != self._current)
        self.show_backends(rest if len(rest) < len(self._backends) else (*self._backends, self._current))
        self.changed.emit(self._backends)


def to_text(backends: Iterable[BackendChoice]) -> str:
    """Favourites as JSON, for the settings."""
    rows = [{"provider": b.provider, "model": b.model, "base_url": b.base_url} for b in backends]
    return json.dumps(rows, ensure_ascii=False) if rows else ""


def from_text(text: str, providers: Iterable[str]) -> tuple[BackendChoice, ...]:
    """Reads what `to_text` wrote; skips what is malformed or of an unknown provider."""
    known = set(providers)
    try:
        rows = json.loads(text or "[]")
    except ValueError:
        return ()
    backends = []
    for row in rows if isinstance(rows, list) else ():
        if not isinstance(row, dict) or row.get("provider") not in known:
            continue
        choice = BackendChoice(*(str(row.get(key, "")) for key in ("provider", "model", "base_url")))
        if choice.provider in MODELLED or is_router(choice) or not choice.model:
            backends.append(choice)
    return tuple(backends)[:MAX_FAVOURITES]
