"""Folds a session's events into the turns of both sides, ordered by the time of their sound."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from typing import Literal

from app.conversation import events as e
from app.conversation.record.heard_part import SENTENCE_END, HeardPart
from app.conversation.record.revisions import Revision, RevisionLog, first_sentence
from app.conversation.speaking.correction import after_bridge, taken_back
from app.conversation.words import fold


@dataclass(frozen=True, slots=True)
class Passage:
    """Consecutive words of an answer, with the space around them.

    `withdrawn`: the voice took them back. `replaces`: it said them in place of those that it took back.
    """

    text: str
    withdrawn: bool = False
    replaces: bool = False


@dataclass(frozen=True, slots=True)
class CorrectionPoint:
    """The point in an answer at which the voice corrected itself: letter `at`. `newer`: the whole answer that it went
    over to, in its `language`.
    """

    at: int
    newer: str
    language: str


def passages(text: str, begin: int, corrections: Iterable[CorrectionPoint]) -> tuple[Passage, ...]:
    """Divides `text`, whose passages joined are `text` again. From letter `begin` on it is the answer; before that
    there is an opening, which is never taken back.
    """
    points = sorted(corrections, key=lambda one: one.at)
    if not points:
        return (Passage(text),) if text else ()
    words = [(match.start(), match.group()) for match in re.finditer(r"\S+\s*", text)]
    withdrawn: set[int] = set()
    for point in points:
        said = [(start, word) for start, word in words if begin <= start < point.at]
        flags = taken_back("".join(word for _, word in said), newer=point.newer, code=point.language)
        withdrawn |= {start for (start, _), taken in zip(said, flags, strict=True) if taken}

    def kind(word: tuple[int, str]) -> tuple[bool, bool]:
        taken = word[0] in withdrawn
        return taken, not taken and any(word[0] >= point.at for point in points)

    out, space = [], ""
    for (taken, replaces), group in groupby(words, key=kind):
        joined = space + "".join(word for _, word in group)
        shown = joined.rstrip() if taken else joined  # a line through a word ends with it
        space = joined[len(shown) :]
        out.append(Passage(shown, taken, replaces))
    return tuple(out)


BROKEN_OFF = " –"
"""Follows words after which the voice stopped to let the user go on."""

_State = tuple[bool, int, int, int]
"""Of a turn: whether it was heard to its end, and the sizes of what changes while it is heard."""


@dataclass(slots=True)
class Turn:
    """One side's words, uninterrupted by the other side.

    `stable` and `unstable` hold the user's words while `open`; afterwards all words are stable. `ended_at`: the
    session's time, None while unknown. `typed`: it was not spoken. `talk`: the session of the conversation that it
    belongs to, if there are several.
    """

    speaker: Literal["user", "assistant"]
    number: int
    started_at: float
    stable: str = ""
    unstable: str = ""
    open: bool = True
    interrupted: bool = False
    backchannel: bool = False
    ended_at: float | None = None
    typed: bool = False
    talk: int = 0
    after: tuple[int, int] | None = None
    """What a user's turn follows if that isn't the turn before it: how many sessions ago, and that turn's number."""
    backends: tuple[str, ...] = ()
    """The models whose words were heard in it, in the order of their first word."""
    revisions: int = 0
    """The oracle revisions with words that there were for an answer before it ended."""
    changes: int = 0
    """How often such a revision said something else than the one before, rather than more of the same."""
    ahead: float = 0.0
    """Seconds by which the model had the answer's first sentence, as it was spoken then, before the user had finished;
    0 if it had not.
    """
    opened: bool = False
    """It starts with an opening, which is not part of the answer."""
    parts: tuple[HeardPart, ...] = field(default=(), repr=False)
    """What it was made of, in order; nothing for the user's turns."""
    _corrections: frozenset[int] = field(default=frozenset(), repr=False, compare=False)
    """The revisions that correct what was said before, but have not been heard yet."""
    _meant: tuple[_State, str] | None = field(default=None, repr=False, compare=False)
    _written: tuple[_State, str] | None = field(default=None, repr=False, compare=False)

    @property
    def text(self) -> str:
        """All words of the turn."""
        return " ".join(part for part in (self.stable, self.unstable) if part)

    @property
    def passages(self) -> tuple[Passage, ...]:
        """The words of an answer as plain text, divided where the voice took some back and said others instead.

        They are as the model wrote them, as far as that is known. Nothing is divided in a `marked` turn.
        """
        if self.marked or not self.parts:
            return (Passage(self.text),) if self.text else ()
        text, starts = self._joined(marked=False)
        first = min((start for part, start in zip(self.parts, starts, strict=True) if part.number), default=0)
        corrections = (
            CorrectionPoint(start, part.answer, part.language)
            for part, start in zip(self.parts, starts, strict=True)
            if part.number and part.corrects
        )
        return passages(text, first, corrections)

    @property
    def pieces(self) -> tuple[tuple[Passage, HeardPart | None], ...]:
        """The `passages`, divided also where another revision's words begin, each with the part that it is from."""
        if self.marked or not self.parts:
            return tuple((one, None) for one in self.passages)
        text, starts = self._joined(marked=False)
        begun = [(len(text[:start].rstrip()), part) for start, part in zip(starts, self.parts, strict=True)]
        out: list[tuple[Passage, HeardPart | None]] = []
        place = 0
        for passage in self.passages:
            end = place + len(passage.text)
            cuts = [place, *(start for start, _ in begun if place < start < end), end]
            for begin, stop in pairwise(cuts):
                part = next((part for start, part in reversed(begun) if start <= begin), None)
                words = replace(passage, text=passage.text[begin - place : stop - place])
                out.append((words, part))
            place = end
        return tuple(out)

    @property
    def meant(self) -> str:
        """What later requests contain as this turn: the answer as its model wrote it, up to the end of the last
        sentence that was started. For the user's turns, and if the front-end rephrases answers: what was heard.
        """
        answers = self._answers
        if not answers:
            return "" if self.opened else self.text
        state = self._state
        if self._meant is None or self._meant[0] != state:  # every prompt needs it of every turn
            texts = (part.meant(self._whole) for part in reversed(answers))
            heard = " ".join(part.heard for part in answers) if self.opened else self.text
            self._meant = state, next(filter(None, texts), heard)
        return self._meant[1]

    @property
    def marked(self) -> bool:
        """Whether an answer has Markdown in it."""
        return any(part.marked for part in self._answers)

    @property
    def rest(self) -> str:
        """What is still to be said of an interrupted answer, from the beginning of the sentence that was broken off.

        Empty if the model hadn't finished it either.
        """
        revision = self.parts[-1].revision if self.interrupted and self.parts else None
        if revision is None or revision.end_reason != "complete":
            return ""
        ends = [match.end() for match in SENTENCE_END.finditer(revision.text[: revision.heard])]
        return revision.text[ends[-1] if ends else 0 :].strip()

    @property
    def written(self) -> str:
        """The assistant's words as its model wrote them, as far as they were heard: with the code and the tables that
        the voice said are on the screen. It is Markdown if the turn is `marked`, else plain text. Empty for the user's
        turns.
        """
        state = self._state
        if self._written is None or self._written[0] != state:
            self._written = state, self._joined(marked=self.marked)[0] if self._answers else ""
        return self._written[1]

    @property
    def _answers(self) -> list[HeardPart]:
        return [part for part in self.parts if part.number]

    @property
    def _whole(self) -> bool:
        """Whether it was heard to its end."""
        return not self.open and not self.interrupted

    @property
    def _state(self) -> _State:
        last = self.parts[-1] if self.parts else None
        heard, answer = (0, 0) if last is None else (len(last.heard), len(last.answer))
        return self._whole, len(self.parts), heard, answer

    def _joined(self, *, marked: bool) -> tuple[str, list[int]]:
        """Returns the words of all parts, and where each of them begins. `marked`: as Markdown."""
        joined, starts = "", list[int]()
        in_sentence = False  # after an opening such as "Hmm,"
        for part in self.parts:
            start = None
            for piece in part.written(self._whole and part is self.parts[-1], marked=marked):
                if not piece.text:
                    continue
                if in_sentence and part.number:
                    piece = replace(piece, text=after_bridge(piece.text, part.language))
                in_sentence = not part.number and piece.text.endswith(",")
                apart = "\n\n" if piece.fresh or (marked and joined.endswith("\n")) else " "
                joined += apart if joined else ""
                start = len(joined) if start is None else start
                joined += piece.text
            joined += BROKEN_OFF if part.broken_off else ""
            starts.append(len(joined) if start is None else start)
        return joined, starts


@dataclass(slots=True)
class Transcript:
    """The conversation so far: `turns`, ordered by when they started."""

    turns: list[Turn] = field(default_factory=list)
    revisions: RevisionLog = field(default_factory=RevisionLog, repr=False, compare=False)
    branch: tuple[int, int] | None = None
    """What the user's next turn follows, as in `Turn.after`."""
    _newest: dict[tuple[str, int], Turn] = field(default_factory=dict, repr=False, compare=False)
    """The newest turn of each side and number."""

    def apply(self, event: e.Event) -> Turn | None:
        """Takes one event in; returns the turn that it changed, if any."""
        return self.follow(event, self.revisions.apply(event))

    def follow(self, event: e.Event, revision: Revision | None) -> Turn | None:
        """The same for an event that the `RevisionLog` of this transcript has taken in: `revision` is its result."""
        match event:
            case e.BranchChosen():
                self.branch = event.back, event.turn
            case e.UserStarted():
                return self._add(Turn("user", event.turn, event.at))
            case e.TranscriptPartial() | e.TranscriptFinal() | e.UserEnded() | e.UserResumed() | e.UserBackchannel():
                turn = self._find("user", event.turn) or self._add(Turn("user", event.turn, event.at))
                _change_user_turn(turn, event)
                return turn
            case e.AssistantStarted() | e.AssistantOpened() | e.AssistantSaid():
                turn = self._find("assistant", event.turn) or self._add(Turn("assistant", event.turn, event.at))
                self._change_assistant_turn(turn, event)
                return turn
            case e.AssistantEnded():
                found = self._find("assistant", event.turn)
                if found is not None:
                    found.open, found.interrupted, found.ended_at = False, event.interrupted, event.at
                    self._judge(found)
                return found
            case e.AssistantCorrected(how="corrected"):
                found = self._find("assistant", event.turn)
                if found is not None:
                    found._corrections |= {event.revision}
            case e.OracleDelta() | e.OracleHandedOver() if revision is not None and revision.text:
                first_words = not isinstance(event, e.OracleDelta) or len(event.text) == len(revision.text)
                counted = self._count_revisions(revision) if first_words else None
                last = self.last("assistant")
                if last is not None and last.parts and last.parts[-1].number == event.revision:
                    return last  # code that was announced may still be growing
                return counted
        return None

    def _change_assistant_turn(
        self, turn: Turn, event: e.AssistantStarted | e.AssistantOpened | e.AssistantSaid
    ) -> None:
        match event:
            case e.AssistantStarted():  # an early start that was taken back continues
                if turn.interrupted and turn.parts and not turn.parts[-1].broken_off:
                    turn.parts[-1].broken_off = True
                    turn.stable += BROKEN_OFF
                turn.open, turn.interrupted, turn.ended_at = True, False, None
                turn.revisions = self._revisions_of(turn.number)
            case e.AssistantOpened():
                turn.opened = True
            case e.AssistantSaid():
                turn.stable = f"{turn.stable}{'' if event.glued else ' '}{event.text}".strip()
                revision = self.revisions.get(event.revision)
                if not turn.parts or turn.parts[-1].broken_off or turn.parts[-1].number != event.revision:
                    before = " ".join(part.said for part in turn.parts if part.number and not part.broken_off)
                    corrects = event.revision in turn._corrections
                    turn._corrections -= {event.revision}
                    turn.parts += (HeardPart(event.revision, revision, before, corrects),)
                turn.parts[-1].hear(event.text, glued=event.glued, begin=event.begin, end=event.end)
                model = "" if revision is None else revision.model or revision.backend
                if model and (not turn.backends or turn.backends[-1] != model):
                    turn.backends += (model,)

    def _count_revisions(self, revision: Revision) -> Turn | None:
        """Counts again for a revision that has words; returns the turn whose number has changed."""
        turn = self.last("assistant")
        if turn is None or turn.number != revision.turn or not turn.open:
            return None
        before, turn.revisions = turn.revisions, self._revisions_of(turn.number)
        return turn if turn.revisions != before else None

    def _revisions_of(self, turn: int) -> int:
        """How many revisions of the driving back-end have words for a turn."""
        return len(self._revisions_with_words(turn))

    def _revisions_with_words(self, turn: int) -> list[Revision]:
        return [one for one in self.revisions.revisions if one.turn == turn and one.text and not one.secondary]

    def _judge(self, turn: Turn) -> None:
        """Finds out how often the model changed its mind, and whether it had the answer before the user was done."""
        texts = [fold(one.text) for one in self._revisions_with_words(turn.number)]
        turn.changes = sum(not _continues(older, newer) for older, newer in pairwise(texts))
        asked = self._find("user", turn.number)
        first = next((part for part in turn.parts if part.number and not part.broken_off), None)
        if asked is None or asked.typed or asked.ended_at is None or first is None or first.revision is None:
            return
        at, text = first.revision.sentence_at, first.revision.text
        sentence = fold(first_sentence(text) or text)
        if at is not None and at < asked.ended_at and sentence and fold(first.said)[: len(sentence)] == sentence:
            turn.ahead = asked.ended_at - at

    def last(self, speaker: Literal["user", "assistant"]) -> Turn | None:
        """The newest turn of one side."""
        return next((t for t in reversed(self.turns) if t.speaker == speaker), None)

    def _find(self, speaker: Literal["user", "assistant"], number: int) -> Turn | None:
        return self._newest.get((speaker, number))

    def _add(self, turn: Turn) -> Turn:
        if turn.speaker == "user":
            turn.after, self.branch = self.branch, None
        place = len(self.turns)
        while place and self.turns[place - 1].started_at > turn.started_at:
            place -= 1
        self.turns.insert(place, turn)
        before = self._newest.get((turn.speaker, turn.number))
        if before is None or before.started_at <= turn.started_at:
            self._newest[turn.speaker, turn.number] = turn
        return turn


def _continues(older: tuple[str, ...], newer: tuple[str, ...]) -> bool:
    """Returns whether one of two texts, by their words, begins with the other."""
    short = min(len(older), len(newer))
    return older[:short] == newer[:short]


def _change_user_turn(
    turn: Turn,
    event: e.TranscriptPartial | e.TranscriptFinal | e.UserEnded | e.UserResumed | e.UserBackchannel,
) -> None:
    match event:
        case e.TranscriptPartial():
            turn.stable, turn.unstable = event.stable, event.unstable
        case e.TranscriptFinal():
            turn.stable, turn.unstable, turn.open = event.text, "", False
        case e.UserEnded():
            turn.ended_at, turn.typed = event.speech_end, event.reason == "typed"
        case e.UserResumed():
            turn.open, turn.backchannel, turn.ended_at = True, False, None
        case e.UserBackchannel():
            turn.stable, turn.unstable, turn.open, turn.backchannel = event.text, "", False, True
            turn.ended_at = event.at
