"""The Sound dialog: devices, microphone processing, measurements, and the talk button with its hotkeys."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QGridLayout, QRadioButton, QWidget

from app.conversation.events import Processing, SoundMeasured
from app.gui.design.plain import PlainLabel
from app.gui.hotkeys.hotkey import hotkey_fault
from app.gui.sound.tests import SoundTests
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets import form
from app.gui.widgets.form import add_items, column, label_of, wrapped
from app.gui.widgets.key_field import KeyField
from app.gui.widgets.panel import Panel, Quiet
from app.platform import single_instance
from app.services.sound_service import SoundTestService
from app.settings.declarations import Settings

SAME_PPM = 1.0
"""Clock drift below this value is treated as zero. 1 ppm amounts to 4 ms per hour."""


class Measurements(QWidget):
    """Describes the audio measurements in three lines. Emits `reshaped` when its height changes."""

    reshaped = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.echo, self.clocks, self.losses = (Quiet(parent=self, selectable=True) for _ in range(3))
        self.echo.setAccessibleName(self.tr("Echo measured"))
        self.clocks.setAccessibleName(self.tr("Clocks measured"))
        self.clocks.setToolTip(self.tr("ppm: parts per million. 12 ppm are a second a day."))
        self.losses.setAccessibleName(self.tr("Sound lost"))
        grid = self._grid = label_grid(self)
        for row, (title, label) in enumerate(
            ((self.tr("Echo"), self.echo), (self.tr("Clocks"), self.clocks), (self.tr("Losses"), self.losses))
        ):
            grid.addWidget(PlainLabel(title, self), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, row, 1)
        self.show_measured(None, echo_cancellation=True)

    def show_measured(self, measured: SoundMeasured | None, *, echo_cancellation: bool) -> None:
        """Shows the latest measurements. `measured` is None if no conversation is running."""
        if measured is None:
            texts = (self.tr("Nothing is measured, since no conversation is running."), "–", "–")
        else:
            texts = (self._echo(measured, echo_cancellation), self._clocks(measured.drift_ppm), self._losses(measured))
        reshaped = False
        for label, text in zip((self.echo, self.clocks, self.losses), texts, strict=True):
            if label.text() != text:  # setting the same text again would clear the selection
                before = label.heightForWidth(label.width())
                label.setText(text)
                reshaped |= label.heightForWidth(label.width()) != before
        if reshaped:
            self._grid.activate()  # gives the dialog the new height immediately
            self.reshaped.emit()

    def _echo(self, measured: SoundMeasured, echo_cancellation: bool) -> str:
        reduction = "" if measured.erle_db is None else f"{max(0.0, measured.erle_db):.0f}"
        if measured.echo_remains:
            problem = self.tr("Echo remains, and the app may mistake its own voice for yours.")
            if reduction:
                problem = self.tr(
                    "Echo remains: it is made {0} dB quieter, and the app may still mistake its own voice for yours."
                ).format(reduction)
            if not echo_cancellation:
                return problem + " " + self.tr("Switch echo cancellation on, or use headphones.")
            advice = self.tr("Turn the loudspeaker down, move the microphone away from it, or use headphones.")
            return f"{problem} {advice}"
        if not echo_cancellation:
            return self.tr("Not measured: echo cancellation is off.")
        if reduction:
            return self.tr("Echo is made {0} dB quieter.").format(reduction)
        return self.tr("No echo measured: headphones, or nothing has been said yet.")

    def _clocks(self, ppm: float | None) -> str:
        if ppm is None:
            return self.tr("Not known yet.")
        if abs(ppm) < SAME_PPM:
            return self.tr("Loudspeaker and microphone keep the same time.")
        if ppm > 0:
            return self.tr("The loudspeaker's clock runs {0:.0f} ppm fast; this is corrected.").format(ppm)
        return self.tr("The loudspeaker's clock runs {0:.0f} ppm slow; this is corrected.").format(-ppm)

    def _losses(self, measured: SoundMeasured) -> str:
        if not measured.overrun_ms and not measured.underruns:
            return self.tr("None of your voice was lost, and the app's had no gaps.")
        losses = self.tr("{0} ms of your voice were lost; gaps in the app's voice: {1}. The machine may be too busy.")
        return losses.format(measured.overrun_ms, measured.underruns)


def label_grid(parent: QWidget | None = None) -> QGridLayout:
    """Returns a layout for rows that consist of a label and a wide widget. The minimum width of the label column is the
    same in all such layouts, so that they line up.
    """
    layout = form.grid(12, 6, stretch=1, within=parent)
    layout.setColumnMinimumWidth(0, PlainLabel().fontMetrics().averageCharWidth() * 10)
    return layout


class TalkButtonBox(QWidget):
    """Edits the talk button's mode and the hotkeys, and emits the user's choices. Invalid hotkeys are not emitted."""

    mode_changed = Signal(str)
    """Emits the newly selected mode, `hold` or `toggle`."""
    hotkeys_changed = Signal(str, str)
    """Emits the new keys for talking and muting, such as `Ctrl+Alt+M`; empty for none."""
    keys_typed = Signal(bool)
    """Emits whether a hotkey field is recording key presses. Global hotkeys should be disabled meanwhile."""
    reshaped = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.hold = QRadioButton(self.tr("&hold it while you talk"), self)
        self.hold.setAccessibleName(self.tr("Talk button: hold it while you talk"))
        self.toggle = QRadioButton(self.tr("press it &once to talk, and once to end"), self)
        self.toggle.setAccessibleName(self.tr("Talk button: press it once to talk, and once to end"))
        self._modes = QButtonGroup(self)
        self.keys_label = Quiet(self.tr("These keys work while another window has the keyboard:"), self)
        self.talk_keys = KeyField(self.tr("Keys to talk"), self)
        self.mute_keys = KeyField(self.tr("Keys to mute"), self)
        self.granted = Quiet(parent=self, name=self.tr("Keys that your desktop uses"))
        self._granted = {"talk": "", "mute": ""}
        self.refusal = wrapped(self, self.tr("Why these keys can't be used"))
        self.trouble = Quiet(parent=self, selectable=True, name=self.tr("Trouble with the keys"))
        self._lay_out()
        for button, mode in ((self.hold, "hold"), (self.toggle, "toggle")):
            self._modes.addButton(button)
            button.clicked.connect(lambda _=False, mode=mode: self.mode_changed.emit(mode))
        for field, other in ((self.talk_keys, self.mute_keys), (self.mute_keys, self.talk_keys)):
            field.entered.connect(self.keys_typed)
            field.wanted.connect(lambda keys, field=field, other=other: self._set_keys(field, other, keys))
        self._set_text(self.refusal, "")
        self.show_trouble("")
        self.show_granted("talk", "")

    def show_settings(self, settings: Settings) -> None:
        """Shows the values in `settings`."""
        (self.toggle if settings.talk_mode == "toggle" else self.hold).setChecked(True)
        self.talk_keys.show_keys(settings.talk_hotkey)
        self.mute_keys.show_keys(settings.mute_hotkey)
        self._set_text(self.refusal, "")

    def show_trouble(self, sentence: str, none_work: bool = False) -> None:
        """Shows an error message about hotkeys, and commands to use instead. An empty `sentence` hides both.
        `none_work`: whether all hotkeys have failed.
        """
        self.keys_label.setVisible(not (sentence and none_work))
        self._set_text(self.trouble, f"{sentence}\n{self._commands()}" if sentence else "")

    def show_granted(self, name: str, words: str) -> None:
        """Shows the desktop environment's description of the keys for "talk" or "mute". An empty `words` hides it."""
        self._granted[name] = words
        purposes = {"talk": self.tr("{0} to talk"), "mute": self.tr("{0} to mute")}
        parts = [purposes[purpose].format(keys) for purpose, keys in self._granted.items() if keys]
        self._set_text(self.granted, self.tr("Your desktop uses: {0}").format(" · ".join(parts)) if parts else "")

    def _set_text(self, label: PlainLabel, text: str) -> None:
        label.say(text)
        self._column.activate()  # gives the dialog the new height immediately
        self.reshaped.emit()

    def _set_keys(self, field: KeyField, other: KeyField, keys: str) -> None:
        refusal = hotkey_fault(keys)
        if keys and keys == other.keys:
            refusal = self.tr("“{0}” can't both talk and mute. Press other keys.").format(keys)
        self._set_text(self.refusal, refusal)
        field.show_keys(field.keys if refusal else keys)
        if not refusal:
            self.hotkeys_changed.emit(self.talk_keys.keys, self.mute_keys.keys)

    def _commands(self) -> str:
        purposes = (
            ("toggle", self.tr("starts your turn, and the next time ends it")),
            ("mute-toggle", self.tr("mutes the microphone, and the next time unmutes it")),
            ("press", self.tr("starts your turn, for a key that can run one command when it goes down …")),
            ("release", self.tr("… and another when it goes up: this one ends your turn")),
        )
        command = single_instance.command()
        return "\n".join(
            (
                self.tr("In your system's own keyboard settings, you can assign these commands to keys:"),
                *(f"{command} ptt {word} – {purpose}" for word, purpose in purposes),
            )
        )

    def _lay_out(self) -> None:
        grid = label_grid()
        for line, (text, field) in enumerate(((self.tr("&Talk"), self.talk_keys), (self.tr("&Mute"), self.mute_keys))):
            grid.addWidget(label_of(field.edit, text, self), line, 0)
            grid.addWidget(field, line, 1)
        modes = form.row(self.hold, self.toggle, None, spacing=18)
        parts = (modes, self.keys_label, grid, self.granted, self.refusal, self.trouble)
        self._column = form.column(*parts, within=self, spacing=8)


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
    """Shows the audio settings. Its parts emit the user's choices; the settings themselves are left unchanged."""

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
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"), does=self.close)
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
        self.processing.changed.connect(lambda _: self._show_measured())
        self.left.connect(self.tests.leave)
        self._show_settings()

    def open_refreshed(self) -> None:
        """Opens the dialog with the current settings."""
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
        self.tests.show_devices(self._settings.microphone, self._settings.loudspeaker)
        self.processing.show_settings(self._settings)
        self.talk_button.show_settings(self._settings)
        self._show_measured()

    def _show_measured(self) -> None:
        self.measurements.show_measured(self._measured, echo_cancellation=self.processing.echo.isChecked())
