"""Judges one answer by its session's events: whether something was taken back, and how soon it came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from app.conversation import events as e
from app.conversation.languages import ENGLISH, language
from app.conversation.spoken_form import spoken
from app.conversation.words import fold
from app.diagnostics.tables import rounded


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """One question's answer as it was played.

    `heard`: the question as recognised; `said`: the answer without its `opening`, the words that filled the wait;
    `bridges`: how often a bridge was spoken; `whole`: the answer is nothing but the beginning of one revision. Seconds
    from the question's end: `first_sound`, which may be an opening's; `first_word`, until the answer's first word had
    been said. `right`: it contains a known answer.
    """

    question: str
    heard: str
    said: str
    opening: str
    bridges: int
    whole: bool
    first_sound: float | None
    first_word: float | None
    right: bool

    @property
    def taken_back(self) -> bool:
        """Whether something was said that did not hold: a bridge was spoken, even one that a back-end has learned from
        its own history, or the content changed.
        """
        learned = contains_any(self.said, language(ENGLISH).bridges)
        return self.bridges > 0 or learned or bool(self.said and not self.whole)

    def document(self) -> dict[str, Any]:
        """The answer for JSON."""
        return {**rounded(asdict(self), 3), "taken_back": self.taken_back}


def judge(
    question: str, answers: Sequence[str], events: Sequence[e.Event], end: float, output_delay: float
) -> JudgedAnswer:
    """Judges the answer to a question that ended at session time `end`. `answers`: ways to put the right one;
    `output_delay`: seconds from a loudspeaker's input to its sound.
    """
    texts: dict[int, str] = {}
    for event in events:
        if isinstance(event, e.OracleDelta):
            texts[event.revision] = texts.get(event.revision, "") + event.text
    # An answer that began too early, before the user resumed the turn, is not the answer to the question.
    resumed = max((x.at for x in events if isinstance(x, e.UserResumed)), default=-1.0)
    words = [x for x in events if isinstance(x, e.AssistantSaid) and x.at > resumed]
    content = [x for x in words if x.revision]
    opening = " ".join(x.text for x in words if not x.revision)
    said = " ".join(x.text for x in content)
    mine = fold(said)
    whole = any(fold(spoken(text))[: len(mine)] == mine for text in texts.values())
    starts = [x.at for x in events if isinstance(x, e.AssistantStarted) and x.at > resumed]
    finals = {x.turn: x.text for x in events if isinstance(x, e.TranscriptFinal)}
    return JudgedAnswer(
        question=question,
        heard=" ".join(finals[turn] for turn in sorted(finals)),
        said=said,
        opening=opening,
        bridges=sum(isinstance(x, e.AssistantCorrected) and x.how == "corrected" for x in events),
        whole=whole,
        first_sound=starts[0] + output_delay - end if starts else None,
        first_word=content[0].at - end if content else None,
        right=contains_any(said, answers),
    )


def contains_any(text: str, phrases: Iterable[str]) -> bool:
    """Whether `text` contains one of the phrases, as whole words."""
    words = f" {' '.join(fold(text))} "
    return any(f" {' '.join(fold(phrase))} " in words for phrase in phrases)
