"""Captures calls as CUDA graphs, so that a frame is one replay instead of thousands of kernel launches."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from moshi.modules.streaming import State, StreamingModule
from moshi.utils.compile import CUDAGraphed


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
