"""The model card of the welcome page: the current model, its cost, and the offer of a better one for this machine."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.design.sentences import in_window_language
from app.gui.models.downloads import ModelsController
from app.gui.models.model_lists import ModelLists
from app.gui.widgets.buttons import LinkButton
from app.gui.widgets.form import add_items, bold, column, progress_bar, push_button, row, set_share, wrapped
from app.gui.widgets.panel import Boxed, Quiet
from app.services.machine_service import MachineView
from app.services.model_service import ModelView
from app.session.control import BackendChoice
from app.untrusted.proxies import on_this_machine


class ModelOffer(QWidget):
    """Offers to download the best built-in language model that is fast enough on this machine, and states its size.

    Hidden until `show_best` is called. A download continues even if the widget is destroyed.
    """

    def __init__(self, controller: ModelsController, parent: QWidget) -> None:
        super().__init__(parent)
        self._controller = controller
        self._view: ModelView | None = None
        self.words = Quiet(parent=self, name=self.tr("A better model"))
        self.bar = progress_bar(self.tr("Download of the better model"), self, slim=True)
        self.get_button = push_button(self.tr("Do&wnload"), self.tr("Download the better model"), self, self._get)
        self.stop_button = push_button(self.tr("Sto&p"), self.tr("Stop the download of the better model"), self)
        first = row(self.words, self.get_button, self.stop_button, stretch=0)
        column(first, self.bar, within=self, margins=(0, 4, 0, 0))
        self.stop_button.clicked.connect(controller.stop)
        controller.progressed.connect(self._progressed)
        controller.arrived.connect(self._arrived)
        controller.failed.connect(self._failed)
        self.hide()

    def show_best(self, view: ModelView) -> None:
        """Offers the model `view`, the best one that this machine can run."""
        self._view = view
        self._show()

    def _get(self) -> None:
        if self._view is not None:
            self._controller.get(self._view.key)
            self._show()

    def _progressed(self, words: str, share: float) -> None:
        set_share(self.bar, share)

    def _arrived(self, key: str) -> None:
        if self._view is not None and key == self._view.key:
            self._show()

    def _failed(self, sentence: str) -> None:
        self._show()
        self.words.setText(in_window_language(sentence))

    def _show(self) -> None:
        view = self._view
        self.setVisible(view is not None)
        if view is None:
            return
        size, busy = f"{view.bytes / 1e9:.1f}", self._controller.busy
        here = view.usable or not any(v.key == view.key and not v.usable for v in self._controller.service.models())
        if here:
            words = self.tr("{0} is on this machine, and is used by “Built-in”.").format(view.label)
        elif busy:
            words = self.tr("{0} is being downloaded ({1} GB). Until then the small model answers.")
        else:
            words = self.tr("This machine is fast enough for {0} ({1} GB to download), which knows far more.")
        self.words.setText(words.format(view.label, size))
        self.bar.setVisible(busy)
        self.stop_button.setVisible(busy)
        self.get_button.setVisible(not busy and not here)


class ModelCard(Boxed):
    """Shows the current model. `make_offer` creates the offer of a better built-in model, or returns None if none can
    be offered.
    """

    choose_wanted = Signal()
    details_wanted = Signal()
    set_up_wanted = Signal(str, str)
    """Emits a place in "Models and servers" and a model there, when the user asks to set up the graphics card."""
    picked = Signal(object)
    """Emits the `BackendChoice` that the user has accepted."""

    def __init__(self, lists: ModelLists, make_offer: Callable[[QWidget], ModelOffer | None], parent: QWidget) -> None:
        super().__init__(parent)
        self._lists = lists
        self._choice = BackendChoice()
        self._tiny = False
        self._better: BackendChoice | None = None
        self._set_up = "", ""
        self.name = bold("", self)
        self.name.setWordWrap(True)
        self.cost = Quiet(parent=self, name=self.tr("What the model costs"))
        self.offer = make_offer(self)
        self.ollama = wrapped(self, self.tr("A better model"))
        self.use_button = push_button(self.tr("&Use it"), self.tr("Use the better model"), self)
        self.card = wrapped(self, self.tr("What fits the graphics card"))
        self.card_button = push_button(self.tr("Set &up…"), self.tr("Set up what fits the graphics card"), self)
        self.choose_button = LinkButton(self, self.tr("Choose &another…"), self.tr("Choose another model"))
        self.details = LinkButton(self, self.tr("Details"), self.tr("Details about the model"))
        head = row(bold(self.tr("Model"), self), None, self.choose_button, self.details)
        ollama, card = row(self.ollama, self.use_button, stretch=0), row(self.card, self.card_button, stretch=0)
        offers = () if self.offer is None else (self.offer,)
        add_items(self.column, head, self.name, self.cost, *offers, ollama, card, None)
        self.choose_button.clicked.connect(self.choose_wanted)
        self.details.clicked.connect(self.details_wanted)
        self.use_button.clicked.connect(lambda: self.picked.emit(self._better))
        self.card_button.clicked.connect(lambda: self.set_up_wanted.emit(*self._set_up))
        self._show()

    def show_model(self, choice: BackendChoice, name: str, *, tiny: bool) -> None:
        """Shows the current model and its cost; `name` is its display name. `tiny`: it is the smallest one."""
        self._choice, self._tiny = choice, tiny
        self.name.setText(name)
        self._show()

    def show_machine(self, view: MachineView, frontend: str) -> None:
        """Offers the back-end and front-end that suit this machine, unless in use. `frontend`: the front-end in use."""
        self._better = view.backend if view.backend.provider != "embedded" else None
        fit = next((fit for fit in view.fits_of(view.frontend) if fit.precision == view.precision), None)
        words = ""
        if view.frontend != frontend and fit is not None and view.frontend != "cascade":
            self._set_up = "embedded", view.frontend
            words = self.tr("Your graphics card has room for KAME.")
            if fit.download_bytes:
                words = self.tr("Your graphics card has room for KAME ({0} GB to download).")
                words = words.format(round(fit.download_bytes / 1e9))
        elif view.graphics is not None and view.graphics.state != "waiting":
            self._set_up = "machine", ""
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
        if view is not None and view.wants_key:
            return self.tr("It runs in the cloud: what you say is sent there as text, and billed to your account.")
        if self._tiny:
            return self.tr("Tiny, for trying out: it runs on this machine and costs nothing, but knows little.")
        if choice.provider == "embedded" or on_this_machine(
            choice.base_url or (view.url if view is not None else "") or ""
        ):
            return self.tr("It runs on this machine, and costs nothing.")
        return self.tr("It runs on a server that you have entered: what you say is sent there as text.")
