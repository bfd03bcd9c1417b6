"""The front-ends, by name. Adapters are imported when they are wanted."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from app.conversation.events import Manner
from app.frontend.base import FrontEnd, FrontEndError


@dataclass(frozen=True, slots=True)
class FrontEndSpec:
    """What a user may say of a front-end."""

    label: str


PROVIDERS = {"cascade": FrontEndSpec("Cascade (CPU): reads the oracle aloud")}


def make_frontend(name: str, manner: Manner, voice_model: Path) -> FrontEnd:
    """The front-end `name`. Raises FrontEndError when there is none of that name."""
    if name not in PROVIDERS:
        raise FrontEndError(f"There is no front-end called “{name}”. There are: {', '.join(PROVIDERS)}.")
    from app.frontend.cascade import CascadeFrontEnd
    from app.tts.piper import PiperVoice

    return CascadeFrontEnd(PiperVoice(voice_model), manner)
