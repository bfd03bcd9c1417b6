"""Feeds the words of the newest oracle revision to the model as tokens, one per step, in FIFO order."""

from __future__ import annotations

from collections.abc import Sequence

from app.conversation.speaking.revisions import (
    KnownRevision,
    OracleAsked,
    OracleCompleted,
    OracleInput,
    OracleThinks,
    Revisions,
)
from app.frontend.kame.spoken_words import Pieces


class OracleQueue:
    """The oracle token queue of one stream.

    `start`: the token that starts each oracle; `padding`: the token for steps without an oracle; `vocabulary`: the
    largest valid token.
    """

    def __init__(self, *, start: int, padding: int, vocabulary: int) -> None:
        self.last = padding
        """The token of the last step."""
        self._start, self._padding, self._vocabulary = start, padding, vocabulary
        self._ids: list[int] = []
        self._next = 0  # index of the next token
        self._started = False
        self._forgotten = 0  # taken tokens that are no longer stored

    @property
    def rest(self) -> list[int]:
        """The tokens not taken yet."""
        return self._ids[self._next :]

    @property
    def taken(self) -> int:
        """The number of tokens of this oracle taken so far, including the start token."""
        return self._forgotten + self._next

    def push(self, token_ids: Sequence[int], *, reset: bool = False) -> None:
        """Appends tokens. With `reset` they start a new oracle, and the rest of the old one is dropped.

        The first tokens after `clear` always start a new oracle.

        Raises:
            ValueError: a token isn't in the vocabulary.
        """
        ids = [int(token) for token in token_ids]
        for token in ids:
            if not 0 <= token <= self._vocabulary:
                raise ValueError(f"Oracle token {token} is not in the vocabulary (0 to {self._vocabulary}).")
        if reset or (ids and not self._started):
            self.clear()
            self._started = True
            ids.insert(0, self._start)
        self._ids = self.rest + ids
        self._forgotten += self._next
        self._next = 0

    def clear(self) -> None:
        """Discards all tokens. Steps receive padding until a new oracle starts."""
        self._ids, self._started, self._next, self._forgotten = [], False, 0, 0

    def take(self) -> int:
        """Removes and returns the next token in the queue, or returns padding if it is empty."""
        if self._next < len(self._ids):
            self.last = self._ids[self._next]
            self._next += 1
        else:
            self.last = self._padding
        return self.last


class OracleFeed:
    """Feeds oracle revisions to `queue`, starting a new oracle whenever the revision changes.

    `enabled`: False for Moshi, which has no oracle.
    """

    def __init__(self, queue: OracleQueue, pieces: Pieces, *, enabled: bool = True) -> None:
        self.revision = 0
        """The revision being fed, or the last one."""
        self.asked_turn = 0
        """The newest turn for which a revision was requested."""
        self._queue = queue
        self._pieces = pieces
        self._enabled = enabled
        self._revisions = Revisions()
        self._fed: int | None = None  # tokens of the revision already fed; None: start over
        self._void = 0  # revisions up to this order are rejected
        self._holding = False
        self._held = 0  # the revision whose words are held back

    def receive(self, item: OracleInput, answering: int | None = None) -> None:
        """Handles one input. `answering`: the turn being answered, if any."""
        if isinstance(item, OracleAsked):
            self.asked_turn = max(self.asked_turn, item.turn)
        revision = self._revisions.update(item, in_use=self.revision)
        if revision is None or not revision.text or isinstance(item, OracleCompleted | OracleThinks):
            return
        if self._holding and answering is not None and revision.turn > answering:
            self._held = revision.number
        else:
            self._feed(revision)

    def hold(self) -> None:
        """Starts holding back words for turns after the one being answered, as the user may only be saying "okay"."""
        self._holding = True

    def drop_held(self) -> None:
        """Discards the words held back. Call it if the user's utterance was only a backchannel."""
        self._holding, self._held = False, 0

    def release_held(self) -> None:
        """Feeds the words held back. Call it if the user's utterance was an interruption."""
        held = self._revisions.get(self._held)
        self.drop_held()
        if held is not None:
            self._feed(held)

    def void(self, turn: int) -> None:
        """Rejects revisions for turns up to `turn` from now on, and clears the queue if one of them is in use."""
        self._void = max([self._void, *(revision.order for revision in self._revisions if revision.turn <= turn)])
        in_use = self._revisions.get(self.revision)
        if in_use is None or in_use.order <= self._void:
            self._fed = None
            self._queue.clear()

    def _feed(self, revision: KnownRevision) -> None:
        """Feeds the part of `revision` that hasn't been fed yet, or all of it if another revision was fed before."""
        in_use = self._revisions.get(self.revision)
        superseded = in_use is not None and revision.order < in_use.order
        if not self._enabled or superseded or revision.order <= self._void:
            return
        fed = self._fed if revision.number == self.revision else None
        # Pieces never span a space, so the tokens of whole words don't change when more words follow. (KAME was trained
        # on sentences encoded as a whole.)
        tokens = self._pieces.encode(revision.aloud)
        self.revision, self._fed = revision.number, len(tokens)
        if fed is None or len(tokens) > fed:
            self._queue.push(tokens[fed or 0 :], reset=fed is None)
