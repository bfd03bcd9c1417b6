"""The command palette of the window and its sheet of keys, and what is found in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence

from app.gui.palette.command import (
    Command,
    action_commands,
    conversation_commands,
    menu_actions,
    model_commands,
    native_keys,
    setting_commands,
)
from app.gui.palette.palette import CommandPalette
from app.gui.palette.shortcut_sheet import Key, KeyGroup, ShortcutSheet, menu_groups, other_keys
from app.gui.state.choice import backend_choice, is_router
from app.session.control import BackendChoice
from app.settings.kept_state import strings

if TYPE_CHECKING:
    from app.gui.window.main_window import MainWindow

KEPT_KINDS = ("command", "setting")
"""The kinds of commands whose use is remembered for the next start: their names say nothing about conversations."""


class QuickAccess(QObject):
    """Opens them on the menu's request; commands do what the menu would."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        providers = (
            lambda: action_commands(menu_actions(window.menu.bar), without=(window.menu.commands_action,)),
            lambda: setting_commands(window.panels.open_settings),
            lambda: model_commands(self._models(), window.live.pick_backend),
            self._of_conversations,
        )
        self.palette = CommandPalette(providers, window, strings(window.keep.state.recent_commands))
        self.palette.used.connect(self._keep)
        self.sheet: ShortcutSheet | None = None
        window.menu.commands.connect(self.palette.open)
        window.menu.keys.connect(self.open_sheet)
        window.closing.connect(self.palette.hide)

    def open_sheet(self) -> None:
        """All keys that there are now."""
        if self.sheet is None:
            self.sheet = ShortcutSheet(self._window)
            self.sheet.guide_wanted.connect(self._window.panels.open_guide)
        self.sheet.open_with(self._keys())

    def _keys(self) -> list[KeyGroup]:
        window, settings = self._window, self._window.settings
        toggles = settings.talk_mode == "toggle"
        talk = self.tr("Begin to talk, and end") if toggles else self.tr("Talk, while it is held")
        keys = Qt.Key
        space, escape, enter, up, question = (
            native_keys(QKeySequence(one))
            for one in (keys.Key_Space, keys.Key_Escape, keys.Key_Return, keys.Key_Up, keys.Key_Question)
        )
        line = native_keys(QKeySequence("Shift+Return"))
        anywhere = (
            (settings.talk_hotkey, talk),
            (settings.mute_hotkey, self.tr("Mute or unmute")),
        )
        return [
            KeyGroup(
                self.tr("Talking"), (Key((space,), talk), Key((escape,), self.tr("Stop speaking, or close a message")))
            ),
            KeyGroup(
                self.tr("Typing"),
                (
                    Key((enter,), self.tr("Send the message")),
                    Key((line,), self.tr("Start a new line")),
                    Key((up,), self.tr("Bring back what you sent before")),
                    Key((question,), self.tr("Show these keys, while you are not typing")),
                ),
            ),
            KeyGroup(
                self.tr("While another window has the keyboard"),
                tuple(Key((native_keys(QKeySequence(keys)),), words) for keys, words in anywhere if keys),
            ),
            *menu_groups(window.menu.bar),
            KeyGroup(self.tr("Elsewhere in the window"), other_keys(window, window.menu.bar)),
        ]

    def _models(self) -> Iterator[tuple[str, str, BackendChoice]]:
        lists, settings = self._window.lists, self._window.settings
        for key in lists.views:
            kept = backend_choice(settings, key)
            offered = () if is_router(kept) else lists.offered(kept)
            for model in dict.fromkeys((kept.model, *offered)):
                if model:
                    yield model, lists.label(key), BackendChoice(key, model, kept.base_url)
            if not kept.model and not offered and kept != backend_choice(settings):
                yield lists.label(key), self.tr("Model"), kept

    def _of_conversations(self) -> Iterator[Command]:
        history = self._window.list.history
        return conversation_commands(() if history is None else history.known, self._window.talks.open)

    def _keep(self) -> None:
        recent = [id for id in self.palette.recent if id.partition(":")[0] in KEPT_KINDS]
        self._window.keep.remember(recent_commands=recent)
