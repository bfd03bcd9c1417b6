"""Who answers in the conversation, and who is coming: what the pill, the mini window and the welcome show."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QColor

from app.gui.design.model_look import ModelId, backend_name, known_colour, model_colour, model_name
from app.gui.models.model_lists import ModelLists
from app.gui.state.session_manager import SessionManager
from app.session.control import BackendChoice, SessionState


@dataclass(frozen=True, slots=True)
class ShownModel:
    """A model. `place`: where it is, empty if that is its name. `used`: whether it answers, or has in this session."""

    id: ModelId
    name: str
    place: str
    used: bool = False

    def colour(self) -> QColor | None:
        """Returns the model's colour; None if it has none yet."""
        return model_colour(*self.id) if self.used else known_colour(*self.id)


class CurrentModel(QObject):
    """Follows the session's state.

    - `answers`: the model that answers, or would if the conversation ran.
    - `coming`: the model that was chosen and is still being loaded, or whose turn comes once its server answers.
    """

    changed = Signal()
    refused = Signal(object)
    """A `ShownModel` that was chosen, and will not answer."""

    def __init__(self, manager: SessionManager, lists: ModelLists, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._manager = manager
        self._lists = lists
        self.answers = self._show(manager.wanted.backend)
        self.coming: ShownModel | None = None
        manager.model.published.connect(self._follow)
        manager.model.phase_changed.connect(lambda _: self._update())
        lists.changed.connect(lambda *_: self._update())

    @property
    def choice(self) -> BackendChoice:
        """What the user has chosen, whether it answers yet or not."""
        return self._manager.wanted.backend

    def _follow(self, before: SessionState, after: SessionState) -> None:
        self._update()
        for refusal in after.refused:
            if refusal not in before.refused and refusal.part == "backend" and refusal.choice is not None:
                self.refused.emit(self._show(refusal.choice))

    def _update(self) -> None:
        state, wanted, phase = self._manager.model.state, self._manager.wanted.backend, self._manager.phase
        if phase == "running":
            answers = self._show(state.driving, state.model, used=True)
            coming = None if wanted == state.driving else self._show(wanted)
        else:
            answers = self._show(wanted, state.model if wanted == state.driving else "")
            coming = answers if phase == "loading" else None
        if (answers, coming) != (self.answers, self.coming):
            self.answers, self.coming = answers, coming
            self.changed.emit()

    def _show(self, choice: BackendChoice, model: str = "", *, used: bool = False) -> ShownModel:
        id = self._lists.model_id(choice, model)
        place, name = self._lists.place_label(choice), model_name("", id[1])
        return ShownModel(id, name or place or backend_name(id[0]), place if name else "", used)
