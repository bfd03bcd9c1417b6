"""The "Style and tools" dialog: a conversation's persona, voice, temperature, length, tools and spending limit."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QPlainTextEdit,
    QRadioButton,
    QSlider,
    QWidget,
)

from app.conversation.prompt import Length
from app.gui.design.plain import PlainLabel, named, set_tip
from app.gui.tools.tools_box import ToolsBox
from app.gui.widgets.form import DollarBox, add_items, grid, label_of, row
from app.gui.widgets.lists import PickList
from app.gui.widgets.panel import Panel, Quiet
from app.services.model_service import VoiceView
from app.session.control import Style, ToolChoice

MOST_DOLLARS = 1000.0
HIGHEST_TEMPERATURE = 2.0
USUAL_TEMPERATURE = 0.7
"""The slider's initial value if the conversation uses the model's own temperature."""
STEPS = 20
"""Slider steps per 1.0 of temperature."""


class StyleDialog(Panel):
    """A dialog for the style and tools of one conversation.

    Emits `used` with a `Style`, a `ToolChoice`, the spending limit in dollars (0 for no limit) and whether they also
    apply to new conversations.
    """

    used = Signal(object, object, float, bool)
    prices_wanted = Signal()

    def __init__(self, parent: QWidget, mcp_servers: Sequence[str] = ()) -> None:
        super().__init__(parent)
        self.set_panel_title(self.tr("Style and tools"))
        self.persona = named(QPlainTextEdit(self), self.tr("Persona"))
        self.persona.setPlaceholderText(
            self.tr(
                "Who answers, in your words: “You are a patient teacher of physics.” Empty: KAME as it is, friendly "
                "and brief."
            )
        )
        self.persona.setTabChangesFocus(True)
        self.persona.setFixedHeight(self.fontMetrics().height() * 4 + 14)
        self.voice = named(PickList(self), self.tr("Voice"))
        self.voice.setToolTip(self.tr("Who speaks in this conversation. KAME and Moshi keep their own voice."))
        self._make_temperature()
        self._make_lengths()
        self.tools = ToolsBox(mcp_servers, self)
        self._make_cap()
        self.always = QCheckBox(self.tr("also for &new conversations"), self)
        self.always.setAccessibleName(self.tr("Also for new conversations"))
        self.use_button = self.button(self.tr("&Use for this conversation"), does=self._use)
        self.close_button = self.button(self.tr("Close"), self.tr("Close this dialog"), does=self.close)
        self._lay_out()
        self.tools.reshaped.connect(self.fit)
        self.show_voices([], "auto")
        self.show_choice(Style(), ToolChoice(), 0.0)

    @property
    def style_choice(self) -> Style:
        length = next(key for key, radio in self.lengths.items() if radio.isChecked())
        own = self.own_temperature.isChecked()
        temperature = None if own else self.temperature.value() / STEPS
        return Style(self.persona.toPlainText().strip(), temperature, length, self.voice.currentData() or "")

    def show_voices(self, voices: Sequence[VoiceView], language: str) -> None:
        """Lists the default voice and those of `voices` that speak `language`.

        `language`: a two-letter code, or "auto" for all voices. The selected voice is kept even if it isn't in `voices`
        or speaks another language, with a note saying so.
        """
        chosen = self.voice.currentData() or ""
        self.voice.clear()
        self.voice.addItem(self.tr("default voice"), "")
        for voice in voices:
            if language in ("auto", voice.language):
                self.voice.addItem(voice.label, voice.key)
            elif voice.key == chosen:
                self.voice.addItem(self.tr("{0} (speaks another language)").format(voice.label), voice.key)
        if self.voice.findData(chosen) < 0:
            self.voice.addItem(self.tr("{0} (not on this machine)").format(chosen), chosen)
        self.voice.setCurrentIndex(self.voice.findData(chosen))

    def show_choice(self, style: Style, tools: ToolChoice, cap: float) -> None:
        """Fills in a conversation's settings. `cap`: the spending limit in dollars, or 0 for no limit."""
        self.persona.setPlainText(style.persona)
        if self.voice.findData(style.voice) < 0:
            self.voice.addItem(style.voice, style.voice)
        self.voice.setCurrentIndex(self.voice.findData(style.voice))
        self.own_temperature.setChecked(style.temperature is None)
        temperature = USUAL_TEMPERATURE if style.temperature is None else style.temperature
        self.temperature.setValue(round(temperature * STEPS))
        self.lengths[style.length].setChecked(True)
        self.tools.show_choice(tools)
        self.cap.setValue(cap)
        self.always.setChecked(False)
        self._show_degrees()
        self._show_cost()

    def show_cost(self, known: bool) -> None:
        """Sets whether the model's price is known. If not, the dialog warns that a spending limit has no effect."""
        self._cost_known = known
        self._show_cost()

    def _use(self) -> None:
        self.cap.interpretText()
        self.used.emit(self.style_choice, self.tools.choice, self.cap.value(), self.always.isChecked())
        self.close()

    def _show_cost(self) -> None:
        ineffective = self.cap.value() > 0 and not self._cost_known
        if ineffective == self.cost_words.isHidden():
            self.cost_words.setVisible(ineffective)
            self.fit()

    def _show_degrees(self) -> None:
        own = self.own_temperature.isChecked()
        self.temperature.setEnabled(not own)
        self.degrees.setText("" if own else f"{self.temperature.value() / STEPS:.2f}")

    # -- construction

    def _make_temperature(self) -> None:
        self.own_temperature = QCheckBox(self.tr("the &model's own"), self)
        self.own_temperature.setAccessibleName(self.tr("The model's own temperature"))
        self.temperature = named(QSlider(Qt.Orientation.Horizontal, self), self.tr("Temperature"))
        self.temperature.setToolTip(self.tr("How freely it chooses its words: 0 sober and the same each time, 2 wild."))
        self.temperature.setRange(0, round(HIGHEST_TEMPERATURE * STEPS))
        self.temperature.setPageStep(4)
        self.degrees = PlainLabel(parent=self)
        self.degrees.setFixedWidth(self.fontMetrics().horizontalAdvance("0.00") + 4)
        self.own_temperature.toggled.connect(self._show_degrees)
        self.temperature.valueChanged.connect(self._show_degrees)

    def _make_lengths(self) -> None:
        self.lengths: dict[Length, QRadioButton] = {
            "short": self._length(self.tr("&short"), self.tr("A sentence or two.")),
            "medium": self._length(self.tr("m&edium"), self.tr("A few sentences.")),
            "long": self._length(self.tr("&long"), self.tr("As many as it takes.")),
        }
        self._length_group = QButtonGroup(self)
        for radio in self.lengths.values():
            self._length_group.addButton(radio)

    def _length(self, text: str, help: str) -> QRadioButton:
        radio = named(QRadioButton(text, self), self.tr("Length: {0}").format(text.replace("&", "")))
        set_tip(radio, help)
        return radio

    def _make_cap(self) -> None:
        self.cap = named(DollarBox(self), self.tr("Spending limit in dollars"))
        self.cap.setToolTip(
            self.tr(
                "Near the limit, the model is asked less often; at the limit, models that cost money are no longer "
                "asked."
            )
        )
        self.cap.setRange(0.0, MOST_DOLLARS)
        self.cap.setDecimals(2)
        self.cap.setSingleStep(0.1)
        self.cap.setPrefix("$")
        self.cap.setSpecialValueText(self.tr("no limit"))
        self.prices_button = self.button(self.tr("&Prices…"), self.tr("Prices"), does=self.prices_wanted)
        self.prices_button.setToolTip(self.tr("What models cost. Costs are counted by this table."))
        self.cost_words = Quiet(
            self.tr("The price of this model is not known, so the limit has no effect. Enter its price."), self
        )
        self._cost_known = True
        self.cap.valueChanged.connect(self._show_cost)

    def _lay_out(self) -> None:
        self.heading(self.tr("Who answers"))
        voice = row(label_of(self.voice, self.tr("V&oice"), self), 12, self.voice, stretch=2)
        add_items(self.column, self.persona, voice)
        self.heading(self.tr("Answers"))
        how = grid(12, 8, stretch=1)
        temperature = row(self.own_temperature, 8, self.temperature, 4, self.degrees, stretch=2)
        how.addWidget(label_of(self.temperature, self.tr("&Temperature"), self), 0, 0)
        how.addLayout(temperature, 0, 1)
        how.addWidget(PlainLabel(self.tr("Length of answers"), self), 1, 0)
        how.addLayout(row(*self.lengths.values(), None, spacing=18), 1, 1)
        how.addWidget(label_of(self.cap, self.tr("Spen&ding limit"), self), 2, 0)
        how.addLayout(row(self.cap, 4, self.prices_button, None), 2, 1)
        how.addWidget(self.cost_words, 3, 1)
        self.column.addLayout(how)
        self.heading(self.tr("Tools that the model may use"))
        add_items(self.column, self.tools, None, 4, self.always)
        self.foot(self.use_button, self.close_button)
