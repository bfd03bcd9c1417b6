"""Turns mouse, space bar, hotkey and other processes' commands into presses and releases of one talk button."""

from __future__ import annotations

import math
from typing import Literal

from PySide6.QtCore import QObject, QTimer, Signal

REPEAT_MS = 40
"""Keyboards repeat at most some 30 ms apart; no finger is that quick."""

COMMAND_REPEAT_MS = 1_000
"""A desktop that repeats a held key's command does so within this time, the first time too."""

Mode = Literal["hold", "toggle"]

_OF_THE_WINDOW = ("mouse", "space")


class PushToTalk(QObject):
    """Emits `pressed` and `released` alternately.

    In the mode "hold", `pressed` comes when the first holder holds and `released` when the last one lets go. In the
    mode "toggle" each holder that begins to hold switches between the two, and letting go means nothing. Holders are
    "mouse" and "space", which are the window's own, "hotkey" and "ptt".
    """

    pressed = Signal()
    released = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._holders: set[str] = set()
        self._early: set[str] = set()  # who holds it since before holding had an effect
        self._mode: Mode = "hold"
        self._on = False
        self._enabled = False
        # Some X servers repeat a held key as releases and presses without marking them as repeats: a release counts
        # only when no press follows at once.
        self._space_up = QTimer(self, singleShot=True, interval=REPEAT_MS)
        self._space_up.timeout.connect(lambda: self.let_go("space"))
        self._command_up = QTimer(self, singleShot=True, interval=COMMAND_REPEAT_MS)
        self._command_up.timeout.connect(self._forget_command)
        self._released_at = -math.inf
        self._press_owed = False  # a release has come whose press has not

    @property
    def held(self) -> bool:
        """Whether the button counts as pressed."""
        return self._on

    @property
    def mode(self) -> Mode:
        """How pressing works."""
        return self._mode

    def set_mode(self, mode: Mode) -> None:
        """Changes how pressing works; a change releases the button."""
        if mode != self._mode:
            self.let_go_all()
            self._mode = mode

    def set_enabled(self, enabled: bool) -> None:
        """Sets whether holding has an effect; when it has none, the button is released.

        Whoever began to hold it before and still does, holds it from now on.
        """
        self._enabled = enabled
        if not enabled:
            self._release()
        elif self._mode == "hold":
            early, self._early = self._early, set()
            for holder in early:
                self.hold(holder)

    def hold(self, holder: str) -> None:
        """`holder` holds the button; repeats have no effect until it lets go."""
        if not self._enabled:
            self._early.add(holder)
        if not self._enabled or holder in self._holders:
            return
        self._holders.add(holder)
        self._set_on(not self._on if self._mode == "toggle" else True)

    def let_go(self, holder: str) -> None:
        """`holder` lets the button go."""
        self._early.discard(holder)
        if holder in self._holders:
            self._holders.remove(holder)
            if self._mode == "hold":
                self._set_on(bool(self._holders))

    def command(self, word: str, at: float = math.inf) -> bool:
        """Carries out another process's "press", "release" or "toggle". False when the button can't be held now.

        In the mode "toggle" a "press" that follows another within `COMMAND_REPEAT_MS`, without a "release", is the
        same press repeated: a desktop may run a key's command again while it is held. `at`: when the command was
        given, by a clock that all processes share. A "press" given before a "release" that arrives after it holds
        nothing, since its key is up; in the mode "toggle" it still counts as one press.
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
        """Releases the window's own mouse and space bar, after it has lost the focus; hotkeys and commands still hold.

        In the mode "toggle" a turn that was begun goes on too: the user need not stay in the window for it.
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
        """Whether the space bar holds the button, or will as soon as holding has an effect."""
        return "space" in self._holders | self._early

    def press_space(self, repeated: bool) -> None:
        """The space bar goes down. `repeated`: the keyboard says that it repeats a key that is held."""
        if self.space_held:
            self._space_up.stop()  # the release before was a repeat, too
        elif not repeated:
            self.hold("space")

    def release_space(self, repeated: bool) -> bool:
        """The space bar goes up. Returns whether it held the button."""
        if not self.space_held:
            return False
        if "space" in self._early and not repeated:
            self._early.discard("space")  # the press of an unmarked repeat adds it again
        elif not repeated:
            self._space_up.start()
        return True
