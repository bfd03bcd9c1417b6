"""The user's favourite back-ends, one click or one key away, for swapping during a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QWidget

from app.gui.design.plain import verbatim
from app.gui.state.choice import MODELLED, is_router
from app.session.control import BackendChoice

MAX_FAVOURITES = 9
"""Alt+1 to Alt+9."""


class Favourites(QObject):
    """The favourites in their order, each with a key that works in all of `window`."""

    picked = Signal(object)
    """A `BackendChoice`."""
    changed = Signal(object)
    """All favourites, as a tuple of `BackendChoice`, after one was added or removed."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.backends: tuple[BackendChoice, ...] = ()
        self._window = window
        self._current = BackendChoice()
        self._labels: dict[str, str] = {}
        self.picks: list[QAction] = []
        """One action for each, with its key."""
        self._group = QActionGroup(self)

    @property
    def full(self) -> bool:
        """Whether no more can be added."""
        return len(self.backends) >= MAX_FAVOURITES

    def set_labels(self, labels: dict[str, str]) -> None:
        """Sets the providers' names for people, by key."""
        self._labels = labels
        self._fill()

    def show_backends(self, backends: Iterable[BackendChoice]) -> None:
        """Has these as favourites, as many as there are keys."""
        self.backends = tuple(dict.fromkeys(backends))[:MAX_FAVOURITES]
        self._fill()

    def show_backend(self, choice: BackendChoice) -> None:
        """Marks the current back-end."""
        if choice != self._current:
            self._current = choice
            for action, backend in zip(self.picks, self.backends, strict=True):
                action.setChecked(backend == choice)

    def words(self, choice: BackendChoice) -> str:
        """A back-end's name for people."""
        label = self._labels.get(choice.provider, choice.provider)
        return f"{choice.model} ({label})" if choice.model else label

    def toggle(self, choice: BackendChoice) -> None:
        """Adds a back-end, or removes it."""
        rest = tuple(one for one in self.backends if one != choice)
        if len(rest) == len(self.backends) and self.full:
            return
        self.show_backends(rest if len(rest) < len(self.backends) else (*self.backends, choice))
        self.changed.emit(self.backends)

    def _fill(self) -> None:
        for action in self.picks:
            self._window.removeAction(action)
            self._group.removeAction(action)
            action.deleteLater()  # not at once: it may be the one that was triggered
        self.picks = []
        for number, choice in enumerate(self.backends, 1):
            action = QAction(verbatim(self.words(choice)), self)
            action.setCheckable(True)
            action.setChecked(choice == self._current)
            action.setShortcut(QKeySequence(f"Alt+{number}"))
            action.triggered.connect(lambda _=False, choice=choice: self.picked.emit(choice))
            self._group.addAction(action)
            self._window.addAction(action)
            self.picks.append(action)


def to_rows(backends: Iterable[BackendChoice]) -> list[dict[str, str]]:
    """Returns favourites as the window's state keeps them."""
    return [{"provider": b.provider, "model": b.model, "base_url": b.base_url} for b in backends]


def from_rows(rows: Iterable[Any], providers: Iterable[str]) -> tuple[BackendChoice, ...]:
    """Reads what `to_rows` returned; skips anything malformed or of an unknown provider."""
    known = list(providers)  # a provider in the file may be of any type, even an unhashable one
    backends = []
    for row in rows:
        if not isinstance(row, dict) or row.get("provider") not in known:
            continue
        choice = BackendChoice(*(str(row.get(key, "")) for key in ("provider", "model", "base_url")))
        if choice.provider in MODELLED or is_router(choice) or not choice.model:
            backends.append(choice)
    return tuple(backends)[:MAX_FAVOURITES]
