"""What the conversation is doing right now, in one word.

Pure: folds a session's events; knows no widget and no clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.conversation import events as e
from app.conversation.record.revisions import Revision

Phase = Literal["loading", "running", "stopped"]
NOTED_SECONDS = 4.0
"""How long a tap on the talk button, or a turn without words, counts as the last thing that happened."""

Word = Literal["loading", "ready", "listening", "hearing", "thinking", "speaking", "stopped", "muted"]


@dataclass(slots=True)
class TalkState:
    """The conversation as the window shows it. `phase`, `duplex`, `toggles` (the button is pressed once to talk and
    once to end), `held`, `testing` (a device is tried out, and the conversation hears nothing), `replaying` (a turn is
    played again, likewise) and `asking` (a question is being asked aloud for the user) are set by the window.

    `early`: a session that is loading keeps what the user says; `kept`: the user has said something.

    `unheard`: how many of the user's turns in a row had no words; `just_unheard`: the last one was a moment ago. Only
    with push-to-talk, since hands-free a noise opens a turn.

    `microphone`: whether there is one; without, the user can only type. `tapped`: the talk button, which is to be held,
    was only tapped. That holds until the next turn, for `NOTED_SECONDS` by the events' time, or until the window takes
    it back because the button is pressed again.
    """

    phase: Phase = "loading"
    duplex: bool = False
    toggles: bool = False
    held: bool = False
    testing: bool = False
    replaying: bool = False
    asking: bool = False
    user_open: bool = False
    speaking: bool = False
    awaiting: bool = False
    muted: bool = False
    microphone: bool = True
    tapped: bool = False
    early: bool = False
    kept: bool = False
    unheard: int = 0
    just_unheard: bool = False
    _noted_at: float = 0.0
    _newest: Revision | None = None

    def begin(self) -> None:
        """Forgets the last conversation; keeps what the window has set."""
        self.user_open = self.speaking = self.awaiting = self.muted = self.tapped = False
        self.microphone, self.unheard, self.just_unheard = True, 0, False
        self._newest = None

    @property
    def word(self) -> Word:
        """The state to show. A voice that is heard goes before everything else."""
        if self.phase == "loading":
            return "listening" if self.early and (self.held or self.duplex) and not self.muted else "loading"
        if self.phase != "running":
            return "stopped"
        if self.speaking or self.replaying:
            return "speaking"
        if self.user_open and not self.muted:
            return "hearing"
        if self.held and not self.muted:
            return "listening"
        if self.awaiting:
            return "thinking"
        if self.muted:
            return "muted"
        return "listening" if self.duplex else "ready"

    @property
    def can_talk(self) -> bool:
        """Whether the talk button opens a turn; hands-free, the voice does."""
        return (self.phase == "running" or self.hears_early) and not self.duplex and self.microphone

    @property
    def hears_early(self) -> bool:
        """Whether a session is loading, but the user can talk."""
        return self.phase == "loading" and self.early

    @property
    def can_silence(self) -> bool:
        """Whether there is something to silence: an answer that is spoken or on its way, a question asked aloud, or a
        turn that is played again.
        """
        return self.replaying or (self.phase == "running" and (self.speaking or self.awaiting or self.asking))

    def apply(self, event: e.Event, revision: Revision | None = None) -> None:
        """Takes one event in, which is about `revision`."""
        if event.at - self._noted_at >= NOTED_SECONDS:
            self.tapped = self.just_unheard = False
        match event:
            case e.TalkTapped(at=at):
                self.tapped, self._noted_at = not self.toggles, at
            case e.UserStarted() | e.UserResumed():
                self.user_open, self.awaiting, self.tapped, self.just_unheard = True, False, False, False
            case e.UserEnded():
                self.user_open, self.awaiting = False, not self.speaking
            case e.UserBackchannel():
                self.user_open = self.awaiting = False
            case e.TranscriptFinal(text=text) if not text.strip():
                self.awaiting = False  # nothing was understood, so no model is asked
                if not self.duplex and not self.muted:
                    self.unheard, self.just_unheard, self._noted_at = self.unheard + 1, True, event.at
            case e.TranscriptFinal():
                self.unheard = 0
            case e.OracleRequested() | e.OracleHandedOver() if revision is not None and not revision.secondary:
                self._newest = revision
                if revision.final and not self.user_open and not self.speaking:
                    self.awaiting = True  # another model is asked, or this one after all
            case e.Failure(about="unanswered"):
                self.awaiting = False
            case e.OracleEnded(reason=reason, words=words):
                # No answer will come of a newest revision that failed or had nothing to say.
                if revision is not None and revision is self._newest and (reason in ("failed", "stopped") or not words):
                    self.awaiting = False
            case e.AssistantStarted():
                self.speaking, self.awaiting = True, False
            case e.AssistantHeld():
                self.speaking = False
            case e.AssistantResumed():
                self.speaking = True
            case e.AssistantEnded():
                self.speaking = self.awaiting = False
            case e.DeviceChanged(kind="microphone", name=name):
                self.microphone = bool(name)
            case e.MicrophoneMuted(muted=muted):
                self.muted = muted
            case e.SessionEnded():
                self.user_open = self.speaking = self.awaiting = False
