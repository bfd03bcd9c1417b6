"""Compression of a talk's events, with best-effort decompression of damaged data."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from typing import Any

from app.conversation import events as e
from app.conversation.event_json import to_json
from app.conversation.record.transcript import Transcript
from app.history.serialization import known_events
from app.untrusted.limits import PACKED_TALK

_PIECE = 64


def pack_lines(lines: Sequence[str]) -> bytes:
    """Compresses lines to about a fifth of their size."""
    return zlib.compress("\n".join(lines).encode())


def unpack_lines(packed: Any) -> tuple[list[str], bool]:
    """Decompresses the output of `pack_lines`; returns the readable lines and whether they are complete."""
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
    """Returns the surviving lines of a damaged talk, or `lines_of_turns(turns)` if the turns contain more text."""
    turns = list(turns)
    left = Transcript()
    for event in known_events(lines):
        left.apply(event)
    fewer = sum(len(turn.text) for turn in left.turns) < sum(len(text) for *_, text in turns)
    return lines_of_turns(turns) if fewer else lines


def lines_of_turns(turns: Iterable[tuple[Any, ...]]) -> list[str]:
    """Returns minimal events that reproduce the text of turns, for a talk whose own events are damaged.

    `turns`: the speaker, number, time and text of each turn.
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
    """Decompresses the data before the damage."""
    inflate, text = zlib.decompressobj(), b""
    try:
        for start in range(0, len(packed), _PIECE):
            if len(text) >= PACKED_TALK.bytes:
                break
            text += inflate.decompress(packed[start : start + _PIECE], PACKED_TALK.bytes)
    except zlib.error:
        pass
    return text
