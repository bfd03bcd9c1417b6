"""Compresses the events of a talk, and reads what is left of damaged ones."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.transcript import Transcript
from app.history.serialization import known_events
from app.untrusted.limits import PACKED_TALK

_PIECE = 64


def pack_lines(lines: Sequence[str]) -> bytes:
    """Returns lines compressed to a fifth of their size."""
    return zlib.compress("\n".join(lines).encode())


def unpack_lines(packed: Any) -> tuple[list[str], bool]:
    """Returns the lines that `pack_lines` has compressed, and whether these are all of them: else it is damaged."""
    if packed is None:
        return [], True
    if not isinstance(packed, bytes):
        return [], False
    inflate = zlib.decompressobj()
    try:
        text = inflate.decompress(packed, PACKED_TALK.bytes)
    except zlib.error:
        return _lines(_beginning(packed))[:-1], False
    lines = _lines(text)
    return (lines, True) if inflate.eof else (lines[:-1], False)


def fuller(lines: list[str], turns: Iterable[tuple[Any, ...]]) -> list[str]:
    """Returns what is left of a damaged talk's events, or `lines_of_turns(turns)` where the turns hold more words."""
    turns = list(turns)
    left = Transcript()
    for event in known_events(lines):
        left.apply(event)
    fewer = sum(len(turn.text) for turn in left.turns) < sum(len(text) for *_, text in turns)
    return lines_of_turns(turns) if fewer else lines


def lines_of_turns(turns: Iterable[tuple[Any, ...]]) -> list[str]:
    """Returns events that say no more than the words of turns, for a talk whose own events are damaged.

    `turns`: the speaker, the number, the time and the text of each.
    """
    told: list[e.Event] = []
    for speaker, number, at, text in turns:
        if speaker == "user":
            told.append(e.TranscriptFinal(at, number, text, at))
        else:
            told += [e.AssistantSaid(at, number, text, 0), e.AssistantEnded(at, number, False)]
    return [to_json(event) for event in told]


def _lines(text: bytes) -> list[str]:
    return text.decode("utf-8", "replace").split("\n") if text else []


def _beginning(packed: bytes) -> bytes:
    """Returns what a damaged block holds before the damage."""
    inflate, text = zlib.decompressobj(), b""
    try:
        for start in range(0, len(packed), _PIECE):
            if len(text) >= PACKED_TALK.bytes:
                break
            text += inflate.decompress(packed[start : start + _PIECE], PACKED_TALK.bytes)
    except zlib.error:
        pass
    return text
