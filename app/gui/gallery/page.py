"""The page of all components: type, colours, buttons, fields, choices, pills, the talk button, cards."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFrame,
    QGridLayout,
    QLayout,
    QLineEdit,
    QProgressBar,
    QPushButton,
    QRadioButton,
    QScrollArea,
    QSlider,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app.gui.backends.model_pill import ModelPill
from app.gui.cards.card import Card
from app.gui.cards.view import CardView
from app.gui.design.fonts import Size, code_font, set_size
from app.gui.design.icon_button import IconButton
from app.gui.design.plain import PlainLabel
from app.gui.design.theme import tokens
from app.gui.sound.mute_button import MuteButton
from app.gui.sound.talk_button import TalkButton
from app.gui.transcript.composer import Composer
from app.gui.widgets.form import row
from app.gui.widgets.level_meter import LevelMeter
from app.gui.widgets.panel import Quiet

SIZES: tuple[Size, ...] = ("caption", "small", "body", "title", "display")
COLOURS = (
    *("ground", "surface", "raised", "sunken", "hover", "pressed", "line", "outline", "text", "dim"),
    *("accent", "accent_hover", "accent_text", "accent_soft", "good", "warn", "bad"),
)
STATES = ("loading", "ready", "listening", "hearing", "thinking", "speaking", "stopped", "muted")
ICONS = ("mic", "mic-off", "audio-lines", "sparkles", "search", "settings", "copy", "pencil", "star", "download")


class Gallery(QScrollArea):
    """Everything once in each state that it has."""

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setWindowTitle("KAME: components")
        page = QWidget(self)
        self._column = QVBoxLayout(page)
        unit = tokens().unit
        self._column.setContentsMargins(6 * unit, 6 * unit, 6 * unit, 6 * unit)
        self._column.setSpacing(3 * unit)
        for title, part in (
            ("Type", self._type()),
            ("Colours", self._colours()),
            ("Buttons", self._buttons()),
            ("Fields", self._fields()),
            ("Choices", self._choices()),
            ("Model pill", self._pills()),
            ("Talk button", self._talk_buttons()),
            ("Composer", self._composer()),
            ("Levels and progress", self._levels()),
            ("Cards", self._cards()),
        ):
            heading = PlainLabel(title, page)
            set_size(heading, "title", QFont.Weight.DemiBold)
            self._column.addWidget(heading)
            self._column.addLayout(part) if isinstance(part, QLayout) else self._column.addWidget(part)
        self._column.addStretch(1)
        self.setWidget(page)

    def _type(self) -> QLayout:
        column = QVBoxLayout()
        for size in SIZES:
            label = PlainLabel(f"{size.capitalize()} – the quick brown fox jumps over the lazy dog", self)
            set_size(label, size)
            column.addWidget(label)
        code = PlainLabel("code – for word in words: speak(word)", self)
        code.setFont(code_font())
        column.addWidget(code)
        column.addWidget(Quiet("Dim – what helps, but need not be read", self))
        return column

    def _colours(self) -> QLayout:
        grid, shown = QGridLayout(), tokens()
        for place, name in enumerate(COLOURS):
            patch = QFrame(self)
            patch.setFixedSize(56, 32)
            patch.setStyleSheet(f"background: {getattr(shown, name)}; border: 1px solid {shown.outline};")
            label = PlainLabel(name, self)
            set_size(label, "caption")
            grid.addWidget(patch, place // 6 * 2, place % 6)
            grid.addWidget(label, place // 6 * 2 + 1, place % 6)
        return grid

    def _buttons(self) -> QLayout:
        column = QVBoxLayout()
        for properties in ({}, {"primary": True}, {"flat": True}):
            name = next(iter(properties), "quiet").capitalize()
            buttons = [QPushButton(f"{name}{state}", self) for state in ("", ", checked", ", disabled")]
            for button in buttons:
                for key, value in properties.items():
                    button.setProperty(key, value)
            buttons[1].setCheckable(True)
            buttons[1].setChecked(True)
            buttons[2].setEnabled(False)
            column.addLayout(row(*buttons, None, spacing=8))
        icons = [IconButton(name, name, self) for name in ICONS]
        icons[1].setCheckable(True)
        icons[1].setChecked(True)
        icons[2].setEnabled(False)
        column.addLayout(row(*icons, MuteButton(self), None, spacing=4))
        return column

    def _fields(self) -> QLayout:
        field, empty, off, numbers, choice = (
            QLineEdit(self),
            QLineEdit(self),
            QLineEdit(self),
            QSpinBox(self),
            QComboBox(self),
        )
        field.setText("Text")
        empty.setPlaceholderText("Placeholder")
        off.setText("Disabled")
        off.setEnabled(False)
        choice.addItems(["One of several", "Another"])
        return row(field, empty, off, numbers, choice, spacing=8)

    def _choices(self) -> QLayout:
        boxes: list[QCheckBox | QRadioButton] = []
        for kind in (QCheckBox, QRadioButton):
            for text, on, able in (("Off", False, True), ("On", True, True), ("Disabled", True, False)):
                box = kind(text, self)
                box.setAutoExclusive(False)
                box.setChecked(on)
                box.setEnabled(able)
                boxes.append(box)
        slider = QSlider(Qt.Orientation.Horizontal, self)
        slider.setValue(60)
        return row(*boxes, slider, spacing=8)

    def _pills(self) -> QLayout:
        pills = []
        for provider, name, detail in (
            ("embedded", "SmolLM2 135M", "Embedded"),
            ("anthropic", "claude-haiku-4-5", "Anthropic"),
            ("router", "Router", ""),
        ):
            pill = ModelPill(self)
            pill.show_model(provider, name, detail)
            pills.append(pill)
        return row(*pills, None, spacing=8)

    def _talk_buttons(self) -> QLayout:
        grid = QGridLayout()
        for place, state in enumerate(STATES):
            button = TalkButton(self)
            button.show_state(state, state.capitalize(), "what one can do now")
            if state in ("hearing", "speaking"):
                button.show_level(-18.0)
            grid.addWidget(button, place // 4, place % 4)
        return grid

    def _composer(self) -> QLayout:
        empty, typed = Composer(self), Composer(self)
        typed.field.setText("Typed, and ready to be sent")
        return row(empty, typed, spacing=12)

    def _levels(self) -> QLayout:
        meter, bar = LevelMeter("Level", self), QProgressBar(self)
        meter.set_level(-18.0, 1.0)
        bar.setValue(60)
        return row(meter, bar, spacing=12)

    def _cards(self) -> CardView:
        view = CardView(parent=self)
        for style, head, body in (
            ("user", (("You", "dim"),), (("A question of the user's.", "text"),)),
            (
                "assistant",
                (("KAME", "name"), ("   a model", "dim")),
                (("An answer, ", "heard"), ("as it is spoken.", "still")),
            ),
            ("live", (("2", "name"), ("   ", "gap"), ("speaking", "chip")), (("The thought that is spoken.", "text"),)),
            (
                "plain",
                (("1", "dim"), ("   ", "gap"), ("superseded by 2", "chip_dim")),
                (("A thought before it.", "struck"),),
            ),
            ("divider", (("Now answering: another model", "dim"),), ()),
        ):
            view.insert_card(len(view.cards), Card(head, body, style))
        view.setMinimumHeight(360)
        return view
