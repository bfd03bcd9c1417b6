"""A command of the palette, and functions that create commands for menus, settings, conversations and models."""

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
    """A command. `keys` is its shortcut as displayed by the system, or empty; `place` is where else it is found, e.g. a
    menu's name.
    """

    title: str
    keys: str
    run: Callable[[], object]
    kind: Kind
    place: str = ""

    @property
    def id(self) -> str:
        """Identifies the command across openings of the palette."""
        return f"{self.kind}:{self.place}:{self.title}"


Provider = Callable[[], Iterable[Command]]
"""Creates commands each time the palette is opened."""


def plain_title(action: QAction) -> str:
    """Returns an action's text without its mnemonic marker."""
    return re.sub(r"&(.)", r"\1", action.text())


def native_keys(keys: QKeySequence) -> str:
    """Returns a shortcut as displayed by the system, or an empty string."""
    return keys.toString(QKeySequence.SequenceFormat.NativeText)


def menu_actions(menus: QMenu | QMenu, place: str = "") -> Iterator[tuple[str, QAction]]:
    """Yields all entries of the menus and their submenus, each with its menu's title; skips separators."""
    for action in menus.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from menu_actions(inner, plain_title(action))
        elif not action.isSeparator() and action.text():
            yield place, action


def action_commands(actions: Iterable[tuple[str, QAction]], without: Collection[QAction] = ()) -> Iterator[Command]:
    """Yields commands for the actions that are currently available; running one triggers its action."""
    for place, action in actions:
        if action.isVisible() and action.isEnabled() and action not in without:
            yield Command(plain_title(action), native_keys(action.shortcut()), action.trigger, "command", place)


def setting_commands(show: Callable[[str], object]) -> Iterator[Command]:
    """Yields commands that call `show` with a setting's key."""
    for one in declarations():
        if one.place == "dialog":
            page = said(Settings.pages[page_of(one.section)].label)
            yield Command(said(one.label), "", partial(show, one.name), "setting", page)


def conversation_commands(
    views: Iterable[ConversationView], show: Callable[[ConversationView], object]
) -> Iterator[Command]:
    """Yields commands that open a conversation; conversations without a title are skipped."""
    for view in views:
        if view.title:
            yield Command(view.title, "", partial(show, view), "conversation")


def model_commands(
    models: Iterable[tuple[str, str, BackendChoice]], pick: Callable[[BackendChoice], object]
) -> Iterator[Command]:
    """Yields commands that switch to a model, given as (name, place where it runs, choice)."""
    for name, place, choice in models:
        yield Command(name, "", partial(pick, choice), "model", place)
