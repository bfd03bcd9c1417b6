"""What the app does with a card, on a machine without one, in a process whose CUDA runtime and driver are stand-ins.

Called with what to do; prints the result in JSON.
"""

import json
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from app.research.benches.card_stub import CAPABILITIES, load_card_stub


def kernels_on_a_cold_thread(*, synchronise: bool = True) -> list[str]:
    """Which kernels are loaded on a thread without a context, while other threads have one."""
    import torch

    from app.frontend.kame.engine import kernels

    def load_and_launch() -> list[str]:
        try:
            kernels.load()
        except RuntimeError:
            return []
        vector = torch.empty(128, device="cuda")
        for name in kernels.NAMES:
            kernels.launch(name, 1, 32, vector)  # what it would compute isn't there, but its launch needs a context
        return sorted(kernels._loaded)

    torch.cuda.synchronize()
    with ThreadPoolExecutor(1) as warm, ThreadPoolExecutor(1) as cold:
        warm.submit(torch.cuda.synchronize).result()
        if not synchronise:
            torch.cuda.synchronize = lambda *_: None
        return cold.submit(load_and_launch).result()


def faults() -> dict[str, list[str]]:
    """What is found in frames that have an operation too many."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    from app.frontend.kame.engine.engine import Engine
    from app.research.benches.launches import Watch, count

    encode = Engine._encode
    operations: dict[str, Callable[[torch.Tensor], Any]] = {
        "nothing": lambda sound: None,
        "nonzero": lambda sound: sound.nonzero(),
        "mask": lambda sound: sound[sound > 0],
        "answer": lambda sound: sound.cpu(),
        "both sides": lambda sound: sound + torch.ones(1),
        "on the processor": lambda sound: torch.ones(3) + torch.ones(3),
        "double": lambda sound: sound.double(),
    }
    found = {}
    for name, operation in operations.items():

        def more(self: Engine, sound: torch.Tensor, operation: Any = operation) -> torch.Tensor:
            operation(sound)
            return encode(self, sound)

        Engine._encode = more
        try:
            found[name] = sorted(count("tiny", "bf16", 89)["encode"].faults)
        except Exception as error:  # FakeTensors refuse some of it themselves
            found[name] = [type(error).__name__]
    watch = Watch()
    with FakeTensorMode():
        matrix = torch.empty(64, 64, device="cuda:3")
        watch.own("gemv_int8", matrix, matrix[1:], matrix.T, matrix[0, 1:], torch.empty(4))
    return {**found, "kernel": sorted(watch.counted.faults)}


def attention() -> dict[str, dict[str, str]]:
    """In which operation torch calculates a step's attention, by type and card."""
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils._python_dispatch import TorchDispatchMode

    class Names(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            names.append(func.overloadpacket.__name__)
            return func(*args, **(kwargs or {}))

    found: dict[str, dict[str, str]] = {}
    for index, capability in enumerate(CAPABILITIES):
        for name, dtype in (("bfloat16", torch.bfloat16), ("float16", torch.float16)):
            with torch.cuda.device(index), FakeTensorMode():
                query = torch.empty(1, 32, 1, 128, dtype=dtype, device=f"cuda:{index}")
                cache = torch.empty(1, 32, 3000, 128, dtype=dtype, device=f"cuda:{index}")
                mask = torch.empty(1, 1, 1, 3000, dtype=torch.bool, device=f"cuda:{index}")
                names: list[str] = []
                with Names():
                    torch.nn.functional.scaled_dot_product_attention(query, cache, cache, mask)
            fused = [one for one in names if one.startswith("_scaled_dot_product")]
            found.setdefault(name, {})[str(capability)] = fused[0] if fused else f"{len(names)} operations"
    return found


WHAT: dict[str, Callable[[], Any]] = {
    "kernels": kernels_on_a_cold_thread,
    "kernels without": lambda: kernels_on_a_cold_thread(synchronise=False),
    "faults": faults,
    "attention": attention,
}

if __name__ == "__main__":
    load_card_stub()
    print(json.dumps(WHAT[sys.argv[1]]()))
