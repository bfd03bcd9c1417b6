"""The environment of `bench first-word`: a virtual screen and sound server for the app to run on.

The sound server's loudspeaker and microphone are the two channels of one null sink. A single recording of its monitor
contains both, sample-aligned. Since the figures are valid only on an idle machine, this module also measures the load
that other processes cause. Linux only.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import psutil

from app.conversation import events as e
from app.conversation.event_json import read_event
from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import Progress, no_progress
from app.platform.children import child_environment, end_child
from app.research.benches.window_speed import ROOT, last_words, make_home
from app.session.control import UserError

PACKAGES = {
    "Xvfb": "xvfb",
    "xdotool": "xdotool",
    "pulseaudio": "pulseaudio",
    "pactl": "pulseaudio-utils",
    "pacat": "pulseaudio-utils",
    "parec": "pulseaudio-utils",
}
"""The required programs, and the Debian packages that provide them."""
HARDWARE_RATE = 48_000
"""Sample rate in Hz of the virtual devices. Most real devices use it too; the sound server resamples the app's audio.
"""
START_SECONDS = 15.0
WINDOW_SECONDS = 120.0
END_SECONDS = 10.0

# Limits the app to these devices: ALSA's cards are not probed.
_ALSA = """</usr/share/alsa/alsa.conf>
pcm.pulse { type pulse }
ctl.pulse { type pulse }
pcm.!default { type pulse hint.description "Default (PulseAudio)" }
ctl.!default { type pulse }
"""


def check_programs() -> None:
    """Raises UserError if the stage can't be set up."""
    if sys.platform != "linux":
        raise UserError(
            "This bench needs Linux: it starts a screen and a sound server of its own (Xvfb, PulseAudio), which other "
            "systems don't have. What can be measured here is “bench latency”, which needs neither."
        )
    missing = [name for name in PACKAGES if shutil.which(name) is None]
    if missing:
        packages = " ".join(dict.fromkeys(PACKAGES[name] for name in missing))
        raise UserError(
            f"This bench starts a screen and a sound server of its own, and lacks {', '.join(missing)} for that. "
            f"Install what is missing (Debian and Ubuntu: sudo apt install {packages})."
        )


class MonitorRecording:
    """A recording of the loudspeaker and the microphone, started when the object is created."""

    def __init__(self, recorder: subprocess.Popen[bytes]) -> None:
        self.started_at = float("inf")
        """When the first sample was played, as a `time.monotonic()` timestamp, at most a few milliseconds late."""
        self._data = bytearray()
        self._recorder = recorder
        self._reader = threading.Thread(target=self._read, name="recording", daemon=True)
        self._reader.start()

    @property
    def length(self) -> int:
        """Number of samples per channel so far."""
        return len(self._data) // 4

    @property
    def seconds(self) -> float:
        """Length of the recording so far, in seconds."""
        return self.length / SAMPLE_RATE

    def loudspeaker(self, begin: int = 0) -> np.ndarray:
        """Returns the loudspeaker's audio from sample `begin` on: float32, 24 kHz."""
        return self._channel(0, begin)

    def microphone(self, begin: int = 0) -> np.ndarray:
        """Returns the microphone's audio from sample `begin` on: float32, 24 kHz."""
        return self._channel(1, begin)

    def _channel(self, number: int, begin: int) -> np.ndarray:
        data = bytes(self._data[4 * begin : 4 * self.length])
        return np.frombuffer(data, "<i2").reshape(-1, 2)[:, number].astype(np.float32) / 32768

    def _read(self) -> None:
        assert self._recorder.stdout is not None
        with contextlib.suppress(OSError):  # closed at the end
            while data := os.read(self._recorder.stdout.fileno(), 65_536):
                self._data += data
                # No sample arrives before it was played, so each arrival bounds the start from above.
                self.started_at = min(self.started_at, time.monotonic() - self.seconds)


class Window:
    """The running app. `folder`: its home folder."""

    def __init__(self, process: subprocess.Popen[bytes], folder: Path, key: Callable[..., None]) -> None:
        self._process = process
        self._folder = folder
        self._key = key
        self._file: Path | None = None
        self._position = 0
        self.events: list[e.Event] = []
        """The conversation's events as of the last call of `follow`."""

    def follow(self) -> list[e.Event]:
        """Reads and returns the events that were recorded since the last call. Raises UserError if the app ended."""
        if self._file is None:
            self._file = next((self._folder / "data").rglob("events.jsonl"), None)
        new: list[e.Event] = []
        if self._file is not None:
            with open(self._file, "rb") as file:
                file.seek(self._position)
                lines = file.read().split(b"\n")
            for line in lines[:-1]:  # the last one may be incomplete
                if self._position:  # the first line names the format
                    new.append(read_event(line))
                self._position += len(line) + 1
        self.events += new
        if self._process.poll() is not None and not any(isinstance(x, e.SessionEnded) for x in self.events):
            log = (self._folder / "log").read_text("utf-8", "replace")
            raise UserError(f"The app's window ended by itself. The last that it said: {last_words(log)}")
        return new

    def press(self) -> None:
        """Presses the talk button's key."""
        self._key("keydown", "space")

    def release(self) -> None:
        """Releases the talk button's key."""
        self._key("keyup", "space")

    def silence(self) -> None:
        """Silences the answer."""
        self._key("key", "Escape")

    @property
    def microphone_file(self) -> Path:
        """The path of the app's microphone recording, in session time; complete once the window is closed."""
        assert self._file is not None
        return self._file.with_name("user.wav")

    def close(self) -> None:
        """Quits the app with its shortcut and reads its last events. Raises UserError if it does not exit."""
        self._key("key", "ctrl+q")
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            raise UserError("The app's window could not be closed by Ctrl+Q, so nothing was measured.") from None
        self.follow()


class Stage:
    """A screen and a sound server that keep their files in `folder`."""

    def __init__(self, folder: Path, display: str) -> None:
        self._folder = folder
        self._environment = {
            **{name: value for name, value in child_environment().items() if not name.startswith(("PULSE_", "ALSA_"))},
            "DISPLAY": display,
            "QT_QPA_PLATFORM": "xcb",
            "XDG_RUNTIME_DIR": str(folder),
            "PULSE_RUNTIME_PATH": str(folder),
            "PULSE_STATE_PATH": str(folder),
            "PULSE_SERVER": f"unix:{folder / 'native'}",
            "ALSA_CONFIG_PATH": str(folder / "asound.conf"),
        }
        for name in ("WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"):  # the desktop of whoever runs the bench
            self._environment.pop(name, None)

    @contextmanager
    def sound(self) -> Iterator[None]:
        """Runs the sound server inside the block."""
        (self._folder / "asound.conf").write_text(_ALSA)
        command = ["pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"]
        command += ["--high-priority=no", "--realtime=no", f"--log-target=file:{self._folder / 'pulse.log'}"]
        for module in self._modules():
            command += ["-L", module]
        with _child(command, self._environment):
            give_up = time.monotonic() + START_SECONDS
            while self._control("set-default-sink", "speaker") or self._control("set-default-source", "microphone"):
                if time.monotonic() > give_up:
                    log = (self._folder / "pulse.log").read_text(errors="replace").strip()
                    raise UserError(f"PulseAudio doesn't start, so nothing can be measured. It says: {log[-300:]}")
                time.sleep(0.05)
            yield

    @contextmanager
    def recording(self) -> Iterator[MonitorRecording]:
        """Records loudspeaker and microphone inside the block."""
        command = ["parec", "--device=bench.monitor", "--raw", "--format=s16le", "--channels=2", "--latency-msec=10"]
        with _child([*command, f"--rate={SAMPLE_RATE}"], self._environment, stdout=subprocess.PIPE) as recorder:
            yield MonitorRecording(recorder)

    @contextmanager
    def playing(self, samples: np.ndarray) -> Iterator[None]:
        """Plays float32 samples at 24 kHz into the microphone; on leaving the block, waits until all have been played.

        Raises CalledProcessError.
        """
        file = self._folder / "question.raw"
        file.write_bytes(samples.astype("<f4").tobytes())
        command = ["pacat", "--raw", "--format=float32le", f"--rate={SAMPLE_RATE}", "--channels=1", "--device=feed"]
        with subprocess.Popen([*command, str(file)], env=self._environment) as player:
            yield
        if player.returncode:
            raise subprocess.CalledProcessError(player.returncode, command)

    @contextmanager
    def window(self, **settings: object) -> Iterator[Window]:
        """Starts the app with its own home folder, waits until its session is running, and ends it after the block.

        `settings`: those that differ from the app's defaults. Raises UserError if no session starts in time.
        """
        home = Path(tempfile.mkdtemp(prefix="home-", dir=self._folder))
        environment = {**self._environment, **make_home(home, keep_recordings=True, **settings)}
        with (
            open(home / "log", "wb") as log,
            _child([sys.executable, "-m", "app"], environment, cwd=ROOT, stdout=log) as process,
        ):
            window = Window(process, home, self._key)
            give_up = time.monotonic() + WINDOW_SECONDS
            while not any(isinstance(event, e.SessionStarted) for event in window.events):
                if time.monotonic() > give_up:
                    raise UserError(
                        f"One can't talk to the window within {WINDOW_SECONDS:.0f} s, so nothing was measured. See "
                        "that the packages libportaudio2 and libasound2-plugins are installed and that the app starts."
                    )
                time.sleep(0.2)
                window.follow()
            # Without a window manager, nothing else gives it the focus.
            self._key("search", "--sync", "--onlyvisible", "--name", "KAME", "windowfocus", "--sync")
            yield window

    def _modules(self) -> Iterator[str]:
        yield f"module-native-protocol-unix socket={self._folder / 'native'} auth-anonymous=1"
        # With rewinds, a null sink would start late.
        shape = f"rate={HARDWARE_RATE} format=s16le channels=2 channel_map=front-left,front-right norewinds=1"
        yield f"module-null-sink sink_name=bench {shape}"
        one = "channels=1 channel_map=mono remix=no"
        yield f"module-remap-sink sink_name=speaker master=bench {one} master_channel_map=front-left"
        yield f"module-remap-sink sink_name=feed master=bench {one} master_channel_map=front-right"
        yield f"module-remap-source source_name=microphone master=bench.monitor {one} master_channel_map=front-right"

    def _control(self, *arguments: str) -> int:
        command = ["pactl", *arguments]
        return subprocess.run(command, env=self._environment, capture_output=True, timeout=START_SECONDS).returncode

    def _key(self, *arguments: str) -> None:
        try:
            subprocess.run(["xdotool", *arguments], env=self._environment, check=True, timeout=START_SECONDS)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
            raise UserError(
                "The app's window does not appear on the virtual screen, so nothing was measured."
            ) from None


@contextmanager
def virtual_stage() -> Iterator[Stage]:
    """Yields a stage with a screen and a sound server. Raises UserError if it can't be set up."""
    check_programs()
    with ExitStack() as stack:
        # Keeps the path short: a Unix socket's is limited to 107 characters.
        folder = Path(tempfile.mkdtemp(prefix="kame-"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stage = Stage(folder, stack.enter_context(_screen()))
        stack.enter_context(stage.sound())
        yield stage


@contextmanager
def _screen() -> Iterator[str]:
    """Runs an X server inside the block and yields the display name that it chose."""
    read, write = os.pipe()
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1280x800x24", "-nolisten", "tcp"]
    with _child(command, child_environment(), pass_fds=(write,)), os.fdopen(read) as number:
        os.close(write)
        name = number.readline().strip()
        if not name:
            raise UserError("Xvfb doesn't start, so there is no screen to measure on. Try “Xvfb -displayfd 1” by hand.")
        yield f":{name}"


@contextmanager
def _child(
    command: Sequence[str],
    environment: dict[str, str],
    *,
    cwd: Path | None = None,
    stdout: object = subprocess.DEVNULL,
    pass_fds: Sequence[int] = (),
) -> Iterator[subprocess.Popen[bytes]]:
    """Runs a program inside the block."""
    errors = stdout if stdout is not subprocess.PIPE else subprocess.DEVNULL
    process = subprocess.Popen(
        command,
        env=environment,
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=stdout,  # type: ignore[call-overload]
        stderr=errors,
        pass_fds=pass_fds,
    )
    try:
        yield process
    finally:
        process.terminate()
        end_child(process, END_SECONDS)


HIGHEST_LOAD = 0.7
"""Maximum one-minute load average at which the machine counts as idle."""
PATIENCE_SECONDS = 170.0
"""The load average takes this long to fall from 11 to 0.7 on an idle machine."""
POLL_SECONDS = 5.0


def load() -> float:
    """Returns the load average of the last minute."""
    return round(psutil.getloadavg()[0], 2)


def wait_until_idle(
    progress: Progress = no_progress,
    *,
    patience: float = PATIENCE_SECONDS,
    read_load: Callable[[], float] = load,
    sleep: Callable[[float], None] = time.sleep,
) -> float:
    """Waits until the load is low enough and returns it. Raises UserError if it stays too high."""
    for rest in range(int(patience / POLL_SECONDS), -1, -1):
        if (now := read_load()) <= HIGHEST_LOAD:
            return now
        if rest:
            progress(f"the load is {now:.1f}; waiting until it is {HIGHEST_LOAD}")
            sleep(POLL_SECONDS)
    raise UserError(
        f"The machine is busy (load {now:.1f}), so the figures would be of its other work. Close other programs, or "
        "measure all the same with --busy: then the table says how busy it was."
    )


class OtherWork:
    """Measures the CPU time used by other processes since its creation.

    This is the CPU time of the whole machine, including time stolen by other virtual machines, minus that of this
    process and its children.
    """

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._others = self._read()

    def cores(self) -> float:
        """Returns the average number of cores kept busy by other processes."""
        seconds = max(1e-3, time.monotonic() - self._began)
        return round(max(0.0, self._read() - self._others) / seconds, 3)

    def _read(self) -> float:
        machine = psutil.cpu_times()
        idle = machine.idle + getattr(machine, "iowait", 0.0)
        # Guest time is already included in `user` and `nice`.
        guests = getattr(machine, "guest", 0.0) + getattr(machine, "guest_nice", 0.0)
        own = 0.0
        process = psutil.Process()
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):  # it has just exited, and its parent's times include it
                own += sum(one.cpu_times()[:4])  # includes children that have exited
        return float(sum(machine) - idle - guests - own)
