"""Connects to a server, or enters a missing key, below the list of models where the place was picked.

What was typed stays in its field whatever happens.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.models.model_lists import ModelLists
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import LOCATED
from app.gui.widgets.form import StatusLine, api_key_field, bold, column, push_button, row, text_field
from app.services.backend_service import BackendService, Offer
from app.services.provider_keys import read_address
from app.session.control import BackendChoice

_TASK = "connect to a place of models"


class PlacePanel(QWidget):
    """Hidden until `open_for`. `connected` emits the place once it works, with the model that was asked for."""

    connected = Signal(object)

    def __init__(
        self, service: BackendService | None, lists: ModelLists, background: BackgroundTasks, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._lists = lists
        self._background = background
        self._choice = BackendChoice("")
        self.heading = bold("", self)
        self.address = text_field(self, self.tr("Address of the server"), "127.0.0.1:8080")
        self.key = api_key_field(self.tr("API key"), self.tr("paste a key"), self)
        self.button = push_button(self.tr("Co&nnect"), self.tr("Connect"), self, self.connect_now)
        self.words = StatusLine(self.tr("State of the connection"), self)
        column(self.heading, row((self.address, 1), (self.key, 1), self.button), self.words, within=self, spacing=6)
        for field in (self.address, self.key):
            field.returnPressed.connect(self.connect_now)
        self.hide()

    def open_for(self, choice: BackendChoice, words: str = "") -> None:
        """Shows the fields that a place needs, with what is known of it. `words`: why it doesn't work."""
        located = choice.provider in LOCATED
        if choice.place != self._choice.place:
            self.address.setText(choice.base_url)
            self.key.clear()
        self._choice = choice
        label = self._lists.place_label(choice)
        self.heading.setText(
            self.tr("Connect to {0}").format(label) if located else self.tr("Key for {0}").format(label)
        )
        self.address.setVisible(located)
        self.key.setVisible(choice.provider != "ollama")
        self.key.setPlaceholderText(self.tr("key, if it wants one") if located else self.tr("paste a key"))
        self.words.say(words)
        self.show()
        (self.address if located else self.key).setFocus()

    def connect_now(self) -> None:
        """Saves the key, if one is typed, and asks the place for its models."""
        service, choice = self._service, self._choice
        if service is None:
            return
        if choice.provider in LOCATED:
            address = read_address(self.address.text())
            if not address:
                self.words.say(
                    self.tr("This is not a server's address. Type it like 127.0.0.1:8080 or https://host/v1.")
                )
                self.address.setFocus()
                return
            choice = BackendChoice(choice.provider, choice.model, address)
        key = self.key.text().strip()

        async def work() -> Offer:
            if key:
                await service.keep_key(choice, key)
            return await service.offer(choice, fresh=True)

        self.words.say(self.tr("Connecting …"))
        self.button.setEnabled(False)
        self._background.run(self, _TASK, work, lambda offer: self._done(choice, offer), self._fail)

    def _done(self, choice: BackendChoice, offer: Offer) -> None:
        view = self._lists.views.get(choice.provider)
        if view is not None and view.wants_key and not offer.asked:
            self._fail(self.tr("There is no key yet. Copy one from your account at the provider, and paste it here."))
            return
        self.button.setEnabled(True)
        before = self._choice
        if before.base_url != choice.base_url:
            self._lists.servers.move(before.place, choice.base_url)
        self._lists.servers.add(choice)
        self._lists.put(choice, offer)
        self.key.clear()
        self.hide()
        self.connected.emit(choice)

    def _fail(self, sentence: str) -> None:
        self.button.setEnabled(True)
        self.words.say(sentence)
        wants_key = self._choice.provider not in LOCATED or (self.address.text().strip() and not self.key.text())
        (self.key if wants_key else self.address).setFocus()
