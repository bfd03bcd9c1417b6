"""No packet but to loopback: the first start, the demo and a whole talk, where every attempt would be seen."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support import sounds
from tests.support.closed_network import Outcome, run_closed, why_not

pytestmark = [pytest.mark.alone, pytest.mark.skipif(bool(why_not()), reason=why_not())]
SECONDS = 240.0

ATTEMPTS = """
import contextlib, socket
with contextlib.suppress(OSError):
    socket.getaddrinfo("www.example.com", 443)
for family, address in ((socket.AF_INET, "192.0.2.7"), (socket.AF_INET6, "2001:db8::7")):
    with contextlib.suppress(OSError), socket.socket(family) as one:
        one.setblocking(False)
        one.connect((address, 443))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.sendto(b"x", ("224.0.0.251", 5353))
with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as one:
    one.sendall(b"to loopback")
"""

FIRST_START = """
import os, subprocess, sys, time
from app.platform import single_instance
child = subprocess.Popen([sys.executable, "-m", "app"])
try:
    while True:
        assert child.poll() is None, "the window has ended"
        try:
            if single_instance.tell("raise").ok:
                break
        except (single_instance.NotRunning, single_instance.NoAnswer):
            time.sleep(0.1)
    time.sleep(5)  # what it looks for once it is open
    assert single_instance.tell("raise").ok
    print("the window was open")
finally:
    child.terminate()
    child.wait()
"""

DEMO = """
import subprocess, sys
command = [sys.executable, "-m", "app", "demo", "--headless", "--silent"]
child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
for line in child.stderr:
    print(line, end="")
    if line.startswith("2 of"):
        break
child.terminate()
child.communicate()
"""


def outcome(home: Path, *command: object) -> Outcome:
    """Runs Python for a user who has no key, no settings and no proxy."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.endswith("_API_KEY") and not name.upper().endswith("_PROXY") and not name.startswith("XDG_")
    }
    runtime = home / "run"
    runtime.mkdir(mode=0o700, exist_ok=True)
    environment |= {"HOME": str(home), "XDG_RUNTIME_DIR": str(runtime), "QT_QPA_PLATFORM": "offscreen"}
    return run_closed([sys.executable, *map(str, command)], environment, timeout=SECONDS)


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Outcome]]:
    """What has become of each command; all run at once, each in a network of its own."""
    pytest.importorskip("PySide6")
    folder = tmp_path_factory.mktemp("closed")
    path = sounds.write(folder / "q.wav", sounds.question("103_2"))
    commands = {
        "attempts": ("-c", ATTEMPTS),
        "first start": ("-c", FIRST_START),
        "demo": ("-c", DEMO),
        "talk": ("-m", "app", "talk", "--json", "--input", path, "--output", folder / "a.wav"),
    }
    for name in commands:
        (folder / name).mkdir()
    with ThreadPoolExecutor(len(commands)) as pool:
        running = {name: pool.submit(outcome, folder / name, *command) for name, command in commands.items()}
        yield {name: future.result() for name, future in running.items()}


def test_attempts_are_seen(found: dict[str, Outcome]) -> None:
    tried = found["attempts"]
    assert tried.code == 0, tried.output
    assert [*dict.fromkeys(tried.packets)] == [
        "UDP to 10.99.0.1:53 for www.example.com",
        "TCP to 192.0.2.7:443",
        "TCP to [2001:db8::7]:443",
        "UDP to 224.0.0.251:5353",
    ]


def test_the_first_start_sends_nothing(found: dict[str, Outcome]) -> None:
    assert "the window was open" in found["first start"].output, found["first start"].output
    assert not found["first start"].packets


def test_the_demo_sends_nothing(found: dict[str, Outcome]) -> None:
    assert "2 of 3" in found["demo"].output, found["demo"].output
    assert not found["demo"].packets


def test_a_whole_talk_sends_nothing(found: dict[str, Outcome]) -> None:
    talk = found["talk"]
    assert talk.code == 0, talk.output
    document = json.loads(talk.output[talk.output.index("{") :])
    assert document["ok"] and [turn["speaker"] for turn in document["turns"]] == ["user", "assistant"]
    assert not talk.packets
