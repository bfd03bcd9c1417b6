"""Runs a real Secret Service for a test: gnome-keyring-daemon on its own message bus, in a temporary home. This process
and the user's keyring never see it: `Service.environment` is for child processes."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.child import run_python
from tests.support.parts import need

PASSWORD = b"test-only"
SECONDS = 20.0
_BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:dir={folder}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/>
  </policy>
</busconfig>
"""
"""Has no folders of services, so that nothing is started on demand, such as a password prompt."""
_WAIT = """
import sys, time
from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection
bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
with open_dbus_connection("SESSION") as connection:
    for _ in range(400):
        asked = new_method_call(bus, "NameHasOwner", "s", ("org.freedesktop.secrets",))
        if connection.send_and_get_reply(asked).body[0]:
            raise SystemExit(0)
        time.sleep(0.02)
raise SystemExit(1)
"""
_LOCK = """
import secretstorage
connection = secretstorage.dbus_init()
collection = secretstorage.get_default_collection(connection)
collection.lock()
assert collection.is_locked()
connection.close()
"""


@dataclass(frozen=True)
class Service:
    """A running service. `environment`: for child processes that use it; `folder`: its files."""

    environment: dict[str, str]
    folder: Path
    daemon: int = 0

    def run(self, code: str, *, env: dict[str, str] | None = None, timeout: float = 60) -> subprocess.CompletedProcess:
        """Runs Python code in a child process that uses this service."""
        return run_python(
            "-c",
            code,
            env={**self.environment, **(env or {})},
            timeout=timeout,
            cwd=Path(__file__).resolve().parents[2],
        )

    def lock(self) -> None:
        """Locks the keyring; it can't be unlocked again, since nothing can ask for the password."""
        done = self.run(_LOCK)
        assert done.returncode == 0, done.stderr

    def freeze(self) -> None:
        """Stops the daemon, which then receives calls and never replies."""
        os.kill(self.daemon, signal.SIGSTOP)

    def thaw(self) -> None:
        """Resumes the daemon, which replies to all waiting calls."""
        os.kill(self.daemon, signal.SIGCONT)


@contextmanager
def secret_service(folder: Path, *, keyring: bool = True) -> Iterator[Service]:
    """Runs a message bus and, with `keyring`, an unlocked Secret Service. `folder` must be empty, with a short path."""
    need("dbus-run-session", *(("gnome-keyring-daemon",) if keyring else ()))
    home, runtime = folder / "home", folder / "run"
    for one in (home, runtime, home / "data" / "keyrings"):
        one.mkdir(parents=True, mode=0o700)
    gone = ("DBUS_SESSION_BUS_ADDRESS", "GNOME_KEYRING_CONTROL", "PYTHON_KEYRING_BACKEND", "DISPLAY", "WAYLAND_DISPLAY")
    environment = {name: value for name, value in os.environ.items() if name not in gone}
    environment.update(
        HOME=str(home),
        XDG_DATA_HOME=str(home / "data"),
        XDG_CONFIG_HOME=str(home / "config"),
        XDG_CACHE_HOME=str(home / "cache"),
        XDG_RUNTIME_DIR=str(runtime),
    )
    config = folder / "bus.conf"
    config.write_text(_BUS.format(folder=runtime), encoding="utf-8")
    started: list[subprocess.Popen[bytes]] = []
    try:
        bus = subprocess.Popen(
            ["dbus-daemon", f"--config-file={config}", "--nofork", "--print-address=1"],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        started.append(bus)
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.stdout.readline().decode().strip()
        daemon = 0
        if keyring:
            ring = subprocess.Popen(
                [
                    "gnome-keyring-daemon",
                    "--foreground",
                    "--unlock",
                    "--components=secrets",
                    f"--control-directory={runtime / 'keyring'}",
                ],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            started.append(ring)
            ring.stdin.write(PASSWORD)
            ring.stdin.close()
            daemon = ring.pid
        service = Service(environment, folder, daemon)
        if keyring:
            waited = service.run(_WAIT)
            assert waited.returncode == 0, f"no Secret Service came up: {waited.stderr}"
        yield service
    finally:
        for process in reversed(started):
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    until = time.monotonic() + 3
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    if process.poll() is None:
        process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()
