"""A page that checks this machine's hardware, recommends models and installs graphics card support."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QHideEvent, QShowEvent
from PySide6.QtWidgets import QPushButton, QWidget

from app.gui.design.icons import icon
from app.gui.design.plain import PlainLabel, set_tip
from app.gui.design.sentences import in_window_language
from app.gui.design.theme import tokens
from app.gui.models.downloads import GraphicsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets import form
from app.gui.widgets.form import PERMILLE, bold, grid, progress_bar, push_button, set_share, wrapped
from app.gui.widgets.panel import Boxed, Quiet
from app.services.graphics_service import GraphicsOffer
from app.services.machine_service import MachineFinding, MachineService, MachineView, State

CHECK, TRIAL = "check the machine", "try the card"


class Mark(PlainLabel):
    """A status icon for a finding, with an accessible name."""

    def __init__(self, state: State, parent: QWidget) -> None:
        super().__init__(parent=parent)
        names = {"good": self.tr("good"), "fair": self.tr("all right"), "missing": self.tr("missing")}
        signs = {"good": ("check", tokens().good), "fair": ("info", tokens().dim), "missing": ("x", tokens().bad)}
        self.setAccessibleName(names[state])
        set_tip(self, names[state])
        sign, colour = signs[state]
        side = self.fontMetrics().height()
        self.setPixmap(icon(sign, QColor(colour), size=side).pixmap(side))


class GraphicsStrip(Boxed):
    """Offers to install graphics card support, shows the progress, and then offers to restart the app.

    Hidden if there is nothing to install. A running installation continues while the strip is hidden.
    """

    def __init__(self, controller: GraphicsController | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._controller = controller
        self._offer: GraphicsOffer | None = None
        self._trouble = ""
        self._installed = self._stopping = False
        self.words = wrapped(self, self.tr("What the graphics card needs"))
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.bar = progress_bar(self.tr("Installation of what the graphics card needs"), self, slim=True)
        self.note = Quiet(parent=self)
        self.get_button = push_button(self.tr("&Download"), self.tr("Download what the graphics card needs"), self)
        self.stop_button = push_button(self.tr("S&top"), self.tr("Stop the installation"), self)
        self.restart_button = push_button(self.tr("&Restart KAME"), self.tr("Restart KAME for the graphics card"), self)
        self.buttons = (self.get_button, self.stop_button, self.restart_button)
        form.add_items(self.column, self.words, self.bar, form.row(self.note, *self.buttons, spacing=10, stretch=0))
        if controller is not None:
            self.get_button.clicked.connect(lambda: self._install(controller))
            self.stop_button.clicked.connect(lambda: self._stop(controller))
            self.restart_button.clicked.connect(controller.restart)
            controller.progressed.connect(self._progressed)
            controller.failed.connect(lambda sentence: self._end(sentence, self.get_button))
            controller.done.connect(self._done)
        self._show()

    def show_offer(self, offer: GraphicsOffer | None) -> None:
        """Shows an offer, or hides the strip if it is None. No-op during an installation."""
        if not self._busy:
            self._offer, self._trouble = offer, ""
            self._installed = offer is not None and offer.state == "waiting"
            self._show()

    @property
    def _busy(self) -> bool:
        return self._controller is not None and self._controller.busy

    def _show(self) -> None:
        offer, busy = self._offer, self._busy
        can_fetch = offer is not None and offer.state == "offered" and self._controller is not None
        self.setVisible(offer is not None or busy)
        self.bar.setVisible(busy)
        self.get_button.setVisible(can_fetch and not busy and not self._installed)
        self.stop_button.setVisible(busy)
        self.restart_button.setVisible(self._installed and not busy and self._controller is not None)
        if busy:
            self.note.setText(self.tr("Meanwhile KAME uses the built-in voice."))
        elif offer is not None:
            self._show_offer(offer)

    def _show_offer(self, offer: GraphicsOffer) -> None:
        if self._trouble:
            words, note = in_window_language(self._trouble), self.tr("KAME keeps using the built-in voice.")
        elif self._installed:
            words, note = self.tr("What the graphics card needs is installed."), self.tr("Restart KAME to use it.")
        elif offer.state == "by hand":
            words, note = in_window_language(offer.sentence), self.tr("Type in a terminal: {0}").format(offer.command)
        else:
            words = f"{in_window_language(offer.sentence)} {self._size_of(offer)}"
            note = self.tr("Until then KAME uses the built-in voice.")
        self.words.setText(words)
        self.note.setText(note)

    def _size_of(self, offer: GraphicsOffer) -> str:
        if not offer.download:
            return self.tr("Several GB have to be downloaded.")
        words = (
            self.tr("About {0} GB have to be downloaded. They take about {1} GB on the disk; {2} GB are free.")
            if offer.estimated
            else self.tr("{0} GB have to be downloaded. They take {1} GB on the disk; {2} GB are free.")
        )
        return words.format(*(f"{size / 1e9:.1f}" for size in (offer.download, offer.room, offer.free)))

    def _install(self, controller: GraphicsController) -> None:
        self._trouble, self._stopping = "", False
        controller.install()
        self.bar.setRange(0, 0)
        self._show()
        self.words.setText(self.tr("Checking the graphics card …"))
        self.stop_button.setFocus()

    def _stop(self, controller: GraphicsController) -> None:
        self._stopping = True
        controller.stop()
        self.words.setText(self.tr("Stopping; what has been downloaded is kept …"))

    def _progressed(self, words: str, share: float) -> None:
        if not self._busy:
            return
        self.bar.setRange(0, 0 if share < 0 else PERMILLE)
        if share >= 0:
            set_share(self.bar, share)
        if not self._stopping:
            self.words.setText(in_window_language(words))
        if self.isHidden():
            self._show()

    def _done(self) -> None:
        self._installed = True
        self._end(self._trouble, self.restart_button)

    def _end(self, trouble: str, follow: QWidget) -> None:
        """Shows that an installation has ended. If the stop button had the focus, `follow` receives it.

        `trouble`: the error message if it failed, else empty.
        """
        focused = self.stop_button.hasFocus()
        self._trouble, self._stopping = trouble, False
        self._show()
        if focused:
            follow.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._watch(False)

    def _watch(self, watched: bool) -> None:
        """Sets whether the progress is visible here. Otherwise, the window must report the outcome."""
        if self._controller is not None:
            self._controller.watched = watched


class MachinePage(QWidget):
    """A page that checks the machine in the background when first shown, and again on request.

    Where a card is ready for KAME, it also offers to try KAME on it. `found` emits the resulting `MachineView`.
    """

    found = Signal(object)

    def __init__(
        self,
        machine: MachineService,
        graphics: GraphicsController | None,
        background: BackgroundTasks,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self._machine = machine
        self._background = background
        self._had_focus: QPushButton | None = None
        self._trial: tuple[MachineFinding, ...] = ()
        self.view: MachineView | None = None
        self._row_widgets: list[QWidget] = []
        self.bar = progress_bar(self.tr("Check of this machine"), self, slim=True)
        self.progress = Quiet(parent=self, name=self.tr("What is being checked"))
        self.rows = grid(10, 9, stretch=2)
        self.box = Boxed(self, live=True)
        self.advice = wrapped(self.box, self.tr("What fits this machine"))
        self.box.column.addWidget(self.advice)
        self.graphics = GraphicsStrip(graphics, self)
        self.again = push_button(self.tr("Check a&gain"), self.tr("Check this machine again"), self, self.check)
        tried = self.tr("Try KAME on the graphics card, which takes about a minute")
        self.trial = push_button(self.tr("&Try the card"), tried, self, self.try_card)
        set_tip(self.trial, tried)
        buttons = form.row(self.again, self.trial, None)
        parts = (self.bar, self.progress, self.rows, 4, self.graphics, self.box, buttons, None)
        form.column(*parts, within=self, spacing=8)
        self._show(busy=False)

    def check(self) -> None:
        """Starts a check in the background."""
        self._begin(self.again, self.tr("Checking this machine …"))
        self._background.run(self, CHECK, lambda: self._machine.look(self._report), self._found, self._failed)

    def try_card(self) -> None:
        """Tries KAME on the card, in the background."""
        self._begin(self.trial, self.tr("Trying KAME on the graphics card …"))
        self._background.run(self, TRIAL, lambda: self._machine.try_card(self._report), self._tried, self._failed)

    def _begin(self, button: QPushButton, words: str) -> None:
        self._had_focus = button if button.hasFocus() else None
        self.bar.setValue(0)
        self.progress.setText(words)
        self._show(busy=True)

    def leave(self) -> None:
        """Cancels any running check or trial."""
        self._background.cancel(CHECK)
        self._background.cancel(TRIAL)
        self._show(busy=False)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self.view is None and not self._background.busy(CHECK):
            self.check()

    def _report(self, words: str, share: float) -> None:
        self.progress.setText(in_window_language(words))
        set_share(self.bar, share)

    def _found(self, view: MachineView) -> None:
        self.view = view
        self._show_findings((*view.findings, *self._trial))
        self.advice.setText(in_window_language(view.advice))
        self.graphics.show_offer(view.graphics)
        self._show(busy=False)
        self.found.emit(view)

    def _tried(self, trial: tuple[MachineFinding, ...]) -> None:
        assert self.view is not None
        self._trial = trial
        self._show_findings((*self.view.findings, *trial))
        self._show(busy=False)

    def _show_findings(self, findings: Sequence[MachineFinding]) -> None:
        names = {
            "card": self.tr("Graphics card"),
            "processor": self.tr("Processor"),
            "disk": self.tr("Disk"),
            "microphone": self.tr("Microphone"),
            "loudspeaker": self.tr("Loudspeaker"),
            "ollama": self.tr("Ollama"),
            "keys": self.tr("Keys"),
            "trial": self.tr("KAME on the card"),
        }
        for widget in self._row_widgets:
            self.rows.removeWidget(widget)
            widget.deleteLater()
        self._row_widgets = []
        for line, finding in enumerate(findings):
            mark, topic = Mark(finding.state, self), names[finding.topic]
            sentence = in_window_language(finding.sentence)
            name = f"{topic}, {mark.accessibleName()}: {sentence}"
            for column, widget in enumerate((mark, bold(topic, self), wrapped(self, name, sentence))):
                self.rows.addWidget(widget, line, column, Qt.AlignmentFlag.AlignTop)
                self._row_widgets.append(widget)

    def _failed(self, sentence: str) -> None:
        self._show(busy=False)
        self.progress.say(sentence)

    def _show(self, *, busy: bool) -> None:
        """Shows the progress bar and disables the buttons during a check, and restores the focus afterwards."""
        self.bar.setVisible(busy)
        self.progress.setVisible(busy)
        self.box.setVisible(bool(self.advice.text()))
        self.again.setEnabled(not busy)
        self.trial.setEnabled(not busy)
        self.trial.setVisible(self.view is not None and self.view.can_try)
        if self._had_focus is not None and not busy and self.isVisible():
            self._had_focus.setFocus()
            self._had_focus = None
