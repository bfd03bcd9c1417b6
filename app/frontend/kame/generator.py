"""KAME's generator, which is Moshi's with one oracle token fed at every step.

It subclasses the package's generator without changing its step. Only the callable that runs the temporal transformer is
replaced by one that adds the step's oracle token.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from moshi.models.lm import LMGen, _LMGenState
from moshi.modules.transformer import StreamingTransformerLayer, _MHAState
from moshi.utils.compile import CUDAGraphed

from app.frontend.kame.model import FilledKVCache, KameLM
from app.frontend.kame.oracle_feed import OracleQueue


class DeviceOracleQueue(OracleQueue):
    """An oracle queue with its tokens on the device, so that a step needs neither a copy nor a wait."""

    def __init__(self, device: torch.device, *, start: int, padding: int, vocabulary: int) -> None:
        super().__init__(start=start, padding=padding, vocabulary=vocabulary)
        self._none = torch.full((1, 1, 1), padding, dtype=torch.long, device=device)
        self._tokens = self._none[0, 0, :0]

    def push(self, token_ids: Sequence[int], *, reset: bool = False) -> None:
        super().push(token_ids, reset=reset)
        self._tokens = torch.tensor(self.rest, dtype=torch.long).to(self._none.device)

    def take_tensor(self) -> torch.Tensor:
        """Removes and returns the next step's token, `[1, 1, 1]`."""
        place, before = self._next, self.taken
        self.take()
        return self._tokens[place : place + 1].view(1, 1, 1) if self.taken > before else self._none


class _OracleMain:
    """Replaces the temporal transformer in the package's step, adding the oracle token."""

    def __init__(self, lm: KameLM, queue: DeviceOracleQueue) -> None:
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
        """Makes the next step recapture its graph. Call it after changing the attention length."""
        self._graphed.reset()


class KameGen(LMGen):
    """`moshi.models.lm.LMGen` for a `KameLM`, with an oracle. Takes the same arguments and has the same `step`.

    All calls must be made on the thread that steps. All items of a batch get the same oracle.
    """

    lm_model: KameLM

    def step_with(self, input_tokens: torch.Tensor, oracle: torch.Tensor) -> torch.Tensor | None:
        """Runs `step` with the given oracle token `[1, 1, 1]` instead of the next one in the queue."""
        self._main.token = oracle
        out = super()._step(input_tokens)
        return None if out is None else out[0]

    def attend_to(self, slots: int | None) -> None:
        """Limits attention to the first `slots` positions of the cache (None: all), which must include all filled ones.

        The package's cache is a ring of `context` positions that every step reads in full, including empty ones.
        """
        for state in self._attention_states():
            if isinstance(state.kv_cache, FilledKVCache):
                state.kv_cache.slots = slots
        self._main.forget_graph()

    def fill_lazily(self) -> None:
        """Replaces the caches with ones that `attend_to` can limit. Call it once after streaming has started."""
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
    def oracle(self) -> DeviceOracleQueue:
        """The queue of the oracle's tokens, available while streaming. Each step takes one."""
        return self._main.queue

    def _init_streaming_state(self, batch_size: int) -> _LMGenState:
        state = super()._init_streaming_state(batch_size)
        lm = self.lm_model
        queue = DeviceOracleQueue(
            lm.device,
            start=lm.text_initial_token_id,
            padding=lm.text_padding_token_id,
            vocabulary=lm.text_card,
        )
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
        self._main.token = self.oracle.take_tensor()
        return super()._step(input_tokens, depformer_replace_tokens)
