"""The items of the timeline, from a session's events and revisions. No Qt.

The lists are sorted by start time; `things.between` finds the items in view.
"""

from __future__ import annotations

from bisect import insort
from itertools import chain
from typing import Any

from app.conversation import events as e
from app.conversation.frame import FRAME_SECONDS
from app.conversation.record.record import Change
from app.conversation.record.revisions import Revision
from app.gui.inspector.things import (
    ROWS,
    Answer,
    Backend,
    Fault,
    Fed,
    Lateness,
    Levels,
    Partial,
    RequestBar,
    Swap,
    Taken,
    Thing,
    Trouble,
    UserTurn,
    Word,
    between,
    by_start,
)

KEPT_SECONDS = 1800.0
PRUNED_SECONDS = 30.0
"""Interval between removals of old items."""
LOOKED_BACK = 64
"""Number of recent turns or bars among which to look for the one that an event refers to."""
LONGEST_PARTIAL = 240
"""Number of trailing characters kept of each partial.

Without a limit, the memory used by a turn's partials would grow quadratically with its length.
"""

TranscriptEvent = e.TranscriptPartial | e.TranscriptFinal
UserEvent = e.UserStarted | e.UserPaused | e.UserResumed | e.UserEnded | e.UserBackchannel | TranscriptEvent
HoldEvent = e.AssistantHeld | e.AssistantResumed | e.AssistantEnded
AssistantEvent = e.AssistantStarted | e.AssistantSaid | e.AssistantCorrected | HoldEvent


class Activity:
    """The current session's timeline.

    Call `begin` before a session, `apply` with each change and `end` after it. Items older than `kept_seconds` are
    dropped.
    """

    def __init__(self, kept_seconds: float = KEPT_SECONDS) -> None:
        self.kept_seconds = kept_seconds
        self.changes = 0
        """Incremented on every change, so that views know when to update."""
        self.begin()

    def begin(self) -> None:
        """Starts a session. Each session numbers its turns and revisions from 1."""
        self.changes += 1
        self.now = 0.0
        """Time of the latest event, in seconds of the session."""
        self.levels = Levels(round(self.kept_seconds / FRAME_SECONDS))
        self.turns: list[UserTurn] = []
        self.partials: list[Partial] = []
        self.bars: list[RequestBar] = []
        self.fed: list[Fed] = []
        self.taken: list[Taken] = []
        self.answers: list[Answer] = []
        self._decisions: list[e.SpeechDecided] = []  # about answers that haven't begun
        self.swaps: list[Swap] = []
        self.troubles: list[Trouble] = []
        self.backends: list[Backend] = []
        """All models used in this session, in order of first use."""
        self.has_secondary = False
        """Whether a secondary back-end has received a request."""
        self._large: tuple[list[Any], ...] = (self.swaps, self.turns, self.bars, self.answers, self.troubles)
        self._small: tuple[list[Any], ...] = (self.partials, self.fed, self.taken)
        """The lists whose items arrive several times a second."""
        self._lateness = Lateness()
        self._pruned_at = 0.0

    def end(self) -> None:
        """Ends the session, closing every item that is still open."""
        self.changes += 1
        things: tuple[UserTurn | Answer | RequestBar, ...] = (*self.turns, *self.answers, *self.bars)
        for thing in things:
            if thing.end is None:
                thing.close(self.now)

    @property
    def oldest(self) -> float:
        """The session time, in seconds, before which items are dropped."""
        return max(0.0, self.now - self.kept_seconds)

    def step(self, thing: Thing | None, *, forward: bool, small: bool) -> Thing | None:
        """Returns the item after `thing` (before it if not `forward`), or None at either end.

        If `thing` is None, returns the newest item. `small`: whether to include transcripts, and the words and tokens
        that reached the front-end.
        """
        things: list[Thing] = list(chain(*self._large, *(self._small if small else ())))
        if thing is None:
            return max(things, key=by_start, default=None)
        if thing not in things:
            things.append(thing)
        things.sort(key=by_start)
        place = things.index(thing) + (1 if forward else -1)
        return things[place] if 0 <= place < len(things) else None

    def apply(self, change: Change) -> None:
        """Takes in an event and its revision."""
        event, revision = change.event, change.revision
        self.now = max(self.now, event.at)
        self.changes += 1
        match event:
            case e.LevelMeasured(at, user_dbfs, assistant_dbfs, late_ms):
                self.levels.add(at, user_dbfs, assistant_dbfs)
                over = self._lateness.over(at, late_ms)
                if over > 0:
                    self._add_trouble(at, "late", round(over, 1))
                self._prune()
            case _ if isinstance(event, UserEvent):
                self._apply_user(event)
            case _ if isinstance(event, AssistantEvent):
                self._apply_assistant(event)
            case e.SpeechDecided():
                answer = self.answers[-1] if self.answers else None
                begun = answer is not None and answer.turn == event.turn and answer.end is None
                (answer.decisions if answer is not None and begun else self._decisions).append(event)
            case e.SessionStarted(backend=backend, model=model):
                self._meet((backend, model))
            case e.BackendChanged(at, backend, model, reason):
                self._meet((backend, model))
                insort(self.swaps, Swap(at, reason, model or backend, (backend, model)), key=by_start)
            case e.FrontEndChanged(at, frontend):
                insort(self.swaps, Swap(at, "frontend", frontend), key=by_start)
            case e.Underrun(at, count):
                self._add_trouble(at, "underrun", count)
            case e.FramesDropped(at, frames):
                self._add_trouble(at, "dropped", frames)
            case e.SoundLost(at, frames):
                self._add_trouble(at, "lost", frames)
            case e.RecognitionSkipped(at, decodes):
                self._add_trouble(at, "skipped", decodes)
            case e.Failure(at, _, sentence) | e.Notice(at, _, sentence):
                self._add_trouble(at, "failure", 0, sentence)
            case e.OracleFed() | e.OracleTaken():
                self._feed(event)
            case _ if revision is not None:
                self._apply_request(event, revision)

    def _add_trouble(self, at: float, what: Fault, amount: float, sentence: str = "") -> None:
        insort(self.troubles, Trouble(at, what, amount, sentence), key=by_start)

    def _meet(self, backend: Backend) -> None:
        if any(backend) and backend not in self.backends:
            self.backends.append(backend)

    def _prune(self) -> None:
        if self.now - self._pruned_at >= PRUNED_SECONDS:
            self._pruned_at = self.now
            for things in self._large + self._small:
                things[:] = between(things, self.oldest, self.now)

    # -- the user

    def _apply_user(self, event: UserEvent) -> None:
        newest, at = reversed(self.turns[-LOOKED_BACK:]), event.at
        turn = next((turn for turn in newest if turn.turn == event.turn), None) or self._add_turn(event)
        match event:
            case e.UserPaused(speech_end=speech_end):
                if not turn.gaps or turn.gaps[-1][1] is not None:
                    turn.gaps.append((speech_end, None))
            case e.UserResumed():
                turn.close_gap(at)
                turn.end, turn.speech_end, turn.reason, turn.backchannel = None, None, "", False
            case e.UserEnded(speech_end=speech_end, reason=reason):
                turn.speech_end, turn.reason = speech_end, reason
                turn.close(at)
            case e.UserBackchannel(text=text):
                turn.backchannel, turn.words = True, [Word(turn.start, text)]
                turn.close(at)
            case e.TranscriptPartial(_, _, stable, unstable, heard_until):
                _place_words(turn, stable.split(), unstable.split(), heard_until)
                insort(self.partials, Partial(at, _tail(stable), _tail(unstable)), key=by_start)
            case e.TranscriptFinal(text=text, heard_until=heard_until):
                _place_words(turn, text.split(), [], heard_until)
                insort(self.partials, Partial(at, _tail(text), "", True), key=by_start)

    def _add_turn(self, event: UserEvent) -> UserTurn:
        turn = UserTurn(event.turn, event.at, known_until=event.at)
        if not isinstance(event, e.UserStarted | e.UserBackchannel):
            turn.end = event.at  # its start is unknown, so it has no duration
        insort(self.turns, turn, key=by_start)
        return turn

    # -- the assistant

    def _apply_assistant(self, event: AssistantEvent) -> None:
        answer = self.answers[-1] if self.answers else None
        # Words may be reported after their answer has ended.
        mine = answer is not None and answer.turn == event.turn
        if answer is None or not mine or (answer.end is not None and not isinstance(event, e.AssistantSaid)):
            if not isinstance(event, e.AssistantStarted | e.AssistantSaid):
                return
            if answer is not None and answer.end is None:
                answer.close(event.at)
            answer = Answer(event.turn, event.at, known_until=event.at)
            answer.decisions = [one for one in self._decisions if one.turn == event.turn]
            self._decisions.clear()
            insort(self.answers, answer, key=by_start)
        match event:
            case e.AssistantSaid():
                self._say(answer, event)
            case e.AssistantCorrected(at, _, revision, how):
                answer.corrections.append((at, revision, how))
            case e.AssistantHeld(at):
                answer.gaps.append((at, None))
            case e.AssistantResumed(at):
                answer.close_gap(at)
            case e.AssistantEnded(at, interrupted=interrupted):
                answer.interrupted = interrupted
                answer.close(at)

    def _say(self, answer: Answer, event: e.AssistantSaid) -> None:
        """Distributes the words by length over the time since the previous ones."""
        texts = event.text.split()
        if texts and event.glued and answer.words:
            answer.words[-1] = Word(answer.words[-1].at, answer.words[-1].text + texts.pop(0))
        since = min(answer.known_until, event.at)
        letters, so_far = sum(map(len, texts)) or 1, 0
        for text in texts:
            answer.words.append(Word(since + (event.at - since) * so_far / letters, text))
            so_far += len(text)
        if event.text.strip():
            answer.known_until = event.at

    # -- the requests

    def _apply_request(self, event: e.Event, request: Revision) -> None:
        match event:
            case e.OracleRequested(at=at):
                self._add_bar(RequestBar(request, at, request.secondary))
            case e.OracleHandedOver(at=at):
                before = self._bar_of(request.number)
                if before is not None:
                    before.handed_over = True
                    before.end = before.end or max(at, before.start)
                self._add_bar(RequestBar(request, at, False, None if request.ended_at is None else at))
            case e.OracleEnded(at=at):
                bar = self._bar_of(request.number)
                if bar is not None:
                    bar.close(at)

    def _bar_of(self, revision: int) -> RequestBar | None:
        return next((bar for bar in reversed(self.bars[-LOOKED_BACK:]) if bar.request.number == revision), None)

    def _add_bar(self, bar: RequestBar) -> None:
        """Adds a bar one row below the previous bar, wrapping around and skipping rows occupied by running bars."""
        self._meet(bar.backend)
        self.has_secondary = self.has_secondary or bar.secondary
        newest = [other for other in self.bars[-LOOKED_BACK:] if other.secondary == bar.secondary]
        bar.named = not newest or newest[-1].backend != bar.backend
        for rows in ROWS:
            busy = {other.rows[rows] for other in newest if other.end is None}
            stairs = [((newest[-1].rows[rows] if newest else -1) + step) % rows for step in range(1, rows + 1)]
            bar.rows[rows] = next((row for row in stairs if row not in busy), stairs[0])
        insort(self.bars, bar, key=by_start)

    def _feed(self, event: e.OracleFed | e.OracleTaken) -> None:
        bar, at = self._bar_of(event.revision), event.at
        backend = ("", "") if bar is None else bar.backend
        if isinstance(event, e.OracleTaken):
            last = self.taken[-1] if self.taken else None
            before = last.taken if last is not None and last.revision == event.revision else 0
            tokens = max(0, event.taken - before)
            insort(self.taken, Taken(at, event.revision, backend, tokens, event.taken, event.waiting), key=by_start)
            return
        insort(self.fed, Fed(at, event.revision, backend, event.words, event.waited_ms), key=by_start)
        if bar is not None:
            bar.fed_until = at


def _place_words(turn: UserTurn, settled: list[str], unsettled: list[str], heard_until: float) -> None:
    """Keeps the times of existing words, and distributes new words evenly over the newly transcribed audio."""
    texts = settled + unsettled
    known = min(len(turn.words), len(texts))
    since = max(turn.start, min(turn.known_until, heard_until))
    step = (heard_until - since) / max(1, len(texts) - known)
    times = [word.at for word in turn.words[:known]]
    last = times[-1] if times else turn.start
    times += [max(last, since + place * step) for place in range(len(texts) - known)]
    turn.words = [Word(at, text, n < len(settled)) for n, (at, text) in enumerate(zip(times, texts, strict=True))]
    turn.known_until = max(turn.known_until, heard_until)


def _tail(text: str) -> str:
    return text if len(text) <= LONGEST_PARTIAL else "…" + text[-LONGEST_PARTIAL:]
