"""Batched writes of pending events, such that a failing event doesn't block the others."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from app.history import schema
from app.history.damage import is_busy, is_damage, is_index_damage
from app.history.open_talk import OpenTalk


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
