"""The pane of the tandem timeline: a line with the legend, the readout and the buttons, and the plot below."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QDir, QEvent, QStandardPaths, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.conversation.events import Event
from app.gui.design.plain import LegendLabel, set_tip
from app.gui.timeline.view import ZOOM_STEP, TimelineView
from app.gui.timeline_data.live_clock import LiveEdge
from app.gui.timeline_data.log import TimelineLog
from app.gui.timeline_data.spans import Backend
from app.gui.timeline_drawing.style import Colours
from app.gui.widgets.buttons import SlimButton
from app.gui.widgets.elided import ElidedLabel
from app.gui.widgets.formats import backend_words

MOST_IN_LEGEND = 4


class TimelinePane(QWidget):
    """Takes events with `apply`; shows what they changed on `settle`. `clock`: any steady one, in seconds."""

    failed = Signal(str)
    """An image could not be written: a sentence for the user."""

    def __init__(self, parent: QWidget | None = None, *, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__(parent)
        self.log = TimelineLog()
        self.edge = LiveEdge(clock)
        self.view = TimelineView(self.log, self.edge, self)
        self.dialog: QFileDialog | None = None
        self.readout = ElidedLabel(parent=self, dim=True)
        self.readout.setAccessibleName(self.tr("What is under the mouse"))
        self.legend = LegendLabel(self)
        self.legend.setAccessibleName(self.tr("Models by colour"))
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._legend_of: tuple[Colours, list[Backend], int] | None = None
        self.follow_button = self._button("", "", "")
        self.out_button = self._button(
            self.tr("−"), self.tr("Zoom out"), self.tr("Shows more of the conversation (−).")
        )
        self.in_button = self._button(
            self.tr("+"), self.tr("Zoom in"), self.tr("Shows less of the conversation, larger (+).")
        )
        self.last_button = self._button(
            self.tr("Last 30 s"), self.tr("Last 30 seconds"), self.tr("Back to the last half minute, and follows it.")
        )
        self.export_button = self._button(
            self.tr("Export image…"), self.tr("Export the timeline as an image"), self.tr("Saves what is in view.")
        )
        self._lay_out()
        self._connect()
        self._show_readout("")
        self._show_following(True)

    def _lay_out(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.legend, 1)
        row.addWidget(self.readout, 1)
        for button in (self.follow_button, self.out_button, self.in_button, self.last_button, self.export_button):
            row.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addLayout(row)
        column.addWidget(self.view, 1)
        self.setTabOrder(self.export_button, self.view)

    def _connect(self) -> None:
        view = self.view
        view.told.connect(self._show_readout)
        view.following_changed.connect(self._show_following)
        self.follow_button.clicked.connect(lambda: view.pause() if view.range.following else view.follow())
        self.in_button.clicked.connect(lambda: view.zoom(1 / ZOOM_STEP))
        self.out_button.clicked.connect(lambda: view.zoom(ZOOM_STEP))
        self.last_button.clicked.connect(view.last_seconds)
        self.export_button.clicked.connect(self.export)

    def _button(self, text: str, name: str, tip: str) -> QPushButton:
        button = SlimButton(text, self)
        button.setAccessibleName(name)
        set_tip(button, tip)
        button.setAutoDefault(False)
        return button

    # -- the conversation

    def begin(self) -> None:
        """Empties the timeline: a new conversation starts."""
        self.log.begin()
        self.edge.begin()
        self.view.begin()

    def end(self) -> None:
        """Stops the timeline: the conversation is over, and stays in view."""
        self.log.end()
        self.view.end()

    def apply(self, event: Event) -> None:
        """Takes one event in."""
        self.log.apply(event)
        self.edge.update(event.at)

    def settle(self) -> None:
        """Shows all that has changed since the last time."""
        self.view.settle()
        self._show_legend()

    # -- how it is shown

    def window_changed(self) -> None:
        """Starts or stops moving: the window was minimised, or is back."""
        self.view.watch()

    @property
    def reduced_motion(self) -> bool:
        """Whether it moves once a batch of events instead of evenly."""
        return self.view.reduced_motion

    @reduced_motion.setter
    def reduced_motion(self, reduced: bool) -> None:
        self.view.reduced_motion = reduced

    def _show_readout(self, words: str) -> None:
        self.legend.setVisible(not words)
        self.readout.setVisible(bool(words))
        self.readout.setText(words)
        set_tip(self.readout, words)

    def _show_following(self, following: bool) -> None:
        name = self.tr("Pause") if following else self.tr("Follow")
        self.follow_button.setText(name)
        self.follow_button.setAccessibleName(
            self.tr("Pause the timeline") if following else self.tr("Follow the conversation again")
        )
        self.follow_button.setToolTip(
            self.tr("Holds the picture still; the conversation goes on (P).")
            if following
            else self.tr("Back to the present moment (P or End).")
        )

    def _show_legend(self) -> None:
        """Names the newest models, each in its colour, as many as there is room for."""
        colours, backends, room = self.view.picture.colours, self.log.backends, self.legend.width()
        if self._legend_of != (colours, backends, room):
            self._legend_of = (colours, list(backends), room)
            names = [(colours.backend(one).name(), one[1] or one[0]) for one in backends[-MOST_IN_LEGEND:]]
            self.legend.show_names(names)
            while names and self.legend.sizeHint().width() > room:
                del names[0]
                self.legend.show_names(names)
            self.legend.setAccessibleDescription(", ".join(backend_words(*backend) for backend in backends))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._show_legend)  # once its own row is laid out

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            QTimer.singleShot(0, self, self._show_legend)  # the view gets its event after this one

    # -- saving an image

    def save(self, path: Path | str) -> None:
        """Writes what is in view as an image, by its ending: `.png`, `.svg` and others. Raises OSError."""
        self.view.save(path)

    def export(self) -> None:
        """Opens a dialog for the path of an image, and writes the image there."""
        if self.dialog is not None:
            return
        places = QStandardPaths.StandardLocation
        folder = QStandardPaths.writableLocation(places.PicturesLocation) or QDir.homePath()
        dialog = self.dialog = QFileDialog(self, self.tr("Export image"), folder)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("PNG image (*.png)"), self.tr("SVG drawing (*.svg)")])
        dialog.setDefaultSuffix("png")
        dialog.filterSelected.connect(lambda chosen: dialog.setDefaultSuffix("svg" if "*.svg" in chosen else "png"))
        dialog.selectFile(self.tr("timeline"))
        dialog.fileSelected.connect(self._export_to)
        dialog.finished.connect(self._on_dialog_finished)
        dialog.open()

    def _export_to(self, path: str) -> None:
        try:
            self.save(path)
        except OSError as error:
            sentence = self.tr("The image could not be saved ({0}). Choose another folder.")
            self.failed.emit(sentence.format(error.strerror or error))

    def _on_dialog_finished(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None
