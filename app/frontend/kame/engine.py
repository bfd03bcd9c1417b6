"""Steps both models by one frame: the codec encodes the user's audio, the language model steps, the codec decodes.

On CUDA, a frame is one replay of a captured graph and one wait for its result. On the CPU, the same calls run directly.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
import torch
from moshi.models.compression import MimiModel
from moshi.modules.streaming import State, StreamingModule
from moshi.utils.compile import CUDAGraphed, no_compile, no_cuda_graph

from app.conversation.frame import FRAME_SAMPLES
from app.frontend.kame.generator import KameGen
from app.frontend.kame.model import KameLM
from app.frontend.kame.oracle_feed import OracleQueue
from app.frontend.kame.stream_engine import Column, EngineStep, TextTokens


class FrameGraphs:
    """CUDA graphs, one per name and attention length. `modules`: those whose streaming state the calls modify.

    Unless `enabled`, for example on the CPU, calls run directly.
    """

    def __init__(self, modules: Sequence[StreamingModule], *, enabled: bool) -> None:
        self.enabled = enabled
        self._modules = tuple(modules)
        self._graphs: dict[tuple[str, int], CUDAGraphed] = {}

    def run(self, name: str, slots: int, function: Callable[..., Any], *args: torch.Tensor) -> Any:
        """Calls `function`, or replays its graph for an attention length of `slots`, which the first calls capture."""
        if not self.enabled:
            return function(*args)
        graph = self._graphs.get((name, slots))
        if graph is None:
            graph = self._graphs[name, slots] = CUDAGraphed(self.in_place(function))
        return graph(*args)

    def close(self) -> None:
        """Frees all graphs and drops the references to the modules."""
        self._graphs.clear()
        self._modules = ()

    def in_place(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wraps `function` so that its streaming states keep their addresses, as a captured graph requires.

        The package replaces some small state tensors at each step (offsets, `first` of the convolutions), and a replay
        would keep reading the old ones. The wrapper copies the new values into the old tensors.
        """

        def run(*args: torch.Tensor) -> Any:
            before = [
                (state, name, value)
                for state in self._states()
                for name, value in vars(state).items()
                if isinstance(value, torch.Tensor)
            ]
            out = function(*args)
            for state, name, old in before:
                new = getattr(state, name)
                if new is not old and isinstance(new, torch.Tensor) and new.shape == old.shape:
                    old.copy_(new)
                    setattr(state, name, old)
            return out

        return run

    def _states(self) -> list[State]:
        found: list[State] = []
        for module in self._modules:
            with contextlib.suppress(AssertionError):
                found += [state for state in module.get_streaming_state().values() if state is not None]
        return found


FREE = -1
"""The forced-token value that lets the model choose its own token."""
SETTLING_FRAMES = 25
"""Frames of silence (2 s) after which Mimi's codes for silence no longer change."""
log = logging.getLogger(__name__)

BUCKETS = (256, 512, 1024, 2048)
"""Attention lengths, in frames. A graph is captured for each, and one more for the whole context."""


class Engine:
    """Runs both models in one stream. A context manager; all calls must be made on one thread.

    Args:
        lm: the language model.
        mimi: the codec, or one of `OTHER_CODECS`.
        sampling: arguments for `KameGen` (temperatures, `use_sampling`).

    Raises:
        ValueError: the codec's frame length isn't 80 ms.
    """

    def __init__(self, lm: KameLM, mimi: MimiModel, *, sampling: dict[str, Any] | None = None) -> None:
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
            **{"support_out_of_sync": True, **(sampling or {})},
            on_text_hook=self._on_text,
            on_audio_hook=self._on_own,
        )
        self._buckets = sorted({b for b in BUCKETS if b < self.context} | {self.context})
        self._stack = ExitStack()
        self.graphs = FrameGraphs((self.gen, lm, mimi), enabled=self._on_gpu)
        self._forcing = False
        self._slots = 0
        self.step_seconds = 0.0
        """Duration of a language model step on this card, measured on entry; 0 on the CPU."""
        self.steps = 0
        """Steps since the start of the stream, which is also the number of frames in the cache until it is full."""
        self.silence: tuple[int, ...] = ()
        """The codec's codes for silence, one per codebook of the model's own stream."""

    # -- lifecycle ---------------------------------------------------------------------------------

    def __enter__(self) -> Engine:
        why = ""
        try:
            self._open()
        except torch.OutOfMemoryError:
            raise
        except Exception as error:
            if not self._on_gpu:
                raise
            why = f"{type(error).__name__}: {error}"
        if why:
            # The driver or torch can't capture a frame, or the compiler fails: run without graphs and compiler. A
            # failed capture leaves torch on the capture's stream.
            log.warning("Frames can't be captured here (%s); each call goes to the card by itself.", why)
            torch.cuda.set_stream(torch.cuda.default_stream())
            self.graphs.enabled, self._slots = False, 0
            self._open()
        return self

    def _open(self) -> None:
        try:
            if self._on_gpu and not self.graphs.enabled:
                self._stack.enter_context(no_cuda_graph())
                self._stack.enter_context(no_compile())
            with torch.no_grad():
                self.silence = self._learn_silence()
                self._stack.enter_context(self.mimi.streaming(1))
                self._stack.enter_context(self.gen.streaming(1))
                self.gen.fill_lazily()
                self._make_buffers()
                self._warm_up()
        except BaseException:
            self.graphs.close()
            self._stack.close()
            raise

    def _make_buffers(self) -> None:
        """Allocates the buffers for samples and tokens, in pinned memory on the host if there is a card."""
        self._sink = torch.tensor([self.silence], dtype=torch.long, device=self.device)[..., None]
        self._samples = torch.zeros(1, 1, FRAME_SAMPLES, device=self.device)
        self._staging = _host(torch.zeros(1, 1, FRAME_SAMPLES), self._on_gpu)
        self._out = _host(torch.zeros(FRAME_SAMPLES), self._on_gpu)
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
        token = self.gen.oracle.take_tensor()
        for bucket in reversed(self._buckets):
            self._attend(bucket)
            for _ in range(3 if self._on_gpu else 1):
                self.graphs.run("frame", bucket, self._frame, self._samples, token)
        for _ in range(3 if self._on_gpu else 1):
            codes = self.graphs.run("encode", 0, self._encode, self._samples)
            self._attend(self._buckets[0])
            self.graphs.run("lm", self._buckets[0], self._lm_only, codes, token)
        if self._on_gpu:
            torch.cuda.synchronize()
            started = time.perf_counter()
            for _ in range(5):
                self.graphs.run("lm", self._buckets[0], self._lm_only, codes, token)
            torch.cuda.synchronize()
            self.step_seconds = (time.perf_counter() - started) / 5
        self.restart()

    # -- a frame -----------------------------------------------------------------------------------

    def restart(self) -> None:
        """Starts a fresh stream with an empty cache, no oracle and a reset codec."""
        self.gen.reset_streaming()
        self.mimi.reset_streaming()
        self.steps = 0
        self.release()

    def restart_language_model(self) -> None:
        """Starts a fresh stream of the language model, while the codec's streams continue."""
        self.gen.reset_streaming()
        self.steps = 0

    @property
    def tokens(self) -> TextTokens:
        """The special tokens of the model's text."""
        lm = self.lm
        silent = frozenset({lm.text_padding_token_id, lm.end_of_text_padding_id})
        return TextTokens(lm.text_padding_token_id, lm.text_initial_token_id, silent)

    @property
    def oracle(self) -> OracleQueue:
        """The queue of the oracle's tokens."""
        return self.gen.oracle

    @property
    def full(self) -> bool:
        """Whether the cache is full, that is, holds as many frames as attention can reach back."""
        return self.steps >= self.context

    def force(self, text: int, own: Sequence[int]) -> None:
        """Forces the model to output these tokens from now on."""
        self._force_text.fill_(text)
        self._force_own.copy_(torch.tensor([list(own)], dtype=torch.long), non_blocking=False)
        self._forcing = True

    def force_silence(self) -> None:
        """Forces the model to be silent from now on, with padding and the codec's codes for silence."""
        if not self._forcing:
            self.force(self.lm.text_padding_token_id, self.silence)

    def release(self) -> None:
        """Lets the model choose its own tokens again."""
        if self._forcing:
            self._force_text.fill_(FREE)
            self._force_own.fill_(FREE)
            self._forcing = False

    @torch.no_grad()
    def step(self, samples: np.ndarray) -> EngineStep:
        """Processes one frame of the user's audio, float32 `[1920]` at 24 kHz, and returns the model's output."""
        self._staging[0, 0].copy_(torch.from_numpy(samples))
        self._samples.copy_(self._staging, non_blocking=True)
        token = self.gen.oracle.take_tensor()
        bucket = self._bucket()
        self._attend(bucket)
        sound, tokens = self.graphs.run("frame", bucket, self._frame, self._samples, token)
        self._out.copy_(sound, non_blocking=True)
        self._out_tokens.copy_(tokens, non_blocking=True)
        if self._on_gpu:
            done = torch.cuda.Event()
            done.record()
            done.synchronize()  # the only wait in a frame
        self.steps += 1
        out = self._out.numpy().copy() if self.steps > self.gen.max_delay else np.zeros(FRAME_SAMPLES, np.float32)
        values = self._out_tokens.tolist()
        own, user = values[1 : 1 + self._own], values[1 + self._own :]
        return EngineStep(out, Column(values[0], tuple(own), tuple(user), self.gen.oracle.last))

    @torch.no_grad()
    def encode(self, samples: np.ndarray) -> tuple[int, ...]:
        """Encodes a frame and returns the user's codes, without stepping the language model."""
        self._staging[0, 0].copy_(torch.from_numpy(samples))
        self._samples.copy_(self._staging, non_blocking=True)
        codes = self.graphs.run("encode", 0, self._encode, self._samples)
        return tuple(codes[0, :, 0].tolist())

    @torch.no_grad()
    def replay(self, column: Column) -> None:
        """Steps the language model with known tokens, which enter its cache as if they had been spoken and received.

        Takes nothing from the oracle queue.
        """
        user = torch.tensor([column.user], dtype=torch.long)[..., None].to(self.device)
        oracle = torch.tensor([[[column.oracle]]], dtype=torch.long).to(self.device)
        self.force(column.text, column.own)
        bucket = self._bucket()
        self._attend(bucket)
        self.graphs.run("lm", bucket, self._lm_only, user, oracle)
        self.steps += 1
        self.release()

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
        self.gen.step_with(codes, oracle)
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
