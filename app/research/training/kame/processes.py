"""Several processes, as `torchrun` starts them on the cards of one or more machines: FSDP2 shards the model over them.

Without torchrun there is one process, and nothing here does anything.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from moshi.modules.streaming import StreamingModule
from torch import distributed, nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from app.research.training.kame.loss import LossFunction


@dataclass(frozen=True, slots=True)
class Processes:
    """This process among all. `device`: where its part of the model is."""

    rank: int = 0
    count: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def first(self) -> bool:
        """Whether it is the one that writes files and prints."""
        return self.rank == 0


@contextmanager
def joined_processes(device: str = "auto") -> Iterator[Processes]:
    """Joins the processes that torchrun has started; alone without it. `device`: auto, cuda or cpu."""
    cuda = device == "cuda" or (device == "auto" and torch.cuda.is_available())
    with _all_cores():
        if "RANK" not in os.environ:
            yield Processes(device=torch.device("cuda" if cuda else "cpu"))
            return
        own = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
        if cuda:
            torch.cuda.set_device(own)
        distributed.init_process_group("nccl" if cuda else "gloo")
        try:
            yield Processes(distributed.get_rank(), distributed.get_world_size(), own)
        finally:
            distributed.destroy_process_group()


@contextmanager
def _all_cores() -> Iterator[None]:
    """Lets torch compute on this process's share of the cores.

    The app's programs compute on one thread, as a conversation needs it. Training has the machine to itself.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // int(os.environ.get("LOCAL_WORLD_SIZE", "1"))))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def share_out(losses: LossFunction, processes: Processes, precision: str) -> None:
    """Shards the weights of the model in `losses`, layer by layer, over all processes. Does nothing for one process."""
    if processes.count == 1:
        return
    mesh = distributed.init_device_mesh(processes.device.type, (processes.count,))
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16) if precision == "bf16" else MixedPrecisionPolicy()
    lm = losses.lm
    for layer in [*lm.transformer.layers, *(lm.depformer.layers if lm.depformer is not None else ())]:
        fully_shard(list(_plain_parts(layer)), mesh=mesh, mp_policy=policy)
    fully_shard(losses, mesh=mesh, mp_policy=policy)


def _plain_parts(module: nn.Module) -> Iterator[nn.Module]:
    """The largest parts of a layer that are no streaming modules: FSDP can't change the class of those."""
    for child in module.children():
        if isinstance(child, StreamingModule | nn.ModuleList):
            yield from _plain_parts(child)
        elif any(True for _ in child.parameters()):
            yield child
