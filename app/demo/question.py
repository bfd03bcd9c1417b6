"""Follows one question of the swap demo through a session's events: how fast it was answered, and what was heard.

Pure: time is the events' own, in seconds. Response times are what the window's line and the latency panel say, too.
"""

from __future__ import annotations

from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.conversation.latency import Stages
from app.conversation.revisions import Revision, RevisionLog

QUIET_DBFS = -50.0
"""Below this the voice is silent."""

_EARLY_SECONDS = 0.5
"""A voice is told to have set in so much before its sound, at most."""

OVER_SECONDS = 1.0
"""So long behind its end an answer is over: an early one might have been taken back."""


class DemoEar:
    """`take` gets all events of a session; `ask` says that a question is being asked."""

    def __init__(self) -> None:
        self.now = 0.0
        self.lost = ""
        """Why the session is over."""
        self._stages = Stages()
        self._revisions = RevisionLog(Revision)
        self._begin_question(0.0, 0.0)

    def _begin_question(self, begins: float, ends: float) -> None:
        self._begins, self._ends = begins, ends
        self._speaking = False
        self._quiet_since: float | None = None
        self._began: float | None = None
        self._turn = 0
        self._said: list[tuple[int, str, bool]] = []
        self.trouble = ""
        self._trouble_at = 0.0
        self._swap_wished: float | None = None
        self._swapped = False
        self._swap_order: int | None = None  # the place of the new back-end's first revision
        self._swap_heard: float | None = None
        self._silent = self._silence = 0.0

    def ask(self, begins: float, seconds: float) -> None:
        """A question sounds from `begins` on, for so long."""
        self._begin_question(begins, begins + seconds)

    def take(self, event: e.Event) -> None:
        """Takes one event in."""
        self.now = max(self.now, event.at)
        self._stages.apply(event)
        self._revisions.apply(event)
        match event:
            case e.UserStarted() if event.at >= self._begins - _EARLY_SECONDS:
                self._turn, self._began, self._said = event.turn, None, []
            case e.UserResumed() if event.turn == self._turn:
                self._began = None  # what was said into the gap was no answer to the whole
            case e.AssistantStarted() | e.AssistantResumed():
                self._speaking, self._quiet_since = True, None
                if isinstance(event, e.AssistantStarted) and event.turn == self._turn and self._began is None:
                    self._began = event.at
            case e.AssistantHeld() | e.AssistantEnded():
                self._speaking, self._quiet_since = False, event.at
            case e.AssistantSaid() if event.turn == self._turn:
                order = self._revisions.order(event.revision)
                self._said.append((order, event.text, event.glued))
                if self._swap_order is not None and order >= self._swap_order:
                    self._swap_heard = event.at if self._swap_heard is None else self._swap_heard
            case e.OracleRequested(secondary=False):
                if self._swapped and self._swap_order is None:
                    self._swap_order = self._revisions.order(event.revision)
            case e.BackendChanged(reason="chosen") if self._swap_wished is not None:
                self._swapped = True
            case e.LevelMeasured():
                self._listen(event)
            case e.Failure():
                if event.fatal:
                    self.lost = event.sentence
                if event.source in ("backend", "session", "frontend") and not event.secondary:
                    self.trouble, self._trouble_at = event.sentence, event.at
            case e.SessionEnded():
                self.lost = self.lost or self.trouble or "The talk has ended."

    def _listen(self, event: e.LevelMeasured) -> None:
        if self._swap_wished is None or self._swap_heard is not None or not self._speaking:
            return
        self._silent = self._silent + FRAME_SECONDS if event.assistant_dbfs < QUIET_DBFS else 0.0
        self._silence = max(self._silence, self._silent)

    # -- what came of the question

    @property
    def asked(self) -> bool:
        """Whether the question has been asked to its end."""
        return self.now >= self._ends

    @property
    def begun(self) -> float | None:
        """For how long it has been answered; None while it has not."""
        return None if self._began is None or not self.asked else self.now - max(self._began, self._ends)

    @property
    def over(self) -> bool:
        """Whether it is answered, and the voice has been silent since for a while."""
        return (
            self.asked
            and self._began is not None
            and not self._speaking
            and self._quiet_since is not None
            and self.now - max(self._quiet_since, self._ends) >= OVER_SECONDS
            and bool(self._said)
        )

    @property
    def failed(self) -> bool:
        """Whether it will not be answered, since a brain or the session has failed."""
        told = bool(self.trouble) and self.now - self._trouble_at >= OVER_SECONDS
        return bool(self.lost) or (self.asked and told and self._began is None)

    @property
    def waited(self) -> float:
        """For how long it has been over, without an answer."""
        return max(0.0, self.now - self._ends) if self._began is None else 0.0

    @property
    def response(self) -> float | None:
        """Seconds from its last sound to the answer's first."""
        answers = self._stages.answers
        return answers[-1].response if answers and self._began is not None else None

    @property
    def first_words(self) -> float | None:
        """Seconds that the brain took to its first words."""
        answers = self._stages.answers
        return answers[-1].took.get("backend") if answers and self._began is not None else None

    @property
    def words(self) -> int:
        """How many words of the answer have been heard."""
        return sum(len(text.split()) for _, text, _ in self._said)

    @property
    def speaking(self) -> bool:
        """Whether the voice is at it."""
        return self._speaking

    @property
    def text(self) -> str:
        """The answer as far as it was heard."""
        return self._join(self._said)

    # -- the change in mid-answer

    def wish_swap(self) -> None:
        """The brain is to be changed, now."""
        self._swap_wished, self._swapped, self._swap_order, self._swap_heard = self.now, False, None, None
        self._silent = self._silence = 0.0

    @property
    def swap_seconds(self) -> float | None:
        """From the wish until words of the new brain were heard."""
        if self._swap_wished is None or self._swap_heard is None:
            return None
        return self._swap_heard - self._swap_wished

    @property
    def silence(self) -> float | None:
        """The longest that the voice was silent from the wish until then."""
        return self._silence if self._swap_heard is not None else None

    @property
    def before(self) -> str:
        """What was heard of the old brain."""
        return self._join([part for part in self._said if self._swap_order is None or part[0] < self._swap_order])

    @property
    def after(self) -> str:
        """What was heard of the new one."""
        return self._join([part for part in self._said if self._swap_order and part[0] >= self._swap_order])

    @staticmethod
    def _join(parts: list[tuple[int, str, bool]]) -> str:
        return "".join(("" if glued else " ") + text for _, text, glued in parts).strip()
