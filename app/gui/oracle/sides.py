"""Keeps track of which model drives, which is the comparison, and which column belongs to which.

When the user switches between the two, the models keep their columns and only the driver's mark moves.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation import events as e
from app.gui.widgets.formats import backend_words


@dataclass(slots=True)
class Sides:
    """The names of the models by column (0 is left); without a comparison the right one is empty."""

    backends: list[str] = field(default_factory=lambda: ["", ""])
    driving: int = 0
    """The column of the model that drives."""

    @property
    def driver(self) -> str:
        """The name of the model that drives; empty while it is unknown."""
        return self.backends[self.driving]

    @property
    def comparison(self) -> str:
        """The name of the comparison model; empty for none."""
        return self.backends[1 - self.driving]

    def begin(self) -> None:
        """Forgets both models: a new conversation starts."""
        self.backends, self.driving = ["", ""], 0

    def column(self, secondary: bool) -> int:
        """The column of the comparison (`secondary`), or of the model that drives."""
        return 1 - self.driving if secondary else self.driving

    def apply(self, event: e.Event) -> bool:
        """Takes one event in; returns whether anything has changed."""
        match event:
            case e.SessionStarted(backend=backend, model=model):
                self.backends[self.driving] = backend_words(backend, model)
            case e.BackendChanged(backend=backend, model=model, reason=reason):
                if reason == "handed" and self.comparison:
                    self.driving = 1 - self.driving
                self.backends[self.driving] = backend_words(backend, model)
            case e.SecondaryChanged(backend=""):
                self.backends, self.driving = [self.driver, ""], 0
            case e.SecondaryChanged(backend=backend, model=model):
                self.backends[1 - self.driving] = backend_words(backend, model)
            case e.OracleRequested(secondary=True, backend=backend, model=model) if not self.comparison:
                self.backends[1 - self.driving] = backend_words(backend, model)
            case _:
                return False
        return True
