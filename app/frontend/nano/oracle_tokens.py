"""The queue of the oracle's tokens: first in, first out, one a step."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence


class OracleTokens:
    """The oracle of one stream. `start`: the token that begins each one; `padding`: where there is none."""

    def __init__(self, start: int, padding: int, vocabulary: int) -> None:
        self._start, self._padding, self._vocabulary = start, padding, vocabulary
        self._rest: deque[int] = deque()
        self._started = False
        self._taken = 0

    @property
    def oracle_rest(self) -> list[int]:
        """The tokens that are still to be taken."""
        return list(self._rest)

    @property
    def oracle_taken(self) -> int:
        """Tokens of this oracle that have been taken, the start token among them."""
        return self._taken

    def push_oracle(self, token_ids: Sequence[int], *, reset: bool = False) -> None:
        """Appends tokens; with `reset` a new oracle starts with them. Raises ValueError for one that there is not."""
        ids = [int(token) for token in token_ids]
        for token in ids:
            if not 0 <= token <= self._vocabulary:
                raise ValueError(f"Oracle token {token} is not in the vocabulary (0 to {self._vocabulary}).")
        if reset or (ids and not self._started):
            self.clear_oracle()
            self._started = True
            ids.insert(0, self._start)
        self._rest.extend(ids)

    def clear_oracle(self) -> None:
        """Forgets all tokens until a new oracle starts."""
        self._rest.clear()
        self._started, self._taken = False, 0

    def take(self) -> int:
        """The next step's token."""
        if not self._rest:
            return self._padding
        self._taken += 1
        return self._rest.popleft()
