"""Steps both models by one frame: the codec encodes the user's audio, the language model steps, the codec decodes.

On CUDA, a frame is one replay of a captured graph and one wait for its result. On the CPU, the same calls run directly.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from moshi.models.compression import MimiModel
from moshi.modules.streaming import StreamingModule
from moshi.utils.compile import no_cuda_graph

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.kame.engine.generator import KameGen
from app.frontend.kame.engine.graphs import FrameGraphs
from app.frontend.kame.engine.model import KameLM
from app.frontend.kame.engine.proofs import prove
from app.frontend.kame.stream_engine import Column, EngineStep, TextTokens

FREE = -1
"""The forced-token value that lets the model choose its own token."""
SETTLING_FRAMES = 25
"""Frames of silence (2 s) after which Mimi's codes for silence no longer change."""

BUCKETS = (256, 512, 1024, 2048)
"""Attention lengths, in frames. A graph is captured for each, and one more for the whole context."""


class Engine:
    """Runs both models in one stream. A context manager; all calls must be made on one thread.

    Args:
        lm: the language model.
        mimi: the codec, or one of `OTHER_CODECS`.
        sampling: arguments for `KameGen` (temperatures, `use_sampling`).
        graphs: whether a card runs captured graphs. Without them, it is too slow for a conversation.

    Raises:
        ValueError: the codec's frame length isn't 80 ms.
    """

    def __init__(
        self, lm: KameLM, mimi: MimiModel, *, sampling: dict[str, Any] | None = None, graphs: bool = True
    ) -> None:
        if mimi.frame_size != FRAME_SAMPLES:
            raise ValueError(f"The codec's frames have {mimi.frame_size} samples, not {FRAME_SAMPLES}.")
        self.lm, self.mimi = lm, mimi
        self.device = lm.device
        assert lm.context is not None
        self.context: int = lm.context
        self._on_gpu = self.device.type == "cuda"
        self._own, self._heard = lm.dep_q, lm.n_q - lm.dep_q
        self._force_text = torch.full((1,), FREE, dtype=torch.long, device=self.device)
        self._force_own = torch.full((1, lm.dep_q), FREE, dtype=torch.long, device=self.device)
        self._text = torch.zeros(1, dtype=torch.long, device=self.device)
        self._codes = torch.zeros(1, lm.dep_q, dtype=torch.long, device=self.device)
        self.gen = KameGen(
            lm,
            fused=True,
            **{"support_out_of_sync": True, **(sampling or {})},
            on_text_hook=self._on_text,
            on_audio_hook=self._on_own,
        )
        self._buckets = sorted({b for b in BUCKETS if b < self.context} | {self.context})
        self._stack = ExitStack()
        self.graphs = FrameGraphs((self.gen, lm, mimi), enabled=graphs and self._on_gpu)
        self._forcing = False
        self._slots = 0
        self.step_seconds = 0.0
        """Duration of a replayed step on this card, measured on entry; 0 on the CPU."""
        self.steps = 0
        """Steps since the start of the stream, which is also the number of frames in the cache until it is full."""
        self.pending = 0
        """Always 0, since each call returns the result of its frame."""
        self.silence: tuple[int, ...] = ()
        """The codec's codes for silence, one per codebook of the model's own stream."""
        silent = frozenset({lm.text_padding_token_id, lm.end_of_text_padding_id})
        self.tokens = TextTokens(lm.text_padding_token_id, lm.text_initial_token_id, lm.text_card, silent)
        """The special tokens of the model's text."""

    # -- lifecycle ---------------------------------------------------------------------------------

    def __enter__(self) -> Engine:
        if self._on_gpu:
            prove()  # outside of captures
        try:
            self._stack.enter_context(no_cuda_graph())  # the package's own, inside and outside of ours
            with torch.no_grad():
                self.silence = self._learn_silence()
                self._stack.enter_context(self.mimi.streaming(1))
                self._stack.enter_context(self.gen.streaming(1))
                self._make_buffers()
                self._warm_up()
        except BaseException:
            self.graphs.close()
            self._stack.close()
            raise
        return self

    def _make_buffers(self) -> None:
        """Allocates the buffers for samples and tokens, in pinned memory on the host if there is a card."""
        self._sink = torch.tensor([self.silence], dtype=torch.long, device=self.device)[..., None]
        self._samples = torch.zeros(1, 1, FRAME_SAMPLES, device=self.device)
        self._staging = _host(torch.zeros(1, 1, FRAME_SAMPLES), self._on_gpu)
        self._user = torch.zeros(1, self._heard, 1, dtype=torch.long, device=self.device)
        self._oracle = torch.full((1, 1, 1), self.tokens.padding, dtype=torch.long, device=self.device)
        self._oracle_staging = _host(self._oracle.cpu(), self._on_gpu)
        self._out = _host(torch.zeros(FRAME_SAMPLES), self._on_gpu)
        # Blocking: the wait for a frame must not keep a processor core busy.
        self._done = torch.cuda.Event(blocking=True) if self._on_gpu else None
        width = 1 + self._own + self._heard
        self._out_tokens = _host(torch.zeros(width, dtype=torch.long), self._on_gpu)

    def __exit__(self, *exc: object) -> None:
        self.graphs.close()
        self._stack.close()
        # Breaks all reference cycles (the generator's hooks, the package's cached child modules), so that 16 GB are
        # freed immediately instead of waiting for the garbage collector, from which sessions exclude loaded models.
        self.gen.on_text_hook = self.gen.on_audio_hook = None
        for part in [*self.gen.modules(), *self.mimi.modules()]:
            if isinstance(part, StreamingModule):
                part._cached_children = None
        del self.gen, self.lm, self.mimi

    def _learn_silence(self) -> tuple[int, ...]:
        """Returns the codec's codes for silence, once they no longer change."""
        if (known := getattr(self.mimi, "silence", None)) is not None:
            return known  # the encoder of such a codec doesn't produce codes of the model's own audio
        with self.mimi.streaming(1):
            quiet = torch.zeros(1, 1, FRAME_SAMPLES, device=self.device)
            for _ in range(SETTLING_FRAMES):
                codes = self.mimi.encode(quiet)
        return tuple(int(code) for code in codes[0, : self._own, 0])

    def _warm_up(self) -> None:
        """Runs (and on CUDA captures) every path once in advance, so that this doesn't delay a frame of a session."""
        token = self._oracle
        for bucket in reversed(self._buckets):
            self._attend(bucket)
            for _ in range(2 if self._on_gpu else 1):
                self.graphs.run("frame", bucket, self._frame, self._samples, token)
        for _ in range(2 if self._on_gpu else 1):
            self._user.copy_(self.graphs.run("encode", 0, self._encode, self._samples))
            self._attend(self._buckets[0])
            self.graphs.run("lm", self._buckets[0], self._lm_only, self._user, token)
        if self._on_gpu:
            torch.cuda.synchronize()
            started = time.perf_counter()
            for _ in range(5):
                self.graphs.run("lm", self._buckets[0], self._lm_only, self._user, token)
            torch.cuda.synchronize()
            self.step_seconds = (time.perf_counter() - started) / 5
        self.restart()

    # -- a frame -----------------------------------------------------------------------------------

    def restart(self) -> None:
        """Starts a fresh stream with an empty cache, no oracle and a reset codec."""
        self.gen.reset_streaming()
        self.mimi.reset_streaming()
        self.steps = 0
        self._force()

    def restart_language_model(self) -> None:
        """Starts a fresh stream of the language model, while the codec's streams continue."""
        self.gen.reset_streaming()
        self.steps = 0

    @torch.no_grad()
    def step(self, samples: np.ndarray, oracle: int, *, silent: bool = False) -> tuple[EngineStep, ...]:
        """Processes one frame of the user's audio, float32 `[1920]` at 24 kHz, and returns the model's output.

        - `oracle`: the oracle's token of this step.
        - `silent`: forces padding and the codec's codes for silence.
        """
        if silent != self._forcing:
            self._force(*((self.tokens.padding, self.silence) if silent else ()))
        self._take_in(samples)
        self._oracle_staging.fill_(oracle)
        self._oracle.copy_(self._oracle_staging, non_blocking=True)
        bucket = self._bucket()
        self._attend(bucket)
        sound, tokens = self.graphs.run("frame", bucket, self._frame, self._samples, self._oracle)
        self._out.copy_(sound, non_blocking=True)
        self._out_tokens.copy_(tokens, non_blocking=True)
        if self._done is not None:
            self._done.record()
            self._done.synchronize()  # the only wait in a frame
        self.steps += 1
        out = self._out.numpy().copy() if self.steps > self.gen.max_delay else np.zeros(FRAME_SAMPLES, np.float32)
        values = self._out_tokens.tolist()
        own, user = values[1 : 1 + self._own], values[1 + self._own :]
        return (EngineStep(out, Column(values[0], tuple(own), tuple(user), oracle)),)

    @torch.no_grad()
    def encode(self, samples: np.ndarray) -> tuple[EngineStep, ...]:
        """Encodes a frame without stepping the language model."""
        self._take_in(samples)
        codes = self.graphs.run("encode", 0, self._encode, self._samples)
        padding = self.tokens.padding
        column = Column(padding, self.silence, tuple(codes[0, :, 0].tolist()), padding)
        return (EngineStep(np.zeros(FRAME_SAMPLES, np.float32), column, spoken=False),)

    @torch.no_grad()
    def replay(self, column: Column) -> None:
        """Steps the language model with known tokens, which enter its cache as if they had been spoken and received."""
        self._user.copy_(torch.tensor([column.user], dtype=torch.long)[..., None])
        self._oracle.fill_(column.oracle)
        self._force(column.text, column.own)
        bucket = self._bucket()
        self._attend(bucket)
        self.graphs.run("lm", bucket, self._lm_only, self._user, self._oracle)
        self.steps += 1
        self._force()

    def _take_in(self, samples: np.ndarray) -> None:
        self._staging[0, 0].copy_(torch.from_numpy(samples))
        self._samples.copy_(self._staging, non_blocking=True)

    def _force(self, text: int = FREE, own: Sequence[int] = ()) -> None:
        """Forces the model to output these tokens from now on; without any, it chooses its own again."""
        self._force_text.fill_(text)
        if own:
            self._force_own.copy_(torch.tensor([list(own)], dtype=torch.long))
        else:
            self._force_own.fill_(FREE)
        self._forcing = text != FREE

    # -- code that runs on the device --------------------------------------------------------------

    def _frame(self, samples: torch.Tensor, oracle: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        codes = self._encode(samples)
        out = self.gen.step_with(codes, oracle)
        assert out is not None
        own = out[:, 1:]
        sound = self.mimi.decode(torch.where(own < 0, self._sink, own))
        tokens = torch.cat([self._text, self._codes[0], codes[0, :, 0]])
        return sound[0, 0], tokens

    def _encode(self, samples: torch.Tensor) -> torch.Tensor:
        return self.mimi.encode(samples)[:, : self._heard]

    def _lm_only(self, codes: torch.Tensor, oracle: torch.Tensor) -> torch.Tensor:
        self.gen.step_with(codes, oracle, self._force_own[..., None])
        return self._text

    def _on_text(self, token: torch.Tensor) -> None:
        token.copy_(torch.where(self._force_text == FREE, token, self._force_text))
        self._text.copy_(token)

    def _on_own(self, codes: torch.Tensor) -> None:
        codes.copy_(torch.where(self._force_own == FREE, codes, self._force_own))
        self._codes.copy_(codes)

    def _bucket(self) -> int:
        return next((b for b in self._buckets if b > self.steps), self._buckets[-1])

    def _attend(self, slots: int) -> None:
        if slots != self._slots:
            self.gen.attend_to(slots)
            self._slots = slots


def _host(tensor: torch.Tensor, pinned: bool) -> torch.Tensor:
    """Returns a host tensor, in pinned memory if `pinned`."""
    return tensor.pin_memory() if pinned else tensor
