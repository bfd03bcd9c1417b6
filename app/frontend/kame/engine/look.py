"""Prints what torch finds of the graphics card, as one line of JSON: for a process that must not import torch itself.

The fields are those of `app.frontend.kame.card_look.CardLook`.
"""

from __future__ import annotations

import json
from typing import Any

import torch

from app.platform import nvidia


def look() -> dict[str, Any]:
    """Returns what torch finds. Copies 256 MiB a few times within the card's memory."""
    try:
        torch.cuda.init()
        free, total = torch.cuda.mem_get_info()
    except (RuntimeError, AssertionError) as error:  # torch itself asserts that it was built for CUDA
        return {"trouble": _first_sentence(error)}
    try:
        from app.frontend.kame.engine.measure import copy_bandwidth

        return {"free": free, "total": total, "bandwidth": copy_bandwidth(torch.device("cuda"))}
    except RuntimeError as error:  # such as a full memory
        return {"free": free, "total": total, "unmeasured": _first_sentence(error)}


def _first_sentence(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).partition("\n")[0].partition(". ")[0].rstrip(".")


if __name__ == "__main__":
    nvidia.use_best_card()
    print(json.dumps(look()))
