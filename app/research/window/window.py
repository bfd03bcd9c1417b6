"""Measures the window: a dense conversation at full speed and in real time, and a long transcript.

`python -m app.research.window.window REPORT MINUTES LIVE_SECONDS TURNS` writes the results as JSON to the file REPORT.
`bench window` runs it in a child process.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication
from qasync import QEventLoop

from app.gui.design.theme import apply_theme
from app.gui.window.daemon_executor import DaemonExecutor
from app.research.window.measurements import Bench


async def measure(folder: Path, minutes: float, live_seconds: float, turns: int) -> dict[str, Any]:
    """Runs all three measurements."""
    bench = Bench(folder)
    await bench.start()
    live = await bench.in_real_time(live_seconds)
    bench.window.starter.start_fresh()
    while bench.window.manager.phase != "running":
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    full = await bench.at_full_speed(minutes * 60)
    long = await bench.long_transcript(turns)
    bench.window.close()
    await bench.window.finish()
    return {"platform": QApplication.platformName(), "full_speed": full, "live": live, "transcript": long}


def main(arguments: Sequence[str]) -> int:
    """Measures and writes the report."""
    report, minutes, live_seconds, turns = arguments
    app = QApplication(["kame-desktop"])
    loop = QEventLoop(app)
    loop.set_default_executor(DaemonExecutor())
    asyncio.set_event_loop(loop)
    apply_theme(app, "system")
    QApplication.setQuitOnLastWindowClosed(False)
    with loop, tempfile.TemporaryDirectory(prefix="kame-") as folder:
        results = loop.run_until_complete(measure(Path(folder), float(minutes), float(live_seconds), int(turns)))
    Path(report).write_text(json.dumps(results), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
