"""Counts what a conversation has used, by model: requests, restarts, tokens and money."""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation import events as e
from app.conversation.record.revisions import Revision, RevisionLog


@dataclass(slots=True)
class BackendUsage:
    """The counts of one model. `cost` in US dollars; `unpriced` requests have no price, and the tokens of `estimated`
    ones were counted here and not by the server.
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
    def requests(self) -> int:
        """Requests to all models."""
        return sum(b.requests for b in self.backends.values())

    @property
    def superseded(self) -> int:
        """Requests to all models that were ended by a newer one before their answer was complete."""
        return sum(b.superseded for b in self.backends.values())

    @property
    def tokens_in(self) -> int:
        """Tokens in the requests to all models."""
        return sum(b.tokens_in for b in self.backends.values())

    @property
    def tokens_out(self) -> int:
        """Tokens in the answers of all models."""
        return sum(b.tokens_out for b in self.backends.values())

    @property
    def cost(self) -> float:
        """US dollars, as far as prices are known."""
        return sum(b.cost for b in self.backends.values())

    def _of(self, backend: str, model: str) -> BackendUsage:
        return self.backends.setdefault((backend, model), BackendUsage())
