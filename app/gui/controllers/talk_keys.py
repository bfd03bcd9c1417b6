"""Connects global hotkeys, and the commands of other processes, to the talk button, to mute and to silence."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.gui.controllers.sound_controller import SoundController
from app.gui.hotkeys.manager import Hotkeys
from app.gui.hotkeys.push_to_talk import PushToTalk
from app.gui.shell.instance import Order
from app.gui.state.talk_state import TalkState


class TalkKeys(QObject):
    """`trouble`: why a hotkey can't be had, in a sentence, and whether none of them can; empty once others are tried.

    `told`: for "talk" or "mute", which keys the desktop uses, in its own words; empty once it does not tell.
    """

    trouble = Signal(str, bool)
    told = Signal(str, str)

    def __init__(self, push: PushToTalk, sound: SoundController, talk: TalkState, parent: QObject) -> None:
        super().__init__(parent)
        self._push = push
        self._sound = sound
        self._talk = talk
        self._hotkeys = Hotkeys(self)
        self._keys = ("", "")
        self._typing = False
        self._keys_before = self._keys
        self._hotkeys.talk_pressed.connect(lambda: push.hold("hotkey"))
        self._hotkeys.talk_released.connect(lambda: push.let_go("hotkey"))
        self._hotkeys.mute_pressed.connect(sound.toggle_mute)
        self._hotkeys.rebinding.connect(lambda: self.trouble.emit("", False))
        self._hotkeys.failed.connect(lambda sentence: self.trouble.emit(sentence, self._hotkeys.none_work))
        self._hotkeys.granted.connect(self.told)

    def set_keys(self, talk: str, mute: str) -> None:
        """Takes these keys from now on; Qt's portable text, empty for none."""
        self._keys = (talk, mute)
        if not self._typing:
            self.trouble.emit("", False)
            self._hotkeys.set_keys(talk, mute)

    def let_type(self, typing: bool) -> None:
        """Takes no other keys while some are typed for the settings, and none at all where what is taken never reaches
        a field.
        """
        if typing == self._typing:
            return
        self._typing = typing
        if typing:
            self._keys_before = self._keys
            if self._hotkeys.grabs_exclusively:
                self._hotkeys.set_keys("", "")
        elif self._hotkeys.grabs_exclusively or self._keys != self._keys_before:
            self.set_keys(*self._keys)

    def obey(self, order: Order) -> None:
        """Does what another process wants, and answers it."""
        if order.command in ("mute", "unmute"):
            self._sound.set_muted(order.command == "mute")
            order.answer()
        elif order.command == "mute-toggle":
            self._sound.toggle_mute()
            order.answer()
        elif order.command == "silence" and self._talk.phase == "running":
            self._sound.silence()
            order.answer()
        elif order.command != "silence" and self._push.command(order.command, order.at):
            order.answer()
        elif self._talk.phase == "loading":
            order.answer(self.tr("The conversation is still getting ready. Try again in a moment."))
        elif self._talk.phase == "running" and self._talk.duplex:
            order.answer(self.tr("Hands-free is on, so there is no button to press: just talk."))
        elif self._talk.phase == "running":
            order.answer(self.tr("There is no microphone to talk into. Plug one in, or type."))
        else:
            order.answer(self.tr("No conversation is running. Start a new one in KAME's window."))

    def stop_reporting(self) -> None:
        """Hears no hotkey any more, which takes no time; `close` gives them back."""
        self._hotkeys.stop_reporting()

    def close(self) -> None:
        """Gives the keys back; a desktop that doesn't answer is waited for, for two seconds at most."""
        self._hotkeys.close()
