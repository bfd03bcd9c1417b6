"""Runs the unit and session tests of the short command with the Windows Python, and counts them by folder."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

from tests.windows.conftest import TABLE
from tests.windows.installation import PLACE, Installation
from tests.windows.left_out import LEFT_OUT
from tests.windows.wine import Finished, TookTooLong

FOLDERS = ("tests/unit", "tests/session")
WORKERS = 3
SECONDS = 600.0
"""Two to three times the duration of a run on two cores."""
HUNG_SECONDS = 120
"""After this time, a test's stacks are printed; a little later it is ended."""
MOST_LATE = 3
"""Up to this many failures may be due to a busy machine, on which Wine takes seconds to start a process."""


def test_the_projects_own_tests_pass_on_windows(windows: Installation) -> None:
    """Runs what the short command runs of `FOLDERS`, except `LEFT_OUT`; lists skips with their reasons."""
    ignored = [f"--{'deselect' if '::' in name else 'ignore'}={name}" for name in LEFT_OUT]
    command = ("--short", *ignored, "-n", str(WORKERS), "--dist", "worksteal", "--junitxml=results.xml", *FOLDERS)
    try:
        done = _pytest(windows, command)
    except TookTooLong as over:
        # Seen once in eleven runs. A test that always hangs hangs at the second try too.
        TABLE.append(f"The first try did not end. {over}")
        windows.wine.end()
        done = _pytest(windows, command)
    results = windows.project / "results.xml"
    assert results.exists(), done.printed[-4000:]
    failed = _add_to_table(results)
    if 0 < len(failed) <= MOST_LATE:
        TABLE.extend(f"failed at first, and tried once more by itself: {name}" for name in failed)
        done = _pytest(windows, ("--last-failed", "--last-failed-no-failures", "none", "--short", *ignored, *FOLDERS))
    assert done.code == 0, "\n".join([*failed, done.printed[-6000:]])


def _pytest(windows: Installation, arguments: tuple[str, ...]) -> Finished:
    """Runs the Windows Python's pytest; raises `TookTooLong`."""
    done = windows.wine.run(
        windows.python,
        *("-P", "-m", "pytest", "-o", "cache_dir=results", "-o", "junit_family=xunit1"),
        *("-o", f"faulthandler_timeout={HUNG_SECONDS}", "--timeout", str(HUNG_SECONDS + 30)),
        *arguments,
        seconds=SECONDS,
        cwd=windows.project,
    )
    (PLACE / "suite.log").write_text(done.printed, "utf-8")
    return done


def _add_to_table(results: Path) -> list[str]:
    """Adds the run to the table; returns the names of the failed tests."""
    ran, skipped, reasons, failed = Counter(), Counter(), Counter(), []
    for case in ElementTree.parse(results).iter("testcase"):
        folder = "/".join(case.get("file", "").replace("\\", "/").split("/")[:3])
        skip = case.find("skipped")
        if skip is not None:
            skipped[folder] += 1
            reasons[skip.get("message", "")] += 1
            continue
        ran[folder] += 1
        if case.find("failure") is not None or case.find("error") is not None:
            failed.append(f"{case.get('file')}: {case.get('name')}"[:200])
    TABLE.append(f"{'On Windows':<36}{'run':>6}{'skipped':>9}")
    TABLE.extend(f"{folder:<36}{ran[folder]:>6}{skipped[folder]:>9}" for folder in sorted(ran | skipped))
    TABLE.append(f"{'all':<36}{ran.total():>6}{skipped.total():>9}; failed: {len(failed)}")
    TABLE.extend(f"skipped {count:>3}: {reason}" for reason, count in reasons.most_common())
    TABLE.extend(f"left out: {name}: {reason}" for name, reason in LEFT_OUT.items())
    return failed
