"""Keeps the results of a run as they come: one line of JSON each, so that a run goes on where it was stopped."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from app.session.errors import UserError
from app.untrusted.json_text import read_json
from app.untrusted.limits import CORPUS_LINE

_T = TypeVar("_T")


class Lines(Generic[_T]):
    """A file of records, to which records are added. `read` makes a record of a JSON value, `write` the reverse.

    A last line that was cut off when the process was killed is removed.
    """

    def __init__(self, path: Path, read: Callable[[Any], _T], write: Callable[[_T], Any]) -> None:
        self._path = path
        self._read = read
        self._write = write
        self.records: list[_T] = list(self._values())

    def add(self, *records: _T) -> None:
        """Adds records as the file holds them, where numbers are rounded; they are on the disk when this returns.

        Raises UserError.
        """
        lines = [json.dumps(self._write(record), ensure_ascii=False, sort_keys=True) + "\n" for record in records]
        try:
            with self._path.open("ab") as file:
                file.write("".join(lines).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(
                f"{self._path} can't be written ({error.strerror or error}). What there is stays: make room, then "
                "start the command again, and it goes on from there."
            ) from error
        self.records += [self._read(json.loads(line)) for line in lines]

    def _values(self) -> Iterator[_T]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return
        whole, newline, rest = data.rpartition(b"\n")
        if rest:
            with self._path.open("r+b") as file:
                file.truncate(len(whole) + len(newline))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                yield self._read(read_json(line, CORPUS_LINE))
            except ValueError as error:
                raise UserError(
                    f"Line {number} of {self._path} can't be read ({error}). Remove it, or give another --out."
                ) from error


def once_for_all(path: Path, described: dict[str, Any]) -> None:
    """Writes down what a folder's results are of, or compares it with what is written. Raises UserError."""
    text = json.dumps(described, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    try:
        before = path.read_text("utf-8")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
        return
    if before != text:
        raise UserError(
            f"The results in {path.parent} are of other questions, sounds or settings than this command's (see "
            f"{path.name}). Give another --out, or the same options."
        )
