"""CUDA graphs emulated on the processor.

At a capture, operations are recorded: what they would write isn't written. A replay runs them again, without Python, on
the very same tensors. Graphs of one pool share its memory: before another graph of the pool is replayed, what the last
one has computed is overwritten.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from app.frontend.kame.engine import engine as engines
from app.frontend.kame.engine import kernels
from app.frontend.kame.engine.engine import Engine

ILLEGAL = ("_local_scalar_dense", "nonzero", "masked_select", "unique", "is_nonzero", "equal", "bincount")
"""Operations whose result the processor waits for, so that a capture fails."""
INVALIDATED = "CUDA error: operation failed due to a previous error during capture"


class Graph:
    """Takes the place of `torch.cuda.CUDAGraph`."""

    card: EmulatedCard

    def __init__(self) -> None:
        self.calls: list[tuple[Any, tuple, dict, list[torch.Tensor]]] = []
        self.views: list[Any] = []
        self.pool: Any = None
        self.mode = ""
        self.stale = False

    def replay(self) -> None:
        self.card.has_replayed(self)
        with torch.no_grad():
            for function, args, kwargs, outputs in self.calls:
                result = function(*args, **kwargs)
                for output, value in zip(outputs, _tensors(result), strict=False):
                    output.copy_(value)

    def overwrite(self) -> None:
        """Writes over the memory of everything that a replay computes."""
        for output in itertools.chain(*(outputs for *_, outputs in self.calls)):
            output.fill_(
                True if output.dtype == torch.bool else -(2**30) if not output.is_floating_point() else torch.nan
            )


class _Recorder(TorchDispatchMode):
    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self._graph = graph

    def __torch_dispatch__(self, func: Any, types: Any, args: tuple = (), kwargs: dict | None = None) -> Any:
        kwargs = kwargs or {}
        name = func.overloadpacket.__name__
        given = _tensors((args, kwargs))
        masks = name.startswith("index") and any(t.dtype == torch.bool for t in given[1:])
        if name in ILLEGAL or (masks and not _fills(func, args)):
            raise RuntimeError(f"CUDA error: operation not permitted when stream is capturing ({func})")
        if func._schema.is_mutable:
            self._graph.calls.append((func, args, kwargs, []))
            written = [
                kwargs.get(argument.name, args[index] if index < len(args) else None)
                for index, argument in enumerate(func._schema.arguments)
                if argument.alias_info is not None and argument.alias_info.is_write
            ]
            return written[0]
        result = func(*args, **kwargs)
        outputs = _tensors(result)
        known = {t.untyped_storage()._cdata for t in given}
        if outputs and all(t.untyped_storage()._cdata in known for t in outputs):
            self._graph.views.append(result)
        else:
            self._graph.calls.append((func, args, kwargs, [] if name.startswith("empty") else outputs))
        return result


def _fills(func: Any, args: tuple) -> bool:
    """Whether an `index_put_` with a mask only fills in a number, which torch does without looking at the mask."""
    return func.overloadpacket.__name__ == "index_put_" and args[2].device.type == "cpu" and args[2].numel() == 1


def _tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


class EmulatedCard:
    """Takes the place of what the engine uses of `torch.cuda`, while `monkeypatch` is in force.

    - `graphs`: all captures, in order.
    - `failing`: the number of the capture whose end fails, counted from 0.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, failing: int = -1) -> None:
        self.graphs: list[Graph] = []
        self.failing = failing
        self._capturing = False
        self._last: dict[Any, Graph] = {}
        pools = itertools.count(1)
        kind = type("EmulatedGraph", (Graph,), {"card": self})
        monkeypatch.setattr(torch.cuda, "CUDAGraph", kind)
        monkeypatch.setattr(torch.cuda, "graph", self._capture)
        monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: (0, next(pools)))
        monkeypatch.setattr(torch.cuda, "synchronize", self._wait)
        monkeypatch.setattr(torch.cuda, "Event", lambda **_: _Event(self._wait))
        monkeypatch.setattr(engines, "_host", lambda tensor, pinned: tensor)

    def has_replayed(self, graph: Graph) -> None:
        """Overwrites the memory of the pool's last graph, if `graph` is another one."""
        assert not self._capturing, "a graph is replayed in a capture"
        last = self._last.get(graph.pool)
        if last is not None and last is not graph:
            last.overwrite()
        self._last[graph.pool] = graph

    def engine(self, *args: Any, **kwargs: Any) -> Engine:
        """Returns an engine that believes to be on a card."""
        engine = Engine(*args, **kwargs)
        engine._on_gpu = engine.graphs.enabled = True
        return engine

    def record_launches(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Has captures record launches of the app's kernels, which `use_emulated` must have put on the processor."""
        launch = kernels.launch

        def launched(*args: Any) -> None:
            if self._capturing:
                self.graphs[-1].calls.append((launch, args, {}, []))
            else:
                launch(*args)

        monkeypatch.setattr(kernels, "launch", launched)

    def _wait(self) -> None:
        if self._capturing:
            raise RuntimeError("CUDA error: operation not permitted when stream is capturing (a wait)")

    @contextmanager
    def _capture(
        self, graph: Graph, pool: Any = None, stream: Any = None, capture_error_mode: str = "global"
    ) -> Iterator:
        graph.pool, graph.mode = pool, capture_error_mode
        self.graphs.append(graph)
        self._capturing = True
        try:
            with _Recorder(graph):
                yield
        except torch.OutOfMemoryError:
            raise
        except Exception:
            raise RuntimeError(INVALIDATED)  # noqa: B904 - with what happened before as its context, as in torch
        finally:
            self._capturing = False
        if self.failing == len(self.graphs) - 1:
            raise RuntimeError(INVALIDATED)


class _Event:
    def __init__(self, wait: Any) -> None:
        self.synchronize = wait

    def record(self) -> None:
        pass
