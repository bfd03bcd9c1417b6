"""The demo's panel: what will happen, what happens, and what came of it. Knows nothing of how it is done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QPoint, QStandardPaths, QTimer, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication
from PySide6.QtWidgets import QCheckBox, QFileDialog, QLabel, QProgressBar, QVBoxLayout, QWidget

from app.demo.base import DemoBackend, DemoFrontEnd, DemoPlan, DemoProgress, DemoQuestion, DemoResult
from app.demo.plan import duration, stations
from app.gui.demo.descriptions import DemoWords
from app.gui.demo.result_page import DemoPage
from app.gui.widgets.panel import Panel, Quiet

COPIED_MS = 2_000
RESULT_SIZE = (760, 640)
SMALL_PX, RUN_PX = 460, 400
CORNER_PX = 8


class DemoPanel(Panel):
    """`show_offer` begins it; then `show_progress`, and `show_result`."""

    start_wanted = Signal(object)
    """A `DemoPlan`."""
    stop_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.words = DemoWords(self)
        self.entitle(self.tr("Demo"))
        self.running = False
        self._questions: tuple[DemoQuestion, ...] = ()
        self.backend_boxes: list[tuple[DemoBackend, QCheckBox]] = []
        self.frontend_boxes: list[tuple[DemoFrontEnd, QCheckBox]] = []
        self.dialog: QFileDialog | None = None

        self.start_page = QWidget(self)
        page = QVBoxLayout(self.start_page)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(6)
        self.about = QLabel(
            self.tr(
                "A few spoken questions are asked of each brain, by each way to hear and speak, and once the brain "
                "is changed in mid-answer. At the end a chart shows who answered how, and how fast. You need "
                "neither a microphone nor to do anything."
            ),
            self.start_page,
        )
        self.about.setWordWrap(True)
        page.addWidget(self.about)
        page.addSpacing(8)
        page.addWidget(self._bold(self.tr("Brains")))
        self._backend_column = QVBoxLayout()
        page.addLayout(self._backend_column)
        self.note = Quiet("", self.start_page)
        page.addWidget(self.note)
        page.addSpacing(8)
        page.addWidget(self._bold(self.tr("Ways to hear and speak")))
        self._frontend_column = QVBoxLayout()
        page.addLayout(self._frontend_column)
        page.addSpacing(8)
        self.quick = QCheckBox(self.tr("&Quick: one question each, and only the beginning of the answers"), self)
        page.addWidget(self.quick)
        self.estimate = Quiet("", self.start_page)
        page.addWidget(self.estimate)
        self.column.addWidget(self.start_page)

        self.run_page = QWidget(self)
        page = QVBoxLayout(self.run_page)
        page.setContentsMargins(0, 0, 0, 0)
        self.caption = QLabel(self.run_page)
        self.caption.setWordWrap(True)
        self.caption.setMinimumHeight(2 * self.caption.fontMetrics().lineSpacing())
        self.caption.setAccessibleName(self.tr("What the demo does now"))
        self.bar = QProgressBar(self.run_page)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(self.tr("How far the demo is"))
        page.addWidget(self.caption)
        page.addWidget(self.bar)
        self.column.addWidget(self.run_page)

        self.page = DemoPage(self.words, self)
        self.column.addWidget(self.page, 1)
        self.trouble = QLabel(self)
        self.trouble.setWordWrap(True)
        self.trouble.setAccessibleName(self.tr("What went wrong"))
        self.column.addWidget(self.trouble)

        self.start_button = self.button(self.tr("&Start"), self.tr("Start the demo"))
        self.stop_button = self.button(self.tr("&Stop"), self.tr("Stop the demo"))
        self.save_button = self.button(self.tr("Save as &image…"))
        self.copy_button = self.button(self.tr("Co&py as text"))
        self.again_button = self.button(self.tr("&Again…"), self.tr("Show the demo again"))
        self.close_button = self.button(self.tr("Close"), self.tr("Close this panel"))
        self.foot(
            self.start_button,
            self.stop_button,
            self.save_button,
            self.copy_button,
            self.again_button,
            self.close_button,
        )
        self._copied = QTimer(self, singleShot=True, interval=COPIED_MS)
        self._copied.timeout.connect(lambda: self.copy_button.setText(self.tr("Co&py as text")))
        self.quick.toggled.connect(self._estimate)
        self.start_button.clicked.connect(self._start)
        self.stop_button.clicked.connect(self.stop_wanted)
        self.save_button.clicked.connect(self._ask_where)
        self.copy_button.clicked.connect(self._copy)
        self.again_button.clicked.connect(lambda: self._turn_to(self.start_page))
        self.close_button.clicked.connect(self.close)
        self.setMinimumWidth(RUN_PX)
        self._turn_to(self.start_page)
        self.show_looking()

    # -- what will happen

    def show_looking(self) -> None:
        """It is being found out what is here."""
        self._questions = ()
        self.note.setText(self.tr("Looking for the brains that are here …"))
        self.note.show()
        self._fill((), ())
        self._turn_to(self.start_page)

    def show_offer(
        self, backends: Sequence[DemoBackend], frontends: Sequence[DemoFrontEnd], questions: Sequence[DemoQuestion]
    ) -> None:
        """What can take part."""
        self._questions = tuple(questions)
        self._fill(backends, frontends)
        told = ""
        if not backends:
            told = self.tr("No brain is here. Set KAME up again, or choose one above the talk first.")
        elif len(backends) == 1:
            told = self.tr(
                "Only one brain is here, so it can't be changed in mid-answer. Get a second one under “Models”."
            )
        elif any(backend.costs for backend in backends):
            told = self.tr("Brains that cost money take part only if you tick them.")
        self.note.setText(told)
        self.note.setVisible(bool(told))
        self._turn_to(self.start_page)
        self._estimate()
        self.start_button.setFocus()

    def _fill(self, backends: Sequence[DemoBackend], frontends: Sequence[DemoFrontEnd]) -> None:
        for _, box in (*self.backend_boxes, *self.frontend_boxes):
            box.hide()
            box.deleteLater()
        self.backend_boxes, self.frontend_boxes = [], []
        for backend in backends:
            text = self.tr("{0} (costs money)").format(backend.label) if backend.costs else backend.label
            box = self._box(text, not backend.costs)
            self._backend_column.addWidget(box)
            box.show()  # at once, so that the panel is made high enough for it
            self.backend_boxes.append((backend, box))
        for frontend in frontends:
            manners = self.tr(" and ").join(self.words.answer_mode(m) for m in sorted(frontend.manners, reverse=True))
            text = self.tr("{0}: thinking {1}").format(frontend.label, manners)
            box = self._box(text if len(frontend.manners) > 1 else frontend.label, True)
            self._frontend_column.addWidget(box)
            box.show()
            self.frontend_boxes.append((frontend, box))
        self._estimate()

    def _box(self, text: str, on: bool) -> QCheckBox:
        box = QCheckBox(text.replace("&", "&&"), self.start_page)
        box.setChecked(on)
        box.toggled.connect(self._estimate)
        return box

    @property
    def plan(self) -> DemoPlan:
        """What is ticked."""
        return DemoPlan(
            tuple(backend for backend, box in self.backend_boxes if box.isChecked()),
            tuple(frontend for frontend, box in self.frontend_boxes if box.isChecked()),
            self.quick.isChecked(),
        )

    def _estimate(self) -> None:
        plan = self.plan
        stops = stations(plan, self._questions) if self._questions else ()
        self.start_button.setEnabled(bool(stops))
        self.estimate.setVisible(bool(self._questions))
        if stops:
            words = self.tr("It takes {0}.").format(self.words.minutes(duration(stops, quick=plan.quick)))
            if not any(stop.swap for stop in stops):
                words += " " + self.tr("With one brain alone, none is changed in mid-answer.")
            self.estimate.setText(words)
        else:
            self.estimate.setText(self.tr("Tick at least one brain, and one way to hear and speak."))
        self.fit()

    def _start(self) -> None:
        self.start_wanted.emit(self.plan)

    # -- what happens

    def show_progress(self, progress: DemoProgress) -> None:
        """It goes on."""
        if self.run_page.isHidden():
            self._turn_to(self.run_page)
            self.stop_button.setFocus()
        self.caption.setText(self.words.doing(progress))
        self.bar.setRange(0, progress.total)
        self.bar.setValue(max(0, progress.number - 1))
        self.fit()

    # -- what came of it

    def show_result(self, result: DemoResult) -> None:
        """It is over."""
        self.page.show_result(result)
        self._turn_to(self.page)
        self.close_button.setFocus()

    def show_trouble(self, sentence: str) -> None:
        """Something went wrong; empty: no longer."""
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))
        self.fit()

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.words.as_text(self.page.result))
        self.copy_button.setText(self.tr("Copied"))
        self._copied.start()

    def _ask_where(self) -> None:
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
        dialog.finished.connect(self._asked)
        dialog.open()

    def _asked(self) -> None:
        dialog, self.dialog = self.dialog, None
        if dialog is not None:
            dialog.deleteLater()

    def save(self, path: Path) -> bool:
        """Writes the chart and the answers as an image; whether it could be written."""
        try:
            self.page.save(path)
        except OSError as error:
            self.show_trouble(self.tr("The image could not be saved: {0}").format(error))
            return False
        self.show_trouble("")
        return True

    # -- pages

    def _turn_to(self, page: QWidget) -> None:
        self.running = page is self.run_page
        for one in (self.start_page, self.run_page, self.page):
            one.setVisible(one is page)
        result = page is self.page
        self.start_button.setVisible(page is self.start_page)
        self.stop_button.setVisible(self.running)
        for button in (self.save_button, self.copy_button, self.again_button):
            button.setVisible(result)
        self.close_button.setVisible(not self.running)
        default = self.stop_button if self.running else self.close_button if result else self.start_button
        default.setDefault(True)
        self.trouble.hide()
        if result:
            room = self.screen().availableSize()
            self.resize(min(RESULT_SIZE[0], room.width()), min(RESULT_SIZE[1], room.height()))
        else:
            self.resize(RUN_PX if self.running else SMALL_PX, self.minimumSizeHint().height())
            self.fit()
        if self.isVisible() and page is not self.start_page:
            self._place()

    def _place(self) -> None:
        """While the demo runs it stands in the window's lower left corner, where it hides neither the talk nor what is
        thought; its result in the window's middle. A system that places windows by itself may know better.
        """
        window, mine = self.parentWidget().frameGeometry(), self.frameGeometry()
        room = self.screen().availableGeometry()
        if self.running:
            mine.moveBottomLeft(window.bottomLeft() + QPoint(CORNER_PX, -CORNER_PX))
        else:
            mine.moveCenter(window.center())
        left = min(max(mine.left(), room.left()), room.right() + 1 - mine.width())
        top = min(max(mine.top(), room.top()), room.bottom() + 1 - mine.height())
        self.move(left, top)

    def _bold(self, text: str) -> QLabel:
        label = QLabel(text, self.start_page)
        font = label.font()
        font.setBold(True)
        label.setFont(font)
        return label

    def closeEvent(self, event: QCloseEvent) -> None:
        """Closing it while the demo runs stops the demo."""
        if self.running:
            self.stop_wanted.emit()
        super().closeEvent(event)

    def reject(self) -> None:
        """The Escape key, likewise."""
        if self.running:
            self.stop_wanted.emit()
        super().reject()
