"""What is kept of one answered turn, in a form that a file holds."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from app.diagnostics.tables import rounded
from app.untrusted.records import build


@dataclass(frozen=True, slots=True)
class Answer:
    """One turn of one question in one run of a system.

    `heard`: the question as recognised (as written for typed systems). `said`: the words that were played; of a typed
    system its text. `oracle`: the whole text of the last revision for the turn. Seconds from the end of the question,
    negative before it, None without: `first_sound`, and `first_content`, when the first word of the answer itself had
    been said. `requests`: how often the back-end was asked. `taken_back`: how often the voice corrected itself.
    `adopted`: the share of the last oracle's content words that were said, and `adoption_seconds` how long after they
    were known (median). `cost`: US dollars. `read_back`: what another recogniser understood of the answer. `cut_off`:
    it began to speak before the question was over.
    """

    system: str
    run: int
    question: int
    turn: int
    heard: str
    said: str
    oracle: str = ""
    first_sound: float | None = None
    first_content: float | None = None
    requests: int = 0
    taken_back: int = 0
    adopted: float | None = None
    adoption_seconds: float | None = None
    cost: float = 0.0
    read_back: str | None = None
    cut_off: bool = False
    failure: str = ""

    @property
    def key(self) -> tuple[str, int, int, int]:
        """System, run, question and turn."""
        return self.system, self.run, self.question, self.turn

    def document(self) -> dict[str, Any]:
        """The answer for JSON."""
        document: dict[str, Any] = rounded(asdict(self))
        return document


def read_answer(fields: Any) -> Answer:
    """Returns an answer from JSON. Raises ValueError."""
    answer: Answer = build(Answer, fields)
    return answer
