"""Writes down what somebody needs to help with a fault: the machine, the settings, the talk in numbers, the log.

Never a key, and what was said (by the user, by the assistant, or as the persona) only on request. Knows nothing of
windows; asks nobody and opens no connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import platform
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

from app.backend.address import without_secrets
from app.conversation import events as e
from app.conversation.transcript import Transcript
from app.diagnostics.logs import LogEntry
from app.diagnostics.redaction import LEFT_OUT, Redactor, Silence, redactor
from app.platform.hardware import memory_bytes
from app.platform.installation import installed
from app.settings.declarations import Settings, declarations

PACKAGES = (
    "PySide6-Essentials",
    "qasync",
    "numpy",
    "pyqtgraph",
    "sounddevice",
    "soundfile",
    "soxr",
    "livekit",
    "openai",
    "ollama",
    "httpx",
    "faster-whisper",
    "ctranslate2",
    "onnxruntime",
    "tokenizers",
    "piper-tts",
    "xllamacpp",
    "keyring",
    "mcp",
    "torch",
    "moshi",
)
"""What faults have come from."""
LOG_LINES = 200
MOST_FAILURES = 20
Facts = Sequence[tuple[str, str]]
"""Names and values, in order."""


@dataclass(frozen=True, slots=True)
class Machine:
    """What the app runs on. `memory_bytes`: 0 where it can't be told; `packages`: those that are there."""

    version: str
    python: str
    system: str
    cores: int
    memory_bytes: int
    packages: tuple[tuple[str, str], ...]


def look_at_machine() -> Machine:
    """Reads from disk, for some 20 ms: not to be called on an event loop's thread."""
    packages = []
    for name in PACKAGES:
        try:
            packages.append((name, metadata.version(name)))
        except metadata.PackageNotFoundError:
            continue
    own = installed()
    version = f"{own.version or 'unknown'} ({own.kind}{', ' + own.commit[:12] if own.commit else ''})"
    python = f"{platform.python_version()} ({platform.python_implementation()}, {platform.machine()})"
    return Machine(version, python, _system(), os.cpu_count() or 0, memory_bytes(), tuple(packages))


@dataclass(slots=True)
class TalkNotes:
    """What events tell about the talk that runs, or ran last; of failures and words those of all talks."""

    counts: Counter[str] = field(default_factory=Counter)
    parts: dict[str, str] = field(default_factory=dict)
    failures: deque[tuple[float, str, str]] = field(default_factory=lambda: deque(maxlen=MOST_FAILURES))
    transcripts: list[Transcript] = field(default_factory=lambda: [Transcript()])
    personas: set[str] = field(default_factory=set)
    asked: deque[str] = field(default_factory=lambda: deque(maxlen=500))
    last_at: float = 0.0

    def apply(self, event: e.Event) -> None:
        """Takes one event in; cheap enough for each of them."""
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
                    "Ears": event.stt,
                    "Brain": _pair(event.backend, event.model),
                    "Manner": event.answer_mode,
                }
            case e.BackendChanged():
                self.parts["Brain"] = f"{_pair(event.backend, event.model)}, {event.reason}"
            case e.SecondaryChanged():
                self.parts["Brain at the side"] = _pair(event.backend, event.model) or "none"
            case e.FrontEndChanged():
                self.parts["Front-end"] = event.frontend
            case e.SpeechChanged():
                self.parts |= {"Ears": event.stt, "Voice": event.voice or "the front-end's own"}
            case e.AnswerModeChanged():
                self.parts["Manner"] = event.answer_mode
            case e.DeviceChanged():
                self.parts[event.kind.capitalize()] = f"{event.name or 'none'}, {event.change}"
            case e.ConversationConfigured():
                self.personas.add(event.persona)
                self.parts["Tools"] = " ".join(event.tools) or "none"
            case e.Failure():
                self.failures.append((event.at, event.source, event.sentence))
            case e.ToolCalled():
                self.asked.append(event.arguments)  # in words of the talk

    def snapshot(self) -> TalkNotes:
        """A copy that stays as it is."""
        transcripts = [Transcript([replace(turn) for turn in one.turns]) for one in self.transcripts]
        return replace(
            self,
            counts=Counter(self.counts),
            parts=dict(self.parts),
            failures=deque(self.failures),
            transcripts=transcripts,
            personas=set(self.personas),
            asked=deque(self.asked),
        )

    def words(self) -> Iterator[str]:
        """All that was said, and whoever was said to speak."""
        yield from self.personas
        yield from self.asked
        for transcript in self.transcripts:
            for turn in transcript.turns:
                yield turn.text


class Diagnostics:
    """Keeps notes of a session's events, and writes them down with all else. `log` gives its lines, oldest first;
    `card`, which may take seconds, what is known of a graphics card.
    """

    def __init__(
        self, settings: Settings, log: Callable[[], Iterable[LogEntry]], card: Callable[[], str] = lambda: ""
    ) -> None:
        self._card = card
        self._card_words = ""
        self.notes = TalkNotes()
        self._settings = settings
        self._log = log
        self._machine: Machine | None = None

    def apply(self, event: e.Event) -> None:
        """Takes one event in."""
        self.notes.apply(event)

    async def text(self, with_words: bool, more: Sequence[tuple[str, Facts]] = ()) -> str:
        """The diagnostics of now, with sections of the caller's own (titles and facts) in their midst."""
        if self._machine is None:
            self._machine = await asyncio.to_thread(look_at_machine)
            self._card_words = await asyncio.to_thread(self._card)
        # Off the loop's thread: to look for what was said takes 50 ms in a talk of 2,000 turns.
        return await asyncio.to_thread(
            diagnostics,
            self._machine,
            replace(self._settings),
            self.notes.snapshot(),
            list(self._log()),
            gpu=self._card_words,
            more=more,
            with_words=with_words,
        )


def diagnostics(
    machine: Machine,
    settings: Settings,
    notes: TalkNotes,
    log: Sequence[LogEntry],
    *,
    gpu: str = "",
    more: Sequence[tuple[str, Facts]] = (),
    with_words: bool = False,
    hide: Redactor | None = None,
    home: Path | None = None,
) -> str:
    """All of it as Markdown, without keys, and without what was said unless it is asked for."""
    hide = hide or redactor()
    hide.learn(os.environ)
    silent = (lambda text: text) if with_words else Silence([*notes.words(), settings.persona])
    memory = f"{machine.memory_bytes / 2**30:.1f} GiB" if machine.memory_bytes else "not known"
    blocks = [
        _section(
            "Machine",
            [
                ("KAME", machine.version),
                ("Python", machine.python),
                ("System", machine.system),
                ("Processor cores", str(machine.cores)),
                ("Memory", memory),
                ("Graphics card", gpu or "not looked at"),
            ],
        ),
        _section("Packages", machine.packages),
        _section("Settings that were changed", list(_changed(settings, with_words, hide))),
        _section("Talk", [*notes.parts.items(), ("Seconds", f"{notes.last_at:.0f}")] if notes.counts else []),
        *(_section(title, facts) for title, facts in more),
        _section("Events", [(name, f"{count:,}") for name, count in notes.counts.most_common()]),
        _section("Failures", [(f"{at:.1f} s, {source}", silent(said)) for at, source, said in notes.failures]),
    ]
    if with_words:
        blocks.append(_said(notes.transcripts))
    lines = "\n".join(silent(entry.text()) for entry in log[-LOG_LINES:])
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", lines))])
    blocks.append(f"## Log\n\n{fence}\n{lines or 'empty'}\n{fence}")
    text = "# KAME diagnostics\n\n" + "\n\n".join(blocks) + "\n"
    return _without_home(hide(text), home or Path.home())


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
        if value == declared.default or declared.place == "app":  # the last: where panes stand, and the like
            continue
        if declared.name == "persona" and not with_words:
            yield declared.name, f"changed ({LEFT_OUT})"
        else:
            yield declared.name, _shown(declared.name, value, hide)


def _shown(name: str, value: Any, hide: Redactor) -> str:
    if not isinstance(value, str):
        return str(value)
    if value.lstrip().startswith(("{", "[")):
        try:
            return json.dumps(_plain(json.loads(value), hide), ensure_ascii=False)
        except ValueError:
            return "changed (not JSON)"
    value = hide(value)  # before it is cut: a part of a secret is recognised by nobody
    return without_secrets(value) if "://" in value or name.endswith(("_url", "_mirror")) else value


def _plain(value: Any, hide: Redactor) -> Any:
    """JSON with its addresses plain."""
    match value:
        case dict():
            return {key: _plain(item, hide) for key, item in value.items()}
        case list():
            return [_plain(item, hide) for item in value]
        case str():
            value = hide(value)
            return without_secrets(value) if "://" in value else value
    return value


def _without_home(text: str, home: Path) -> str:
    """Paths below the user's folder begin with ~, however they are written."""
    forms = {str(home), home.as_posix(), str(home).replace("\\", "\\\\")}
    if str(home) in ("/", "\\", ".") or len(str(home)) < 4:
        return text
    pattern = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.sub(rf"(?:{pattern})(?![\w.-])", "~", text, flags=re.IGNORECASE if os.name == "nt" else 0)


def _pair(backend: str, model: str) -> str:
    return " / ".join(filter(None, (backend, model)))


def _system() -> str:
    name = platform.platform()
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            name = f"{platform.freedesktop_os_release().get('PRETTY_NAME', '')} ({name})".lstrip()
        desktop = " ".join(os.environ.get(key, "") for key in ("XDG_CURRENT_DESKTOP", "XDG_SESSION_TYPE")).strip()
        return f"{name}, {desktop}" if desktop else name
    return name
