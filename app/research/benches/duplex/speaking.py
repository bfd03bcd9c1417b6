"""Lets a session hear a sample, and writes what it said: `output.wav` (16 kHz, as long as the input) and its words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import soxr

from app.audio.devices.paced import PacedListener
from app.audio.io.files import FileSource
from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS, SAMPLE_RATE
from app.platform.atomic_files import whole_file
from app.research.benches.duplex.metrics import Word
from app.research.benches.duplex.voice import RATE
from app.research.benches.questions import MakeSession
from app.research.benches.recordings import read_sound
from app.session.control import SessionChoice
from app.session.errors import UserError
from app.untrusted.files import read_json_file
from app.untrusted.limits import BENCH_RESULT

LONGEST_WORD = 0.6
"""Seconds: a word is not taken to begin earlier than this before its end."""


async def hear(make: MakeSession, choice: SessionChoice, file: Path) -> tuple[np.ndarray, list[Word]]:
    """The assistant's sound (float32 24 kHz, as long as the input) and words for an input, on a loop in simulated time.

    Raises what opening a session raises, TranscriberError or AudioFileError for a sound that can't be read, and
    UserError if nothing was said because something failed.
    """
    length = len(read_sound(file))
    seconds = length / SAMPLE_RATE
    loop = asyncio.get_running_loop()
    talk = make(
        choice,
        FileSource(file),
        PacedListener(loop.time),
        end_with_input=False,
        remember_seconds=seconds + 10.0,
    )
    events: list[e.Event] = []
    async with talk:
        talk.add_listener(events.append)
        while talk.clock() < seconds + FRAME_SECONDS:
            await asyncio.sleep(FRAME_SECONDS)
        said = talk.sound_of("assistant", 0.0, seconds)
    failure = next((event.sentence for event in events if isinstance(event, e.Failure)), "")
    if failure and not any(isinstance(event, e.AssistantSaid) and event.revision for event in events):
        raise UserError(f"The assistant could not answer {file}: {failure}")
    out = np.zeros(length, np.float32)
    if said is not None:
        out[: min(len(out), len(said))] = said[: len(out)]
    return out, words_of(events)


def words_of(events: Sequence[e.Event]) -> list[Word]:
    """The words that were played, with the times of their sound. Events tell when words had been said."""
    out: list[Word] = []
    for event in events:
        if not isinstance(event, e.AssistantSaid):
            continue
        pieces = event.text.split()
        before = out[-1].end if out else 0.0
        begin = max(before, event.at - LONGEST_WORD * len(pieces))
        step = (event.at - begin) / max(1, len(pieces))
        out += [
            Word(piece, round(begin + n * step, 3), round(begin + (n + 1) * step, 3)) for n, piece in enumerate(pieces)
        ]
    return out


def write_output(sound: Path, words_file: Path, samples: np.ndarray, words: Sequence[Word]) -> None:
    """Writes a sound and its words in that bench's form."""
    soundfile.write(sound, soxr.resample(samples, SAMPLE_RATE, RATE), RATE, subtype="PCM_16")
    document: dict[str, Any] = {
        "text": " ".join(word.text for word in words),
        "chunks": [{"text": word.text, "timestamp": [word.begin, word.end]} for word in words],
    }
    with whole_file(words_file) as file:
        file.write(json.dumps(document, ensure_ascii=False, indent=1).encode())


def read_words(file: Path) -> list[Word]:
    """Reads the words of an output, this app's or another's. Raises OSError, ValueError, KeyError and TypeError."""
    chunks = read_json_file(file, BENCH_RESULT)["chunks"]
    found = [(str(one["text"]).strip(), one["timestamp"]) for one in chunks]
    out = []
    for text, (begin, end) in found:
        if text:
            first = float(begin)
            out.append(Word(text, first, float(end) if end is not None else first))
    return out
