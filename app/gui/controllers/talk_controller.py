"""Turns the user's ways of talking into turns: the talk button, the space bar, hotkeys, commands of other processes,
typed messages, and what stops an answer.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, SignalInstance

from app.conversation.record.transcript import Turn
from app.gui.controllers.asker import Asker
from app.gui.controllers.context import WindowContext
from app.gui.controllers.sound_controller import SoundController
from app.gui.hotkeys.manager import Hotkeys
from app.gui.hotkeys.push_to_talk import PushToTalk
from app.gui.shell.instance import Order
from app.gui.shell.message_row import Offer
from app.gui.sound.talk_dock import TalkDock
from app.gui.transcript.composer import Composer
from app.gui.transcript.pane import words_of
from app.session.control import Repeat

_RATE = "rate"
SLOWER_BY = 20
"""By how much the voice becomes slower at a click, in percent of its own pace."""


class TalkController(QObject):
    """`push` merges all ways to press the talk button.

    `go_on`: starts a session in the conversation that is shown, if none runs. `repeat_wanted`: has an answer, a `Turn`,
    said once more.
    """

    def __init__(
        self,
        context: WindowContext,
        dock: TalkDock,
        composer: Composer,
        sound: SoundController,
        asker: Asker,
        go_on: Callable[[], object],
        repeat_wanted: SignalInstance,
    ) -> None:
        super().__init__(context.window)
        self._settings = context.settings
        self._keep = context.keep
        self._manager = context.manager
        self._model = context.model
        self._messages = context.messages
        self._dock = dock
        self._sound = sound
        self._asker = asker
        self.push = push = PushToTalk(self)
        self._hotkeys = hotkeys = Hotkeys(self)
        self._keys = ("", "")
        self._typing = False
        self._keys_before = self._keys
        self._slow_rate = self._usual_rate = 0  # as set here, and before that; 0 until then
        push.pressed.connect(self._manager.press)
        push.released.connect(self._manager.release)
        dock.button.pressed.connect(lambda: push.hold("mouse"))
        dock.button.released.connect(lambda: push.let_go("mouse"))
        dock.button.clicked.connect(go_on)
        dock.silence_wanted.connect(self.silence)
        dock.duplex.toggled.connect(lambda on: context.keep.change("duplex", on))
        composer.sent.connect(self._write)
        composer.typing.connect(dock.set_typing)
        repeat_wanted.connect(self._repeat)
        hotkeys.talk_pressed.connect(lambda: push.hold("hotkey"))
        hotkeys.talk_released.connect(lambda: push.let_go("hotkey"))
        hotkeys.mute_pressed.connect(sound.toggle_mute)
        hotkeys.rebinding.connect(lambda: sound.show_key_trouble("", False))
        hotkeys.failed.connect(lambda sentence: sound.show_key_trouble(sentence, hotkeys.none_work))
        hotkeys.granted.connect(sound.show_granted)
        sound.keys_typed.connect(self.let_type)
        context.keep.follow("duplex", does=self._set_duplex)
        context.keep.follow("talk_mode", does=self._set_mode)
        context.keep.follow("talk_hotkey", "mute_hotkey", does=lambda _: self._set_keys())
        context.model.phase_changed.connect(self._on_phase)
        context.model.changed.connect(self._follow)
        dock.duplex.setChecked(self._settings.duplex)
        self._set_mode(self._settings.talk_mode)

    def begin(self) -> None:
        """Takes the hotkeys of the settings."""
        self._set_keys()

    # -- turns

    def _write(self, text: str) -> None:
        self.push.let_go_all()  # what is typed ends what is being said
        self._manager.write(text)

    def _repeat(self, turn: Turn, how: Repeat) -> None:
        """Has an answer said once more, slower, or read on."""
        self.push.let_go_all()
        rate = self._settings.speech_rate
        if how == "slower":
            self._keep.change("speech_rate", rate - SLOWER_BY)
        if self._settings.speech_rate != rate:
            self._usual_rate = rate if rate != self._slow_rate else self._usual_rate
            self._slow_rate = self._settings.speech_rate
            words = self.tr("The voice speaks at {0} % of its own pace from now on.").format(self._slow_rate)
            self._messages.say(words, Offer(self.tr("As before"), self._speed_up), topic=_RATE, level="notice")
        self._manager.repeat(turn.rest if how == "on" else words_of(turn), how)

    def _speed_up(self) -> None:
        self._keep.change("speech_rate", self._usual_rate)
        self._messages.clear_topic(_RATE)

    def silence(self) -> None:
        """Stops a question that is being asked aloud, and the answer."""
        self._asker.stop()
        self._manager.silence()

    def _on_phase(self, phase: str) -> None:
        if phase != "running" or not self._model.talk.early:  # who talks already continues
            self.push.set_enabled(False)  # `_follow` enables it again

    def _follow(self) -> None:
        self.push.set_enabled(self._model.talk.can_talk)

    def _set_duplex(self, duplex: bool) -> None:
        self.push.let_go_all()
        self._dock.duplex.setChecked(duplex)
        self._messages.clear_topic("echo")
        self._model.set_talk(duplex=duplex)

    def _set_mode(self, mode: str) -> None:
        """The talk button works in this way: "hold" or "toggle"."""
        self.push.set_mode("toggle" if mode == "toggle" else "hold")
        self._model.set_talk(toggles=mode == "toggle")

    # -- hotkeys

    def _set_keys(self) -> None:
        """Takes the hotkeys in the settings from now on, which are in Qt's portable text; empty for none."""
        self._keys = self._settings.talk_hotkey, self._settings.mute_hotkey
        if not self._typing:
            self._sound.show_key_trouble("", False)
            self._hotkeys.set_keys(*self._keys)

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
            self._set_keys()

    def obey(self, order: Order) -> None:
        """Does what another process wants, and answers it."""
        talk = self._model.talk
        if order.command in ("mute", "unmute"):
            self._sound.set_muted(order.command == "mute")
            order.answer()
        elif order.command == "mute-toggle":
            self._sound.toggle_mute()
            order.answer()
        elif order.command == "silence" and talk.phase == "running":
            self._manager.silence()
            order.answer()
        elif order.command != "silence" and self.push.command(order.command, order.at):
            order.answer()
        elif talk.phase == "loading":
            order.answer(self.tr("The conversation is still getting ready. Try again in a moment."))
        elif talk.phase == "running" and talk.duplex:
            order.answer(self.tr("Hands-free is on, so there is no button to press: just talk."))
        elif talk.phase == "running":
            order.answer(self.tr("There is no microphone to talk into. Plug one in, or type."))
        else:
            order.answer(self.tr("No conversation is running. Start a new one in KAME's window."))

    def stop_reporting(self) -> None:
        """Ignores hotkeys from now on, which takes no time; `close` gives them back."""
        self._hotkeys.stop_reporting()

    def close(self) -> None:
        """Gives the keys back; a desktop that doesn't answer is waited for, for two seconds at most."""
        self._hotkeys.close()
