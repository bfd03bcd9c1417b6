"""KAME's generator: Moshi's, fed one oracle token at every step.

A subclass of the package's generator that does not change its step: the callable with which the step runs the
temporal transformer is replaced by one that adds the step's oracle token.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from moshi.models.lm import LMGen, _LMGenState
from moshi.modules.transformer import StreamingTransformerLayer, _MHAState
from moshi.utils.compile import CUDAGraphed

from app.frontend.kame.attention import FilledKVCache
from app.frontend.kame.model import KameLM


class OracleQueue:
    """The oracle of one stream: first in, first out, one token a step, nothing dropped.

    All `batch` items get the same tokens. Each has a place of its own in them, since one that sits a step
    out (`exec_mask`) takes no token in it. The tokens lie on the device, the places on the host: a step
    copies nothing over and waits for nothing.
    """

    def __init__(self, batch: int, device: torch.device, *, start: int, padding: int) -> None:
        self._batch = batch
        self._start = start
        self._padding = torch.full((1,), padding, dtype=torch.long, device=device)
        self._tokens = self._padding[:0]
        self._ids: list[int] = []
        self._pad = padding
        self.last = padding
        """The token that the first item took last."""
        self._taken = [0] * batch
        self._runs = [True] * batch
        self._begun = False
        self._void = 0  # tokens taken by all and forgotten since

    @property
    def rest(self) -> list[int]:
        """The tokens that the slowest item has still to take."""
        return self._ids[min(self._taken) :]

    @property
    def taken(self) -> int:
        """Tokens of this oracle that the slowest item has taken, the start token among them."""
        return self._void + min(self._taken)

    def push(self, token_ids: Sequence[int], *, reset: bool) -> None:
        """Appends tokens; with `reset` a new oracle starts with them, and the rest of the old one is dropped."""
        ids = [int(token) for token in token_ids]
        if reset or (ids and not self._begun):
            self.clear()
            self._begun = True
            ids.insert(0, self._start)
        if ids:
            done = min(self._taken)
            new = torch.tensor(ids, dtype=torch.long).to(self._tokens.device)
            self._tokens = torch.cat([self._tokens[done:], new])
            self._ids = self._ids[done:] + ids
            self._taken = [taken - done for taken in self._taken]
            self._void += done

    def clear(self) -> None:
        """Forgets all tokens: padding from the next step on, until a new oracle starts."""
        self._tokens, self._ids, self._begun, self._void = self._tokens[:0], [], False, 0
        self._taken = [0] * self._batch

    def reset(self, mask: Sequence[bool]) -> None:
        """Resets the items of `mask`: they have nothing to take, and all run."""
        if all(mask):
            self.clear()
        for item in range(self._batch):
            if mask[item]:
                self._taken[item], self._runs[item] = len(self._tokens), True

    def run_only(self, mask: Sequence[bool]) -> None:
        """From now on the items of `mask` take tokens, the others sit out."""
        self._runs = [bool(runs) for runs in mask]

    def take(self) -> torch.Tensor:
        """The next step's tokens, `[B, 1, 1]`: each item's next, or padding."""
        tokens = []
        self.last = self._pad
        for item in range(self._batch):
            place = self._taken[item]
            if self._runs[item] and place < len(self._tokens):
                tokens.append(self._tokens[place : place + 1])
                self._taken[item] += 1
                self.last = self._ids[place] if item == 0 else self.last
            else:
                tokens.append(self._padding)
        if len({token.data_ptr() for token in tokens}) == 1:
            return tokens[0].view(1, 1, 1).expand(self._batch, 1, 1)
        return torch.cat(tokens).view(self._batch, 1, 1)


class _OracleMain:
    """Replaces the temporal transformer in the package's step, and adds the step's oracle token."""

    def __init__(self, lm: KameLM, queue: OracleQueue, *, doubled: bool) -> None:
        self.queue = queue
        self.token: torch.Tensor | None = None
        self._doubled = doubled
        self._graphed = CUDAGraphed(
            lambda codes, sums, cross, token: lm.forward_text(codes, sums, cross, token),
            disable=lm.device.type != "cuda",
        )

    def __call__(
        self, codes: torch.Tensor, sums: torch.Tensor | None, cross: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        assert self.token is not None
        # Guidance runs every item twice, with and without its conditions: both hear the same oracle.
        token = self.token.repeat(2, 1, 1) if self._doubled else self.token
        return self._graphed(codes, sums, cross, token)

    def forget_graph(self) -> None:
        """Makes the next step capture its graph again, since it attends to another length."""
        self._graphed.reset()


class KameGen(LMGen):
    """`moshi.models.lm.LMGen` over a `KameLM`, with an oracle. Same arguments, same `step`.

    All calls on the thread that steps.
    """

    lm_model: KameLM

    def __init__(self, lm_model: KameLM, *args: Any, **kwargs: Any) -> None:
        super().__init__(lm_model, *args, **kwargs)
        self._early: list[tuple[list[int], bool]] = []

    def push_oracle(self, token_ids: Sequence[int], *, reset: bool = False) -> None:
        """Appends tokens to the oracle; each step takes one, first in, first out, and padding if there is none.

        With `reset` a new oracle starts: what is left of the old one is dropped, and the next step takes the
        start token (`text_initial_token_id`), the step after it the first of `token_ids`. The first tokens
        after a start, a `clear_oracle` or a `reset_streaming` always start a new oracle. Before `streaming`
        the tokens wait for its first step.

        Raises:
            ValueError: a token id is not in the vocabulary (0 to `text_card`).
        """
        ids = [int(token) for token in token_ids]
        for token in ids:
            if not 0 <= token <= self.lm_model.text_card:
                raise ValueError(f"Oracle token {token} is not in the vocabulary (0 to {self.lm_model.text_card}).")
        queue = self._queue
        if queue is None:
            self._early.append((ids, reset))
        else:
            queue.push(ids, reset=reset)

    def clear_oracle(self) -> None:
        """Forgets the oracle: the next step takes padding."""
        self._early.clear()
        if self._queue is not None:
            self._queue.clear()

    @property
    def oracle_rest(self) -> list[int]:
        """The tokens not taken yet, a start token among them."""
        return self._queue.rest if self._queue is not None else []

    @property
    def last_oracle(self) -> int:
        """The token of the last step (padding if there was none)."""
        return self._queue.last if self._queue is not None else self.lm_model.text_padding_token_id

    @property
    def oracle_taken(self) -> int:
        """Tokens of the oracle in force that have been taken, the start token among them."""
        return self._queue.taken if self._queue is not None else 0

    def take_oracle(self) -> torch.Tensor:
        """The next step's tokens, `[B, 1, 1]`, for a caller that runs `step_with` inside its own graph."""
        if self._queue is None:
            raise RuntimeError("The generator isn't streaming: enter `with gen.streaming(batch_size)` first.")
        return self._queue.take()

    def step_with(self, input_tokens: torch.Tensor, oracle: torch.Tensor) -> torch.Tensor | None:
        """`step` with the oracle tokens `[B, 1, 1]` given, in place of the queue's next."""
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

    def set_exec_mask(self, exec_mask: torch.Tensor) -> None:
        """As in the package; items that sit out take no oracle token, and none is lost to them."""
        if self._queue is not None:
            self._queue.run_only(exec_mask.tolist())
        super().set_exec_mask(exec_mask)

    def _attention_states(self) -> list[_MHAState]:
        layers = [layer for layer in self.lm_model.transformer.layers if isinstance(layer, StreamingTransformerLayer)]
        states = [layer.self_attn._streaming_state for layer in layers]
        return [state for state in states if state is not None]

    @property
    def _main(self) -> _OracleMain:
        assert self._streaming_state is not None
        return self._streaming_state.graphed_main  # type: ignore[return-value]

    @property
    def _queue(self) -> OracleQueue | None:
        return None if self._streaming_state is None else self._main.queue

    def _init_streaming_state(self, batch_size: int) -> _LMGenState:
        state = super()._init_streaming_state(batch_size)
        lm = self.lm_model
        queue = OracleQueue(batch_size, lm.device, start=lm.text_initial_token_id, padding=lm.text_padding_token_id)
        for ids, reset in self._early:
            queue.push(ids, reset=reset)
        self._early.clear()
        state.graphed_main = _OracleMain(lm, queue, doubled=self.cfg_coef != 1.0)  # type: ignore[assignment]
        reset_model = state.reset_callback

        def reset_all(mask: torch.Tensor) -> None:
            queue.reset(mask.tolist())
            if reset_model is not None:
                reset_model(mask)

        state.reset_callback = reset_all
        return state

    @torch.no_grad()
    def _step(
        self, input_tokens: torch.Tensor, depformer_replace_tokens: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor] | None:
        if self._streaming_state is not None:
            self._main.token = self.take_oracle()
        return super()._step(input_tokens, depformer_replace_tokens)
