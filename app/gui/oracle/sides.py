"""Who drives, who answers at the side, and which column is whose.

A column belongs to a brain: when the voice is handed over, the brains stay where they are and the driver's mark moves.
Pure: knows no widget.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation import events as e
from app.gui.widgets.formats import backend_words


@dataclass(slots=True)
class Sides:
    """The brains by column (0 at the left), as people call them; without a second one the right is empty."""

    backends: list[str] = field(default_factory=lambda: ["", ""])
    driving: int = 0
    """The column of the one that drives."""

    @property
    def driver(self) -> str:
        """The brain that drives; empty while nobody is known to."""
        return self.backends[self.driving]

    @property
    def beside(self) -> str:
        """The brain at the side; empty for none."""
        return self.backends[1 - self.driving]

    def begin(self) -> None:
        """A new talk begins: nobody is known to answer yet."""
        self.backends, self.driving = ["", ""], 0

    def column(self, secondary: bool) -> int:
        """The column of what the one that drives says now, or the one at the side."""
        return 1 - self.driving if secondary else self.driving

    def apply(self, event: e.Event) -> bool:
        """Takes one event in; whether anything has changed."""
        match event:
            case e.SessionStarted(backend=backend, model=model):
                self.backends[self.driving] = backend_words(backend, model)
            case e.BackendChanged(backend=backend, model=model, reason=reason):
                if reason == "handed" and self.beside:
                    self.driving = 1 - self.driving
                self.backends[self.driving] = backend_words(backend, model)
            case e.SecondaryChanged(backend=""):
                self.backends, self.driving = [self.driver, ""], 0
            case e.SecondaryChanged(backend=backend, model=model):
                self.backends[1 - self.driving] = backend_words(backend, model)
            case e.OracleRequested(secondary=True, backend=backend, model=model) if not self.beside:
                self.backends[1 - self.driving] = backend_words(backend, model)
            case _:
                return False
        return True
