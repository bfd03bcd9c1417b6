"""Formats a conversation as Markdown: who spoke when, and where they were interrupted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import tzinfo

from app.history.base import ConversationView
from app.history.subtitles import SPEAKERS
from app.history.timing import TimedTurn
from app.platform.local_time import local_datetime

_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~&])")
_LIST = re.compile(r"^(\s*)([-+]|\d+[.)])(?=\s)")


def markdown(
    view: ConversationView, talks: Sequence[tuple[float, Sequence[TimedTurn]]], zone: tzinfo | None = None
) -> str:
    """Returns the page for the start of each talk (seconds since 1970) and its turns; dates in `zone`, None: here."""
    lines = [f"# {_escape(view.title) or 'Conversation'}", ""]
    began = min((began for began, _ in talks), default=view.created)
    backends = f" · with {', '.join(_escape(backend) for backend in view.backends)}" if view.backends else ""
    lines += [f"{_date(began, zone)}{backends}", ""]
    for number, (began, turns) in enumerate(talks, 1):
        if len(talks) > 1:
            lines += [f"## Talk {number} · {_date(began, zone)}", ""]
        for timed in turns:
            lines += [*_turn(timed), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _turn(timed: TimedTurn) -> Iterator[str]:
    turn = timed.turn
    backends = f" ({', '.join(_escape(backend) for backend in turn.backends)})" if turn.backends else ""
    yield f"**{SPEAKERS[turn.speaker]}**{backends} · {_clock(turn.started_at)}"
    yield ""
    words = _escape(" ".join(turn.text.split()))
    if turn.interrupted:
        at = f" at {_clock(timed.ended)}" if timed.ended is not None else ""
        words += f" — *interrupted{at}*"
    yield words


def _escape(text: str) -> str:
    return _LIST.sub(lambda found: f"{found[1]}{found[2][:-1]}\\{found[2][-1]}", _SPECIAL.sub(r"\\\1", text))


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"


def _date(seconds: float, zone: tzinfo | None) -> str:
    day = local_datetime(seconds, zone)
    return f"{day:%Y-%m-%d %H:%M}"
