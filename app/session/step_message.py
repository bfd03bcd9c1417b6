"""What one step of the frame loop hands to the event loop."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.conversation import events as e
from app.conversation.frame import Frame
from app.conversation.turn import TurnEvent
from app.tts.base import Voice


@dataclass(frozen=True, slots=True)
class StepMessage:
    """The user's frame, the samples that were played for it (float32, 1,920), and what happened.

    - `flushed`: samples written earlier that were discarded unheard.
    - `typed`: the words of the turns in `turn_events` that ended because they were typed, in order.
    - `lost`: why the front-end has failed; empty while it works.
    - `silenced`: the turn whose answer the user has stopped, or 0.
    - `voices`: the voices that the front-end was given at this step. It uses the last one now.
    """

    frame: Frame
    samples: np.ndarray
    voiced: bool
    events: tuple[e.Event, ...]
    turn_events: tuple[TurnEvent, ...]
    flushed: int = 0
    user_dbfs: float = -120.0
    assistant_dbfs: float = -120.0
    late_ms: float = 0.0
    clipped: bool = False
    typed: tuple[str, ...] = ()
    lost: str = ""
    silenced: int = 0
    voices: tuple[Voice, ...] = ()
