"""The first run's strip about what a graphics card needs: asks, installs it, stops, and restarts the app."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from app.gui.first_run.cards.fetch_strip import FetchStrip
from app.gui.models.graphics_controller import GraphicsController
from app.gui.widgets.form import push_button
from app.services.graphics_service import GraphicsOffer


class GraphicsStrip(FetchStrip):
    """Hidden while there is nothing to offer. Downloads nothing before the user has seen its size and agreed."""

    def __init__(self, controller: GraphicsController | None, parent: QWidget) -> None:
        super().__init__(
            controller,
            parent,
            words_name=self.tr("What the graphics card needs"),
            bar_name=self.tr("Installation of what the graphics card needs"),
        )
        self._graphics = controller
        self._offer: GraphicsOffer | None = None
        self._asking = self._installed = False
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.stop_button.setAccessibleName(self.tr("Stop the installation"))
        self.get_button = push_button(self.tr("&Download…"), self.tr("Get what the graphics card needs"), self)
        self.agree_button = push_button(self.tr("&Download"), self.tr("Download what the graphics card needs"), self)
        self.later_button = push_button(self.tr("N&ot now"), self.tr("Leave the graphics card alone for now"), self)
        self.restart_button = push_button(self.tr("&Restart KAME"), self.tr("Restart KAME for the graphics card"), self)
        self.buttons = (
            self.get_button,
            self.later_button,
            self.agree_button,
            self.stop_button,
            self.restart_button,
        )
        self._arrange(*self.buttons)
        self.get_button.clicked.connect(self._ask)
        self.later_button.clicked.connect(self._decline)
        if controller is not None:
            self.agree_button.clicked.connect(lambda: self._install(controller))
            self.restart_button.clicked.connect(controller.restart)
            controller.done.connect(self._done)
        self.show_now()

    def show_offer(self, offer: GraphicsOffer | None) -> None:
        """Shows what there is to install, unless an installation goes on."""
        if not self.busy:
            self._offer, self._asking, self._trouble = offer, False, ""
            self._installed = offer is not None and offer.state == "waiting"
            self.show_now()

    def show_now(self) -> None:
        offer, busy = self._offer, self.busy
        can_fetch = offer is not None and offer.state == "offered" and self._graphics is not None
        asking = self._asking and can_fetch and not busy
        self.setVisible(offer is not None or busy)
        self.bar.setVisible(busy)
        self.get_button.setVisible(can_fetch and not busy and not asking and not self._installed)
        self.agree_button.setVisible(asking)
        self.later_button.setVisible(asking)
        self.stop_button.setVisible(busy)
        self.restart_button.setVisible(self._installed and not busy and self._graphics is not None)
        if busy:
            self.note.setText(self.tr("KAME goes on with the embedded voice meanwhile."))
        elif offer is not None:
            self._show_offer(offer, asking)

    def _show_offer(self, offer: GraphicsOffer, asking: bool) -> None:
        if self._trouble:
            words, note = self._trouble, self.tr("KAME goes on with the embedded voice.")
        elif self._installed:
            words, note = self.tr("What the graphics card needs is installed."), self.tr("Restart KAME to use it.")
        elif asking:
            words, note = self._size_of(offer), self.tr("KAME goes on with the embedded voice meanwhile.")
        elif offer.state == "by hand":
            words, note = offer.sentence, self.tr("Type in a terminal: {0}").format(offer.command)
        else:
            words, note = offer.sentence, self.tr("The embedded voice speaks until then.")
        self.words.setText(words)
        self.note.setText(note)

    def _size_of(self, offer: GraphicsOffer) -> str:
        if not offer.download:
            return self.tr("Several GB have to be downloaded. Download them now?")
        words = (
            self.tr("About {0} GB have to be downloaded. They take about {1} GB on the disk, of which {2} GB are free.")
            if offer.estimated
            else self.tr("{0} GB have to be downloaded. They take {1} GB on the disk, of which {2} GB are free.")
        )
        return words.format(*(f"{size / 1e9:.1f}" for size in (offer.download, offer.room, offer.free)))

    def _ask(self) -> None:
        self._asking, self._trouble = True, ""
        self.show_now()
        self.agree_button.setFocus()

    def _decline(self) -> None:
        self._asking = False
        self.show_now()
        self.get_button.setFocus()

    def _install(self, controller: GraphicsController) -> None:
        self._asking = self._stopping = False
        controller.install()
        self.bar.setRange(0, 0)
        self.show_now()
        self.words.setText(self.tr("Checking the graphics card …"))
        self.stop_button.setFocus()

    def _done(self) -> None:
        self._installed = True
        self._end(self._trouble, self.restart_button)

    def _failed(self, sentence: str) -> None:
        self._end(sentence, self.get_button)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._watch(False)

    def _watch(self, watched: bool) -> None:
        """Sets whether the user sees the installation here, or is to be told in the window."""
        if self._graphics is not None:
            self._graphics.watched = watched
