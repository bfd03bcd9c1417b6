"""Daemon threads: they do the work, are used again, and hold nothing up."""

from __future__ import annotations

import threading
import time

import pytest

from app.gui.window.daemon_executor import DaemonExecutor


def test_results_and_errors_come_back_from_a_daemon_thread() -> None:
    executor = DaemonExecutor()
    thread = executor.submit(threading.current_thread).result(5)
    assert thread.daemon and thread is not threading.current_thread()
    with pytest.raises(ZeroDivisionError):
        executor.submit(lambda: 1 / 0).result(5)
    executor.shutdown()


def test_an_idle_thread_is_used_again_and_the_limit_holds() -> None:
    executor = DaemonExecutor(limit=2)
    seen = set()
    for _ in range(5):
        seen.add(executor.submit(threading.get_ident).result(5))
        time.sleep(0.01)
    assert len(seen) == 1
    gate = threading.Event()
    jobs = [executor.submit(lambda: gate.wait(5) and threading.get_ident()) for _ in range(6)]
    gate.set()
    assert len({job.result(5) for job in jobs}) <= 2
    executor.shutdown()


def test_shutdown_does_not_wait_and_drops_waiting_jobs() -> None:
    executor = DaemonExecutor(limit=1)
    gate, begun = threading.Event(), threading.Event()
    running = executor.submit(lambda: begun.set() or gate.wait(5))
    assert begun.wait(5)
    waiting = executor.submit(lambda: None)
    executor.shutdown(wait=True)
    assert not running.done() and waiting.cancelled()
    gate.set()
    assert running.result(5) is True
    with pytest.raises(RuntimeError):
        executor.submit(print)
