"""The model's process, with a small model that says what the oracle tells it, word by word, and else pauses. Untrained,
it would talk without end."""

from __future__ import annotations

import sys
from typing import Any

import torch

from app.frontend.kame.engine import checkpoint, worker
from app.frontend.kame.engine.checkpoint import Loaded

PAD = 3


def tell(loaded: Loaded) -> list[int]:
    """Makes the model say what it hears; returns the list to which each step adds the oracle's token."""
    tokens: list[int] = []
    start = loaded.lm.text_initial_token_id

    def hear(_module: object, args: tuple[torch.Tensor, ...]) -> None:
        tokens.append(int(args[0]))

    def say(_module: object, _args: object, logits: torch.Tensor) -> torch.Tensor:
        torch.empty(1 << 24)  # 64 MB from the system at each step, so that a limit takes effect
        logits[..., PAD if tokens[-1] == start else tokens[-1]] += 1000.0
        return logits

    loaded.lm.oracle_emb.register_forward_pre_hook(hear)
    loaded.lm.text_linear.register_forward_hook(say)
    return tokens


def main() -> int:
    load = checkpoint.load

    def load_and_tell(*args: Any, **options: Any) -> Loaded:
        loaded = load(*args, **options)
        tell(loaded)
        return loaded

    checkpoint.load = load_and_tell
    return worker.main(sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
