"""The record of one session: everything that its events say, folded once.

The window, the command line and the benches read it instead of folding the events again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.conversation import events as e
from app.conversation.record.latency import Stages
from app.conversation.record.revisions import ConversationUsage, Revision, RevisionLog
from app.conversation.record.transcript import Transcript, Turn


@dataclass(slots=True)
class Note:
    """A line between turns that says who answers from there on. `started_at` is its session time in seconds.

    `reason`:

    - `chosen`: the user selected the model
    - `handed`: the user switched to it while it was the comparison model
    - `fallback`: it took over because another one failed
    - `again`: like `fallback`, but it has answered before
    - `left_out`: no change: all turns before this line are omitted
    """

    started_at: float
    reason: Literal["chosen", "handed", "fallback", "again", "left_out"]
    backend: str = ""
    model: str = ""


Entry = Turn | Note


@dataclass(frozen=True, slots=True)
class Change:
    """An event, and what it has changed in the record.

    - `revision`: the revision that the event is about.
    - `revisions`: all revisions that it has changed, that one included.
    - `entry`: the turn that it has changed, or the note that it has added.
    """

    event: e.Event
    revision: Revision | None = None
    revisions: tuple[Revision, ...] = ()
    entry: Entry | None = None


class Record:
    """`apply` takes in each event of a session, in order."""

    def __init__(self) -> None:
        self.revisions = RevisionLog()
        self.transcript = Transcript(revisions=self.revisions)
        self.usage = ConversationUsage()
        self.stages = Stages(self.revisions)
        self.notes: list[Note] = []
        self._speech = _Speech(self.revisions)
        self._drivers: list[tuple[str, str]] = []  # all models that have answered

    @property
    def turns(self) -> list[Turn]:
        """The turns of both sides, ordered by when they started."""
        return self.transcript.turns

    def apply(self, event: e.Event) -> Change:
        """Takes one event in; returns what it has changed."""
        revision = self.revisions.apply(event)
        entry: Entry | None = self.transcript.follow(event, revision)
        self.usage.apply(event, revision)
        self.stages.apply(event, revision)
        changed = self._speech.apply(event, revision)
        match event:
            case e.SessionStarted():
                self._drivers.append((event.backend, event.model))
            case e.BackendChanged():
                entry = self._note(event)
            case e.AssistantSaid() if isinstance(entry, Turn):
                self._note_takeover(event, entry)
        return Change(event, revision, tuple(changed), entry)

    def end(self) -> list[Turn]:
        """Ends what is still open, since no event will: requests as stopped, turns as they are. Returns these turns."""
        for revision in self.revisions.revisions:
            revision.speaking = False
            revision.end_reason = revision.end_reason or "stopped"
        open_turns = [turn for turn in self.turns if turn.open]
        for turn in open_turns:
            turn.open = False
        return open_turns

    def entries(self) -> list[Entry]:
        """Returns the turns and notes in order; each note follows the turns that began before it."""
        entries: list[Entry] = []
        place = 0
        for turn in self.turns:
            while place < len(self.notes) and self.notes[place].started_at < turn.started_at:
                entries.append(self.notes[place])
                place += 1
            entries.append(turn)
        return entries + self.notes[place:]

    def _note(self, event: e.BackendChanged) -> Note | None:
        who = event.backend, event.model
        known = who in self._drivers
        if not known:
            self._drivers.append(who)
        if not self.turns:
            return None  # no turns yet, so there is nothing to separate
        self.notes.append(Note(event.at, "again" if event.reason == "fallback" and known else event.reason, *who))
        return self.notes[-1]

    def _note_takeover(self, event: e.AssistantSaid, turn: Turn) -> None:
        """Notes how long a model took to take over in the middle of an answer, at its first word."""
        part, revision = turn.parts[-1], turn.parts[-1].revision
        if part.took is not None or revision is None or len(turn.parts) < 2:
            return
        who, before = (revision.backend, revision.model), turn.parts[-2].revision
        note = next((one for one in reversed(self.notes) if (one.backend, one.model) == who), None)
        if before is not None and (before.backend, before.model) != who and note is not None:
            part.took = event.at - note.started_at


class _Speech:
    """Keeps which of `log`'s revisions is being spoken, and how far."""

    def __init__(self, log: RevisionLog) -> None:
        self._log = log
        self._feeding_known = False  # whether this session has events for the text sent to the front-end
        self._speaker: Revision | None = None
        self._said_turn = 0
        self._said: list[str] = []  # everything spoken in response to `_said_turn`, from any revision

    def apply(self, event: e.Event, revision: Revision | None) -> list[Revision]:
        """Takes in an event about `revision`; returns the revisions that it has changed."""
        match event:
            case e.OracleRequested() | e.OracleHandedOver() if revision is not None:
                revision.progress.reported, revision.progress.code = self._feeding_known, revision.language
            case e.AssistantStarted(turn=turn, revision=number):
                return self._speak(number, turn)
            case e.AssistantCorrected(turn=turn, revision=number, how=how):
                return self._speak(number, turn if how == "continued" else 0)
            case e.AssistantSaid():
                return self._on_said(event)
            case e.AssistantEnded(interrupted=interrupted):
                return self._on_ended(interrupted)
            case e.OracleFed() | e.OracleTaken():
                return self._on_fed(event)
        return [] if revision is None else [revision]

    def _on_fed(self, event: e.OracleFed | e.OracleTaken) -> list[Revision]:
        self._feeding_known = True
        revision = self._log.get(event.revision)
        if revision is None:
            return []
        before = revision.sent
        if isinstance(event, e.OracleFed):
            revision.progress.feed(event.words)
        else:
            revision.progress.take(event.taken, event.waiting)
        return [revision] if revision.sent != before else []

    def _on_said(self, event: e.AssistantSaid) -> list[Revision]:
        revision = self._log.get(event.revision)
        if revision is None:
            return []
        # A front-end may move on to a newer revision without reporting it, and the last word of an older one may be
        # reported late.
        heard = self._speaker
        late = heard is not None and revision.order < heard.order
        changed = [] if late or heard is revision else self._speak(event.revision, event.turn)
        if event.turn != self._said_turn:
            self._said_turn, self._said = event.turn, []
        self._said.append(event.text)
        further = [revision] if revision.progress.hear(revision.text, event.text) else []
        if late and heard is not None and heard.heard and heard.progress.hear(heard.text, event.text):
            further.append(heard)  # the word continues the older revision
        return changed + [one for one in further if one not in changed]

    def _on_ended(self, interrupted: bool) -> list[Revision]:
        heard = self._speaker
        if heard is not None and interrupted:
            heard.interrupted = True
        elif heard is not None and heard.status == "complete":
            heard.progress.finish()
        return self._speak(0)

    def _speak(self, number: int, turn: int = 0) -> list[Revision]:
        """Marks revision `number` as the only one being spoken; 0 for none.

        If its text largely matches what has already been spoken in response to `turn`, that part counts as spoken.
        """
        before, now = self._speaker, self._log.get(number)
        if before is now:
            return []
        self._speaker = now
        changed = [one for one in (before, now) if one is not None]
        for one in changed:
            one.speaking = one is now
            one.spoken = True
            one.interrupted = one.interrupted and one is not now
        if now is not None and turn and turn == self._said_turn and not now.heard:
            now.progress.go_on(now.text, " ".join(self._said))
        return changed
