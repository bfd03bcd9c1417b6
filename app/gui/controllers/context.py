"""What the window is given by the composition root, and what its controllers share."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from PySide6.QtWidgets import QMainWindow

from app.conversation.events import Event
from app.diagnostics.logs import Log
from app.gui.shell.commands import Commands
from app.gui.shell.message_bar import MessageBar
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.state.choice import WindowChoices
from app.gui.state.session_manager import SessionManager
from app.gui.state.session_model import SessionModel
from app.gui.state.settings_controller import SettingsController
from app.services.backend_service import BackendService
from app.services.graphics_service import GraphicsService
from app.services.machine_service import MachineService
from app.services.model_service import ModelService
from app.services.sound_service import SoundTestService
from app.services.updates import UpdateService
from app.settings.declarations import Settings

if TYPE_CHECKING:
    from app.demo.service import DemoService
    from app.history.store import HistoryStore

DeviceLister = Callable[[], tuple[list[str], list[str]]]
"""Returns the names of the microphones and the loudspeakers. It is called on a worker thread, and may take a while."""

DiagnoseAll = Callable[[bool, Sequence[tuple[str, Sequence[tuple[str, str]]]]], Coroutine[Any, Any, str]]
"""Writes diagnostics, with or without what was said, and with these additional sections (a title, and facts)."""


class StartAtLogin(Protocol):
    """Whether the app is started when the user logs in; see `app.platform.autostart`."""

    def is_supported(self) -> bool: ...

    def is_on(self) -> bool: ...

    def set_on(self, on: bool) -> None:
        """Raises OSError."""
        ...


class Speaking(Protocol):
    """Turns a question into sound, like `AskingService`."""

    async def speak(self, text: str, language: str, answering: str = "") -> np.ndarray:
        """Returns float32 mono 24 kHz. Raises UserError."""
        ...


@dataclass(slots=True)
class WindowServices:
    """The services behind the window; each is None if it is unavailable.

    - `missing_weights`: returns a message about what is missing of a front-end's weights, empty if nothing is.
    - `asking`: the voice that asks the sample questions.
    - `watch`: gets every event of every session.
    """

    list_devices: DeviceLister
    choices: WindowChoices
    missing_weights: Callable[[str], str] = lambda frontend: ""
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


@dataclass(frozen=True, slots=True)
class WindowContext:
    """What the window's controllers share.

    - `keep`: changes `settings` and saves them.
    - `model`: what the session is; `manager`: what it should be, and commands to it.
    - `window`: the parent of dialogs.
    """

    window: QMainWindow
    settings: Settings
    services: WindowServices
    keep: SettingsController
    background: BackgroundTasks
    model: SessionModel
    manager: SessionManager
    messages: MessageBar
    commands: Commands
