"""Lists devices in a child process while an open stream keeps PortAudio's own list frozen."""

from __future__ import annotations

import contextlib
import dataclasses
import subprocess
import threading
import time

from app.audio.devices import listing, portaudio_library, pulse
from app.audio.devices.listing import Device
from app.audio.io.base import DeviceError
from app.platform.children import killed_after, python_module_command, quiet_child
from app.untrusted.json_text import read_json
from app.untrusted.limits import CHILD_LINE

PROCESS_SECONDS = 15.0

POLL_SECONDS = 0.02

READER_SECONDS = 2.0
"""How long to wait for a stopped child's pipe to close. Another process, such as Wine's desktop, may keep it open."""


def list_current_devices() -> list[Device]:
    """Returns the current devices, even while streams are open. Takes up to a second. Raises `DeviceError`.

    If a child process had to list them, `index` is -1, since PortAudio's indexes differ between processes.
    """
    state = pulse.query()
    if (state is not None and listing.pulse_gateway(listing.own_devices())) or portaudio_library.restart():
        return listing.list_devices(state)
    process = ListProcess()
    try:
        while (listed := process.poll()) is None:
            time.sleep(POLL_SECONDS)
        return listed
    finally:
        process.stop()


class ListProcess:
    """A child process that lists the devices using a freshly initialised PortAudio. Only `stop` blocks."""

    def __init__(self) -> None:
        """Starts the process. Raises `DeviceError`."""
        try:
            self._process = subprocess.Popen(
                python_module_command("app", "devices", "--json"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                **quiet_child(),
            )
        except OSError as error:
            raise _unread(error) from error
        self._output = b""
        self._reader = threading.Thread(target=self._read, name="audio-list", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as pipe, killed_after(self._process, PROCESS_SECONDS):
            self._output = pipe.read(CHILD_LINE.bytes + 1)

    def poll(self) -> list[Device] | None:
        """Returns the list, or None while the process is running. Raises `DeviceError` if the process failed."""
        if self._reader.is_alive():
            return None
        try:
            answer = read_json(self._output, CHILD_LINE)
            if not answer["ok"]:
                raise DeviceError(answer["error"])
            known = {field.name for field in dataclasses.fields(Device)}
            return [
                Device(**{key: value for key, value in row.items() if key in known} | {"index": -1})
                for row in answer["devices"]
            ]
        except (ValueError, LookupError, TypeError) as error:
            raise _unread(error) from error

    def stop(self) -> None:
        """Kills the process if it is still running."""
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        self._reader.join(READER_SECONDS)


class ListRefresh:
    """Runs at most one `ListProcess` at a time; starting another stops the previous one."""

    def __init__(self) -> None:
        self._process: ListProcess | None = None
        self.started_at = 0.0

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        self.stop()
        self.started_at = time.monotonic()
        with contextlib.suppress(DeviceError):
            self._process = ListProcess()

    def poll(self) -> list[Device] | None:
        """Returns the list exactly once, as soon as it is available; otherwise None."""
        if self._process is None:
            return None
        listed = None
        with contextlib.suppress(DeviceError):
            listed = self._process.poll()
            if listed is None:
                return None
        self.stop()
        return listed

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.stop()


def _unread(error: Exception) -> DeviceError:
    return DeviceError(
        f"The list of sound devices couldn't be read again ({type(error).__name__}), so a device that was just "
        "plugged in may be missing from it. End the conversation, and look again."
    )
