"""A session runs on any asyncio loop in any thread: nothing in it looks for the loop of Qt or the main thread."""

import asyncio
import os
import threading
from typing import Any

import pytest

from app.conversation import events as e
from app.session.control import SessionChoice
from app.session.parts import SessionConfig
from app.session.session import Session
from tests.support.scripted import ScriptedTurn
from tests.support.talks import QuietSource, scripted_parts

ANSWER = "The capital of France is Paris."


async def talk() -> tuple[list[e.Event], set[str]]:
    """Returns the events of a conversation with one question, and the threads on which listeners were called."""
    script = [ScriptedTurn(1.0, 3.0, "What is the capital of France?")]
    parts = scripted_parts(script, QuietSource(100), ANSWER)
    events: list[e.Event] = []
    threads: set[str] = set()
    async with Session(parts, SessionConfig(SessionChoice(openings=False, duplex=True), pace="fast")) as session:
        session.add_listener(events.append)
        session.add_listener(lambda _: threads.add(threading.current_thread().name))
        await asyncio.wait_for(session.ended(), 60)
    return events, threads


_apps: list[Any] = []


def test_a_session_runs_on_a_plain_loop_in_another_thread_than_qt() -> None:
    core, widgets = pytest.importorskip("PySide6.QtCore"), pytest.importorskip("PySide6.QtWidgets")
    # Of the class that the window's tests need, which may follow in this process, and for as long as it runs.
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    _apps.append(widgets.QApplication.instance() or widgets.QApplication([]))
    assert _apps[0].thread() is core.QThread.currentThread()
    done: list[tuple[list[e.Event], set[str]]] = []
    thread = threading.Thread(target=lambda: done.append(asyncio.run(talk())), name="session")
    thread.start()
    thread.join()
    [(events, threads)] = done
    [asked] = [event.text for event in events if isinstance(event, e.TranscriptFinal)]
    assert asked == "What is the capital of France?"
    assert " ".join(event.text for event in events if isinstance(event, e.AssistantSaid)) == ANSWER
    assert threads == {"session"}
