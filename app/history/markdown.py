"""Markdown export of a conversation, with timestamps for turns and interruptions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import tzinfo

from app.conversation.markdown import blocks, escaped, without_html
from app.history.base import ConversationView
from app.history.subtitles import SPEAKERS
from app.history.timing import TimedTurn
from app.platform.local_time import local_datetime


def markdown(
    view: ConversationView, talks: Sequence[tuple[float, Sequence[TimedTurn]]], zone: tzinfo | None = None
) -> str:
    """Returns the conversation as Markdown.

    `talks`: each talk's start (a Unix timestamp) and turns. `zone`: the time zone for dates; None for local time.
    """
    lines = [f"# {escaped(view.title) or 'Conversation'}", ""]
    began = min((began for began, _ in talks), default=view.created)
    backends = f" · with {', '.join(escaped(backend) for backend in view.backends)}" if view.backends else ""
    lines += [f"{_date(began, zone)}{backends}", ""]
    for number, (began, turns) in enumerate(talks, 1):
        if len(talks) > 1:
            lines += [f"## Talk {number} · {_date(began, zone)}", ""]
        for timed in turns:
            lines += [*_turn(timed), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def _turn(timed: TimedTurn) -> Iterator[str]:
    turn = timed.turn
    backends = f" ({', '.join(escaped(backend) for backend in turn.backends)})" if turn.backends else ""
    yield f"**{SPEAKERS[turn.speaker]}**{backends} · {_clock(turn.started_at)}"
    yield ""
    words = (
        without_html(turn.written.strip()) if turn.marked else escaped(" ".join((turn.written or turn.text).split()))
    )
    if turn.interrupted:
        at = f" at {_clock(timed.ended)}" if timed.ended is not None else ""
        apart = "\n\n" if blocks(words)[-1:] and blocks(words)[-1].kind != "prose" else " "
        words += f"{apart}— *interrupted{at}*"
    yield words


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{seconds:02}" if minutes >= 60 else f"{minutes}:{seconds:02}"


def _date(seconds: float, zone: tzinfo | None) -> str:
    day = local_datetime(seconds, zone)
    return f"{day:%Y-%m-%d %H:%M}"
