"""The demo's window, optionally full screen: both sides, texts, buttons and keyboard shortcuts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QCloseEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QWidget

from app.demo.base import SIDES, DemoResult, Side
from app.gui.demo.painting import FittedText
from app.gui.demo.side_view import SideView
from app.gui.design.plain import OnClick
from app.gui.design.theme import tokens
from app.gui.hotkeys.push_to_talk import PushToTalk
from app.gui.widgets.file_dialogs import ask_picture
from app.gui.widgets.form import column, push_button, row
from app.gui.widgets.formats import decimal

WINDOW = QSize(1100, 720)
LEAST_GAIN = 0.3
"""A difference (s) smaller than this is hardly heard, so neither side is called the faster one."""
_NEXT = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Right)


class DemoScreen(QWidget):
    """The demo's window. The space bar is the talk button (`push`) and nothing else, as no button takes the focus."""

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
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.step = ""
        self.dialog: QFileDialog | None = None
        self.push = PushToTalk(self)
        names: dict[Side, str] = {"cascade": self.tr("Cascade"), "tandem": self.tr("Tandem")}
        self.sides = {side: SideView(side, names[side], self) for side in SIDES}
        self.question = FittedText(self, bold=True)
        self.headline = FittedText(self)
        self.models = FittedText(self, colour="dim")
        self.note = FittedText(self, colour="dim", most=0.4)
        self.talk = self._button(self.tr("Hold to talk (Space)"))
        self.talk.pressed.connect(lambda: self.push.hold("mouse"))
        self.talk.released.connect(lambda: self.push.let_go("mouse"))
        self.next = self._button("", self.next_wanted)
        self.save_button = self._button(self.tr("Save as picture (S)"), self.choose_file)
        self.window_button = self._button(
            self.tr("Full screen or window (F11)"), lambda: self.appear(not self.isFullScreen())
        )
        self.leave = self._button(self.tr("Leave (Esc)"), self.leave_wanted)
        for button in (self.talk, self.next):
            button.setProperty("primary", True)
        unit = tokens().unit
        pair = row(*((view, 1) for view in self.sides.values()), spacing=3 * unit)
        foot = row(None, self.talk, self.next, self.save_button, self.window_button, self.leave, None, spacing=unit)
        parts = ((self.question, 11), (self.headline, 7), (pair, 71), (self.models, 5), (self.note, 6), foot)
        column(*parts, within=self, spacing=unit, margins=(5 * unit, 2 * unit, 5 * unit, 2 * unit))

    def _button(self, text: str, does: OnClick | None = None) -> QPushButton:
        button = push_button(text, "", self, does)
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button

    def appear(self, full: bool) -> None:
        """Shows the window, full screen if `full`, and brings it to the front."""
        self.resize(WINDOW.boundedTo(self.screen().availableSize()))
        self.move(self.screen().availableGeometry().center() - self.rect().center())
        if full:
            self.setGeometry(self.screen().geometry())  # needed if there is no window manager
        self.setWindowState(Qt.WindowState.WindowFullScreen if full else Qt.WindowState.WindowNoState)
        self.show()
        self.raise_()
        self.activateWindow()

    def show_step(self, step: str) -> None:
        """Shows the buttons of a step of the demo."""
        self.step = step
        words = {"start": self.tr("Start (Enter)"), "figures": self.tr("Again (Enter)")}
        self.next.setText(words.get(step, self.tr("Next (Enter)")))
        self.talk.setVisible(step == "ask")
        self.save_button.setVisible(step == "figures")
        self.allow_talking(False)

    def allow_talking(self, allowed: bool) -> None:
        """Enables the talk button, or disables it."""
        self.talk.setEnabled(allowed)
        self.push.set_enabled(allowed)

    def show_texts(self, question: str, headline: str, note: str, model: str) -> None:
        """Shows these texts, and resets both sides. `note`: how this was made. `model`: the one that answers."""
        for text, words in ((self.question, question), (self.headline, headline), (self.note, note)):
            text.show_text(words)
        for view in self.sides.values():
            view.model = model
            view.clear()

    def show_models(self, labels: Sequence[str], current: int, words: str) -> None:
        """Shows the models with their keys, then `words`. `current`: the index of the one that answers."""
        marked = [f"{'●' if n == current else '○'} {n + 1} {label}" for n, label in enumerate(labels)]
        self.models.show_text("     ".join([*marked, words]).strip())

    def show_result(self, result: DemoResult, note: str) -> None:
        """Shows the median of both sides and the single figures. `note`: how they were made."""
        headline = self.verdict(result.median("cascade"), result.median("tandem"))
        caption = self.tr("From the end of the question until the answer was heard, median")
        self.show_texts(headline or self.tr("No question was answered by both"), caption, note, result.backend)
        for side, view in self.sides.items():
            times = [(getattr(figure, side), figure.question) for figure in result.figures]
            rows = ["  ".join(("–" if time is None else decimal(time, 2), question)) for time, question in times]
            view.show_median(result.median(side), rows)

    def verdict(self, cascade: float | None, tandem: float | None) -> str:
        """Returns in words which side was heard first; empty while either time is None."""
        if cascade is None or tandem is None:
            return ""
        if abs(cascade - tandem) < LEAST_GAIN:
            return self.tr("Both answered about as soon")
        if tandem == 0:
            return self.tr("Tandem: answered before the question ended")
        words = self.tr("Tandem: {0} s sooner") if cascade > tandem else self.tr("Cascade: {0} s sooner")
        return words.format(decimal(abs(cascade - tandem), 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Scales the font of the buttons with the window. The other widgets scale theirs themselves."""
        super().resizeEvent(event)
        font = QApplication.font()
        font.setPointSizeF(font.pointSizeF() * max(1.0, self.height() / WINDOW.height()))
        for button in self.findChildren(QPushButton):
            button.setFont(font)

    def choose_file(self) -> None:
        """Opens a file dialog for saving the figures as an image."""
        title, filter, name = self.tr("Save as picture"), self.tr("Images (*.png)"), self.tr("kame-demo.png")
        self.dialog = self.dialog or ask_picture(self, title, filter, name, lambda path: self.save(Path(path)))
        self.dialog.finished.connect(lambda _: setattr(self, "dialog", None))

    def save(self, path: Path) -> None:
        """Writes the figures to `path` as an image, or says that this failed."""
        above_buttons = QRect(0, 0, self.width(), self.next.y())
        if not self.grab(above_buttons).save(str(path)):
            self.headline.show_text(self.tr("The picture could not be saved. Choose another folder."))

    # -- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handles all keys, since no child widget has the focus."""
        key, keys = event.key(), Qt.Key
        buttons = {keys.Key_Escape: self.leave, keys.Key_F11: self.window_button, keys.Key_S: self.save_button}
        button = buttons.get(Qt.Key(key), self.next if key in _NEXT else None)
        self.touched.emit()
        if key == keys.Key_Space:
            self.push.press_space(event.isAutoRepeat())
        elif keys.Key_1 <= key <= keys.Key_9:
            self.model_wanted.emit(key - keys.Key_1)
        elif button is not None and button.isVisible():
            button.click()

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        """Releases the talk button."""
        if event.key() == Qt.Key.Key_Space:
            self.push.release_space(event.isAutoRepeat())

    def changeEvent(self, event: QEvent) -> None:
        """Releases the talk button when the window loses focus, since it won't receive the key release."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and not self.isActiveWindow():
            self.push.let_go_own()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Leaves the demo, as Escape does."""
        self.leave_wanted.emit()
