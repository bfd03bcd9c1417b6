"""A model list with a search field, for the popover and the dialogs for picking a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from app.gui.design.model_look import ModelId
from app.gui.design.motion import timer
from app.gui.models.favourites import Favourites
from app.gui.models.model_list import ModelListView, ModelRow, model_rows
from app.gui.models.model_lists import ModelLists
from app.gui.models.place_panel import PlacePanel
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import backend_choice
from app.gui.widgets.form import column, search_field, wrapped
from app.services.backend_service import BackendService
from app.services.model_service import ModelView
from app.session.control import BackendChoice
from app.settings.declarations import Settings

LEAST_LIST_PX, MOST_LIST_PX = 120, 320
SEARCH_AFTER_MS = 60

Catalogue = Callable[[], Sequence[ModelView]]


class ModelSearch(QWidget):
    """A search field, a list of the matching models, and a panel for what a picked place needs before it can answer.

    `catalogue`: returns all models in the catalogue, installed or not. `plain`: omits models that must be downloaded
    first. The address of a server may be typed or pasted into the search field.
    """

    picked = Signal(object)
    """Emits the selected `ModelRow`, whose model can answer or must be downloaded."""
    reshaped = Signal()

    def __init__(
        self,
        settings: Settings,
        lists: ModelLists,
        favourites: Favourites,
        catalogue: Catalogue,
        service: BackendService | None,
        background: BackgroundTasks,
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
        self._picked = BackendChoice("")  # the row that the panel is open for
        self.field = search_field(self, self.tr("Search models, or paste a server's address"))
        self.list = ModelListView(self)
        self.list.model_id = lists.model_id
        self.empty = wrapped(self, text=self.tr("No match. Paste a server's address to connect to it."))
        self.panel = PlacePanel(service, lists, background, self)
        self._later = timer(self, SEARCH_AFTER_MS, lambda: self.refresh(keep=False))
        column(self.field, self.list, self.empty, self.panel, within=self)
        self.field.installEventFilter(self)
        self.field.textChanged.connect(lambda _: self._later.start())
        self.list.picked.connect(self._pick)
        self.list.starred.connect(self._star)
        self.list.left_above.connect(self.field.setFocus)
        self.panel.connected.connect(self._connected)
        lists.changed.connect(lambda *_: self.refresh() if self.isVisible() else None)

    def open_with(self, current: BackendChoice, id: ModelId | None = None, *, coming: bool = False) -> None:
        """Clears the search, marks the current model as `show_current` does, and fetches the lists of all places that
        aren't cached.
        """
        self.field.clear()
        self._later.stop()
        self.panel.hide()
        for place in self._lists.places(self._recall):
            self._lists.ask(place.known, fresh=self._lists.state(place.known) == "away")
        self._lists.look_around()
        self.list.current = "", ""  # the highlight shall move to the current one
        self.show_current(current, id, coming=coming)

    def show_current(self, current: BackendChoice, id: ModelId | None = None, *, coming: bool = False) -> None:
        """Marks the model that answers. `id`: what events call it. `coming`: whether `current` is to replace it."""
        before, self._current = self.list.current, current
        self.list.current = id or self._lists.model_id(current)
        self.list.rows.coming = current if coming else None
        self.refresh(keep=self.list.current == before)

    def refresh(self, *, keep: bool = True) -> None:
        """Rebuilds the list from the search text. `keep`: whether the highlight stays on its model."""
        view = self.list
        view.favourites = self._favourites.backends
        rows = model_rows(
            self._lists, self._catalogue(), view.favourites, self._current, self._recall, self.field.text()
        )
        if self._plain:
            rows = [row for row in rows if row.section != "download"]
        view.show_rows(rows, keep=keep)
        view.setVisible(bool(rows))
        self.empty.setVisible(not rows and not self.panel.isVisibleTo(self))
        view.setFixedHeight(max(LEAST_LIST_PX, min(MOST_LIST_PX, view.wanted_height())))
        view.scrollTo(view.currentIndex())
        self.reshaped.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handles keys in the search field: Down moves the focus to the list and the highlight down, Enter picks the
        highlighted model, and Ctrl+D makes it a favourite.
        """
        if watched is self.field and event.type() == QEvent.Type.KeyPress:
            assert isinstance(event, QKeyEvent)
            if event.key() == Qt.Key.Key_Down:
                self.list.setFocus()
                QApplication.sendEvent(self.list, event)
                return True
            enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            star = event.key() == Qt.Key.Key_D and event.modifiers() == Qt.KeyboardModifier.ControlModifier
            if (enter or star) and self._later.isActive():
                self._later.stop()
                self.refresh(keep=False)
            if star:
                self.list.star_current()
                return True
            if enter:
                if (chosen := self.list.rows.row(self.list.currentIndex())) is not None:
                    self._pick(chosen)
                return True
        return super().eventFilter(watched, event)

    def _pick(self, chosen: ModelRow) -> None:
        asked = chosen.state == "away" and self._lists.busy(chosen.choice)  # it may be there again
        if asked or chosen.state in ("usable", "download"):
            self.picked.emit(chosen)
            return
        self._picked = chosen.choice
        self.panel.open_for(chosen.choice, self._lists.trouble(chosen.choice))
        if chosen.state == "connect":
            self.panel.connect_now()
        self.reshaped.emit()

    def _connected(self, choice: BackendChoice) -> None:
        """Picks the model that was asked for, or the server's only one; otherwise shows its models."""
        offered = self._lists.offered(choice)
        model = choice.model or (offered[0] if len(offered) == 1 else "")
        if model or not offered:
            named = BackendChoice(choice.provider, model, choice.base_url)
            self.picked.emit(ModelRow("servers", named, model, self._lists.place_label(named)))
            return
        self.field.setText(self._lists.place_label(choice))
        self.field.setFocus()

    def _star(self, choice: BackendChoice) -> None:
        self._favourites.toggle(choice)
        self.refresh()
