"""The front-ends, by name. Adapters are imported when they are wanted."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from app.conversation.events import AnswerMode
from app.frontend.base import FrontEnd, FrontEndError, SetDials
from app.platform.installation import card_command
from app.tts.base import Voice


@dataclass(frozen=True, slots=True)
class FrontEndSpec:
    """What a user may say of a front-end. `weights`: it has weights of its own, and wants a graphics card."""

    label: str
    weights: bool = False


PROVIDERS = {
    "cascade": FrontEndSpec("Embedded voice (CPU)"),
    "kame": FrontEndSpec("KAME (GPU): speaks while it thinks", weights=True),
    "moshi": FrontEndSpec("Moshi (GPU): by itself, without a brain", weights=True),
}


NO_DELAYS = SetDials()


@dataclass(frozen=True, slots=True)
class FrontEndOptions:
    """What front-ends are made of; each takes what it knows.

    `make_voice`: gives the cascade's voice, not entered yet. `weights`: the folder of a model's weights. `precision`,
    `device`, `context`: see `app.frontend.kame.build.prepare`. `openings`, `language`: see
    `app.frontend.cascade.CascadeFrontEnd`. `reserved`: bytes of the graphics card that speech recognition takes.
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
    dials: SetDials = NO_DELAYS


def make_frontend(name: str, options: FrontEndOptions) -> FrontEnd:
    """The front-end `name`, not entered yet. Raises FrontEndError when it can't be had here."""
    if name not in PROVIDERS:
        raise FrontEndError(f"There is no front-end called “{name}”. There are: {', '.join(PROVIDERS)}.")
    if PROVIDERS[name].weights:
        return _with_weights(name, options)
    from app.frontend.cascade import CascadeFrontEnd

    seed = random.randrange(2**32)  # each talk has its own order
    return CascadeFrontEnd(
        options.make_voice(), options.answer_mode, openings=options.openings, seed=seed, code=options.language
    )


def _with_weights(name: str, options: FrontEndOptions) -> FrontEnd:
    require_torch()
    from app.frontend.kame.build import make

    return make(name, options)


def require_torch() -> None:
    """Raises FrontEndError with a sentence when the graphics card's packages aren't installed."""
    missing = [package for package in ("torch", "moshi", "safetensors", "sentencepiece") if find_spec(package) is None]
    if missing:
        raise FrontEndError(
            f"KAME and Moshi need packages that aren't installed ({', '.join(missing)}). On a machine with an NVIDIA "
            f"card, “{card_command()}” installs them; elsewhere choose the embedded voice (cascade)."
        )


def free_card_bytes() -> int | None:
    """Free bytes on the CUDA card that would be used; None when there is no card or no torch for it."""
    look: Callable[[], int | None]
    try:
        require_torch()
    except FrontEndError:
        return None
    from app.frontend.kame.build import free_bytes as look

    return look()
