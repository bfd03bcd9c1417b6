"""This app as one of the assistants of `bench rivals`, in its own process, with the same pipe protocol.

`python -m app.research.benches.rivals.ours MODE` takes `tandem` or `cascade` as its mode.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading

import numpy as np
import soxr

from app import main as compose
from app.audio.io.pushed import PushedSource, SendingSink
from app.backend.openai_compatible import OpenAICompatibleBackend
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.research.benches.rivals.drivers.pipe import USER_RATE, Pipe
from app.session.control import BackendChoice, SessionChoice


async def hold(mode: str) -> None:
    """Runs one session over the pipes until they close. `mode`: tandem or cascade.

    Propagates errors from opening a session.
    """
    url, key, model = (os.environ.get(f"KAME_RIVAL_{name}", "") for name in ("URL", "KEY", "MODEL"))
    choice = SessionChoice(
        backend=BackendChoice("compatible", model, url),
        answer_mode="after" if mode == "cascade" else "thinking",
        openings=False,
        duplex=True,
    )
    pipe, source = Pipe(), PushedSource("bench")
    backend = OpenAICompatibleBackend(base_url=url, model=model, api_key=key)

    def play(samples: np.ndarray) -> None:
        if np.abs(samples).max(initial=0.0) > 0.0:
            pipe.play(SAMPLE_RATE, (np.clip(samples, -1.0, 1.0) * 32767).astype("<i2").tobytes())

    def on_event(event: e.Event) -> None:
        if isinstance(event, e.TranscriptFinal):
            pipe.heard(event.text, event.turn)

    async with compose.session(choice, source, SendingSink("bench", play), backend=backend) as talk:
        talk.add_listener(on_event)
        threading.Thread(target=_listen, args=(pipe, source), name="listen", daemon=True).start()
        pipe.ready()
        await talk.ended()


def _listen(pipe: Pipe, source: PushedSource) -> None:
    up = soxr.ResampleStream(USER_RATE, SAMPLE_RATE, 1, dtype="float32")
    while (data := pipe.read()) is not None:
        source.push(up.resample_chunk(np.frombuffer(data, "<i2").astype(np.float32) / 32768.0))
    source.close()


if __name__ == "__main__":
    asyncio.run(hold(sys.argv[1]))
    sys.stdout.flush()
