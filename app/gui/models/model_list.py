"""The model list, grouped into sections by where the models run, and its view."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    Qt,
    Signal,
)
from PySide6.QtGui import QKeyEvent, QMouseEvent
from PySide6.QtWidgets import QListView, QStyleOptionViewItem, QWidget

from app.gui.design.model_look import ModelId, model_name
from app.gui.models.model_items import PAD_PX, STAR_PX, ModelItems
from app.gui.models.model_lists import ModelLists, Place
from app.services.model_service import ModelView
from app.services.provider_keys import read_address
from app.session.control import BackendChoice

Section = Literal["connect", "chosen", "favourites", "here", "servers", "cloud", "download"]
SECTIONS: tuple[Section, ...] = ("connect", "chosen", "favourites", "here", "servers", "cloud", "download")
State = Literal["usable", "keyless", "away", "connect", "download"]
"""What picking a row does: its model answers, or first its key, its address, the connection or the download is needed.
"""
MOST_OF_A_PLACE = 6
"""Maximum number of models listed per place if the search field is empty."""

_Index = QModelIndex | QPersistentModelIndex
_NONE = QModelIndex()


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A selectable model or place.

    - `detail`: where it is, or its download size
    - `keys`: its keyboard shortcut, or empty
    - `download`: its catalogue key if it must be downloaded first, else empty
    """

    section: Section
    choice: BackendChoice
    name: str
    detail: str = ""
    keys: str = ""
    download: str = ""
    state: State = "usable"

    def matches(self, words: Sequence[str]) -> bool:
        """Returns whether the name and detail contain all `words`, which must be lowercase."""
        text = f"{self.name} {self.detail}".lower()
        return all(word in text for word in words)


def model_rows(
    lists: ModelLists,
    catalogue: Iterable[ModelView],
    favourites: Sequence[BackendChoice],
    current: BackendChoice,
    recall: Callable[[str], BackendChoice],
    search: str = "",
) -> list[ModelRow]:
    """Returns the rows that match `search`, sorted by section.

    - `lists`: the places and the models that each offers
    - `catalogue`: local models, installed or available for download
    - `favourites`: the favourites, in the order of their shortcuts
    - `current`: the current choice, which gets its own section if no other section contains it
    - `recall`: returns the choice last used for a provider
    """
    words = search.lower().split()
    models = [model for model in catalogue if model.kind == "llm"]
    rows = [
        ModelRow(
            "favourites",
            choice,
            _name(choice, lists),
            _detail(choice, lists),
            f"Alt+{number}",
            "",
            _state(choice, lists),
        )
        for number, choice in enumerate(favourites, 1)
    ]
    rows += _embedded(models, lists, current)
    for place in lists.places(recall):
        rows += _of_place(place, lists, everything=bool(words))
    rows += [
        ModelRow("servers", server.choice, server.name, server.choice.base_url, state="connect")
        for server in lists.here
    ]
    rows += [
        ModelRow(
            "download",
            BackendChoice("embedded", model.key),
            model.label,
            f"{model.bytes / 1e9:.1f} GB",
            "",
            model.key,
            "download",
        )
        for model in models
        if not model.usable and not model.fits
    ]
    # Without a model's name, the app or the server picks one of those that it has.
    listed = any(row.choice == current or (not current.model and row.choice.place == current.place) for row in rows)
    if current.provider in lists.views and not listed:
        state = _state(current, lists)
        rows.append(ModelRow("chosen", current, _name(current, lists), _detail(current, lists), state=state))
    rows = [row for row in rows if row.matches(words)]
    address = read_address(search)
    if address and "compatible" in lists.views and all(row.choice.base_url != address for row in rows):
        rows.append(ModelRow("connect", BackendChoice("compatible", "", address), address, state="connect"))
    return sorted(rows, key=lambda row: SECTIONS.index(row.section))


def _embedded(models: Sequence[ModelView], lists: ModelLists, current: BackendChoice) -> list[ModelRow]:
    if "embedded" not in lists.views:
        return []
    label = lists.label("embedded")
    here = [model for model in models if model.usable]
    if not here:
        choice = current if current.provider == "embedded" else BackendChoice("embedded")
        return [ModelRow("here", choice, choice.model or label, label if choice.model else "")]
    return [ModelRow("here", BackendChoice("embedded", model.key), model.label, label) for model in here]


def _of_place(place: Place, lists: ModelLists, *, everything: bool) -> list[ModelRow]:
    known = place.known
    state: State = {"keyless": "keyless", "away": "away"}.get(lists.state(known), "usable")  # type: ignore[assignment]
    section: Section = "servers" if place.own else "here" if place.local else "cloud"
    names = list(lists.offered(known))
    if known.model and known.model not in names:
        names.insert(0, known.model)
    if state == "keyless" and not everything:
        names = []  # they all need the same key
    if not names:
        shown = state != "usable" and (place.own or section == "cloud")
        bare = BackendChoice(known.provider, "", known.base_url)
        return [ModelRow(section, bare, place.label, known.base_url, state=state)] if shown else []
    if state == "away" and not place.own and not known.model:
        return []  # Ollama isn't there, and has never been used
    if not everything:
        names = names[:MOST_OF_A_PLACE]
    # An address that is the provider's own is left open, as it is in the settings.
    view = lists.views[known.provider]
    url = "" if not place.own and known.base_url == view.url and known.provider != "ollama" else known.base_url
    return [
        ModelRow(section, BackendChoice(known.provider, name, url), name, place.label, state=state) for name in names
    ]


def _state(choice: BackendChoice, lists: ModelLists) -> State:
    state = lists.state(choice)
    return state if state in ("keyless", "away") else "usable"


def _name(choice: BackendChoice, lists: ModelLists) -> str:
    return model_name("", choice.model) or lists.place_label(choice)


def _detail(choice: BackendChoice, lists: ModelLists) -> str:
    return lists.place_label(choice) if choice.model else ""


class ModelListModel(QAbstractListModel):
    """A Qt list model of the model rows, with a heading before each section."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[ModelRow | Section] = []
        self.coming: BackendChoice | None = None
        """The choice that has been picked and doesn't answer yet."""

    def show(self, rows: Sequence[ModelRow]) -> None:
        """Replaces the rows, which must be sorted by section."""
        self.beginResetModel()
        self.rows = []
        for place, row in enumerate(rows):
            if place == 0 or rows[place - 1].section != row.section:
                self.rows.append(row.section)
            self.rows.append(row)
        self.endResetModel()

    def heading(self, section: Section) -> str:
        """Returns the heading of a section."""
        return {
            "connect": self.tr("Connect to"),
            "chosen": self.tr("Last chosen"),
            "favourites": self.tr("Favourites"),
            "here": self.tr("On this computer"),
            "servers": self.tr("Your servers"),
            "cloud": self.tr("In the cloud"),
            "download": self.tr("To download"),
        }[section]

    def note(self, row: ModelRow) -> str:
        """Returns what a row's model needs before it can answer, or that it is coming; empty for a usable one."""
        if row.choice == self.coming and row.state != "download":
            return self.tr("is coming")
        return {
            "usable": "",
            "keyless": self.tr("needs a key"),
            "away": self.tr("not reachable"),
            "connect": self.tr("press Enter") if row.section == "connect" else self.tr("running here"),
            "download": "",
        }[row.state]

    def rowCount(self, parent: _Index = _NONE) -> int:
        return len(self.rows)

    def row(self, index: _Index) -> ModelRow | None:
        """Returns the model row at an index, or None for a heading."""
        row = self.rows[index.row()] if index.isValid() else None
        return row if isinstance(row, ModelRow) else None

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return row.name if isinstance(row, ModelRow) else self.heading(row)
        if role == Qt.ItemDataRole.AccessibleTextRole and isinstance(row, ModelRow):
            return ", ".join(filter(None, (row.name, row.detail, self.heading(row.section), self.note(row), row.keys)))
        return None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        if self.row(index) is None:
            return Qt.ItemFlag.NoItemFlags
        return Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable


class ModelListView(QListView):
    """A view of the model list.

    - `picked`: emits the `ModelRow` that was clicked or activated with Enter
    - `starred`: emitted when a row's star is clicked or Ctrl+D is pressed
    - `left_above`: emitted when Up is pressed on the first model
    """

    picked = Signal(object)
    starred = Signal(object)
    """Emits the `BackendChoice` of the row."""
    left_above = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows = ModelListModel(self)
        self.setModel(self.rows)
        self.setProperty("plain", True)
        self.setItemDelegate(ModelItems(self))
        self.setMouseTracking(True)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(self.tr("Models"))
        self.current: ModelId = "", ""
        self.model_id: Callable[[BackendChoice], ModelId] = lambda choice: (choice.provider, choice.model)
        self.favourites: Collection[BackendChoice] = ()
        self.busy_words = ""
        """Progress text of the running download, shown in the row of the model with the key `busy_key`."""
        self.busy_key = ""

    def show_rows(self, rows: Sequence[ModelRow], *, keep: bool) -> None:
        """Replaces the rows, and highlights the current model or the first one; with `keep`, the same as before, where
        it was.
        """
        before, bar = self.rows.row(self.currentIndex()) if keep else None, self.verticalScrollBar()
        at, top = bar.value(), self.visualRect(self.currentIndex()).top()
        self.rows.show(rows)
        places = [place for place, row in enumerate(self.rows.rows) if isinstance(row, ModelRow)]
        index = self.rows.index(min(places, key=lambda place: self._rank(self.rows.rows[place], before), default=-1))
        self.setCurrentIndex(index)
        bar.setValue(bar.value() + self.visualRect(index).top() - top if before is not None and at else 0)

    def _rank(self, row: ModelRow | Section, before: ModelRow | None) -> tuple[bool, ...]:
        """Returns the order in which rows are highlighted, the first first; `before`: the one that was until now."""
        assert isinstance(row, ModelRow)
        same = before is not None and row.choice == before.choice
        return not (same and before is not None and row.section == before.section), not same, not self.is_current(row)

    def is_current(self, row: ModelRow) -> bool:
        """Returns whether a row is that of the current model."""
        return row.state != "download" and self.model_id(row.choice) == self.current

    def star_current(self) -> None:
        """Emits `starred` for the highlighted model."""
        row = self.rows.row(self.currentIndex())
        if row is not None and row.state not in ("connect", "download"):
            self.starred.emit(row.choice)

    def wanted_height(self) -> int:
        """Returns the height required to show all rows, in pixels."""
        items = self.itemDelegate()
        option = QStyleOptionViewItem()
        return 8 + sum(items.sizeHint(option, self.rows.index(place)).height() for place in range(len(self.rows.rows)))

    def star_box(self, rect: QRect) -> QRect:
        """Returns the rectangle of the star in a row that occupies `rect`."""
        return QRect(rect.right() - PAD_PX - STAR_PX, rect.center().y() - STAR_PX // 2, STAR_PX, STAR_PX)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        row = self.rows.row(index)
        if row is not None and event.button() == Qt.MouseButton.LeftButton:
            star = self.star_box(self.visualRect(index)).adjusted(-6, -6, 6, 6)
            starred = star.contains(event.position().toPoint()) and row.state == "usable"
            (self.starred if starred else self.picked).emit(row.choice if starred else row)
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        row = self.rows.row(self.currentIndex())
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and row is not None:
            self.picked.emit(row)
        elif event.key() == Qt.Key.Key_D and control:
            self.star_current()
        elif event.key() == Qt.Key.Key_Up and self.currentIndex().row() <= 1:
            self.left_above.emit()
        elif event.key() == Qt.Key.Key_Escape:
            event.ignore()
        else:
            super().keyPressEvent(event)
