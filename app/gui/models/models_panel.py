"""The page of models: what there is, what is here, how fast and how good it is; get, use, check, remove."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHBoxLayout,
    QHeaderView,
    QProgressBar,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from app.gui.models.models_controller import ModelsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.panel import Panel, Quiet
from app.services.model_service import ModelKind, ModelView

LIST, WORK, HEAR = "models: list", "models: work", "models: hear"
KEY = Qt.ItemDataRole.UserRole
VOICE = Qt.ItemDataRole.UserRole + 1
USABLE_KINDS: tuple[ModelKind, ...] = ("llm", "stt", "tts")
"""Kinds of which the user chooses one here; front-ends are chosen above the talk."""


class ModelsPanel(Panel):
    """Lists all models by kind. `use_wanted` tells the kind and key of a model, or of one of its voices, that talks
    are to use from now on. `play`: plays sound, float32 mono 24 kHz; None: samples of voices can't be heard.
    """

    use_wanted = Signal(str, str)

    def __init__(
        self,
        manager: ModelsController,
        background: BackgroundTasks,
        parent: QWidget,
        *,
        play: Callable[[np.ndarray], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Models"))
        self._manager = manager
        self._errands = background
        self._play = play
        self._views: dict[str, ModelView] = {}
        self._used: dict[str, str] = {}
        self._language = "auto"
        self.column.addWidget(
            Quiet(
                self.tr(
                    "Everything here runs on this machine. Speed is measured here, once; facts are 120 short questions "
                    "with one right answer, asked on our own bench."
                ),
                self,
            )
        )
        self.list = QTreeWidget(self)
        self.list.setAccessibleName(self.tr("Models"))
        self.list.setHeaderLabels(
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
        self.list.setRootIsDecorated(False)
        self.list.setAllColumnsShowFocus(True)
        self.list.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.list.header().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        self.list.currentItemChanged.connect(lambda *_: self._shape())
        self.column.addWidget(self.list, 1)
        self.words = Quiet(parent=self, selectable=True)
        self.words.setAccessibleName(self.tr("About the chosen model"))
        self.column.addWidget(self.words)
        self.said = Quiet(parent=self, selectable=True)
        self.said.setAccessibleName(self.tr("What happened"))
        self.column.addWidget(self.said)
        self.bar = QProgressBar(self)
        self.bar.setAccessibleName(self.tr("Download of a model"))
        self.bar.setRange(0, 1000)
        self.bar.setTextVisible(False)
        self.bar.hide()
        self.column.addWidget(self.bar)
        self.get_button = self.button(self.tr("&Get"), self.tr("Get the chosen model"))
        self.stop_button = self.button(self.tr("&Stop"), self.tr("Stop the download"))
        self.hear_button = self.button(self.tr("&Hear"), self.tr("Hear a sample of the chosen voice"))
        self.hear_button.setVisible(play is not None)
        self.use_button = self.button(self.tr("&Use"), self.tr("Use the chosen model"))
        self.auto_button = self.button(self.tr("&Automatic"), self.tr("Leave the choice of such a model to the app"))
        self.check_button = self.button(self.tr("C&heck"), self.tr("Check the chosen model's files"))
        self.remove_button = self.button(self.tr("&Remove"), self.tr("Remove the chosen model"))
        self.close_button = self.button(self.tr("&Close"))
        row = QHBoxLayout()
        for button in (
            self.get_button,
            self.stop_button,
            self.hear_button,
            self.use_button,
            self.auto_button,
            self.check_button,
            self.remove_button,
        ):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(self.close_button)
        self.column.addLayout(row)
        self.get_button.clicked.connect(self._get)
        self.stop_button.clicked.connect(manager.stop)
        self.hear_button.clicked.connect(self._hear)
        self.use_button.clicked.connect(self._use)
        self.auto_button.clicked.connect(self._leave_to_app)
        self.check_button.clicked.connect(lambda: self._work("check"))
        self.remove_button.clicked.connect(lambda: self._work("remove"))
        self.close_button.clicked.connect(self.close)
        manager.began.connect(lambda _: self._shape())
        manager.progressed.connect(self._progressed)
        manager.arrived.connect(self._arrived)
        manager.failed.connect(self._failed)
        self.resize(880, 560)
        self._shape()

    def open_afresh(self, used: dict[str, str], language: str = "auto") -> None:
        """Appears with the present states. `used`: the models that the settings name, by kind; `language`: of talks, by
        its two letters, or "auto".
        """
        self._used, self._language = dict(used), language
        self.appear()
        self.look()

    def look(self) -> None:
        """Reads the states anew."""
        self._errands.run(LIST, lambda: asyncio.to_thread(self._manager.service.models), self.show_models, self._say)

    def show_models(self, views: Sequence[ModelView]) -> None:
        """Fills the list; what was chosen stays chosen."""
        chosen, voice = self.chosen, self._chosen_voice
        self._views = {view.key: view for view in views}
        titles = {
            "frontend": self.tr("Front-ends for a graphics card"),
            "stt": self.tr("Speech recognition"),
            "endpointing": self.tr("End of turn"),
            "llm": self.tr("Language models"),
            "tts": self.tr("Voices"),
        }
        self.list.clear()
        for kind in ("llm", "stt", "tts", "endpointing", "frontend"):
            group = QTreeWidgetItem([titles[kind]])
            group.setFlags(Qt.ItemFlag.ItemIsEnabled)
            font = group.font(0)
            font.setBold(True)
            group.setFont(0, font)
            self.list.addTopLevelItem(group)
            for view in views:
                if view.kind == kind:
                    group.addChild(self._row(view))
            group.setFirstColumnSpanned(True)
            group.setExpanded(True)
        if chosen is not None:
            self._choose(chosen.key, voice)
        self._shape()

    @property
    def chosen(self) -> ModelView | None:
        """The model that the buttons are for."""
        item = self.list.currentItem()
        return self._views.get(item.data(0, KEY)) if item is not None else None

    @property
    def _chosen_voice(self) -> str:
        """The key of the voice whose row is chosen, below its model's; empty: another row is."""
        item = self.list.currentItem()
        return str(item.data(0, VOICE) or "") if item is not None else ""

    def _choose(self, key: str, voice: str = "") -> None:
        for item in self._items():
            if item.data(0, KEY) == key and str(item.data(0, VOICE) or "") in ("", voice):
                self.list.setCurrentItem(item)

    def _items(self) -> Iterator[QTreeWidgetItem]:
        """The rows of models, each followed by those of its voices."""
        for group in range(self.list.topLevelItemCount()):
            parent = self.list.topLevelItem(group)
            for place in range(parent.childCount()):
                model = parent.child(place)
                yield model
                yield from (model.child(number) for number in range(model.childCount()))

    def _row(self, view: ModelView) -> QTreeWidgetItem:
        states = {
            "here": self.tr("here"),
            "installed": self.tr("here, with the app"),
            "incomplete": self.tr("partly here"),
            "absent": "",
        }
        chosen = self._used.get(view.kind, "")
        model = chosen.partition("/")[0] if view.kind == "tts" else chosen
        used = view.usable and (view.key == model or (not chosen and view.default and view.kind in USABLE_KINDS))
        state = self.tr("in use") if used else states[view.state]
        languages = self.tr("many") if "*" in view.languages else " ".join(view.languages)
        facts = self.tr("{0} of 120").format(view.right) if view.right else ""
        size = self.tr("{0} GB").format(f"{view.bytes / 1e9:.2f}")
        item = QTreeWidgetItem([view.label, languages, size, state, view.speed, facts, view.licence])
        item.setData(0, KEY, view.key)
        item.setTextAlignment(2, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        for voice in view.voices:
            spoken = self.tr("in use") if view.usable and voice.key == chosen else ""
            row = QTreeWidgetItem([voice.label, voice.language, "", spoken])
            row.setData(0, KEY, view.key)
            row.setData(0, VOICE, voice.key)
            item.addChild(row)
        return item

    def _shape(self) -> None:
        view, busy = self.chosen, self._manager.busy
        working = self._errands.busy(WORK)
        self.get_button.setEnabled(view is not None and not view.usable and not busy)
        self.stop_button.setEnabled(busy)
        self.use_button.setEnabled(
            view is not None and view.usable and view.kind in USABLE_KINDS and self._speaks(view)
        )
        self.auto_button.setEnabled(view is not None and bool(self._used.get(view.kind)))
        self.hear_button.setEnabled(
            view is not None and view.usable and view.kind == "tts" and not self._errands.busy(HEAR)
        )
        self.check_button.setEnabled(view is not None and view.usable and not working)
        self.remove_button.setEnabled(
            view is not None
            and view.state in ("here", "incomplete")
            and not working
            and self._manager.fetching != view.key
        )
        self.bar.setVisible(busy)
        about = " ".join(filter(None, (self._sentence(view.note), view.fits))) if view is not None else ""
        self.words.setText(about)
        self.words.setVisible(bool(about))

    def _speaks(self, view: ModelView) -> bool:
        """Whether what is chosen hears or speaks the language of talks."""
        voice = next((voice for voice in view.voices if voice.key == self._chosen_voice), None)
        languages = (voice.language,) if voice is not None else view.languages
        return view.kind == "llm" or self._language == "auto" or bool({"*", self._language}.intersection(languages))

    @staticmethod
    def _sentence(note: str) -> str:
        return f"{note[:1].upper()}{note[1:]}." if note else ""

    def _get(self) -> None:
        if (view := self.chosen) is not None:
            self._say("")
            self._manager.get(view.key)
            self.stop_button.setFocus()

    def _use(self) -> None:
        if (view := self.chosen) is not None:
            key = self._chosen_voice or view.key
            self._used[view.kind] = key
            self.use_wanted.emit(view.kind, key)
            self.look()
            self._say(self.tr("{0} is used from now on.").format(self.list.currentItem().text(0)))
            self._shape()

    def _leave_to_app(self) -> None:
        if (view := self.chosen) is not None:
            self._use_none(view.kind)
            self.look()
            self._say(self.tr("The app chooses from now on."))

    def _use_none(self, kind: ModelKind) -> None:
        self._used[kind] = ""
        self.use_wanted.emit(kind, "")

    def _hear(self) -> None:
        view = self.chosen
        if view is None or self._play is None:
            return
        self._say(self.tr("Loading {0} …").format(self.list.currentItem().text(0)))
        voice = self._chosen_voice or view.key
        self._errands.run(HEAR, lambda: self._play_sample(voice), lambda _: self._heard(""), self._heard)
        self._shape()

    async def _play_sample(self, voice: str) -> None:
        sound = await asyncio.to_thread(self._manager.service.sample, voice)
        self._say("")
        assert self._play is not None
        await self._play(sound)

    def _heard(self, trouble: str) -> None:
        self._say(trouble)
        self._shape()

    def _work(self, what: str) -> None:
        view = self.chosen
        if view is None:
            return
        service = self._manager.service
        act = service.check if what == "check" else service.remove
        self._say(self.tr("Reading all of {0} …").format(view.label) if what == "check" else "")
        done = self._worked if what == "check" else lambda sentence: self._removed(view, sentence)
        self._errands.run(WORK, lambda: asyncio.to_thread(act, view.key), done, self._worked)
        self._shape()

    def _removed(self, view: ModelView, sentence: str) -> None:
        """A model is gone: talks that were to use it are left to the app's choice."""
        if self._used.get(view.kind, "").partition("/")[0] == view.key:
            self._use_none(view.kind)
        self._worked(sentence)

    def _worked(self, sentence: str) -> None:
        self.look()
        self._shape()
        self._say(sentence)

    def _progressed(self, words: str, share: float) -> None:
        self.bar.setValue(round(max(0.0, share) * 1000))
        view = self._views.get(self._manager.fetching)
        self._say(f"{view.label}: {words}" if view is not None else words)

    def _arrived(self, key: str) -> None:
        self.look()
        self._shape()
        view = self._views.get(key)
        self._say(self.tr("{0} is here.").format(view.label if view is not None else key))

    def _failed(self, sentence: str) -> None:
        self.look()
        self._shape()
        self._say(sentence)

    def _say(self, sentence: str) -> None:
        self.said.setText(sentence)
