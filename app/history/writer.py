"""The thread that owns the conversation database.

All database work goes through its job queue. Events of open talks are batched: they are written in one transaction
after at most 0.4 s, or immediately when a turn is complete. Pending events are always written before a job runs.
"""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, InvalidStateError
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from app.conversation import events as e
from app.history import erasing, queries, schema
from app.history.damage import is_busy, is_damage, is_index_damage
from app.history.database import OpenDatabase, open_database, replace_damaged
from app.history.open_talk import OpenTalk
from app.history.serialization import METERS
from app.session.control import UserError


def write_pending(database: sqlite3.Connection, talks: Sequence[OpenTalk], now: float) -> None:
    """Writes all pending events in one transaction; if that fails, retries in ever smaller batches.

    Raises the first error once everything else has been written. Events that failed stay pending.
    """
    try:
        return _write(database, talks, now)
    except Exception as error:
        if is_busy(error) or is_damage(error) or is_index_damage(error):
            raise
    failed: Exception | None = None
    for talk in talks:
        count, restarted = talk.pending, False
        while talk.pending:
            try:
                _write(database, [talk], now, count)
                count *= 2
            except Exception as error:
                if isinstance(error, sqlite3.IntegrityError) and not restarted:
                    talk.restart()  # another process has erased the conversation of an open talk
                    restarted = True
                elif count > 1:
                    count = max(1, min(count, talk.pending) // 2)
                else:
                    failed = failed or error
                    break
    if failed is not None:
        raise failed


def _write(database: sqlite3.Connection, talks: Sequence[OpenTalk], now: float, count: int | None = None) -> None:
    """Writes the first `count` pending events of each talk (all if None) in one transaction."""
    try:
        with schema.transaction(database):
            for talk in talks:
                talk.write(database, now, count)
    except BaseException:
        for talk in talks:
            talk.rollback()
        raise
    for talk in talks:
        talk.commit(count)


GATHER_SECONDS = 0.4
"""The maximum time for which events are buffered so that they can be written together."""
CLOSE_SECONDS = 2.5
"""How long `close` waits for the thread, which may be blocked by an unresponsive disk."""
AGAIN_SECONDS = 2.0
"""How long to wait after a failure before retrying."""
QUICK_BYTES = 24 * 2**20
"""The maximum size of a file that is rewritten during a session or on shutdown, which takes about 0.25 s."""

_COMPLETE = (e.TranscriptFinal, e.UserEnded, e.AssistantEnded, e.SessionEnded)
"""Events that complete a turn and trigger an immediate write."""

_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""The exceptions that `sqlite3` raises for SQLite errors. It raises UnicodeDecodeError if the error message quotes text
that isn't valid UTF-8."""

Result = TypeVar("Result")


class Writer:
    """The thread that owns the database file `path`; runs until `close`. For the parameters, see `HistoryStore`."""

    def __init__(self, path: Path, recordings: Path | None, tidy: bool, clock: Callable[[], float]) -> None:
        self.path = path
        self._recordings, self._tidy, self._clock = recordings, tidy, clock
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._file: OpenDatabase
        self._unanswered: set[Future[Any]] = set()
        self._talks: list[OpenTalk] = []
        self._due: float | None = None
        self._opening_trouble = self._writing_trouble = self._lost_trouble = ""
        self.notice = ""
        """A user-facing message about an existing file that couldn't be used, or empty."""
        self._sweep_pending = False
        self._index_made = -AGAIN_SECONDS
        self._closing = threading.Lock()
        self._closed = self._shut_down = False
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> str:
        """A user-facing message saying why events can't be stored, permanently or temporarily; empty if they can."""
        return self._writing_trouble or self._opening_trouble or self._lost_trouble

    def start_talk(self, talk: OpenTalk) -> None:
        """Registers a new talk. Thread-safe and non-blocking."""
        self._post(partial(self._start_talk, talk))

    def put(self, talk: OpenTalk, event: e.Event | None) -> None:
        """Adds an event to a talk, or ends the talk if `event` is None. Thread-safe and non-blocking."""
        if not isinstance(event, METERS):
            self._post(partial(self._add, talk, event))

    def do(self, work: Callable[[OpenDatabase], Result]) -> Future[Result]:
        """Queues a job, to be run once all earlier events have been written. Raises UserError if the writer is closed.

        The future raises UserError if the job fails.
        """
        done: Future[Result] = Future()
        self._expect(done)
        if not self._post(partial(self._run_job, done, work)):
            raise UserError("The conversations are closed already. Start KAME again.")
        return done

    def close(self) -> Future[None] | None:
        """Writes all pending events and closes the file; returns None if it is already closing or closed.

        The future raises UserError if closing takes longer than `CLOSE_SECONDS`.
        """
        done: Future[None] = Future()
        with self._closing:
            if self._closed:
                return None
            self._expect(done)
            self._jobs.put(partial(self._run_job, done, lambda file: self._shut()))
            self._closed = True
        deadline = threading.Timer(CLOSE_SECONDS, self._give_up)
        deadline.daemon = True
        deadline.start()
        done.add_done_callback(lambda _: deadline.cancel())
        return done

    def join(self) -> None:
        """Waits for the thread to end, after the future from `close` has completed."""
        self._thread.join(CLOSE_SECONDS)

    def _give_up(self) -> None:
        """Fails all outstanding jobs. Called on a timer thread, since the writer's own thread is blocked."""
        self._writing_trouble = (
            f"The conversations in {self.path} could not be closed: the disk doesn't answer, or something there takes "
            "too long. What was said last may not be kept. Check that disk, and start KAME again."
        )
        for job in tuple(self._unanswered):
            _answer(job, UserError(self._writing_trouble))

    def _expect(self, done: Future[Any]) -> None:
        self._unanswered.add(done)
        done.add_done_callback(self._unanswered.discard)

    def erase(self, *, unused: bool = False, starting: bool = False) -> list[Path]:
        """Erases removed conversations and, if `unused`, those without turns. Must be called from within a job.

        Returns the recording folders that could not be deleted.
        """
        database = self._file.connection
        erased = erasing.erase(database, self._file.indexed, unused)
        for talk in self._talks:
            if talk.key in erased:
                talk.erase()
        self._sweep(starting)
        return erasing.erase_sound(database, self._recordings)

    def _post(self, job: Callable[[], None]) -> bool:
        with self._closing:
            if not self._closed:
                self._jobs.put(job)
            return not self._closed

    def _run(self) -> None:
        self._use(open_database(self.path))
        if self._tidy:
            self._attempt(self._tidy_up)
        while not self._shut_down:
            try:
                job = self._jobs.get(timeout=None if self._due is None else max(0.0, self._due - time.monotonic()))
            except queue.Empty:
                job = self._flush
            self._attempt(job)
            if self._due is not None and self._due <= time.monotonic() and not self._shut_down:
                self._attempt(self._flush)

    def _attempt(self, work: Callable[[], None]) -> None:
        """Runs `work`, catching any exception, since other threads depend on this one."""
        try:
            work()
        except Exception as error:
            self._writing_trouble = f"Something that was said could not be kept ({error}). The conversation continues."
            self._due = time.monotonic() + AGAIN_SECONDS

    def _use(self, file: OpenDatabase) -> None:
        self._file, self._opening_trouble = file, file.trouble
        self.notice = file.notice or self.notice

    def _tidy_up(self) -> None:
        try:
            queries.pack(self._file.connection)  # talks that ended abnormally
            self.erase(unused=True, starting=True)
        except (UserError, OSError):
            pass  # retried, and reported, the next time the file is read
        except _ERRORS as error:
            self._on_error(error)

    def _start_talk(self, talk: OpenTalk) -> None:
        self._talks.append(talk)
        try:
            queries.store_setup(self._file.connection, talk.key, talk.setup, talk.began)
        except _ERRORS as error:
            self._on_error(error)

    def _add(self, talk: OpenTalk, event: e.Event | None) -> None:
        if event is None:
            self._flush()
            talk.over = True
            if not talk.pending and talk in self._talks:
                self._talks.remove(talk)
                self._finish(talk)
            return
        talk.add(event)
        if self._due is None:
            self._due = time.monotonic() + GATHER_SECONDS
        if isinstance(event, _COMPLETE) and not self._writing_trouble:
            self._flush()

    def _finish(self, talk: OpenTalk) -> None:
        # A failure is harmless: the next start does all of this again.
        with contextlib.suppress(sqlite3.Error, UserError):
            if talk.row is not None and not talk.erased:
                queries.pack(self._file.connection, talk.row)
            if not self._closed and erasing.needs_sweep(self._file.connection):
                self._sweep()

    def _run_job(self, done: Future[Result], work: Callable[[OpenDatabase], Result]) -> None:
        if done.done() or not done.set_running_or_notify_cancel():
            return
        try:
            self._attempt(self._flush)
            try:
                result = work(self._file)
            except _ERRORS as error:
                if not self._mend(error):
                    raise
                result = work(self._file)
        except UserError as error:
            _answer(done, error)
        except Exception as error:
            _answer(done, UserError(f"The conversations in {self.path} can't be read or written ({error}). Try again."))
        else:
            with contextlib.suppress(InvalidStateError):
                done.set_result(result)

    def _flush(self) -> None:
        """Writes all pending events, retrying once if the database could be repaired. On failure, they stay pending."""
        self._due = None
        try:
            try:
                self._write_and_sweep()
            except _ERRORS as error:
                if not self._mend(error):
                    raise
                self._due = None
                self._write_and_sweep()
        except _ERRORS as error:
            self._report(error)
        self._talks = [talk for talk in self._talks if talk.pending or not talk.over]

    def _write_and_sweep(self) -> None:
        pending = [talk for talk in self._talks if talk.pending]
        try:
            if pending:
                write_pending(self._file.connection, pending, self._clock())
                self._writing_trouble = ""
        finally:
            if any(talk.lost for talk in pending):
                self._lost_trouble = (
                    "Something that was said or answered is too large to be kept, and will be missing in the "
                    "conversation later. All else is kept."
                )
        if self._sweep_pending:
            self._sweep()

    def _mend(self, error: Exception) -> bool:
        """Repairs the damage that caused `error`, if any; returns whether to retry the failed operation."""
        if self._file.trouble:
            return False  # the database is in memory, and the file must not be touched
        if is_index_damage(error) and time.monotonic() - self._index_made >= AGAIN_SECONDS:
            try:
                schema.remake_index(self._file.connection)
            except sqlite3.Error as found:
                if not is_index_damage(found) and not is_damage(found, self._file.connection):
                    return False
                self._replace()
            else:
                self._index_made = time.monotonic()
        elif is_index_damage(error) or is_damage(error, self._file.connection):
            self._replace()
        else:
            return False
        self._due = time.monotonic()
        return True

    def _replace(self) -> None:
        """Replaces the damaged file with a new one containing its recoverable content."""
        self._file.connection.close()
        self._use(replace_damaged(self.path))
        for talk in self._talks:
            talk.restart_after_rescue(talk.row in self._file.rescued)

    def _on_error(self, error: Exception) -> None:
        if not self._mend(error):
            self._report(error)

    def _report(self, error: Exception) -> None:
        self._writing_trouble = (
            f"Conversations can't be kept in {self.path} just now ({error}). The conversation continues; make room "
            "there, and what was said is written as soon as it can be."
        )
        self._due = time.monotonic() + AGAIN_SECONDS

    def _sweep(self, starting: bool = False) -> None:
        """Removes traces of erased conversations from the write-ahead log and from the file's free pages.

        A large file is swept only while no talk is open. On start, this is deferred so that the conversation list
        loads first.
        """
        database = self._file.connection
        self._sweep_pending = not erasing.empty_log(database)
        if not self._sweep_pending and erasing.needs_sweep(database):
            pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
            if pages * size <= QUICK_BYTES or not (self._talks or self._shut_down or starting):
                self._sweep_pending = not erasing.sweep(database)
            elif starting:
                self._sweep_pending = True
        if self._sweep_pending and self._due is None:
            self._due = time.monotonic() + AGAIN_SECONDS

    def _shut(self) -> None:
        self._shut_down = True
        try:
            if self._tidy:
                self.erase(unused=True)
        except (sqlite3.Error, OSError, UserError):
            pass  # the next start retries
        finally:
            self._file.connection.close()


def _answer(done: Future[Any], error: Exception) -> None:
    with contextlib.suppress(InvalidStateError):  # the caller already has a result, or has cancelled
        done.set_exception(error)
