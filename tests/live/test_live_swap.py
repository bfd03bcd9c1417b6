"""The back-end changed in mid-answer, for real: two language models in processes of their own, in real time."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from app import main as compose
from app.audio.io.files import FileSink, FileSource
from app.backend import key_names
from app.cli.talk_report import SwapGaps
from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.record.record import Record
from app.models.locations import default_model
from app.session.control import BackendChoice, SessionChoice
from tests.support import sounds
from tests.support.leaks import SECRET, places_with
from tests.support.patience import alone, in_real_time

SERVER = """
import sys, xllamacpp
params = xllamacpp.CommonParams()
params.model.path, params.api_keys = sys.argv[1], [sys.argv[2]]
params.cpuparams.n_threads = params.cpuparams_batch.n_threads = params.n_parallel = 1
params.n_ctx = 2048
params.hostnames, params.port = ["127.0.0.1"], 0
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@contextmanager
def llama_server(model: Path, key: str) -> Iterator[str]:
    """A llama.cpp server in a process of its own, which wants `key`: its base URL."""
    child = subprocess.Popen(
        [sys.executable, "-c", SERVER, str(model), key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert child.stdin is not None and child.stdout is not None
    try:
        line = next(text for text in child.stdout if text.startswith("http"))
        yield f"{line.strip()}/v1"
    finally:
        child.stdin.close()
        child.stdout.close()
        child.kill()
        child.wait(10)


async def _talk_and_swap(question: Path, output: Path, record: Path, swap: BackendChoice) -> list[e.Event]:
    """Asks, swaps 1.2 s into the answer, and stops when the new model's words have been heard for a while."""
    choice = SessionChoice(duplex=True, record_folder=str(record))
    talk = compose.session(choice, FileSource(question, realtime=True), FileSink(output))
    events: list[e.Event] = []
    heard: asyncio.Queue[e.Event] = asyncio.Queue()

    def listen(event: e.Event) -> None:
        events.append(event)
        if isinstance(event, e.AssistantStarted | e.AssistantSaid):
            heard.put_nowait(event)

    async with asyncio.timeout(60), talk:
        talk.add_listener(listen)
        while not isinstance(await heard.get(), e.AssistantStarted):
            pass
        await asyncio.sleep(1.2)
        talk.change(backend=swap)
        words = 0
        while words < 6:
            event = await heard.get()
            asked = [x.revision for x in events if isinstance(x, e.OracleRequested) and x.model == "other-model"]
            words += isinstance(event, e.AssistantSaid) and event.revision in asked
    return events


@pytest.mark.slow
@alone
@in_real_time
def test_swapped_in_mid_answer_between_two_real_models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    question = sounds.write(tmp_path / "q.wav", np.concatenate([sounds.question("103_2"), sounds.room(60)]))
    other = tmp_path / "other-model.gguf"
    other.symlink_to(default_model("llm"))
    with llama_server(other, SECRET) as url:
        monkeypatch.setenv(key_names("compatible", url)[0], SECRET)
        events = asyncio.run(
            _talk_and_swap(question, tmp_path / "a.wav", tmp_path / "rec", BackendChoice("compatible", "", url))
        )
    gaps, record = SwapGaps(), Record()
    for event in events:
        gaps.apply(event, record.apply(event).revision)
    transcript, usage = record.transcript, record.usage
    [swap] = gaps.gaps
    host = urlsplit(url).netloc
    assert (swap["backend"], swap["model"], swap["reason"]) == (host, "other-model", "chosen")
    # The listener's gap is at most what the new model needs to begin.
    assert swap["gap_seconds"] <= swap["first_word_seconds"] < 5
    print(f"swapped: first word after {swap['first_word_seconds']} s, gap {swap['gap_seconds']} s")
    answer = transcript.last("assistant")
    assert answer is not None and answer.backends[-1] == "other-model" and len(answer.backends) == 2
    assert not [x for x in events if isinstance(x, e.Failure)]
    counts = usage.backends[host, "other-model"]
    assert counts.requests == 1 and counts.cost == 0 and counts.unpriced == 0, "on this machine it costs nothing"
    other.unlink()  # 90 MB that need no search
    assert not places_with(SECRET, folders=[tmp_path], texts=[to_json(x) for x in events])
