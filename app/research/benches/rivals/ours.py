"""This app as one of the assistants of `bench rivals`, in its own process, with the same pipe protocol.

`python -m app.research.benches.rivals.ours` takes `tandem` or `cascade`.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from collections.abc import Callable

import numpy as np
import soxr

from app.audio.io.pushed import PushedSource, SendingSink
from app.conversation import events as e
from app.conversation.frame import SAMPLE_RATE
from app.research.benches.rivals.drivers.pipe import USER_RATE, Pipe
from app.session.control import BackendChoice, SessionChoice
from app.session.session import Session


def main(argv: list[str]) -> int:
    """Holds one session; `argv[0]` names the answer mode. Raises whatever opening a session raises."""
    from app import main as compose
    from app.backend.openai_compatible import OpenAICompatibleBackend
    from app.research.benches.rivals.ours import run

    url, key, model = (os.environ.get(f"KAME_RIVAL_{name}", "") for name in ("URL", "KEY", "MODEL"))
    choice = SessionChoice(
        backend=BackendChoice("compatible", model, url),
        answer_mode="after" if argv[0] == "cascade" else "thinking",
        openings=False,
        duplex=True,
    )
    return run(
        lambda source, sink: compose.session(
            choice, source, sink, backend=OpenAICompatibleBackend(base_url=url, model=model, api_key=key)
        )
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))


MakeTalk = Callable[[PushedSource, SendingSink], Session]


async def serve(make: MakeTalk) -> None:
    """Holds one session over the pipes until they close. Raises whatever opening a session raises."""
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
