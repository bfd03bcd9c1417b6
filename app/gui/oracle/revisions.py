"""Folds a session's events into the back-end's revisions, newest first.

Pure: knows no widget. Revisions of earlier talks stay, and old ones drop out beyond `limit`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from app.conversation import events as e
from app.gui.oracle.progress import Progress

Status = Literal["waiting", "streaming", "complete", "superseded", "failed", "stopped"]


@dataclass(slots=True)
class ToolUse:
    """A tool at work for a revision; `ok` is None until it has answered."""

    name: str
    arguments: str
    ok: bool | None = None
    text: str = ""
    seconds: float = 0.0


@dataclass(slots=True, eq=False)
class Revision:
    """One answer of the back-end, asked for on the words that were there at the time.

    `secondary`: of the brain beside the one that drives. `handed_from` and `handed_to`: the revision that it was at the
    side, and the one that it became. `kind` of question: the opinion of that side's router. `waits_since`: when it
    was asked, or last told what a tool found. `asked`: the user's words that it was asked on. `column`: where it
    stands when two brains answer. `interrupted`: the user cut it short.
    """

    number: int
    turn: int
    backend: str
    model: str
    asked_words: int
    final: bool
    requested_at: float
    secondary: bool = False
    first_word_seconds: float | None = None
    text: str = ""
    status: Status = "waiting"
    by: int = 0
    speaking: bool = False
    spoken: bool = False
    handed_from: int = 0
    handed_to: int = 0
    kind: str = ""
    waits_since: float = 0.0
    tools: list[ToolUse] = field(default_factory=list)
    counted: e.OracleCounted | None = None
    asked: str = ""
    column: int = 0
    interrupted: bool = False
    progress: Progress = field(default_factory=Progress)

    @property
    def sent(self) -> int:
        """How many letters of its text are with the front-end."""
        return self.progress.sent(self.text)

    @property
    def heard(self) -> int:
        """How many letters of its text have been heard."""
        return self.progress.heard

    @property
    def words(self) -> int:
        """How many words have come so far."""
        return len(self.text.split())

    @property
    def waiting(self) -> bool:
        """Whether the brain is waited for: it has said nothing yet, and no tool is at work for it."""
        return self.status == "waiting" and all(use.ok is not None for use in self.tools)


_Own = (
    e.OraclePromoted
    | e.OracleDelta
    | e.OracleSuperseded
    | e.OracleEnded
    | e.OracleCounted
    | e.ToolCalled
    | e.ToolReturned
)


@dataclass(slots=True)
class OracleLog:
    """The revisions, newest at index 0."""

    limit: int = 80
    """Some ten turns; with each card more, each change of the newest takes longer to lay out."""
    revisions: list[Revision] = field(default_factory=list)
    _current: dict[int, Revision] = field(default_factory=dict)
    _handed: dict[int, int] = field(default_factory=dict)
    _routed: dict[bool, tuple[int, str]] = field(default_factory=dict)
    """By side (whether `secondary`), the turn that a router saw last, and its kind."""
    _told: bool = False
    """Whether this talk tells what reaches the front-end."""
    _said_turn: int = 0
    _said: list[str] = field(default_factory=list)
    """What was heard of the answer to that turn, by whichever revision."""

    @property
    def waiting(self) -> list[Revision]:
        """Those whose brains are waited for."""
        return [revision for revision in self._current.values() if revision.waiting]

    def begin(self) -> list[Revision]:
        """A new talk begins, and its numbers begin at 1 again; returns the revisions that this ended."""
        changed = [r for r in self._current.values() if r.speaking or r.status in ("waiting", "streaming")]
        for revision in changed:
            revision.speaking = False
            if revision.status in ("waiting", "streaming"):
                revision.status = "stopped"
        self._current, self._handed, self._routed = {}, {}, {}
        self._told, self._said_turn, self._said = False, 0, []
        return changed

    @property
    def current(self) -> Revision | None:
        """The one that counts now: of the newest turn, and of the brain that drives. That is the one that is heard,
        or else the newest that has said something and was not given up, or else the newest.
        """
        turn: list[Revision] = []
        for revision in self.revisions:
            if revision.secondary:
                continue
            if turn and (revision.turn != turn[0].turn or revision.number >= turn[-1].number):
                break
            turn.append(revision)
        heard = next((r for r in turn if r.speaking), None)
        alive = (r for r in turn if r.text and r.status not in ("superseded", "failed"))
        return heard or next(alive, turn[0] if turn else None)

    def apply(self, event: e.Event) -> list[Revision]:
        """Takes one event in; returns the revisions that it changed or added."""
        match event:
            case e.OracleRequested():
                return [self._add(event)]
            case e.AssistantStarted(turn=turn, revision=number):
                return self._speak(number, turn)
            case e.AssistantCorrected(turn=turn, revision=number, how=how):
                return self._speak(number, turn if how == "continued" else 0)
            case e.AssistantSaid():
                return self._hear(event)
            case e.AssistantEnded(interrupted=interrupted):
                return self._fall_silent(interrupted)
            case e.OracleFed() | e.OracleTaken():
                return self._feed(event)
            case e.BackendRouted(turn=turn, kind=kind, secondary=secondary):
                self._routed[secondary] = (turn, kind)  # told before the request that it is about
            case e.BackendChanged():
                self._routed.pop(False, None)
            case e.SecondaryChanged():
                self._routed.pop(True, None)
            case e.OracleHandedOver(revision=number, of=of):
                return self._hand_over(number, of)
            case _ if isinstance(event, _Own):
                revision = self._current.get(event.revision)
                if revision is None:
                    return []
                _change(revision, event)
                return [revision]
        return []

    def _add(self, event: e.OracleRequested) -> Revision:
        turn, kind = self._routed.get(event.secondary, (0, ""))
        taken = self._current.get(self._handed.get(event.revision, 0))
        revision = Revision(
            number=event.revision,
            turn=event.turn,
            backend=event.backend,
            model=event.model,
            asked_words=len(event.words.split()),
            final=event.final,
            requested_at=event.at,
            secondary=event.secondary,
            handed_from=self._handed.get(event.revision, 0),
            kind=taken.kind if taken is not None else kind if turn == event.turn else "",
            waits_since=taken.waits_since if taken is not None else event.at,
            asked=event.words,
            progress=Progress(told=self._told),
        )
        self._current[event.revision] = revision
        self.revisions.insert(0, revision)
        while len(self.revisions) > self.limit:
            old = self.revisions.pop()
            if self._current.get(old.number) is old:
                del self._current[old.number]
        return revision

    def _hand_over(self, number: int, of: int) -> list[Revision]:
        self._handed[number] = of
        revision = self._current.get(of)
        if revision is None:
            return []
        revision.handed_to = number  # the new one is told of after this, and takes `of` from `_handed`
        return [revision]

    def _feed(self, event: e.OracleFed | e.OracleTaken) -> list[Revision]:
        self._told = True
        revision = self._current.get(event.revision)
        if revision is None:
            return []
        before = revision.sent
        if isinstance(event, e.OracleFed):
            revision.progress.feed(event.words)
        else:
            revision.progress.take(event.taken, event.waiting)
        return [revision] if revision.sent != before else []

    def _hear(self, event: e.AssistantSaid) -> list[Revision]:
        revision = self._current.get(event.revision)
        if revision is None:
            return []
        # A front-end may change over to a newer one without a word, and the last word of an older one may come late.
        heard = next((r for r in self._current.values() if r.speaking), None)
        late = heard is not None and event.revision < heard.number
        changed = [] if late or heard is revision else self._speak(event.revision, event.turn)
        if event.turn != self._said_turn:
            self._said_turn, self._said = event.turn, []
        self._said.append(event.text)
        further = [revision] if revision.progress.hear(revision.text, event.text) else []
        if late and heard is not None and heard.heard and heard.progress.hear(heard.text, event.text):
            further.append(heard)  # which goes on with it
        return changed + [one for one in further if one not in changed]

    def _fall_silent(self, interrupted: bool) -> list[Revision]:
        heard = next((revision for revision in self._current.values() if revision.speaking), None)
        if heard is not None and interrupted:
            heard.interrupted = True
        elif heard is not None and heard.status == "complete":
            heard.progress.finish()
        return self._speak(0)

    def _speak(self, number: int, turn: int = 0) -> list[Revision]:
        """Marks revision `number` as the one that is heard, and no other; 0 for none. It goes on with what was heard
        of the answer to `turn`, if there is anything and it says the same.
        """
        changed = []
        for revision in self._current.values():
            speaking = revision.number == number
            if revision.speaking != speaking:
                revision.speaking = speaking
                revision.spoken = revision.spoken or speaking
                revision.interrupted = revision.interrupted and not speaking
                changed.append(revision)
                if speaking and turn and turn == self._said_turn and not revision.heard:
                    revision.progress.go_on(revision.text, " ".join(self._said))
        return changed


def _change(revision: Revision, event: _Own) -> None:
    match event:
        case e.OraclePromoted():
            revision.final = True
        case e.OracleDelta(at=at, text=text):
            if revision.first_word_seconds is None:
                revision.first_word_seconds = at - revision.requested_at
            if revision.status == "waiting":
                revision.status = "streaming"
            apart = not revision.text or revision.text[-1].isspace() or text[:1].isspace()
            revision.text += text if apart else f" {text}"
        case e.OracleSuperseded(by=by):
            revision.status, revision.by = "superseded", by  # it may be heard until the voice goes over
        case e.OracleEnded(reason=reason):
            # A superseded stream ends later on, for whatever reason: it stays superseded.
            if revision.status != "superseded":
                revision.status = reason
        case e.OracleCounted():
            revision.counted = event
        case e.ToolCalled(name=name, arguments=arguments):
            revision.tools.append(ToolUse(name, arguments))
        case e.ToolReturned():
            open_ones = (use for use in revision.tools if use.name == event.name and use.ok is None)
            use = next(open_ones, None)
            if use is not None:
                use.ok, use.text, use.seconds = event.ok, event.text, event.seconds
                revision.waits_since = event.at
