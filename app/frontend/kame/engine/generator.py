"""KAME's generator, which is Moshi's with one oracle token fed at every step.

It subclasses the package's generator without changing its step. Only the callable that runs the temporal transformer is
replaced by one that adds the step's oracle token.
"""

from __future__ import annotations

from typing import Any

import torch
from moshi.models.lm import LMGen, _LMGenState
from moshi.modules.transformer import StreamingTransformerLayer, _MHAState

from app.frontend.kame.engine.fused import fused
from app.frontend.kame.engine.model import FilledKVCache, KameLM


class _OracleMain:
    """Replaces the temporal transformer in the package's step, adding the oracle token."""

    def __init__(self, lm: KameLM) -> None:
        self.padding = torch.full((1, 1, 1), lm.text_padding_token_id, dtype=torch.long, device=lm.device)
        self.token = self.padding
        self._lm = lm

    def __call__(
        self, codes: torch.Tensor, sums: torch.Tensor | None, cross: torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        return self._lm.forward_text(codes, sums, cross, self.token)


class KameGen(LMGen):
    """`moshi.models.lm.LMGen` for a `KameLM`, with an oracle. Takes the same arguments.

    `step` is the package's: a step without an oracle. All calls must be made on the thread that steps. All items of a
    batch get the same oracle.

    `fused`: the layers use their fused forms (`fused.py`) at batch size 1, and `attend_to` can be used. Otherwise they
    are exactly the package's.
    """

    lm_model: KameLM

    def __init__(self, *args: Any, fused: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._fused = fused and self.cfg_coef == 1.0

    def step_with(
        self, input_tokens: torch.Tensor, oracle: torch.Tensor, own: torch.Tensor | None = None
    ) -> torch.Tensor | None:
        """Runs `step` with an oracle token, `[1, 1, 1]`.

        `own`: the model's own codes, `[1, K, 1]`, if they are known, so that the depth transformer needn't run.
        """
        self._main.token = oracle
        try:
            return self.step(input_tokens, own)
        finally:
            self._main.token = self._main.padding

    def attend_to(self, slots: int | None) -> None:
        """Limits attention to the first `slots` positions of the cache (None: all), which must include all filled ones.

        The package's cache is a ring of `context` positions that every step reads in full, including empty ones.
        """
        for state in self._attention_states():
            if isinstance(state.kv_cache, FilledKVCache):
                state.kv_cache.slots = slots

    def fill_lazily(self) -> None:
        """Replaces the caches with ones that `attend_to` can limit. Call it once after streaming has started, unless
        the generator is fused."""
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

    def _init_streaming_state(self, batch_size: int) -> _LMGenState:
        state = super()._init_streaming_state(batch_size)
        state.graphed_main = _OracleMain(self.lm_model)  # type: ignore[assignment]
        if self._fused and batch_size == 1:
            self.fill_lazily()
            state.exit_stack.enter_context(fused(self.lm_model))
        return state
