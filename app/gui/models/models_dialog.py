"""The "Models and servers" dialog: local models, each provider's key and server, and the machine check."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QListWidgetItem, QScrollArea, QStackedWidget, QWidget

from app.gui.design.fonts import set_size
from app.gui.design.plain import named
from app.gui.models.local_models import LocalModels
from app.gui.models.machine_page import MachinePage
from app.gui.models.model_lists import ModelLists
from app.gui.models.server_form import ServerForm
from app.gui.widgets.form import column, fill_area, row, wrapped
from app.gui.widgets.lists import SideList
from app.gui.widgets.panel import Panel, Quiet
from app.session.control import BackendChoice

LOCAL, MACHINE, NEW = "embedded", "machine", "compatible"
"""Keys of the places that are neither providers nor servers: the models on this machine, the machine check, and a new
server.
"""
SERVER = "server "
"""Before the provider and the address in the key of one of the user's own servers."""
SIZE_PX = 940, 600
PLACE = Qt.ItemDataRole.UserRole


def server_key(place: tuple[str, str]) -> str:
    """Returns the key of the place of a server."""
    return f"{SERVER}{place[0]} {place[1]}"


class ModelsDialog(Panel):
    """The "Models and servers" dialog: a list of places next to the page of the selected one.

    A place is this machine, a provider, a server of the user's own, a new server, or the machine check. Pages are added
    with the `add_*` methods.
    """

    def __init__(self, lists: ModelLists, parent: QWidget) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Models and servers"))
        self._lists = lists
        self.local: LocalModels | None = None
        self.form: ServerForm | None = None
        self.machine: MachinePage | None = None
        self.places = SideList(self.tr("Places where models run"), self)
        self.title = wrapped(self, self.tr("Page"))
        self.lead = Quiet(parent=self)
        self.stack = QStackedWidget(self)
        self._holders: dict[str, QWidget] = {}
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"), does=self.close)
        side = column(self.title, self.lead, 6, (self.stack, 1))
        self.column.addLayout(row(self.places, side, spacing=16, stretch=1), 1)
        self.foot(self.close_button)
        self.close_button.setDefault(False)  # Enter in the key field must save the key instead
        set_size(self.title, "title")
        self.resize(*SIZE_PX)
        self.places.currentItemChanged.connect(lambda _: self._turn())
        self.places.itemClicked.connect(self._focus_page)
        self.places.itemActivated.connect(self._focus_page)
        self.left.connect(self._leave)

    def add_local(self, local: LocalModels) -> None:
        """Adds the page for the models on this machine."""
        self.local = local
        self._add_place(LOCAL, self.tr("This computer"), local)

    def add_servers(self, form: ServerForm) -> None:
        """Adds a place for each provider and each server. They all share one form."""
        self.form = form
        self._form_page = self._scrolled(form)
        for key, view in self._lists.views.items():
            if key not in (LOCAL, NEW):
                self._add_place(key, view.label, self._form_page)
        self._list_servers()
        form.chosen.connect(self.close)
        form.secondary_chosen.connect(self.close)
        self._lists.servers.changed.connect(self._list_servers)

    def _list_servers(self) -> None:
        """Lists the user's own servers, and the place for a new one, after the providers."""
        at, selected = self._after_providers(), self.place
        with QSignalBlocker(self.places):
            while self.places.count() > at and self.places.item(at).data(PLACE) != MACHINE:
                self.places.takeItem(at)
            for server in self._lists.servers.servers:
                self._add_place(server_key(server.place), server.label, self._form_page, at)
                at += 1
            if NEW in self._lists.views:
                self._add_place(NEW, self.tr("Add a server…"), self._form_page, at)
        if selected and selected != self.place:
            self._choose(self._key_of(self.form.fields.choice) if self.form is not None else selected)

    def _after_providers(self) -> int:
        keys = [self.places.item(number).data(PLACE) for number in range(self.places.count())]
        return next((n for n, key in enumerate(keys) if key in (NEW, MACHINE) or key.startswith(SERVER)), len(keys))

    def _key_of(self, choice: BackendChoice) -> str:
        """Returns the key of the place where a back-end is."""
        server = self._lists.servers.find(choice.place)
        return server_key(server.place) if server is not None else choice.provider

    def add_machine(self, machine: MachinePage) -> None:
        """Adds the page that checks this machine."""
        self.machine = machine
        self._add_place(MACHINE, self.tr("Check this machine"), self._scrolled(machine))
        if self.local is not None:
            machine.found.connect(self.local.show_machine)

    @property
    def place(self) -> str:
        """The selected place: a provider's key, `LOCAL` or `MACHINE`."""
        item = self.places.currentItem()
        return item.data(PLACE) if item is not None else ""

    def open_at(self, place: str) -> None:
        """Opens the dialog at a place, or at the first one if `place` is unknown."""
        self._choose(place)
        self.appear()
        self.places.setFocus()
        self._focus_page()

    def open_for(self, choice: BackendChoice, *, secondary: bool = False) -> None:
        """Opens the dialog at the page of a back-end. `secondary`: to use it as the comparison model."""
        self._choose(self._key_of(choice))
        if self.form is not None and self.place == self._key_of(choice) != LOCAL:
            self.form.open_for(choice, secondary=secondary)
            self.appear()
            self.form.first_field().setFocus()
        else:
            self.open_at(self.place)

    def _focus_page(self) -> None:
        """Focuses the first field if it is a new server's page."""
        if self.form is not None and self.place == NEW:
            self.form.first_field().setFocus()

    def _choose(self, place: str) -> None:
        items = [self.places.item(number) for number in range(self.places.count())]
        with QSignalBlocker(self.places):
            self.places.setCurrentItem(next((item for item in items if item.data(PLACE) == place), items[0]))
        self._turn()

    def _turn(self) -> None:
        """Shows the page of the selected place."""
        place = self.place
        self.title.setText(self.places.currentItem().text())
        self.lead.setText(self._about(place))
        if self.form is not None and place.startswith(SERVER):
            provider, _, url = place.removeprefix(SERVER).partition(" ")
            self.form.turn_to_server(BackendChoice(provider, "", url))
        elif self.form is not None and place == NEW:
            self.form.turn_to_server(BackendChoice(NEW))
        elif self.form is not None and place not in (LOCAL, MACHINE):
            self.form.turn_to(place)
        self.stack.setCurrentWidget(self._holders[place])

    def _about(self, place: str) -> str:
        view = self._lists.views.get(place)
        if place == MACHINE:
            return self.tr("What this machine has, and what fits it. The built-in voice works on any machine.")
        if place == LOCAL:
            return self.tr(
                "Everything here runs on this machine. “Facts right”: how many of 120 short questions a model answers "
                "correctly."
            )
        if view is not None and view.wants_key:
            return self.tr("What you say is sent there as text, and billed to your account.")
        return self.tr("A server on this machine or another one: what you say is sent to its address as text.")

    def _add_place(self, key: str, text: str, page: QWidget, at: int = -1) -> None:
        item = QListWidgetItem(text)
        item.setData(PLACE, key)
        self.places.insertItem(at if at >= 0 else self.places.count(), item)
        self._holders[key] = page
        self.stack.addWidget(page)  # no-op if the page has already been added
        self.places.fit()

    def _leave(self) -> None:
        for page in (self.form, self.machine):
            if page is not None:
                page.leave()

    def _scrolled(self, page: QWidget) -> QScrollArea:
        """Wraps a page that may be taller than the dialog in a scroll area."""
        area = named(QScrollArea(self), self.tr("Page shown"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        fill_area(area, page)
        return area
