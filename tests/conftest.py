"""What all tests share: properties are searched the same way each time, and nothing of the user's is seen. With
`--short`, tests that are marked `slow` are left out, and so are modules that import torch; properties are tried with
fewer examples. What needs a program or library that this machine lacks is skipped; the last lines say how many tests
were."""

import atexit
import contextlib
import functools
import hashlib
import itertools
import logging
import os
import re
import shutil
import ssl
import sys
import tempfile
import types
from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from inspect import iscoroutinefunction
from typing import Any

import pytest
from hypothesis import settings

from tests.support.parts import LEFT_OUT

LONGEST_ID = 60
"""Characters of a parameter in a test's name. Windows can't hold longer names in the environment of a test."""
TORCH = ("torch", "moshi", "safetensors", "sentencepiece")
"""What the short command's environment lacks. There it can't be imported either where it is installed."""
SHARED_LIBRARY = re.compile(r"(\S+): cannot open shared object file")
GAPS = 25
"""How many tests with simulated talks the short command runs again with lost audio."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--short", action="store_true", help="leave out what is marked slow, and modules that need torch")
    parser.addoption("--gaps-seed", default="1", help="selects the faults with which simulated talks are run again")


def pytest_report_header(config: pytest.Config) -> str:
    return f"Simulated talks are run again with lost audio: --gaps-seed={config.getoption('gaps_seed')}"


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("short"):
        for name in filter(find_spec, TORCH):
            sys.modules[name] = None  # type: ignore[assignment]
        settings.load_profile("short")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker("alone") and item.nodeid.startswith("tests/") and "tests/live/" not in item.nodeid:
            raise pytest.UsageError(f"{item.nodeid} follows the clock: its place is tests/live, or it is never run")
    if config.getoption("short"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    items[:] = _with_gaps(items, config.getoption("gaps_seed"), GAPS if config.getoption("short") else len(items))
    if (workers := getattr(config, "workerinput", {}).get("workercount", 1)) > 1:
        items[:] = _live_ones_first(items, workers)


def _with_gaps(items: list[pytest.Item], seed: str, most: int) -> list[pytest.Item]:
    """Adds tests with lost audio after those that simulate talks, or after `most` of them by the seed."""
    plain = [item for item in items if isinstance(item, pytest.Function) and not iscoroutinefunction(item.function)]
    plain = [item for item in plain if item.get_closest_marker("without_gaps") is None]
    talks = [item for item in plain if _simulates(item.function, set())]
    talks.sort(key=lambda item: hashlib.sha1(f"{seed} {item.nodeid}".encode()).digest())
    chosen = set(talks[:most])
    return [one for item in items for one in ((item, WithGaps.of(item)) if item in chosen else (item,))]


def _simulates(function: Any, seen: set[str]) -> bool:
    """Whether a test's function calls `simulate`, itself or by other functions of its module."""
    scope, names = getattr(function, "__globals__", {}), list[str]()
    codes = [function.__code__] if hasattr(function, "__code__") else []
    while codes:
        code = codes.pop()
        names += code.co_names
        codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    for name in set(names) - seen:
        seen.add(name)
        value = scope.get(name)
        if getattr(value, "__module__", "").startswith("tests.") and (
            getattr(value, "__name__", "") == "simulate" or _simulates(value, seen)
        ):
            return True
    return False


class WithGaps(pytest.Function):
    """Runs a test's body plainly, with silence in the place of lost audio, and with lost audio, and compares the talks.
    What the test asserts doesn't matter here: it may not hold if words are lost."""

    @classmethod
    def of(cls, item: pytest.Function) -> "WithGaps":
        twin = cls.from_parent(
            item.parent,
            name=item.name + "[gaps]",
            callspec=getattr(item, "callspec", None),
            callobj=item.obj,
            fixtureinfo=item._fixtureinfo,
            originalname=item.originalname,
        )
        twin.own_markers = list(item.own_markers)
        return twin

    def runtest(self) -> None:
        from tests.support.gaps import Rehearsal, compare

        seed = f"{self.config.getoption('gaps_seed')} {self.nodeid}"
        logged: Any = self.funcargs["faults"]
        silence = self._run(Rehearsal(seed, "silence"))
        if any(silence.actions):  # faults in their moments are left out
            silence = self._run(Rehearsal(seed, "silence", silence.actions))
        faulty = self._run(Rehearsal(seed, "faults", silence.calm))
        logged.found.clear()  # they are compared
        if silence.asks_aloud:
            pytest.skip("a question that is asked aloud comes from the app, and is not lost in a gap")
        if not silence.talks:
            pytest.skip("no talk came about")
        if not compare(silence, faulty):
            pytest.skip("nothing happens that could be compared")

    def _run(self, run: Any) -> Any:
        arguments: dict[str, Any] = {name: self.funcargs[name] for name in self._fixtureinfo.argnames}
        if "tmp_path" in arguments:
            arguments["tmp_path"] = arguments["tmp_path"] / f"{run.kind}-{len(run.calm)}"
            arguments["tmp_path"].mkdir()
        with run.running(), contextlib.suppress(Exception):
            self.obj(**arguments)
        return run


def _live_ones_first(items: list[pytest.Item], workers: int) -> list[pytest.Item]:
    """Returns the tests in an order in which each of several workers begins with live tests, which take seconds each.
    xdist's `worksteal` gives each worker an equal stretch of the tests, and lets those who are done take from the
    others: at the end only short tests should be left. A file's live tests stay together."""
    live = [item for item in items if "tests/live/" in item.nodeid]
    others = iter([item for item in items if "tests/live/" not in item.nodeid])
    shares: list[list[pytest.Item]] = [[] for _ in range(workers)]
    for _, tests in itertools.groupby(live, lambda item: item.path):
        min(shares, key=len).extend(tests)
    stretch = len(items) // workers
    ordered = [item for share in shares for item in (*share, *itertools.islice(others, max(0, stretch - len(share))))]
    return [*ordered, *others]


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    """Skips a module that can't be imported, with `--short` for want of torch, or for want of a system's library."""
    report = yield
    call = getattr(report, "call", None)  # --last-failed makes reports without one for the files that it skips
    error = call and call.excinfo and call.excinfo.value.__cause__
    reason = _lacking_library(error)
    needed = (error.name or "").partition(".")[0] if isinstance(error, ImportError) else ""
    if collector.config.getoption("short") and needed in TORCH:
        reason = f"needs {needed}: runs with --all"
    if reason:
        report.outcome, report.longrepr = "skipped", (str(collector.path), 1, reason)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """Skips a test that imports something for which a system's library is missing."""
    report = yield
    if reason := _lacking_library(call.excinfo and call.excinfo.value):
        report.outcome, report.longrepr = "skipped", (str(item.path), 1, reason)
    return report


def _lacking_library(error: BaseException | None) -> str:
    """Returns why a test is left out if this error says that a system's library can't be found; else nothing."""
    library = SHARED_LIBRARY.search(str(error)) if isinstance(error, ImportError) else None
    return LEFT_OUT + library[1] if library else ""


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Says what this machine lacks, and how many tests and modules were left out for it."""
    reasons = [report.longrepr[2].removeprefix("Skipped: ") for report in terminalreporter.stats.get("skipped", ())]
    lacking = Counter(reason.removeprefix(LEFT_OUT) for reason in reasons if reason.startswith(LEFT_OUT))
    for part, count in sorted(lacking.items()):
        terminalreporter.write_line(f"Left out for want of {part}: {count}")


def pytest_make_parametrize_id(val: Any) -> str | None:
    """Cuts the names of tests whose parameter is a long text."""
    return ascii(val[:LONGEST_ID])[:LONGEST_ID] if isinstance(val, str | bytes) and len(val) > LONGEST_ID else None


settings.register_profile("suite", deadline=None, derandomize=True)
settings.register_profile("short", deadline=None, derandomize=True, max_examples=20)
settings.register_profile("search", deadline=None)
settings.load_profile("suite")


_default_context = ssl.create_default_context
_context_of = functools.cache(_default_context)


def _context_read_once(*purpose: Any, **options: Any) -> ssl.SSLContext:
    """Returns one context for all clients that trust the same file: to read the authorities takes 50 ms."""
    if purpose or options.keys() not in ({"cafile"}, {"capath"}):
        return _default_context(*purpose, **options)
    return _context_of(**options)


ssl.create_default_context = _context_read_once

if sys.platform != "win32":
    # Models that the user has fetched, and what was measured of them, would make other tests of these.
    os.environ["XDG_DATA_HOME"] = tempfile.mkdtemp(prefix="kame-tests-")
    atexit.register(shutil.rmtree, os.environ["XDG_DATA_HOME"], ignore_errors=True)


class Faults(logging.Handler):
    """Collects faults of the app that it survives, logs and hides from the user's conversation."""

    LOGGERS = (
        "app.conversation.frame",
        "app.session.clock",
        "app.session.frame_loop",
        "app.session.frame_thread",
        "app.session.recorder",
    )

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.found: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record)


@pytest.fixture(autouse=True)
def faults() -> Iterator[Faults]:
    """Fails a test in which a fault was only logged. A test that provokes one clears `found`."""
    handler = Faults()
    for name in Faults.LOGGERS:
        logging.getLogger(name).addHandler(handler)
    yield handler
    for name in Faults.LOGGERS:
        logging.getLogger(name).removeHandler(handler)
    for record in handler.found:
        raise AssertionError(record.getMessage()) from (record.exc_info[1] if record.exc_info else None)
