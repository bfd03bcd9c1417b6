"""Feeds the words of the newest oracle revision to the model as tokens."""

from __future__ import annotations

from app.conversation.stability import KnownRevision
from app.frontend.base import OracleAsked, OracleInput, OracleWords
from app.frontend.kame.inner_text import Pieces
from app.frontend.kame.oracle_queue import OracleQueue
from app.frontend.revisions import Revisions


class OracleFeed:
    """Feeds `queue`; the oracle's tokens start again whenever another revision is fed.

    `enabled`: off for Moshi, which has no oracle.
    """

    def __init__(self, queue: OracleQueue, pieces: Pieces, *, enabled: bool = True) -> None:
        self.revision = 0
        """The revision that is fed, or was last."""
        self.asked_turn = 0
        """The newest turn that a revision was requested for."""
        self._queue = queue
        self._pieces = pieces
        self._enabled = enabled
        self._revisions = Revisions()
        self._fed: int | None = None  # tokens of the revision that the model was fed; None: it is to start again
        self._void = 0  # the order up to which revisions are refused
        self._holding = False
        self._held = 0  # the revision whose words are held

    def receive(self, item: OracleInput, answering: int | None = None) -> None:
        """Handles one input. `answering`: the turn that is being answered, if any."""
        if isinstance(item, OracleAsked):
            self.asked_turn = max(self.asked_turn, item.turn)
        revision = self._revisions.update(item, in_use=self.revision)
        if revision is None or not revision.text or not isinstance(item, OracleAsked | OracleWords):
            return
        if self._holding and answering is not None and revision.turn > answering:
            self._held = revision.number
        else:
            self._feed(revision)

    def hold(self) -> None:
        """Holds the words for turns after the one that is being answered: the user may only be saying "okay"."""
        self._holding = True

    def drop_held(self) -> None:
        """It was a backchannel: the words that were held don't count."""
        self._holding, self._held = False, 0

    def release_held(self) -> None:
        """It was an interruption: the words that were held count."""
        held = self._revisions.get(self._held)
        self.drop_held()
        if held is not None:
            self._feed(held)

    def void(self, turn: int) -> None:
        """Refuses the revisions for turns up to `turn`, whose answer is not wanted any more."""
        self._void = max([self._void, *(revision.order for revision in self._revisions if revision.turn <= turn)])
        in_use = self._revisions.get(self.revision)
        if in_use is None or in_use.order <= self._void:
            self._fed = None
            self._queue.clear()

    def _feed(self, revision: KnownRevision) -> None:
        """Feeds what the model has not been fed of `revision`: all of its text, if another one was fed until now."""
        in_use = self._revisions.get(self.revision)
        superseded = in_use is not None and revision.order < in_use.order
        if not self._enabled or superseded or revision.order <= self._void:
            return
        fed = self._fed if revision.number == self.revision else None
        # No piece reaches over a space, so the tokens of whole words stay the same when more words follow. (KAME was
        # trained on whole sentences, encoded at once.)
        tokens = self._pieces.encode(revision.text)
        self.revision, self._fed = revision.number, len(tokens)
        if fed is None or len(tokens) > fed:
            self._queue.push(tokens[fed or 0 :], reset=fed is None)
