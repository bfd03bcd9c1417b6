"""Has models fetched, checked and removed for the window, one at a time, on a thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.gui.models.fetch_controller import FetchController
from app.services.model_service import ModelService, VoiceView


class ModelsController(FetchController):
    """`arrived` names a model that was fetched, and its measured speed is known."""

    arrived = Signal(str)
    began = Signal(str)

    def __init__(self, service: ModelService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.service = service
        self._key = ""

    @property
    def fetching(self) -> str:
        """The key of the model that comes; empty while none does."""
        return self._key if self.busy else ""

    def voices(self) -> list[VoiceView]:
        """The voices on this machine. Reads the disk; any thread."""
        found: list[VoiceView] = []
        for model in self.service.models():
            if model.kind == "tts" and model.usable:
                found += model.voices or [VoiceView(model.key, model.label, model.languages[0])]
        return found

    def get(self, key: str) -> None:
        """Begins to fetch a model, or goes on with it; nothing while another one comes."""
        if self.busy:
            return
        self._key = key
        self._begin(lambda report, cancelled: self.service.get(key, report, cancelled), lambda: self.arrived.emit(key))
        self.began.emit(key)
