"""The status line at the bottom of the window: response time, usage, and the session's state."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt, Signal
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.conversation import events as e
from app.conversation.record.latency import Answer, Figures
from app.conversation.record.record import Change
from app.conversation.record.revisions import BackendUsage
from app.gui.design.icons import IconButton
from app.gui.design.model_look import model_words
from app.gui.design.plain import named, set_tip
from app.gui.design.theme import tokens
from app.gui.state.session_model import SessionModel
from app.gui.state.talk_state import TalkState
from app.gui.widgets.buttons import LinkButton
from app.gui.widgets.form import row
from app.gui.widgets.formats import decimal, dollars
from app.gui.widgets.formats import tokens as token_words
from app.gui.widgets.panel import ElidedLabel

SPACING_PX = 12
LOST_SECONDS = 0.1
"""The time spent on a failed model is shown if it is at least this."""


class StatusLine(QWidget):
    """The status line, which follows `model`.

    `middle`: the widget in the centre. `inspector`: the action that shows and hides the inspector.
    """

    latency_wanted = Signal()
    """Emitted when the response time is clicked."""

    def __init__(self, model: SessionModel, middle: QWidget, inspector: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self.inspector_button = IconButton("chevron-up", self.tr("Inspector"), self, keys="Ctrl+3", size=14)
        self.inspector_button.clicked.connect(inspector.trigger)
        inspector.toggled.connect(lambda on: self.inspector_button.set_name("chevron-down" if on else "chevron-up"))
        self.middle = middle
        self.response = LinkButton(self, does=self.latency_wanted)
        self.response.setAccessibleDescription(self.tr("Shows the latency in the inspector."))
        self.counts = named(ElidedLabel(parent=self), self.tr("Usage of this conversation"))
        self.state = ElidedLabel(parent=self)
        self.state.setAlignment(Qt.AlignmentFlag.AlignRight)
        parts = (self.inspector_button, self.response, middle, self.counts, self.state)
        row(*parts, within=self, spacing=SPACING_PX, margins=(8, 2, 12, 2), stretch=2)
        self._parts: list[str] = []
        self._gaps = 0
        self._budget: e.BudgetChanged | None = None
        self._stale = True
        self._last: Answer | None = None
        self._figures: Figures | None = None
        model.follow(self._take)
        model.began.connect(lambda _: self._begin())
        model.changed.connect(self._show_state)

    def _begin(self) -> None:
        self._parts, self._gaps = [], 0
        self._budget, self._stale = None, True
        self._last = self._figures = None

    def _take(self, change: Change) -> None:
        event = change.event
        match event:
            case e.SessionStarted():
                self._parts = [event.frontend, event.stt, event.backend, event.model]
            case e.BackendChanged(backend=backend, model=model):
                self._parts = [*self._parts[:2], backend, model]
            case e.FrontEndChanged(frontend=frontend):
                self._parts = [frontend, *self._parts[1:]]
            case e.SpeechChanged(stt=stt):
                self._parts = [*self._parts[:1], stt, *self._parts[2:]]
            case e.Underrun(count=count):
                self._gaps += count
            case e.FramesDropped() | e.SoundLost():
                self._gaps += 1
            case e.BudgetChanged():
                self._budget, self._stale = event, True
            case e.OracleRequested() | e.OracleEnded() | e.OracleCounted():
                self._stale = True

    def _show_state(self) -> None:
        """Shows the session's state, and the usage if it has changed."""
        short, whole = self._state(self._model.talk, self._model.progress)
        self.state.setText(short)
        set_tip(self.state, whole)
        self.state.setAccessibleName(whole)
        if self._stale:
            self._stale = False
            details = "\n".join(self._details())
            self.counts.setText(self._cost())
            set_tip(self.counts, details)
            self.counts.setAccessibleDescription(details)
        self._show_response()

    def show_latency(self, last: Answer | None, figures: Figures | None) -> None:
        """Shows the response time of the last answer and its statistics over the session.

        `last`: None before the first answer. `figures`: None if there are too few answers.
        """
        self._last, self._figures = last, figures
        self._show_response()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paints a separator at the top."""
        with QPainter(self) as painter:
            painter.fillRect(QRectF(0, 0, self.width(), 1), QColor(tokens().line))

    # -- usage

    def _cost(self) -> str:
        """Returns what the conversation has cost, or an empty string if it has cost nothing. All else is a detail."""
        usage = self._model.record.usage.total
        parts = [dollars(usage.cost)] if usage.cost else []
        if usage.unpriced:
            parts.append(self.tr("more of unknown price") if usage.cost else self.tr("price unknown"))
        return " · ".join(parts)

    def usage_summary(self) -> str:
        """Returns a one-line summary of usage and cost, or an empty string before the first request."""
        usage = self._model.record.usage.total
        if not usage.requests:
            return ""
        one = usage.requests == 1
        parts = [self.tr("1 request") if one else self.tr("{0} requests").format(usage.requests)]
        if usage.superseded:
            one = usage.superseded == 1
            parts[0] += self.tr(", 1 cut short") if one else self.tr(", {0} cut short").format(usage.superseded)
        taken = usage.tokens_in + usage.tokens_out
        if not taken:
            return parts[0]
        parts.append(self.tr("{0} tokens").format(token_words(taken)))
        parts.append(self._cost() or dollars(0.0))
        return " · ".join(parts)

    def _details(self) -> list[str]:
        usage = self._model.record.usage.total
        if not usage.requests:
            return [self.tr("The requests to the models, and what they cost, are counted here.")]
        lines = [
            self.tr("{0} requests, of which {1} were cut short by a newer one").format(
                usage.requests, usage.superseded
            ),
            self.tr("{0} tokens in, {1} out").format(f"{usage.tokens_in:,}", f"{usage.tokens_out:,}"),
        ]
        lines += [
            f"{model_words(*name)}: {self._backend(backend)}"
            for name, backend in self._model.record.usage.backends.items()
        ]
        if self._budget is not None and self._budget.cap > 0:
            lines.append(self._cap(self._budget))
        return lines

    def _backend(self, backend: BackendUsage) -> str:
        parts = [
            self.tr("{0} requests").format(backend.requests) if backend.requests != 1 else self.tr("1 request"),
            self.tr("{0} cut short").format(backend.superseded),
            self.tr("{0} in, {1} out").format(f"{backend.tokens_in:,}", f"{backend.tokens_out:,}"),
        ]
        if backend.failed:
            parts.insert(2, self.tr("{0} failed").format(backend.failed))
        if backend.tokens_cached:
            parts.append(self.tr("{0} from the cache").format(f"{backend.tokens_cached:,}"))
        if backend.estimated:
            parts.append(self.tr("estimated") if backend.estimated >= backend.requests else self.tr("partly estimated"))
        if backend.cost or not backend.unpriced:
            parts.append(dollars(backend.cost))
        if backend.unpriced:
            parts.append(self.tr("no price known"))
        return ", ".join(parts)

    def _cap(self, budget: e.BudgetChanged) -> str:
        stage = {
            "free": self.tr("all is well"),
            "slow": self.tr("the model is asked less often"),
            "stop": self.tr("models that cost money are no longer asked"),
        }[budget.stage]
        return self.tr("Spending limit: {0} of {1}; {2}").format(dollars(budget.spent), f"${budget.cap:.2f}", stage)

    # -- the response times

    def _show_response(self) -> None:
        short = self._response()
        whole, figures = short, self._figures
        if figures is not None and self._last is not None:
            whole = self.tr("{0} · median {1} s · 95 % {2} s").format(
                short, decimal(figures.median, 2), decimal(figures.p95, 2)
            )
        if self.response.text() != short:
            self.response.setText(short)
        if self.response.accessibleName() != whole:  # otherwise, screen readers would repeat it after every batch
            set_tip(self.response, self.tr("{0}.\nClick to see where the time went.").format(whole))
            self.response.setAccessibleName(whole)

    def _response(self) -> str:
        if self._last is None:
            return self.tr("No answer yet")
        seconds, lost = self._last.response, self._last.lost
        if lost >= LOST_SECONDS:
            words = self.tr("First word after {0} s ({1} s for a model that failed)")
            return words.format(decimal(seconds, 1), decimal(lost, 1))
        if seconds < 0:
            return self.tr("First word {0} s before you ended").format(decimal(-seconds, 1))
        return self.tr("First word after {0} s").format(decimal(seconds, 1))

    # -- the state

    def _state(self, talk: TalkState, progress: str) -> tuple[str, str]:
        """Returns the short text to display, and the full description for the tooltip."""
        if talk.phase == "loading":
            words = self.tr("Getting ready ({0})").format(progress or self.tr("one moment"))
            return words, words
        if talk.phase == "stopped":
            return self.tr("Stopped"), self.tr("Stopped")
        made_of = " · ".join(part for part in self._parts if part)
        whole = self.tr("Running: {0}").format(made_of) if made_of else self.tr("Running")
        if self._gaps == 1:
            return "", self.tr("{0} · 1 gap in the sound").format(whole)
        return "", self.tr("{0} · {1} gaps in the sound").format(whole, self._gaps) if self._gaps else whole
