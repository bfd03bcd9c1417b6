"""All about one brain that needs no talk: its key, whether it answers, and fetching its models.

Talks to the desk alone. A key that is typed goes from its field to the desk, and nowhere else.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.backends.picker import BackendPicker
from app.gui.backends.pull_box import PullBox
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import backend_choice, may_have_key
from app.gui.widgets.panel import Panel, Quiet
from app.services.api_keys import KeyPlace
from app.services.backend_service import BackendService, ProviderView
from app.session.control import ROUTER, BackendChoice
from app.settings.declarations import Settings


class BackendDialog(Panel):
    """Shows the brain that it was opened for; another can be looked at in it, and used. `refused`: the providers and
    addresses that have refused something in this run, shared with whoever hears of it.
    """

    chosen = Signal(object)
    """The user wants the talk to have this `BackendChoice`."""
    secondary_chosen = Signal(object)
    """The user wants it at the side."""

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
        self.entitle(self.tr("Brain: key, connection, models"))
        self._service = service
        self._lists = lists
        self._errands = background
        self._refused = refused
        self._place = BackendChoice("")
        self._secondary = False
        self._routed: BackendChoice | None = None
        """The brain that it was opened for, if that is one of the router's table."""
        self.picker = BackendPicker(self, lists, lambda provider: backend_choice(settings, provider))
        self.key_words = Quiet(parent=self)
        self.key = QLineEdit(self)
        self.key.setAccessibleName(self.tr("API key"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setPlaceholderText(self.tr("paste a key"))
        hints = Qt.InputMethodHint
        self.key.setInputMethodHints(hints.ImhHiddenText | hints.ImhSensitiveData | hints.ImhNoPredictiveText)
        self.save_button = self.button(self.tr("&Save key"))
        self.forget_button = self.button(self.tr("&Forget key"))
        self.test_button = self.button(self.tr("&Test connection"))
        self.answer = Quiet(parent=self, selectable=True)
        self.answer.setAccessibleName(self.tr("What the test found"))
        self.pull = PullBox(service, background, self)
        self.use_button = self.button(self.tr("&Use this brain"))
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"))
        self._lay_out()
        self._connect()

    def open_for(self, choice: BackendChoice, *, secondary: bool = False, routed: bool = False) -> None:
        """Appears with a brain, to be used for the talk or, if `secondary`, at the side; `routed`: the router is, which
        has asked it.
        """
        self._secondary = secondary
        self._routed, before = None, self._place
        self.picker.show_choice(choice)
        self.picker.ask()
        shown = self.picker.choice
        self._routed = shown if routed and shown.provider == choice.provider else None
        if before == shown and not self.key_words.isHidden():
            self._look_for_key()  # it may have refused since it was looked at
        self._turn_to()
        self.appear()
        (self.key if self.key.isVisible() else self.test_button).setFocus()

    # -- the key

    def _turn_to(self) -> None:
        """Another brain is shown: all that is said below is about that one."""
        choice, view = self.picker.choice, self._view()
        self._name_use()
        if choice == self._place:
            return
        moved = choice.place != self._place.place
        self._place = choice
        self._errands.cancel("test the connection")
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
                self._look_for_key()
        self.pull.turn_to(choice, view is not None and view.can_pull)
        self.fit()

    def _name_use(self) -> None:
        """Says on the button what it does."""
        if self._again:
            name, help = self.tr("&Use the router again"), self.tr("The router begins anew, with what you put right.")
        elif self._secondary:
            name, help = self.tr("&Use it at the side"), self.tr("It answers beside the one that drives.")
        else:
            name, help = self.tr("&Use this brain"), self.tr("The talk goes on with it.")
            if self._routed is not None:
                help = self.tr("The talk goes on with it, and not with the router.")
        self.use_button.setText(name)
        self.use_button.setAccessibleName(name.replace("&", ""))
        self.use_button.setToolTip(help)

    def _look_for_key(self) -> None:
        choice = self.picker.choice
        self._errands.run(
            "look for the key", lambda: self._service.key_place(choice), self._show_place, self.key_words.setText
        )

    def _show_place(self, place: KeyPlace) -> None:
        view = self._view()
        name = view.key_name if view is not None else ""
        words = {
            "none": self.tr("There is no key yet.")
            if self._wants_key()
            else self.tr("There is no key; this one may not need any."),
            "environment": self.tr(
                "The key comes from the environment variable {0}, which goes before a saved one."
            ).format(name)
            if name
            else self.tr("The key comes from the environment, which goes before a saved one."),
            "keyring": self.tr("The key is in the system's keyring."),
            "memory": self.tr("The key is kept in memory until you close the window: there is no keyring here."),
        }
        self.key_words.setText(words[place])
        self.forget_button.setEnabled(place in ("keyring", "memory"))
        self.fit()

    def _save_key(self) -> None:
        key, choice = self.key.text().strip(), self.picker.choice
        self.key.setText("")
        if key:
            self._errands.run("keep the key", lambda: self._service.keep_key(choice, key), self._key_changed, self._say)

    def _forget_key(self) -> None:
        choice = self.picker.choice
        self._errands.run("forget the key", lambda: self._service.forget_key(choice), self._key_changed, self._say)

    def _key_changed(self, sentence: str) -> None:
        self._say(sentence)
        self._look_for_key()
        self._lists.ask(self.picker.choice, fresh=True)  # with the key, it may tell its models

    def _use(self) -> None:
        choice = self.picker.choice
        if self._again:
            choice = BackendChoice(ROUTER)
        elif not self.picker.whole:
            self._say(self.tr("Say first where the server is."))
            self.picker.url.setFocus()
            return
        self.close()
        (self.secondary_chosen if self._secondary else self.chosen).emit(choice)

    # -- the test

    def _test(self) -> None:
        choice = self.picker.choice
        self.test_button.setEnabled(False)
        self._say(self.tr("Asking {0} for a word …").format(self._lists.label(choice.provider)))
        self._errands.run("test the connection", lambda: self._service.test(choice), self._tested, self._test_failed)

    def _tested(self, sentence: str) -> None:
        self.test_button.setEnabled(True)
        self._say(sentence)

    def _test_failed(self, sentence: str) -> None:
        self._refused.add(self.picker.choice.place)
        self._tested(sentence)
        if not self.key_words.isHidden():
            self._look_for_key()

    def _fetched(self, fetched: BackendChoice) -> None:
        """Proposes the model that has come, and has it listed."""
        choice = self.picker.choice
        if self.isVisible() and choice.place == fetched.place:
            self.picker.show_choice(fetched)
        self._lists.ask(fetched, fresh=True)

    def _say(self, sentence: str) -> None:
        self.answer.setText(sentence)
        self.answer.setVisible(bool(sentence))
        self.fit()

    # -- inner parts

    @property
    def _again(self) -> bool:
        """Whether it shows a brain of the router's table that was to be put right: that goes on with the router."""
        return self._routed is not None and self.picker.choice == self._routed

    def _view(self) -> ProviderView | None:
        return self._lists.views.get(self.picker.choice.provider)

    def _wants_key(self) -> bool:
        view = self._view()
        return (view is not None and view.wants_key) or self.picker.choice.place in self._refused

    def _leave(self) -> None:
        """Nothing of a key stays behind; a model goes on being fetched."""
        self.key.setText("")
        self._errands.cancel("test the connection")
        self._place = BackendChoice("")

    def _lay_out(self) -> None:
        picker = self.picker
        self.column.addLayout(picker.grid())
        self.key_heading = self.heading(self.tr("Key"))
        self.column.addWidget(self.key_words)
        row = QHBoxLayout()
        row.addWidget(self.key, 1)
        row.addWidget(self.save_button)
        row.addWidget(self.forget_button)
        self.column.addLayout(row)
        self.column.addWidget(self.pull)
        self.heading(self.tr("Connection"))
        row = QHBoxLayout()
        row.addWidget(self.test_button)
        row.addStretch(1)
        self.column.addLayout(row)
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
