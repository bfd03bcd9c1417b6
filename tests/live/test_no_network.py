"""No packet but to loopback: the first start and the demo, where every attempt would be seen. For a talk, see
`test_talk_cli.py`."""

import os
import sys
from pathlib import Path

import pytest

from tests.support.closed_network import Outcome, run_closed, why_not
from tests.support.private import readable_by_others

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


@pytest.fixture(autouse=True)
def _closed_networks_are_possible() -> None:
    if why_not():
        pytest.skip(why_not())


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


def test_attempts_are_seen(tmp_path: Path) -> None:
    tried = outcome(tmp_path, "-c", ATTEMPTS)
    assert tried.code == 0, tried.output
    assert [*dict.fromkeys(tried.packets)] == [
        "UDP to 10.99.0.1:53 for www.example.com",
        "TCP to 192.0.2.7:443",
        "TCP to [2001:db8::7]:443",
        "UDP to 224.0.0.251:5353",
    ]


def test_the_first_start_sends_nothing(tmp_path: Path) -> None:
    pytest.importorskip("PySide6")
    started = outcome(tmp_path, "-c", FIRST_START)
    assert "the window was open" in started.output, started.output
    assert not started.packets
    assert not readable_by_others(tmp_path)


@pytest.mark.slow
def test_the_demo_sends_nothing(tmp_path: Path) -> None:
    pytest.importorskip("PySide6")
    demo = outcome(tmp_path, "-c", DEMO)
    assert "2 of 3" in demo.output, demo.output
    assert not demo.packets
