"""The process that steps a model, from the session's side: starts it, loads it, and exchanges frames with it.

Nothing here waits for a slow or dead process longer than `PATIENCE`. A process that fails, ends or hangs raises
EngineError; it can't be used again.
"""

from __future__ import annotations

import contextlib
import json
import logging
import mmap
import os
import secrets
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from app.conversation.frame import FRAME_SECONDS, silence
from app.frontend.base import LOUD
from app.frontend.kame.messages import (
    ENCODE,
    FAILED,
    REPLAY,
    RESTART,
    RESTART_LANGUAGE_MODEL,
    RESTARTED,
    SHARED_BYTES,
    SPOKEN,
    STEP,
    ColumnFormat,
    Frames,
    LoadRequest,
    Ready,
    request,
)
from app.frontend.kame.stream_engine import Column, EngineError, EngineStep, TextTokens
from app.frontend.slow_card import CardModel
from app.platform.children import end_child, ending_of, progress_of, python_module_command, quiet_child

PATIENCE = 0.07
"""How long (s) a step waits for the result of its frame, which lasts 0.08 s. If it is late, silence stands in."""
MOST_BEHIND = 5
"""The number of frames (0.4 s) that may wait for the process. Further ones are left out."""
HANG_FRAMES = 25
"""A process that hasn't answered for so many frames (2 s) hangs."""
HANG_SECONDS = 30.0
"""The same where frames aren't in real time, and for a process that loads: it must compute or read something."""
RESTART_SECONDS = 5.0
"""How long a fresh stream may take to start."""
LATEST_FRAMES = 25
"""How many frames (2 s) tell how long a step takes now."""
_CHECK_SECONDS = 0.25
MESSAGE_BYTES = 1 << 20

log = logging.getLogger(__name__)


class EngineProcess:
    """A `StreamEngine` in a process of its own, and a `Resource` of the pool.

    `load` and `close` may be called on any thread, all other methods on the one that steps.

    - `real_time`: whether steps return in time even if the process is late. Otherwise they wait for it.
    - `module`: the module that the process runs.
    """

    def __init__(self, *, real_time: bool = True, module: str = "app.frontend.kame.engine.worker") -> None:
        self.real_time = real_time
        self._module = module
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._closed = self._failed = False

    # -- loading

    def load(self, what: LoadRequest, report: Callable[[dict[str, Any]], object] = lambda facts: None) -> Ready:
        """Starts the process and waits until it has loaded the model. `report`: gets the progress.

        Raises EngineError.
        """
        try:
            self._start()
            return self._begin(self._await_ready(what, report))
        except BaseException:
            self.close()
            raise

    def _await_ready(self, what: LoadRequest, report: Callable[[dict[str, Any]], object]) -> Ready:
        connection, process = self._connection, self._process
        assert connection is not None and process is not None
        silent, before = 0, progress_of(process)
        try:
            connection.send_bytes(json.dumps(asdict(what)).encode())
            while True:
                if connection.poll(_CHECK_SECONDS):
                    message = connection.recv_bytes(MESSAGE_BYTES)
                    if message[0] == FAILED:
                        raise self._fault(message)
                    facts = json.loads(message)
                    if "ready" in facts:
                        return Ready.read(facts["ready"])
                    report(facts)
                    continue
                now = progress_of(process)
                silent = silent + 1 if now is not None and now == before else 0
                before = now
                if silent * _CHECK_SECONDS >= HANG_SECONDS:
                    raise self._lost(hung=True)
        except (EOFError, OSError, ValueError) as error:
            raise self._lost() from error

    def _begin(self, ready: Ready) -> Ready:
        self.ready = ready
        for note in ready.notes:
            log.warning("%s", note)
        self.context, self.silence, self.step_seconds = ready.context, ready.silence, ready.step_seconds
        self.tokens: TextTokens = ready.tokens
        self._columns = ColumnFormat(ready.own, ready.heard)
        self.steps = 0
        self._number = 0  # of the next frame
        self._waiting = 0  # frames that the process has not answered
        self._results: deque[EngineStep] = deque()  # answered, and not returned yet
        self._unanswered = 0  # calls since its last answer
        self.took: deque[float] = deque(maxlen=1000)
        """How long the latest frames took in the process, in seconds."""
        return ready

    def _start(self) -> None:
        ours, theirs = Pipe()
        options = quiet_child()
        if sys.platform == "win32":
            # Not at a lower priority, as other children: the conversation waits for it.
            options["creationflags"] &= ~subprocess.BELOW_NORMAL_PRIORITY_CLASS
            name = f"kame-{secrets.token_hex(8)}"
            memory = mmap.mmap(-1, SHARED_BYTES, tagname=name)
            os.set_handle_inheritable(theirs.fileno(), True)
            information = subprocess.STARTUPINFO()
            information.lpAttributeList = {"handle_list": [theirs.fileno()]}
            options["startupinfo"] = information
            arguments, shared = (str(theirs.fileno()), name), -1
        else:
            shared = os.memfd_create("kame-frames")
            os.ftruncate(shared, SHARED_BYTES)
            memory = mmap.mmap(shared, SHARED_BYTES)
            options["pass_fds"] = (theirs.fileno(), shared)
            arguments = (str(theirs.fileno()), str(shared))
        try:
            self._process = subprocess.Popen(
                python_module_command(self._module, *arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                **options,
            )
        except OSError as error:
            raise EngineError("lost", f"its process could not be started ({error.strerror})") from error
        finally:
            theirs.close()  # so that the end of the process ends the connection
            if shared >= 0:
                os.close(shared)
        self._connection, self._frames = ours, Frames(memory)
        if self._closed:  # by another thread
            self.close()

    # -- frames

    @property
    def pending(self) -> int:
        """The number of frames whose results are still to come."""
        return self._waiting + len(self._results)

    def restart(self) -> None:
        """Starts a fresh stream. Waits until that is done, so that a process that no longer works is found."""
        self._restarted = False
        self._send(request(RESTART))
        until = time.monotonic() + RESTART_SECONDS
        while not self._restarted:  # answers to the conversation before may come first
            if not self._receive(until - time.monotonic()):
                raise self._lost(hung=True)
        self.steps = self._waiting = self._unanswered = 0
        self._results.clear()

    def restart_language_model(self) -> None:
        """Starts a fresh stream of the language model, while the codec's streams continue."""
        self._send(request(RESTART_LANGUAGE_MODEL))
        self.steps = 0

    def step(self, samples: np.ndarray, oracle: int, *, silent: bool = False) -> tuple[EngineStep, ...]:
        """Steps one frame of the user's audio with an oracle token. `silent`: the model must be silent."""
        if self._waiting < MOST_BEHIND:
            self._submit(samples, request(STEP, silent=silent, oracle=oracle, number=self._number))
            self.steps += 1
        return self._collect()

    def encode(self, samples: np.ndarray) -> tuple[EngineStep, ...]:
        """Encodes a frame without stepping the language model."""
        if self._waiting < MOST_BEHIND:
            self._submit(samples, request(ENCODE, number=self._number))
        return self._collect()

    def replay(self, column: Column) -> None:
        """Steps the language model with known tokens, as if they had just been spoken and received."""
        self._send(self._columns.pack(REPLAY, column))
        self.steps += 1

    def _submit(self, samples: np.ndarray, message: bytes) -> None:
        self._frames.put_in(self._number, samples)
        self._send(message)
        self._number += 1
        self._waiting += 1

    def _collect(self) -> tuple[EngineStep, ...]:
        """Returns the oldest result. While it is behind and what it says is quiet, returns the next ones, too."""
        until = time.monotonic() + (PATIENCE if self.real_time else HANG_SECONDS)
        out: list[EngineStep] = []
        while self.pending and (self._results or self._receive(until - time.monotonic())):
            while self._waiting and self._receive(0.0):
                pass
            out.append(self._results.popleft())
            if not _is_quiet(out[-1]) and len(self._results) <= MOST_BEHIND:
                break
        if not out:
            self._unanswered += 1
            if self._unanswered >= HANG_FRAMES or not self.real_time:
                raise self._lost(hung=True)
        return tuple(out)

    def _receive(self, seconds: float) -> bool:
        """Waits for an answer; returns whether there is one."""
        connection = self._connection
        try:
            if connection is None:
                raise EOFError
            if not connection.poll(max(0.0, seconds)):
                return False
            message = connection.recv_bytes(MESSAGE_BYTES)
        except (EOFError, OSError) as error:
            raise self._lost() from error
        if message[0] == FAILED:
            raise self._fault(message)
        if message[0] == RESTARTED:
            self._restarted = True
            return True
        what, column, number, seconds = self._columns.unpack(message)
        self._waiting -= 1
        self._unanswered = 0
        self.took.append(seconds)
        spoken = what == SPOKEN
        self._results.append(EngineStep(self._frames.take_out(number) if spoken else silence(), column, spoken))
        return True

    def _send(self, message: bytes) -> None:
        try:
            if self._connection is None:
                raise OSError
            self._connection.send_bytes(message)
        except OSError as error:
            if self._connection is not None:  # it may have said why
                while self._waiting and self._receive(0.0):
                    pass
            raise self._lost() from error

    def on_card(self, label: str) -> CardModel | None:
        """Returns the model that it runs, with this user-facing name, or None if that isn't on a graphics card. Any
        thread may call it."""
        if self.ready.device != "cuda" or self._process is None:
            return None
        latest = tuple(self.took)[-LATEST_FRAMES:]
        seconds = float(np.median(latest)) if latest else 0.0
        ready = self.ready
        context = ready.context * FRAME_SECONDS
        return CardModel(label, ready.precision, context, ready.step_seconds, seconds, self._process.pid)

    # -- its end

    def alive(self) -> bool:
        """Returns whether the process works."""
        return self._process is not None and self._process.poll() is None and not self._failed

    def close(self) -> None:
        """Ends the process immediately."""
        self._closed = True
        process, connection = self._process, self._connection
        if process is not None:
            process.kill()
            end_child(process)
        if connection is not None and not self.alive():
            with contextlib.suppress(OSError):
                connection.close()

    def _fault(self, message: bytes) -> EngineError:
        self._failed = True
        fault = json.loads(message[1:])
        log.error("The model's process failed: %s\n%s", fault["text"], fault["trace"])
        return EngineError(fault["kind"], fault["text"])

    def _lost(self, *, hung: bool = False) -> EngineError:
        self._failed = True
        if self._closed:
            return EngineError("lost", "its process was ended")
        if self._process is None:
            return EngineError("lost", "its process could not be started")
        if hung:
            self._process.kill()
        return EngineError("lost", ending_of(self._process, hung=hung))


def _is_quiet(step: EngineStep) -> bool:
    return not step.spoken or float(np.sqrt(np.mean(np.square(step.samples)))) < LOUD
