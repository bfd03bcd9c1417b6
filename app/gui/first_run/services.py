"""What the first run needs of the rest of the app."""

from __future__ import annotations

from dataclasses import dataclass

from app.gui.controllers.sound_controller import DeviceLister
from app.gui.models.graphics_controller import GraphicsController
from app.gui.models.models_controller import ModelsController
from app.gui.models.weights_controller import WeightsController
from app.services.backend_service import BackendService
from app.services.machine_service import MachineService
from app.services.sound_service import SoundTestService


@dataclass(frozen=True, slots=True)
class FirstRunServices:
    """Services and controllers; without one of the optional ones, the pages don't offer what it does."""

    machine: MachineService
    list_devices: DeviceLister
    backend: BackendService | None = None
    sound: SoundTestService | None = None
    weights: WeightsController | None = None
    graphics: GraphicsController | None = None
    models: ModelsController | None = None
