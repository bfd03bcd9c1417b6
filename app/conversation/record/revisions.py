"""Folds a session's events into oracle revisions, and counts what they have used, by model.

The only place that reads the life of a revision from events. Everything else gets the revision together with the event:
see `app.conversation.record.record`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields
from typing import Literal

from app.conversation import events as e
from app.conversation.record.progress import Progress

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

    - `number` stays the same for life. `order`: the place among all requests and hand-overs, which changes when the
      revision is handed over.
    - `asked`: the user's words at the time of the request.
    - `thought`: the beginning of what the model thought, which isn't part of the answer.
    - `sentence_at`: when its first sentence was complete.
    - `waits_since`: the time of the request, or of the newest tool result.
    - `by`: the revision that superseded it, or 0.
    - `speaking`, `spoken`, `interrupted`, `progress`: whether the voice is speaking it, has spoken any of it, or was
      interrupted in it, and how far it has come. Only a `Record` keeps these up to date.
    - `talk`: the number of its session in the conversation, for whoever shows several.
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
    order: int = 0
    text: str = ""
    thought: str = ""
    handed_over_at: float | None = None
    first_words_at: float | None = None
    sentence_at: float | None = None
    fed_at: float | None = None
    superseded_at: float | None = None
    by: int = 0
    ended_at: float | None = None
    end_reason: e.EndReason | None = None
    waits_since: float = 0.0
    tools: tuple[ToolUse, ...] = ()
    counted: e.OracleCounted | None = None
    speaking: bool = False
    spoken: bool = False
    interrupted: bool = False
    progress: Progress = field(default_factory=Progress)
    talk: int = 0

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

    @property
    def sent(self) -> int:
        """The number of characters that have been sent to the front-end."""
        return self.progress.sent(self.text)

    @property
    def heard(self) -> int:
        """The number of characters that have been spoken."""
        return self.progress.heard


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


class RevisionLog:
    """The newest `limit` revisions of one session."""

    def __init__(self, limit: int = 512) -> None:
        self._limit = limit
        self.clear()

    def clear(self) -> None:
        """Forgets everything: another session starts, whose numbers start at 1 again."""
        self._revisions: dict[int, Revision] = {}
        self._order = 0

    @property
    def revisions(self) -> list[Revision]:
        """All that are kept, in order: the newest last."""
        return list(self._revisions.values())

    def get(self, number: int) -> Revision | None:
        """The revision of this number, if it is kept."""
        return self._revisions.get(number)

    def order(self, number: int) -> int:
        """The place of a revision among all of this session; 0 if it is not known."""
        revision = self._revisions.get(number)
        return 0 if revision is None else revision.order

    def apply(self, event: e.Event) -> Revision | None:
        """Takes one event in; returns the revision that it is about, if it is kept."""
        match event:
            case e.OracleRequested():
                return self._add(event)
            case e.OracleHandedOver():
                return self._hand_over(event)
            case e.ConsentAnswered():
                return self._answer_consent(event)
            case _ if isinstance(event, _About):
                revision = self._revisions.get(event.revision)
                if revision is not None:
                    _change(revision, event)
                return revision
        return None

    def _add(self, event: e.OracleRequested) -> Revision:
        revision = Revision(
            number=event.revision,
            turn=event.turn,
            backend=event.backend,
            model=event.model,
            asked=event.words,
            final=event.final,
            requested_at=event.at,
            secondary=event.secondary,
            language=event.language,
            waits_since=event.at,
        )
        self._place(revision)
        while len(self._revisions) > self._limit:
            del self._revisions[next(iter(self._revisions))]
        return revision

    def _hand_over(self, event: e.OracleHandedOver) -> Revision | None:
        revision = self._revisions.get(event.revision)
        if revision is not None:
            revision.secondary, revision.handed_over_at = False, event.at
            self._place(revision)
        return revision

    def _answer_consent(self, event: e.ConsentAnswered) -> Revision | None:
        for revision in reversed(self._revisions.values()):
            asked = [use for use in revision.tools if use.consent == "asked" and revision.turn == event.turn]
            for use in asked:
                use.consent = "allowed" if event.allowed else "denied"
            if asked:
                return revision
        return None

    def _place(self, revision: Revision) -> None:
        """Makes it the newest."""
        self._order += 1
        revision.order = self._order
        self._revisions.pop(revision.number, None)
        self._revisions[revision.number] = revision


_SENTENCE = re.compile(r"\s*\S.*?[.!?…]+[\"”’)*_]*(?=\s)", re.DOTALL)


def first_sentence(text: str) -> str:
    """Returns the first sentence of a text that may still grow; empty if it isn't certain to be complete."""
    found = _SENTENCE.match(text)
    return found.group().strip() if found is not None else ""


def _change(revision: Revision, event: _About) -> None:
    match event:
        case e.OraclePromoted():
            revision.final = True
        case e.OracleDelta(at=at, text=text):
            if revision.first_words_at is None:
                revision.first_words_at = at
            apart = not revision.text or revision.text[-1].isspace() or text[:1].isspace()
            revision.text += text if apart else f" {text}"
            if revision.sentence_at is None and first_sentence(revision.text):
                revision.sentence_at = at
        case e.OracleThought(text=text):
            revision.thought = text
        case e.OracleFed(at=at):
            if revision.fed_at is None:
                revision.fed_at = at
        case e.OracleSuperseded(at=at, by=by):
            revision.superseded_at, revision.by = at, by
        case e.OracleEnded(at=at, reason=reason):
            revision.ended_at, revision.end_reason = at, reason
            if revision.sentence_at is None and reason == "complete" and revision.text.strip():
                revision.sentence_at = at
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
    """The usage of a session by (backend, model), in the order of the first requests."""

    backends: dict[tuple[str, str], BackendUsage] = field(default_factory=dict)

    def apply(self, event: e.Event, revision: Revision | None) -> None:
        """Counts one event. `revision`: what the session's `RevisionLog` returns for it."""
        match event:
            case e.OracleRequested() | e.ConversationTitled():
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
