"""The Sound dialog: devices, microphone processing, measurements, and the talk button with its hotkeys."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox, QWidget

from app.conversation.events import Processing, SoundMeasured
from app.gui.sound.talk_button_box import Measurements, TalkButtonBox
from app.gui.sound.tests import SoundTests
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.form import add_items, column
from app.gui.widgets.panel import Panel, Quiet
from app.services.sound_service import SoundTestService
from app.settings.declarations import Settings

INDENT_PX = 24


class ProcessingBox(QWidget):
    """Check boxes for the three microphone processing options, each with an explanation."""

    changed = Signal(object)
    """Emits the selected `Processing`."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.echo = QCheckBox(self.tr("&Echo cancellation"), self)
        self.noise = QCheckBox(self.tr("&Noise suppression"), self)
        self.gain = QCheckBox(self.tr("Automatic &gain"), self)
        layout = column(within=self, spacing=8)
        for box, words in (
            (self.echo, self.tr("Removes the app's own voice, so that you can interrupt it while using loudspeakers.")),
            (self.noise, self.tr("Removes steady noise, such as a fan's; a voice may lose some brightness.")),
            (self.gain, self.tr("Makes a quiet voice louder, and everything else that can be heard with it.")),
        ):
            explanation = Quiet(words, self)
            explanation.setContentsMargins(INDENT_PX, 0, 0, 0)
            box.setAccessibleName(box.text().replace("&", ""))
            box.setAccessibleDescription(words)
            box.clicked.connect(lambda: self.changed.emit(self.processing))
            add_items(layout, box, -6, explanation)

    @property
    def processing(self) -> Processing:
        """The selected options."""
        return Processing(self.echo.isChecked(), self.noise.isChecked(), self.gain.isChecked())

    def show_settings(self, settings: Settings) -> None:
        """Shows the values in `settings`."""
        self.echo.setChecked(settings.echo_cancellation)
        self.noise.setChecked(settings.noise_suppression)
        self.gain.setChecked(settings.auto_gain)


WIDTH_PX = 600


class SoundDialog(Panel):
    """Shows the audio settings and emits the user's choices. Doesn't change the settings itself."""

    test_began = Signal()
    """Emitted when a device test starts. A running session must then be muted until `test_ended`."""
    test_ended = Signal()
    processing_changed = Signal(object)
    """Emits the newly selected `Processing`."""
    talk_mode_changed = Signal(str)
    """Emits the newly selected mode, `hold` or `toggle`."""
    hotkeys_changed = Signal(str, str)
    """Emits the new keys for talking and muting, such as `Ctrl+Alt+M`; empty for none."""
    keys_typed = Signal(bool)
    """Emits whether a hotkey field is recording key presses. Global hotkeys should be disabled meanwhile."""

    def __init__(
        self, settings: Settings, service: SoundTestService, background: BackgroundTasks, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Sound"))
        self.setMinimumWidth(WIDTH_PX)
        self._settings = settings
        self._measured: SoundMeasured | None = None
        self.tests = SoundTests(service, background, self)
        self.processing = ProcessingBox(self)
        self.measurements = Measurements(self)
        self.talk_button = TalkButtonBox(self)
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"))
        for title, section in (
            (self.tr("Devices"), self.tests),
            (self.tr("Processing of the microphone's sound"), self.processing),
            (self.tr("Measured in this conversation"), self.measurements),
            (self.tr("Talk button"), self.talk_button),
        ):
            self.heading(title)
            self.column.addWidget(section)
        self.column.addStretch(1)
        self.foot(self.close_button)
        for reshaping in (self.tests, self.measurements, self.talk_button):
            reshaping.reshaped.connect(self.fit)
        self.tests.began.connect(self.test_began)
        self.tests.ended.connect(self.test_ended)
        self.processing.changed.connect(self._on_processing_changed)
        self.talk_button.mode_changed.connect(self.talk_mode_changed)
        self.talk_button.hotkeys_changed.connect(self.hotkeys_changed)
        self.talk_button.keys_typed.connect(self.keys_typed)
        self.show_granted = self.talk_button.show_granted
        self.show_hotkey_trouble = self.talk_button.show_trouble
        self.show_devices = self.tests.show_devices
        self.show_level = self.tests.show_level
        self.close_button.clicked.connect(self.close)
        self.left.connect(self.tests.leave)
        self._show_settings()

    def open_refreshed(self) -> None:
        """Opens the dialog with the current settings. If the session uses other devices, then call `show_devices`."""
        if not self.isVisible():
            self.tests.clear()
            self._show_settings()
        self.appear()
        self.fit()
        self.tests.say_button.setFocus()

    def show_health(self, measured: SoundMeasured | None) -> None:
        """Shows the latest audio measurements. `measured` is None if no session is running."""
        self._measured = measured
        self._show_measured()

    def _show_settings(self) -> None:
        self.show_devices(self._settings.microphone, self._settings.loudspeaker)
        self.processing.show_settings(self._settings)
        self.talk_button.show_settings(self._settings)
        self._show_measured()

    def _show_measured(self) -> None:
        self.measurements.show_measured(self._measured, echo_cancellation=self.processing.echo.isChecked())

    def _on_processing_changed(self, processing: object) -> None:
        self._show_measured()
        self.processing_changed.emit(processing)
