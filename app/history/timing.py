"""Estimates of when each word of a talk was spoken, based on its events.

For the assistant's words, events give the playback time. A user's word must have been spoken before the end of the
audio covered by the first transcript that contains it. The time between two such points is divided among the words in
between, in proportion to their length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.conversation import events as e
from app.conversation.record.transcript import Transcript, Turn

LONGEST_WORD_SECONDS = 0.7
"""The maximum average duration of a word between two known times; the rest is assumed to be silence."""


@dataclass(frozen=True, slots=True)
class TimedWord:
    """A word with its start and end, in seconds since the start of the talk."""

    text: str
    start: float
    end: float


@dataclass(slots=True)
class TimedTurn:
    """A turn with the times of its words. `ended`: the time at which it ended, or None if unknown."""

    turn: Turn
    words: list[TimedWord] = field(default_factory=list)
    ended: float | None = None


@dataclass(slots=True)
class _Marks:
    """The progress of a turn. `reached`: pairs of a word count and the time by which that many words had been
    spoken."""

    reached: list[tuple[int, float]] = field(default_factory=list)
    ended: float | None = None

    def reach(self, words: int, at: float) -> None:
        while self.reached and self.reached[-1][0] >= words and self.reached[-1][1] >= at:
            self.reached.pop()
        if words and (not self.reached or words > self.reached[-1][0]):
            self.reached.append((words, max(at, self.reached[-1][1]) if self.reached else at))


def timed_turns(events: Sequence[e.Event]) -> list[TimedTurn]:
    """Returns the turns of a talk that have words, in order."""
    transcript = Transcript()
    marks: dict[int, _Marks] = {}
    for event in events:
        turn = transcript.apply(event)
        if isinstance(event, e.UserEnded):
            said = [t for t in transcript.turns if t.speaker == "user" and t.number == event.turn]
            if said:
                marks.setdefault(id(said[-1]), _Marks()).ended = event.speech_end
        if turn is None:
            continue
        mark = marks.setdefault(id(turn), _Marks())
        match event:
            case e.TranscriptPartial() | e.TranscriptFinal():
                mark.reach(len(turn.text.split()), event.heard_until)
            case e.UserBackchannel() | e.AssistantSaid():
                mark.reach(len(turn.text.split()), event.at)
            case e.AssistantEnded():
                mark.ended = event.at
    timed = []
    for turn in transcript.turns:
        if turn.text:
            mark = marks.get(id(turn), _Marks())
            timed.append(TimedTurn(turn, _spread(turn, mark), mark.ended))
    return timed


def _spread(turn: Turn, mark: _Marks) -> list[TimedWord]:
    words = turn.text.split()
    stops = [(count, at) for count, at in mark.reached if count < len(words)]
    last = mark.reached[-1][1] if mark.reached else turn.started_at
    if turn.speaker == "user" and mark.ended is not None:
        last = min(last, mark.ended) if last > turn.started_at else mark.ended
    timed: list[TimedWord] = []
    begin, done = turn.started_at, 0
    for count, at in [*stops, (len(words), last)]:
        group = words[done:count]
        at = max(at, begin)
        start = max(begin, at - LONGEST_WORD_SECONDS * len(group))
        a_letter = (at - start) / sum(len(word) + 1 for word in group)
        for word in group:
            end = start + a_letter * (len(word) + 1)
            timed.append(TimedWord(word, start, end))
            start = end
        begin, done = at, count
    return timed


def talk_seconds(events: Sequence[e.Event], sound: float = 0.0) -> float:
    """Returns the duration of a talk, after which the next one starts on the common timeline.

    `sound`: the duration of its recording.
    """
    return max(sound, max((event.at for event in events), default=0.0))
