"""Gives a boundary one hostile input after another, and keeps those that it does not stand."""

import asyncio
import contextlib
import hashlib
import logging
import math
import shutil
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import seed as seeded

from tests.fuzz.boundary import Boundary, check_told
from tests.fuzz.watch import Watch, forget_peak, peak_bytes

CASES = Path(__file__).with_name("cases")
SECONDS = 30.0
"""The time for one input; a well-behaved reader takes some milliseconds."""


class Defect(AssertionError):
    """An input that a boundary did not stand, with what happened."""


class Fuzzer:
    """Runs inputs in a process of its own home folder, whose hooks stay until the process ends. An input may hold the
    event loop up for `most_stall` seconds, and take `most_memory` bytes. `inputs`: how many each boundary has stood, by
    its name."""

    def __init__(self, most_stall: float = math.inf, most_memory: float = math.inf) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="kame-fuzz-"))
        self.watch = Watch([self.home, Path(tempfile.gettempdir())])
        self.inputs: Counter[str] = Counter()
        self._most_stall, self._most_memory = most_stall, most_memory
        self._runner = asyncio.Runner()
        logging.getLogger().addHandler(logging.NullHandler())  # warnings go to the app's log, not to standard error

    def close(self) -> None:
        """Ends the event loop and deletes the home folder."""
        self._runner.close()
        shutil.rmtree(self.home, ignore_errors=True)

    def check(self, boundary: Boundary, data: bytes) -> str:
        """Gives one input to a boundary; returns what the user was told. Raises Defect."""
        folder = self.home / "input"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        self.watch.found.clear()
        self.watch.longest_stall = 0.0
        before = forget_peak()
        try:
            with self.watch.watching():
                told = self._runner.run(self._take(boundary, data, folder))
            check_told(told)
        except Exception as error:
            raise Defect("".join(traceback.format_exception(error)[-3:])[-3_000:]) from error
        if self.watch.longest_stall > self._most_stall:
            self.watch.found.append(f"the event loop was held up for {self.watch.longest_stall:.1f} s")
        if (taken := peak_bytes() - before) > self._most_memory:
            self.watch.found.append(f"it took {taken / 2**20:.0f} MB of memory")
        if self.watch.found:
            raise Defect("; ".join(self.watch.found)[:3_000])
        self.inputs[boundary.name] += 1
        return told

    def search(self, boundary: Boundary, examples: int, seed: int, on_defect: Callable[[Path, str], None]) -> None:
        """Tries `examples` inputs; the smallest that fails is kept as a case and given to `on_defect`."""
        failed: list[tuple[bytes, str]] = []

        @seeded(seed)
        @settings(
            max_examples=examples,
            database=None,
            deadline=None,
            derandomize=False,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            print_blob=False,
        )
        @given(boundary.inputs)
        def search(data: bytes) -> None:
            try:
                self.check(boundary, data)
            except Defect as defect:
                failed.append((data, str(defect)))
                raise

        try:
            search()
        except BaseException as error:
            if not failed or isinstance(error, KeyboardInterrupt):
                raise
            data, told = min(failed, key=lambda pair: len(pair[0]))
            path = CASES / boundary.name / hashlib.sha256(data).hexdigest()[:12]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            on_defect(path, told)

    async def _take(self, boundary: Boundary, data: bytes, folder: Path) -> str:
        beating = asyncio.create_task(self.watch.beat())
        before = asyncio.all_tasks()
        try:
            async with asyncio.timeout(SECONDS):
                told = await boundary.take(data, folder)
            if ending := asyncio.all_tasks() - before:  # generators that are closed when they are collected
                await asyncio.wait(ending, timeout=1)
            left = [repr(task.get_coro()) for task in asyncio.all_tasks() - before]
            assert not left, f"tasks are left: {left}"
            return told
        finally:
            beating.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await beating


def cases_of(boundary: Boundary) -> list[Path]:
    """Returns the kept inputs of a boundary."""
    folder = CASES / boundary.name
    return sorted(folder.iterdir()) if folder.is_dir() else []
