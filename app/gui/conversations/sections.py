"""The rows of the list of conversations: pinned ones, then folders, then the rest under headings by day."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from app.gui.conversations.row_texts import Days
from app.history.base import ConversationView

_FOLDER = "folder:"


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation, or without a `view` the heading of a section. `name` is unique: a key, or the section's name.

    `folder`: the name of the folder whose heading it is, which holds `count` conversations, shown if it is `open`.
    """

    name: str
    view: ConversationView | None = None
    folder: str = ""
    count: int = 0
    open: bool = True


def folders_of(views: Iterable[ConversationView]) -> list[str]:
    """The names of all folders, by the alphabet."""
    return sorted({view.folder for view in views if view.folder}, key=lambda name: (name.casefold(), name))


def rows_of(views: Collection[ConversationView], days: Days, opened: Collection[str] | None) -> Iterator[Row]:
    """Yields the rows. `opened`: the names of the folders that are open; None for all."""
    newest_first = sorted(views, key=lambda view: view.changed, reverse=True)
    pinned = [view for view in newest_first if view.pinned]
    if pinned:
        yield Row("pinned")
        yield from (Row(view.key, view) for view in pinned)
    others = [view for view in newest_first if not view.pinned]
    for folder in folders_of(others):
        inside = [view for view in others if view.folder == folder]
        is_open = opened is None or folder in opened
        yield Row(_FOLDER + folder, None, folder, len(inside), is_open)
        if is_open:
            yield from (Row(view.key, view) for view in inside)
    section = ""
    for view in others:
        if view.folder:
            continue
        if days.section(view.changed) != section:
            section = days.section(view.changed)
            yield Row(section)
        yield Row(view.key, view)
