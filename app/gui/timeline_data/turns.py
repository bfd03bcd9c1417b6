"""Folds what the user said into turns, with each word at the time of its first transcript."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest

from app.conversation import events as e
from app.gui.timeline_data.spans import Partial, UserTurn, Word, close
from app.gui.timeline_data.track import Track

LONGEST_PARTIAL = 240
"""A partial keeps so many letters of its end: all partials of a long turn would take its length squared."""

UserEvent = (
    e.UserStarted
    | e.UserPaused
    | e.UserResumed
    | e.UserEnded
    | e.UserBackchannel
    | e.TranscriptPartial
    | e.TranscriptFinal
)


class TurnLog:
    """The user's turns and their transcripts. `touch` is called with the second from which on something has changed."""

    def __init__(self, touch: Callable[[float], None]) -> None:
        self.turns: Track[UserTurn] = Track()
        self.partials: Track[Partial] = Track()
        self._touch = touch
        self._turn_of: dict[int, UserTurn] = {}

    def end(self, at: float) -> None:
        """Ends what is open: the conversation is over."""
        for turn in self.turns:
            if turn.end is None:
                close(turn.pauses, at)
                self._end(turn, at)

    def drop_before(self, time: float) -> None:
        """Forgets what ended before `time`."""
        self.partials.drop_before(time)
        for turn in self.turns.drop_before(time):
            if self._turn_of.get(turn.number) is turn:
                del self._turn_of[turn.number]

    def apply(self, event: UserEvent) -> None:
        """Takes one event in."""
        turn = self._turn_of.get(event.turn) or self._new_turn(event)
        at = event.at
        match event:
            case e.UserPaused(speech_end=speech_end):
                if not turn.pauses or turn.pauses[-1][1] is not None:
                    turn.pauses.append((speech_end, None))
                self._touch(speech_end)
            case e.UserResumed():
                close(turn.pauses, at)
                turn.end, turn.speech_end, turn.reason, turn.backchannel = None, None, "", False
                self.turns.changed(turn)
                self._touch(turn.pauses[-1][0] if turn.pauses else turn.start)
            case e.UserEnded(speech_end=speech_end, reason=reason):
                close(turn.pauses, at)
                turn.speech_end, turn.reason = speech_end, reason
                self._end(turn, at)
            case e.UserBackchannel(text=text):
                turn.backchannel, turn.words = True, [Word(turn.start, text)]
                turn.version += 1
                close(turn.pauses, at)
                self._end(turn, at)
            case e.TranscriptPartial(_, _, stable, unstable, heard_until):
                self._words(turn, stable.split(), unstable.split(), heard_until)
                self.partials.add(Partial(at, _tail(stable), _tail(unstable)))
                self._touch(at)
            case e.TranscriptFinal(text=text, heard_until=heard_until):
                self._words(turn, text.split(), [], heard_until)
                self.partials.add(Partial(at, _tail(text), "", True))
                self._touch(at)

    def _new_turn(self, event: UserEvent) -> UserTurn:
        before = self.turns.last
        if before is not None:
            before.next_start = event.at
            self._touch(before.start)
        turn = UserTurn(event.turn, event.at, heard_until=event.at)
        if not isinstance(event, e.UserStarted | e.UserBackchannel):
            # Its start is not known: it has no sound of its own.
            turn.end = event.at
        self._turn_of[turn.number] = turn
        self._touch(turn.start)
        return self.turns.add(turn)

    def _words(self, turn: UserTurn, settled: list[str], unsettled: list[str], heard_until: float) -> None:
        """Keeps each known word at its time, and spreads new ones over the sound that was transcribed."""
        texts = settled + unsettled
        known = min(len(turn.words), len(texts))
        since = max(turn.start, min(turn.heard_until, heard_until))
        step = (heard_until - since) / max(1, len(texts) - known)
        times = [word.at for word in turn.words[:known]]
        last = times[-1] if times else turn.start
        times += [max(last, since + place * step) for place in range(len(texts) - known)]
        places = range(len(texts))
        words = [Word(times[place], texts[place], place < len(settled)) for place in places]
        for old, new in zip_longest(turn.words, words):
            if old != new:
                self._touch(min(word.at for word in (old, new) if word is not None))
                break
        turn.words, turn.version = words, turn.version + 1
        turn.heard_until = max(turn.heard_until, heard_until)

    def _end(self, turn: UserTurn, at: float) -> None:
        turn.end = max(at, turn.start)
        self.turns.changed(turn)
        self._touch(at)


def _tail(text: str) -> str:
    return text if len(text) <= LONGEST_PARTIAL else "…" + text[-LONGEST_PARTIAL:]
