"""Tracks the oracle revisions of one or more sessions, as shown in the pane.

On top of `app.conversation.record.revisions`, it tracks which revision is being spoken, and how much of it already has
been.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation import events as e
from app.conversation.record.heard_part import Progress
from app.conversation.record.revisions import Revision, RevisionLog


@dataclass(slots=True, eq=False)
class ShownRevision(Revision):
    """A revision with its speech progress.

    - `talk`: the number of its session in the transcript
    - `speaking`, `spoken`: whether it is being spoken, and whether it has ever been spoken
    - `interrupted`: whether the user interrupted it
    - `column`: the index of its column while there are two
    """

    talk: int = 0
    speaking: bool = False
    spoken: bool = False
    interrupted: bool = False
    column: int = 0
    progress: Progress = field(default_factory=Progress)

    @property
    def sent(self) -> int:
        """Number of characters of the text that have been sent to the front-end."""
        return self.progress.sent(self.text)

    @property
    def heard(self) -> int:
        """Number of characters of the text that have been spoken."""
        return self.progress.heard


class OracleLog:
    """The newest `limit` revisions, newest first, including those of earlier sessions.

    The default limit corresponds to about ten turns. The more cards there are, the longer each update of the newest one
    takes to lay out.
    """

    def __init__(self, limit: int = 80) -> None:
        self.limit = limit
        self.talk = 0
        """The transcript's number for the session that new revisions belong to."""
        self.revisions: list[ShownRevision] = []
        self._talk = RevisionLog(ShownRevision, limit)
        self._reset()

    def _reset(self) -> None:
        self._talk.clear()
        self._feeding_known = False  # whether this session has events for the text sent to the front-end
        self._said_turn = 0
        self._said: list[str] = []  # everything spoken in response to `_said_turn`, from any revision

    @property
    def waiting(self) -> list[ShownRevision]:
        """The current session's revisions that are waiting for their first words."""
        return [revision for revision in self._talk.revisions if revision.waiting]

    @property
    def current(self) -> ShownRevision | None:
        """The current revision, chosen among the active model's revisions for the newest turn: the one being spoken, or
        else the newest one with text that wasn't discarded, or else the newest one.
        """
        turn: list[ShownRevision] = []
        for revision in self.revisions:
            if revision.secondary:
                continue
            if turn and (revision.turn != turn[0].turn or revision.order >= turn[-1].order):
                break  # an earlier turn or session
            turn.append(revision)
        alive = (r for r in turn if r.text and r.status not in ("superseded", "failed"))
        return self._speaker(turn) or next(alive, turn[0] if turn else None)

    def first_of(self, talk: int, turn: int) -> ShownRevision | None:
        """Returns the first revision for a turn, preferably the active model's. None if the log no longer has any."""
        found = (r for r in reversed(self.revisions) if (r.talk, r.turn) == (talk, turn))
        return next(iter(sorted(found, key=lambda revision: revision.secondary)), None)

    def begin(self) -> list[ShownRevision]:
        """Starts a new session, with revisions numbered from 1 again. Returns those that were still in progress."""
        changed = [r for r in self._talk.revisions if r.speaking or r.status in ("waiting", "streaming")]
        for revision in changed:
            revision.speaking = False
            revision.end_reason = revision.end_reason or "stopped"
        self._reset()
        return changed

    def apply(self, event: e.Event) -> list[ShownRevision]:
        """Processes an event. Returns the revisions that it added or changed."""
        revision = self._talk.apply(event)
        match event:
            case e.OracleRequested() | e.OracleHandedOver() if revision is not None:
                revision.progress.reported, revision.progress.code = self._feeding_known, revision.language
                self._put_first(revision)
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

    def _put_first(self, revision: ShownRevision) -> None:
        if revision in self.revisions:  # handed over
            self.revisions.remove(revision)
        revision.talk = self.talk
        self.revisions.insert(0, revision)
        del self.revisions[self.limit :]

    def _on_fed(self, event: e.OracleFed | e.OracleTaken) -> list[ShownRevision]:
        self._feeding_known = True
        revision = self._talk.get(event.revision)
        if revision is None:
            return []
        before = revision.sent
        if isinstance(event, e.OracleFed):
            revision.progress.feed(event.words)
        else:
            revision.progress.take(event.taken, event.waiting)
        return [revision] if revision.sent != before else []

    def _on_said(self, event: e.AssistantSaid) -> list[ShownRevision]:
        revision = self._talk.get(event.revision)
        if revision is None:
            return []
        # A front-end may move on to a newer revision without reporting it, and the last word of an older one may be
        # reported late.
        heard = self._speaker(self._talk.revisions)
        late = heard is not None and revision.order < heard.order
        changed = [] if late or heard is revision else self._speak(event.revision, event.turn)
        if event.turn != self._said_turn:
            self._said_turn, self._said = event.turn, []
        self._said.append(event.text)
        further = [revision] if revision.progress.hear(revision.text, event.text) else []
        if late and heard is not None and heard.heard and heard.progress.hear(heard.text, event.text):
            further.append(heard)  # the word continues the older revision
        return changed + [one for one in further if one not in changed]

    def _on_ended(self, interrupted: bool) -> list[ShownRevision]:
        heard = self._speaker(self._talk.revisions)
        if heard is not None and interrupted:
            heard.interrupted = True
        elif heard is not None and heard.status == "complete":
            heard.progress.finish()
        return self._speak(0)

    def _speak(self, number: int, turn: int = 0) -> list[ShownRevision]:
        """Marks revision `number` as the only one being spoken; 0 for none. If its text largely matches what has
        already been spoken in response to `turn`, that part counts as spoken.
        """
        changed = []
        for revision in self._talk.revisions:
            speaking = revision.number == number
            if revision.speaking != speaking:
                revision.speaking = speaking
                revision.spoken = revision.spoken or speaking
                revision.interrupted = revision.interrupted and not speaking
                changed.append(revision)
                if speaking and turn and turn == self._said_turn and not revision.heard:
                    revision.progress.go_on(revision.text, " ".join(self._said))
        return changed

    @staticmethod
    def _speaker(revisions: list[ShownRevision]) -> ShownRevision | None:
        return next((revision for revision in revisions if revision.speaking), None)
