"""The oracle's heading: who drives, who answers at the side, and the buttons that change that.

Says what the user wants; does nothing.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.conversation import events as e
from app.gui.elided import Elided

HAND_OVER_KEYS = "Ctrl+H"


class OracleHeader(QWidget):
    """A heading with a switch in words; a second line while two brains answer."""

    aside_wanted = Signal(bool)
    """The user wants a second brain at the side, or no longer."""
    hand_over = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._driver = self._beside = ""
        heading = Elided(self.tr("Oracle: what the brain thinks"), self)
        font = heading.font()
        font.setBold(True)
        heading.setFont(font)
        heading.setToolTip(heading.text())
        self.switch = QPushButton(self)
        self.who = QLabel(self)
        self.who.setAccessibleName(self.tr("Who drives"))
        self.who.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.who.setWordWrap(True)
        self.hand_button = QPushButton(self.tr("&Hand over"), self)
        self.hand_button.setAccessibleName(self.tr("Hand over"))
        keys = QKeySequence(HAND_OVER_KEYS).toString(QKeySequence.SequenceFormat.NativeText)
        self.hand_button.setToolTip(
            self.tr("The brain at the side drives from now on, in mid-talk; the other is shown ({0}).").format(keys)
        )
        upper, lower = QHBoxLayout(), QHBoxLayout()
        upper.addWidget(heading, 1)
        upper.addWidget(self.switch)
        lower.addWidget(self.who, 1)
        lower.addWidget(self.hand_button)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addLayout(upper)
        rows.addLayout(lower)
        self.switch.clicked.connect(lambda: self.aside_wanted.emit(not self._beside))
        self.hand_button.clicked.connect(self.hand_over)
        self.begin()

    @property
    def beside(self) -> str:
        """The brain at the side; empty for none."""
        return self._beside

    def begin(self) -> None:
        """A new talk begins: nobody is known to answer yet."""
        self._driver = self._beside = ""
        self._show()

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        match event:
            case e.SessionStarted(backend=backend, model=model) | e.BackendChanged(backend=backend, model=model):
                self._driver = brain_words(backend, model)
            case e.AsideChanged(backend=backend, model=model):
                self._beside = brain_words(backend, model) if backend else ""
            case e.OracleRequested(aside=True, backend=backend, model=model) if not self._beside:
                self._beside = brain_words(backend, model)
            case _:
                return
        self._show()

    def set_running(self, running: bool) -> None:
        """Whether there is a talk to answer in."""
        self.switch.setEnabled(running)
        self.hand_button.setEnabled(running)

    def _show(self) -> None:
        on = bool(self._beside)
        name = self.tr("One brain alone") if on else self.tr("Side by side…")
        self.switch.setText(name)
        self.switch.setAccessibleName(name.removesuffix("…"))
        self.switch.setToolTip(
            self.tr("Ends the one at the side.") if on
            else self.tr("A second brain answers, too, and is shown beside the one that drives.")
        )  # fmt: skip
        self.who.setVisible(on)
        self.hand_button.setVisible(on)
        driver = self._driver or self.tr("the other")
        self.who.setText(self.tr("{0} drives; {1} is at the side.").format(driver, self._beside) if on else "")


def brain_words(backend: str, model: str) -> str:
    """A brain for people: its model, and who runs it."""
    return f"{model} ({backend})" if model and backend else model or backend
