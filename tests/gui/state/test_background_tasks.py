"""Work in the background: whom its result reaches, its threads, and the events that reach the window in batches."""

import asyncio
import logging
import threading
import time

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject
from PySide6.QtWidgets import QLabel, QWidget

from app.conversation import events as e
from app.conversation.record.record import Change
from app.gui.state.background_tasks import BackgroundTasks
from app.gui.window.daemon_executor import DaemonExecutor
from app.session.control import UserError
from tests.gui.helpers import running_model, until


@pytest.mark.parametrize("fails", [False, True])
async def test_a_result_is_dropped_once_its_widget_is_deleted(fails: bool, caplog: pytest.LogCaptureFixture) -> None:
    window, gate, shown = QWidget(), asyncio.Event(), []
    background = BackgroundTasks(window)

    async def work() -> str:
        await gate.wait()
        if fails:
            raise UserError("It did not work.")
        return "It worked."

    def ask(label: QLabel, name: str) -> None:
        def show(words: str) -> None:
            label.setText(words)
            shown.append(name)

        background.run(label, name, work, show, show)

    kept, gone = QLabel(window), QLabel(window)
    ask(kept, "kept")
    ask(gone, "gone")
    await asyncio.sleep(0)
    gone.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gate.set()
    await until(lambda: not background.busy("kept") and not background.busy("gone"))
    await background.close()
    assert shown == ["kept"] and kept.text() in ("It worked.", "It did not work.")
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


async def test_a_fault_is_logged_without_its_text_and_told_in_a_sentence(caplog: pytest.LogCaptureFixture) -> None:
    owner, told, secret = QObject(), [], "sk-12345"
    background = BackgroundTasks(owner)

    async def work() -> None:
        raise ValueError(secret)

    background.run(owner, "work", work, lambda _: told.append("done"), told.append)
    await until(lambda: told)
    assert told == ["This failed because of a bug in KAME (ValueError). The log has the details."]
    assert secret not in caplog.text and "“work” failed (ValueError)" in caplog.text


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


async def test_events_come_in_order_in_one_batch_with_the_newest_level_last() -> None:
    model, seen, settled = running_model(), [], []
    model.follow(lambda change: seen.append(change.event), lambda: settled.append(len(seen)))
    first, second = e.UserStarted(1, 1), e.UserPaused(2, 1, 2)
    for event in (e.LevelMeasured(1, -20, -30), first, e.LevelMeasured(2, -25, -35), second):
        model.put(event)
    assert seen == []
    await until(lambda: settled)
    assert seen == [first, second, e.LevelMeasured(2, -25, -35)]
    assert settled == [3]
    assert model.batches == 1


async def test_a_fault_is_reported_and_the_other_events_are_handled(caplog: pytest.LogCaptureFixture) -> None:
    model, seen, faults = running_model(), [], []

    def handle(change: Change) -> None:
        if isinstance(change.event, e.UserPaused):
            raise RuntimeError("boom")

    def settle() -> None:
        raise ValueError("no paint")

    model.follow(handle, settle)
    model.follow(lambda change: seen.append(type(change.event).__name__))
    model.fault.connect(lambda error: faults.append(str(error)))
    with caplog.at_level(logging.ERROR, "app.gui.state.session_model"):
        for event in (e.UserStarted(1, 1), e.UserPaused(2, 1, 2), e.UserResumed(3, 1)):
            model.put(event)
        model.flush()
        model.put(e.UserStarted(4, 2))
        model.flush()
    assert seen == ["UserStarted", "UserPaused", "UserResumed", "UserStarted"], "another listener gets them all"
    assert faults == ["boom", "no paint", "no paint"]
    assert len(caplog.records) == 3


async def test_a_steady_stream_is_shown_thirty_times_a_second_at_most() -> None:
    model, seen = running_model(), []
    model.follow(lambda change: seen.append(change.event))
    loop = asyncio.get_running_loop()
    began = loop.time()
    for number in range(150):
        model.put(e.UserStarted(number, number))
        await asyncio.sleep(0.002)
    await until(lambda: len(seen) == 150)
    # Qt's timers may come a millisecond early.
    assert 2 <= model.batches <= (loop.time() - began) / 0.031 + 1
