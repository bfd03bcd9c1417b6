"""The oracle's heading: the quiet mode, who drives and who answers at the side, and the buttons that change that.

Says what the user wants; does nothing. Where the pane has room for two columns, those tell who drives.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QSizePolicy, QVBoxLayout, QWidget

from app.conversation import events as e
from app.gui.oracle.sides import Sides
from app.gui.widgets.elided import Elided

HAND_OVER_KEYS = "Ctrl+H"


class OracleHeader(QWidget):
    """A heading with two switches; a second line while two brains answer in one column."""

    secondary_wanted = Signal(bool)
    """The user wants a second brain at the side, or no longer."""
    hand_over = Signal()
    quiet_toggled = Signal(bool)
    """Whether only the revision that counts now is to be seen."""
    running_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sides = Sides()
        self._columns = False
        heading = Elided(self.tr("Oracle"), self)
        font = heading.font()
        font.setBold(True)
        heading.setFont(font)
        heading.setToolTip(self.tr("What the brain thinks."))
        self.quiet = QPushButton(self.tr("&Quiet"), self)
        self.quiet.setAccessibleName(self.tr("Quiet"))
        self.quiet.setCheckable(True)
        self.quiet.setToolTip(self.tr("Shows only the answer that counts now."))
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
        upper.addWidget(self.quiet)
        upper.addWidget(self.switch)
        lower.addWidget(self.who, 1)
        lower.addWidget(self.hand_button)
        rows = QVBoxLayout(self)
        rows.setContentsMargins(0, 0, 0, 0)
        rows.setSpacing(6)
        rows.addLayout(upper)
        rows.addLayout(lower)
        self.quiet.toggled.connect(self.quiet_toggled)
        self.switch.clicked.connect(lambda: self.secondary_wanted.emit(not self.beside))
        self.hand_button.clicked.connect(self.hand_over)
        self.begin()

    @property
    def beside(self) -> str:
        """The brain at the side; empty for none."""
        return self.sides.beside

    def begin(self) -> None:
        """A new talk begins: nobody is known to answer yet."""
        self.sides.begin()
        self._show()

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        if self.sides.apply(event):
            self._show()

    def set_running(self, running: bool) -> None:
        """Whether there is a talk to answer in."""
        self.switch.setEnabled(running)
        self.hand_button.setEnabled(running)
        self.running_changed.emit(running)

    def set_columns(self, columns: bool) -> None:
        """Whether two columns tell who drives, so that the heading needn't."""
        if self._columns != columns:
            self._columns = columns
            self._show()

    def _show(self) -> None:
        on = bool(self.beside)
        name = self.tr("One brain alone") if on else self.tr("Side by side…")
        self.switch.setText(name)
        self.switch.setAccessibleName(name.removesuffix("…"))
        self.switch.setToolTip(
            self.tr("Ends the one at the side.")
            if on
            else self.tr("A second brain answers, too, and is shown beside the one that drives.")
        )
        told = on and not self._columns
        self.who.setVisible(told)
        self.hand_button.setVisible(told)
        driver = self.sides.driver or self.tr("the other")
        self.who.setText(self.tr("{0} drives; {1} is at the side.").format(driver, self.beside) if on else "")
