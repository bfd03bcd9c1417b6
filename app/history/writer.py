"""The one thread that owns the database of conversations.

Whoever wants something leaves a job for it. Events of talks that go on are gathered and written together, in one
transaction at most every 0.4 s, and at once where a turn is whole; before each job all that waits is written.
"""

from __future__ import annotations

import contextlib
import queue
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.conversation import events as e
from app.history import erasing, schema, shelf
from app.history.database import Opened, backups, is_damage, is_index_damage, open_anew, open_database
from app.history.serialization import METERS
from app.history.writing import OpenTalk
from app.session.errors import UserError

GATHER_SECONDS = 0.4
"""How long an event may wait for others to be written with."""
AGAIN_SECONDS = 2.0
"""After this, writing is tried again where it failed."""
QUICK_BYTES = 24 * 2**20
"""A file of this size is written anew in a moment (0.25 s), even when a talk goes on or the app is closed."""

_SETTLED = (e.TranscriptFinal, e.UserEnded, e.AssistantEnded, e.SessionEnded)
"""Written at once: a turn is whole."""

Result = TypeVar("Result")


class Writer:
    """Opens the file `path` and begins to work. See `store.History` for the rest."""

    def __init__(self, path: Path, recordings: Path | None, tidy: bool, clock: Callable[[], float]) -> None:
        self.path = path
        self._recordings, self._tidy, self._clock = recordings, tidy, clock
        self._jobs: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._file: Opened
        self._talks: list[OpenTalk] = []
        self._due: float | None = None
        self._opening_trouble = self._writing_trouble = self._notice = ""
        self._unforgotten = False
        self._closing = threading.Lock()
        self._closed = self._shut_down = False
        self._thread = threading.Thread(target=self._run, name="history", daemon=True)
        self._thread.start()

    @property
    def trouble(self) -> str:
        """Why nothing is kept, or not just now, in a sentence."""
        return self._writing_trouble or self._opening_trouble

    @property
    def notice(self) -> str:
        """What became of a file that was damaged, in a sentence."""
        return self._notice

    def begin(self, talk: OpenTalk) -> None:
        """A talk begins. Instant, on any thread."""
        self._post(partial(self._begin, talk))

    def put(self, talk: OpenTalk, event: e.Event | None) -> None:
        """Something has happened in a talk; None: it is over. Instant, on any thread."""
        if not isinstance(event, METERS):
            self._post(partial(self._take, talk, event))

    def do(self, work: Callable[[Opened], Result]) -> Future[Result]:
        """Has some work done, once all that was put before is written. Raises UserError."""
        done: Future[Result] = Future()
        if not self._post(partial(self._answer, done, work)):
            raise UserError("The conversations are closed already. Start KAME again.")
        return done

    def close(self) -> Future[None] | None:
        """Has all that waits written and the file closed; None if it is being closed already."""
        done: Future[None] = Future()
        with self._closing:
            if self._closed:
                return None
            self._jobs.put(partial(self._answer, done, lambda file: self._shut()))
            self._closed = True
        return done

    def join(self) -> None:
        """Waits until the thread has ended."""
        self._thread.join()

    def erase(self, *, unused: bool = False, starting: bool = False) -> list[Path]:
        """A job: erases what was removed, and with `unused` what has no words. Returns folders that could not be."""
        database = self._file.connection
        erased = erasing.erase(database, self._file.indexed, unused)
        for talk in self._talks:
            if talk.key in erased:
                talk.forget()
        if erased:
            for copy in backups(self.path):
                with contextlib.suppress(OSError):
                    copy.unlink(missing_ok=True)
        self._forget(starting)
        return erasing.erase_sound(database, self._recordings)

    def _post(self, job: Callable[[], None]) -> bool:
        with self._closing:
            if not self._closed:
                self._jobs.put(job)
            return not self._closed

    def _run(self) -> None:
        self._take_over(open_database(self.path))
        if self._tidy:
            self._tidy_up()
        while not self._shut_down:
            try:
                job = self._jobs.get(timeout=None if self._due is None else max(0.0, self._due - time.monotonic()))
            except queue.Empty:
                job = self._flush
            try:
                job()
                if self._due is not None and self._due <= time.monotonic():
                    self._flush()
            except Exception as error:  # whatever it is, others wait for this thread
                self._writing_trouble = f"Something that was said could not be kept ({error}). The talk goes on."
                self._due = time.monotonic() + AGAIN_SECONDS

    def _take_over(self, file: Opened) -> None:
        self._file, self._opening_trouble = file, file.trouble
        self._notice = file.notice or self._notice

    def _tidy_up(self) -> None:
        try:
            shelf.pack(self._file.connection)  # talks that were cut off
            self.erase(unused=True, starting=True)
        except (UserError, OSError):
            pass  # told to whoever wants to read it, and tried again
        except sqlite3.Error as error:
            self._fail(error)

    def _begin(self, talk: OpenTalk) -> None:
        self._talks.append(talk)
        try:
            shelf.hold_so(self._file.connection, talk.key, talk.setup, talk.began)
        except sqlite3.Error as error:
            self._fail(error)

    def _take(self, talk: OpenTalk, event: e.Event | None) -> None:
        if event is None:
            self._flush()
            talk.over = True
            if not talk.waits and talk in self._talks:
                self._talks.remove(talk)
                self._tidy_after(talk)
            return
        talk.take(event)
        if self._due is None:
            self._due = time.monotonic() + GATHER_SECONDS
        if isinstance(event, _SETTLED) and not self._writing_trouble:
            self._flush()

    def _tidy_after(self, talk: OpenTalk) -> None:
        # Whatever goes wrong is tried again at the next start.
        with contextlib.suppress(sqlite3.Error, UserError):
            if talk.row is not None and not talk.forgotten:
                shelf.pack(self._file.connection, talk.row)
            if not self._closed and erasing.is_to_be_swept(self._file.connection):
                self._forget()

    def _answer(self, done: Future[Result], work: Callable[[Opened], Result]) -> None:
        if not done.set_running_or_notify_cancel():
            return
        try:
            self._flush()
            done.set_result(work(self._file))
        except UserError as error:
            done.set_exception(error)
        except sqlite3.Error as error:
            if is_damage(error) or is_index_damage(error):
                self._fail(error)
            done.set_exception(
                UserError(f"The conversations in {self.path} can't be read or written ({error}). Try again.")
            )
        except BaseException as error:
            done.set_exception(error)

    def _flush(self) -> None:
        """Writes what waits; when it can't be done now, it waits on."""
        self._due = None
        waiting = [talk for talk in self._talks if talk.waits]
        try:
            if waiting:
                try:
                    self._write(waiting)
                except sqlite3.IntegrityError:  # someone else has erased a conversation that goes on here
                    for talk in waiting:
                        talk.begin_anew()
                    self._write(waiting)
                self._writing_trouble = ""
            if self._unforgotten:
                self._forget()
        except sqlite3.Error as error:
            self._fail(error)
        self._talks = [talk for talk in self._talks if talk.waits or not talk.over]

    def _write(self, waiting: list[OpenTalk]) -> None:
        now = self._clock()
        try:
            with schema.transaction(self._file.connection):
                for talk in waiting:
                    talk.write(self._file.connection, now)
        except BaseException:
            for talk in waiting:
                talk.undo()
            raise
        for talk in waiting:
            talk.settle()

    def _fail(self, error: sqlite3.Error) -> None:
        if is_index_damage(error):
            with contextlib.suppress(sqlite3.Error):
                schema.remake_index(self._file.connection)
            self._due = time.monotonic() + AGAIN_SECONDS
            return
        if is_damage(error):
            self._file.connection.close()
            self._take_over(open_anew(self.path))
            for talk in self._talks:
                talk.begin_anew()
            self._due = time.monotonic()
            return
        self._writing_trouble = (
            f"Conversations can't be kept in {self.path} just now ({error}). The talk goes on; make room there, and "
            "what was said is written as soon as it can be."
        )
        self._due = time.monotonic() + AGAIN_SECONDS

    def _forget(self, starting: bool = False) -> None:
        """Leaves nothing of what was erased in the log, nor in the file; a large one waits until no talk goes on, and
        at a start until the list has been shown.
        """
        database = self._file.connection
        self._unforgotten = not erasing.forget_log(database)
        if not self._unforgotten and erasing.is_to_be_swept(database):
            pages, size = (database.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
            if pages * size <= QUICK_BYTES or not (self._talks or self._shut_down or starting):
                self._unforgotten = not erasing.sweep(database)
            elif starting:
                self._unforgotten = True
        if self._unforgotten and self._due is None:
            self._due = time.monotonic() + AGAIN_SECONDS

    def _shut(self) -> None:
        self._shut_down = True
        with contextlib.suppress(sqlite3.Error):  # what could not be erased now is erased at the next start
            if self._tidy:
                self.erase(unused=True)
        self._file.connection.close()
