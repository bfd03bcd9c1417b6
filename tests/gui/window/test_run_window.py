"""The whole run in a process of its own, from the first picture to the exit code, with nothing on stderr."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]

PREAMBLE = """
import asyncio, logging, sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.gui.state.choice import WindowChoices
from app.gui.window.app import WindowServices, leave, run_window
from app.settings.declarations import Settings
from tests.gui.fakes import FakeFactory, FakeSession, no_devices

def window():
    return next(w for w in QApplication.topLevelWidgets() if w.objectName() == "KAME")

def after(ms, action):
    QTimer.singleShot(ms, action)

def once(condition, action):
    # Does this as soon as that is so.
    after(20, action if condition() else lambda: once(condition, action))

def talks():
    return window().manager.session is not None

def quick(record):
    # What Python's development mode says of a slow step is said of a busy machine.
    return record.msg != "Executing %s took %.3f seconds"

logging.getLogger("asyncio").addFilter(quick)
app = QApplication([])
settings = Settings.load(Path(sys.argv[1]))

def run(factory, **wants):
    services = WindowServices(list_devices=wants.pop("list_devices", no_devices), choices=WindowChoices())
    code = run_window(factory, settings, services, hidden=wants.pop("hidden", False), argv=[])
    print("exit", code, flush=True)
    sys.exit(code)
"""

POSTAMBLE = """
except SystemExit as end:
    sys.exit(leave(end.code))  # as the app does
"""


def start(script: str, folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-X",
            "dev",
            "-c",
            PREAMBLE + "try:\n" + textwrap.indent(textwrap.dedent(script), "    ") + POSTAMBLE,
            str(folder / "settings.json"),
        ],
        cwd=ROOT,
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


Begin = Callable[[str], "subprocess.Popen[str]"]


@pytest.fixture
def begin(tmp_path: Path) -> Begin:
    return lambda script: start(script, tmp_path)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    try:
        out, err = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        pytest.fail(f"the window hung\n{out}\n{err}")
    return process.returncode, out, err


@pytest.mark.parametrize(
    "ending",
    [
        pytest.param("window().close()", id="closed"),
        pytest.param("app.exit(0)", id="quit by the desktop", marks=pytest.mark.slow),
    ],
)
def test_the_end_stops_the_session_and_leaves_nothing(begin: Begin, ending: str) -> None:
    process = begin(f"""
        factory = FakeFactory()
        after(0, lambda: once(talks, lambda: {ending}))
        try:
            run(factory)
        finally:
            print("stopped", factory.session.stopped)
    """)
    assert finish(process) == (0, "exit 0\nstopped 1\n", "")


@pytest.mark.slow
def test_a_window_that_is_closed_before_it_is_shown_ends(begin: Begin) -> None:
    process = begin("""
        import contextlib
        @contextlib.contextmanager
        def closed_at_once(_):
            window().close()
            yield
        services = WindowServices(list_devices=no_devices, choices=WindowChoices())
        code = run_window(FakeFactory(), settings, services, watch_devices=closed_at_once, argv=[])
        print("exit", code, flush=True)
        sys.exit(code)
    """)
    assert finish(process) == (0, "exit 0\n", "")


def test_closing_while_a_thread_still_loads_does_not_wait_for_it(begin: Begin) -> None:
    process = begin("""
        loading = []
        async def factory(choice, progress):
            loading.append(True)
            await asyncio.to_thread(time.sleep, 60)
        closed = []
        def close():
            closed.append(time.monotonic())
            window().close()
        after(0, lambda: once(lambda: loading, close))
        try:
            run(factory)
        finally:
            print("quick", time.monotonic() - closed[0] < 2)
    """)
    assert finish(process) == (0, "exit 0\nquick True\n", "")


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends a POSIX signal")
@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_an_interrupt_on_the_terminal_closes_the_window(begin: Begin, number: signal.Signals) -> None:
    process = begin("""
        factory = FakeFactory()
        after(0, lambda: once(talks, lambda: print("running", flush=True)))
        run(factory)
    """)
    assert process.stdout.readline() == "running\n"
    process.send_signal(number)
    began = time.monotonic()
    assert finish(process) == (0, "exit 0\n", "")
    assert time.monotonic() - began < 3


def test_an_import_does_not_read_the_module_that_it_imports() -> None:
    """PySide's own `import` does, which fails at times if several threads import."""
    script = """
import inspect, sys
import app.gui
from PySide6.QtWidgets import QApplication
from shibokensupport.signature import get_signature
get_signature(QApplication.exec)
read = []
inspect.getsource = lambda module: read.append(module) or ""
assert "colorsys" not in sys.modules
import colorsys
print([module.__name__ for module in read])
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
