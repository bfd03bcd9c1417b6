"""What an answer's decisions are about: clauses to say, the answer as far as it has been said, and the decision."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from app.conversation.events import AnswerMode, SpeechRule
from app.conversation.frame import FRAME_SECONDS
from app.conversation.speaking.clauses import Clause
from app.conversation.turns.floor import TakeFloor


@dataclass(frozen=True, slots=True)
class Said:
    """Words whose audio ends at sample `end` of this step's frame (1 to 1920).

    - `revision`: the revision they come from, or 0 for none.
    - `glued`: no space precedes them.
    - `written`: the first and the last character (exclusive) of the revision's text that they stand for; None if
      unknown. Words of the voice's own, such as a bridge, stand for none.
    """

    text: str
    end: int
    turn: int
    revision: int
    glued: bool = False
    written: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class ClauseChoice:
    """A clause to speak. An opening, and a notice that the model is thinking, have revision 0.

    - `revision`, `index`: the revision, and the clause's number in it.
    - `text`: what the voice says, including a bridge.
    - `bridge`: the correction phrase at its start, if any.
    - `cuts`: the current clause is cut off to make way for it.
    - `begin`, `ends`: the written form, see `Clause`; for the words of a bridge, `ends` stays at `begin`.
    """

    revision: int
    index: int
    text: str
    bridge: str = ""
    cuts: bool = False
    begin: int = 0
    ends: tuple[int, ...] = ()

    @classmethod
    def first(cls, revision: int, clause: Clause) -> ClauseChoice:
        """Returns the first clause of a revision as a choice."""
        return cls(revision, 0, clause.spoken, begin=clause.begin, ends=clause.ends)

    def written(self, word: int, words: int) -> tuple[int, int] | None:
        """Returns the written characters that spoken word number `word` of `words` stands for; None if unknown."""
        if not self.ends:
            return None
        if words == len(self.ends):
            return self.ends[word - 1] if word else self.begin, self.ends[word]
        return self.begin, self.ends[-1] if word == words - 1 else self.begin


@dataclass(slots=True)
class SpokenAnswer:
    """The answer to a turn, as far as it has been spoken.

    - `ended`: the command that ended the user's turn.
    - `given`: the words output so far.
    - `corrections`: the number of bridges spoken so far.
    - `source`: the revision in use, 0 if none.
    - `next_clause`: the index of its next clause.
    - `started`: an opening or part of the answer has been played.
    - `audible`: part of the answer itself has been played.
    - `notified`: the user has been told that the model is thinking.
    - `restates`: the revision whose words restate the question, if nothing else has been said; else 0.
    - `opened`: it began with an opening; `opened_before`: so did the answer before it.
    """

    ended: TakeFloor
    given: list[Said] = field(default_factory=list)
    corrections: int = 0
    source: int = 0
    next_clause: int = 0
    started: bool = False
    audible: bool = False
    notified: bool = False
    restates: int = 0
    opened: bool = False
    opened_before: bool = False

    @property
    def turn(self) -> int:
        """The user's turn being answered."""
        return self.ended.turn

    @property
    def words(self) -> list[str]:
        """The words of the answer output in this turn, without openings and notices."""
        return [word.text for word in self.given if word.revision]


@dataclass(frozen=True, slots=True)
class Moment:
    """What else a decision depends on.

    - `at`: the session time in seconds at which the current frame ends, which lasts `frame_seconds`.
    - `waits_since`: when the user started to wait for the answer.
    - `answer_mode`: see `Revisions.gate`.
    - `openings`: whether openings may fill a wait.
    - `prepared`: the clause that was requested from the voice, if any.
    - `synthesised`: its audio is ready.
    - `broke_off`: the previous clause was cut off for it.
    """

    at: float = 0.0
    frame_seconds: float = FRAME_SECONDS
    waits_since: float = 0.0
    answer_mode: AnswerMode = "thinking"
    openings: bool = True
    prepared: ClauseChoice | None = None
    synthesised: bool = False
    broke_off: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """What the voice does, and the `rule` that decided it.

    - `action`: `wait` says nothing. `opening` fills the wait. `clause` says `clause`. `end`: the answer is over.
    - `clause`: with `wait`, the clause that has to be synthesised first, if there is one.
    - `words`: of the clause, only so many words are said until a revision confirms the rest; 0 for all of them.
    - `far`: with `opening`, the answer isn't expected soon.
    """

    action: Literal["wait", "opening", "clause", "end"]
    rule: SpeechRule
    clause: ClauseChoice | None = None
    revision: int = 0
    words: int = 0
    far: bool = False
