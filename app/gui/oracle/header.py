"""The header of the oracle pane: buttons for earlier thoughts, details and the comparison, and both models' names.

The header emits the user's choices. With two columns, their headings show the models' names instead. When the user
switches between the two models, they keep their columns, and only the mark of the active one moves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.conversation import events as e
from app.gui.design.fonts import embolden
from app.gui.design.icons import IconButton
from app.gui.design.model_look import model_words
from app.gui.design.plain import named, set_tip
from app.gui.widgets.form import column, row, wrapped
from app.gui.widgets.panel import ElidedLabel


@dataclass(slots=True)
class Sides:
    """The names of both models by column, left first. Without a comparison, the second name is empty."""

    backends: list[str] = field(default_factory=lambda: ["", ""])
    driving: int = 0
    """Index of the active model's column."""

    @property
    def driver(self) -> str:
        """The name of the active model; empty while unknown."""
        return self.backends[self.driving]

    @property
    def comparison(self) -> str:
        """The comparison model's name; empty if there is none."""
        return self.backends[1 - self.driving]

    def begin(self) -> None:
        """Resets both models for a new conversation."""
        self.backends, self.driving = ["", ""], 0

    def column(self, secondary: bool) -> int:
        """Returns the index of the comparison model's column if `secondary`, otherwise of the active model's."""
        return 1 - self.driving if secondary else self.driving

    def apply(self, event: e.Event) -> bool:
        """Processes an event. Returns whether it affects the models."""
        match event:
            case e.SessionStarted(backend=backend, model=model):
                self.backends[self.driving] = model_words(backend, model)
            case e.BackendChanged(backend=backend, model=model, reason=reason):
                if reason == "handed" and self.comparison:
                    self.driving = 1 - self.driving
                self.backends[self.driving] = model_words(backend, model)
            case e.SecondaryChanged(backend=""):
                self.backends, self.driving = [self.driver, ""], 0
            case e.SecondaryChanged(backend=backend, model=model):
                self.backends[1 - self.driving] = model_words(backend, model)
            case e.OracleRequested(secondary=True, backend=backend, model=model) if not self.comparison:
                self.backends[1 - self.driving] = model_words(backend, model)
            case _:
                return False
        return True


class OracleHeader(QWidget):
    """The title with its buttons. While two models answer in a single column, a second line shows their names."""

    secondary_wanted = Signal(bool)
    """Emitted when the user asks to start (True) or end (False) a comparison."""
    hand_over = Signal()
    running_changed = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.sides = Sides()
        self._columns = False
        heading = ElidedLabel(self.tr("Oracle"), self)
        embolden(heading)
        heading.setToolTip(self.tr("The model's thoughts while you speak."))
        self.earlier = IconButton("history", self.tr("Earlier thoughts"), self)
        self.earlier.setCheckable(True)
        self.earlier.setToolTip(self.tr("Shows the answers before the one that counts, too."))
        self.details = IconButton("info", self.tr("Details"), self)
        self.details.setCheckable(True)
        self.details.setToolTip(self.tr("Shows what was asked, how fast the answer came, and what it cost."))
        self.switch = IconButton("columns-2", "", self, lambda: self.secondary_wanted.emit(not self.sides.comparison))
        self.who = wrapped(self, self.tr("The model that answers, and the comparison"))
        self.who.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.hand_button = named(QPushButton(self.tr("S&witch"), self), self.tr("Switch to the comparison model"))
        set_tip(
            self.hand_button,
            self.tr("The comparison model answers from now on, and the present one becomes the comparison (Ctrl+H)."),
        )
        upper = row(heading, self.earlier, self.details, self.switch, stretch=0)
        column(upper, row(self.who, self.hand_button, stretch=0), within=self, spacing=6)
        self.hand_button.clicked.connect(self.hand_over)
        self.begin()

    def begin(self) -> None:
        """Resets both models for a new conversation."""
        self.sides.begin()
        self._show()

    def apply(self, event: e.Event) -> None:
        """Processes an event."""
        if self.sides.apply(event):
            self._show()

    def set_running(self, running: bool) -> None:
        """Sets whether a conversation is running, which enables the buttons."""
        self.switch.setEnabled(running)
        self.hand_button.setEnabled(running)
        self.running_changed.emit(running)

    def set_columns(self, columns: bool) -> None:
        """Sets whether there are two columns, which show the models' names instead of the header."""
        if self._columns != columns:
            self._columns = columns
            self._show()

    def _show(self) -> None:
        comparison = self.sides.comparison
        on = bool(comparison)
        self.switch.set_name("x" if on else "columns-2")
        self.switch.setAccessibleName(self.tr("End comparison") if on else self.tr("Compare"))
        self.switch.setToolTip(
            self.tr("The comparison model answers no more.")
            if on
            else self.tr("A second model answers, too: its answers are shown and not spoken.")
        )
        for widget in (self.who, self.hand_button):
            widget.setVisible(on and not self._columns)
        driver = self.sides.driver or self.tr("the other model")
        self.who.setText(self.tr("{0} answers; {1} is the comparison.").format(driver, comparison) if on else "")
