"""Writes the pending events of open talks, so that what can't be written holds up nothing else."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from app.history import schema
from app.history.damage import is_busy, is_damage, is_index_damage
from app.history.open_talk import OpenTalk


def write_pending(database: sqlite3.Connection, talks: Sequence[OpenTalk], now: float) -> None:
    """Writes all pending events in one transaction, or else what can be: talk by talk, event by event.

    An event that can never be written is given up; others stay pending. Raises the first error.
    """
    try:
        return _write(database, talks, now)
    except sqlite3.IntegrityError:  # another process has erased a conversation that goes on here
        for talk in talks:
            talk.restart()
    except Exception as error:
        if is_busy(error) or is_damage(error) or is_index_damage(error):
            raise
    failed: Exception | None = None
    for talk in talks:
        count = talk.pending
        while talk.pending:
            try:
                _write(database, [talk], now, count)
                count *= 2
            except Exception as error:
                if count > 1:
                    count = max(1, min(count, talk.pending) // 2)
                elif _may_pass(error):
                    failed = failed or error
                    break
                else:
                    talk.drop_first()
    if failed is not None:
        raise failed


def _write(database: sqlite3.Connection, talks: Sequence[OpenTalk], now: float, count: int | None = None) -> None:
    """Writes the first `count` pending events of talks, or all, in one transaction."""
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


def _may_pass(error: Exception) -> bool:
    """Returns whether what failed may work later: with room, without another process, or in a mended file."""
    return isinstance(error, sqlite3.OperationalError | MemoryError) or is_damage(error) or is_index_damage(error)
