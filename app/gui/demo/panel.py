"""The demo's dialog: what will be asked, what is asked now, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QStandardPaths, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QLabel, QWidget

from app.demo.base import DemoBackend, DemoFrontEnd, DemoProgress, DemoQuestion, DemoResult
from app.gui.demo.descriptions import DemoWords
from app.gui.demo.progress_page import ProgressPage
from app.gui.demo.result_page import DemoPage
from app.gui.demo.start_page import StartPage
from app.gui.widgets.panel import Panel

COPIED_MS = 2_000
RESULT_SIZE = (760, 640)
START_WIDTH_PX, RUN_WIDTH_PX = 460, 400
CORNER_PX = 8


class DemoPanel(Panel):
    """Shows one page at a time, in the order `show_offer`, `show_progress`, `show_result`."""

    start_wanted = Signal(object)
    """A `DemoPlan`."""
    stop_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._window = parent
        self.set_panel_title(self.tr("Demo"))
        self.setMinimumWidth(RUN_WIDTH_PX)
        self.running = False
        self.dialog: QFileDialog | None = None
        self.words = DemoWords(self)
        self.start_page = StartPage(self.words, self)
        self.note = self.start_page.note
        self.run_page = ProgressPage(self.words, self)
        self.page = DemoPage(self.words, self)
        self.trouble = QLabel(self)
        self.trouble.setWordWrap(True)
        self.trouble.setAccessibleName(self.tr("What went wrong"))
        self.column.addWidget(self.start_page)
        self.column.addWidget(self.run_page)
        self.column.addWidget(self.page, 1)
        self.column.addWidget(self.trouble)
        self._add_buttons()
        self.start_page.changed.connect(self._on_plan_changed)
        self.show_looking()

    def show_looking(self) -> None:
        """Shows the first page while models and front-ends are looked for."""
        self.start_page.show_looking()
        self._show_page(self.start_page)

    def show_offer(
        self, backends: Sequence[DemoBackend], frontends: Sequence[DemoFrontEnd], questions: Sequence[DemoQuestion]
    ) -> None:
        """Shows the first page with what can take part."""
        self.start_page.show_offer(backends, frontends, questions)
        self._show_page(self.start_page)
        self.start_button.setFocus()

    def show_progress(self, progress: DemoProgress) -> None:
        """Shows what the demo does now."""
        if self.run_page.isHidden():
            self._show_page(self.run_page)
            self.stop_button.setFocus()
        self.run_page.show_progress(progress)
        self.fit()

    def show_result(self, result: DemoResult) -> None:
        """Shows the result, at the end of the demo."""
        self.page.show_result(result)
        self._show_page(self.page)
        self.close_button.setFocus()

    def show_trouble(self, sentence: str) -> None:
        """Shows what went wrong; empty hides it."""
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))
        self.fit()

    def save(self, path: Path) -> bool:
        """Writes the result as an image; returns whether that worked."""
        try:
            self.page.save(path)
        except OSError as error:
            self.show_trouble(self.tr("The image could not be saved: {0}").format(error))
            return False
        self.show_trouble("")
        return True

    def closeEvent(self, event: QCloseEvent) -> None:
        """Stops a running demo."""
        if self.running:
            self.stop_wanted.emit()
        super().closeEvent(event)

    def reject(self) -> None:
        """Stops a running demo, since Escape closes the panel."""
        if self.running:
            self.stop_wanted.emit()
        super().reject()

    def _add_buttons(self) -> None:
        self.start_button = self.button(self.tr("&Start"), self.tr("Start the demo"))
        self.stop_button = self.button(self.tr("&Stop"), self.tr("Stop the demo"))
        self.save_button = self.button(self.tr("Save as &image…"))
        self.copy_button = self.button(self.tr("Co&py as text"))
        self.again_button = self.button(self.tr("&Again…"), self.tr("Show the demo again"))
        self.close_button = self.button(self.tr("Close"), self.tr("Close this panel"))
        self._result_buttons = (self.save_button, self.copy_button, self.again_button)
        self.foot(self.start_button, self.stop_button, *self._result_buttons, self.close_button)
        self._copied = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._copied.timeout.connect(lambda: self.copy_button.setText(self.tr("Co&py as text")))
        self.start_button.clicked.connect(lambda: self.start_wanted.emit(self.start_page.plan))
        self.stop_button.clicked.connect(self.stop_wanted)
        self.save_button.clicked.connect(self._choose_file)
        self.copy_button.clicked.connect(self._copy)
        self.again_button.clicked.connect(lambda: self._show_page(self.start_page))
        self.close_button.clicked.connect(self.close)

    def _on_plan_changed(self) -> None:
        self.start_button.setEnabled(self.start_page.can_start)
        self.fit()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.words.as_text(self.page.result))
        self.copy_button.setText(self.tr("Copied"))
        self._copied.start()

    def _choose_file(self) -> None:
        if self.dialog is not None:
            self.dialog.raise_()
            return
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation)
        dialog = self.dialog = QFileDialog(self, self.tr("Save as image"), folder)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilters([self.tr("Images (*.png)")])
        dialog.setDefaultSuffix("png")
        dialog.selectFile(self.tr("kame-demo.png"))
        dialog.fileSelected.connect(lambda path: self.save(Path(path)))
        dialog.finished.connect(self._on_file_dialog_finished)
        dialog.open()

    def _on_file_dialog_finished(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()

    def _show_page(self, page: QWidget) -> None:
        self.running = page is self.run_page
        result = page is self.page
        for one in (self.start_page, self.run_page, self.page):
            one.setVisible(one is page)
        self.start_button.setVisible(page is self.start_page)
        self.stop_button.setVisible(self.running)
        for button in self._result_buttons:
            button.setVisible(result)
        self.close_button.setVisible(not self.running)
        default = self.stop_button if self.running else self.close_button if result else self.start_button
        default.setDefault(True)
        self.trouble.hide()
        if result:
            available = self.screen().availableSize()
            self.resize(min(RESULT_SIZE[0], available.width()), min(RESULT_SIZE[1], available.height()))
        else:
            self.resize(RUN_WIDTH_PX if self.running else START_WIDTH_PX, self.minimumSizeHint().height())
            self.fit()
        if self.isVisible() and page is not self.start_page:
            self._place()

    def _place(self) -> None:
        """Moves to the window's lower left corner while the demo runs, else to its middle.

        In the corner it hides neither the transcript nor the oracle. Some systems place windows by themselves.
        """
        window, mine = self._window.frameGeometry(), self.frameGeometry()
        available = self.screen().availableGeometry()
        if self.running:
            mine.moveBottomLeft(window.bottomLeft() + QPoint(CORNER_PX, -CORNER_PX))
        else:
            mine.moveCenter(window.center())
        left = min(max(mine.left(), available.left()), available.right() + 1 - mine.width())
        top = min(max(mine.top(), available.top()), available.bottom() + 1 - mine.height())
        self.move(left, top)
