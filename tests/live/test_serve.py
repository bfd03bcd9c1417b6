"""`serve` as its clients meet it: Moshi's own client on a virtual sound card, and this app's front-end `remote`."""

import asyncio
import json
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile

from app.conversation import events as e
from app.conversation.words import fold
from app.history.recordings import Replay
from app.research.benches.recordings import word_distance
from tests.support import sounds
from tests.support.child import Child
from tests.support.faulty_network import faulty_network
from tests.support.patience import alone, in_real_time
from tests.support.read_back import transcribe
from tests.support.virtual_audio import RATE, VirtualAudio, virtual_audio

ROOT = Path(__file__).resolve().parents[2]
APP = "from app.__main__ import main\nraise SystemExit(main())"
CLIENT = "from moshi.client import main\nmain()"
QUESTION = "Can you explain why the above question is interesting?"
LAG = "[LAG]"
"""What Moshi's client prints for each 80 ms for which it had nothing to play."""


@contextmanager
def serving(*options: str) -> Iterator[int]:
    with Child(APP, "serve", "--port", "0", "--no-openings", *options, patience=120.0) as child:
        line = child.line(120.0) or ""
        found = re.search(r"Serving at ws://127\.0\.0\.1:(\d+)/api/chat", line)
        assert found, (line, child.complaints)
        yield int(found[1])


def talk_remotely(port: int, sound: Path, folder: Path) -> tuple[int, dict, str]:
    """`talk --frontend remote`: exit code, document, standard error."""
    done = subprocess.run(
        [
            *(sys.executable, "-c", APP, "talk", "--frontend", "remote", "--url", f"ws://127.0.0.1:{port}"),
            *("--realtime", "--input", str(sound), "--output", str(folder / "a.wav")),
            *("--record", str(folder / "rec"), "--json"),
        ],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=240,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@contextmanager
def bad_network(port: int, **faults: float) -> Iterator[int]:
    """A network with faults in front of `port`, on a thread; yields its port."""
    ready, over, found = threading.Event(), threading.Event(), [0]

    async def run() -> None:
        async with faulty_network(port, **faults) as network:
            found[0] = network.port
            ready.set()
            await asyncio.to_thread(over.wait)

    thread = threading.Thread(target=lambda: asyncio.run(run()), name="bad network")
    thread.start()
    assert ready.wait(10)
    try:
        yield found[0]
    finally:
        over.set()
        thread.join(10)


@pytest.mark.slow
@alone
@pytest.mark.parametrize("faults", [{}, {"delay": 0.02, "jitter": 0.2, "loss": 0.02}], ids=["good", "bad"])
@in_real_time
def test_another_machine_hears_thinks_and_speaks(tmp_path: Path, faults: dict[str, float]) -> None:
    asked = sounds.write(tmp_path / "q.wav", np.pad(sounds.question("103_2"), (RATE, RATE // 2)))
    with serving() as port, bad_network(port, **faults) as way:
        code, document, stderr = talk_remotely(way, asked, tmp_path)
    assert code == 0, stderr
    events = list(Replay(tmp_path / "rec").events())
    described = [event.sentence for event in events if isinstance(event, e.ServerDescribed)]
    assert len(described) == 1 and "thinks there" in described[0], described
    heard = [event.words for event in events if isinstance(event, e.OracleRequested)]
    assert heard, "the server's oracle did not ride along"
    # No word was lost on the way: the server heard the whole question,
    assert word_distance(fold(QUESTION), fold(heard[-1])) <= 1, heard
    # and what it said was heard here as the transcript has it.
    said = fold(" ".join(turn["text"] for turn in document["turns"] if turn["speaker"] == "assistant"))
    read_back = fold(transcribe(tmp_path / "a.wav"))
    assert len(said) >= 3 and word_distance(said, read_back) <= max(2, 0.25 * len(said)), (said, read_back)


class MoshisClient:
    """Moshi's own command-line client, unmodified, on a virtual sound card."""

    def __init__(self, audio: VirtualAudio, port: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", CLIENT, "--url", f"ws://127.0.0.1:{port}"],
            env=audio.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self.words, self.complaints = "", ""
        self._readers = [threading.Thread(target=self._read, args=(name,)) for name in ("stdout", "stderr")]
        for reader in self._readers:
            reader.start()

    def _read(self, name: str) -> None:
        stream = getattr(self.process, name)
        while piece := stream.read(1):
            if name == "stdout":
                self.words += piece
            else:
                self.complaints += piece

    @property
    def lags(self) -> int:
        return self.complaints.count(LAG)

    def wait_for(self, holds, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while time.monotonic() < until and not holds():
            time.sleep(0.05)
        return bool(holds())

    def end(self) -> None:
        self.process.kill()
        self.process.wait(10)
        for reader in self._readers:
            reader.join(10)
        self.process.stdout.close()
        self.process.stderr.close()


def ask(audio: VirtualAudio, client: MoshisClient, question: np.ndarray) -> str:
    before = len(client.words)
    audio.play_into_microphone(question.astype(np.float32)).wait(60)
    client.wait_for(lambda: len(client.words) > before, 15.0)
    quiet = time.monotonic()
    size = len(client.words)
    while time.monotonic() - quiet < 2.0:
        time.sleep(0.05)
        if len(client.words) != size:
            size, quiet = len(client.words), time.monotonic()
    return client.words[before:]


@pytest.mark.slow
@alone
@in_real_time
def test_moshis_own_client_talks_with_the_server(tmp_path: Path) -> None:
    with virtual_audio() as audio, serving() as port:
        client = MoshisClient(audio, port)
        try:
            assert client.wait_for(lambda: "connected!" in client.complaints, 30), client.complaints
            time.sleep(3.0)  # its devices open
            lags = client.lags
            with audio.record_loudspeaker(tmp_path / "heard.wav"):
                words = ask(audio, client, sounds.question("103_2"))
                time.sleep(0.2)
        finally:
            client.end()
    assert len(fold(words)) >= 3, client.complaints
    heard, rate = soundfile.read(tmp_path / "heard.wav", dtype="float32")
    read_back = fold(transcribe(heard, rate))
    assert word_distance(fold(words), read_back) <= max(2, 0.25 * len(fold(words))), (words, read_back)
    # In the stream of sound there is hardly ever nothing to play: the machine is busy with tests.
    assert client.lags - lags <= 5
