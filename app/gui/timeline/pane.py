"""The pane of the tandem timeline: its heading with the readout and the buttons, and the plot below.

Folds events from the start, and makes the plot only when it is first seen: the plotting library takes a while to
load, and ears, voice and brain come first.
"""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QDir, QEvent, QStandardPaths, Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.conversation.events import Event
from app.gui.oracle.header import backend_words
from app.gui.timeline_data.live_clock import LiveEdge
from app.gui.timeline_data.log import TimelineLog
from app.gui.widgets.elided import Elided
from app.gui.widgets.slim_button import SlimButton

if TYPE_CHECKING:
    from app.gui.timeline.view import TimelineView

VIEW_MODULE = "app.gui.timeline.view"
LOAD_AFTER_MS = 4_000
"""Loading takes 0.3 to 0.4 s, once, in which nothing moves: so it waits until a talk runs, or this long."""
ZOOM_STEP = 1.5
MOST_IN_LEGEND = 4


class TimelinePane(QWidget):
    """Takes events with `apply`; shows what they changed on `settle`. `clock`: any steady one, in seconds."""

    view_made = Signal()
    """The plot is there."""
    failed = Signal(str)
    """An image could not be written: a sentence for the user."""

    def __init__(self, parent: QWidget | None = None, *, clock: Callable[[], float] = time.perf_counter) -> None:
        super().__init__(parent)
        self.log = TimelineLog()
        self.edge = LiveEdge(clock)
        self.view: TimelineView | None = None
        """None until the pane was first seen and the library is loaded."""
        self.dialog: QFileDialog | None = None
        self._running = False
        self._reduced_motion = False
        self.heading = QLabel(self.tr("Timeline"), self)
        font = self.heading.font()
        font.setBold(True)
        self.heading.setFont(font)
        self.readout = Elided(parent=self, dim=True)
        self.readout.setAccessibleName(self.tr("What is under the mouse"))
        self.legend = QLabel(self)
        self.legend.setAccessibleName(self.tr("Brains by colour"))
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._legend_of: tuple = ()
        self.follow_button = self._button("", "")
        self.out_button = self._button(self.tr("−"), self.tr("Zoom out"), self.tr("Shows more of the talk (−)."))
        self.in_button = self._button(self.tr("+"), self.tr("Zoom in"), self.tr("Shows less of the talk, larger (+)."))
        self.last_button = self._button(
            self.tr("Last 30 s"), self.tr("Last 30 seconds"), self.tr("Back to the last half minute, and follows it.")
        )
        self.export_button = self._button(
            self.tr("Export image…"), self.tr("Export the timeline as an image"), self.tr("Saves what is in view.")
        )
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addWidget(self.heading)
        row.addSpacing(8)
        row.addWidget(self.legend, 1)
        row.addWidget(self.readout, 1)
        for button in (self.follow_button, self.out_button, self.in_button, self.last_button, self.export_button):
            row.addWidget(button)
        self._place = QVBoxLayout(self)
        self._place.setContentsMargins(0, 0, 0, 0)
        self._place.addLayout(row)
        self._waiting = QLabel(self.tr("The timeline is being loaded."), self)
        self._waiting.setMinimumHeight(80)
        self._waiting.setWordWrap(True)
        self._waiting.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._place.addWidget(self._waiting, 1)
        self._load_timer = QTimer(self, singleShot=True)
        self._load_timer.timeout.connect(self._load)
        self.follow_button.clicked.connect(self._toggle)
        self.in_button.clicked.connect(lambda: self._zoom(1 / ZOOM_STEP))
        self.out_button.clicked.connect(lambda: self._zoom(ZOOM_STEP))
        self.last_button.clicked.connect(self._last)
        self.export_button.clicked.connect(self.export)
        self._tell("")
        self._show_following(True)
        self._enable()

    # -- the talk

    def begin(self) -> None:
        """A new talk begins: the timeline is empty."""
        self.log.begin()
        self.edge.begin()
        self._running = True
        if self.view is not None:
            self.view.begin()
        elif self.isVisible():
            self._load_timer.start(0)
        self._enable()

    def end(self) -> None:
        """The talk is over: it stays to be looked at, and moves no more."""
        self.log.end()
        self._running = False
        if self.view is not None:
            self.view.end()

    def apply(self, event: Event) -> None:
        """Takes one event in."""
        self.log.apply(event)
        self.edge.hear(event.at)

    def settle(self) -> None:
        """Shows all that has changed since the last time."""
        if self.view is not None:
            self.view.settle()
            self._show_legend()

    # -- how it is shown

    def window_changed(self) -> None:
        """The window was minimised, or is back."""
        if self.view is not None:
            self.view.watch()

    @property
    def reduced_motion(self) -> bool:
        """Whether it moves once a batch of events instead of evenly."""
        return self._reduced_motion

    @reduced_motion.setter
    def reduced_motion(self, reduced: bool) -> None:
        self._reduced_motion = reduced
        if self.view is not None:
            self.view.reduced_motion = reduced

    def save(self, path: Path | str) -> None:
        """Writes what is in view as an image, by its ending: `.png`, `.svg` and others. Raises OSError."""
        self.make_view().save(path)

    def export(self) -> None:
        """Asks where to, and writes the image there."""
        if self.view is None or self.dialog is not None:
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
        dialog.finished.connect(self._dialog_left)
        dialog.open()

    def _export_to(self, path: str) -> None:
        try:
            self.save(path)
        except OSError as error:
            sentence = self.tr("The image could not be saved ({0}). Choose another folder.")
            self.failed.emit(sentence.format(error.strerror or error))

    def _dialog_left(self) -> None:
        if self.dialog is not None:
            self.dialog.deleteLater()
            self.dialog = None

    # -- the plot

    def showEvent(self, event: QShowEvent) -> None:
        """Loads what the plot needs, behind the first picture of the window."""
        super().showEvent(event)
        if self.view is None:
            if VIEW_MODULE in sys.modules:
                self.make_view()
            else:
                self._load_timer.start(0 if self._running else LOAD_AFTER_MS)

    def make_view(self) -> TimelineView:
        """The plot; made now if it is not there yet."""
        if self.view is None:
            self._load_timer.stop()
            view = self.view = importlib.import_module(VIEW_MODULE).TimelineView(self.log, self.edge, self)
            self._waiting.hide()
            self._place.addWidget(view, 1)
            self.setTabOrder(self.export_button, view)
            view.told.connect(self._tell)
            view.following_changed.connect(self._show_following)
            view.reduced_motion = self._reduced_motion
            if self._running:
                view.begin()
            self._enable()
            self.view_made.emit()
        return self.view

    def _load(self) -> None:
        """Imports the plot, on this thread: another one must not make Qt's classes known while this one uses them."""
        try:
            self.make_view()
        except ImportError as error:
            sentence = self.tr("The timeline can't be drawn ({0}). The talk goes on without it.")
            self._waiting.setText(sentence.format(error))

    # -- the heading

    def _button(self, text: str, name: str, tip: str = "") -> QPushButton:
        button = SlimButton(text, self)
        button.setAccessibleName(name)
        button.setToolTip(tip)
        button.setAutoDefault(False)
        return button

    def _enable(self) -> None:
        buttons = (self.follow_button, self.in_button, self.out_button, self.last_button, self.export_button)
        for button in buttons:
            button.setEnabled(self.view is not None)

    def _show_following(self, following: bool) -> None:
        name = self.tr("Pause") if following else self.tr("Follow")
        self.follow_button.setText(name)
        self.follow_button.setAccessibleName(
            self.tr("Pause the timeline") if following else self.tr("Follow the talk again")
        )
        self.follow_button.setToolTip(
            self.tr("Holds the picture still; the talk goes on (P).")
            if following
            else self.tr("Back to the present moment (P or End).")
        )

    def _show_legend(self) -> None:
        """The newest brains, each in its colour."""
        if self.view is None:
            return
        colours, backends = self.view.colours, self.log.backends
        key = (colours, tuple(backends))
        if key != self._legend_of:
            self._legend_of = key
            parts = [
                f'<span style="color:{colours.backend(place).name()}">■</span> {escape(backend[1] or backend[0])}'
                for place, backend in list(enumerate(backends))[-MOST_IN_LEGEND:]
            ]
            self.legend.setText("&nbsp;&nbsp; ".join(parts))
            self.legend.setAccessibleDescription(", ".join(backend_words(*backend) for backend in backends))

    def changeEvent(self, event: QEvent) -> None:
        """Follows the system's colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and self.view is not None:
            # The plot is told of it behind this pane.
            QTimer.singleShot(0, self, self._show_legend)

    def _tell(self, words: str) -> None:
        self.legend.setVisible(not words)
        self.readout.setVisible(bool(words))
        self.readout.setText(words)
        self.readout.setToolTip(words)

    def _toggle(self) -> None:
        if self.view is not None:
            self.view.pause() if self.view.following else self.view.follow()

    def _zoom(self, factor: float) -> None:
        if self.view is not None:
            self.view.zoom(factor)

    def _last(self) -> None:
        if self.view is not None:
            self.view.last_seconds()
