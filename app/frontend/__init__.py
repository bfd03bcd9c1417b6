"""The front-ends: they take the user's sound and the oracle, and speak, one 80 ms frame at a time.

To be read in this order (`README.md` describes how it works):

- `base.py`: the protocol, its inputs and what a step gives.
- `cascade.py`: the CPU front-end, which reads the oracle aloud with a synthetic voice.
- `revisions.py`: the oracle revisions it knows, newest last.
- `clause_choice.py`: which clause of which revision comes next.
- `clause_synthesis.py`, `openings.py`: what is synthesised ahead.
- `clause_playback.py`: clauses into frames.
- `kame/`: the GPU front-ends, KAME and Moshi (the only package that imports torch).
- `remote/`: a voice server on another machine.

A session posts `OracleAsked`, `OracleWords` and commands about the floor, and calls `FrontEnd.step` with each frame;
`FrontEndStep` carries sound, words and marks back. This module makes a front-end by its name, and imports it only then.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from app.conversation.events import AnswerMode
from app.frontend.base import FrontEnd, FrontEndError, SetDials
from app.platform.installation import card_command
from app.tts.base import Voice


@dataclass(frozen=True, slots=True)
class FrontEndSpec:
    """A front-end as users choose it.

    - `weights`: it has weights of its own, and needs a graphics card
    - `elsewhere`: another machine does its work
    - `make`: makes one that research adds, not entered yet, which the window doesn't offer; None for the product's own
    """

    label: str
    weights: bool = False
    elsewhere: bool = False
    make: Callable[[FrontEndOptions], FrontEnd] | None = None


CODEC_VOICE = "piper-joe"
"""The voice whose decoder the voice codec uses."""

PROVIDERS: dict[str, FrontEndSpec] = {
    "cascade": FrontEndSpec("Embedded voice (CPU)"),
    "kame": FrontEndSpec("KAME (GPU): speaks while it thinks", weights=True),
    "moshi": FrontEndSpec("Moshi (GPU): by itself, without a language model", weights=True),
    "remote": FrontEndSpec("Voice server (another machine)", elsewhere=True),
}


@dataclass(frozen=True, slots=True)
class FrontEndOptions:
    """What front-ends are made of; each uses what concerns it.

    `make_voice`: makes the cascade's voice, not entered yet. `weights`: the folder of a model's weights. `precision`
    "auto": the best that fits. `device` "auto": the CUDA card. `context`: frames that are remembered; 0: the model's
    own. `reserved`: bytes of the graphics card that speech recognition takes. `server` and `server_key`: the address of
    a voice server, and the key that it wants.
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
    dials: SetDials = field(default_factory=SetDials)
    server: str = ""
    server_key: str = field(default="", repr=False)


def make_frontend(name: str, options: FrontEndOptions) -> FrontEnd:
    """Makes the front-end `name`, not entered yet. Raises FrontEndError if it can't run here."""
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

    seed = random.randrange(2**32)  # each session has its own order of openings
    return CascadeFrontEnd(
        options.make_voice(), options.answer_mode, openings=options.openings, seed=seed, code=options.language
    )


def require_torch() -> None:
    """Raises FrontEndError if the graphics card's packages aren't installed."""
    missing = [package for package in ("torch", "moshi", "safetensors", "sentencepiece") if find_spec(package) is None]
    if missing:
        raise FrontEndError(
            f"KAME and Moshi need packages that aren't installed ({', '.join(missing)}). On a machine with an NVIDIA "
            f"card, “{card_command()}” installs them; elsewhere choose the embedded voice (cascade)."
        )


def free_card_bytes() -> int | None:
    """Free bytes on the CUDA card that would be used; None without a card, or without torch for it."""
    try:
        require_torch()
    except FrontEndError:
        return None
    from app.frontend.kame.build import free_bytes

    return free_bytes()
