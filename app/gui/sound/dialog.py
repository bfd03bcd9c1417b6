"""The dialog “Sound”: the devices and how they do, what is done to the microphone's sound, what that comes to, and the
keys that talk and mute.

Reads the settings and says what the user wants; changes nothing itself. Knows nothing of talks.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QCheckBox, QGridLayout, QHBoxLayout, QLabel, QRadioButton, QWidget

from app.conversation.events import SoundMeasured
from app.conversation.sound_processing import Processing
from app.gui.hotkeys.hotkey import HotkeyRefused, read_hotkey
from app.gui.hotkeys.key_field import KeyField
from app.gui.sound.tests import SoundTests
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.widgets.panel import Panel, Quiet
from app.platform import single_instance
from app.services.sound_service import SoundTestService
from app.settings.declarations import Settings

WIDTH_PX = 600
INDENT_PX = 24
SAME_PPM = 1.0
"""Clocks that differ less keep the same time, for all that matters here: 4 ms an hour."""


class SoundDialog(Panel):
    """`test_began` and `test_ended`: meanwhile the microphone of the running talk is to be muted."""

    test_began = Signal()
    test_ended = Signal()
    processing_changed = Signal(object)
    """A `Processing`."""
    talk_mode_changed = Signal(str)
    """`hold` or `toggle`."""
    hotkeys_changed = Signal(str, str)
    """To talk, and to mute; like `Ctrl+Alt+M`, empty for none."""
    keys_typed = Signal(bool)
    """Keys are about to be typed into a field, or no longer: meanwhile the hotkeys should take none."""

    def __init__(
        self, settings: Settings, service: SoundTestService, background: BackgroundTasks, parent: QWidget
    ) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Sound"))
        self.setMinimumWidth(WIDTH_PX)
        self._settings = settings
        self._measured: SoundMeasured | None = None
        self.tests = SoundTests(service, background, self)
        self.echo = QCheckBox(self.tr("&Echo cancellation"), self)
        self.noise = QCheckBox(self.tr("&Noise suppression"), self)
        self.gain = QCheckBox(self.tr("Automatic &gain"), self)
        self.echo_words, self.clock_words, self.loss_words = (Quiet(parent=self, selectable=True) for _ in range(3))
        self.echo_words.setAccessibleName(self.tr("Echo measured"))
        self.clock_words.setAccessibleName(self.tr("Clocks measured"))
        self.clock_words.setToolTip(self.tr("ppm: millionths. 12 ppm are a second a day."))
        self.loss_words.setAccessibleName(self.tr("Sound lost"))
        self.hold = QRadioButton(self.tr("&hold it while you talk"), self)
        self.hold.setAccessibleName(self.tr("Talk button: hold it while you talk"))
        self.toggle = QRadioButton(self.tr("press it &once to talk, and once to end"), self)
        self.toggle.setAccessibleName(self.tr("Talk button: press it once to talk, and once to end"))
        self._modes = QButtonGroup(self)
        self._modes.addButton(self.hold)
        self._modes.addButton(self.toggle)
        self.talk_keys = KeyField(self.tr("Keys to talk"), self)
        self.mute_keys = KeyField(self.tr("Keys to mute"), self)
        self.keys_words = Quiet(self.tr("These keys work while another window has the keyboard:"), self)
        self.granted = Quiet(parent=self)
        self.granted.setAccessibleName(self.tr("Keys that your desktop uses"))
        self._granted = {"talk": "", "mute": ""}
        self.refusal = QLabel(self)
        self.refusal.setWordWrap(True)
        self.refusal.setAccessibleName(self.tr("Why these keys can't be used"))
        self.trouble = Quiet(parent=self, selectable=True)
        self.trouble.setAccessibleName(self.tr("Trouble with the keys"))
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"))
        self._lay_out()
        self._connect()
        self._refuse("")
        self.show_hotkey_trouble("")
        self.show_granted("talk", "")
        self._fill()

    def open_afresh(self) -> None:
        """Appears, with the settings as they are now. Where other devices are in use, `show_devices` them then."""
        if not self.isVisible():
            self.tests.clear()
            self._fill()
        self.appear()
        self.fit()
        self.tests.say_button.setFocus()

    def show_devices(self, microphone: str, loudspeaker: str) -> None:
        """Names the devices in use, which are those that are tried out; empty: the system's defaults."""
        self.tests.show_devices(microphone, loudspeaker)

    def show_level(self, user_dbfs: float, assistant_dbfs: float, at: float, clipped: bool) -> None:
        """Shows the levels of the talk's sound, in dBFS, at session time `at`."""
        self.tests.show_level(user_dbfs, assistant_dbfs, at, clipped)

    def show_health(self, measured: SoundMeasured | None) -> None:
        """Shows how the sound's edge does; None: no talk runs."""
        self._measured = measured
        self._show_measured()

    def show_hotkey_trouble(self, sentence: str, none_work: bool = False) -> None:
        """Says why keys don't work everywhere, and what does; empty: they do. `none_work`: not one of them does."""
        self.trouble.setText(f"{sentence}\n{self._ways_out()}" if sentence else "")
        self.trouble.setVisible(bool(sentence))
        self.keys_words.setVisible(not (sentence and none_work))
        self.fit()

    def show_granted(self, name: str, words: str) -> None:
        """Says which keys the desktop uses to "talk" or "mute", in its own words; empty: it does not tell."""
        self._granted[name] = words
        purposes = {"talk": self.tr("{0} to talk"), "mute": self.tr("{0} to mute")}
        told = [purposes[one].format(said) for one, said in self._granted.items() if said]
        self.granted.setText(self.tr("Your desktop uses: {0}").format(" · ".join(told)) if told else "")
        self.granted.setVisible(bool(told))
        self.fit()

    # -- what is shown

    def _fill(self) -> None:
        settings = self._settings
        self.show_devices(settings.microphone, settings.loudspeaker)
        self.echo.setChecked(settings.echo_cancellation)
        self.noise.setChecked(settings.noise_suppression)
        self.gain.setChecked(settings.auto_gain)
        (self.toggle if settings.talk_mode == "toggle" else self.hold).setChecked(True)
        self.talk_keys.show_keys(settings.talk_hotkey)
        self.mute_keys.show_keys(settings.mute_hotkey)
        self._refuse("")
        self._show_measured()

    def _show_measured(self) -> None:
        reshaped = False
        for label, words in zip(self._measures, self._measures_in_words(), strict=True):
            if label.text() != words:
                before = label.heightForWidth(label.width())
                label.setText(words)
                reshaped |= label.heightForWidth(label.width()) != before
        if reshaped:
            self.fit()

    @property
    def _measures(self) -> tuple[QLabel, QLabel, QLabel]:
        return self.echo_words, self.clock_words, self.loss_words

    def _measures_in_words(self) -> tuple[str, str, str]:
        measured = self._measured
        if measured is None:
            return (self.tr("Nothing is measured, since no talk runs."), "–", "–")
        if measured.overrun_ms or measured.underruns:
            loss = self.tr("{0} ms of your voice were lost; gaps in the app's voice: {1}. The machine may be too busy.")
            loss = loss.format(measured.overrun_ms, measured.underruns)
        else:
            loss = self.tr("None of your voice was lost, and the app's had no gaps.")
        return self._echo_in_words(measured), self._clocks_in_words(measured.drift_ppm), loss

    def _echo_in_words(self, measured: SoundMeasured) -> str:
        quieter = "" if measured.erle_db is None else f"{max(0.0, measured.erle_db):.0f}"
        if measured.echo_remains:
            words = self.tr("Echo remains, and the app may take its own voice for yours.")
            if quieter:
                words = self.tr(
                    "Echo remains: it is made {0} dB quieter, and the app may still take its own voice for yours."
                ).format(quieter)
            if not self.echo.isChecked():
                return words + " " + self.tr("Switch echo cancellation on, or use headphones.")
            more = self.tr("Turn the loudspeaker down, move the microphone away from it, or use headphones.")
            return f"{words} {more}"
        if not self.echo.isChecked():
            return self.tr("Not measured: echo cancellation is off.")
        if quieter:
            return self.tr("Echo is made {0} dB quieter.").format(quieter)
        return self.tr("No echo measured: headphones, or nothing has been said yet.")

    def _clocks_in_words(self, ppm: float | None) -> str:
        if ppm is None:
            return self.tr("Not known yet.")
        if abs(ppm) < SAME_PPM:
            return self.tr("Loudspeaker and microphone keep the same time.")
        if ppm > 0:
            return self.tr("The loudspeaker's clock runs {0:.0f} ppm fast; evened out.").format(ppm)
        return self.tr("The loudspeaker's clock runs {0:.0f} ppm slow; evened out.").format(-ppm)

    def _ways_out(self) -> str:
        ways = (
            ("toggle", self.tr("begins your turn to talk, and the next time ends it")),
            ("mute-toggle", self.tr("mutes the microphone, and the next time no longer")),
            ("press", self.tr("begins your turn, where a key can run one command when it goes down …")),
            ("release", self.tr("… and another when it goes up: this one ends your turn")),
        )
        command = single_instance.command()
        return "\n".join(
            (
                self.tr("In your system's own keyboard settings, you can give keys these commands:"),
                *(f"{command} ptt {word} – {purpose}" for word, purpose in ways),
            )
        )

    # -- what is wanted

    def _process(self) -> None:
        self._show_measured()
        self.processing_changed.emit(Processing(self.echo.isChecked(), self.noise.isChecked(), self.gain.isChecked()))

    def _take_keys(self, field: KeyField, other: KeyField, keys: str) -> None:
        refusal = ""
        try:
            read_hotkey(keys)
        except HotkeyRefused as error:
            refusal = str(error)
        if keys and keys == other.keys:
            refusal = self.tr("“{0}” can't both talk and mute. Press other keys.").format(keys)
        self._refuse(refusal)
        field.show_keys(field.keys if refusal else keys)
        if not refusal:
            self.hotkeys_changed.emit(self.talk_keys.keys, self.mute_keys.keys)

    def _refuse(self, sentence: str) -> None:
        self.refusal.setText(sentence)
        self.refusal.setVisible(bool(sentence))
        self.fit()

    # -- inner parts

    def _lay_out(self) -> None:
        self.heading(self.tr("Devices"))
        self.column.addWidget(self.tests)
        self.heading(self.tr("What is done to the microphone's sound"))
        for switch, words in (
            (self.echo, self.tr("Takes the app's own voice out of it, so that you can interrupt on loudspeakers.")),
            (self.noise, self.tr("Takes out what sounds on and on, such as a fan; a voice may lose some brightness.")),
            (self.gain, self.tr("Makes a quiet voice louder, and with it whatever else there is to hear.")),
        ):
            explained = Quiet(words, self)
            explained.setContentsMargins(INDENT_PX, 0, 0, 0)
            switch.setAccessibleName(switch.text().replace("&", ""))
            switch.setAccessibleDescription(words)
            self.column.addWidget(switch)
            self.column.addSpacing(-6)
            self.column.addWidget(explained)
        self.heading(self.tr("Measured in this talk"))
        grid = self._grid()
        for row, (text, label) in enumerate(
            (
                (self.tr("Echo"), self.echo_words),
                (self.tr("Clocks"), self.clock_words),
                (self.tr("Losses"), self.loss_words),
            )
        ):
            grid.addWidget(QLabel(text, self), row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(label, row, 1)
        self.column.addLayout(grid)
        self.heading(self.tr("Talk button"))
        row = QHBoxLayout()
        row.setSpacing(18)
        row.addWidget(self.hold)
        row.addWidget(self.toggle)
        row.addStretch(1)
        self.column.addLayout(row)
        self.column.addWidget(self.keys_words)
        grid = self._grid()
        for number, (text, field) in enumerate(
            ((self.tr("&Talk"), self.talk_keys), (self.tr("&Mute"), self.mute_keys))
        ):
            label = QLabel(text, self)
            label.setBuddy(field.edit)
            grid.addWidget(label, number, 0)
            grid.addWidget(field, number, 1)
        self.column.addLayout(grid)
        self.column.addWidget(self.granted)
        self.column.addWidget(self.refusal)
        self.column.addWidget(self.trouble)
        self.column.addStretch(1)
        self.foot(self.close_button)

    def _grid(self) -> QGridLayout:
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(1, 1)
        grid.setColumnMinimumWidth(0, self.fontMetrics().horizontalAdvance(self.tr("Losses")) + 12)
        return grid

    def _connect(self) -> None:
        self.tests.began.connect(self.test_began)
        self.tests.ended.connect(self.test_ended)
        self.tests.reshaped.connect(self.fit)
        for switch in (self.echo, self.noise, self.gain):
            switch.clicked.connect(self._process)
        self.hold.clicked.connect(lambda: self.talk_mode_changed.emit("hold"))
        self.toggle.clicked.connect(lambda: self.talk_mode_changed.emit("toggle"))
        for field in (self.talk_keys, self.mute_keys):
            field.entered.connect(self.keys_typed)
        self.talk_keys.wanted.connect(lambda keys: self._take_keys(self.talk_keys, self.mute_keys, keys))
        self.mute_keys.wanted.connect(lambda keys: self._take_keys(self.mute_keys, self.talk_keys, keys))
        self.close_button.clicked.connect(self.close)
        self.left.connect(self.tests.leave)
