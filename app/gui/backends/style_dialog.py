"""How a conversation is held: who answers, how warmly, how long, with which tools, and for how much at most.

Says what the user wants; does nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QLocale, Qt, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QRadioButton,
    QSlider,
    QWidget,
)

from app.gui.backends.tools_box import ToolsBox
from app.gui.widgets.panel import Panel, Quiet
from app.gui.widgets.pick_list import PickList
from app.services.model_service import VoiceView
from app.session.control import Length, Style, ToolChoice

MOST_DOLLARS = 1000.0
HOTTEST = 2.0
USUAL = 0.7
"""Where the temperature's slider stands when it is first switched on."""


class DollarBox(QDoubleSpinBox):
    """An amount without thousands' marks: whichever of “.” and “,” is typed is the decimal point."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        locale = QLocale(self.locale())
        options = QLocale.NumberOption
        locale.setNumberOptions(options.RejectGroupSeparator | options.OmitGroupSeparator)
        self.setLocale(locale)

    def validate(self, text: str, place: int) -> tuple[QValidator.State, str, int]:
        """As ever, but for the decimal point."""
        return super().validate(self._pointed(text), place)  # type: ignore[return-value]

    def valueFromText(self, text: str) -> float:
        """As ever, but for the decimal point."""
        return super().valueFromText(self._pointed(text))

    def _pointed(self, text: str) -> str:
        if text == self.specialValueText():
            return text
        point = self.locale().decimalPoint()
        return text.replace(",", point) if point == "." else text.replace(".", point)


class StyleDialog(Panel):
    """`used` tells a `Style`, a `ToolChoice`, the cap in dollars, and whether new conversations get them, too."""

    used = Signal(object, object, float, bool)
    prices_wanted = Signal()

    def __init__(self, parent: QWidget, mcp_servers: Sequence[str] = ()) -> None:
        super().__init__(parent)
        self.entitle(self.tr("Conversation: style, tools, cap"))
        self.persona = QPlainTextEdit(self)
        self.persona.setAccessibleName(self.tr("Persona"))
        self.persona.setPlaceholderText(
            self.tr(
                "Who answers, in your words: “You are a patient teacher of physics.” Empty: KAME as it comes, "
                "friendly and brief."
            )
        )
        self.persona.setTabChangesFocus(True)
        self.persona.setFixedHeight(self.fontMetrics().height() * 4 + 14)
        self.voice = PickList(self)
        self.voice.setAccessibleName(self.tr("Voice"))
        self.voice.setToolTip(self.tr("Who speaks in this conversation. KAME and Moshi keep their own voice."))
        self.own_temperature = QCheckBox(self.tr("the &brain's own"), self)
        self.own_temperature.setAccessibleName(self.tr("The brain's own temperature"))
        self.temperature = QSlider(Qt.Orientation.Horizontal, self)
        self.temperature.setAccessibleName(self.tr("Temperature"))
        self.temperature.setToolTip(self.tr("How freely it chooses its words: 0 sober and the same each time, 2 wild."))
        self.temperature.setRange(0, round(HOTTEST * 20))
        self.temperature.setPageStep(4)
        self.degrees = QLabel(self)
        self.degrees.setFixedWidth(self.fontMetrics().horizontalAdvance("0.00") + 4)
        self.lengths: dict[Length, QRadioButton] = {}
        self._length_group = QButtonGroup(self)
        for key, text, help in (
            ("short", self.tr("&short"), self.tr("A sentence or two.")),
            ("medium", self.tr("&medium"), self.tr("A few sentences.")),
            ("long", self.tr("&long"), self.tr("As many as it takes.")),
        ):
            radio = QRadioButton(text, self)
            radio.setAccessibleName(self.tr("Length: {0}").format(text.replace("&", "")))
            radio.setToolTip(help)
            self._length_group.addButton(radio)
            self.lengths[key] = radio  # type: ignore[index]
        self.tools = ToolsBox(mcp_servers, self)
        self.cap = DollarBox(self)
        self.cap.setAccessibleName(self.tr("Cap in dollars"))
        self.cap.setToolTip(
            self.tr("Near it, the brain is asked less often; at it, brains that cost are not asked any more.")
        )
        self.cap.setRange(0.0, MOST_DOLLARS)
        self.cap.setDecimals(2)
        self.cap.setSingleStep(0.1)
        self.cap.setPrefix("$")
        self.cap.setSpecialValueText(self.tr("no cap"))
        self.prices_button = self.button(self.tr("&Prices…"), self.tr("Prices"))
        self.prices_button.setToolTip(self.tr("What brains cost: the table that costs are counted by."))
        self.cost_words = Quiet(
            self.tr("What this brain costs isn't known, so the cap can't hold it. Enter its price."), self
        )
        self._cost_known = True
        self.always = QCheckBox(self.tr("also for &new conversations"), self)
        self.always.setAccessibleName(self.tr("Also for new conversations"))
        self.use_button = self.button(self.tr("&Use for this conversation"))
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"))
        self._lay_out()
        self.own_temperature.toggled.connect(self._show_degrees)
        self.temperature.valueChanged.connect(self._show_degrees)
        self.tools.reshaped.connect(self.fit)
        self.cap.valueChanged.connect(self._show_cost)
        self.prices_button.clicked.connect(self.prices_wanted)
        self.use_button.clicked.connect(self._use)
        self.close_button.clicked.connect(self.close)
        self.show_voices([], "auto")
        self.show_choice(Style(), ToolChoice(), 0.0)

    @property
    def style_choice(self) -> Style:
        """The style that is shown."""
        length = next(key for key, radio in self.lengths.items() if radio.isChecked())
        own = self.own_temperature.isChecked()
        temperature = None if own else self.temperature.value() / 20
        return Style(self.persona.toPlainText().strip(), temperature, length, self.voice.currentData() or "")

    def show_voices(self, voices: Sequence[VoiceView], language: str) -> None:
        """Offers the usual voice and those of `voices`, all that are here, which speak the talk's language: its two
        letters, or "auto" for any. The chosen one stays, and says if it can't speak.
        """
        chosen = self.voice.currentData() or ""
        self.voice.clear()
        self.voice.addItem(self.tr("the usual one"), "")
        for voice in voices:
            if language in ("auto", voice.language):
                self.voice.addItem(voice.label, voice.key)
            elif voice.key == chosen:
                self.voice.addItem(self.tr("{0} (speaks another language)").format(voice.label), voice.key)
        if self.voice.findData(chosen) < 0:
            self.voice.addItem(self.tr("{0} (not on this machine)").format(chosen), chosen)
        self.voice.setCurrentIndex(self.voice.findData(chosen))

    def show_choice(self, style: Style, tools: ToolChoice, cap: float) -> None:
        """Shows how the conversation is held."""
        self.persona.setPlainText(style.persona)
        if self.voice.findData(style.voice) < 0:
            self.voice.addItem(style.voice, style.voice)
        self.voice.setCurrentIndex(self.voice.findData(style.voice))
        own = style.temperature is None
        self.own_temperature.setChecked(own)
        self.temperature.setValue(round((USUAL if style.temperature is None else style.temperature) * 20))
        self.lengths[style.length].setChecked(True)
        self.tools.show_choice(tools)
        self.cap.setValue(cap)
        self.always.setChecked(False)
        self._show_degrees()
        self._show_cost()

    def show_cost(self, known: bool) -> None:
        """Whether what the brain costs is known; a cap can't hold it otherwise."""
        self._cost_known = known
        self._show_cost()

    def _use(self) -> None:
        self.cap.interpretText()
        self.used.emit(self.style_choice, self.tools.choice, self.cap.value(), self.always.isChecked())
        self.close()

    def _show_cost(self) -> None:
        helpless = self.cap.value() > 0 and not self._cost_known
        if helpless == self.cost_words.isHidden():
            self.cost_words.setVisible(helpless)
            self.fit()

    def _show_degrees(self) -> None:
        own = self.own_temperature.isChecked()
        self.temperature.setEnabled(not own)
        self.degrees.setText("" if own else f"{self.temperature.value() / 20:.2f}")

    def _lay_out(self) -> None:
        self.heading(self.tr("Who answers"))
        self.column.addWidget(self.persona)
        voice = QLabel(self.tr("V&oice"), self)
        voice.setBuddy(self.voice)
        row = QHBoxLayout()
        row.addWidget(voice)
        row.addSpacing(12)
        row.addWidget(self.voice, 1)
        self.column.addLayout(row)
        self.heading(self.tr("How"))
        grid = QGridLayout()
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(8)
        grid.setColumnStretch(1, 1)
        warmth = QLabel(self.tr("&Temperature"), self)
        warmth.setBuddy(self.temperature)
        row = QHBoxLayout()
        row.addWidget(self.own_temperature)
        row.addSpacing(8)
        row.addWidget(self.temperature, 1)
        row.addSpacing(4)
        row.addWidget(self.degrees)
        grid.addWidget(warmth, 0, 0)
        grid.addLayout(row, 0, 1)
        row = QHBoxLayout()
        row.setSpacing(18)
        for radio in self.lengths.values():
            row.addWidget(radio)
        row.addStretch(1)
        grid.addWidget(QLabel(self.tr("Length of answers"), self), 1, 0)
        grid.addLayout(row, 1, 1)
        cap = QLabel(self.tr("It may &cost at most"), self)
        cap.setBuddy(self.cap)
        row = QHBoxLayout()
        row.addWidget(self.cap)
        row.addSpacing(4)
        row.addWidget(self.prices_button)
        row.addStretch(1)
        grid.addWidget(cap, 2, 0)
        grid.addLayout(row, 2, 1)
        grid.addWidget(self.cost_words, 3, 1)
        self.column.addLayout(grid)
        self.heading(self.tr("Tools that the brain may use"))
        self.column.addWidget(self.tools)
        self.column.addStretch(1)
        self.column.addSpacing(4)
        self.column.addWidget(self.always)
        self.foot(self.use_button, self.close_button)
