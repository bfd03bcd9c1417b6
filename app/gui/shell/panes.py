"""Lays out the window's panes, and saves and restores their layout."""

from __future__ import annotations

import base64
import binascii
import logging

from PySide6.QtCore import QByteArray, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMainWindow, QSplitter, QWidget

from app.gui.design.look import Dressed
from app.gui.design.motion import timer
from app.gui.state.settings_controller import SettingsController
from app.gui.widgets.form import column

SAVE_AFTER_MS = 800
HANDLE_PX = 4
CONVERSATIONS_PX, ORACLE_PX, PAIR_PX = 248, 380, 600
INSPECTOR_PX, INSPECTOR_SHARE, MOST_INSPECTOR_PX = 236, 0.32, 396
"""The inspector's default height is a share of the window's, clamped between a minimum and a maximum.

The minimum fits the tabs and seven timeline lanes. Beyond the maximum, the lanes don't benefit from more height.
"""
LEAST_FOR_CONVERSATIONS_PX = 1080
"""Minimum window width at which the conversation list is shown by default."""

LEAST_WIDTHS = (180, 420, 260)
"""Of the conversation list, the conversation and the oracle."""
LEAST_INSPECTOR_PX = 146
USUAL_LINE_PX = 17
"""The line height on which the sizes above are based. They are scaled up for larger text."""

_log = logging.getLogger(__name__)


class Panes(Dressed, QWidget):
    """Arranges the panes: `conversations`, `talk` and `oracle` side by side, and `inspector` below them."""

    def __init__(
        self, conversations: QWidget, talk: QWidget, oracle: QWidget, inspector: QWidget, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        # Nest from the outside in, because reparenting a populated pane is as expensive as creating it.
        self.rows = QSplitter(Qt.Orientation.Vertical, self)
        column(self.rows, within=self)
        self.columns = QSplitter(Qt.Orientation.Horizontal, self.rows)
        self.rows.addWidget(self.columns)
        self._inspector = inspector
        inspector.setMinimumHeight(round(LEAST_INSPECTOR_PX * self.scale))
        self._columns = conversations, talk, oracle
        for pane in self._columns:
            self.columns.addWidget(pane)
        self._set_least_widths()
        for place, stretch in ((0, 0), (1, 1), (2, 0)):
            self.columns.setStretchFactor(place, stretch)
        self.rows.addWidget(inspector)
        self.rows.setStretchFactor(0, 5)
        self.rows.setStretchFactor(1, 1)
        for splitter in (self.columns, self.rows):
            splitter.setChildrenCollapsible(False)
            splitter.setHandleWidth(HANDLE_PX)
        self.conversations_action = self._action(self.tr("&Conversations"), "Ctrl+1", conversations)
        self.oracle_action = self._action(self.tr("&Oracle"), "Ctrl+2", oracle, shown=False)
        self.inspector_action = self._action(self.tr("&Inspector"), "Ctrl+3", inspector, shown=False)
        self.squeezed: list[QAction] = []
        """The panes that are hidden for want of room, the first one first."""
        self._widened_by = 0  # for a comparison
        self.chosen = False
        """Whether the user has explicitly shown or hidden a pane. If not, the window's width determines visibility."""
        for action in self.actions_:
            action.triggered.connect(lambda _=False, action=action: self._choose(action))

    @property
    def actions_(self) -> tuple[QAction, ...]:
        """The actions that show and hide the panes."""
        return self.conversations_action, self.oracle_action, self.inspector_action

    @property
    def scale(self) -> float:
        """The text size relative to the default, at least 1."""
        return max(1.0, self.fontMetrics().height() / USUAL_LINE_PX)

    @property
    def least_width(self) -> int:
        """The width that the conversation needs, in pixels."""
        return self._columns[1].minimumWidth()

    def fit_into(self, width: int) -> None:
        """Hides the panes for which a window this wide (px) has no room, and shows them again once it has.

        The conversation list is hidden by default unless the window is wide. The user's own choice overrides that.
        """
        if not self.chosen:
            self.conversations_action.setChecked(width >= LEAST_FOR_CONVERSATIONS_PX * self.scale)
        for action in reversed(self.squeezed):
            if self._needed(action) <= width:
                self.squeezed.remove(action)
                action.setChecked(True)
        for action in (self.conversations_action, self.oracle_action):
            if action.isChecked() and self._needed() > width:
                self.squeezed.append(action)
                action.setChecked(False)

    def _needed(self, more: QAction | None = None) -> int:
        """Returns the least width of the panes that are shown, and of one more."""
        actions = self.conversations_action, None, self.oracle_action
        shown = [
            pane
            for pane, action in zip(self._columns, actions, strict=True)
            if action is None or action.isChecked() or action is more
        ]
        return sum(pane.minimumWidth() for pane in shown) + HANDLE_PX * (len(shown) - 1)

    def _set_least_widths(self) -> None:
        for pane, least in zip(self._columns, LEAST_WIDTHS, strict=True):
            pane.setMinimumWidth(max(round(least * self.scale), pane.minimumSizeHint().width()))

    def compare(self, on: bool) -> None:
        """Opens the oracle and widens it to fit two columns, as far as the transcript allows; or undoes that."""
        if not on:
            conversations, talk, oracle = self.columns.sizes()
            back, self._widened_by = min(self._widened_by, oracle - LEAST_WIDTHS[2]), 0
            if back > 0:
                self.columns.setSizes([conversations, talk + back, oracle - back])
            return
        self.show_oracle()
        conversations, talk, oracle = self.columns.sizes()
        more = min(round(PAIR_PX * self.scale) - oracle, talk - round(LEAST_WIDTHS[1] * self.scale))
        if more > 0:
            self._widened_by += more
            self.columns.setSizes([conversations, talk - more, oracle + more])

    def show_oracle(self) -> None:
        """Shows the oracle; for want of room, the conversation list is hidden, or the window grows."""
        self.oracle_action.setChecked(True)
        self._make_room()

    def divide(self, width: int, height: int) -> None:
        """Applies the default pane sizes for a window of this size, in pixels."""
        conversations = round(CONVERSATIONS_PX * self.scale)
        oracle = round(ORACLE_PX * self.scale)
        self.columns.setSizes([conversations, max(1, width - conversations - oracle), oracle])
        inspector = round(min(MOST_INSPECTOR_PX * self.scale, max(INSPECTOR_PX * self.scale, height * INSPECTOR_SHARE)))
        self.rows.setSizes([max(1, height - inspector), inspector])

    def _dress(self) -> None:
        self._inspector.setMinimumHeight(round(LEAST_INSPECTOR_PX * self.scale))
        self._set_least_widths()
        self.fit_into(self.window().width())

    def _choose(self, action: QAction) -> None:
        """The user has shown or hidden a pane: for want of room, another one is hidden, or the window grows."""
        self.chosen = True
        if action in self.squeezed:
            self.squeezed.remove(action)
        if action is self.oracle_action and action.isChecked():
            self._make_room()
        elif self._needed() > self.window().width():
            self.window().resize(self._needed(), self.window().height())

    def _make_room(self) -> None:
        window = self.window()
        if self._needed() > window.width():
            self.conversations_action.setChecked(False)
        if self._needed() > window.width():
            window.resize(self._needed(), window.height())

    def _action(self, text: str, keys: str, pane: QWidget, *, shown: bool = True) -> QAction:
        action = QAction(text, self)
        action.setCheckable(True)
        action.setChecked(shown)
        pane.setVisible(shown)
        action.setShortcut(QKeySequence(keys))
        action.toggled.connect(pane.setVisible)
        return action


class WindowLayoutStore(QObject):
    """Saves and restores the window's layout, whether booth mode is on, and the mini window's position."""

    def __init__(self, window: QMainWindow, panes: Panes, booth: QAction, keep: SettingsController) -> None:
        super().__init__(window)
        self._window = window
        self._panes = panes
        self._keep = keep
        names = ("conversations", "oracle", "timeline", "booth")
        self._named = dict(zip(names, (*panes.actions_, booth), strict=True))
        self.mini: tuple[int, int] | None = None
        """The mini window's desktop position in pixels, or None if the user has never moved it."""
        self._timer = timer(self, SAVE_AFTER_MS, self.save)
        for splitter in (panes.columns, panes.rows):
            splitter.splitterMoved.connect(lambda *_: self._timer.start())
        for action in self._named.values():
            action.toggled.connect(lambda _: self._timer.start())

    def restore(self) -> bool:
        """Restores the saved layout. Returns False if none is saved or it is unusable."""
        kept = self._keep.state.layout
        if not kept:
            return False
        try:
            state = {name: _bytes(kept[name]) for name in ("window", "columns", "rows")}
            shown = {str(name) for name in kept["shown"]}
        except (ValueError, KeyError, TypeError, binascii.Error):
            _log.warning("the window's layout could not be read")  # the caller then uses the default layout
            return False
        if not self._window.restoreGeometry(state["window"]):
            _log.warning("the window's layout could not be used")
            return False
        self._panes.chosen = kept.get("chosen") is True
        self.mini = _place(kept.get("mini"))
        for name, action in self._named.items():
            action.setChecked(name in shown)
        self._panes.fit_into(self._window.width())
        columns = self._panes.columns.restoreState(state["columns"])
        return self._panes.rows.restoreState(state["rows"]) and columns

    def save(self) -> None:
        """Saves the current layout immediately."""
        self._timer.stop()
        shown = [name for name, action in self._named.items() if action.isChecked() or action in self._panes.squeezed]
        states = {
            "window": self._window.saveGeometry(),
            "columns": self._panes.columns.saveState(),
            "rows": self._panes.rows.saveState(),
        }
        kept = {name: _text(state) for name, state in states.items()}
        self._keep.remember(layout={**kept, "shown": shown, "chosen": self._panes.chosen, "mini": self.mini})

    def keep_mini(self, place: tuple[int, int]) -> None:
        """Records the mini window's position and schedules a save."""
        if place != self.mini:
            self.mini = place
            self._timer.start()

    def moved(self) -> None:
        """Schedules a save. Must be called when the window is moved or resized."""
        self._timer.start()


def _place(kept: object) -> tuple[int, int] | None:
    match kept:
        case [int(x), int(y)]:
            return x, y
    return None


def _text(state: QByteArray) -> str:
    return base64.b64encode(state.data()).decode("ascii")


def _bytes(text: str) -> QByteArray:
    return QByteArray(base64.b64decode(text, validate=True))
