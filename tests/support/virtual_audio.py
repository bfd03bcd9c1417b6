"""A microphone and a loudspeaker without hardware, by a sound server of its own. `kame_mic` is the microphone (fed
through the sink `kame_mic_in`), `kame_speaker` the loudspeaker. The server, its sockets and its ALSA configuration are
in a temporary folder; the machine's own sound is not affected. PortAudio reads the environment when it is initialised,
so only child processes started with `.env` use these devices. Linux only."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import wave
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.support.parts import need

RATE = 24_000
START_SECONDS = 10.0

# Only these devices exist, and ALSA's own cards are never probed. A null sink would otherwise rewind what it
# has played and start late: hence norewinds.
_ALSA = """</usr/share/alsa/alsa.conf>
pcm.pulse { type pulse }
ctl.pulse { type pulse }
pcm.!default { type pulse hint.description "Default (PulseAudio)" }
ctl.!default { type pulse }
pcm.kame_mic { type pulse device "kame_mic" hint.description "KAME virtual mic" }
pcm.kame_speaker { type pulse device "kame_speaker" hint.description "KAME virtual speaker" }
"""


# Without a microphone. PortAudio 19.6 aborts (an assertion) without any device, so there is a loudspeaker that discards
# its sound.
_ALSA_NO_MICROPHONE = """pcm.!default { type asym playback.pcm { type null } }
pcm.deaf { type asym playback.pcm { type null } hint { show on description "Deaf" } }
"""


class Recording:
    """What `parec` has recorded so far."""

    def __init__(self, path: Path, recorder: subprocess.Popen) -> None:
        self.path = path
        self.started_at = float("inf")
        """When the first sample was played (`time.perf_counter`): some milliseconds too late at most."""
        self._data = bytearray()
        self._pipe = recorder.stdout
        self._reader = threading.Thread(target=self._read, name="recording", daemon=True)
        self._reader.start()

    @property
    def samples(self) -> np.ndarray:
        """int16 of shape (n,), 24 kHz mono."""
        return np.frombuffer(bytes(self._data[: len(self._data) // 2 * 2]), "<i2")

    def finish(self) -> None:
        """Writes the WAV after the recorder has ended."""
        self._reader.join(5)
        self._pipe.close()
        with wave.open(str(self.path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            file.writeframes(self.samples.tobytes())

    def _read(self) -> None:
        while data := os.read(self._pipe.fileno(), 65_536):
            self._data += data
            # No sample arrives before it has been played, so each arrival bounds the start from above.
            self.started_at = min(self.started_at, time.perf_counter() - len(self._data) / 2 / RATE)


class VirtualAudio:
    """A running server. `env`: the environment for child processes; `pid`: the server's process id."""

    def __init__(self, folder: Path, rate: int, devices: bool) -> None:
        self.rate = rate
        self._folder = folder
        socket = folder / "native"
        config = folder / "asound.conf"
        config.write_text(_ALSA if devices else _ALSA_NO_MICROPHONE)
        others = {key: value for key, value in os.environ.items() if not key.startswith(("PULSE_", "ALSA_"))}
        self.env = others | {
            "XDG_RUNTIME_DIR": str(folder),
            "PULSE_RUNTIME_PATH": str(folder),
            "PULSE_SERVER": f"unix:{socket}",
            "PULSE_STATE_PATH": str(folder),
            "ALSA_CONFIG_PATH": str(config),
        }
        self._started: list[subprocess.Popen] = []
        self._modules: dict[str, list[str]] = {}
        self._players: dict[str, list[subprocess.Popen]] = {}
        self._command = [
            *("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"),
            *("--high-priority=no", "--realtime=no", f"--log-target=file:{folder / 'pulse.log'}"),
            *("-L", f"module-native-protocol-unix socket={socket} auth-anonymous=1"),
        ]
        self._devices = devices
        self._start_server()

    def control(self, *arguments: str) -> str:
        """Runs `pactl` with these arguments and returns its output."""
        command = ["pactl", *arguments]
        done = subprocess.run(command, env=self.env, check=True, capture_output=True, timeout=10)
        return done.stdout.decode()

    def add_microphone(self, name: str, tone: float = 0.0, rate: int = RATE, description: str = "") -> None:
        """Plugs in a microphone that receives a sine of `tone` hertz for a minute (0: nothing). `description`: the name
        for users, else `name`. Its sound comes from a sink named after it."""
        feed = f"{name}_in"
        self._add(name, "module-null-sink", f"sink_name={feed}", f"rate={rate}", "channels=1", "norewinds=1")
        self._add(
            name,
            "module-remap-source",
            f"source_name={name}",
            f"master={feed}.monitor",
            f"source_properties='device.description=\"{description or name}\"'",
        )
        if tone:
            sine = (0.3 * np.sin(np.arange(RATE * 60) * 2 * np.pi * tone / RATE)).astype(np.float32)
            self.play_into_microphone(sine, name)

    def add_call_microphone(self, name: str, description: str = "") -> None:
        """Plugs in a silent microphone that works at 16 kHz only."""
        self._add(
            name,
            "module-null-source",
            f"source_name={name}",
            "rate=16000",
            "channels=1",
            f"description={description or name}".replace(" ", "\\ "),
        )

    def add_loudspeaker(self, name: str, rate: int = RATE, description: str = "") -> None:
        """Plugs in a loudspeaker; `heard_from` returns what it plays."""
        self._add(
            name,
            "module-null-sink",
            f"sink_name={name}",
            f"rate={rate}",
            "channels=1",
            "norewinds=1",
            f"sink_properties='device.description=\"{description or name}\"'",
        )

    def remove(self, name: str) -> None:
        """Unplugs a device that one of these methods has added."""
        for player in self._players.pop(name, []):
            _end(player)
        for module in reversed(self._modules.pop(name)):
            self.control("unload-module", module)

    def set_defaults(self, microphone: str = "", loudspeaker: str = "") -> None:
        """Makes these the default devices, by the server's names; empty: unchanged."""
        if microphone:
            self.control("set-default-source", microphone)
        if loudspeaker:
            self.control("set-default-sink", loudspeaker)

    def heard_from(self, loudspeaker: str, seconds: float = 0.3) -> np.ndarray:
        """Records what the loudspeaker plays during the next `seconds`: int16 of shape (n,), 24 kHz."""
        recorder = self._recorder(loudspeaker)
        size, data = int(seconds * RATE) * 2, b""
        give_up = time.monotonic() + seconds + START_SECONDS
        while len(data) < size and time.monotonic() < give_up:
            data += os.read(recorder.stdout.fileno(), 65_536)
        _end(recorder)
        recorder.stdout.close()
        return np.frombuffer(data[: len(data) // 2 * 2], "<i2")

    def restart(self) -> None:
        """Starts the server again after `kill`, with its initial devices."""
        self._modules.clear()
        self._players.clear()
        self._start_server()

    def _add(self, name: str, *module: str) -> None:
        self._modules.setdefault(name, []).append(self.control("load-module", *module).strip())

    def _start_server(self) -> None:
        self._server = subprocess.Popen(
            self._command + (_first_modules(self.rate) if self._devices else []),
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.pid = self._server.pid
        try:
            self._wait_until_up()
            if self._devices:
                self.set_defaults("kame_mic", "kame_speaker")
        except BaseException:
            self.close()
            raise

    def play_into_microphone(self, sound: str | Path | np.ndarray, name: str = "kame_mic") -> subprocess.Popen:
        """Plays a sound file, or float32 samples at 24 kHz, into a microphone; returns the player process."""
        if isinstance(sound, np.ndarray):
            raw = Path(tempfile.mkstemp(suffix=".raw", dir=self._folder)[1])
            raw.write_bytes(sound.astype("<f4").tobytes())
            arguments = ["pacat", "--raw", "--format=float32le", f"--rate={RATE}", "--channels=1", str(raw)]
        else:
            arguments = ["paplay", str(sound)]
        player = self._start(arguments[0], f"--device={name}_in", *arguments[1:])
        self._players.setdefault(name, []).append(player)
        return player

    @contextlib.contextmanager
    def record_loudspeaker(self, path: str | Path) -> Iterator[Recording]:
        """Records what `kame_speaker` plays inside the block; `path` is then a WAV, 24 kHz mono 16-bit. The recorder
        already runs on entry. Its pipe holds some 50 ms: sleep before leaving the block."""
        recorder = self._recorder("kame_speaker")
        recording = Recording(Path(path), recorder)
        try:
            _wait_for(lambda: recording.samples.size > 0, "The loudspeaker's recorder gave no sound.")
            yield recording
        finally:
            _end(recorder)
            recording.finish()

    def kill(self) -> None:
        """Kills the server, as in a crash."""
        self._server.kill()
        self._server.wait(10)

    def close(self) -> None:
        """Ends the server and every player and recorder that this object has started."""
        for process in [*self._started, self._server]:
            _end(process)

    def _recorder(self, loudspeaker: str) -> subprocess.Popen:
        return self._start(
            "parec",
            *(f"--device={loudspeaker}.monitor", "--raw", "--format=s16le", f"--rate={RATE}", "--channels=1"),
            "--latency-msec=10",
            out=subprocess.PIPE,
        )

    def _start(self, program: str, *arguments: str, out: object = subprocess.DEVNULL) -> subprocess.Popen:
        process = subprocess.Popen([program, *arguments], env=self.env, stdout=out)
        self._started.append(process)
        return process

    def _wait_until_up(self) -> None:
        def answers() -> bool:
            if self._server.poll() is not None:
                log = (self._folder / "pulse.log").read_text(errors="replace")
                raise RuntimeError(f"pulseaudio ended with {self._server.returncode}: {log[-500:]}")
            info = subprocess.run(["pactl", "info"], env=self.env, capture_output=True, timeout=10)
            return info.returncode == 0

        _wait_for(answers, "The virtual sound server didn't answer.")


@contextlib.contextmanager
def virtual_audio(rate: int = RATE, devices: bool = True) -> Iterator[VirtualAudio]:
    """A running `VirtualAudio` whose devices work at `rate` hertz. At 24,000 they are exact to the bit; at 48,000 the
    server resamples, as for most hardware. `devices=False`: a server without any, and no microphone in ALSA's
    configuration."""
    need("libportaudio.so.2", "pulseaudio", "pactl", "libasound_module_pcm_pulse.so")
    # A short path: a Unix socket's path has 107 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="kame-"))
    try:
        audio = VirtualAudio(folder, rate, devices)
        try:
            yield audio
        finally:
            audio.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _first_modules(rate: int) -> list[str]:
    shape = f"rate={rate} channels=1 format=s16le norewinds=1"
    modules = (
        f"module-null-sink sink_name=kame_speaker {shape} sink_properties=device.description=KAME-Speaker",
        f"module-null-sink sink_name=kame_mic_in {shape} sink_properties=device.description=KAME-Mic-Feed",
        "module-remap-source source_name=kame_mic master=kame_mic_in.monitor "
        "source_properties=device.description=KAME-Mic",
    )
    return [argument for module in modules for argument in ("-L", module)]


def _wait_for(condition, complaint: str) -> None:
    give_up = time.monotonic() + START_SECONDS
    while not condition():
        if time.monotonic() > give_up:
            raise TimeoutError(complaint)
        time.sleep(0.02)


def _end(process: subprocess.Popen) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(5)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(5)
