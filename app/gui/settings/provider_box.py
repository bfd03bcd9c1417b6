"""A provider's API key in the settings, and whether the provider answers.

A typed key goes from its field to the service, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent
from PySide6.QtGui import QFont, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.gui.backends.key_box import KeyBox
from app.gui.backends.model_lists import ModelLists
from app.gui.design.fonts import set_size
from app.gui.settings.row import ENDS_PX, SIDES_PX
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import LOCATED, backend_choice, may_have_key
from app.gui.widgets.form import StatusLine, label_of, push_button, row
from app.services.backend_service import BackendService, ProviderView
from app.session.control import BackendChoice
from app.settings.declarations import Settings


@dataclass(frozen=True, slots=True)
class ProviderAccess:
    """What the boxes work with. `refused`: the places that have refused a request in this run, shared with others."""

    service: BackendService
    lists: ModelLists
    background: BackgroundTasks
    refused: set[tuple[str, str]]


class ProviderBox(QWidget):
    """The key, if the provider can have one, with buttons that save, forget and test it.

    The model and the address are those of the settings; see `refresh`.
    """

    def __init__(self, view: ProviderView, settings: Settings, access: ProviderAccess, parent: QWidget) -> None:
        super().__init__(parent)
        self.view = view
        self._settings = settings
        self._access = access
        self._place: tuple[str, str] | None = None
        self._testing = f"settings: test {view.key}"
        keyed = may_have_key(view)
        self.key_box = KeyBox(
            access.service, access.background, lambda: self.choice, access.refused, self, owner=f"settings: {view.key}"
        )
        box, name = self.key_box, view.label
        self.label = label_of(box.field, self.tr("API key") if keyed else self.tr("Connection"), self)
        box.field.setAccessibleName(self.tr("API key for {0}").format(name))
        box.words.setAccessibleName(self.tr("Where the key for {0} is").format(name))
        box.save_button.setText(self.tr("Save"))
        box.save_button.setAccessibleName(self.tr("Save the key for {0}").format(name))
        box.forget_button.setText(self.tr("Forget"))
        box.forget_button.setAccessibleName(self.tr("Forget the key for {0}").format(name))
        box.field.setMinimumWidth(box.field.fontMetrics().averageCharWidth() * 14)
        self.test_button = push_button(self.tr("Test"), self.tr("Test the connection to {0}").format(name), self)
        self.answer = StatusLine(self.tr("Result of the test of {0}").format(name), self)
        if not keyed:
            for widget in (box.field, box.words, box.save_button, box.forget_button):
                widget.hide()
        column = QVBoxLayout(self)
        column.setContentsMargins(SIDES_PX, ENDS_PX, SIDES_PX, ENDS_PX)
        column.setSpacing(8)
        if keyed:
            column.addWidget(self.label)
            column.addWidget(box.words)
            column.addLayout(row(box.field, box.save_button, box.forget_button, self.test_button, stretch=0))
        else:
            column.addLayout(row(self.label, None, self.test_button))
        column.addWidget(self.answer)
        box.field.returnPressed.connect(lambda: box.save())
        box.field.textChanged.connect(lambda _: self._shape())
        box.said.connect(self.answer.say)
        box.changed.connect(self._key_changed)
        box.found.connect(self._shape)
        self.test_button.clicked.connect(self._save_and_test)
        self._dress()
        self._shape()

    @property
    def choice(self) -> BackendChoice:
        """The provider with the model and the address in the settings."""
        return backend_choice(self._settings, self.view.key)

    @property
    def words(self) -> str:
        """By which a search finds it."""
        return " ".join((self.view.label, self.label.text(), self.tr("connection"), self.test_button.text()))

    def refresh(self) -> None:
        """The address may be another one: looks for the key that belongs to it."""
        if self.choice.place != self._place:
            self._place = self.choice.place
            self._stop_test()
            self.answer.say("")
            self.key_box.turn_to(self.view)
        self._shape()
        if may_have_key(self.view) and self._addressed:
            self.key_box.find()

    def leave(self) -> None:
        """Drops the typed key and the test."""
        self._stop_test()
        self.key_box.field.clear()
        self.answer.say("")

    @property
    def _addressed(self) -> bool:
        return self.view.key not in LOCATED or bool(self.choice.base_url)

    def _shape(self) -> None:
        box, addressed = self.key_box, self._addressed
        if not addressed:
            box.words.setText(self.tr("Give the address of the server first: a key belongs to its server."))
        box.field.setEnabled(addressed)
        box.save_button.setEnabled(addressed and box.typed)
        box.forget_button.setEnabled(addressed and box.place in ("keyring", "memory"))
        self.test_button.setEnabled(addressed and not self._access.background.busy(self._testing))

    def _key_changed(self) -> None:
        self._shape()
        self._access.lists.ask(self.choice, fresh=True)  # some providers list their models only with a key

    # -- the test

    def _save_and_test(self) -> None:
        if self.key_box.typed:
            self.key_box.save(then=self._test)
        else:
            self._test()

    def _test(self) -> None:
        choice, service = self.choice, self._access.service
        self.answer.say(self.tr("Testing {0} …").format(self.view.label))
        self._access.background.run(self, self._testing, lambda: service.test(choice), self._tested, self._test_failed)
        self._shape()

    def _tested(self, sentence: str) -> None:
        self.answer.say(sentence)
        self._shape()

    def _test_failed(self, sentence: str) -> None:
        self._access.refused.add(self.choice.place)
        self._tested(sentence)
        if may_have_key(self.view):
            self.key_box.find()

    def _stop_test(self) -> None:
        self._access.background.cancel(self._testing)
        self._shape()

    # -- Qt's own events

    def showEvent(self, event: QShowEvent) -> None:
        """Looks for the key only now: a keyring may ask its user for a password."""
        super().showEvent(event)
        self.refresh()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._dress()

    def _dress(self) -> None:
        set_size(self.label, "small", QFont.Weight.Medium)
        for small in (self.key_box.words, self.answer):
            set_size(small, "caption")
