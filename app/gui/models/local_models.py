"""A table of models that run on this machine, with buttons to download, use, check and remove them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTreeWidget, QTreeWidgetItem, QWidget

from app.gui.models.downloads import ModelsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import StatusLine, column, progress_bar, push_button, row, set_share
from app.gui.widgets.panel import Quiet
from app.services.machine_service import MachineView
from app.services.model_service import ModelKind, ModelView, VoiceView

KEY = Qt.ItemDataRole.UserRole
VOICE = Qt.ItemDataRole.UserRole + 1
USABLE_KINDS: tuple[ModelKind, ...] = ("llm", "stt", "tts", "frontend")
"""The kinds of models among which the user can choose."""
LIST, WORK, PLAY = "models: list", "models: check or remove", "models: play a sample"


class ModelTable(QTreeWidget):
    """A tree with a group per kind, a row per model and a child row per voice."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.views: dict[str, ModelView] = {}
        self.setAccessibleName(self.tr("Models"))
        self.setHeaderLabels(
            [
                self.tr("Model"),
                self.tr("Languages"),
                self.tr("Size"),
                self.tr("State"),
                self.tr("Speed here"),
                self.tr("Facts"),
                self.tr("Licence"),
            ]
        )
        self.setRootIsDecorated(False)
        self.setAllColumnsShowFocus(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.header().setAccessibleName(self.tr("Columns"))
        self.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)

    def show_models(self, views: Sequence[ModelView], used: Mapping[str, str]) -> None:
        """Fills the table, preserving the selection. `used`: the models in the settings, keyed by kind."""
        chosen, voice = self.chosen, self.chosen_voice
        self.views = {view.key: view for view in views}
        titles: dict[ModelKind, str] = {
            "llm": self.tr("Language models"),
            "stt": self.tr("Speech recognition"),
            "tts": self.tr("Voices"),
            "endpointing": self.tr("End of turn"),
            "frontend": self.tr("Voice engines for a graphics card"),
        }
        self.clear()
        for kind, title in titles.items():
            group = QTreeWidgetItem([title])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            font = group.font(0)
            font.setWeight(QFont.Weight.DemiBold)
            group.setFont(0, font)
            self.addTopLevelItem(group)
            for view in views:
                if view.kind == kind:
                    self._add(group, view, used.get(kind, ""))
            group.setFirstColumnSpanned(True)
            group.setExpanded(True)
        if chosen is not None:
            self.choose(chosen.key, voice)

    def choose(self, key: str, voice: str = "") -> None:
        """Selects the row of a model or, if `voice` is given, of that voice."""
        for item in self._model_items():
            if item.data(0, KEY) == key and str(item.data(0, VOICE) or "") in ("", voice):
                self.setCurrentItem(item)

    @property
    def chosen(self) -> ModelView | None:
        """The selected model, or the model of the selected voice. None if nothing is selected."""
        item = self.currentItem()
        return self.views.get(item.data(0, KEY)) if item is not None else None

    @property
    def chosen_voice(self) -> str:
        """The key of the selected voice, or an empty string if no voice row is selected."""
        item = self.currentItem()
        return str(item.data(0, VOICE) or "") if item is not None else ""

    @property
    def chosen_name(self) -> str:
        """The name displayed in the selected row."""
        item = self.currentItem()
        return item.text(0) if item is not None else ""

    def _model_items(self) -> Iterator[QTreeWidgetItem]:
        """Yields each model's row, followed by the rows of its voices."""
        for group in _children(self.invisibleRootItem()):
            for model in _children(group):
                yield model
                yield from _children(model)

    def _add(self, group: QTreeWidgetItem, view: ModelView, used: str) -> None:
        model = used.partition("/")[0] if view.kind == "tts" else used
        is_default = not used and view.default and view.kind in USABLE_KINDS
        states = {
            "here": self.tr("here"),
            "installed": self.tr("here, with the app"),
            "incomplete": self.tr("partly here"),
            "absent": "",
        }
        in_use = view.usable and (view.key == model or is_default)
        state = self.tr("in use") if in_use else states[view.state]
        languages = self.tr("many") if "*" in view.languages else " ".join(view.languages)
        facts = self.tr("{0} of 120").format(view.right) if view.right else ""
        size = self.tr("{0} GB").format(f"{view.bytes / 1e9:.2f}")
        item = QTreeWidgetItem(group, [view.label, languages, size, state, view.speed, facts, view.licence])
        item.setData(0, KEY, view.key)
        item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for voice in view.voices:
            self._add_voice(item, voice, view.key, in_use=view.usable and voice.key == used)

    def _add_voice(self, model: QTreeWidgetItem, voice: VoiceView, key: str, *, in_use: bool) -> None:
        item = QTreeWidgetItem(model, [voice.label, voice.language, "", self.tr("in use") if in_use else ""])
        item.setData(0, KEY, key)
        item.setData(0, VOICE, voice.key)


def _children(item: QTreeWidgetItem) -> Iterator[QTreeWidgetItem]:
    for place in range(item.childCount()):
        if (child := item.child(place)) is not None:
            yield child


class LocalModels(QWidget):
    """The model table and its buttons.

    `play`: plays mono float32 audio at 24 kHz; None if samples of the voices can't be played.
    """

    use_wanted = Signal(str, str)
    """Emits a kind and the key of the model or voice to use for it, or an empty key to let the app choose."""

    def __init__(
        self,
        controller: ModelsController,
        background: BackgroundTasks,
        parent: QWidget,
        *,
        play: Callable[[np.ndarray], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(parent)
        self._controller = controller
        self._background = background
        self._play = play
        self._used: dict[str, str] = {}
        self._language = "auto"
        self._machine: MachineView | None = None
        self.list = ModelTable(self)
        self.words = StatusLine(self.tr("About the chosen model"), self)
        self.said = Quiet(parent=self, selectable=True, name=self.tr("What happened"))
        self.bar = progress_bar(self.tr("Download of a model"), self)
        self.bar.setTextVisible(False)
        self.get_button = push_button(self.tr("&Download"), self.tr("Download the chosen model"), self, self._get)
        self.stop_button = push_button(self.tr("&Stop"), self.tr("Stop the download"), self, controller.stop)
        self.play_button = push_button(self.tr("P&lay"), self.tr("Play a sample of the chosen voice"), self)
        self.play_button.setVisible(play is not None)
        self.use_button = push_button(self.tr("&Use"), self.tr("Use the chosen model"), self, self._use)
        self.auto_button = push_button(self.tr("&Automatic"), self.tr("Let the app choose a model of this kind"), self)
        self.check_button = push_button(self.tr("C&heck"), self.tr("Check the chosen model's files"), self, self._check)
        self.remove_button = push_button(self.tr("&Remove"), self.tr("Remove the chosen model"), self, self._remove)
        self._lay_out()
        self._connect()
        self._shape()

    def open_with(self, used: Mapping[str, str], language: str = "auto", chosen: str = "") -> None:
        """Loads the models and their states into the table.

        - `used`: the models in the settings, keyed by kind
        - `language`: the conversation language as a two-letter code, or "auto"
        - `chosen`: the key of the model to select in the table, if any
        """
        self._used, self._language = dict(used), language
        self.refresh(chosen)

    def show_machine(self, view: MachineView) -> None:
        """Applies the result of a machine check, which determines the front-ends that can be used."""
        self._machine = view
        self._shape()

    def refresh(self, chosen: str = "") -> None:
        """Reloads the table in the background. `chosen`: the key of the model to select, if any."""

        def show(views: Sequence[ModelView]) -> None:
            self.list.show_models(views, self._used)
            if chosen or self.list.chosen is None:
                self.list.choose(chosen or views[0].key)
            self._shape()

        models = self._controller.service.models
        self._background.run(self, LIST, lambda: asyncio.to_thread(models), show, self.said.setText)

    def _shape(self) -> None:
        """Updates the buttons and the description to match the selected model."""
        view, fetching = self.list.chosen, self._controller.busy
        working = self._background.busy(WORK)
        usable = view is not None and view.usable
        self.get_button.setEnabled(view is not None and not usable and not fetching)
        self.stop_button.setEnabled(fetching)
        self.use_button.setEnabled(view is not None and usable and self._can_use(view))
        self.auto_button.setEnabled(view is not None and bool(self._used.get(view.kind)))
        self.play_button.setEnabled(
            view is not None and usable and view.kind == "tts" and not self._background.busy(PLAY)
        )
        self.check_button.setEnabled(usable and not working)
        self.remove_button.setEnabled(
            view is not None
            and view.state in ("here", "incomplete")
            and not working
            and self._controller.fetching != view.key
        )
        self.bar.setVisible(fetching)
        self.words.say(self._about(view) if view is not None else "")

    def _can_use(self, view: ModelView) -> bool:
        """Returns whether the selected model or voice runs on this machine and supports the conversation language."""
        fits = self._machine.fits_of(view.key) if self._machine is not None else ()
        if view.kind not in USABLE_KINDS or (fits and not any(fit.fits for fit in fits)):
            return False
        voice = next((voice for voice in view.voices if voice.key == self.list.chosen_voice), None)
        languages = (voice.language,) if voice is not None else view.languages
        return view.kind == "llm" or self._language == "auto" or bool({"*", self._language}.intersection(languages))

    def _about(self, view: ModelView) -> str:
        note = f"{view.note[:1].upper()}{view.note[1:]}." if view.note else ""
        fits = self._machine.fits_of(view.key) if self._machine is not None else ()
        best = next((fit for fit in fits if fit.fits), fits[0] if fits else None)
        return " ".join(filter(None, (note, view.fits, best.sentence if best is not None else "")))

    # -- user actions

    def _get(self) -> None:
        if (view := self.list.chosen) is not None:
            self.said.setText("")
            self._controller.get(view.key)
            self.stop_button.setFocus()

    def _use(self) -> None:
        if (view := self.list.chosen) is not None:
            self._use_key(view.kind, self.list.chosen_voice or view.key)
            self.refresh()
            self._finish(self.tr("{0} is used from now on.").format(self.list.chosen_name))

    def _use_automatic(self) -> None:
        if (view := self.list.chosen) is not None:
            self._use_key(view.kind, "")
            self.refresh()
            self._finish(self.tr("The app chooses from now on."))

    def _use_key(self, kind: ModelKind, key: str) -> None:
        self._used[kind] = key
        self.use_wanted.emit(kind, key)

    def _play_sample(self) -> None:
        view, play = self.list.chosen, self._play
        if view is None or play is None:
            return
        self.said.setText(self.tr("Loading {0} …").format(self.list.chosen_name))
        voice = self.list.chosen_voice or view.key

        async def sample() -> None:
            sound = await asyncio.to_thread(self._controller.service.sample, voice)
            self.said.setText("")
            await play(sound)

        self._background.run(self, PLAY, sample, lambda _: self._finish(""), self._finish)
        self._shape()

    def _check(self) -> None:
        if (view := self.list.chosen) is not None:
            self.said.setText(self.tr("Reading all of {0} …").format(view.label))
            self._work(self._controller.service.check, view, self._refresh_and_say)

    def _remove(self) -> None:
        view = self.list.chosen
        if view is None:
            return

        def removed(sentence: str) -> None:
            if self._used.get(view.kind, "").partition("/")[0] == view.key:
                self._use_key(view.kind, "")  # so that no conversation tries to load the removed model
            self._refresh_and_say(sentence)

        self.said.setText("")
        self._work(self._controller.service.remove, view, removed)

    def _work(self, action: Callable[[str], str], view: ModelView, done: Callable[[str], None]) -> None:
        """Runs `action` on a model in a thread and passes the resulting message to `done`."""
        self._background.run(self, WORK, lambda: asyncio.to_thread(action, view.key), done, self._refresh_and_say)
        self._shape()

    # -- results

    def _progressed(self, words: str, share: float) -> None:
        set_share(self.bar, share)
        view = self.list.views.get(self._controller.fetching)
        self.said.setText(f"{view.label}: {words}" if view is not None else words)

    def _arrived(self, key: str) -> None:
        view = self.list.views.get(key)
        self._refresh_and_say(self.tr("{0} is on this machine.").format(view.label if view is not None else key))

    def _refresh_and_say(self, sentence: str) -> None:
        self.refresh()
        self._finish(sentence)

    def _finish(self, sentence: str) -> None:
        self.said.setText(sentence)
        self._shape()

    # -- construction

    def _lay_out(self) -> None:
        buttons = row(
            self.get_button,
            self.stop_button,
            self.play_button,
            self.use_button,
            self.auto_button,
            self.check_button,
            self.remove_button,
            None,
        )
        column((self.list, 1), self.words, self.said, self.bar, buttons, within=self)

    def _connect(self) -> None:
        controller = self._controller
        self.list.currentItemChanged.connect(lambda *_: self._shape())
        self.play_button.clicked.connect(self._play_sample)
        self.auto_button.clicked.connect(self._use_automatic)
        controller.started.connect(lambda _: self._shape())
        controller.progressed.connect(self._progressed)
        controller.arrived.connect(self._arrived)
        controller.failed.connect(self._refresh_and_say)
