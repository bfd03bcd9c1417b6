"""Merges mouse, space bar, hotkey and commands from other processes into presses and releases of one talk button."""

from __future__ import annotations

import math
from typing import Literal

from PySide6.QtCore import QObject, Signal

from app.gui.design.motion import timer

REPEAT_MS = 40
"""A release followed by a press within this time is an auto-repeat. Keyboards repeat at intervals of up to about 30 ms,
and nobody types that fast.
"""

COMMAND_REPEAT_MS = 1_000
"""Desktops that rerun a command while its key is held do so within this time, including the initial delay."""

Mode = Literal["hold", "toggle"]

_OF_THE_WINDOW = ("mouse", "space")


class PushToTalk(QObject):
    """Emits `pressed` and `released` alternately.

    The inputs that can hold the button are called holders: "mouse" and "space", which belong to the window, "hotkey",
    and "ptt" for commands. In "hold" mode, `pressed` is emitted on the press of the first holder, and `released` on the
    release of the last one. In "toggle" mode, new presses emit the two signals in turn, and releases are ignored.
    """

    pressed = Signal()
    released = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._holders: set[str] = set()
        self._early: set[str] = set()  # holders that pressed while the button was disabled
        self._mode: Mode = "hold"
        self._on = False
        self._enabled = False
        # Some X servers send unmarked pairs of release and press events while a key is held, so a release counts only
        # if no press follows immediately.
        self._space_up = timer(self, REPEAT_MS, lambda: self.let_go("space"))
        self._command_up = timer(self, COMMAND_REPEAT_MS, self._forget_command)
        self._released_at = -math.inf
        self._press_owed = False  # a "release" command has arrived ahead of its "press"

    @property
    def held(self) -> bool:
        """Whether the button is currently pressed."""
        return self._on

    @property
    def mode(self) -> Mode:
        """Whether the button is pressed while held, or toggled by each press."""
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Sets the mode; releases the button if the mode changes."""
        if mode != self._mode:
            self.let_go_all()
            self._mode = mode

    def set_enabled(self, enabled: bool) -> None:
        """Enables or disables the button; disabling releases it.

        In "hold" mode, enabling also presses the button for each holder that pressed while it was disabled and hasn't
        released since.
        """
        self._enabled = enabled
        if not enabled:
            self._release()
        elif self._mode == "hold":
            early, self._early = self._early, set()
            for holder in early:
                self.hold(holder)

    def hold(self, holder: str) -> None:
        """Presses the button for `holder`. Further calls are no-ops until `let_go`."""
        if not self._enabled:
            self._early.add(holder)
        if not self._enabled or holder in self._holders:
            return
        self._holders.add(holder)
        self._set_on(not self._on if self._mode == "toggle" else True)

    def let_go(self, holder: str) -> None:
        """Releases the button for `holder`."""
        self._early.discard(holder)
        if holder in self._holders:
            self._holders.remove(holder)
            if self._mode == "hold":
                self._set_on(bool(self._holders))

    def command(self, word: str, at: float = math.inf) -> bool:
        """Executes a "press", "release" or "toggle" command. Returns False if the button is disabled; otherwise, raises
        ValueError for an unknown command.

        In "toggle" mode, a "press" within `COMMAND_REPEAT_MS` of the previous one, without a "release" in between, is
        ignored as a repeat, because a desktop may rerun a key's command while the key is held.

        `at` is when the command was issued, on a clock shared by all processes. If a "press" arrives after a "release"
        that was issued later, it doesn't hold the button, since the key is already up; in "toggle" mode it still counts
        as one press.
        """
        overtaken = at < self._released_at
        if word == "release" and at < math.inf:
            self._released_at = max(self._released_at, at)
        if not self._enabled:
            return False
        if word == "press" and overtaken:
            if self._mode == "toggle" and self._press_owed:
                self.hold("ptt")
                self.let_go("ptt")
            self._press_owed = False
        elif word == "press":
            self.hold("ptt")
            self._command_up.start()
        elif word == "release":
            self._press_owed = "ptt" not in self._holders
            self._command_up.stop()
            self.let_go("ptt")
        elif word == "toggle" and self._mode == "toggle":
            self._set_on(not self._on)
        elif word == "toggle":
            (self.let_go if "ptt" in self._holders else self.hold)("ptt")
        else:
            raise ValueError(f"unknown command for the talk button: {word}")
        return True

    def let_go_all(self) -> None:
        """Releases the button for all holders."""
        self._early.clear()
        self._release()

    def _release(self) -> None:
        self._space_up.stop()
        self._command_up.stop()
        self._holders.clear()
        self._set_on(False)

    def let_go_own(self) -> None:
        """Releases the button for the mouse and the space bar. Must be called when the window loses focus.

        The button stays pressed if the hotkey or a command still holds it. In "toggle" mode, it always stays pressed,
        so that users can switch to another window during a turn.
        """
        self._space_up.stop()
        for holder in _OF_THE_WINDOW:
            self.let_go(holder)

    def _set_on(self, on: bool) -> None:
        if on != self._on:
            self._on = on
            (self.pressed if on else self.released).emit()

    def _forget_command(self) -> None:
        if self._mode == "toggle":
            self.let_go("ptt")

    @property
    def space_held(self) -> bool:
        """Whether the space bar holds the button, or will hold it once the button is enabled."""
        return "space" in self._holders | self._early

    def press_space(self, repeated: bool) -> None:
        """Handles a press of the space bar. `repeated`: whether the event is marked as an auto-repeat."""
        if self.space_held:
            self._space_up.stop()  # the preceding release was part of an auto-repeat
        elif not repeated:
            self.hold("space")

    def release_space(self, repeated: bool) -> bool:
        """Handles a release of the space bar. Returns False, without any effect, if the space bar wasn't held."""
        if not self.space_held:
            return False
        if "space" in self._early and not repeated:
            self._early.discard("space")  # if this is an unmarked repeat, the next press adds it again
        elif not repeated:
            self._space_up.start()
        return True
