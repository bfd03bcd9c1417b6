"""What the window is given by the composition root: one record of services, each None where it is not to be had."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from app.conversation.events import Event
from app.diagnostics.logs import Log
from app.gui.controllers.asker import Speaking
from app.gui.controllers.sound_controller import DeviceLister
from app.gui.state.choice import WindowChoices
from app.services.backend_service import BackendService
from app.services.graphics_service import GraphicsService
from app.services.machine_service import MachineService
from app.services.model_service import ModelService
from app.services.sound_service import SoundTestService
from app.services.updates import UpdateService

if TYPE_CHECKING:
    from app.demo.service import DemoService
    from app.history.store import HistoryStore

DiagnoseAll = Callable[[bool, Sequence[tuple[str, Sequence[tuple[str, str]]]]], Coroutine[Any, Any, str]]
"""Writes diagnostics, with what was said or without it, and with these sections (a title, and facts) in their midst."""


class StartAtLogin(Protocol):
    """Whether the app is started when the user logs in; see `app.platform.autostart`."""

    def is_supported(self) -> bool: ...

    def is_on(self) -> bool: ...

    def set_on(self, on: bool) -> None:
        """Raises OSError."""
        ...


@dataclass(slots=True)
class WindowServices:
    """`watch` gets every event of every session."""

    list_devices: DeviceLister
    choices: WindowChoices
    missing_weights: Callable[[str], str] = lambda frontend: ""
    """Returns a sentence about what is missing of a front-end's weights; empty if nothing is."""
    backend_service: BackendService | None = None
    sound_service: SoundTestService | None = None
    history: HistoryStore | None = None
    machine: MachineService | None = None
    graphics: GraphicsService | None = None
    log: Log | None = None
    diagnose: DiagnoseAll | None = None
    demo: DemoService | None = None
    asking: Speaking | None = None
    models: ModelService | None = None
    updates: UpdateService | None = None
    start_at_login: StartAtLogin | None = None
    watch: Callable[[Event], None] = lambda event: None
