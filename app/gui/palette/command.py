"""The commands of the palette, and functions that make them from menus, settings, conversations and models."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu

from app.gui.widgets.translation import said
from app.history.base import ConversationView
from app.session.control import BackendChoice
from app.settings.declarations import Settings, declarations, page_of
from app.settings.setting import Setting, tr

Kind = Literal["command", "setting", "value", "conversation", "model", "ask"]
"""`value`: sets a setting to a value; `ask`: sends the typed text to KAME."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the palette.

    - `keys`: its shortcut in the system's notation, or empty.
    - `place`: where else the command is found, such as the title of a menu.
    - `other_words`: what else users call it, separated by commas, closest first.
    - `current`: whether it is a switch that is on, or a value that a setting has.
    """

    title: str
    keys: str
    run: Callable[[], object]
    kind: Kind
    place: str = ""
    other_words: str = ""
    current: bool = False

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


def action_commands(
    actions: Iterable[tuple[str, QAction]], other_words: Mapping[QAction, str], without: Collection[QAction] = ()
) -> Iterator[Command]:
    """Yields commands that trigger `actions`, which are (menu title, action) pairs. Skips actions that are hidden,
    disabled or in `without`.
    """
    for place, action in actions:
        if action.isVisible() and action.isEnabled() and action not in without:
            keys, words = native_keys(action.shortcut()), other_words.get(action, "")
            yield Command(
                plain_title(action), keys, action.trigger, "command", place, words, current=action.isChecked()
            )


def setting_commands(show: Callable[[str], object]) -> Iterator[Command]:
    """Yields a command for each setting in the Settings dialog; running it calls `show` with the setting's key."""
    for one in declarations():
        if one.place == "dialog":
            yield Command(said(one.label), "", partial(show, one.name), "setting", _page(one), said(one.other_words))


_LATER = {"talk": tr("With the next conversation"), "start": tr("With the next start")}
_ON, _OFF = tr("On"), tr("Off")


def value_commands(
    settings: Settings, change: Callable[[str, object], object], is_usable: Callable[[str], bool]
) -> Iterator[Command]:
    """Yields a command for each value of the settings with few values, and for a step down and up of some numbers.

    Running it calls `change` with the setting's key and the value. Settings that restart the conversation are left to
    the dialog, as are those for which `is_usable` returns False.
    """
    for one in declarations():
        if one.place == "dialog" and one.effect != "restart" and is_usable(one.name):
            value, place = getattr(settings, one.name), said(_LATER.get(one.effect, "")) or _page(one)
            for label, others, new in _values(one, value):
                title, others = f"{said(one.label)}: {label}", f"{others},{said(one.other_words)}"
                run = partial(change, one.name, new)
                yield Command(title, "", run, "value", place, others, current=new == value)


def _values(declared: Setting, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Yields the values that are offered, each as (label, other words, value)."""
    if declared.kind == "switch":
        yield said(_OFF if value else _ON), "", not value
    for choice, label in declared.words.items():
        yield said(label), f"{declared.native.get(choice, label)},{label}", choice  # in English too
    for preset in declared.presets:
        yield f"{preset} {said(declared.unit)}", "", preset
    for words, step in ((declared.more, declared.step), (declared.less, -declared.step)):
        if words and (new := declared.usable(type(value)(value + step))) != value:
            label, _, others = said(words).partition(",")
            yield label, others, new


def _page(declared: Setting) -> str:
    return said(Settings.pages[page_of(declared.section)].label)


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
