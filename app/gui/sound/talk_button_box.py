"""The section of the dialog “Sound” that chooses how the talk button works, and the hotkeys."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QRadioButton, QVBoxLayout, QWidget

from app.gui.design.plain import PlainLabel
from app.gui.hotkeys.hotkey import HotkeyRefused, read_hotkey
from app.gui.sound.measurements import label_grid
from app.gui.widgets.key_field import KeyField
from app.gui.widgets.panel import Quiet
from app.platform import single_instance
from app.settings.declarations import Settings


class TalkButtonBox(QWidget):
    """Emits what the user chooses; the hotkeys only once they are valid."""

    mode_changed = Signal(str)
    """`hold` or `toggle`."""
    hotkeys_changed = Signal(str, str)
    """The keys to talk and to mute, like `Ctrl+Alt+M`; empty for none."""
    keys_typed = Signal(bool)
    """Whether keys are typed into a field now."""
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
        self.granted = Quiet(parent=self)
        self.granted.setAccessibleName(self.tr("Keys that your desktop uses"))
        self._granted = {"talk": "", "mute": ""}
        self.refusal = PlainLabel(parent=self)
        self.refusal.setWordWrap(True)
        self.refusal.setAccessibleName(self.tr("Why these keys can't be used"))
        self.trouble = Quiet(parent=self, selectable=True)
        self.trouble.setAccessibleName(self.tr("Trouble with the keys"))
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
        """Shows the settings' values."""
        (self.toggle if settings.talk_mode == "toggle" else self.hold).setChecked(True)
        self.talk_keys.show_keys(settings.talk_hotkey)
        self.mute_keys.show_keys(settings.mute_hotkey)
        self._set_text(self.refusal, "")

    def show_trouble(self, sentence: str, none_work: bool = False) -> None:
        """Says why hotkeys don't work, and which commands to use instead; empty: they work. `none_work`: all fail."""
        self.keys_label.setVisible(not (sentence and none_work))
        self._set_text(self.trouble, f"{sentence}\n{self._commands()}" if sentence else "")

    def show_granted(self, name: str, words: str) -> None:
        """Says which keys the desktop uses to "talk" or "mute", in its own words; empty: it doesn't say."""
        self._granted[name] = words
        purposes = {"talk": self.tr("{0} to talk"), "mute": self.tr("{0} to mute")}
        parts = [purposes[purpose].format(keys) for purpose, keys in self._granted.items() if keys]
        self._set_text(self.granted, self.tr("Your desktop uses: {0}").format(" · ".join(parts)) if parts else "")

    def _set_text(self, label: PlainLabel, text: str) -> None:
        label.setText(text)
        label.setVisible(bool(text))
        self._column.activate()  # so that the dialog knows the new height at once
        self.reshaped.emit()

    def _set_keys(self, field: KeyField, other: KeyField, keys: str) -> None:
        refusal = ""
        try:
            read_hotkey(keys)
        except HotkeyRefused as error:
            refusal = str(error)
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
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        modes = QHBoxLayout()
        modes.setSpacing(18)
        modes.addWidget(self.hold)
        modes.addWidget(self.toggle)
        modes.addStretch(1)
        column.addLayout(modes)
        column.addWidget(self.keys_label)
        grid = label_grid()
        for row, (text, field) in enumerate(((self.tr("&Talk"), self.talk_keys), (self.tr("&Mute"), self.mute_keys))):
            label = PlainLabel(text, self)
            label.setBuddy(field.edit)
            grid.addWidget(label, row, 0)
            grid.addWidget(field, row, 1)
        column.addLayout(grid)
        for part in (self.granted, self.refusal, self.trouble):
            column.addWidget(part)
