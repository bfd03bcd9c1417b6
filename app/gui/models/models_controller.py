"""Downloads models, one at a time."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from app.gui.models.fetch_controller import FetchController
from app.services.model_service import ModelService, VoiceView


class ModelsController(FetchController):
    """`started` and `arrived` emit the key of a model; once it has arrived, its speed is measured."""

    arrived = Signal(str)
    started = Signal(str)

    def __init__(self, service: ModelService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.service = service
        self._key = ""

    @property
    def fetching(self) -> str:
        """The key of the model that is being downloaded; empty for none."""
        return self._key if self.busy else ""

    def voices(self) -> list[VoiceView]:
        """The voices on this machine. Reads the disk; any thread."""
        found: list[VoiceView] = []
        for model in self.service.models():
            if model.kind == "tts" and model.usable:
                found += model.voices or [VoiceView(model.key, model.label, model.languages[0])]
        return found

    def get(self, key: str) -> None:
        """Starts to download a model, or continues it; does nothing during another download."""
        if self.busy:
            return
        self._key = key
        self._start(lambda report, cancelled: self.service.get(key, report, cancelled), lambda: self.arrived.emit(key))
        self.started.emit(key)
