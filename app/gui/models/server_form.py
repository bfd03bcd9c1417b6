"""The form for a language model provider or server: model, address, API key, connection test and downloads.

A typed key is only ever passed from its field to the service.
"""

from __future__ import annotations

import contextlib
from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.gui.design.plain import set_tip
from app.gui.models.backend_fields import BackendFields
from app.gui.models.key_box import KeyBox
from app.gui.models.model_lists import ModelLists
from app.gui.models.servers import LONGEST_NAME, Server
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import backend_choice
from app.gui.widgets.form import (
    StatusLine,
    bold,
    column,
    label_of,
    progress_bar,
    push_button,
    row,
    set_share,
    text_field,
)
from app.services.backend_service import BackendService
from app.services.provider_keys import display_name
from app.session.control import BackendChoice
from app.settings.declarations import Settings

TEST, PULL = "test the connection", "download a model to a server"


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
        self.fields = BackendFields(self, lists, partial(backend_choice, settings))
        self.name_field = text_field(self, self.tr("Name of the server"), "")
        self.name_field.setMaxLength(LONGEST_NAME)
        self.name_label = label_of(self.name_field, self.tr("&Name"), self)
        self.remove_button = push_button(self.tr("&Remove server"), self.tr("Remove the server"), self, self._remove)
        self.name_field.editingFinished.connect(self._rename)
        self.setTabOrder(self.fields.url, self.name_field)
        self.fields.url.textEdited.connect(self._follow_address)
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
        self._follow_address()
        self.pull.turn_to(choice, view is not None and view.can_pull)

    def _follow_address(self) -> None:
        """Proposes a name for the address as it is typed, and lets it be tested."""
        choice, fault = self.fields.choice, self.fields.fault
        self.name_field.setPlaceholderText(self.tr("name, as you like") if fault else display_name(choice))
        self.test_button.setEnabled(not fault)
        if self.key_box.field.isEnabled() == bool(fault):
            self.key_box.wait_for(fault)

    def _show_server(self, choice: BackendChoice, before: BackendChoice) -> None:
        """Shows the name of the server; a changed address still is that of the server that the form was opened for."""
        servers = self._lists.servers
        found = servers.find(choice.place)
        if found is not None or choice.provider != before.provider or not choice.base_url:
            self._listed = found
            self.name_field.setText(found.name if found is not None else "")
        own = choice.provider == "compatible" or found is not None
        for widget in (self.name_field, self.name_label):
            widget.setVisible(own)
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
        self.fields.settle()  # the button's key leaves the focus in a field
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
            self._lists.ask(choice, fresh=self._lists.state(choice) == "away")
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
        fields = self.fields.grid()
        fields.addWidget(self.name_label, 1, 0)
        fields.addWidget(self.name_field, 1, 1, 1, 2)
        head = (fields, 6, key.heading, key.words, keys)
        parts = (*head, self.pull, None, self.answer, foot)
        column(*parts, within=self, spacing=8)
