"""`python -m tests.long_talk --hours 8`: what the app holds through a long talk, in simulated time."""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

MOST_GROWTH = 0.1
"""Of the memory, from a quarter of the talk on."""
SCROLL_GOAL_MS = 33.0


def main() -> int:
    """Runs the talk and prints the table; returns 1 where a goal is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.long_talk", description=__doc__)
    parser.add_argument("--hours", type=float, default=8.0)
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="kame-long-") as home:
        for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
            os.environ[name] = home
        return _measure(Path(home), options.hours)


def _measure(home: Path, hours: float) -> int:
    from PySide6.QtWidgets import QApplication
    from qasync import QEventLoop

    from app.diagnostics.logs import start_logging
    from app.gui.design.theme import apply_theme
    from app.gui.window.daemon_executor import DaemonExecutor
    from tests.long_talk.process import Held
    from tests.long_talk.window import LongWindow

    app = QApplication(["kame-desktop"])
    loop = QEventLoop(app)
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    apply_theme(app, "system")
    QApplication.setQuitOnLastWindowClosed(False)
    began = time.monotonic()

    def tell(held: Held) -> None:
        print(
            f"{held.seconds / 3600:6.2f} {held.turns:7} {held.megabytes:8.1f} {held.threads:8} {held.tasks:6} "
            f"{held.files:6} {held.children:9} {time.monotonic() - began:8.0f}",
            flush=True,
        )

    async def run() -> int:
        window = LongWindow(home)
        found = await window.run(hours * 3600, hours * 3600 / 16, tell)
        scroll = window.scroll()
        await window.close()
        quarter = next(one for one in found if one.seconds >= hours * 900)
        growth = found[-1].megabytes / quarter.megabytes - 1
        more = found[-1].more_than(found[0])
        p99, worst = float(np.percentile(scroll, 99)), max(scroll)
        print(f"memory {100 * growth:+.1f} % from {quarter.seconds / 3600:.1f} h on (goal: below 10 %)")
        print(f"more than after the first minute: {', '.join(more) or 'nothing'} (goal: nothing)")
        print(f"scrolled through {found[-1].turns} turns: a step {p99:.1f} ms (p99), {worst:.1f} ms at worst (goal 33)")
        return int(growth > MOST_GROWTH or bool(more) or p99 > SCROLL_GOAL_MS)

    print("  hour   turns       MB  threads  tasks  files  children  seconds")
    with loop, start_logging(home / "log"):
        return loop.run_until_complete(run())


if __name__ == "__main__":
    sys.exit(main())
