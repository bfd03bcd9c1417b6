"""Collects a window's keyboard shortcuts from its menus, actions and `QShortcut`s, so that the list is always up to
date.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtGui import QAction, QShortcut
from PySide6.QtWidgets import QMainWindow, QMenu

from app.gui.palette.command import menu_actions, native_keys, plain_title


@dataclass(frozen=True, slots=True)
class Key:
    """The shortcuts of an action, in the system's notation. `words`: the name of the action."""

    keys: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True)
class KeyGroup:
    """A titled group of shortcuts."""

    title: str
    keys: tuple[Key, ...]


def menu_groups(bar: QMenu) -> list[KeyGroup]:
    """Returns a group for each menu that has visible entries with shortcuts."""
    return _grouped((place, action) for place, action in menu_actions(bar) if action.isVisible())


def other_keys(window: QMainWindow, menu: QMenu) -> tuple[Key, ...]:
    """Returns the shortcuts of the window that aren't in its menu: those of visible actions, and each `QShortcut` with
    a description (a "What's this?" text).
    """
    in_menus = {action for _, action in menu_actions(menu)}
    others = [action for action in window.actions() if action not in in_menus and action.isVisible()]
    keys = [key for group in _grouped(("", action) for action in others) for key in group.keys]
    for shortcut in window.findChildren(QShortcut):
        if shortcut.whatsThis() and not shortcut.key().isEmpty():
            keys.append(Key((native_keys(shortcut.key()),), shortcut.whatsThis()))
    return tuple(keys)


def _grouped(actions: Iterable[tuple[str, QAction]]) -> list[KeyGroup]:
    found: dict[str, list[Key]] = {}
    for place, action in actions:
        keys = tuple(native_keys(one) for one in action.shortcuts() if not one.isEmpty())
        if keys:
            found.setdefault(place, []).append(Key(keys, plain_title(action).rstrip("… ")))
    return [KeyGroup(title, tuple(keys)) for title, keys in found.items()]
