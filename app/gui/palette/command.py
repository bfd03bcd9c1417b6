"""The commands of the palette, and functions that create them from menus, settings, conversations and models."""

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
    """A command of the palette.

    `keys`: its shortcut in the system's notation, or empty. `place`: where else the command is found, such as the title
    of a menu.
    """

    title: str
    keys: str
    run: Callable[[], object]
    kind: Kind
    place: str = ""

    @property
    def id(self) -> str:
        """A stable ID that persists between openings of the palette."""
        return f"{self.kind}:{self.place}:{self.title}"


Provider = Callable[[], Iterable[Command]]
"""A function that returns commands. Called each time the palette is opened."""


def plain_title(action: QAction) -> str:
    """Returns an action's text without its mnemonic marker."""
    return re.sub(r"&(.)", r"\1", action.text())


def native_keys(keys: QKeySequence) -> str:
    """Returns a shortcut in the system's notation; empty if there are no keys."""
    return keys.toString(QKeySequence.SequenceFormat.NativeText)


def menu_actions(menus: QMenu | QMenu, place: str = "") -> Iterator[tuple[str, QAction]]:
    """Yields (menu title, action) pairs for all entries of a menu and its submenus, except separators."""
    for action in menus.actions():
        inner = action.menu()
        if isinstance(inner, QMenu):
            yield from menu_actions(inner, plain_title(action))
        elif not action.isSeparator() and action.text():
            yield place, action


def action_commands(actions: Iterable[tuple[str, QAction]], without: Collection[QAction] = ()) -> Iterator[Command]:
    """Yields commands that trigger `actions`, which are (menu title, action) pairs. Skips actions that are hidden,
    disabled or in `without`.
    """
    for place, action in actions:
        if action.isVisible() and action.isEnabled() and action not in without:
            yield Command(plain_title(action), native_keys(action.shortcut()), action.trigger, "command", place)


def setting_commands(show: Callable[[str], object]) -> Iterator[Command]:
    """Yields a command for each setting in the Settings dialog; running it calls `show` with the setting's key."""
    for one in declarations():
        if one.place == "dialog":
            page = said(Settings.pages[page_of(one.section)].label)
            yield Command(said(one.label), "", partial(show, one.name), "setting", page)


def conversation_commands(
    views: Iterable[ConversationView], show: Callable[[ConversationView], object]
) -> Iterator[Command]:
    """Yields a command for each conversation that has a title; running it calls `show`."""
    for view in views:
        if view.title:
            yield Command(view.title, "", partial(show, view), "conversation")


def model_commands(
    models: Iterable[tuple[str, str, BackendChoice]], pick: Callable[[BackendChoice], object]
) -> Iterator[Command]:
    """Yields a command for each model, given as (name, where it runs, choice); running it calls `pick`."""
    for name, place, choice in models:
        yield Command(name, "", partial(pick, choice), "model", place)
