"""SubRip subtitles for a conversation, with both speakers and all talks on one timeline."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.history.timing import TimedTurn, TimedWord

LINE_CHARS, LINES = 42, 2
LONGEST_SECONDS = 7.0
SHORTEST_SECONDS = 0.8
PAUSE_SECONDS = 1.0
"""A pause longer than this within a turn ends a cue."""
SENTENCE_CHARS = 24
"""A cue that has reached this many characters ends at the next sentence boundary."""

SPEAKERS = {"user": "You", "assistant": "KAME"}


@dataclass(frozen=True, slots=True)
class Cue:
    """A subtitle shown from `start` to `end`, in seconds. `text` may have several lines."""

    start: float
    end: float
    text: str


def subtitles(talks: Sequence[tuple[float, Sequence[TimedTurn]]]) -> str:
    """Returns the contents of an SRT file. `talks`: each talk's start on the common timeline (s), and its turns."""
    cues = sorted(
        (cue for offset, turns in talks for cue in _talk_cues(offset, turns)), key=lambda cue: (cue.start, cue.end)
    )
    return "".join(
        f"{number}\n{_stamp(cue.start)} --> {_stamp(cue.end)}\n{cue.text}\n\n" for number, cue in enumerate(cues, 1)
    )


def _talk_cues(offset: float, turns: Sequence[TimedTurn]) -> Iterator[Cue]:
    for speaker in SPEAKERS:
        groups = [
            group for timed in turns if timed.turn.speaker == speaker for group in _cut(timed.words, SPEAKERS[speaker])
        ]
        for place, group in enumerate(groups):
            start, end = group[0].start, max(group[-1].end, group[0].start + SHORTEST_SECONDS)
            if place + 1 < len(groups):  # the cues of one speaker must not overlap
                end = min(end, max(groups[place + 1][0].start, start + 0.001))
            yield Cue(offset + start, offset + end, "\n".join(_wrap(SPEAKERS[speaker], group)))


def _cut(words: Sequence[TimedWord], speaker: str) -> Iterator[list[TimedWord]]:
    group: list[TimedWord] = []
    for word in words:
        if group and (
            len(_wrap(speaker, [*group, word])) > LINES
            or word.end - group[0].start > LONGEST_SECONDS
            or word.start - group[-1].end > PAUSE_SECONDS
            or (group[-1].text[-1] in ".?!。？！" and sum(len(w.text) + 1 for w in group) >= SENTENCE_CHARS)
        ):
            yield group
            group = []
        group.append(word)
    if group:
        yield group


def _wrap(speaker: str, words: Sequence[TimedWord]) -> list[str]:
    # An arrow would be parsed as a timestamp line.
    text = f"{speaker}: {' '.join(word.text for word in words)}".replace("-->", "→")
    return textwrap.wrap(text, LINE_CHARS)


def _stamp(seconds: float) -> str:
    thousandths = round(max(0.0, seconds) * 1000)
    minutes, thousandths = divmod(thousandths, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{thousandths // 1000:02},{thousandths % 1000:03}"
