"""The dialog “Connection” of a back-end: its API key, whether it answers, and downloading models to its server.

A typed key goes from its field to the service, and nowhere else.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.backends.picker import BackendPicker
from app.gui.backends.pull_box import PullBox
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import backend_choice, may_have_key
from app.gui.widgets.form import StatusLine, key_field, row
from app.gui.widgets.panel import Panel, Quiet
from app.services.protocols import BackendService, KeyPlace, ProviderView
from app.session.control import ROUTER, BackendChoice
from app.settings.declarations import Settings

TEST = "test the connection"


class BackendDialog(Panel):
    """Opens for one back-end; another can be picked in it, and used. `refused`: the places (provider and address) that
    have refused a request in this run, shared with the caller.
    """

    chosen = Signal(object)
    """The user wants to use this `BackendChoice`."""
    secondary_chosen = Signal(object)
    """The user wants it as the comparison model."""

    def __init__(
        self,
        service: BackendService,
        lists: ModelLists,
        background: BackgroundTasks,
        settings: Settings,
        refused: set[tuple[str, str]],
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Connection"))
        self._service = service
        self._lists = lists
        self._background = background
        self._refused = refused
        self._place = BackendChoice("")
        self._secondary = False
        self._routed: BackendChoice | None = None
        """The choice that it was opened for, if that is from the router's table."""
        self.picker = BackendPicker(self, lists, lambda provider: backend_choice(settings, provider))
        self.key_words = Quiet(parent=self)
        self.key = key_field(self.tr("API key"), self.tr("paste a key"), self)
        self.save_button = self.button(self.tr("&Save key"))
        self.forget_button = self.button(self.tr("&Forget key"))
        self.test_button = self.button(self.tr("&Test connection"))
        self.answer = StatusLine(self.tr("Result of the test"), self)
        self.pull = PullBox(service, background, self)
        self.use_button = self.button(self.tr("&Use this model"))
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"))
        self._lay_out()
        self._connect()

    def open_for(self, choice: BackendChoice, *, secondary: bool = False, routed: bool = False) -> None:
        """Opens with a back-end, to be used for the conversation or, if `secondary`, as the comparison model; `routed`:
        the router has asked it.
        """
        self._secondary = secondary
        self._routed, before = None, self._place
        self.picker.show_choice(choice)
        self.picker.ask()
        shown = self.picker.choice
        self._routed = shown if routed and shown.provider == choice.provider else None
        if before == shown and not self.key_words.isHidden():
            self._find_key()  # the back-end may have refused since the last time
        self._turn_to()
        self.appear()
        (self.key if self.key.isVisible() else self.test_button).setFocus()

    # -- the key

    def _turn_to(self) -> None:
        """Makes the rest of the dialog about the picked back-end."""
        choice, view = self.picker.choice, self._view()
        self._name_use()
        if choice == self._place:
            return
        moved = choice.place != self._place.place
        self._place = choice
        self._background.cancel(TEST)
        self.test_button.setEnabled(True)
        self._say("")
        keyed = view is not None and may_have_key(view)
        for widget in (self.key_heading, self.key_words, self.key, self.save_button, self.forget_button):
            widget.setVisible(keyed)
        if moved:
            self.key.setText("")
            self.key_words.setText("")
            self.forget_button.setEnabled(False)
            if keyed:
                self._find_key()
        self.pull.turn_to(choice, view is not None and view.can_pull)
        self.fit()

    def _name_use(self) -> None:
        if self._returns_to_router:
            name, help = self.tr("&Use the router again"), self.tr("Starts the router again, with your correction.")
        elif self._secondary:
            name, help = self.tr("&Compare with it"), self.tr("It answers next to the model that speaks.")
        else:
            name, help = self.tr("&Use this model"), self.tr("The conversation goes on with it.")
            if self._routed is not None:
                help = self.tr("The conversation goes on with it instead of the router.")
        self.use_button.setText(name)
        self.use_button.setAccessibleName(name.replace("&", ""))
        self.use_button.setToolTip(help)

    def _find_key(self) -> None:
        choice = self.picker.choice
        self._background.run(
            "find the key", lambda: self._service.key_place(choice), self._show_place, self.key_words.setText
        )

    def _show_place(self, place: KeyPlace) -> None:
        view = self._view()
        name = view.key_name if view is not None else ""
        if place == "none" and self._needs_key():
            words = self.tr("There is no key yet.")
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
        self.key_words.setText(words.format(name))
        self.forget_button.setEnabled(place in ("keyring", "memory"))
        self.fit()

    def _save_key(self) -> None:
        key, choice = self.key.text().strip(), self.picker.choice
        self.key.setText("")
        if key:
            self._background.run(
                "save the key", lambda: self._service.keep_key(choice, key), self._key_changed, self._say
            )

    def _forget_key(self) -> None:
        choice = self.picker.choice
        self._background.run("forget the key", lambda: self._service.forget_key(choice), self._key_changed, self._say)

    def _key_changed(self, sentence: str) -> None:
        self._say(sentence)
        self._find_key()
        self._lists.ask(self.picker.choice, fresh=True)  # some providers list their models only with a key

    def _use(self) -> None:
        choice = self.picker.choice
        if self._returns_to_router:
            choice = BackendChoice(ROUTER)
        elif fault := self.picker.fault:
            self._say(fault)
            self.picker.url.setFocus()
            return
        self.close()
        (self.secondary_chosen if self._secondary else self.chosen).emit(choice)

    # -- the test

    def _test(self) -> None:
        choice = self.picker.choice
        self.test_button.setEnabled(False)
        self._say(self.tr("Testing {0} …").format(self._lists.label(choice.provider)))
        self._background.run(TEST, lambda: self._service.test(choice), self._tested, self._test_failed)

    def _tested(self, sentence: str) -> None:
        self.test_button.setEnabled(True)
        self._say(sentence)

    def _test_failed(self, sentence: str) -> None:
        self._refused.add(self.picker.choice.place)
        self._tested(sentence)
        if not self.key_words.isHidden():
            self._find_key()

    def _fetched(self, fetched: BackendChoice) -> None:
        """Proposes the model that was downloaded, and refreshes the list."""
        if self.isVisible() and self.picker.choice.place == fetched.place:
            self.picker.show_choice(fetched)
        self._lists.ask(fetched, fresh=True)

    def _say(self, sentence: str) -> None:
        self.answer.say(sentence)
        self.fit()

    @property
    def _returns_to_router(self) -> bool:
        """Whether it still shows the choice from the router's table that it was opened for."""
        return self._routed is not None and self.picker.choice == self._routed

    def _view(self) -> ProviderView | None:
        return self._lists.views.get(self.picker.choice.provider)

    def _needs_key(self) -> bool:
        view = self._view()
        return (view is not None and view.wants_key) or self.picker.choice.place in self._refused

    def _leave(self) -> None:
        """Drops the typed key and the test; a download goes on."""
        self.key.setText("")
        self._background.cancel(TEST)
        self._place = BackendChoice("")

    # -- building

    def _lay_out(self) -> None:
        self.column.addLayout(self.picker.grid())
        self.key_heading = self.heading(self.tr("Key"))
        self.column.addWidget(self.key_words)
        self.column.addLayout(row(self.key, self.save_button, self.forget_button))
        self.column.addWidget(self.pull)
        self.heading(self.tr("Test"))
        self.column.addLayout(row(self.test_button, None))
        self.column.addWidget(self.answer)
        self.column.addStretch(1)
        self.foot(self.use_button, self.close_button)
        self.use_button.setDefault(False)  # Enter in the key's field saves the key

    def _connect(self) -> None:
        self.picker.picked.connect(self._turn_to)
        self.picker.reshaped.connect(self._turn_to)
        self.key.returnPressed.connect(self._save_key)
        self.save_button.clicked.connect(self._save_key)
        self.forget_button.clicked.connect(self._forget_key)
        self.test_button.clicked.connect(self._test)
        self.pull.fetched.connect(self._fetched)
        self.pull.reshaped.connect(self.fit)
        self.use_button.clicked.connect(self._use)
        self.close_button.clicked.connect(self.close)
        self.left.connect(self._leave)
