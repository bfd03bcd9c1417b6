"""The strip of the first run that offers what a graphics card needs: asks, fetches it, stops, and restarts the app.

The installation belongs to the window's keeper, and goes on when the strip is gone.
"""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QProgressBar, QPushButton, QWidget

from app.gui.first_run.parts import Boxed
from app.gui.models.graphics_controller import GraphicsController
from app.gui.widgets.panel import Quiet
from app.services.graphics_service import GraphicsOffer


class GraphicsStrip(Boxed):
    """Hidden while there is nothing to offer. Fetches nothing before the user has seen its size and agreed."""

    def __init__(self, manager: GraphicsController | None, parent: QWidget) -> None:
        super().__init__(parent)
        self._manager = manager
        self._offer: GraphicsOffer | None = None
        self._asking = self._stopping = self._installed = False
        self._trouble = ""
        self.words = QLabel(self)
        self.words.setWordWrap(True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.words.setAccessibleName(self.tr("What the graphics card needs"))
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName(self.tr("Installing what the graphics card needs"))
        self.bar.setTextVisible(False)
        self.bar.setFixedHeight(self.fontMetrics().height() // 2 + 2)
        self.note = Quiet(parent=self)
        self.get_button = self._button(self.tr("&Get it…"), self.tr("Get what the graphics card needs"))
        self.agree_button = self._button(self.tr("&Download"), self.tr("Download what the graphics card needs"))
        self.later_button = self._button(self.tr("N&ot now"), self.tr("Leave the graphics card alone for now"))
        self.stop_button = self._button(self.tr("S&top"), self.tr("Stop the installation"))
        self.restart_button = self._button(self.tr("&Restart KAME"), self.tr("Restart KAME to use the graphics card"))
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self.note, 1)
        for button in self._buttons:
            row.addWidget(button)
        self.column.addWidget(self.words)
        self.column.addWidget(self.bar)
        self.column.addLayout(row)
        self._connect()
        self._show()

    def show_offer(self, offer: GraphicsOffer | None) -> None:
        """Shows what there is to offer now."""
        if not self._busy:
            self._offer, self._asking, self._trouble = offer, False, ""
            self._installed = offer is not None and offer.state == "waiting"
            self._show()

    # -- what the user wants

    def _ask(self) -> None:
        self._asking, self._trouble = True, ""
        self._show()
        self.agree_button.setFocus()

    def _leave(self) -> None:
        self._asking = False
        self._show()
        self.get_button.setFocus()

    def _agree(self) -> None:
        assert self._manager is not None
        self._asking = self._stopping = False
        self._manager.install()
        self.bar.setRange(0, 0)
        self._show()
        self.words.setText(self.tr("Looking at the graphics card …"))
        self.stop_button.setFocus()

    def _stop(self) -> None:
        assert self._manager is not None
        self._stopping = True
        self._manager.stop()
        self.words.setText(self.tr("Stopping; what has come is kept …"))

    # -- how it goes

    @property
    def _busy(self) -> bool:
        return self._manager is not None and self._manager.busy

    def _progressed(self, words: str, share: float) -> None:
        if self._stopping or not self._busy:
            return
        self.bar.setRange(0, 0 if share < 0 else 1000)
        if share >= 0:
            self.bar.setValue(round(min(1.0, share) * 1000))
        self.words.setText(words)
        self.note.setText(self.tr("KAME goes on with the embedded voice meanwhile."))

    def _done(self) -> None:
        focused = self.stop_button.hasFocus()
        self._installed, self._stopping = True, False
        self._show()
        if focused:
            self.restart_button.setFocus()

    def _failed(self, sentence: str) -> None:
        focused = self.stop_button.hasFocus()
        self._trouble, self._stopping = sentence, False
        self._show()
        if focused:
            self.get_button.setFocus()

    # -- what is shown

    def _show(self) -> None:
        offer, busy = self._offer, self._busy
        can_fetch = offer is not None and offer.state == "offered" and self._manager is not None
        asking = self._asking and can_fetch and not busy
        self.setVisible(offer is not None or busy)
        self.bar.setVisible(busy)
        self.get_button.setVisible(can_fetch and not busy and not asking and not self._installed)
        self.agree_button.setVisible(asking)
        self.later_button.setVisible(asking)
        self.stop_button.setVisible(busy)
        self.restart_button.setVisible(self._installed and not busy and self._manager is not None)
        if busy or offer is None:
            return
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

    # -- inner parts

    @property
    def _buttons(self) -> tuple[QPushButton, ...]:
        return (self.get_button, self.later_button, self.agree_button, self.stop_button, self.restart_button)

    def _button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text, self)
        button.setAccessibleName(name)
        button.setAutoDefault(False)
        return button

    def _connect(self) -> None:
        self.get_button.clicked.connect(self._ask)
        self.later_button.clicked.connect(self._leave)
        self.agree_button.clicked.connect(self._agree)
        self.stop_button.clicked.connect(self._stop)
        if self._manager is not None:
            self.restart_button.clicked.connect(self._manager.restart)
            self._manager.progressed.connect(self._progressed)
            self._manager.done.connect(self._done)
            self._manager.failed.connect(self._failed)

    def showEvent(self, event: QShowEvent) -> None:
        """The user sees how it goes."""
        super().showEvent(event)
        self._watch(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """The user no longer sees it."""
        super().hideEvent(event)
        self._watch(False)

    def _watch(self, seen: bool) -> None:
        if self._manager is not None:
            self._manager.watched = seen
