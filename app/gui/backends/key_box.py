"""A provider's API key: the field for it, where the key is, and the buttons that save and forget it.

A typed key goes from its field to the service, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import api_key_field, push_button
from app.gui.widgets.panel import Quiet
from app.services.api_keys import KeyPlace
from app.services.backend_service import BackendService, ProviderView
from app.session.control import BackendChoice


class KeyBox(QObject):
    """The owner places the widgets. `choice` returns the back-end that is picked now.

    `refused`: the places that have refused a request, which may be for want of a key. `owner`: tells the tasks of
    several boxes apart.
    """

    said = Signal(str)
    """A sentence about what became of a key."""
    changed = Signal()
    """A key was saved or forgotten."""
    found = Signal()
    """`place` is known, and described in `words`."""

    def __init__(
        self,
        service: BackendService | None,
        background: BackgroundTasks,
        choice: Callable[[], BackendChoice],
        refused: set[tuple[str, str]],
        parent: QWidget,
        *,
        owner: str = "",
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._refused = refused
        self._choice = choice
        self._view: ProviderView | None = None
        owner = owner or type(parent).__name__
        self._find, self._save, self._forget = (f"{owner}: {what} the key" for what in ("find", "save", "forget"))
        self.place: KeyPlace | None = None
        """Where the key is; None while that is not known."""
        self.words = Quiet(parent=parent)
        self.words.setAccessibleName(self.tr("Where the key is"))
        self.field = api_key_field(self.tr("API key"), self.tr("paste a key"), parent)
        self.save_button = push_button(self.tr("&Save key"), self.tr("Save key"), parent)
        self.forget_button = push_button(self.tr("&Forget key"), self.tr("Forget key"), parent)
        self.save_button.clicked.connect(lambda: self.save())
        self.forget_button.clicked.connect(self.forget)

    @property
    def typed(self) -> bool:
        return bool(self.field.text().strip())

    @property
    def saving(self) -> bool:
        return self._background.busy(self._save)

    @property
    def finding(self) -> bool:
        """Whether `find` is under way."""
        return self._background.busy(self._find)

    def turn_to(self, view: ProviderView | None) -> None:
        """Switches to the key of another place, and drops what was typed."""
        self._view, self.place = view, None
        self._background.cancel(self._find)
        self.field.clear()
        self.words.clear()
        self.forget_button.setEnabled(False)

    def find(self) -> None:
        service, choice = self._service, self._choice()
        if service is not None:
            self._background.run(
                self, self._find, lambda: service.key_place(choice), self._show_place, self.words.setText
            )

    def save(self, then: Callable[[], None] = lambda: None) -> None:
        """Saves the typed key, if there is one, then calls `then`."""
        service, choice, key = self._service, self._choice(), self.field.text().strip()
        self.field.clear()
        if service is None or not key:
            return

        def saved(sentence: str) -> None:
            self._change(sentence)
            then()

        def failed(sentence: str) -> None:
            self.said.emit(sentence)
            self.field.setFocus()

        self._background.run(self, self._save, lambda: service.keep_key(choice, key), saved, failed)

    def forget(self) -> None:
        """Removes the saved key."""
        service, choice = self._service, self._choice()
        if service is not None:
            self._background.run(self, self._forget, lambda: service.forget_key(choice), self._change, self.said.emit)

    def _change(self, sentence: str) -> None:
        self.place = None
        self.said.emit(sentence)
        self.find()
        self.changed.emit()

    def _show_place(self, place: KeyPlace) -> None:
        self.place = place
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
            words = self.tr("The key comes from the environment variable {0}, which goes before a saved one.")
        else:
            words = self.tr("The key comes from the environment, which goes before a saved one.")
        self.words.setText(words.format(name))
        self.forget_button.setEnabled(place in ("keyring", "memory"))
        self.found.emit()
