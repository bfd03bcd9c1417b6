"""The dialog “Models”: what is here, how fast and how good it is; to download, use, check and remove."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from app.gui.models.model_table import USABLE_KINDS, ModelTable
from app.gui.models.models_controller import ModelsController
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import StatusLine, progress_bar, row, set_share
from app.gui.widgets.panel import Panel, Quiet
from app.services.model_service import ModelKind, ModelView

LIST, WORK, PLAY = "models: list", "models: check or remove", "models: play a sample"


class ModelsPanel(Panel):
    """`use_wanted` emits a kind, and the key of a model or voice to use for it. `play` plays float32 mono at 24 kHz;
    None: samples of voices can't be played.
    """

    use_wanted = Signal(str, str)

    def __init__(
        self,
        controller: ModelsController,
        background: BackgroundTasks,
        parent: QWidget,
        *,
        play: Callable[[np.ndarray], Awaitable[None]] | None = None,
    ) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Models"))
        self._controller = controller
        self._background = background
        self._play = play
        self._used: dict[str, str] = {}
        self._language = "auto"
        self.list = ModelTable(self)
        self.words = StatusLine(self.tr("About the chosen model"), self)
        self.said = Quiet(parent=self, selectable=True)
        self.said.setAccessibleName(self.tr("What happened"))
        self.bar = progress_bar(self.tr("Download of a model"), self)
        self.bar.setTextVisible(False)
        self.get_button = self.button(self.tr("&Download"), self.tr("Download the chosen model"))
        self.stop_button = self.button(self.tr("&Stop"), self.tr("Stop the download"))
        self.play_button = self.button(self.tr("P&lay"), self.tr("Play a sample of the chosen voice"))
        self.play_button.setVisible(play is not None)
        self.use_button = self.button(self.tr("&Use"), self.tr("Use the chosen model"))
        self.auto_button = self.button(self.tr("&Automatic"), self.tr("Let the app choose a model of this kind"))
        self.check_button = self.button(self.tr("C&heck"), self.tr("Check the chosen model's files"))
        self.remove_button = self.button(self.tr("&Remove"), self.tr("Remove the chosen model"))
        self.close_button = self.button(self.tr("&Close"))
        self._lay_out()
        self._connect()
        self.resize(880, 560)
        self._shape()

    def open_refreshed(self, used: dict[str, str], language: str = "auto") -> None:
        """Opens with the present states. `used`: the models in the settings, by kind; `language`: of conversations, as
        two letters, or "auto".
        """
        self._used, self._language = dict(used), language
        self.appear()
        self.refresh()

    def refresh(self) -> None:
        models = self._controller.service.models
        self._background.run(self, LIST, lambda: asyncio.to_thread(models), self._show_models, self._say)

    def _show_models(self, views: Sequence[ModelView]) -> None:
        self.list.show_models(views, self._used)
        self._shape()

    def _shape(self) -> None:
        """Enables what can be done with the chosen model."""
        view, fetching = self.list.chosen, self._controller.busy
        working = self._background.busy(WORK)
        usable = view is not None and view.usable
        self.get_button.setEnabled(view is not None and not usable and not fetching)
        self.stop_button.setEnabled(fetching)
        self.use_button.setEnabled(
            view is not None and usable and view.kind in USABLE_KINDS and self._knows_language(view)
        )
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
        about = ""
        if view is not None:
            note = f"{view.note[:1].upper()}{view.note[1:]}." if view.note else ""
            about = " ".join(filter(None, (note, view.fits)))
        self.words.say(about)

    def _knows_language(self, view: ModelView) -> bool:
        """Whether the chosen model or voice knows the language of conversations."""
        voice = next((voice for voice in view.voices if voice.key == self.list.chosen_voice), None)
        languages = (voice.language,) if voice is not None else view.languages
        return view.kind == "llm" or self._language == "auto" or bool({"*", self._language}.intersection(languages))

    # -- what the user does

    def _get(self) -> None:
        if (view := self.list.chosen) is not None:
            self._say("")
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
        self._say(self.tr("Loading {0} …").format(self.list.chosen_name))
        voice = self.list.chosen_voice or view.key

        async def sample() -> None:
            sound = await asyncio.to_thread(self._controller.service.sample, voice)
            self._say("")
            await play(sound)

        self._background.run(self, PLAY, sample, lambda _: self._finish(""), self._finish)
        self._shape()

    def _check(self) -> None:
        if (view := self.list.chosen) is not None:
            self._say(self.tr("Reading all of {0} …").format(view.label))
            self._work(self._controller.service.check, view, self._refresh_and_say)

    def _remove(self) -> None:
        view = self.list.chosen
        if view is None:
            return

        def removed(sentence: str) -> None:
            if self._used.get(view.kind, "").partition("/")[0] == view.key:
                self._use_key(view.kind, "")  # a conversation must not look for it
            self._refresh_and_say(sentence)

        self._say("")
        self._work(self._controller.service.remove, view, removed)

    def _work(self, action: Callable[[str], str], view: ModelView, done: Callable[[str], None]) -> None:
        """Runs an action on a model on a thread; `done` gets its sentence."""
        self._background.run(self, WORK, lambda: asyncio.to_thread(action, view.key), done, self._refresh_and_say)
        self._shape()

    # -- what happens

    def _progressed(self, words: str, share: float) -> None:
        set_share(self.bar, share)
        view = self.list.views.get(self._controller.fetching)
        self._say(f"{view.label}: {words}" if view is not None else words)

    def _arrived(self, key: str) -> None:
        view = self.list.views.get(key)
        self._refresh_and_say(self.tr("{0} is on this machine.").format(view.label if view is not None else key))

    def _refresh_and_say(self, sentence: str) -> None:
        self.refresh()
        self._finish(sentence)

    def _finish(self, sentence: str) -> None:
        self._say(sentence)
        self._shape()

    def _say(self, sentence: str) -> None:
        self.said.setText(sentence)

    # -- building

    def _lay_out(self) -> None:
        lead = self.tr(
            "Everything here runs on this machine. Speed is measured once, on this machine. Facts: how many of 120 "
            "short questions it answers correctly."
        )
        self.column.addWidget(Quiet(lead, self))
        self.column.addWidget(self.list, 1)
        self.column.addWidget(self.words)
        self.column.addWidget(self.said)
        self.column.addWidget(self.bar)
        buttons = row(
            self.get_button,
            self.stop_button,
            self.play_button,
            self.use_button,
            self.auto_button,
            self.check_button,
            self.remove_button,
            None,
            self.close_button,
        )
        self.column.addLayout(buttons)

    def _connect(self) -> None:
        controller = self._controller
        self.list.currentItemChanged.connect(lambda *_: self._shape())
        self.get_button.clicked.connect(self._get)
        self.stop_button.clicked.connect(controller.stop)
        self.play_button.clicked.connect(self._play_sample)
        self.use_button.clicked.connect(self._use)
        self.auto_button.clicked.connect(self._use_automatic)
        self.check_button.clicked.connect(self._check)
        self.remove_button.clicked.connect(self._remove)
        self.close_button.clicked.connect(self.close)
        controller.started.connect(lambda _: self._shape())
        controller.progressed.connect(self._progressed)
        controller.arrived.connect(self._arrived)
        controller.failed.connect(self._refresh_and_say)
