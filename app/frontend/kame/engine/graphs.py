"""CUDA graphs of a frame's calls, which replay thousands of launches as one.

A capture that fails leaves torch, and with some drivers the whole context, unusable: with torch 2.9 to 2.11, random
numbers can't be drawn after it, and the memory of its pool is never freed. So a failed capture is an error that the
process of the engine doesn't survive.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from moshi.modules.streaming import State, StreamingModule


class CaptureError(RuntimeError):
    """A frame couldn't be captured, so this process can't use the card any more."""


class FrameGraphs:
    """CUDA graphs, one for each name and attention length, in one memory pool.

    - `modules`: those whose streaming state the calls change.
    - `enabled`: False, for example on the CPU, runs the calls directly.
    """

    def __init__(self, modules: Sequence[StreamingModule], *, enabled: bool) -> None:
        self.enabled = enabled
        self._modules = tuple(modules)
        self._graphs: dict[tuple[str, int], _Graph] = {}
        self._pool: Any = None

    def run(self, name: str, slots: int, function: Callable[..., Any], *args: torch.Tensor) -> Any:
        """Calls `function`, or replays its graph for an attention length of `slots`.

        The first call is made directly, so that libraries can set themselves up, and captured afterwards. What it
        returns is overwritten by the next call of any of the functions. Raises CaptureError.
        """
        if not self.enabled:
            return function(*args)
        graph = self._graphs.get((name, slots))
        if graph is not None:
            return graph.replay(args)
        if self._pool is None:
            self._pool = torch.cuda.graph_pool_handle()
        stays = self.in_place(function)
        out = stays(*args)
        self._graphs[name, slots] = _Graph(stays, args, self._pool)  # which changes no state
        return out

    def close(self) -> None:
        """Frees all graphs and drops the references to the modules."""
        self._graphs.clear()
        self._modules = ()
        self._pool = None

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


class _Graph:
    """A captured call. The capture itself changes no state."""

    def __init__(self, function: Callable[..., Any], args: tuple[torch.Tensor, ...], pool: Any) -> None:
        self._args = args
        self._graph = torch.cuda.CUDAGraph()
        try:
            # thread_local: what other threads do with the card can't spoil it.
            with torch.cuda.graph(self._graph, pool=pool, capture_error_mode="thread_local"):
                self._out = function(*args)
        except torch.OutOfMemoryError:
            raise
        except RuntimeError as error:
            raise CaptureError(str(error)) from error

    def replay(self, args: tuple[torch.Tensor, ...]) -> Any:
        for target, source in zip(self._args, args, strict=True):
            if target is not source:
                target.copy_(source)
        self._graph.replay()
        return self._out
