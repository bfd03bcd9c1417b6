"""The front-ends, which receive the user's audio and the oracle and produce speech, one 80 ms frame at a time.

Suggested reading order (`README.md` describes how they work):

- `base.py`: the protocol, its inputs and the result of a step.
- `cascade.py`: the CPU front-end, which reads the oracle aloud with a synthetic voice. What it says is
  decided in `app.conversation.speaking`.
- `clause_playback.py`: clauses and openings that are synthesised in advance, and their playback as frames.
- `kame/`: the GPU front-ends KAME and Moshi, whose models are in a process of their own.
- `slow_card.py`: why a model on a graphics card is too slow.
- `remote/`: a voice server on another machine.

A session sends `OracleAsked`, `OracleWords` and floor commands, and calls `FrontEnd.step` with every frame. The
returned `FrontEndStep` contains audio, words and marks. The functions below create a front-end by name and import its
module only when it is used.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from app.conversation.events import AnswerMode
from app.frontend.base import FrontEnd, FrontEndError, SetDials
from app.platform import nvidia
from app.platform.installation import card_command
from app.tts.base import Voice


@dataclass(frozen=True, slots=True)
class FrontEndSpec:
    """A front-end that users can choose.

    - `label`: its user-facing name
    - `weights`: the front-end has model weights and needs a graphics card
    - `elsewhere`: the front-end runs on another machine
    - `make`: the factory of a front-end that the research package registers, not offered by the window; None for others
    """

    label: str
    weights: bool = False
    elsewhere: bool = False
    make: Callable[[FrontEndOptions], FrontEnd] | None = None


PROVIDERS: dict[str, FrontEndSpec] = {
    "cascade": FrontEndSpec("Built-in voice (CPU)"),
    "kame": FrontEndSpec("KAME (GPU): speaks while it thinks", weights=True),
    "moshi": FrontEndSpec("Moshi (GPU): by itself, without a language model", weights=True),
    "remote": FrontEndSpec("Voice server (another machine)", elsewhere=True),
}


OTHER_CODECS: list[Callable[[Path, Any, int, int], Any]] = []
"""Loaders of codecs that KAME's engine can use in place of Mimi, added by the research package.

Called with a file, a torch device, and the numbers of codebooks for the model's audio and for the user's. Each returns
None for a file that holds another codec. A codec's `silence` holds its codes for silence; the rest is as in Mimi.
"""


@dataclass(frozen=True, slots=True)
class FrontEndOptions:
    """The options for creating a front-end. Each front-end uses the ones that apply to it.

    - `make_voice`: creates the cascade's voice without entering it
    - `answer_mode`, `openings`: when answers start, and whether short openings fill the wait for one
    - `language`: the session's initial language
    - `weights`: the folder with a model's weights
    - `precision`: "auto" for the best one that fits
    - `device`: "auto" for the CUDA card
    - `context`: context length in frames; 0 for the model's default
    - `reserved`: bytes of graphics memory needed by speech recognition
    - `real_time`: whether a step returns in time even if its model is late; otherwise it waits for the model
    - `dials`: the initial delays
    - `server`, `server_key`: the address of a voice server, and its access key
    """

    make_voice: Callable[[], Voice]
    answer_mode: AnswerMode = "thinking"
    openings: bool = True
    language: str = "en"
    weights: Path | None = None
    precision: str = "auto"
    device: str = "auto"
    context: int = 0
    reserved: int = 0
    real_time: bool = True
    dials: SetDials = field(default_factory=SetDials)
    server: str = ""
    server_key: str = field(default="", repr=False)


def make_frontend(name: str, options: FrontEndOptions) -> FrontEnd:
    """Creates the front-end `name` without entering it. Raises FrontEndError if it can't run here."""
    if name not in PROVIDERS:
        raise FrontEndError(f"There is no front-end called “{name}”. There are: {', '.join(PROVIDERS)}.")
    make_own = PROVIDERS[name].make
    if make_own is not None:
        return make_own(options)
    if PROVIDERS[name].weights:
        require_torch()
        from app.frontend.kame.build import make

        return make(name, options)
    if name == "remote":
        from app.frontend.remote.frontend import RemoteFrontEnd

        return RemoteFrontEnd(options.server, options.server_key)
    from app.frontend.cascade import CascadeFrontEnd

    seed = random.randrange(2**32)  # a different order of openings in each session
    return CascadeFrontEnd(
        options.make_voice(), options.answer_mode, openings=options.openings, seed=seed, code=options.language
    )


def require_torch() -> None:
    """Raises FrontEndError if the packages for GPU front-ends aren't installed."""
    missing = [package for package in ("torch", "moshi", "safetensors", "sentencepiece") if find_spec(package) is None]
    if missing:
        raise FrontEndError(
            f"KAME and Moshi need packages that aren't installed ({', '.join(missing)}). On a machine with an NVIDIA "
            f"card, “{card_command()}” installs them; elsewhere choose the built-in voice (cascade)."
        )


def free_card_bytes() -> int | None:
    """Returns the free memory in bytes of the CUDA card that would be used, or None without a card or torch."""
    try:
        require_torch()
    except FrontEndError:
        return None
    driver = nvidia.look()
    card = nvidia.best_card(driver) if driver is not None else None
    return card.free if card is not None else None
