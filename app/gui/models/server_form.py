"""The form for a language model provider or server: model, address, API key, connection test and downloads.

A typed key is only ever passed from its field to the service.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.gui.design.plain import set_tip
from app.gui.models.backend_fields import BackendFields
from app.gui.models.model_lists import ModelLists
from app.gui.models.servers import LONGEST_NAME, Server
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import backend_choice, may_have_key
from app.gui.widgets.form import (
    StatusLine,
    api_key_field,
    bold,
    column,
    progress_bar,
    push_button,
    row,
    set_share,
    text_field,
)
from app.gui.widgets.panel import Quiet
from app.services.api_keys import KeyPlace
from app.services.backend_service import BackendService, ProviderView
from app.session.control import BackendChoice
from app.settings.declarations import Settings

TEST, PULL = "test the connection", "download a model to a server"
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
        self.field.setEnabled(not fault)
        self.words.setText(
            self.tr("Enter the address of the server first: a key belongs to its server.") if fault else ""
        )
        self._shape()
        if keyed and not fault:
            self.find()

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


class PullBox(QWidget):
    """Controls that make a server download a model by name. Downloads continue while the box is hidden."""

    fetched = Signal(object)
    """Emits the `BackendChoice` of the downloaded model."""
    _reported = Signal(str, float)

    def __init__(self, service: BackendService, background: BackgroundTasks, parent: QWidget) -> None:
        super().__init__(parent)
        self._service = service
        self._background = background
        self._server = BackendChoice("")
        hint = self.tr("model to download, such as gemma3:4b")
        self.name = text_field(self, self.tr("Model to download"), hint)
        self.fetch_button = push_button(self.tr("&Download"), self.tr("Download the model"), self, self._fetch)
        self.cancel_button = push_button(self.tr("Stop"), self.tr("Stop the download"), self, self._cancel)
        self.bar = progress_bar(self.tr("Download of the model"), self)
        self.words = StatusLine(self.tr("State of the download"), self)
        heading = bold(self.tr("Download a model"), self)
        fetch = row(self.name, self.fetch_button, self.cancel_button)
        column(heading, fetch, self.bar, self.words, within=self, spacing=8, margins=(0, 6, 0, 0))
        self.name.returnPressed.connect(self._fetch)
        # The service may report from another thread. The signal delivers its reports to this one.
        self._reported.connect(self._show_progress)
        self._show("")

    def turn_to(self, choice: BackendChoice, can_pull: bool) -> None:
        """Switches to the server of `choice`, unless a download is running.

        `can_pull`: whether the server can download models. Otherwise, the box is hidden.
        """
        self.setVisible(can_pull)
        if not self._background.busy(PULL):
            self._server = choice
            self._show("")

    def _fetch(self) -> None:
        name = self.name.text().strip()
        if not name or self._background.busy(PULL):
            return
        choice = BackendChoice(self._server.provider, name, self._server.base_url)
        self.bar.setValue(0)
        self._background.run(
            self, PULL, lambda: self._service.pull(choice, self._report), lambda _: self._done(choice), self._show
        )
        self._show(self.tr("Requesting {0} …").format(name))

    def _cancel(self) -> None:
        self._background.cancel(PULL)
        self._show(self.tr("Stopped. What has been downloaded is kept: download it again to continue."))

    def _done(self, fetched: BackendChoice) -> None:
        self.name.clear()
        self.fetched.emit(fetched)
        self._show(self.tr("{0} is on the server.").format(fetched.model))

    def _report(self, words: str, share: float) -> None:
        with contextlib.suppress(RuntimeError):  # the window has been destroyed
            self._reported.emit(words, share)

    @Slot(str, float)
    def _show_progress(self, words: str, share: float) -> None:
        if self._background.busy(PULL):
            set_share(self.bar, share)
            self.words.setText(words)

    def _show(self, words: str) -> None:
        busy = self._background.busy(PULL)
        self.words.say(words)
        self.bar.setVisible(busy)
        self.name.setEnabled(not busy)
        self.fetch_button.setVisible(not busy)
        self.cancel_button.setVisible(busy)


class ServerForm(QWidget):
    """The form for one provider at a time."""

    chosen = Signal(object)
    """Emits the `BackendChoice` to use for the conversation."""
    secondary_chosen = Signal(object)
    """Emits the `BackendChoice` to use as the comparison model."""

    def __init__(
        self,
        service: BackendService,
        lists: ModelLists,
        background: BackgroundTasks,
        settings: Settings,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._service = service
        self._lists = lists
        self._background = background
        self._settings = settings
        self._shown = BackendChoice("")
        self._secondary = False
        self._listed: Server | None = None  # the server of the list that the form was opened for
        self.name_field = text_field(self, self.tr("Name of the server"), "")
        self.name_field.setMaxLength(LONGEST_NAME)
        self.remove_button = push_button(self.tr("&Remove server"), self.tr("Remove the server"), self, self._remove)
        self.name_field.editingFinished.connect(self._rename)
        self.fields = BackendFields(self, lists, partial(backend_choice, settings))
        self.key_box = KeyBox(service, background, lambda: self.fields.choice, lists.refused, self)
        self.pull = PullBox(service, background, self)
        self.test_button = push_button(self.tr("&Test connection"), self.tr("Test connection"), self)
        self.answer = StatusLine(self.tr("Result of the test"), self)
        self.use_button = push_button("", "", self, self._use)
        self._lay_out()
        self.fields.changed.connect(self._follow)
        self.key_box.said.connect(self.answer.say)
        # Some providers list their models only to clients with a key.
        self.key_box.changed.connect(lambda: lists.ask(self.fields.choice, fresh=True))
        self.test_button.clicked.connect(self._save_and_test)
        self.pull.fetched.connect(self._fetched)

    def open_for(self, choice: BackendChoice, *, secondary: bool = False) -> None:
        """Fills in a back-end. `secondary`: whether the form selects the comparison model, not the conversation's."""
        self._secondary = secondary
        before = self._shown
        self.fields.show_choice(choice)
        self.fields.ask()
        if before == choice:
            self.key_box.find()  # the back-end may have rejected a request in the meantime
        self._name_use()

    def turn_to(self, provider: str) -> None:
        """Switches to a provider and restores the choice last used for it."""
        self.fields.turn_to(provider)

    def turn_to_server(self, server: BackendChoice) -> None:
        """Switches to one of the user's own servers, with the model last used there. Without an address: a new one."""
        known = backend_choice(self._settings, server.provider)
        self.fields.show_choice(known if known.place == server.place and server.base_url else server)
        self.fields.ask()

    def leave(self) -> None:
        """Cancels any running test and resets the form. A running download continues."""
        self._secondary = False
        self._background.cancel(TEST)
        self.key_box.field.clear()
        self._shown = BackendChoice("")

    def first_field(self) -> QWidget:
        """Returns the widget that should receive the initial focus."""
        key = self.key_box.field
        if self.fields.fault:
            return self.fields.url
        return key if not key.isHidden() else self.test_button

    # -- display

    def _follow(self) -> None:
        """Updates the rest of the form to match the back-end entered in the fields."""
        choice, before = self.fields.choice, self._shown
        view = self._lists.views.get(choice.provider)
        self._name_use()
        if choice == before:
            return
        self._shown = choice
        self._background.cancel(TEST)
        self.answer.say("")
        self._show_server(choice, before)
        if choice.place != before.place:
            self.key_box.turn_to(view, self.fields.fault)
        self.test_button.setEnabled(not self.fields.fault)
        self.pull.turn_to(choice, view is not None and view.can_pull)

    def _show_server(self, choice: BackendChoice, before: BackendChoice) -> None:
        """Shows the name of the server; a changed address still is that of the server that the form was opened for."""
        servers = self._lists.servers
        found = servers.find(choice.place)
        if found is not None or choice.provider != before.provider or not choice.base_url:
            self._listed = found
            self.name_field.setText(found.name if found is not None else "")
        own = choice.provider == "compatible" or found is not None
        self.name_field.setVisible(own)
        self.name_field.setPlaceholderText(found.host if found is not None else self.tr("name, as you like"))
        self.remove_button.setVisible(self._listed is not None)

    def _rename(self) -> None:
        if self._listed is not None:
            self._lists.servers.rename(self._listed.place, self.name_field.text())

    def _remove(self) -> None:
        if self._listed is not None:
            self._lists.servers.remove(self._listed.place)

    def _keep_server(self, choice: BackendChoice) -> None:
        """Puts the server that is entered into the list, or moves the one that the form was opened for."""
        servers, listed = self._lists.servers, self._listed
        if listed is not None and listed.provider == choice.provider and listed.base_url != choice.base_url:
            servers.move(listed.place, choice.base_url)
        servers.add(choice, self.name_field.text())
        self._listed = servers.find(choice.place)
        self.remove_button.setVisible(self._listed is not None)

    def _name_use(self) -> None:
        if self._secondary:
            name, help = self.tr("&Compare with it"), self.tr("It answers next to the model that speaks.")
        else:
            name, help = self.tr("&Use this model"), self.tr("The conversation continues with it.")
        self.use_button.setText(name)
        self.use_button.setAccessibleName(name.replace("&", ""))
        set_tip(self.use_button, help)

    # -- user actions

    def _use(self) -> None:
        choice = self.fields.choice
        if fault := self.fields.fault:
            self.answer.say(fault)
            self.fields.url.setFocus()
            return
        self._keep_server(choice)
        (self.secondary_chosen if self._secondary else self.chosen).emit(choice)

    def _save_and_test(self) -> None:
        if self.key_box.typed:
            self.key_box.save(then=self._test)
        else:
            self._test()

    def _test(self) -> None:
        choice = self.fields.choice
        self.test_button.setEnabled(False)
        self.answer.say(self.tr("Testing {0} …").format(self._lists.place_label(choice)))

        def works(sentence: str) -> None:
            self._keep_server(choice)
            self._tested(sentence)

        self._background.run(self, TEST, lambda: self._service.test(choice), works, self._test_failed)

    def _tested(self, sentence: str) -> None:
        self.test_button.setEnabled(True)
        self.answer.say(sentence)

    def _test_failed(self, sentence: str) -> None:
        self._lists.note_failure(self.fields.choice, sentence)
        self._tested(sentence)
        self.key_box.find()

    def _fetched(self, fetched: BackendChoice) -> None:
        """Fills in the downloaded model and refreshes the model list."""
        if self.isVisible() and self.fields.choice.place == fetched.place:
            self.fields.show_choice(fetched)
        self._lists.ask(fetched, fresh=True)

    # -- layout

    def _lay_out(self) -> None:
        key = self.key_box
        keys = row(key.field, key.save_button, key.forget_button)
        foot = row(self.test_button, self.remove_button, None, self.use_button)
        head = (self.name_field, self.fields.grid(), 6, key.heading, key.words, keys)
        parts = (*head, self.pull, None, self.answer, foot)
        column(*parts, within=self, spacing=8)
