"""A command of the palette, and the commands that menus, settings, conversations and models make."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Literal

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from app.gui.widgets.translation import said
from app.history.base import ConversationView
from app.session.control import BackendChoice
from app.settings.declarations import Settings, declarations, page_of

Kind = Literal["command", "setting", "conversation", "model"]


@dataclass(frozen=True, slots=True)
class Command:
    """`keys`: its shortcut in the system's words, or empty; `place`: where else it is found, like a menu's name."""

    title: str
    keys: str
    run: Callable[[], object]
    kind: Kind
    place: str = ""

    @property
    def id(self) -> str:
        """Names it from one opening of the palette to the next."""
        return f"{self.kind}:{self.place}:{self.title}"


Provider = Callable[[], Iterable[Command]]
"""Makes commands anew each time the palette is opened."""


def plain_title(action: QAction) -> str:
    """An action's text without the mark of its mnemonic."""
    return re.sub(r"&(.)", r"\1", action.text())


def native_keys(keys: QKeySequence) -> str:
    """Keys in the system's words; empty for none."""
    return keys.toString(QKeySequence.SequenceFormat.NativeText)


def menu_actions(menus: QMenu | QMenu, place: str = "") -> Iterator[tuple[str, QAction]]:
    """All entries of menus and of their submenus, each with the title of its menu; no separators."""
    for action in menus.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from menu_actions(inner, plain_title(action))
        elif not action.isSeparator() and action.text():
            yield place, action


def action_commands(actions: Iterable[tuple[str, QAction]], without: Collection[QAction] = ()) -> Iterator[Command]:
    """The commands of actions that can be used now; running one does what its menu entry does."""
    for place, action in actions:
        if action.isVisible() and action.isEnabled() and action not in without:
            yield Command(plain_title(action), native_keys(action.shortcut()), action.trigger, "command", place)


def setting_commands(show: Callable[[str], object]) -> Iterator[Command]:
    """Commands that show a setting by its key."""
    for one in declarations():
        if one.place == "dialog":
            page = said(Settings.pages[page_of(one.section)].label)
            yield Command(said(one.label), "", partial(show, one.name), "setting", page)


def conversation_commands(
    views: Iterable[ConversationView], show: Callable[[ConversationView], object]
) -> Iterator[Command]:
    """Commands that open a conversation; those without a title are left out."""
    for view in views:
        if view.title:
            yield Command(view.title, "", partial(show, view), "conversation")


def model_commands(
    models: Iterable[tuple[str, str, BackendChoice]], pick: Callable[[BackendChoice], object]
) -> Iterator[Command]:
    """Commands that go on with a model: its name, where it runs, and the choice."""
    for name, place, choice in models:
        yield Command(name, "", partial(pick, choice), "model", place)
