"""An executor of daemon threads, so that no running job keeps the app from closing.

At its end, the event loop waits for the threads of an ordinary executor: a model that takes half a minute to load would
keep the process of a closed window alive for as long.
"""

from __future__ import annotations

import queue
import threading
import weakref
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

_Job = tuple["Future[Any]", Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class DaemonExecutor(Executor):
    """Starts threads when they are needed, at most `limit`, keeps them for later jobs, and waits for none.

    Threads are kept because native libraries set up a worker pool for each thread that calls them.
    """

    _all: weakref.WeakSet[DaemonExecutor] = weakref.WeakSet()

    def __init__(self, limit: int = 8) -> None:
        self._limit = limit
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._lock = threading.Lock()
        self._threads = 0
        self._working = 0
        self._closed = False
        self._all.add(self)

    @classmethod
    def any_busy(cls) -> bool:
        """Whether any executor is running a job now, even one that is shut down."""
        return any(executor._working for executor in cls._all)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Queues a job."""
        future: Future[Any] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("the executor is shut down")
            self._jobs.put((future, fn, args, kwargs))
            if self._threads < self._limit and not self._idle.acquire(blocking=False):
                self._threads += 1
                name = f"background {self._threads}"
                threading.Thread(target=self._work, name=name, daemon=True).start()
        return future

    def shutdown(self, wait: bool = False, *, cancel_futures: bool = True) -> None:
        """Refuses further jobs and cancels those that have not started. Never waits, even with `wait`."""
        with self._lock:
            self._closed = True
            while True:
                try:
                    job = self._jobs.get_nowait()
                except queue.Empty:
                    break
                if job is not None:
                    job[0].cancel()
            for _ in range(self._threads):
                self._jobs.put(None)

    def _work(self) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                self._idle.release()
                job = self._jobs.get()
            if job is None:
                return
            future, fn, args, kwargs = job
            if future.set_running_or_notify_cancel():
                with self._lock:
                    self._working += 1
                try:
                    result = fn(*args, **kwargs)
                except BaseException as error:  # passed on to the awaiting code
                    future.set_exception(error)
                else:
                    future.set_result(result)
                    del result
                finally:
                    with self._lock:
                        self._working -= 1
            del job, future, fn, args, kwargs
