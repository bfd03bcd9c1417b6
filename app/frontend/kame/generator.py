"""KAME's generator: Moshi's, fed one oracle token at every step.

A subclass of the package's generator that does not change its step: the callable with which the step runs the
temporal transformer is replaced by one that adds the step's oracle token.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from moshi.models.lm import LMGen, _LMGenState
from moshi.modules.transformer import StreamingTransformerLayer, _MHAState
from moshi.utils.compile import CUDAGraphed

from app.frontend.kame.attention import FilledKVCache
from app.frontend.kame.model import KameLM


class OracleQueue:
    """The oracle of one stream: first in, first out, one token a step, nothing dropped.

    The tokens are on the device, their number on the host: a step copies nothing over and waits for nothing.
    """

    def __init__(self, device: torch.device, *, start: int, padding: int) -> None:
        self.last = padding
        """The token of the last step."""
        self._start = start
        self._pad = padding
        self._padding = torch.full((1,), padding, dtype=torch.long, device=device)
        self._tokens = self._padding[:0]
        self._ids: list[int] = []
        self._next = 0  # place in both of the next token
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

    def push(self, token_ids: Sequence[int], *, reset: bool) -> None:
        """Appends tokens; with `reset` a new oracle starts with them, and the rest of the old one is dropped."""
        ids = [int(token) for token in token_ids]
        if reset or (ids and not self._started):
            self.clear()
            self._started = True
            ids.insert(0, self._start)
        if ids:
            new = torch.tensor(ids, dtype=torch.long).to(self._tokens.device)
            self._tokens = torch.cat([self._tokens[self._next :], new])
            self._ids = self._ids[self._next :] + ids
            self._forgotten += self._next
            self._next = 0

    def clear(self) -> None:
        """Forgets all tokens: padding from the next step on, until a new oracle starts."""
        self._tokens, self._ids, self._started, self._next, self._forgotten = self._tokens[:0], [], False, 0, 0

    def take(self) -> torch.Tensor:
        """The next step's token, `[1, 1, 1]`: the next in the queue, or padding."""
        place = self._next
        if place >= len(self._ids):
            self.last = self._pad
            return self._padding.view(1, 1, 1)
        self.last = self._ids[place]
        self._next += 1
        return self._tokens[place : place + 1].view(1, 1, 1)


class _OracleMain:
    """Replaces the temporal transformer in the package's step, and adds the step's oracle token."""

    def __init__(self, lm: KameLM, queue: OracleQueue) -> None:
        self.queue = queue
        self.token: torch.Tensor | None = None
        self._graphed = CUDAGraphed(
            lambda codes, sums, cross, token: lm.forward_text(codes, sums, cross, token),
            disable=lm.device.type != "cuda",
        )

    def __call__(
        self, codes: torch.Tensor, sums: torch.Tensor | None, cross: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        assert self.token is not None
        return self._graphed(codes, sums, cross, self.token)

    def forget_graph(self) -> None:
        """Makes the next step capture its graph again, since it attends to another length."""
        self._graphed.reset()


class KameGen(LMGen):
    """`moshi.models.lm.LMGen` over a `KameLM`, with an oracle. Same arguments, same `step`.

    All calls on the thread that steps. All items of a batch get the same oracle.
    """

    lm_model: KameLM

    def push_oracle(self, token_ids: Sequence[int], *, reset: bool = False) -> None:
        """Appends tokens to the oracle; each step takes one, first in, first out, and padding if there is none.

        With `reset` a new oracle starts: what is left of the old one is dropped, and the next step takes the
        start token (`text_initial_token_id`), the step after it the first of `token_ids`. The first tokens
        after a start, a `clear_oracle` or a `reset_streaming` always start a new oracle.

        Raises:
            ValueError: a token id is not in the vocabulary (0 to `text_card`).
        """
        ids = [int(token) for token in token_ids]
        for token in ids:
            if not 0 <= token <= self.lm_model.text_card:
                raise ValueError(f"Oracle token {token} is not in the vocabulary (0 to {self.lm_model.text_card}).")
        self._queue.push(ids, reset=reset)

    def clear_oracle(self) -> None:
        """Forgets the oracle: the next step takes padding."""
        self._queue.clear()

    @property
    def oracle_rest(self) -> list[int]:
        """The tokens not taken yet, a start token among them."""
        return self._queue.rest

    @property
    def last_oracle(self) -> int:
        """The token of the last step (padding if there was none)."""
        return self._queue.last

    @property
    def oracle_taken(self) -> int:
        """Tokens of the oracle in force that have been taken, the start token among them."""
        return self._queue.taken

    def take_oracle(self) -> torch.Tensor:
        """The next step's token, `[1, 1, 1]`, for a caller that runs `step_with` inside its own graph."""
        return self._queue.take()

    def step_with(self, input_tokens: torch.Tensor, oracle: torch.Tensor) -> torch.Tensor | None:
        """`step` with the oracle token `[1, 1, 1]` given, in place of the queue's next."""
        self._main.token = oracle
        out = super()._step(input_tokens)
        return None if out is None else out[0]

    def attend_to(self, slots: int | None) -> None:
        """Attends to the cache's first `slots` places only (None: to all), which must hold all that is filled.

        The package's cache is a ring of `context` places that every step reads in full, empty ones too.
        """
        for state in self._attention_states():
            if isinstance(state.kv_cache, FilledKVCache):
                state.kv_cache.slots = slots
        self._main.forget_graph()

    def fill_lazily(self) -> None:
        """Replaces the caches by ones that `attend_to` can shorten. To be called once, after streaming has started."""
        for state in self._attention_states():
            if state.kv_cache is not None:
                state.kv_cache = FilledKVCache.take_over(state.kv_cache)

    def _attention_states(self) -> list[_MHAState]:
        layers = [layer for layer in self.lm_model.transformer.layers if isinstance(layer, StreamingTransformerLayer)]
        states = [layer.self_attn._streaming_state for layer in layers]
        return [state for state in states if state is not None]

    @property
    def _main(self) -> _OracleMain:
        assert self._streaming_state is not None, "enter `with gen.streaming(batch_size)` first"
        return self._streaming_state.graphed_main  # type: ignore[return-value]

    @property
    def _queue(self) -> OracleQueue:
        return self._main.queue

    def _init_streaming_state(self, batch_size: int) -> _LMGenState:
        state = super()._init_streaming_state(batch_size)
        lm = self.lm_model
        queue = OracleQueue(lm.device, start=lm.text_initial_token_id, padding=lm.text_padding_token_id)
        state.graphed_main = _OracleMain(lm, queue)  # type: ignore[assignment]
        reset_model = state.reset_callback

        def reset_all(mask: torch.Tensor) -> None:
            queue.clear()
            if reset_model is not None:
                reset_model(mask)

        state.reset_callback = reset_all
        return state

    @torch.no_grad()
    def _step(
        self, input_tokens: torch.Tensor, depformer_replace_tokens: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        self._main.token = self.take_oracle()
        return super()._step(input_tokens, depformer_replace_tokens)
