"""Runs named asyncio tasks in the background and cancels them when the window closes.

A new task cancels an older one of the same name. Errors are logged without their message, which might contain a key.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject
from shiboken6 import isValid

from app.session.control import UserError

CLOSE_SECONDS = 9.0
"""Seconds that a task may take to end. A tool server takes the longest: it is asked to exit, then terminated, then
killed.
"""

_log = logging.getLogger(__name__)


class BackgroundTasks(QObject):
    """`run` begins one; its `done` or `failed` is called on the loop's thread, neither when it was cancelled nor when
    the object that it was begun for is gone.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._closed = False

    def run(
        self,
        context: QObject,
        name: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        done: Callable[[Any], None],
        failed: Callable[[str], None],
    ) -> None:
        """Begins `work` for `context`, whose deletion ends the interest in its result; `failed` gets a sentence."""
        if self._closed:
            return
        self.cancel(name)
        task = asyncio.get_running_loop().create_task(self._run(context, name, work, done, failed), name=name)
        self._tasks[name] = task
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    def busy(self, name: str) -> bool:
        """Whether a task of that name is running."""
        return name in self._tasks and not self._tasks[name].done()

    def cancel(self, name: str) -> None:
        """Cancel a task, if it is running."""
        if task := self._tasks.pop(name, None):
            task.cancel()

    async def close(self) -> None:
        """Ends all for good, and waits for them."""
        self._closed = True
        self._tasks.clear()
        ending = list(self._ending)
        for task in ending:
            task.cancel()
        if ending:
            await asyncio.wait(ending, timeout=CLOSE_SECONDS)

    async def _run(
        self,
        context: QObject,
        name: str,
        work: Callable[[], Coroutine[Any, Any, Any]],
        done: Callable[[Any], None],
        failed: Callable[[str], None],
    ) -> None:
        try:
            result = await work()
        except UserError as error:
            answer: Callable[[], None] = _bound(failed, str(error))
        except Exception as error:
            kind = type(error).__name__
            _log.error("“%s” failed (%s)\n%s", name, kind, "".join(traceback.format_tb(error.__traceback__)))
            sentence = self.tr("This failed because of a bug in KAME ({0}). The log has the details.")
            answer = _bound(failed, sentence.format(kind))
        else:
            answer = _bound(done, result)
        # A newer task of this name may have been started since: then this one's result is stale.
        if self._tasks.get(name) is asyncio.current_task():
            del self._tasks[name]
            if isValid(context):
                answer()


def _bound(action: Callable[[Any], None], value: Any) -> Callable[[], None]:
    return lambda: action(value)


def log_fault(task: asyncio.Task[Any]) -> None:
    """For a task's end, where nobody else looks: notes down what it has failed of."""
    if not task.cancelled() and task.exception() is not None:
        _log.error("“%s” failed", task.get_name(), exc_info=task.exception())
