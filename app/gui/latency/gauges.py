"""Shows the front-end's context, the time budget of the frames, and the costs of a conversation."""

from __future__ import annotations

from PySide6.QtWidgets import QGridLayout, QProgressBar, QWidget

from app.conversation.events import ContextMeasured
from app.conversation.frame import FRAME_MS, FRAME_SECONDS
from app.conversation.frame_budget import FrameBudget
from app.conversation.usage import ConversationUsage
from app.gui.design.plain import PlainLabel
from app.gui.widgets.formats import clock_words, dollars
from app.gui.widgets.panel import Quiet

BAR_WIDTH_PX = 130


class LatencyGauges(QWidget):
    """Three lines; the one for the memory is hidden for a front-end without any."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.memory, self.frames = QProgressBar(self), QProgressBar(self)
        self.memory.setAccessibleName(self.tr("Memory of the conversation"))
        self.frames.setAccessibleName(self.tr("Budget of a step"))
        self.memory_words, self.frame_words, self.cost_words = (Quiet(parent=self, selectable=True) for _ in range(3))
        self.memory_words.setAccessibleName(self.tr("Memory in words"))
        self.frame_words.setAccessibleName(self.tr("Steps in words"))
        self.cost_words.setAccessibleName(self.tr("Cost in words"))
        self.memory_title, steps, cost = (
            PlainLabel(text, self) for text in (self.tr("Memory"), self.tr("Steps"), self.tr("Cost"))
        )
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(10)
        grid.setVerticalSpacing(6)
        grid.setColumnStretch(2, 1)
        for line, (title, bar, words) in enumerate(
            (
                (self.memory_title, self.memory, self.memory_words),
                (steps, self.frames, self.frame_words),
                (cost, None, self.cost_words),
            )
        ):
            grid.addWidget(title, line, 0)
            if bar is not None:
                bar.setFixedWidth(BAR_WIDTH_PX)
                grid.addWidget(bar, line, 1)
            grid.addWidget(words, line, 2 if bar is not None else 1, 1, 1 if bar is not None else 2)
        self.show_all(None, FrameBudget(), ConversationUsage())

    def show_all(self, context: ContextMeasured | None, frames: FrameBudget, usage: ConversationUsage) -> None:
        """Shows the present state of a conversation."""
        for widget in (self.memory_title, self.memory, self.memory_words):
            widget.setVisible(context is not None)
        if context is not None:
            self.memory.setRange(0, max(1, context.capacity))
            self.memory.setValue(min(context.frames, context.capacity))
            share = 100 * context.frames / max(1, context.capacity)
            self.memory.setFormat(self.tr("{0} %").format(f"{share:.0f}"))
        self._say(self.memory_words, self.memory_line(context))
        late = frames.quantile_ms(0.99)
        self.frames.setRange(0, FRAME_MS)
        self.frames.setValue(min(FRAME_MS, max(0, round(late or 0))))
        self.frames.setFormat("" if late is None else self.tr("{0} of {1} ms").format(f"{late:.0f}", FRAME_MS))
        self._say(self.frame_words, self.frame_line(frames))
        self._say(self.cost_words, self.cost_line(usage))

    @property
    def lines(self) -> list[str]:
        """All that is shown, as plain text."""
        shown = [(self.tr("Steps"), self.frame_words.text()), (self.tr("Cost"), self.cost_words.text())]
        if self.memory_words.text():
            shown.insert(0, (self.tr("Memory"), self.memory_words.text()))
        return [f"{title}: {words}" for title, words in shown]

    def memory_line(self, context: ContextMeasured | None) -> str:
        """How much of the conversation the front-end remembers."""
        if context is None:
            return ""
        return self.tr("The voice's model remembers {0} of {1} minutes.").format(
            clock_words(round(context.frames * FRAME_SECONDS)), clock_words(round(context.capacity * FRAME_SECONDS))
        )

    def frame_line(self, frames: FrameBudget) -> str:
        """How long the steps took."""
        half, most = frames.quantile_ms(0.5), frames.quantile_ms(0.99)
        if half is None or most is None:
            return self.tr("KAME hears and speaks in steps of {0} ms; none was taken yet.").format(FRAME_MS)
        return self.tr(
            "Half end within {0} ms, 99 % within {1} ms. Too late: {2}; dropped: {3}; gaps in the sound: {4}."
        ).format(f"{half:.1f}", f"{most:.1f}", frames.late, frames.dropped, frames.gaps)

    def cost_line(self, usage: ConversationUsage) -> str:
        """The usage and costs of the conversation."""
        if not usage.requests:
            return self.tr("No model was asked yet.")
        one = usage.requests == 1
        parts = [self.tr("1 request") if one else self.tr("{0} requests").format(usage.requests)]
        if usage.superseded:
            parts[0] += " " + self.tr("({0} cut short)").format(usage.superseded)
        if usage.tokens_in or usage.tokens_out:
            parts.append(self.tr("{0} tokens in, {1} out").format(f"{usage.tokens_in:,}", f"{usage.tokens_out:,}"))
            unknown = any(backend.unpriced for backend in usage.backends.values())
            if usage.cost or not unknown:
                parts.append(dollars(usage.cost))
            if unknown:
                parts.append(self.tr("more of unknown price") if usage.cost else self.tr("price unknown"))
        return " · ".join(parts)

    @staticmethod
    def _say(label: Quiet, text: str) -> None:
        if label.text() != text:  # or a screen reader says it again, and a selection is lost
            label.setText(text)
