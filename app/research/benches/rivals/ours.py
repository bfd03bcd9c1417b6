"""This app as one of the assistants: the same pipes, in its own process (`app.research.commands.rival_process`)."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable

import numpy as np
import soxr

from app.audio.io.pushed import PushedSource, SendingSink
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.research.benches.rivals.drivers.pipe import USER_RATE, Pipe
from app.session.session import Session

MakeTalk = Callable[[PushedSource, SendingSink], Session]


async def serve(make: MakeTalk) -> None:
    """Holds one session over the pipes until they end. Raises what opening a session raises."""
    pipe = Pipe()
    source = PushedSource("bench")
    sink = SendingSink("bench", lambda samples: _play(pipe, samples))

    def on_event(event: e.Event) -> None:
        if isinstance(event, e.TranscriptFinal):
            pipe.heard(event.text, event.turn)

    talk = make(source, sink)
    async with talk:
        talk.add_listener(on_event)
        threading.Thread(target=_listen, args=(pipe, source), name="listen", daemon=True).start()
        pipe.ready()
        await talk.ended()


def _play(pipe: Pipe, samples: np.ndarray) -> None:
    if np.abs(samples).max(initial=0.0) > 0.0:
        pipe.play(SAMPLE_RATE, (np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes())


def _listen(pipe: Pipe, source: PushedSource) -> None:
    up = soxr.ResampleStream(USER_RATE, SAMPLE_RATE, 1, dtype="float32")
    while (data := pipe.read()) is not None:
        source.push(up.resample_chunk(np.frombuffer(data, "<i2").astype(np.float32) / 32768.0))
    source.close()


def run(make: MakeTalk) -> int:
    """Runs `serve`; returns the exit code."""
    asyncio.run(serve(make))
    sys.stdout.flush()
    return 0
