"""The first run: looks at the machine, offers what fits, tries the microphone, and ends in a talk.

Stands beside the window, whose talk on the embedded default goes on meanwhile. Says what the user chose and writes no
setting; can be left at any time, and what was not chosen stays as it was.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QStackedWidget, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.first_run.download_strip import DownloadStrip
from app.gui.first_run.machine_page import MachinePage
from app.gui.first_run.model_page import ModelPage
from app.gui.first_run.parts import Page, Scroller
from app.gui.first_run.signs import Steps
from app.gui.first_run.sound_page import SoundPage
from app.gui.first_run.talk_page import TalkPage
from app.gui.first_run.voice_page import VoicePage
from app.gui.models.graphics_controller import GraphicsController
from app.gui.models.models_controller import ModelsController
from app.gui.models.weights_controller import WeightsController
from app.gui.sound.controller import DeviceLister
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import WindowChoices, backend_choice
from app.gui.widgets.panel import Panel, Quiet
from app.services.backend_service import BackendService
from app.services.machine_service import FrontEndFit, MachineService, MachineView
from app.services.sound_service import SoundTestService
from app.settings.declarations import Settings

WIDTH_PX, HEIGHT_PX = 660, 560
WIDE_LINES, HIGH_LINES = 44, 36
"""The same for large letters, in heights of a line."""
TITLE_PX = 40
"""Room for the frame that the system puts around it."""


class FirstRun(Panel):
    """Exactly one of `completed` and `skipped` is said each time that it goes away."""

    frontend_chosen = Signal(str, str)
    """A front-end whose weights are here, and its precision; empty where it has none."""
    frontend_arrived = Signal(str, str)
    """The same for one that was chosen and had to be downloaded first, and now is here, with nobody watching: a talk
    may be going on, so the user should be asked."""
    backend_chosen = Signal(object)
    """A `BackendChoice`."""
    devices_chosen = Signal(str, str)
    """Microphone and loudspeaker by name; empty for the system's default."""
    testing = Signal(bool)
    """A device is being tried out, or no longer: meanwhile the talk should hear nothing."""
    completed = Signal()
    """The user wants to talk now."""
    skipped = Signal()

    def __init__(
        self,
        settings: Settings,
        machine: MachineService,
        choices: WindowChoices,
        lists: ModelLists,
        background: BackgroundTasks,
        parent: QWidget,
        *,
        list_devices: DeviceLister,
        weights: WeightsController | None = None,
        graphics: GraphicsController | None = None,
        service: BackendService | None = None,
        sound_service: SoundTestService | None = None,
        models: ModelsController | None = None,
    ) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Set up KAME"))
        self._settings = settings
        self._again = self._over = False
        self._waiting: tuple[str, str] | None = None
        """The front-end that was chosen, and is to be used once its weights are here."""
        self.machine = MachinePage(machine, background, self, graphics=graphics)
        self.voice = VoicePage(choices.frontends, self)
        self.backend = ModelPage(settings, lists, service, background, self, models=models)
        self.sound = SoundPage(sound_service, list_devices, background, self)
        self.talk = TalkPage(self)
        self.pages: tuple[Page, ...] = (self.machine, self.voice, self.backend, self.sound, self.talk)
        names = (self.tr("Machine"), self.tr("Voice"), self.tr("Brain"), self.tr("Sound"), self.tr("Talk"))
        self.steps = Steps(names, self)
        self.title = QLabel(self)
        self.subtitle = Quiet(parent=self)
        self.stack = QStackedWidget(self)
        for page in self.pages:
            self.stack.addWidget(Scroller(page, self.stack))
        self.download = DownloadStrip(weights, self)
        self.skip_button = self.button("")
        self.back_button = self.button(self.tr("&Back"))
        self.next_button = self.button("")
        self._lay_out()
        self._connect()

    @property
    def here(self) -> int:
        """The number of the page that is shown, from 0."""
        return self.stack.currentIndex()

    def open_afresh(self, *, again: bool = False) -> None:
        """Appears with its first page, and looks at the machine. `again`: there are choices to be kept already."""
        if not self.isVisible():
            settings = self._settings
            self._again, self._over = again, False
            self.voice.begin(settings.frontend, settings.precision, keep=again)
            self.backend.begin(backend_choice(settings), keep=again)
            self.sound.begin(settings.microphone, settings.loudspeaker)
            self._turn_to(0)
            self.machine.look()
        self.appear()
        self.next_button.setFocus()

    def leave_for_now(self) -> None:
        """Closes with the window: nothing was chosen, and it is shown again at the next start."""
        self._over = True
        self.close()

    def set_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        """Offers the devices that there are now."""
        self.sound.set_devices(microphones, loudspeakers)

    def show_level(self, user_dbfs: float, assistant_dbfs: float, at: float, clipped: bool = False) -> None:
        """Shows the levels of the talk's sound, in dBFS, at session time `at`."""
        if self.isVisible():
            self.sound.show_level(user_dbfs, assistant_dbfs, at, clipped)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the keyboard, and else the one that goes on."""
        focus = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focus, QPushButton):
            focus.click()
        else:
            super().keyPressEvent(event)

    # -- from page to page

    def _turn_to(self, place: int) -> None:
        if place != self.here:
            self.pages[self.here].depart()
        self.stack.setCurrentIndex(place)
        page = self.pages[place]
        if page is self.talk:
            self._sum_up()
        self._offer_download()
        self.steps.show_step(place)
        self.title.setText(page.title)
        self.subtitle.setText(page.words)
        self.back_button.setEnabled(place > 0)
        last = place == len(self.pages) - 1
        for button, text in (
            (self.next_button, self.tr("&Start talking") if last else self.tr("&Next")),
            (self.skip_button, self.tr("&Close") if self._again else self.tr("S&kip, use what fits")),
        ):
            button.setText(text)
            button.setAccessibleName(text.replace("&", ""))
        self.skip_button.setVisible(not last)
        self.stack.currentWidget().verticalScrollBar().setValue(0)
        (page.arrive() or self.next_button).setFocus()

    def _next(self) -> None:
        page = self.pages[self.here]
        if page.may_leave():
            self._go_on_from(page)

    def _go_on_from(self, page: Page) -> None:
        if not self.isVisible() or page is not self.pages[self.here]:
            return  # what it waited for came too late
        if page is self.voice and (self.voice.touched or not self._again):
            self.voice.touched = True  # what is found out later chooses no other one
            self._use_voice(self.voice.key, self.voice.precision)
        elif page is self.backend and (self.backend.touched or not self._again):
            self.backend.touched = True
            self._use_backend()
        elif page is self.talk:
            self._over = True
            self.close()
            self.completed.emit()
            return
        self._turn_to(self.here + 1)

    def _back(self) -> None:
        if self.here > 0:
            self._turn_to(self.here - 1)

    def _skip(self) -> None:
        """Takes what fits, as far as it is known and here; downloads nothing unasked."""
        view = self.machine.view
        if not self._again and view is not None:
            self._use_voice(view.frontend, view.precision)
            self.backend.choose(view.backend)
            self._use_backend()
        self.close()

    def _leave(self) -> None:
        self.machine.stop()
        self.pages[self.here].depart()
        if self._waiting is None and (getting := self.download.getting) in self.voice.cards:
            fit = self.voice.cards[getting].fit
            self._waiting = (getting, fit.precision if fit is not None else "")
        if not self._over:
            self._over = True
            self.skipped.emit()

    # -- what is wanted

    def _use_voice(self, key: str, precision: str) -> None:
        self._waiting = None
        if self.download.missing(key):
            self._waiting = (key, precision)
        elif (key, precision or self._settings.precision) != (self._settings.frontend, self._settings.precision):
            self.frontend_chosen.emit(key, precision)

    def _use_backend(self) -> None:
        choice = self.backend.choice
        if choice != backend_choice(self._settings):
            self.backend_chosen.emit(choice)

    def _weights_here(self, frontend: str) -> None:
        if self._waiting is not None and self._waiting[0] == frontend:
            wanted, self._waiting = self._waiting, None
            (self.frontend_chosen if self.isVisible() else self.frontend_arrived).emit(*wanted)
        if self.pages[self.here] is self.talk:
            self._sum_up()

    # -- what is shown

    def _found(self, view: MachineView) -> None:
        self.voice.show_machine(view)
        self.backend.show_machine(view)
        self._offer_download()

    def _not_found(self) -> None:
        self.voice.show_no_machine()
        self.backend.show_no_machine()

    def _offer_download(self) -> None:
        page = self.pages[self.here]
        fit: FrontEndFit | None = self.voice.cards[self.voice.key].fit
        self.download.offers = page in (self.voice, self.talk)
        if fit is None or not fit.fits:
            self.download.turn_to("", "", 0)
        else:
            label = self.voice.cards[fit.frontend].button.text()
            self.download.turn_to(fit.frontend, label, fit.download_bytes)

    def _sum_up(self) -> None:
        settings = self._settings
        voice = self.voice.name
        if self._waiting is not None:
            words = self.tr("The embedded voice, until the weights of {0} are here.")
            voice = words.format(self.voice.cards[self._waiting[0]].button.text())
        self.talk.show_choice(voice, self.backend.name, self.sound.name)
        self.talk.show_keys(settings.talk_mode, settings.talk_hotkey, settings.duplex)

    # -- inner parts

    def _lay_out(self) -> None:
        font = self.title.font()
        font.setPointSizeF(font.pointSizeF() * 1.45)
        font.setBold(True)
        self.title.setFont(font)
        self.title.setAccessibleName(self.tr("Page"))
        self.column.setContentsMargins(22, 18, 22, 16)
        self.column.addWidget(self.steps)
        self.column.addSpacing(8)
        self.column.addWidget(self.title)
        self.column.addWidget(self.subtitle)
        self.column.addSpacing(4)
        self.column.addWidget(self.stack, 1)
        self.column.addWidget(self.download)
        row = QHBoxLayout()
        row.addWidget(self.skip_button)
        row.addStretch(1)
        row.addWidget(self.back_button)
        row.addWidget(self.next_button)
        self.next_button.setDefault(True)
        self.column.addLayout(row)
        for before, after in ((self.next_button, self.back_button), (self.back_button, self.skip_button)):
            self.setTabOrder(before, after)
        self.setMinimumSize(560, 420)
        room, line = self.screen().availableSize(), self.fontMetrics().height()
        self.resize(
            min(max(WIDTH_PX, WIDE_LINES * line), room.width()),
            min(max(HEIGHT_PX, HIGH_LINES * line), room.height() - TITLE_PX),
        )

    def _connect(self) -> None:
        self.machine.found.connect(self._found)
        self.machine.failed.connect(self._not_found)
        self.voice.changed.connect(self._offer_download)
        for page in self.pages:
            page.ready.connect(partial(self._go_on_from, page))
        self.sound.picked.connect(self.devices_chosen)
        self.sound.testing.connect(self.testing)
        self.download.arrived.connect(self._weights_here)
        self.next_button.clicked.connect(self._next)
        self.back_button.clicked.connect(self._back)
        self.skip_button.clicked.connect(self._skip)
        self.left.connect(self._leave)
