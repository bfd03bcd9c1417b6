"""The API key of a provider or server: its field, where it is kept, and saving and forgetting it."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import may_have_key
from app.gui.widgets.form import api_key_field, bold, push_button
from app.gui.widgets.panel import Quiet
from app.services.api_keys import KeyPlace
from app.services.backend_service import BackendService, ProviderView
from app.session.control import BackendChoice

FIND, SAVE, FORGET = "find the key", "save the key", "forget the key"


class KeyBox(QObject):
    """The API key field, a note on where the key is stored, and buttons to save and forget the key.

    The form adds these widgets to its layout. `choice` returns the back-end entered in the form. `refused` holds the
    places that have rejected a request, possibly because of a missing key.
    """

    said = Signal(str)
    """Emits the outcome of saving or forgetting a key, as a user-facing message."""
    changed = Signal()
    """Emitted when a key has been saved or forgotten."""

    def __init__(
        self,
        service: BackendService,
        background: BackgroundTasks,
        choice: Callable[[], BackendChoice],
        refused: set[tuple[str, str]],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._choice = choice
        self._refused = refused
        self._view: ProviderView | None = None
        self._place: KeyPlace | None = None
        self.heading = bold(self.tr("Key"), parent)
        self.words = Quiet(parent=parent, name=self.tr("Where the key is"))
        self.field = api_key_field(self.tr("API key"), self.tr("paste a key"), parent)
        self.save_button = push_button(self.tr("&Save key"), self.tr("Save key"), parent, lambda: self.save())
        self.forget_button = push_button(self.tr("&Forget key"), self.tr("Forget key"), parent, self._forget)
        self.field.textChanged.connect(lambda _: self._shape())
        self.field.returnPressed.connect(lambda: self.save())

    @property
    def typed(self) -> bool:
        """Whether the field contains an unsaved key."""
        return bool(self.field.text().strip())

    def turn_to(self, view: ProviderView | None, fault: str) -> None:
        """Switches to another provider or server and discards any typed key.

        `fault`: the reason that no key can be entered yet, or empty.
        """
        keyed = view is not None and may_have_key(view)
        for widget in (self.heading, self.words, self.field, self.save_button, self.forget_button):
            widget.setVisible(keyed)
        self._view, self._place = view, None
        self._background.cancel(FIND)
        self.field.clear()
        self.wait_for(fault)
        self._shape()
        if keyed and not fault:
            self.find()

    def wait_for(self, fault: str) -> None:
        """Lets a key be entered unless there is a `fault`."""
        self.field.setEnabled(not fault)
        self.words.setText(
            self.tr("Enter the address of the server first: a key belongs to its server.") if fault else ""
        )

    def find(self) -> None:
        """Looks up the saved key in the background and shows where it is stored."""
        if self._view is not None and may_have_key(self._view):
            choice = self._choice()
            self._background.run(self, FIND, lambda: self._service.key_place(choice), self._show_place, self.words.say)

    def save(self, then: Callable[[], None] = lambda: None) -> None:
        """Saves the typed key in the background and calls `then` on success. No-op if the field is empty."""
        choice, key = self._choice(), self.field.text().strip()
        self.field.clear()
        if not key:
            return

        def saved(sentence: str) -> None:
            self._change(sentence)
            then()

        def failed(sentence: str) -> None:
            self.said.emit(sentence)
            self.field.setFocus()

        self._background.run(self, SAVE, lambda: self._service.keep_key(choice, key), saved, failed)

    def _forget(self) -> None:
        choice = self._choice()
        self._background.run(self, FORGET, lambda: self._service.forget_key(choice), self._change, self.said.emit)

    def _change(self, sentence: str) -> None:
        self._place = None
        self.said.emit(sentence)
        self.find()
        self.changed.emit()

    def _show_place(self, place: KeyPlace) -> None:
        self._place = place
        view = self._view
        name = view.key_name if view is not None else ""
        needed = (view is not None and view.wants_key) or self._choice().place in self._refused
        if place == "none" and needed:
            words = self.tr("There is no key yet. Copy one from your account at the provider, and paste it here.")
        elif place == "none":
            words = self.tr("There is no key; this one may not need any.")
        elif place == "keyring":
            words = self.tr("The key is in the system's keyring.")
        elif place == "memory":
            words = self.tr("The key is kept in memory until you close the window: there is no keyring here.")
        elif name:
            words = self.tr("The key comes from the environment variable {0}, which takes precedence over a saved one.")
        else:
            words = self.tr("The key comes from the environment, which takes precedence over a saved one.")
        self.words.setText(words.format(name))
        self._shape()

    def _shape(self) -> None:
        self.save_button.setEnabled(self.typed)
        self.forget_button.setEnabled(self._place in ("keyring", "memory"))
