"""A model list with a search field, for the popover and the dialogs for picking a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

from app.gui.design.motion import timer
from app.gui.models.favourites import Favourites
from app.gui.models.model_list import ModelListView, model_rows
from app.gui.models.model_lists import ModelLists
from app.gui.state.choice import backend_choice
from app.gui.widgets.form import column, search_field, wrapped
from app.services.model_service import ModelView
from app.session.control import BackendChoice
from app.settings.declarations import Settings

LEAST_LIST_PX, MOST_LIST_PX = 120, 320
SEARCH_AFTER_MS = 60

Catalogue = Callable[[], Sequence[ModelView]]


class ModelSearch(QWidget):
    """A search field and a list of the matching models.

    `catalogue`: returns all models in the catalogue, installed or not. `plain`: omits the router and models that must
    be downloaded first.
    """

    picked = Signal(object)
    """Emits the selected `ModelRow`."""
    reshaped = Signal()

    def __init__(
        self,
        settings: Settings,
        lists: ModelLists,
        favourites: Favourites,
        catalogue: Catalogue,
        parent: QWidget,
        *,
        plain: bool = False,
    ) -> None:
        super().__init__(parent)
        self._lists = lists
        self._favourites = favourites
        self._catalogue = catalogue
        self._plain = plain
        self._recall = partial(backend_choice, settings)
        self._current = BackendChoice("")
        self.field = search_field(self, self.tr("Search models"))
        self.list = ModelListView(self)
        self.empty = wrapped(self, text=self.tr("No match. “Models and servers” takes any model and server by name."))
        self._later = timer(self, SEARCH_AFTER_MS, self.refresh)
        column(self.field, self.list, self.empty, within=self)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(lambda _: self._later.start())
        self.list.picked.connect(self.picked)
        self.list.starred.connect(self._star)
        self.list.left_above.connect(self.field.setFocus)
        lists.changed.connect(lambda *_: self.refresh() if self.isVisible() else None)

    def open_with(self, current: BackendChoice) -> None:
        """Clears the search, marks `current`, and fetches the lists of all providers that aren't cached."""
        with QSignalBlocker(self.field):
            self.field.clear()
        for provider in self._lists.views:
            self._lists.ask(self._recall(provider))
        self.show_current(current)

    def show_current(self, current: BackendChoice) -> None:
        """Marks the current model."""
        self._current = current
        self.refresh()

    def refresh(self) -> None:
        """Rebuilds the list from the search text, preserving the scroll position."""
        view = self.list
        view.current, view.favourites = self._current, self._favourites.backends
        rows = model_rows(
            self._lists, self._catalogue(), view.favourites, self._current, self._recall, self.field.text()
        )
        if self._plain:
            rows = [row for row in rows if row.section not in ("router", "download")]
        at = view.verticalScrollBar().value()
        view.rows.show(rows)
        view.highlight_first()
        view.verticalScrollBar().setValue(at)
        view.setVisible(bool(rows))
        self.empty.setVisible(not rows)
        view.setFixedHeight(max(LEAST_LIST_PX, min(MOST_LIST_PX, view.wanted_height())))
        self.reshaped.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handles keys in the search field: Down moves the focus to the list, Enter picks the highlighted model."""
        if watched is self.field and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Down:
                self.list.setFocus()
                return True
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if self._later.isActive():
                    self._later.stop()
                    self.refresh()
                if (chosen := self.list.rows.row(self.list.currentIndex())) is not None:
                    self.picked.emit(chosen)
                return True
        return super().eventFilter(watched, event)

    def _star(self, choice: BackendChoice) -> None:
        self._favourites.toggle(choice)
        self.refresh()
