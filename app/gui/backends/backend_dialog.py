"""The dialog “Connection” of a back-end: its API key, whether it answers, and downloading models to its server."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.key_box import KeyBox
from app.gui.backends.model_lists import ModelLists
from app.gui.backends.picker import BackendPicker
from app.gui.backends.pull_box import PullBox
from app.gui.design.plain import set_tip
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import backend_choice, may_have_key
from app.gui.widgets.form import StatusLine, row
from app.gui.widgets.panel import Panel
from app.services.backend_service import BackendService, ProviderView
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
        self.set_panel_title(self.tr("Connection"))
        self._service = service
        self._lists = lists
        self._background = background
        self._refused = refused
        self._place = BackendChoice("")
        self._secondary = False
        self._routed: BackendChoice | None = None
        """The choice that it was opened for, if that is from the router's table."""
        self.picker = BackendPicker(self, lists, lambda provider: backend_choice(settings, provider))
        self.key_box = KeyBox(service, background, lambda: self.picker.choice, refused, self)
        self.key, self.key_words = self.key_box.field, self.key_box.words
        self.forget_button = self.key_box.forget_button
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
            self.key_box.find()  # the back-end may have refused since the last time
        self._turn_to()
        self.appear()
        (self.key if self.key.isVisible() else self.test_button).setFocus()

    # -- the key

    def _turn_to(self) -> None:
        """Switches the rest of the dialog to the picked back-end."""
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
        for widget in (self.key_heading, *self._key_widgets):
            widget.setVisible(keyed)
        if moved:
            self.key_box.turn_to(view)
            if keyed:
                self.key_box.find()
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
        set_tip(self.use_button, help)

    def _key_changed(self) -> None:
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
        self._background.run(self, TEST, lambda: self._service.test(choice), self._tested, self._test_failed)

    def _tested(self, sentence: str) -> None:
        self.test_button.setEnabled(True)
        self._say(sentence)

    def _test_failed(self, sentence: str) -> None:
        self._refused.add(self.picker.choice.place)
        self._tested(sentence)
        if not self.key_words.isHidden():
            self.key_box.find()

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

    def _leave(self) -> None:
        """Drops the typed key and the test; a download goes on."""
        self.key.setText("")
        self._background.cancel(TEST)
        self._place = BackendChoice("")

    # -- building

    def _lay_out(self) -> None:
        self.column.addLayout(self.picker.grid())
        box = self.key_box
        self._key_widgets = (box.words, box.field, box.save_button, box.forget_button)
        self.key_heading = self.heading(self.tr("Key"))
        self.column.addWidget(self.key_words)
        self.column.addLayout(row(self.key, box.save_button, box.forget_button))
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
        self.key.returnPressed.connect(self.key_box.save)
        self.key_box.said.connect(self._say)
        self.key_box.changed.connect(self._key_changed)
        self.key_box.found.connect(self.fit)
        self.test_button.clicked.connect(self._test)
        self.pull.fetched.connect(self._fetched)
        self.pull.reshaped.connect(self.fit)
        self.use_button.clicked.connect(self._use)
        self.close_button.clicked.connect(self.close)
        self.left.connect(self._leave)
