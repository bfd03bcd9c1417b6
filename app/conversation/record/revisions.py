"""Folds a session's events into oracle revisions, and counts what they have used, by model.

The only place that reads the life of a revision from events. The window's panes, the latency figures, the command line
and the demo derive their own views from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Generic, Literal, TypeVar

from app.conversation import events as e

Status = Literal["waiting", "streaming", "complete", "superseded", "failed", "stopped"]


Consented = Literal["", "asked", "allowed", "denied", "refused"]
"""What has become of a call that needs the user's consent: the user has been asked, has allowed or denied it, or it was
refused since the user can't be asked. Empty for a call that has been made.
"""


@dataclass(slots=True)
class ToolUse:
    """One call of a tool that a revision has made, or has wanted to make. `ok` is None until the tool has returned."""

    name: str
    arguments: str
    consent: Consented = ""
    ok: bool | None = None
    text: str = ""
    seconds: float = 0.0
    returned_at: float | None = None

    @property
    def at_work(self) -> bool:
        """Whether the tool has been called and has not returned."""
        return self.ok is None and not self.consent


@dataclass(slots=True, eq=False)
class Revision:
    """One answer of a back-end. Times are the session's, in seconds.

    `number` stays the same for life; `order` is the place among all requests and hand-overs, and changes when the
    revision is handed over. `asked`: the user's words at the time of the request. `kind`: the kind of question by the
    router's estimate. `thought`: the beginning of what the model thought, which isn't part of the answer.
    `waits_since`: the time of the request, or of the newest tool result. `by`: the revision that superseded it, or 0.
    """

    number: int
    turn: int
    backend: str
    model: str
    asked: str
    final: bool
    requested_at: float
    secondary: bool = False
    language: str = "en"
    kind: str = ""
    order: int = 0
    text: str = ""
    thought: str = ""
    handed_over_at: float | None = None
    first_words_at: float | None = None
    fed_at: float | None = None
    superseded_at: float | None = None
    by: int = 0
    ended_at: float | None = None
    end_reason: e.EndReason | None = None
    waits_since: float = 0.0
    tools: tuple[ToolUse, ...] = ()
    counted: e.OracleCounted | None = None

    @property
    def status(self) -> Status:
        """What has become of it. A superseded stream may end later for any reason: it stays superseded."""
        if self.superseded_at is not None:
            return "superseded"
        if self.end_reason is not None:
            return self.end_reason
        return "waiting" if self.first_words_at is None else "streaming"

    @property
    def waiting(self) -> bool:
        """Whether the model has said nothing yet and no tool is running for it."""
        return self.status == "waiting" and not any(use.at_work for use in self.tools)

    @property
    def drives_since(self) -> float:
        """When it was requested for the front-end, or handed over to it."""
        return self.requested_at if self.handed_over_at is None else self.handed_over_at

    @property
    def first_word_seconds(self) -> float | None:
        """Seconds from the request to the first words."""
        return None if self.first_words_at is None else self.first_words_at - self.requested_at

    @property
    def asked_words(self) -> int:
        """The number of words that it was asked on."""
        return len(self.asked.split())

    @property
    def words(self) -> int:
        """The number of words so far."""
        return len(self.text.split())


R = TypeVar("R", bound=Revision)

_About = (
    e.OraclePromoted
    | e.OracleDelta
    | e.OracleThought
    | e.OracleFed
    | e.OracleSuperseded
    | e.OracleEnded
    | e.OracleCounted
    | e.ToolCalled
    | e.ToolReturned
    | e.ConsentAsked
    | e.CallNotMade
)


class RevisionLog(Generic[R]):
    """The newest `limit` revisions of one session, as instances of `kind` (`Revision` or a subclass of it)."""

    def __init__(self, kind: type[R], limit: int = 512) -> None:
        self._kind = kind
        self._limit = limit
        self.clear()

    def clear(self) -> None:
        """Forgets everything: another session starts, whose numbers start at 1 again."""
        self._revisions: dict[int, R] = {}
        self._order = 0
        self._routed: dict[bool, tuple[int, str]] = {}  # by `secondary`: the turn routed last, and its kind

    @property
    def revisions(self) -> list[R]:
        """All that are kept, in order: the newest last."""
        return list(self._revisions.values())

    def get(self, number: int) -> R | None:
        """The revision of this number, if it is kept."""
        return self._revisions.get(number)

    def order(self, number: int) -> int:
        """The place of a revision among all of this session; 0 if it is not known."""
        revision = self._revisions.get(number)
        return 0 if revision is None else revision.order

    def apply(self, event: e.Event) -> R | None:
        """Takes one event in; returns the revision that it is about, if it is kept."""
        match event:
            case e.OracleRequested():
                return self._add(event)
            case e.OracleHandedOver():
                return self._hand_over(event)
            case e.BackendRouted(turn=turn, kind=kind, secondary=secondary):
                self._routed[secondary] = (turn, kind)  # comes before the request that it is about
            case e.BackendChanged():
                self._routed.pop(False, None)
            case e.SecondaryChanged():
                self._routed.pop(True, None)
            case e.ConsentAnswered():
                return self._answer_consent(event)
            case _ if isinstance(event, _About):
                revision = self._revisions.get(event.revision)
                if revision is not None:
                    _change(revision, event)
                return revision
        return None

    def _add(self, event: e.OracleRequested) -> R:
        turn, kind = self._routed.get(event.secondary, (0, ""))
        revision = self._kind(
            number=event.revision,
            turn=event.turn,
            backend=event.backend,
            model=event.model,
            asked=event.words,
            final=event.final,
            requested_at=event.at,
            secondary=event.secondary,
            language=event.language,
            kind=kind if turn == event.turn else "",
            waits_since=event.at,
        )
        self._place(revision)
        while len(self._revisions) > self._limit:
            del self._revisions[next(iter(self._revisions))]
        return revision

    def _hand_over(self, event: e.OracleHandedOver) -> R | None:
        revision = self._revisions.get(event.revision)
        if revision is not None:
            revision.secondary, revision.handed_over_at = False, event.at
            self._place(revision)
        return revision

    def _answer_consent(self, event: e.ConsentAnswered) -> R | None:
        for revision in reversed(self._revisions.values()):
            asked = [use for use in revision.tools if use.consent == "asked" and revision.turn == event.turn]
            for use in asked:
                use.consent = "allowed" if event.allowed else "denied"
            if asked:
                return revision
        return None

    def _place(self, revision: R) -> None:
        """Makes it the newest."""
        self._order += 1
        revision.order = self._order
        self._revisions.pop(revision.number, None)
        self._revisions[revision.number] = revision


def _change(revision: Revision, event: _About) -> None:
    match event:
        case e.OraclePromoted():
            revision.final = True
        case e.OracleDelta(at=at, text=text):
            if revision.first_words_at is None:
                revision.first_words_at = at
            apart = not revision.text or revision.text[-1].isspace() or text[:1].isspace()
            revision.text += text if apart else f" {text}"
        case e.OracleThought(text=text):
            revision.thought = text
        case e.OracleFed(at=at):
            if revision.fed_at is None:
                revision.fed_at = at
        case e.OracleSuperseded(at=at, by=by):
            revision.superseded_at, revision.by = at, by
        case e.OracleEnded(at=at, reason=reason):
            revision.ended_at, revision.end_reason = at, reason
        case e.OracleCounted():
            revision.counted = event
        case e.ToolCalled(name=name, arguments=arguments):
            revision.tools += (ToolUse(name, arguments),)
        case e.ConsentAsked(tools=tools, arguments=arguments):
            calls = zip(tools, arguments, strict=False)
            revision.tools += tuple(ToolUse(name, given, "asked") for name, given in calls)
        case e.CallNotMade(name=name, arguments=arguments):
            revision.tools += (ToolUse(name, arguments, "refused"),)
        case e.ToolReturned():
            use = next((use for use in revision.tools if use.name == event.name and use.at_work), None)
            if use is not None:
                use.ok, use.text, use.seconds, use.returned_at = event.ok, event.text, event.seconds, event.at
                revision.waits_since = event.at


@dataclass(slots=True)
class BackendUsage:
    """The requests to one model.

    - `superseded`: requests that a newer one ended before their answer was complete.
    - `cost`: in US dollars, as far as prices are known; `unpriced`: requests whose price is unknown.
    - `estimated`: requests whose tokens the server has not counted.
    """

    requests: int = 0
    superseded: int = 0
    failed: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    cost: float = 0.0
    unpriced: int = 0
    estimated: int = 0


@dataclass(slots=True)
class ConversationUsage:
    """The usage of a conversation by (backend, model), in the order of the first requests."""

    backends: dict[tuple[str, str], BackendUsage] = field(default_factory=dict)
    _revisions: RevisionLog[Revision] = field(default_factory=lambda: RevisionLog(Revision))

    def apply(self, event: e.Event) -> None:
        """Counts one event."""
        revision = self._revisions.apply(event)
        match event:
            case e.OracleRequested():
                self._of(event.backend, event.model).requests += 1
            case e.OracleEnded(reason=reason) if revision is not None:
                counts = self._of(revision.backend, revision.model)
                counts.superseded += reason == "superseded"
                counts.failed += reason == "failed"
            case e.OracleCounted():
                counts = self._of(event.backend, event.model)
                counts.tokens_in += event.tokens_in
                counts.tokens_out += event.tokens_out
                counts.tokens_cached += event.tokens_cached
                counts.cost += event.cost or 0.0
                counts.unpriced += event.cost is None
                counts.estimated += not event.counted

    @property
    def total(self) -> BackendUsage:
        """The counts of all models together."""
        total = BackendUsage()
        for counts in self.backends.values():
            for name in (one.name for one in fields(BackendUsage)):
                setattr(total, name, getattr(total, name) + getattr(counts, name))
        return total

    def _of(self, backend: str, model: str) -> BackendUsage:
        return self.backends.setdefault((backend, model), BackendUsage())
