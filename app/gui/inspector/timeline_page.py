"""The Timeline page with its legend, readout and buttons, and the one-minute timeline in the status line."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QColor, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractButton, QPushButton, QSizePolicy, QWidget

from app.gui.design.look import Look, draw_rounded, painter_on, set_ink
from app.gui.design.model_look import model_words
from app.gui.design.plain import LegendLabel, named, set_tip
from app.gui.design.theme import tokens
from app.gui.inspector.activity import Activity
from app.gui.inspector.layout import Colours
from app.gui.inspector.things import Backend, between
from app.gui.inspector.timeline import ZOOM_STEP, TimelineView
from app.gui.inspector.view_range import USUAL_SECONDS, LiveEdge
from app.gui.widgets import form
from app.gui.widgets.buttons import SlimButton
from app.gui.widgets.file_dialogs import ask_picture
from app.gui.widgets.panel import ElidedLabel

MOST_IN_LEGEND = 4
MINI_SECONDS = 60.0
MINI_STEP_SECONDS = 0.25
"""Session time between repaints of the mini timeline."""
BAR_PX, THIN_PX = 4.0, 2.0


class TimelinePage(QWidget):
    """The Timeline page, which plots `activity`. `clock`: any monotonic clock, in seconds."""

    failed = Signal(str)
    """Emits a user-facing message if saving an image fails."""

    def __init__(
        self, activity: Activity, parent: QWidget | None = None, *, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(parent)
        self._activity = activity
        self.view = view = TimelineView(activity, LiveEdge(clock), self)
        self.readout = named(ElidedLabel(parent=self, dim=True), self.tr("What is under the mouse"))
        self.legend = named(LegendLabel(self), self.tr("Models by colour"))
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._legend_of: tuple[Colours, list[Backend], int] | None = None
        self.follow_button = self._button(lambda: view.pause() if view.range.following else view.follow())
        self.out_button = self._button(lambda: view.zoom(ZOOM_STEP), self.tr("−"), self.tr("Zoom out (−)"))
        self.in_button = self._button(lambda: view.zoom(1 / ZOOM_STEP), self.tr("+"), self.tr("Zoom in (+)"))
        self.last_button = self._button(
            lambda: view.follow(USUAL_SECONDS), self.tr("Last 30 s"), self.tr("Show the last 30 seconds and follow")
        )
        self.export_button = self._button(
            self.export, self.tr("Export image…"), self.tr("Save what is in view as an image")
        )
        self.buttons = (self.follow_button, self.out_button, self.in_button, self.last_button, self.export_button)
        form.column(
            form.row((self.legend, 1), (self.readout, 1), *self.buttons, spacing=6), view, within=self, stretch=1
        )
        view.told.connect(self._show_readout)
        view.following_changed.connect(self._show_following)
        self._show_readout("")
        self._show_following(True)

    def _button(self, act: Callable[[], None], text: str = "", name: str = "") -> QPushButton:
        button = named(SlimButton(text, self), name)
        set_tip(button, name)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: act())
        return button

    def settle(self) -> None:
        """Updates the timeline and legend after a batch of events."""
        self.view.settle()
        self._show_legend()

    def _show_readout(self, words: str) -> None:
        self.legend.setVisible(not words)
        self.readout.setVisible(bool(words))
        self.readout.setText(words)
        set_tip(self.readout, words)

    def _show_following(self, following: bool) -> None:
        name = self.tr("Pause the timeline (P)") if following else self.tr("Follow the conversation again (P)")
        self.follow_button.setText(self.tr("Pause") if following else self.tr("Follow"))
        self.follow_button.setAccessibleName(name)
        set_tip(self.follow_button, name)

    def _show_legend(self) -> None:
        """Lists the models in their colours, omitting the oldest ones if there isn't enough room."""
        colours, backends, room = self.view.colours, self._activity.backends, self.legend.width()
        if self._legend_of != (colours, backends, room):
            self._legend_of = (colours, list(backends), room)
            names = [(colours.backend(one).name(), one[1] or one[0]) for one in backends[-MOST_IN_LEGEND:]]
            self.legend.show_names(names)
            while names and self.legend.sizeHint().width() > room:
                del names[0]
                self.legend.show_names(names)
            self.legend.setAccessibleDescription(", ".join(model_words(*backend) for backend in backends))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._show_legend)  # after this page's layout has run

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            QTimer.singleShot(0, self, self._show_legend)  # the view receives its own event after this one

    # -- saving an image

    def export(self) -> None:
        """Opens a file dialog and saves the visible part of the timeline to the chosen path."""
        title, filter = self.tr("Export image"), self.tr("PNG image (*.png)")
        ask_picture(self, title, filter, self.tr("timeline"), self.save)

    def save(self, path: Path | str) -> None:
        """Saves the visible part of the timeline as an image. Emits `failed` on error."""
        try:
            self.view.save(path)
        except OSError as error:
            self.failed.emit(self.tr("The image could not be saved ({0}). Choose another folder.").format(error))


class MiniTimeline(QAbstractButton):
    """A one-line view of the last minute of `activity`: who spoke, and which models were working."""

    def __init__(self, activity: Activity, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._activity = activity
        self._painted = (-1.0, 0)
        self.setAccessibleName(self.tr("Timeline of the last minute"))
        self.setToolTip(self.tr("The last minute: your turns, KAME's answers, and the models at work. Click for more."))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(40)

    def settle(self) -> None:
        """Repaints if anything visible has changed."""
        now = (self._activity.now // MINI_STEP_SECONDS, len(self._activity.bars))
        if now != self._painted:
            self._painted = now
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(160, tokens().strip - 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        activity, now = self._activity, self._activity.now
        if not now and not self.hasFocus():
            return
        with painter_on(self) as painter:
            colours, quarter = Colours(self.palette()), self.height() / 4
            set_ink(painter, fill=QColor(tokens().sunken))
            ground = QRectF(self.rect()).adjusted(0, 1, 0, -1)
            painter.drawRoundedRect(ground, 4, 4)
            painter.setClipRect(ground)
            left, scale = max(0.0, now - MINI_SECONDS), self.width() / MINI_SECONDS
            rows = (
                (between(activity.turns, left, now), 1, BAR_PX, lambda _: colours.user),
                (between(activity.bars, left, now), 2, THIN_PX, lambda bar: colours.backend(bar.backend)),
                (between(activity.answers, left, now), 3, BAR_PX, lambda _: colours.assistant),
            )
            for things, row, thick, colour in rows:
                for thing in things:
                    wide = max(2.0, ((now if thing.end is None else thing.end) - thing.start) * scale)
                    rect = QRectF((thing.start - left) * scale, row * quarter - thick / 2, wide, thick)
                    painter.setBrush(colour(thing))
                    painter.drawRoundedRect(rect, thick / 2, thick / 2)
            if self.hasFocus():
                painter.setClipping(False)
                draw_rounded(painter, ground, 4, inset=0.5, edge=Look.of(self.palette()).accent)
