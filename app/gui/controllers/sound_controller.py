"""Applies the user's sound settings to the session, keeps them, and shows what the audio devices report.

They are the devices, mute, processing and the talk button's keys, and the dialog with all of them.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from app.conversation import events as e
from app.conversation.events import Processing
from app.conversation.record.record import Change
from app.gui.controllers.context import WindowContext
from app.gui.design.motion import timer
from app.gui.shell.message_row import Level, Offer
from app.gui.sound.devices_popover import DevicesPopover
from app.gui.sound.talk_dock import TalkDock
from app.gui.state.choice import keep_processing, processing_choice

if TYPE_CHECKING:
    from app.gui.sound.dialog import SoundDialog

GOOD_NEWS_MS = 8_000
"""How long it is shown that a device is back: the user doesn't have to do anything about it."""

NEWS_MS = 20_000
"""How long it is shown that the conversation has moved to another device: it continues, but the user may want to choose
another one.
"""

LIST_SECONDS = 8.0
"""How long a look for devices may take: where it needs a process of its own, that has to start first."""

_OF_PROCESSING = ("echo_cancellation", "noise_suppression", "auto_gain")

_log = logging.getLogger(__name__)


class SoundController(QObject):
    """The devices, the microphone's switch, and the dialog “Sound”."""

    listed = Signal(list, list)
    """The microphones and the loudspeakers that there are now, by name."""
    keys_typed = Signal(bool)
    """A key is being typed for the settings, or no longer."""
    _devices_changed = Signal()

    def __init__(self, context: WindowContext, devices: DevicesPopover, dock: TalkDock) -> None:
        super().__init__(context.window)
        commands = context.commands
        self._context = context
        self._settings = context.settings
        self._keep = context.keep
        self._manager = context.manager
        self._devices = devices
        self._dock = dock
        self._mute_action = commands["mute"]
        self._messages = messages = context.messages
        self.dialog: SoundDialog | None = None
        self._health: e.SoundMeasured | None = None
        self._trouble = ""
        self._none_work = False
        self._granted: dict[str, str] = {}
        self.news_ms = {"back": GOOD_NEWS_MS, "moved": NEWS_MS}
        kinds = ("microphone", "loudspeaker")
        self._news = {kind: timer(self, 0, partial(messages.clear_topic, kind)) for kind in kinds}
        self._looking: asyncio.Task[None] | None = None
        self._look_again = False
        devices.devices_picked.connect(self.pick_devices)
        dock.mute.toggled.connect(self.set_muted)
        self._mute_action.toggled.connect(self.set_muted)
        commands.on("sound", self.open_dialog)
        devices.sound.clicked.connect(self.open_dialog)
        for way_in in (commands["sound"], devices.sound):
            way_in.setVisible(context.services.sound_service is not None)
        # A watcher reports from a thread of its own; the signal brings its report to this one.
        self._devices_changed.connect(self._look_for_devices)
        self._keep.follow(*kinds, does=lambda _: self._show_picked())
        self._keep.follow(*_OF_PROCESSING, does=lambda _: messages.clear_topic("echo"))
        context.model.follow(self._take)
        context.model.phase_changed.connect(self._follow_phase)

    # -- devices

    def devices_changed(self) -> None:
        """Something was plugged in or out, or another device is the default. Any thread may tell."""
        self._devices_changed.emit()

    async def list_devices(self) -> None:
        """Has the pickers offer the devices that there are now."""
        try:
            found = asyncio.get_running_loop().run_in_executor(None, self._context.services.list_devices)
            microphones, loudspeakers = await asyncio.wait_for(found, LIST_SECONDS)
        except Exception as error:  # the session itself will tell what is wrong with its devices
            _log.warning("the devices could not be listed: %r", error)
        else:
            self._devices.set_devices(microphones, loudspeakers)
            self.listed.emit(microphones, loudspeakers)

    async def close(self) -> None:
        """Ends what is under way."""
        if self._looking is not None and not self._looking.done():
            self._looking.cancel()
            await asyncio.wait([self._looking])

    def _look_for_devices(self) -> None:
        if self._looking is not None and not self._looking.done():
            self._look_again = True
            return

        async def look() -> None:
            self._look_again = True
            while self._look_again:
                self._look_again = False
                await self.list_devices()

        self._looking = asyncio.get_running_loop().create_task(look(), name="look for devices")

    def pick_devices(self, microphone: str, loudspeaker: str) -> None:
        """The conversation continues with these, by name; empty for the system's default."""
        self._keep.change("microphone", microphone)
        self._keep.change("loudspeaker", loudspeaker)

    def _show_picked(self) -> None:
        for kind in ("microphone", "loudspeaker"):
            self._messages.clear_topic(kind)  # it was about another one
        self._devices.offer_again()
        if self.dialog is not None:
            self.dialog.tests.show_devices(self._settings.microphone, self._settings.loudspeaker)

    # -- the microphone

    def set_muted(self, muted: bool) -> None:
        """Mutes the microphone or no longer; whichever switch was used, all show it."""
        self._dock.mute.setChecked(muted)
        self._mute_action.setChecked(muted)
        if not muted:
            self._messages.clear_topic("muted")
        if self._manager.wanted.muted != muted:
            self._manager.want(muted=muted)

    def toggle_mute(self) -> None:
        """For a key that does both."""
        self.set_muted(not self._manager.wanted.muted)

    def set_processing(self, processing: Processing) -> None:
        """Processes the microphone's sound in this way from now on."""
        if processing != processing_choice(self._settings):
            keep_processing(self._settings, processing)
            self._messages.clear_topic("echo")
            self._keep.later()

    # -- the dialog

    def open_dialog(self) -> None:
        """Everything about sound in one place."""
        context = self._context
        if context.services.sound_service is None:
            return
        if self.dialog is None:
            from app.gui.sound.dialog import SoundDialog

            self.dialog = SoundDialog(
                self._settings, context.services.sound_service, context.background, context.window
            )
            # What is said for a test is no turn of the conversation.
            self.dialog.tests.began.connect(lambda: self._manager.set_deaf(True))
            self.dialog.tests.ended.connect(lambda: self._manager.set_deaf(False))
            self.dialog.processing.changed.connect(self.set_processing)
            self.dialog.talk_button.mode_changed.connect(lambda mode: self._keep.change("talk_mode", mode))
            self.dialog.talk_button.hotkeys_changed.connect(self._set_hotkeys)
            self.dialog.talk_button.keys_typed.connect(self.keys_typed)
        self.dialog.show_health(self._health)
        self.dialog.open_refreshed()
        for name, words in self._granted.items():
            self.dialog.talk_button.show_granted(name, words)
        self.dialog.talk_button.show_trouble(self._trouble, self._none_work)

    def show_granted(self, name: str, words: str) -> None:
        """Which keys the desktop uses to "talk" or "mute", in its own words; empty: it does not tell."""
        self._granted[name] = words
        if self.dialog is not None:
            self.dialog.talk_button.show_granted(name, words)

    def show_key_trouble(self, sentence: str, none_work: bool = False) -> None:
        """Why a hotkey can't be had, and whether none can; empty when they are tried again."""
        self._none_work = none_work
        self._trouble = f"{self._trouble} {sentence}".strip() if sentence else ""
        if self.dialog is not None:
            self.dialog.talk_button.show_trouble(self._trouble, none_work)
        if sentence:
            self._messages.say(self._trouble, topic="hotkey")
        else:
            self._messages.clear_topic("hotkey")

    def _set_hotkeys(self, talk: str, mute: str) -> None:
        self._keep.change("talk_hotkey", talk)
        self._keep.change("mute_hotkey", mute)

    # -- from the session

    def _follow_phase(self, phase: str) -> None:
        """A new session runs, or the last one is over: nothing is measured."""
        self._health = None
        if self.dialog is not None:
            self.dialog.show_health(None)
        if phase != "running":
            self._dock.button.show_level(float("-inf"))
            self._devices.microphone_level.clear()
            self._devices.loudspeaker_level.clear()

    def _take(self, change: Change) -> None:
        match change.event:
            case e.LevelMeasured():
                self._show_levels(change.event)
            case e.DeviceChanged():
                self._show_device(change.event)
            case e.SoundMeasured():
                self._show_health(change.event)
            case e.TranscriptFinal():
                self._follow_hearing()

    def _show_levels(self, event: e.LevelMeasured) -> None:
        self._dock.button.show_levels(event.user_dbfs, event.assistant_dbfs)
        if self._devices.isVisible():
            self._devices.microphone_level.set_level(event.user_dbfs, event.at, event.clipped)
            self._devices.loudspeaker_level.set_level(event.assistant_dbfs, event.at)
        if self.dialog is not None and self.dialog.isVisible():
            self.dialog.tests.show_level(event.user_dbfs, event.assistant_dbfs, event.at, event.clipped)

    def _show_device(self, event: e.DeviceChanged) -> None:
        if event.change == "muted":
            unmute = Offer(self.tr("Unmute"), lambda: self.set_muted(False))
            self._messages.say(event.sentence, unmute, topic="muted", level="warning")
            return
        level: Level = "error" if event.change == "lost" else "notice" if event.change == "back" else "warning"
        self._messages.say(event.sentence, topic=event.kind, level=level)
        self._news[event.kind].stop()
        if shown_ms := self.news_ms.get(event.change):
            self._news[event.kind].start(shown_ms)

    def _follow_hearing(self) -> None:
        """Leads to the microphone once nothing was understood twice in a row."""
        if self._context.model.talk.unheard < 2:
            self._messages.clear_topic("unheard")
            return
        sentence = self.tr("Nothing was heard twice in a row. Check that the right microphone is chosen and its level.")
        button = self._dock.devices_button
        choose = Offer(self.tr("Choose the microphone…"), lambda: self._devices.toggle_at(button))
        self._messages.say(sentence, choose, topic="unheard", level="warning")

    def _show_health(self, event: e.SoundMeasured) -> None:
        self._health = event
        if self.dialog is not None:
            self.dialog.show_health(event)
        if not event.echo_remains and event.erle_db is not None:
            self._messages.clear_topic("echo")
