"""Counts what a conversation has taken: requests, restarts, tokens and money, brain by brain. Pure.

Folds a session's events; the window, the command line and replays read the same counts.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from app.conversation import events as e


@dataclass(slots=True)
class BackendUsage:
    """One brain's counts. `cost` in US dollars; `unpriced` requests have no price, `estimated` ones were counted here
    and not by the server.
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
    """All brains of a conversation by (backend, model), in the order in which they were first asked."""

    backends: dict[tuple[str, str], BackendUsage] = field(default_factory=dict)
    _asked: dict[int, tuple[str, str]] = field(default_factory=dict)
    _handed: set[int] = field(default_factory=set)

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        match event:
            case e.OracleHandedOver(revision=revision, of=of):
                self._handed.add(revision)  # one request under two numbers
                self._asked.pop(of, None)
            case e.OracleRequested(revision=revision, backend=backend, model=model):
                self._asked[revision] = (backend, model)
                self._of(backend, model).requests += revision not in self._handed
            case e.OracleEnded(revision=revision, reason=reason) if revision in self._asked:
                counts = self._of(*self._asked.pop(revision))
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
        """Of all brains."""
        return sum(b.requests for b in self.backends.values())

    @property
    def superseded(self) -> int:
        """Restarts: requests that a newer one has overtaken."""
        return sum(b.superseded for b in self.backends.values())

    @property
    def tokens_in(self) -> int:
        """Of all brains."""
        return sum(b.tokens_in for b in self.backends.values())

    @property
    def tokens_out(self) -> int:
        """Of all brains."""
        return sum(b.tokens_out for b in self.backends.values())

    @property
    def cost(self) -> float:
        """US dollars, as far as prices are known."""
        return sum(b.cost for b in self.backends.values())

    def _of(self, backend: str, model: str) -> BackendUsage:
        return self.backends.setdefault((backend, model), BackendUsage())
