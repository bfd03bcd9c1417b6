"""Follows one question of the swap demo through a session's events: how fast it was answered, and what was spoken.

Pure: time is the events' own, in seconds. Response times are those of the window's line and the latency panel.
"""

from __future__ import annotations

from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.conversation.latency import Stages
from app.conversation.revisions import Revision, RevisionLog

QUIET_DBFS = -50.0
"""Below this the voice is silent."""

_EARLY_SECONDS = 0.5
"""The start of speech may be reported before the speech itself, by so much at most."""

OVER_SECONDS = 1.0
"""So long after its end an answer is over: an early one might have been taken back."""


class QuestionTracker:
    """Gets all events of a session (`apply`) and each question that is put to it (`ask`)."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lost = ""
        """Why the session is over."""
        self._stages = Stages()
        self._revisions = RevisionLog(Revision)
        self._reset(0.0, 0.0)

    def _reset(self, start: float, end: float) -> None:
        self._start, self._end = start, end
        self.speaking = False
        """Whether the voice speaks now."""
        self._quiet_since: float | None = None
        self._answered_at: float | None = None
        self._turn = 0
        self._spoken: list[tuple[int, str, bool]] = []
        self.trouble = ""
        self._trouble_at = 0.0
        self._swap_requested_at: float | None = None
        self._swapped = False
        self._swap_order: int | None = None
        self._swap_spoken_at: float | None = None
        self._quiet = self._longest_quiet = 0.0

    def ask(self, start: float, seconds: float) -> None:
        """Starts to follow a question, whose sound starts at `start` and lasts so long."""
        self._reset(start, start + seconds)

    def apply(self, event: e.Event) -> None:
        """Notes one event."""
        self.now = max(self.now, event.at)
        self._stages.apply(event)
        self._revisions.apply(event)
        match event:
            case e.UserStarted() if event.at >= self._start - _EARLY_SECONDS:
                self._turn, self._answered_at, self._spoken = event.turn, None, []
            case e.UserResumed() if event.turn == self._turn:
                self._answered_at = None  # words spoken in the gap did not answer the whole question
            case e.AssistantStarted() | e.AssistantResumed():
                self.speaking, self._quiet_since = True, None
                if isinstance(event, e.AssistantStarted) and event.turn == self._turn and self._answered_at is None:
                    self._answered_at = event.at
            case e.AssistantHeld() | e.AssistantEnded():
                self.speaking, self._quiet_since = False, event.at
            case e.AssistantSaid() if event.turn == self._turn:
                order = self._revisions.order(event.revision)
                self._spoken.append((order, event.text, event.glued))
                if self._swap_order is not None and order >= self._swap_order:
                    self._swap_spoken_at = event.at if self._swap_spoken_at is None else self._swap_spoken_at
            case e.OracleRequested(secondary=False):
                if self._swapped and self._swap_order is None:
                    self._swap_order = self._revisions.order(event.revision)
            case e.BackendChanged(reason="chosen") if self._swap_requested_at is not None:
                self._swapped = True
            case e.LevelMeasured():
                self._measure_quiet(event)
            case e.Failure():
                if event.fatal:
                    self.lost = event.sentence
                if event.source in ("backend", "session", "frontend") and not event.secondary:
                    self.trouble, self._trouble_at = event.sentence, event.at
            case e.SessionEnded():
                self.lost = self.lost or self.trouble or "The conversation has ended."

    def _measure_quiet(self, event: e.LevelMeasured) -> None:
        if self._swap_requested_at is None or self._swap_spoken_at is not None or not self.speaking:
            return
        self._quiet = self._quiet + FRAME_SECONDS if event.assistant_dbfs < QUIET_DBFS else 0.0
        self._longest_quiet = max(self._longest_quiet, self._quiet)

    # -- the answer

    @property
    def asked(self) -> bool:
        """Whether the question's sound is over."""
        return self.now >= self._end

    @property
    def answered_seconds(self) -> float | None:
        """For how long it has been answered; None while it has not."""
        if self._answered_at is None or not self.asked:
            return None
        return self.now - max(self._answered_at, self._end)

    @property
    def over(self) -> bool:
        """Whether it is answered, and the voice has been silent since for a while."""
        return (
            self.asked
            and self._answered_at is not None
            and not self.speaking
            and self._quiet_since is not None
            and self.now - max(self._quiet_since, self._end) >= OVER_SECONDS
            and bool(self._spoken)
        )

    @property
    def failed(self) -> bool:
        """Whether it will not be answered, since a back-end or the session has failed."""
        settled = bool(self.trouble) and self.now - self._trouble_at >= OVER_SECONDS
        return bool(self.lost) or (self.asked and settled and self._answered_at is None)

    @property
    def waited(self) -> float:
        """For how long an answer has been due."""
        return max(0.0, self.now - self._end) if self._answered_at is None else 0.0

    @property
    def response(self) -> float | None:
        """Seconds from the question's end to the answer's first sound."""
        answers = self._stages.answers
        return answers[-1].response if answers and self._answered_at is not None else None

    @property
    def first_words(self) -> float | None:
        """Seconds that the back-end took to its first words."""
        answers = self._stages.answers
        return answers[-1].took.get("backend") if answers and self._answered_at is not None else None

    @property
    def words(self) -> int:
        """How many words of the answer have been spoken."""
        return sum(len(text.split()) for _, text, _ in self._spoken)

    @property
    def text(self) -> str:
        """The answer as far as it was spoken."""
        return self._join(self._spoken)

    # -- the change in mid-answer

    def request_swap(self) -> None:
        """Notes that the back-end is to be changed now."""
        self._swap_requested_at, self._swapped, self._swap_order, self._swap_spoken_at = self.now, False, None, None
        self._quiet = self._longest_quiet = 0.0

    @property
    def swap_seconds(self) -> float | None:
        """Seconds from the request until words of the new back-end were spoken."""
        if self._swap_requested_at is None or self._swap_spoken_at is None:
            return None
        return self._swap_spoken_at - self._swap_requested_at

    @property
    def silence(self) -> float | None:
        """The longest silence of the voice in that time."""
        return self._longest_quiet if self._swap_spoken_at is not None else None

    @property
    def before(self) -> str:
        """What was spoken of the old back-end."""
        first_new = self._swap_order
        return self._join([part for part in self._spoken if first_new is None or part[0] < first_new])

    @property
    def after(self) -> str:
        """What was spoken of the new back-end."""
        first_new = self._swap_order
        return self._join([part for part in self._spoken if first_new and part[0] >= first_new])

    @staticmethod
    def _join(parts: list[tuple[int, str, bool]]) -> str:
        return "".join(("" if glued else " ") + text for _, text, glued in parts).strip()
