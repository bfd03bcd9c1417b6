"""The welcome's card about the model: which one answers, what that costs, and a better one that fits this machine."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.backends.model_rows import is_local
from app.gui.first_run.cards.choice_card import Boxed
from app.gui.first_run.model_offer import ModelOffer
from app.gui.state.choice import is_router
from app.gui.widgets.buttons import LinkButton
from app.gui.widgets.form import bold, push_button, row, wrapped
from app.gui.widgets.panel import Quiet
from app.services.machine_service import MachineView
from app.session.control import BackendChoice


class ModelCard(Boxed):
    """`make_offer` makes the offer of a better built-in model, where there is one."""

    choose_wanted = Signal()
    details_wanted = Signal()
    set_up_wanted = Signal(str)
    """The user wants to set up what fits the graphics card: "voice", or first what the "machine" lacks for it."""
    picked = Signal(object)
    """The `BackendChoice` that was offered."""

    def __init__(self, lists: ModelLists, make_offer: Callable[[QWidget], ModelOffer | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._lists = lists
        self._choice = BackendChoice()
        self._better: BackendChoice | None = None
        self._set_up = ""
        self.name = bold("", self)
        self.name.setWordWrap(True)
        self.cost = Quiet(parent=self)
        self.cost.setAccessibleName(self.tr("What the model costs"))
        self.offer = make_offer(self)
        self.ollama = wrapped(self, self.tr("A better model"))
        self.use_button = push_button(self.tr("&Use it"), self.tr("Use the better model"), self)
        self.card = wrapped(self, self.tr("What fits the graphics card"))
        self.card_button = push_button(self.tr("Set &up…"), self.tr("Set up what fits the graphics card"), self)
        self.choose_button = LinkButton(self)
        self.choose_button.setText(self.tr("Choose &another…"))
        self.choose_button.setAccessibleName(self.tr("Choose another model"))
        self.details = LinkButton(self)
        self.details.setText(self.tr("Details"))
        self.details.setAccessibleName(self.tr("Details about the model"))
        self.column.addLayout(row(bold(self.tr("Model"), self), None, self.choose_button, self.details))
        self.column.addWidget(self.name)
        self.column.addWidget(self.cost)
        if self.offer is not None:
            self.column.addWidget(self.offer)
        self.column.addLayout(row(self.ollama, self.use_button, stretch=0))
        self.column.addLayout(row(self.card, self.card_button, stretch=0))
        self.column.addStretch(1)
        self.choose_button.clicked.connect(self.choose_wanted)
        self.details.clicked.connect(self.details_wanted)
        self.use_button.clicked.connect(lambda: self.picked.emit(self._better))
        self.card_button.clicked.connect(lambda: self.set_up_wanted.emit(self._set_up))
        self._show()

    def show_model(self, choice: BackendChoice, name: str) -> None:
        """Shows the model that answers, with its name for people."""
        self._choice = choice
        self.name.setText(name)
        self._show()

    def show_machine(self, view: MachineView, frontend: str) -> None:
        """Offers what fits the machine and is not in use; `frontend` is."""
        self._better = view.backend if view.backend.provider != "embedded" else None
        fit = next((fit for fit in view.fits_of(view.frontend) if fit.precision == view.precision), None)
        words = ""
        if view.frontend != frontend and fit is not None and view.frontend != "cascade":
            self._set_up = "voice"
            words = self.tr("Your graphics card has room for KAME.")
            if fit.download_bytes:
                words = self.tr("Your graphics card has room for KAME ({0} GB to download).")
                words = words.format(round(fit.download_bytes / 1e9))
        elif view.graphics is not None and view.graphics.state != "waiting":
            self._set_up = "machine"
            words = self.tr("KAME can use your graphics card once it is set up.")
        self.card.setText(words)
        self._show()

    def _show(self) -> None:
        self.cost.setText(self._cost())
        better = self._better if self._choice.provider == "embedded" else None
        if better is not None:
            self.ollama.setText(self.tr("{0} (Ollama) is here, too, and knows far more.").format(better.model))
        for widget in (self.ollama, self.use_button):
            widget.setVisible(better is not None)
        for widget in (self.card, self.card_button):
            widget.setVisible(bool(self.card.text()))

    def _cost(self) -> str:
        choice = self._choice
        view = self._lists.views.get(choice.provider)
        if is_router(choice):
            return self.tr("Each question goes to the model that your table names for it.")
        if view is not None and view.wants_key:
            return self.tr("It runs in the cloud: what you say is sent there as text, and paid for with your key.")
        if choice.provider == "embedded" or is_local(choice.base_url or (view.url if view is not None else "") or ""):
            return self.tr("It runs on this machine, and costs nothing.")
        return self.tr("It runs on a server that you have named: what you say is sent there as text.")
