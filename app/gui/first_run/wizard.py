"""The dialog “Set up KAME”: checks the machine, offers what fits it, tests the microphone, and ends in a conversation.

It is open over the window, where a session goes on. It changes no setting itself, and can be left at any time; what
was not chosen stays as it was.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFont, QKeyEvent
from PySide6.QtWidgets import QPushButton, QStackedWidget, QWidget

from app.gui.backends.model_lists import ModelLists
from app.gui.design.plain import PlainLabel
from app.gui.first_run.cards.download_strip import DownloadStrip
from app.gui.first_run.frontend_request import FrontEndRequest
from app.gui.first_run.machine_page import MachinePage
from app.gui.first_run.model_page import ModelPage
from app.gui.first_run.page import Page, Scroller
from app.gui.first_run.services import FirstRunServices
from app.gui.first_run.signs import Steps
from app.gui.first_run.sound_page import SoundPage
from app.gui.first_run.talk_page import TalkPage
from app.gui.first_run.voice_page import VoicePage
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import WindowChoices, backend_choice
from app.gui.widgets.form import row
from app.gui.widgets.panel import Panel, Quiet
from app.services.machine_service import MachineView
from app.settings.declarations import Settings

WIDTH_PX, HEIGHT_PX = 660, 560
WIDE_LINES, HIGH_LINES = 44, 36
"""The same for large letters, in heights of a line."""
TITLE_PX = 40
"""Room for the frame that the system draws around it."""


class FirstRun(Panel):
    """Emits exactly one of `completed` and `skipped` each time that it closes."""

    frontend_chosen = Signal(str, str)
    """A front-end whose weights are here, and its precision; empty where it has none."""
    frontend_arrived = Signal(str, str)
    """The same for one that was downloaded after the first run was closed: the user should be asked before it is used,
    since a session may be running."""
    backend_chosen = Signal(object)
    """A `BackendChoice`."""
    devices_chosen = Signal(str, str)
    """Microphone and loudspeaker by name; empty for the system's default."""
    testing = Signal(bool)
    """Whether a device is being tested; meanwhile the session should ignore the microphone."""
    completed = Signal()
    """The user wants to talk now."""
    skipped = Signal()

    def __init__(
        self,
        settings: Settings,
        services: FirstRunServices,
        choices: WindowChoices,
        lists: ModelLists,
        background: BackgroundTasks,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Set up KAME"))
        self._settings = settings
        self._again = self._over = False
        self.machine = MachinePage(services.machine, services.graphics, background, self)
        self.voice = VoicePage(choices.frontends, self)
        self.backend = ModelPage(settings, lists, services.backend, services.models, background, self)
        self.sound = SoundPage(services.sound, services.list_devices, background, self)
        self.talk = TalkPage(self)
        self.pages: tuple[Page, ...] = (self.machine, self.voice, self.backend, self.sound, self.talk)
        names = (self.tr("Machine"), self.tr("Voice"), self.tr("Model"), self.tr("Sound"), self.tr("Talk"))
        self.steps = Steps(names, self)
        self.title = PlainLabel(parent=self)
        self.subtitle = Quiet(parent=self)
        self.stack = QStackedWidget(self)
        self._scrollers = [Scroller(page, self.stack) for page in self.pages]
        for scroller in self._scrollers:
            self.stack.addWidget(scroller)
        self.download = DownloadStrip(services.weights, self)
        self._frontend = FrontEndRequest(settings, self.download, self)
        self.skip_button = self.button("")
        self.back_button = self.button(self.tr("&Back"))
        self.next_button = self.button("")
        self._lay_out()
        self._connect()

    @property
    def here(self) -> int:
        """The number of the page that is shown, from 0."""
        return self.stack.currentIndex()

    def open_refreshed(self, page: str = "", *, again: bool = False) -> None:
        """Opens at a page ("machine", the first one, "voice", "model" or "sound"), and checks the machine. `again`: the
        present choices are kept.
        """
        place = ("machine", "voice", "model", "sound").index(page or "machine")
        if not self.isVisible():
            settings = self._settings
            self._again, self._over = again, False
            self.voice.begin(settings.frontend, settings.precision, keep=again)
            self.backend.begin(backend_choice(settings), keep=again)
            self.sound.begin(settings.microphone, settings.loudspeaker)
            self._turn_to(place)
            self.machine.check()
            self._centre()
        elif page:
            self._turn_to(place)
        self.appear()
        if not page:
            self.next_button.setFocus()

    def leave_for_now(self) -> None:
        """Closes with the window, without emitting `skipped`."""
        self._over = True
        self.close()

    def set_devices(self, microphones: list[str], loudspeakers: list[str]) -> None:
        self.sound.set_devices(microphones, loudspeakers)
        if self.pages[self.here] is self.talk:
            self._sum_up()
            self._name_page()

    def show_level(self, user_dbfs: float, assistant_dbfs: float, at: float, clipped: bool = False) -> None:
        """Shows the levels of the session's sound, in dBFS, at session time `at`."""
        if self.isVisible():
            self.sound.show_level(user_dbfs, assistant_dbfs, at, clipped)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter presses the button that has the focus, or else the one that goes on."""
        focus = self.focusWidget()
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and isinstance(focus, QPushButton):
            focus.click()
        else:
            super().keyPressEvent(event)

    def _centre(self) -> None:
        """Puts it over the middle of its window, as far as it is on the screen."""
        frame, window = self.frameGeometry(), self.parentWidget()
        if window is not None:
            frame.moveCenter(window.window().frameGeometry().center())
        room = self.screen().availableGeometry()
        left = min(max(frame.left(), room.left()), max(room.left(), room.right() - frame.width()))
        top = min(max(frame.top(), room.top()), max(room.top(), room.bottom() - frame.height()))
        self.move(left, top)

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
        self._name_page()
        self.back_button.setEnabled(place > 0)
        self.skip_button.setVisible(page is not self.talk)
        self._scrollers[place].verticalScrollBar().setValue(0)
        (page.arrive() or self.next_button).setFocus()

    def _name_page(self) -> None:
        page = self.pages[self.here]
        self.title.setText(page.title)
        self.subtitle.setText(page.words)
        self._scrollers[self.here].setAccessibleName(page.title)
        start = self.tr("&Start talking") if self.talk.has_microphone else self.tr("&Start typing")
        for button, text in (
            (self.next_button, start if page is self.talk else self.tr("&Next")),
            (self.skip_button, self.tr("&Close") if self._again else self.tr("S&kip, use what fits")),
        ):
            button.setText(text)
            button.setAccessibleName(text.replace("&", ""))

    def _next(self) -> None:
        page = self.pages[self.here]
        if page.may_leave():
            self._go_on_from(page)

    def _go_on_from(self, page: Page) -> None:
        if not self.isVisible() or page is not self.pages[self.here]:
            return  # the user has left the page while it was busy
        if page is self.voice and (self.voice.touched or not self._again):
            self.voice.touched = True  # a later check of the machine chooses no other one
            self._frontend.request(self.voice.key, self.voice.precision)
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
        """Uses what fits, as far as it is known and here; downloads nothing."""
        view = self.machine.view
        if not self._again and view is not None:
            self._frontend.request(view.frontend, view.precision)
            self.backend.choose(view.backend)
            self._use_backend()
        self.close()

    def _leave(self) -> None:
        self.machine.stop()
        self.pages[self.here].depart()
        getting = self.download.getting
        if not self._frontend.waiting_for and getting in self.voice.cards:
            fit = self.voice.cards[getting].fit
            self._frontend.wait(getting, fit.precision if fit is not None else "")
        if not self._over:
            self._over = True
            self.skipped.emit()

    # -- what was chosen and found

    def _use_backend(self) -> None:
        choice = self.backend.choice
        if choice != backend_choice(self._settings):
            self.backend_chosen.emit(choice)

    def _on_frontend(self, key: str, precision: str) -> None:
        (self.frontend_chosen if self.isVisible() else self.frontend_arrived).emit(key, precision)

    def _on_weights(self) -> None:
        if self.pages[self.here] is self.talk:
            self._sum_up()

    def _found(self, view: MachineView) -> None:
        self.voice.show_machine(view)
        self.backend.show_machine(view)
        self._offer_download()

    def _not_found(self) -> None:
        self.voice.show_no_machine()
        self.backend.show_no_machine()

    def _offer_download(self) -> None:
        fit = self.voice.cards[self.voice.key].fit
        self.download.offers = self.pages[self.here] in (self.voice, self.talk)
        if fit is None or not fit.fits:
            self.download.turn_to("", "", 0)
        else:
            label = self.voice.cards[fit.frontend].button.text()
            self.download.turn_to(fit.frontend, label, fit.download_bytes)

    def _sum_up(self) -> None:
        settings = self._settings
        voice = self.voice.name
        if waiting := self._frontend.waiting_for:
            words = self.tr("The embedded voice, until the weights of {0} are here.")
            voice = words.format(self.voice.cards[waiting].button.text())
        self.talk.show_choice(voice, self.backend.name, self.sound.name)
        self.talk.show_keys(settings.talk_mode, settings.talk_hotkey, settings.duplex)

    # -- building

    def _lay_out(self) -> None:
        font = self.title.font()
        font.setPointSizeF(font.pointSizeF() * 1.45)
        font.setWeight(QFont.Weight.DemiBold)
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
        self.next_button.setDefault(True)
        self.column.addLayout(row(self.skip_button, None, self.back_button, self.next_button))
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
        self._frontend.ready.connect(self.frontend_chosen)
        self._frontend.arrived.connect(self._on_frontend)
        self.download.arrived.connect(self._on_weights)
        self.next_button.clicked.connect(self._next)
        self.back_button.clicked.connect(self._back)
        self.skip_button.clicked.connect(self._skip)
        self.left.connect(self._leave)
