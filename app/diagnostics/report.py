"""The diagnostics report: machine, settings, conversation statistics and log.

The report never contains keys, and includes conversation text and the persona only on request. Creating it opens no
network connection.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from app.backend.base import without_secrets
from app.conversation import events as e
from app.conversation.record.transcript import Transcript
from app.diagnostics.logs import LogEntry
from app.diagnostics.machine import CARD_SECONDS, Card, System, bounded, probe_card, probe_system
from app.diagnostics.redaction import LEFT_OUT, Redactor, WordRedactor, redactor
from app.platform import nvidia
from app.settings.declarations import Settings, declarations

LOG_LINES = 200
MOST_FAILURES = 20
Facts = Sequence[tuple[str, str]]
"""Pairs of a name and a value, in order."""


@dataclass(slots=True)
class TalkNotes:
    """A summary of the events of the latest conversation; failures and text are kept across conversations."""

    counts: Counter[str] = field(default_factory=Counter)
    parts: dict[str, str] = field(default_factory=dict)
    failures: deque[tuple[float, str, str]] = field(default_factory=lambda: deque(maxlen=MOST_FAILURES))
    transcripts: list[Transcript] = field(default_factory=lambda: [Transcript()])
    personas: set[str] = field(default_factory=set)
    tool_arguments: deque[str] = field(default_factory=lambda: deque(maxlen=500))
    last_at: float = 0.0

    def apply(self, event: e.Event) -> None:
        """Adds an event to the summary. Cheap enough to be called for every event."""
        if isinstance(event, e.SessionStarted) and self.counts["SessionStarted"]:
            self.counts.clear()
            self.parts.clear()
            self.transcripts.append(Transcript())
        self.counts[type(event).__name__] += 1
        self.last_at = event.at
        self.transcripts[-1].apply(event)
        match event:
            case e.SessionStarted():
                self.parts |= {
                    "Front-end": event.frontend,
                    "Speech recognition": event.stt,
                    "Back-end": _pair(event.backend, event.model),
                    "Answer mode": event.answer_mode,
                }
            case e.BackendChanged():
                self.parts["Back-end"] = f"{_pair(event.backend, event.model)}, {event.reason}"
            case e.SecondaryChanged():
                self.parts["Comparison"] = _pair(event.backend, event.model) or "none"
            case e.FrontEndChanged():
                self.parts["Front-end"] = event.frontend
            case e.SpeechChanged():
                self.parts |= {"Speech recognition": event.stt, "Voice": event.voice or "the front-end's own"}
            case e.AnswerModeChanged():
                self.parts["Answer mode"] = event.answer_mode
            case e.DeviceChanged():
                self.parts[event.kind.capitalize()] = f"{event.name or 'none'}, {event.change}"
            case e.ConversationConfigured():
                self.personas.add(event.persona)
                self.parts["Tools"] = " ".join(event.tools) or "none"
            case e.Failure() | e.Notice():
                self.failures.append((event.at, event.source, event.sentence))
            case e.ChangeRefused():
                self.failures.append((event.at, event.part, event.sentence))
            case e.ToolCalled() | e.CallNotMade():
                self.tool_arguments.append(event.arguments)
            case e.ConsentAsked():
                self.tool_arguments.extend(event.arguments)

    def snapshot(self) -> TalkNotes:
        """Returns a copy that can be used on another thread."""
        transcripts = [Transcript([replace(turn) for turn in one.turns]) for one in self.transcripts]
        return replace(
            self,
            counts=Counter(self.counts),
            parts=dict(self.parts),
            failures=deque(self.failures),
            transcripts=transcripts,
            personas=set(self.personas),
            tool_arguments=deque(self.tool_arguments),
        )

    def words(self) -> Iterator[str]:
        """Yields the text of all turns, the personas and the tool arguments, which may quote turns."""
        yield from self.personas
        yield from self.tool_arguments
        for transcript in self.transcripts:
            for turn in transcript.turns:
                yield turn.text


class Diagnostics:
    """Collects a session's events and creates the report. `log` returns the log entries, oldest first."""

    def __init__(self, settings: Settings, log: Callable[[], Iterable[LogEntry]]) -> None:
        self.notes = TalkNotes()
        self._settings = settings
        self._log = log
        self._machine: tuple[System, str] | None = None

    def apply(self, event: e.Event) -> None:
        """Adds an event to the notes."""
        self.notes.apply(event)

    async def text(self, with_words: bool, more: Sequence[tuple[str, Facts]] = ()) -> str:
        """Returns the current report as Markdown.

        `with_words`: includes conversation text and the persona. `more`: additional sections, as pairs of a title and
        facts.
        """
        if self._machine is None:
            card = await bounded(probe_card, Card(trouble=nvidia.NO_ANSWER), CARD_SECONDS + 1)
            self._machine = await asyncio.to_thread(probe_system), _card_words(card)
        system, card_words = self._machine
        # On a worker thread, since redacting the text of a 2,000-turn conversation takes 50 ms.
        report = Report(system, replace(self._settings), self.notes.snapshot(), list(self._log()), card_words, more)
        return await asyncio.to_thread(report.text, with_words=with_words)


def _card_words(card: Card | None) -> str:
    if card is None:
        return "no NVIDIA card"
    size = f"{card.name}, {card.total / 1e9:.1f} GB" if card.name else ""
    return ". ".join(filter(None, (size, card.trouble)))


@dataclass(frozen=True, slots=True)
class Report:
    """The report's contents. `card`: a description of the graphics card; `more`: additional sections."""

    system: System
    settings: Settings
    notes: TalkNotes
    log: Sequence[LogEntry]
    card: str = ""
    more: Sequence[tuple[str, Facts]] = ()

    def text(self, *, with_words: bool = False, hide: Redactor | None = None, home: Path | None = None) -> str:
        """Returns the report as Markdown, without keys, and without conversation text unless `with_words`."""
        hide = hide or redactor()
        hide.learn(os.environ)
        notes = self.notes
        without_words = (lambda text: text) if with_words else WordRedactor([*notes.words(), self.settings.persona])
        blocks = [
            _section("Machine", self._machine()),
            _section("Packages", self.system.packages),
            _section("Settings that were changed", list(_changed(self.settings, with_words, hide))),
            _section("Talk", [*notes.parts.items(), ("Seconds", f"{notes.last_at:.0f}")] if notes.counts else []),
            *(_section(title, facts) for title, facts in self.more),
            _section("Events", [(name, f"{count:,}") for name, count in notes.counts.most_common()]),
            _section(
                "Failures", [(f"{at:.1f} s, {source}", without_words(said)) for at, source, said in notes.failures]
            ),
        ]
        if with_words:
            blocks.append(_said(notes.transcripts))
        lines = "\n".join(without_words(entry.text()) for entry in self.log[-LOG_LINES:])
        fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", lines))])
        blocks.append(f"## Log\n\n{fence}\n{lines or 'empty'}\n{fence}")
        text = "# KAME diagnostics\n\n" + "\n\n".join(blocks) + "\n"
        return _without_home(hide(text), home or Path.home())

    def _machine(self) -> Facts:
        system = self.system
        return [
            ("KAME", system.version),
            ("Python", system.python),
            ("System", system.name),
            ("Processor cores", str(system.cores)),
            ("Memory", f"{system.memory / 2**30:.1f} GiB" if system.memory else "not known"),
            ("Graphics card", self.card or "not probed"),
        ]


def _section(title: str, facts: Facts) -> str:
    lines = [f"- {name}: {' '.join(value.split())}" for name, value in facts]
    return f"## {title}\n\n" + ("\n".join(lines) or "none")


def _said(transcripts: Sequence[Transcript]) -> str:
    lines = []
    for transcript in transcripts:
        lines += [f"- {turn.speaker} {turn.number}: {' '.join(turn.text.split())}" for turn in transcript.turns]
    return "## What was said\n\n" + ("\n".join(lines) or "nothing")


def _changed(settings: Settings, with_words: bool, hide: Redactor) -> Iterator[tuple[str, str]]:
    for declared in declarations():
        value = getattr(settings, declared.name)
        if value == declared.default:
            continue
        if declared.name == "persona" and not with_words:
            yield declared.name, f"changed ({LEFT_OUT})"
        else:
            yield declared.name, _shown(declared.name, value, hide)


def _shown(name: str, value: Any, hide: Redactor) -> str:
    if not isinstance(value, str):
        return str(value)
    value = hide(value)  # before anything is removed from it: part of a secret would not be recognised
    return without_secrets(value) if "://" in value or name.endswith(("_url", "_mirror")) else value


def _without_home(text: str, home: Path) -> str:
    """Replaces the path of the home folder with ~, in every form in which it may appear."""
    forms = {str(home), home.as_posix(), str(home).replace("\\", "\\\\")}
    if str(home) in ("/", "\\", ".") or len(str(home)) < 4:
        return text
    pattern = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.sub(rf"(?:{pattern})(?![\w.-])", "~", text, flags=re.IGNORECASE if os.name == "nt" else 0)


def _pair(backend: str, model: str) -> str:
    return " / ".join(filter(None, (backend, model)))
