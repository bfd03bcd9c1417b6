"""The queue of an oracle's tokens: first in, first out, one a step, nothing dropped."""

from __future__ import annotations

from collections.abc import Sequence


class OracleQueue:
    """The oracle of one stream. `start`: the token that begins each one; `padding`: given where there is none.

    `vocabulary`: the largest token that there is.
    """

    def __init__(self, *, start: int, padding: int, vocabulary: int) -> None:
        self.last = padding
        """The token of the last step."""
        self._start, self._padding, self._vocabulary = start, padding, vocabulary
        self._ids: list[int] = []
        self._next = 0  # place of the next token
        self._started = False
        self._forgotten = 0  # tokens that were taken and are no longer kept

    @property
    def rest(self) -> list[int]:
        """The tokens that are still to be taken."""
        return self._ids[self._next :]

    @property
    def taken(self) -> int:
        """Tokens of this oracle that have been taken, the start token among them."""
        return self._forgotten + self._next

    def push(self, token_ids: Sequence[int], *, reset: bool = False) -> None:
        """Appends tokens; with `reset` a new oracle starts with them, and the rest of the old one is dropped.

        The first tokens after a `clear` always start a new oracle.

        Raises:
            ValueError: a token is not in the vocabulary.
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
        """Forgets all tokens: padding from the next step on, until a new oracle starts."""
        self._ids, self._started, self._next, self._forgotten = [], False, 0, 0

    def take(self) -> int:
        """The next step's token: the next in the queue, or padding."""
        if self._next < len(self._ids):
            self.last = self._ids[self._next]
            self._next += 1
        else:
            self.last = self._padding
        return self.last
