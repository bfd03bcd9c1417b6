"""The command palette of the window and its shortcut sheet, and what is found in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from PySide6.QtCore import QObject
from PySide6.QtGui import QKeySequence

from app.gui.controllers.context import WindowContext
from app.gui.controllers.conversation_controller import ConversationController
from app.gui.controllers.list_controller import ConversationListController
from app.gui.controllers.panels import Panels
from app.gui.models.model_lists import ModelLists
from app.gui.palette.command import (
    Command,
    action_commands,
    conversation_commands,
    menu_actions,
    model_commands,
    native_keys,
    setting_commands,
    value_commands,
)
from app.gui.palette.palette import CommandPalette
from app.gui.palette.shortcut_sheet import Key, KeyGroup, ShortcutSheet, menu_groups, other_keys
from app.gui.state.choice import backend_choice
from app.session.control import BackendChoice
from app.settings.kept_state import strings

KEPT_KINDS = ("command", "setting", "value")
"""The kinds of commands whose use is remembered for the next start: their names say nothing about conversations."""


class PaletteController(QObject):
    """`choose` has a model answer; `ask` sends a message to KAME. `panels` opens the settings and the guide."""

    def __init__(
        self,
        context: WindowContext,
        lists: ModelLists,
        listing: ConversationListController,
        talks: ConversationController,
        *,
        choose: Callable[[BackendChoice], object],
        ask: Callable[[str], object],
        panels: Panels,
    ) -> None:
        super().__init__(context.window)
        self._window = window = context.window
        self._settings = context.settings
        self._keep = context.keep
        self._commands = commands = context.commands
        self._lists = lists
        self._listing = listing
        self._talks = talks
        self._open_guide = panels.open_guide
        providers = (
            lambda: action_commands(menu_actions(commands.bar), commands.other_words, (commands["commands"],)),
            lambda: setting_commands(panels.open_settings),
            lambda: value_commands(context.settings, context.keep.change, panels.is_usable),
            lambda: model_commands(self._models(), choose),
            self._conversations,
        )
        self.palette = CommandPalette(providers, window, strings(context.keep.state.recent_commands), ask=ask)
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
        settings, commands = self._settings, self._commands
        toggles = settings.talk_mode == "toggle"
        talk = self.tr("Begin to talk, and end") if toggles else self.tr("Talk, while it is held")
        anywhere = (settings.talk_hotkey, talk), (settings.mute_hotkey, self.tr("Mute or unmute"))
        typing, *lists = (_group(*group) for group in commands.widget_keys())
        return [
            _group(self.tr("Talking"), [("Space", talk)]),
            typing,
            _group(self.tr("While another window has the keyboard"), [pair for pair in anywhere if pair[0]]),
            *menu_groups(commands.bar),
            KeyGroup(self.tr("Elsewhere in the window"), other_keys(self._window, commands.bar)),
            *lists,
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


def _group(title: str, keys: Iterable[tuple[str, str]]) -> KeyGroup:
    """Returns a group of shortcuts. Those that Qt does not know, such as a range of them, are shown as they are."""
    return KeyGroup(
        title,
        tuple(
            Key(tuple(native_keys(QKeySequence(one)) or one for one in shortcuts.split(", ")), words)
            for shortcuts, words in keys
        ),
    )
