"""What is known of each model on each server: the form of its requests, its speed and its rate limit.

A `ModelRecord` belongs to a model on a server rather than to a back-end object, so that nothing is learned twice.
`ModelRecords` owns all of them and stores them in a file.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from app.backend.base import Backend, Traits, without_secrets
from app.backend.dialect import MORE_ROOM, RequestForm
from app.conversation.oracle import ASSUMED_LIMIT, Pace, RequestBudget
from app.platform.files import write_json
from app.untrusted.files import read_versioned
from app.untrusted.limits import SMALL_FILE, OtherVersion

VERSION = 1
"""The format version of the file."""
MOST_RECORDS = 60
LOSSES = {
    "tools": "{who} refuses requests with tools, so it answers without them. To use tools, choose another model. "
    "If it is your own server, start it with its option for tools (llama.cpp: --jinja, vLLM: "
    "--enable-auto-tool-choice).",
    "temperature": "{who} accepts no temperature, so the one in your settings has no effect on it.",
    "limits": "{who} accepts no limit for the length of an answer. Its answers may be longer and cost more.",
    "plain": "{who} accepts nothing but the conversation: no tools, no temperature. Choose another model to use them.",
}
"""The fields of `RequestForm` whose omission affects the user, and the user-facing messages about it."""

_log = logging.getLogger(__name__)


@dataclass(slots=True, eq=False)
class ModelRecord:
    """What is known of one model on one server. Everything is kept across sessions.

    - `learned`: values of `RequestForm` that differ from the first ones tried
    - `doubted`: like `learned`, for fields of `LOSSES` that were refused once; they are sent again and learned if
      refused again
    - `unopened`: whether its text has thoughts that end with a mark and begin with none; None if unknown
    - `wants_key`: whether the server wanted an API key; None if unknown
    - `first_token_seconds`: how long to wait for the server's first sign of life; 0 for the default
    """

    learned: dict[str, Any] = field(default_factory=dict)
    doubted: dict[str, Any] = field(default_factory=dict)
    unopened: bool | None = None
    wants_key: bool | None = None
    first_token_seconds: float = 0.0
    pace: Pace = field(default_factory=Pace)
    measured: bool = False
    """Whether `pace` has the back-end's own traits."""

    def form(self, first: RequestForm) -> RequestForm:
        """Returns the form for the next request. `first`: the form to try if nothing is known."""
        return replace(first, **self.learned)

    def accepted(self, first: RequestForm, before: RequestForm, after: RequestForm, used: set[str]) -> list[str]:
        """Learns from a request that was accepted in the form `after`, having begun with `before`.

        Only the differences are learned, and only where nothing else was learned meanwhile, since requests overlap.
        Returns the names of those `LOSSES` that are confirmed now. `used`: which of them the request depended on.
        """
        confirmed, now = [], self.form(first)
        for name in (f.name for f in fields(RequestForm)):
            old, new = getattr(before, name), getattr(after, name)
            if old == new:
                if name in used:
                    self.doubted.pop(name, None)
            elif getattr(now, name) == old:
                if _is_loss(name, new):
                    if name not in self.doubted:
                        self.doubted[name] = new
                        continue
                    del self.doubted[name]
                    confirmed.append(name)
                self.learned[name] = new
        return confirmed

    def lacks_tools(self) -> bool:
        """Notes that the server says that the model has no tools. Returns whether that wasn't known before."""
        new = "tools" not in self.learned and "tools" not in self.doubted
        if new:
            self.learned["tools"] = False
        return new

    def thinks(self, *efforts: str) -> None:
        """Records that the model thinks before it answers, so that it needs more room; `efforts` keep that short."""
        self.learned["room"] = MORE_ROOM
        if efforts:
            self.learned["efforts"] = efforts

    def pace_of(self, traits: Traits) -> Pace:
        """Returns the model's pace, initialised from its back-end's traits."""
        pace = self.pace
        if not self.measured:
            self.measured = True
            pace.floor = traits.least_interval
            pace.expect(traits.first_seconds, traits.words_per_second)
            if not pace.budget.known:
                pace.budget.limit = None if traits.free else ASSUMED_LIMIT
        return pace

    def as_json(self) -> dict[str, Any]:
        """Returns what is stored."""
        pace, budget = self.pace, self.pace.budget
        return {
            "learned": _listed(self.learned),
            "doubted": _listed(self.doubted),
            "unopened": self.unopened,
            "wants_key": self.wants_key,
            "first_token_seconds": self.first_token_seconds,
            "first_words": {kind: [round(s, 3) for s in seconds] for kind, seconds in pace.first_words.items()},
            "words_per_second": pace.words_per_second,
            "requests_per_minute": budget.limit if budget.known else None,
        }


def _is_loss(name: str, value: object) -> bool:
    """Returns whether this value of this field of `RequestForm` affects the user."""
    return name == "plain" or (name in LOSSES and value in (False, ()))


def _listed(values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns values of `RequestForm` in their JSON form."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in sorted(values.items())}


def read_record(value: Mapping[str, Any]) -> ModelRecord:
    """Returns a stored record. Raises ValueError, TypeError, KeyError or AttributeError if it is invalid.

    Losses have to be confirmed again by one request, since servers are updated.
    """
    record = ModelRecord()
    shapes = {f.name: getattr(RequestForm(), f.name) for f in fields(RequestForm)}
    for name, known in (*value["doubted"].items(), *value["learned"].items()):
        known = tuple(known) if isinstance(known, list) else known
        if name not in shapes or type(known) is not type(shapes[name]):
            raise ValueError(name)
        if isinstance(known, tuple) and not all(isinstance(item, str) for item in known):
            raise ValueError(name)
        (record.doubted if _is_loss(name, known) else record.learned)[name] = known
    unopened = value.get("unopened")
    record.unopened = None if unopened is None else bool(unopened)
    record.wants_key = None if value["wants_key"] is None else bool(value["wants_key"])
    record.first_token_seconds = max(0.0, float(value["first_token_seconds"]))
    limit = value["requests_per_minute"]
    budget = RequestBudget(None if limit is None else max(1.0, float(limit)))
    budget.known = limit is not None
    speed = value["words_per_second"]
    record.pace = Pace(words_per_second=None if speed is None else float(speed), budget=budget)
    for kind, seconds in value["first_words"].items():
        record.pace.first_words[kind].extend(float(second) for second in seconds)
    return record


class ModelRecords:
    """All records, by server and model. `path` returns their file; without it they are in memory only.

    The file is read when the first record is needed. Secrets in a server's address are not stored.
    """

    def __init__(self, path: Callable[[], Path] | None = None) -> None:
        self._path = path
        self._records: dict[tuple[str, str], ModelRecord] | None = None
        self._kept: dict[tuple[str, str], dict[str, Any]] = {}
        self._unreadable = False

    def of(self, server: str, model: str) -> ModelRecord:
        """Returns the record of a model. `server`: its address, or the back-end's name."""
        if self._records is None:
            self._records = self._read()
            self._kept = {key: record.as_json() for key, record in self._records.items()}
        key = (without_secrets(server).rstrip("/"), model)
        record = self._records.pop(key, None) or ModelRecord()
        self._records[key] = record  # the file keeps the most recently used ones
        return record

    def of_backend(self, backend: Backend) -> ModelRecord:
        """Returns the record of a back-end's model."""
        record: ModelRecord | None = getattr(backend, "record", None)
        return record or self.of(backend.name, backend.model)

    def wants_key(self, server: str) -> bool | None:
        """Returns whether a server has required an API key; None if that is unknown."""
        self.of(server, "")
        name = without_secrets(server).rstrip("/")
        known = [r.wants_key for (of, _), r in (self._records or {}).items() if of == name and r.wants_key is not None]
        return any(known) if known else None

    async def keep(self) -> None:
        """Writes the changes to the file. Errors are only logged."""
        changed = {
            key: row
            for key, record in (self._records or {}).items()
            if (row := record.as_json()) != self._kept.get(key)
        }
        if self._path is None or not changed:
            return
        self._kept |= changed
        await asyncio.to_thread(self._write, changed)

    def _write(self, changed: Mapping[tuple[str, str], dict[str, Any]]) -> None:
        """Adds `changed` to the current contents of the file, which another process may have changed."""
        rows = {key: record.as_json() for key, record in self._read().items() if key not in changed} | dict(changed)
        if self._path is None:
            return  # a newer version of the app has written it meanwhile
        models = [{"server": server, "model": model, **row} for (server, model), row in rows.items()]
        try:
            write_json(self._path(), {"version": VERSION, "models": models[-MOST_RECORDS:]})
        except OSError as error:
            _log.warning("What was learned of models could not be kept: %s", error)

    def _read(self) -> dict[tuple[str, str], ModelRecord]:
        if self._path is None:
            return {}
        try:
            rows = read_versioned(self._path(), SMALL_FILE, VERSION)["models"]
            return {(str(row["server"]), str(row["model"])): read_record(row) for row in rows}
        except FileNotFoundError:
            return {}
        except OtherVersion as error:
            _log.warning("The file of model records is left alone, and they start empty: %s", error)
            self._path = None
            return {}
        except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
            if not self._unreadable:
                _log.warning("The file of model records can't be read, so they start empty: %s", type(error).__name__)
            self._unreadable = True
            return {}
