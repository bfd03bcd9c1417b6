"""The demo's window, optionally full screen, with three pages that share its keyboard shortcuts."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QFont, QHideEvent, QKeyEvent, QMouseEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QStackedWidget, QWidget

from app.demo.base import SIDES, DemoResult, Side
from app.gui.demo.figures_page import FiguresPage, save
from app.gui.demo.fitted_text import SMALL_SHARE, FittedText, ink, side_ink
from app.gui.demo.side_view import Lights
from app.gui.demo.stage_page import StagePage, Verdict
from app.gui.design.look import blend
from app.gui.design.motion import Glide, reduced_motion, timer
from app.gui.design.theme import tokens
from app.gui.hotkeys.push_to_talk import PushToTalk
from app.gui.shell.key_routing import KeyRouting
from app.gui.widgets.file_dialogs import ask_picture
from app.gui.widgets.form import column, row

BEAT_MS = 900
"""The duration of each step of the animation."""
LOOP: tuple[tuple[Side, tuple[bool, bool, bool]] | None, ...] = (
    None,
    ("cascade", (True, False, False)),
    ("cascade", (False, True, False)),
    ("cascade", (False, False, True)),
    None,
    ("tandem", (True, False, False)),
    ("tandem", (True, True, False)),
    ("tandem", (False, True, True)),
    ("tandem", (False, True, True)),
)
"""For each step of the animation, the highlighted side and which of its lights are on; None highlights neither side."""


class StartPage(QWidget):
    """The start page. Once the demo is ready, emits `start_wanted` on a click on the button or anywhere else."""

    start_wanted = Signal()
    leave_wanted = Signal()
    window_wanted = Signal()
    """Emitted when the user asks to switch between full screen and a normal window."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        verdict = Verdict(self)
        self.title = FittedText(self, weight=QFont.Weight.DemiBold)
        self.title.show_text(self.tr("KAME"))
        self.subtitle = FittedText(self, colour="dim")
        self.subtitle.show_text(self.tr("One question. One model. Who speaks first?"))
        self.words = {side: FittedText(self, weight=QFont.Weight.DemiBold) for side in SIDES}
        self.lights = {side: Lights(side, self) for side in SIDES}
        for side, word in self.words.items():
            word.show_text(verdict.name(side))
        self.status = FittedText(self, colour="dim", lines=2, share=SMALL_SHARE)
        self._bright = {side: Glide(lambda _: self._colour(), self, milliseconds=tokens().slow_ms) for side in SIDES}
        self.step = 0
        self._beat = timer(self, BEAT_MS, self._advance, repeats=True)
        self._lay_out()
        self._show_step()

    def _lay_out(self) -> None:
        self.start = QPushButton(self.tr("Start (Enter)"), self)
        self.start.setProperty("primary", True)
        self.start.clicked.connect(self.start_wanted)
        self.window_button = QPushButton(self.tr("Full screen or window (F11)"), self)
        self.leave = QPushButton(self.tr("Leave (Esc)"), self)
        for button, wanted in ((self.window_button, self.window_wanted), (self.leave, self.leave_wanted)):
            button.setProperty("flat", True)
            button.clicked.connect(wanted)
        unit = tokens().unit
        sides = [(column((self.words[side], 3), (self.lights[side], 2)), 1) for side in SIDES]
        pair = (row(*sides, spacing=8 * unit), 28)
        buttons = row(None, self.start, self.window_button, self.leave, None, spacing=2 * unit)
        titles = ((None, 8), (self.title, 26), (self.subtitle, 6), (None, 6))
        margins = (8 * unit, 6 * unit, 8 * unit, 6 * unit)
        column(*titles, pair, (None, 8), (self.status, 7), buttons, within=self, spacing=3 * unit, margins=margins)

    def show_status(self, text: str, *, ready: bool) -> None:
        """Shows the progress of the preparation, or why the demo can't start. `ready`: whether the demo can start."""
        self.status.show_text(text)
        if ready != self.start.isEnabled():
            self.start.setEnabled(ready)
            self.start.setFocus()

    # -- the loop

    def showEvent(self, event: QShowEvent) -> None:
        """Restarts the animation, unless reduced motion is on, and focuses the start button."""
        super().showEvent(event)
        self.step = 0
        self._show_step()
        if not reduced_motion():
            self._beat.start()
        self.start.setFocus()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stops the animation."""
        super().hideEvent(event)
        self._beat.stop()

    def _advance(self) -> None:
        self.step = (self.step + 1) % len(LOOP)
        self._show_step()

    def _show_step(self) -> None:
        now = LOOP[self.step]
        for side in SIDES:
            mine = now is not None and now[0] == side
            self._bright[side].go(1.0 if mine or reduced_motion() else 0.0)
            self.lights[side].show_lit(*(now[1] if mine and now is not None else (False, False, False)))
        self._colour()

    def _colour(self) -> None:
        for side, word in self.words.items():
            word.colour = blend(ink("dim"), side_ink(side), self._bright[side].value)
            word.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Starts the demo on a click anywhere."""
        if event.button() == Qt.MouseButton.LeftButton and self.start.isEnabled():
            self.start_wanted.emit()


WINDOW = QSize(1100, 720)
LEAST = QSize(720, 480)
_NEXT = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Right)


class DemoScreen(QWidget):
    """The demo's window. While `asking`, the space bar is the talk button (`push`), and digit keys select a model."""

    next_wanted = Signal()
    leave_wanted = Signal()
    model_wanted = Signal(int)
    """Emits the zero-based index of the selected model."""
    touched = Signal()
    """Emitted on each key press, as a sign that somebody is using the demo."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Window)
        self.setWindowTitle(self.tr("KAME demo"))
        self.setAccessibleName(self.windowTitle())
        self.setMinimumSize(LEAST)
        self.asking = False
        self.dialog: QFileDialog | None = None
        self.push = PushToTalk(self)
        self._routing = KeyRouting(self.push, self)
        self.start_page = StartPage(self)
        self.stage = StagePage(self)
        self.figures = FiguresPage(self)
        self.pages = QStackedWidget(self)
        for page in (self.start_page, self.stage, self.figures):
            self.pages.addWidget(page)
        column(self.pages, within=self)
        for wanted in (self.start_page.start_wanted, self.figures.again_wanted):
            wanted.connect(self.next_wanted)
        for wanted in (self.start_page.leave_wanted, self.figures.leave_wanted):
            wanted.connect(self.leave_wanted)
        self.start_page.window_wanted.connect(self.toggle_full)
        self.stage.talk.pressed.connect(lambda: self.push.hold("mouse"))
        self.stage.talk.released.connect(lambda: self.push.let_go("mouse"))
        self.stage.models.chosen.connect(self.model_wanted)
        self.figures.save_wanted.connect(self.choose_file)

    def appear(self, full: bool) -> None:
        """Shows the window, full screen if `full`, and brings it to the front."""
        self._show(full)
        self.raise_()
        self.activateWindow()

    def toggle_full(self) -> None:
        """Switches between full screen and a normal window."""
        self._show(not self.isFullScreen())

    def _show(self, full: bool) -> None:
        room = self.screen()
        if full:
            self.setGeometry(room.geometry())  # needed if there is no window manager
            self.showFullScreen()
        else:
            self.showNormal()
            self.resize(WINDOW.boundedTo(room.availableSize()))
            self.move(room.availableGeometry().center() - self.rect().center())

    def show_page(self, page: QWidget, *, asking: bool = False) -> None:
        """Shows `page`. `asking`: whether visitors can ask a question by holding the space bar."""
        self.asking = asking
        self.push.set_enabled(asking)
        if (handle := self.windowHandle()) is not None:
            handle.removeEventFilter(self._routing)
            if asking:
                self._routing.watch(handle)
        self.pages.setCurrentWidget(page)
        if page is self.stage:
            self.setFocus()

    def show_result(self, result: DemoResult) -> None:
        """Shows `result` on the last page."""
        self.figures.show_result(result)
        self.show_page(self.figures)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Scales the font of the buttons with the window. The other widgets scale theirs themselves."""
        super().resizeEvent(event)
        font = QApplication.font()
        font.setPointSizeF(font.pointSizeF() * max(1.0, self.height() / WINDOW.height()))
        for button in self.findChildren(QPushButton):
            button.setFont(font)

    # -- saving as an image

    def choose_file(self) -> None:
        """Opens a file dialog for saving the figures as an image."""
        if self.dialog is not None:
            self.dialog.raise_()
            return
        title, filter, name = self.tr("Save as picture"), self.tr("Images (*.png)"), self.tr("kame-demo.png")
        self.dialog = ask_picture(self, title, filter, name, lambda path: self.save(Path(path)))
        self.dialog.finished.connect(self._forget_dialog)

    def save(self, path: Path) -> bool:
        """Writes the figures to `path` as an image. Shows a message and returns False if that fails."""
        try:
            save(self.figures.body.result, path)
        except OSError as error:
            self.figures.show_trouble(self.tr("The picture could not be saved: {0}").format(error))
            return False
        self.figures.show_trouble("")
        return True

    def _forget_dialog(self) -> None:
        self.dialog = None

    # -- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handles keys that no child widget has consumed."""
        key = event.key()
        self.touched.emit()
        if key == Qt.Key.Key_Escape:
            self.leave_wanted.emit()
        elif key == Qt.Key.Key_F11:
            self.toggle_full()
        elif key in _NEXT:
            self.next_wanted.emit()
        elif key == Qt.Key.Key_S and self.pages.currentWidget() is self.figures:
            self.choose_file()
        elif self.asking and Qt.Key.Key_1 <= key <= Qt.Key.Key_9:
            self.model_wanted.emit(key - Qt.Key.Key_1)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        """Releases the talk button when the window loses focus, since it won't receive the key release."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.push.let_go_own()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Leaves the demo, as Escape does."""
        event.accept()
        self.leave_wanted.emit()
