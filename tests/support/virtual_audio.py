"""A microphone and a loudspeaker without hardware: a sound server of the test's own.

`kame_mic` is the microphone (fed through the sink `kame_mic_in`), `kame_speaker` the loudspeaker. The server,
its sockets and its ALSA configuration live in a temporary folder; nothing of the machine's own sound is
touched. PortAudio reads the environment when it is initialised, so what is to use these devices is a child
process started with `.env`. Linux only; knows nothing of the app.
"""

from __future__ import annotations

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

RATE = 24_000
START_SECONDS = 10.0
MISSING = (
    "PulseAudio's programs ({}) aren't on the PATH, so no virtual microphone can be made. The project's "
    "bootstrap installs them: run it (Debian: apt install pulseaudio pulseaudio-utils libasound2-plugins "
    "libportaudio2)."
)

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


# Without a microphone. PortAudio 19.6 aborts (an assertion) where not even a loudspeaker exists, so there is
# one that leads nowhere.
_ALSA_DEAF = """pcm.!default { type asym playback.pcm { type null } }
pcm.deaf { type asym playback.pcm { type null } hint { show on description "Deaf" } }
"""


class Recording:
    """What `parec` has given so far. Knows nothing of devices."""

    def __init__(self, path: Path, recorder: subprocess.Popen) -> None:
        self.path = path
        self.started_at = float("inf")
        """When the first sample was played (`time.perf_counter`): at most some milliseconds too late."""
        self._data = bytearray()
        self._pipe = recorder.stdout
        self._reader = threading.Thread(target=self._read, name="recording", daemon=True)
        self._reader.start()

    @property
    def samples(self) -> np.ndarray:
        """int16 of shape (n,), 24 kHz mono."""
        return np.frombuffer(bytes(self._data[: len(self._data) // 2 * 2]), "<i2")

    def finish(self) -> None:
        """Write the WAV, once the recorder has ended."""
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
        config.write_text(_ALSA if devices else _ALSA_DEAF)
        others = {key: value for key, value in os.environ.items() if not key.startswith(("PULSE_", "ALSA_"))}
        self.env = others | {
            "XDG_RUNTIME_DIR": str(folder),
            "PULSE_RUNTIME_PATH": str(folder),
            "PULSE_SERVER": f"unix:{socket}",
            "PULSE_STATE_PATH": str(folder),
            "ALSA_CONFIG_PATH": str(config),
        }
        self._started: list[subprocess.Popen] = []
        self._server = subprocess.Popen(
            [_program("pulseaudio"), "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no"]
            + ["--high-priority=no", "--realtime=no", f"--log-target=file:{folder / 'pulse.log'}"]
            + ["-L", f"module-native-protocol-unix socket={socket} auth-anonymous=1"]
            + (_modules(rate) if devices else []),
            env=self.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.pid = self._server.pid
        try:
            self._wait_until_up()
            if devices:
                self.control("set-default-sink", "kame_speaker")
                self.control("set-default-source", "kame_mic")
        except BaseException:
            self.close()
            raise

    def control(self, *arguments: str) -> None:
        """Run `pactl` with these arguments."""
        command = [_program("pactl"), *arguments]
        subprocess.run(command, env=self.env, check=True, capture_output=True, timeout=10)

    def play_into_microphone(self, sound: str | Path | np.ndarray) -> subprocess.Popen:
        """Speak a sound file, or float32 samples at 24 kHz, into `kame_mic`; the player process."""
        if isinstance(sound, np.ndarray):
            raw = Path(tempfile.mkstemp(suffix=".raw", dir=self._folder)[1])
            raw.write_bytes(sound.astype("<f4").tobytes())
            arguments = ["pacat", "--raw", "--format=float32le", f"--rate={RATE}", "--channels=1", str(raw)]
        else:
            arguments = ["paplay", str(sound)]
        return self._start(arguments[0], "--device=kame_mic_in", *arguments[1:])

    @contextlib.contextmanager
    def record_loudspeaker(self, path: str | Path) -> Iterator[Recording]:
        """Record what `kame_speaker` plays inside the block; `path` is then a WAV, 24 kHz mono 16-bit.

        On entry the recorder is already running. Its pipe holds some 50 ms: sleep before you leave.
        """
        recorder = self._start(
            "parec",
            *("--device=kame_speaker.monitor", "--raw", "--format=s16le", f"--rate={RATE}", "--channels=1"),
            "--latency-msec=10",
            out=subprocess.PIPE,
        )
        recording = Recording(Path(path), recorder)
        try:
            _wait_for(lambda: recording.samples.size > 0, "The loudspeaker's recorder gave no sound.")
            yield recording
        finally:
            _end(recorder)
            recording.finish()

    def kill(self) -> None:
        """End the server at once, as when a sound server crashes."""
        self._server.kill()
        self._server.wait(10)

    def close(self) -> None:
        """End the server and every player and recorder that this object started."""
        for process in [*self._started, self._server]:
            _end(process)

    def _start(self, program: str, *arguments: str, out: object = subprocess.DEVNULL) -> subprocess.Popen:
        process = subprocess.Popen([_program(program), *arguments], env=self.env, stdout=out)
        self._started.append(process)
        return process

    def _wait_until_up(self) -> None:
        def answers() -> bool:
            if self._server.poll() is not None:
                log = (self._folder / "pulse.log").read_text(errors="replace")
                raise RuntimeError(f"pulseaudio ended with {self._server.returncode}: {log[-500:]}")
            info = subprocess.run([_program("pactl"), "info"], env=self.env, capture_output=True, timeout=10)
            return info.returncode == 0

        _wait_for(answers, "The virtual sound server didn't answer.")


@contextlib.contextmanager
def virtual_audio(rate: int = RATE, devices: bool = True) -> Iterator[VirtualAudio]:
    """A running `VirtualAudio` whose devices work at `rate` hertz.

    At 24,000 they are exact to the bit; at 48,000 the server resamples, as for most hardware.
    `devices=False`: a server without any, and no microphone in ALSA's configuration.
    """
    # A short path: a Unix socket's name has 107 characters at most.
    folder = Path(tempfile.mkdtemp(prefix="kame-"))
    try:
        audio = VirtualAudio(folder, rate, devices)
        try:
            yield audio
        finally:
            audio.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _modules(rate: int) -> list[str]:
    shape = f"rate={rate} channels=1 format=s16le norewinds=1"
    modules = (
        f"module-null-sink sink_name=kame_speaker {shape} sink_properties=device.description=KAME-Speaker",
        f"module-null-sink sink_name=kame_mic_in {shape} sink_properties=device.description=KAME-Mic-Feed",
        "module-remap-source source_name=kame_mic master=kame_mic_in.monitor "
        "source_properties=device.description=KAME-Mic",
    )
    return [argument for module in modules for argument in ("-L", module)]


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        raise FileNotFoundError(MISSING.format(name))
    return path


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
