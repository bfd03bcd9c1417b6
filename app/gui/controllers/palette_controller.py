"""The command palette of the window and its shortcut sheet, and what is found in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QKeySequence

from app.gui.controllers.context import WindowContext
from app.gui.controllers.conversation_controller import ConversationController
from app.gui.controllers.list_controller import ConversationListController
from app.gui.models.model_lists import ModelLists
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
from app.gui.state.choice import backend_choice
from app.session.control import BackendChoice
from app.settings.kept_state import strings

KEPT_KINDS = ("command", "setting")
"""The kinds of commands whose use is remembered for the next start: their names say nothing about conversations."""


class PaletteController(QObject):
    """`choose` has a model answer; `open_settings` opens the settings at one of them; `open_guide` opens the guide."""

    def __init__(
        self,
        context: WindowContext,
        lists: ModelLists,
        listing: ConversationListController,
        talks: ConversationController,
        *,
        choose: Callable[[BackendChoice], object],
        open_settings: Callable[[str], object],
        open_guide: Callable[[], object],
    ) -> None:
        super().__init__(context.window)
        self._window = window = context.window
        self._settings = context.settings
        self._keep = context.keep
        self._commands = commands = context.commands
        self._lists = lists
        self._listing = listing
        self._talks = talks
        self._open_guide = open_guide
        providers = (
            lambda: action_commands(menu_actions(commands.bar), without=(commands["commands"],)),
            lambda: setting_commands(open_settings),
            lambda: model_commands(self._models(), choose),
            self._conversations,
        )
        self.palette = CommandPalette(providers, window, strings(context.keep.state.recent_commands))
        self.palette.used.connect(self._remember)
        self.sheet: ShortcutSheet | None = None
        commands.on("commands", self.palette.open)
        commands.on("keys", self.open_sheet)

    def open_sheet(self) -> None:
        """Opens the sheet with all shortcuts that there are now."""
        if self.sheet is None:
            self.sheet = ShortcutSheet(self._window)
            self.sheet.guide_wanted.connect(self._open_guide)
        self.sheet.open_with(self._keys())

    def _keys(self) -> list[KeyGroup]:
        settings, bar = self._settings, self._commands.bar
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
            *menu_groups(bar),
            KeyGroup(self.tr("Elsewhere in the window"), other_keys(self._window, bar)),
        ]

    def _models(self) -> Iterator[tuple[str, str, BackendChoice]]:
        lists, settings = self._lists, self._settings
        for key in lists.views:
            kept = backend_choice(settings, key)
            offered = lists.offered(kept)
            for model in dict.fromkeys((kept.model, *offered)):
                if model:
                    yield model, lists.label(key), BackendChoice(key, model, kept.base_url)
            if not kept.model and not offered and kept != backend_choice(settings):
                yield lists.label(key), self.tr("Model"), kept

    def _conversations(self) -> Iterator[Command]:
        history = self._listing.history
        return conversation_commands(() if history is None else history.known, self._talks.open)

    def _remember(self) -> None:
        recent = [id for id in self.palette.recent if id.partition(":")[0] in KEPT_KINDS]
        self._keep.remember(recent_commands=recent)
