"""One assistant in its own process, which receives and emits audio in real time.

Also defines the participants, creates a rival's Python environment from a hashed lock file, and provides a null
loudspeaker that consumes a process's output in real time and records what was played when.
"""

from __future__ import annotations

import contextlib
import hashlib
import queue
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np
import platformdirs
import psutil
import soxr

from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import Progress
from app.models.packages import package_tool
from app.platform.children import end_child, quiet_child
from app.platform.installation import resource
from app.session.control import UserError


def python_of(assistant: Assistant, progress: Progress) -> Path:
    """Returns the interpreter of a rival's environment, creating it if missing or out of date. Raises UserError."""
    lock = resource("bench", "rivals", assistant.lock)
    folder = platformdirs.user_cache_path("kame-desktop", appauthor=False) / "rivals" / assistant.name
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    mark, digest = folder / "lock.sha256", hashlib.sha256(lock.read_bytes()).hexdigest()
    if python.exists() and mark.exists() and mark.read_text("utf-8") == digest:
        return python
    progress(f"{assistant.name}: its environment is made, which fetches packages")
    folder.parent.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", "--clear", str(folder)], assistant)
    install = [*package_tool(str(python)), "--require-hashes", "-r", str(lock)]
    _run(install, assistant)
    mark.write_text(digest, "utf-8")
    return python


def _run(command: list[str], assistant: Assistant) -> None:
    # Outside the checkout, whose settings for the package tool are for the app's own packages.
    elsewhere = {"cwd": platformdirs.user_cache_path("kame-desktop", appauthor=False), **quiet_child(network=True)}
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", **elsewhere
    )
    if done.returncode:
        lines = (done.stderr or done.stdout).strip().splitlines()
        raise UserError(
            f"The environment of {assistant.name} could not be made ({lines[-1] if lines else 'no more is known'}). "
            "RealtimeSTT's PyAudio needs a compiler and portaudio19-dev; leave the assistant out with --assistants."
        )


@dataclass(frozen=True, slots=True)
class Assistant:
    """A voice assistant. `lock`: the name of its lock file, empty for this app; `driver`: its program in `drivers`."""

    name: str
    what: str
    lock: str = ""
    driver: str = ""


ASSISTANTS = (
    Assistant("tandem", "this app: it thinks while the user speaks"),
    Assistant("cascade", "this app, waiting for the whole turn"),
    Assistant("pipecat", "Pipecat 1.14: Silero, Smart Turn, faster-whisper, Piper", "pipecat.txt", "pipecat_driver.py"),
    Assistant("livekit", "LiveKit Agents 1.8: Silero, faster-whisper, Piper", "livekit.txt", "livekit_driver.py"),
    Assistant("realtime", "RealtimeSTT 1.1 and RealtimeTTS 0.8 with Piper", "realtime.txt", "realtime_driver.py"),
)


def chosen(names: list[str]) -> list[Assistant]:
    """Returns the assistants with these names, or all if `names` is empty. Raises UserError."""
    known = {one.name: one for one in ASSISTANTS}
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"There is no assistant “{unknown[0]}”. There are: {', '.join(known)}.")
    return [known[name] for name in names] or list(ASSISTANTS)


FLOOR = 0.01
"""Minimum audible amplitude of played audio: -40 dBFS."""


class RecordingLoudspeaker:
    """A null loudspeaker that records what it plays. Times are in seconds of the clock `now`. Thread-safe."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pieces: list[tuple[float, np.ndarray]] = []  # with their start times
        self._dry_at = 0.0
        self._lock = threading.Lock()

    def play(self, rate: int, samples: np.ndarray) -> None:
        """Queues int16 samples."""
        sound = samples.astype(np.float32) / 32768.0
        if rate != SAMPLE_RATE:
            sound = soxr.resample(sound, rate, SAMPLE_RATE).astype(np.float32)
        with self._lock:
            begin = max(self._dry_at, self._now())
            self._pieces.append((begin, sound))
            self._dry_at = begin + len(sound) / SAMPLE_RATE

    def flush(self) -> None:
        """Discards everything that has not been played."""
        with self._lock:
            now = self._now()
            for begin, sound in reversed(self._pieces):
                if begin + len(sound) / SAMPLE_RATE <= now:
                    break
                sound[max(0, round((now - begin) * SAMPLE_RATE)) :] = 0.0
            self._dry_at = min(self._dry_at, now)

    @property
    def quiet_for(self) -> float:
        """Returns the seconds since the last sound; negative while audio is still queued."""
        with self._lock:
            return self._now() - self._dry_at

    def played(self, begin: float, end: float) -> np.ndarray:
        """Returns the audio played between two times: float32, 24 kHz."""
        out = np.zeros(max(0, round((end - begin) * SAMPLE_RATE)), np.float32)
        with self._lock:
            pieces = list(self._pieces)
        for at, sound in pieces:
            start = round((at - begin) * SAMPLE_RATE)
            first, last = max(0, start), min(len(out), start + len(sound))
            if first < last:
                out[first:last] += sound[first - start : last - start]
        return out


CHUNK = SAMPLE_RATE // 50
"""20 ms at 24 kHz."""
READY_SECONDS = 90.0
_HEAD = struct.Struct("<cI")
LONGEST_MESSAGE = 16 * 1024 * 1024


class AssistantProcess:
    """A context manager that runs `command`. `log`: a file for its output. Raises UserError on entering."""

    def __init__(self, name: str, command: list[str], settings: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.loudspeaker = RecordingLoudspeaker(time.perf_counter)
        self.words: list[tuple[float, int, str]] = []
        """The time, turn and words of each recognition result; later words of a turn replace earlier ones."""
        self._command, self._settings, self._log = command, settings, log
        self._queue: queue.SimpleQueue[np.ndarray] = queue.SimpleQueue()
        self._ready, self._stopping = threading.Event(), threading.Event()
        self._next_at = 0.0  # when the next chunk is sent; 0 before the first

    def __enter__(self) -> AssistantProcess:
        how = quiet_child()
        how["env"] = {**how["env"], **self._settings}
        self._file = self._log.open("wb")
        self._child = subprocess.Popen(
            self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._file, **how
        )
        assert self._child.stdin is not None and self._child.stdout is not None
        work = ((self._write, self._child.stdin), (self._read, self._child.stdout))
        self._threads = [threading.Thread(target=target, args=(pipe,), daemon=True) for target, pipe in work]
        for thread in self._threads:
            thread.start()
        until = time.monotonic() + READY_SECONDS
        while not self._ready.wait(0.2):
            if self._child.poll() is not None or time.monotonic() > until:
                self.__exit__()
                raise UserError(f"{self.name} did not start; {self._log} says why. Leave it out with --assistants.")
        while not self._next_at:
            time.sleep(0.01)
        return self

    def __exit__(self, *exc: object) -> None:
        self._stopping.set()
        with contextlib.suppress(psutil.Error):
            family = psutil.Process(self._child.pid).children(recursive=True)
            end_child(self._child, 2.0)
            for one in family:
                with contextlib.suppress(psutil.Error):
                    one.kill()
        end_child(self._child, 2.0)
        for thread in self._threads:
            thread.join(5.0)
        self._file.close()

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._child.poll() is None

    def say(self, samples: np.ndarray) -> float:
        """Queues float32 24 kHz samples; returns when the first is sent, as a `time.perf_counter()` timestamp."""
        padded = np.pad(samples, (0, -len(samples) % CHUNK))
        for chunk in padded.reshape(-1, CHUNK):
            self._queue.put(chunk)
        return self._next_at

    def usage(self) -> tuple[float, int]:
        """Returns the processor seconds so far and the current memory in bytes, of the process and its children."""
        return usage_of(self._child.pid)

    # -- threads

    def _write(self, pipe: IO[bytes]) -> None:
        """Sends a chunk every 20 ms once the process is ready: queued speech, or else the noise of a quiet room."""
        room = np.random.default_rng(3)
        while not self._ready.wait(0.05):  # audio queued in the pipe during loading would delay all that follows
            if self._stopping.is_set():
                return
        begin, number = time.perf_counter(), 0
        self._next_at = begin
        down = soxr.ResampleStream(SAMPLE_RATE, 16_000, 1, dtype="float32")
        rest: np.ndarray = np.zeros(0, np.float32)
        try:
            while not self._stopping.is_set():
                number += 1
                self._next_at = begin + number * 0.02
                time.sleep(max(0.0, self._next_at - time.perf_counter()))
                chunk = room.standard_normal(CHUNK).astype(np.float32) * np.float32(10 ** (-65 / 20))
                with contextlib.suppress(queue.Empty):
                    chunk += self._queue.get_nowait()
                rest = np.concatenate([rest, down.resample_chunk(chunk)])
                while len(rest) >= 320:
                    pcm = (np.clip(rest[:320], -1.0, 1.0) * 32767).astype("<i2").tobytes()
                    pipe.write(_HEAD.pack(b"A", len(pcm)) + pcm)
                    rest = rest[320:]
                pipe.flush()
        except (OSError, ValueError):
            pass  # it has exited or is being stopped

    def _read(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError):
            while len(head := pipe.read(_HEAD.size)) == _HEAD.size:
                kind, size = _HEAD.unpack(head)
                if size > LONGEST_MESSAGE:
                    return
                data = pipe.read(size)
                if kind == b"R":
                    self._ready.set()
                elif kind == b"A":
                    self.loudspeaker.play(struct.unpack_from("<I", data)[0], np.frombuffer(data[4:], "<i2"))
                elif kind == b"F":
                    self.loudspeaker.flush()
                elif kind == b"T":
                    turn = struct.unpack_from("<I", data)[0]
                    self.words.append((time.perf_counter(), turn, data[4:].decode("utf-8", "replace")))


def usage_of(pid: int) -> tuple[float, int]:
    """Returns the processor seconds so far and the bytes in memory, of a process and its children.

    Where the system tells (Linux), memory that processes share counts once.
    """
    seconds, memory = 0.0, 0
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for one in (process, *process.children(recursive=True)):
            with contextlib.suppress(psutil.Error):
                times = one.cpu_times()
                # The parent's times include exited children (RealtimeTTS runs the `piper` command for each sentence).
                seconds += times.user + times.system
                seconds += getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0)
                full = one.memory_full_info()
                memory += getattr(full, "pss", full.rss)
    return seconds, memory
