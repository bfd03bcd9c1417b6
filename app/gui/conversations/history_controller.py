"""Connects the list of conversations to the history service.

Changes are applied in the order in which they are requested. File dialogs are non-blocking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QFileDialog, QWidget

from app.gui.conversations.pane import ConversationsPane
from app.gui.state.background_tasks import CLOSE_SECONDS, BackgroundTasks
from app.gui.widgets.file_dialogs import FileAsker
from app.history.base import ConversationView, ExportFormat, Setup
from app.platform.files import is_device

if TYPE_CHECKING:
    from app.history.store import HistoryStore

LONGEST_FILE_NAME = 60


class HistoryFiles(FileAsker):
    """Exports and imports conversations, using file dialogs.

    `told` and `failed` emit user-facing messages.
    """

    brought_in = Signal(object)
    """Emits the `ConversationView` of an imported conversation."""
    told = Signal(str)
    failed = Signal(str)

    def __init__(self, service: HistoryStore, background: BackgroundTasks, window: QWidget) -> None:
        super().__init__(window)
        self._service = service
        self._background = background
        self._asked = 0

    def ask_export(self, view: ConversationView) -> None:
        """Opens a file dialog, then exports the conversation to the chosen file in the chosen format."""
        forms: dict[str, tuple[ExportFormat, str]] = {
            self.tr("Markdown (*.md)"): ("markdown", ".md"),
            self.tr("JSON, which can be imported (*.json)"): ("json", ".json"),
            self.tr("Subtitles (*.srt)"): ("srt", ".srt"),
        }
        if view.sound:
            forms[self.tr("Sound (*.wav)")] = ("wav", ".wav")
        dialog = self.dialog(self.tr("Export a conversation"), list(forms), QFileDialog.FileMode.AnyFile)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setDefaultSuffix("md")
        dialog.selectFile(self._file_name(view) + ".md")

        def follow(chosen: str) -> None:
            suffix = forms[chosen][1]
            dialog.setDefaultSuffix(suffix[1:])
            typed = dialog.selectedFiles()
            if typed and Path(typed[0]).suffix.lower() in {known for _, known in forms.values()}:
                dialog.selectFile(Path(typed[0]).with_suffix(suffix).name)

        def take(path: str) -> None:
            form, suffix = forms[dialog.selectedNameFilter()]
            self._export(view.key, Path(path), form, suffix)

        dialog.filterSelected.connect(follow)
        dialog.fileSelected.connect(take)
        dialog.open()

    def _export(self, key: str, path: Path, form: ExportFormat, suffix: str) -> None:
        self.folder = str(path.parent)
        if path.suffix.lower() != suffix:
            path = path.with_name(path.name + suffix)
            if path.exists():  # the dialog's overwrite prompt was for the path without the suffix
                sentence = self.tr("“{0}” is there already. Export under another name, or choose that file itself.")
                self.failed.emit(sentence.format(path.name))
                return
        self._asked += 1
        name = f"export {self._asked}"
        self._background.run(
            self, name, lambda: self._service.export(key, path, form), self.told.emit, self.failed.emit
        )

    def ask_import(self) -> None:
        """Opens a file dialog, then imports the chosen file."""
        filters, mode = [self.tr("Exported conversations (*.json)")], QFileDialog.FileMode.ExistingFile
        dialog = self.dialog(self.tr("Import a conversation"), filters, mode)
        dialog.fileSelected.connect(lambda path: self.bring_in(Path(path)))
        dialog.open()

    def bring_in(self, path: Path) -> None:
        self.folder = str(path.parent)
        self._asked += 1
        name = f"import {self._asked}"
        self._background.run(self, name, lambda: self._service.bring_in(path), self.brought_in.emit, self.failed.emit)

    def _file_name(self, view: ConversationView) -> str:
        """Returns a file name derived from the title, without dots or a suffix. It is valid on any file system."""
        kept = "".join(char if char.isalnum() or char in "-_'" else " " for char in view.title)
        name = " ".join(kept.split())[:LONGEST_FILE_NAME].strip() or self.tr("Conversation")
        return f"{name}_" if is_device(name) else name


_LISTING = "list conversations"


class HistoryController(QObject):
    """Fills the pane from `service` and carries out its requests.

    Call `refresh` whenever the history may have changed, and `finish` before closing the background tasks.
    """

    listed = Signal(object)
    """Emits a tuple with the `ConversationView`s that the pane now shows."""
    opened = Signal(object)
    """Emits the `ConversationView` that the user asks to open."""
    duplicated = Signal(object)
    """Emits the `ConversationView` of a new duplicate."""
    removed = Signal(object)
    """Emits a tuple with the keys of the removed conversations. If one of them is open, it must not be continued."""
    not_removed = Signal(object)
    """Emits a tuple with the `ConversationView`s whose removal failed. They remain unchanged."""
    told = Signal(str)
    """Emits a user-facing message about a completed action."""
    failed = Signal(str)
    """Emits a user-facing error message."""

    def __init__(
        self, pane: ConversationsPane, service: HistoryStore, background: BackgroundTasks, window: QWidget
    ) -> None:
        super().__init__(window)
        self.pane = pane
        self._service = service
        self._background = background
        self.files = HistoryFiles(service, background, window)
        self._views: tuple[ConversationView, ...] = ()
        self._known: dict[str, ConversationView] = {}  # includes conversations hidden by a search
        self._words = ""
        self._listed_words = ""
        self._shown_words = ""
        self._again = False
        self._undoable: dict[str, str] = {}
        self._to_highlight = ""
        self._last: asyncio.Future[None] | None = None
        self._asked = 0
        pane.opened.connect(self._open)
        pane.searched.connect(self._search)
        pane.renamed.connect(self.rename)
        pane.pin_wanted.connect(self.pin)
        pane.folders.moved.connect(self.move)
        pane.folders.folder_renamed.connect(self.rename_folder)
        pane.remove_wanted.connect(lambda key: self.remove((key,)))
        pane.remove_all_wanted.connect(self._remove_all)
        pane.undo_wanted.connect(self._restore)
        pane.undo_expired.connect(self._purge)
        pane.export_wanted.connect(self.ask_export)
        pane.import_wanted.connect(self.ask_import)
        self.files.brought_in.connect(self._brought_in)
        self.files.told.connect(self.told)
        self.files.failed.connect(self.failed)

    # -- the list

    def refresh(self) -> None:
        """Reloads the list in the background."""
        if self._background.busy(_LISTING) and self._listed_words == self._words:
            self._again = True  # restarting the listing on each call could prevent it from ever finishing
        else:
            self._list()

    def _list(self) -> None:
        self._again = False
        self._listed_words = words = self._words
        before = self._last

        async def read() -> Sequence[ConversationView]:
            await _ended(before)
            return await self._service.conversations(words)

        self._background.run(self, _LISTING, read, lambda views: self._show(views, words), self._not_listed)

    def _show(self, views: Sequence[ConversationView], words: str) -> None:
        self._views, self._shown_words = tuple(views), words
        self._known = {**(self._known if words else {}), **{view.key: view for view in self._views}}
        self.pane.show_conversations(self._views, words)
        self.pane.show_trouble(self._service.trouble)
        self.pane.highlight(self._to_highlight)
        self.listed.emit(self._views)
        if self._again:
            self._list()
        else:
            self._to_highlight = ""

    def _not_listed(self, sentence: str) -> None:
        self.pane.show_trouble(sentence)
        if self._again:
            self._list()

    @property
    def known(self) -> tuple[ConversationView, ...]:
        """All known conversations, including those hidden by a search, most recently changed first."""
        return tuple(sorted(self._known.values(), key=lambda view: -view.changed))

    def setup(self, key: str) -> Setup | None:
        """Returns a conversation's setup at the time of the last listing, or None if the conversation is unknown."""
        view = self._known.get(key)
        return view.setup if view is not None else None

    def _search(self, words: str) -> None:
        if words != self._words:
            self._words = words
            self._list()

    def _open(self, key: str) -> None:
        view = self.pane.list.view(key)
        if view is not None and key != self.pane.list.current:
            self.opened.emit(view)

    # -- changes

    def rename(self, key: str, title: str) -> None:
        """Sets a conversation's title. If `title` is empty, the title is generated from the first words."""
        self._change("rename", lambda: self._service.rename(key, title))

    def pin(self, key: str, pinned: bool) -> None:
        """Pins or unpins a conversation. Pinned conversations are listed first."""
        self._change("pin", lambda: self._service.pin(key, pinned))

    def move(self, key: str, folder: str) -> None:
        """Moves a conversation to a folder, or out of its folder if `folder` is empty."""
        self._change("move", lambda: self._service.move(key, folder))

    def rename_folder(self, folder: str, name: str) -> None:
        """Renames a folder. If `name` is empty, removes the folder and keeps its conversations."""
        self._change("rename a folder", lambda: self._service.rename_folder(folder, name))

    def remove(self, keys: Iterable[str]) -> None:
        """Removes conversations. They can be restored until the pane's undo bar disappears."""
        self._remove([self._known[key] for key in keys if key in self._known])

    def _remove_all(self) -> None:
        # Includes the conversations hidden by a search.
        self._in_turn("list all conversations", lambda: self._service.conversations(), self._remove, self.failed.emit)

    def _remove(self, views: Sequence[ConversationView]) -> None:
        titles = {view.key: self.pane.list.title(view) for view in views}
        keys = tuple(titles)
        if not keys:
            return

        def failed(sentence: str) -> None:
            for key in keys:
                self._undoable.pop(key, None)
            self.pane.undo.show_removed(tuple(self._undoable.values()))
            self.refresh()
            self.failed.emit(sentence)
            self.not_removed.emit(tuple(views))

        self._undoable |= titles
        self._views = tuple(view for view in self._views if view.key not in titles)
        self._known = {key: view for key, view in self._known.items() if key not in titles}
        self.pane.show_conversations(self._views, self._shown_words)
        self.pane.undo.show_removed(tuple(self._undoable.values()))
        self._change("remove", lambda: self._service.remove(keys), failed=failed)
        self.removed.emit(keys)

    def _restore(self) -> None:
        keys = tuple(self._undoable)
        self._undoable.clear()
        self.pane.undo.show_removed(())
        self._to_highlight = keys[-1] if keys else ""
        self._change("restore", lambda: self._service.restore(keys))

    def _purge(self) -> None:
        self._undoable.clear()
        self._in_turn("purge", self._service.purge, lambda _: None, self.failed.emit)

    def duplicate(self, key: str, setup: Setup) -> None:
        """Copies a conversation's turns to a new one with this `setup`, and emits `duplicated` when done."""

        def done(view: ConversationView) -> None:
            self._to_highlight = view.key
            self.duplicated.emit(view)

        self._change("duplicate", lambda: self._service.duplicate(key, setup), done)

    def ask_export(self, key: str) -> None:
        """Opens a file dialog to export a conversation, or emits `failed` if the conversation is unknown."""
        if (view := self._known.get(key)) is not None:
            self.files.ask_export(view)
        else:
            self.failed.emit(self.tr("Nothing has been said in this conversation that could be exported."))

    def ask_import(self) -> None:
        """Opens a file dialog to import a conversation."""
        self.files.ask_import()

    def _brought_in(self, view: ConversationView) -> None:
        self._to_highlight = view.key
        self.pane.clear_search()
        self.refresh()
        self.told.emit(self.tr("“{0}” is among your conversations now.").format(self.pane.list.title(view)))

    async def finish(self, seconds: float = CLOSE_SECONDS) -> None:
        """Cancels any running listing, closes the file dialog, and waits up to `seconds` for pending changes."""
        self._background.cancel(_LISTING)
        self.files.close()
        await _ended(self._last, seconds)

    def _change(
        self,
        name: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        done: Callable[[Any], None] = lambda _: None,
        failed: Callable[[str], None] | None = None,
    ) -> None:
        """Queues a change and reloads the list afterwards.

        `failed`: replaces the default error handler, which reloads the list and emits `failed`.
        """

        def made(result: Any) -> None:
            done(result)
            self.refresh()

        def not_made(sentence: str) -> None:
            self.refresh()
            self.failed.emit(sentence)

        self._background.cancel(_LISTING)  # its result would be outdated
        self._in_turn(name, work, made, failed or not_made)

    def _in_turn(
        self,
        name: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        done: Callable[[Any], None],
        failed: Callable[[str], None],
    ) -> None:
        """Runs `work` once all previously queued work has finished or failed."""
        before, self._last = self._last, asyncio.get_running_loop().create_future()
        mine = self._last
        self._asked += 1

        async def turn() -> Any:
            try:
                await _ended(before)
                return await work()
            finally:
                mine.set_result(None)

        self._background.run(self, f"{name} {self._asked}", turn, done, failed)


async def _ended(future: asyncio.Future[None] | None, seconds: float | None = None) -> None:
    if future is not None:
        await asyncio.wait({future}, timeout=seconds)  # cancelling the wait doesn't cancel the future
