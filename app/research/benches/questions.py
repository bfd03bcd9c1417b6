"""The benches' spoken questions, and waiting for an answer to one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from app.audio.io.files import read_frames
from app.conversation import events as e
from app.platform.resources import resource
from app.research.benches.recordings import voice_end
from app.session.session import Session

PATIENCE_SECONDS = 40.0
"""An answer that takes longer is not waited for."""

MakeSession = Callable[..., Session]


@dataclass(frozen=True, slots=True)
class Question:
    """A spoken question: `samples` float32 24 kHz, in which the voice ends at second `end`."""

    name: str
    text: str
    samples: np.ndarray
    end: float


def load_questions(count: int | None = None, *, names: Sequence[str] = ()) -> list[Question]:
    """The first `count` questions of the bench, or those with the `names`, in that order."""
    entries = json.loads(resource("bench", "questions.json").read_text("utf-8"))
    if names:
        known = {f"{entry['question']}_{entry['turn']}": entry for entry in entries}
        entries = [known[name] for name in names]
    out = []
    for entry in entries[:count]:
        samples = read_frames(resource("bench", *entry["file"].split("/")))
        out.append(Question(f"{entry['question']}_{entry['turn']}", entry["text"], samples, voice_end(samples)))
    return out


async def until_answered(
    talk: Session,
    events: Sequence[e.Event],
    end: float,
    settle_seconds: float,
    patience_seconds: float = PATIENCE_SECONDS,
) -> bool:
    """Waits until a question that ends at session time `end` and its answer are over for `settle_seconds`, and returns
    True; False after `patience_seconds`. `events`: the session's events since the question began.
    """
    quiet_since = None
    while talk.clock() - end < patience_seconds:
        await asyncio.sleep(0.05)
        asked = any(isinstance(x, e.UserEnded | e.TranscriptFinal) for x in events)
        quiet_since = (quiet_since or talk.clock()) if asked and talk.quiet else None
        if quiet_since is not None and talk.clock() - max(quiet_since, end) > settle_seconds:
            return True
    return False
