"""Asks a system a two-turn question in a fresh session, records the result, and measures it without a judge.

An `Answer` is the stored record of one turn. The measures without a judge are how much of the oracle was spoken and
with what delay, whether the answer relates to its question, and whether it contains the turn's key fact.

A key fact is a list of patterns, at least one of which matches any correct answer. The patterns were written by hand
for this bench (`resources/bench/mt_bench/facts.json`) from the questions and the references. No pattern matches its own
question, so repeating the question is not a correct answer. Four of FastChat's references are wrong and were not
followed: both turns of 104 (David has no brother; then one), the first of 105 (the fourth space is the secretary's and
Alice's), and the second of 109 (a shadow to the right after sunrise points west, so Suresh faces south).
"""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from app.backend.base import Backend, BackendError, ChatRequest, Usage
from app.conversation import events as e
from app.conversation.prompt import ChatMessage, system_prompt
from app.conversation.record.revisions import RevisionLog
from app.conversation.speaking.clauses import spoken
from app.conversation.words import fold
from app.diagnostics.tables import rounded
from app.platform.installation import resource
from app.research.benches.mtbench.plan import MODELS_THAT_SPEAK, Question, System, Tools
from app.research.benches.recordings import Conversation, Recording, Turn, heard_in


@dataclass(frozen=True, slots=True)
class Answer:
    """One turn of one question in one run of a system.

    - `heard`: the question as recognised (as written for typed systems); `said`: the played words, or the text of a
      typed system; `oracle`: the full text of the turn's last revision
    - `first_sound`, `first_content`: seconds from the end of the question until the first sound, and until the answer's
      own first word had been spoken; negative before that end, None without an answer
    - `requests`: number of back-end requests; `taken_back`: how often the voice corrected itself
    - `adopted`: the share of the last oracle's content words that were spoken; `adoption_seconds`: how long after their
      arrival (median)
    - `cost`: US dollars; `read_back`: another recogniser's transcript of the spoken answer
    - `cut_off`: whether the system started speaking before the question was over
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
        """Returns the answer as a JSON-serialisable dict."""
        return rounded(asdict(self))


_COMMON = frozenset(
    """a about after again all also am an and any are as at be because been before being but by can could did do does
    doing don done down each even ever every few first for from get give go had has have having he her here him his how
    i if in into is it its just know let like made make many may me might more most much must my no nor not now of off
    on once one only or other our out over own s same say see she should so some such t take than that the their them
    then there these they thing things this those through to too two under until up us use used using very want was way
    we well were what when where which while who whom why will with would you your""".split()
)
"""Words too common to characterise an answer."""


def content_words(text: str) -> list[str]:
    """Returns the words of a text that carry its content, in order."""
    return [word for word in fold(spoken(text)) if word not in _COMMON and len(word) > 1]


def adoption(oracle: str, events: Sequence[e.Event], revision: int) -> tuple[float | None, float | None]:
    """Returns the share of the last oracle's content words that were spoken, and the median delay in seconds.

    The delay runs from a word's arrival in the oracle until it had been spoken. `revision`: the oracle's number. Both
    are None without an oracle; the delay is None if no word was spoken after it arrived.
    """
    wanted = content_words(oracle)
    if not wanted:
        return None, None
    known: dict[str, float] = {}
    heard: dict[str, float] = {}
    text = ""
    for event in events:
        if isinstance(event, e.OracleDelta) and event.revision == revision:
            text += event.text
            known = {**dict.fromkeys(content_words(text), event.at), **known}
        elif isinstance(event, e.AssistantSaid):
            heard = {**dict.fromkeys(content_words(event.text), event.at), **heard}
    distinct = dict.fromkeys(wanted)
    late = [heard[word] - known[word] for word in distinct if word in known and heard.get(word, -1.0) >= known[word]]
    share = sum(word in heard for word in distinct) / len(distinct)
    return share, statistics.median(late) if late else None


def relevance_gap(answered: Sequence[tuple[int, str, str]]) -> float | None:
    """Returns by how much more answers share content words with their own questions than with others, from -1 to 1.

    `answered`: each question's number and text, and its answer. The overlap is the share of the question's content
    words that occur in the answer. The gap is its mean over matching pairs minus that over pairs with different
    numbers; None if there are fewer than two numbers.
    """
    words = [(number, set(content_words(asked)), set(content_words(said))) for number, asked, said in answered]
    pairs = [(a[0], b[0], len(a[1] & b[2]) / max(1, len(a[1])), a is b) for a in words for b in words]
    others = [share for number, another, share, _ in pairs if number != another]
    own = [share for _, _, share, same in pairs if same]
    return statistics.fmean(own) - statistics.fmean(others) if others else None


@cache
def known_facts() -> dict[tuple[int, int], tuple[re.Pattern[str], ...]]:
    """Returns the patterns, keyed by question and turn."""
    table = json.loads(resource("bench", "mt_bench", "facts.json").read_text("utf-8"))
    numbers = {key: key.split("_") for key in table}
    return {(int(a), int(b)): tuple(map(re.compile, table[key])) for key, (a, b) in numbers.items()}


def has_fact(question: int, turn: int, answer: str) -> bool | None:
    """Whether an answer contains the key fact of its turn; None if the turn has none."""
    patterns = known_facts().get((question, turn))
    return None if patterns is None else any(pattern.search(" ".join(answer.lower().split())) for pattern in patterns)


LONGEST_ANSWER_SECONDS = 180.0
"""Limit after the question's end. An answer still playing then is cut off by the next turn and counts as a failure."""
REMEMBERED_SECONDS = 240.0
TYPED_TOKENS = 1024


async def ask_aloud(
    tools: Tools, system: System, run: int, question: Question, sounds: Sequence[Recording], weights: str = ""
) -> list[Answer]:
    """Asks all turns in one session. Propagates errors from opening a session."""
    answers = []
    how: dict[str, Any] = {"simulated": tools.simulated, "remember_seconds": REMEMBERED_SECONDS if tools.read else 0.0}
    async with Conversation(tools.make_session, system.choice(weights), **how) as talk:
        for number, sound in enumerate(sounds, 1):
            turn = await talk.ask(sound, patience=LONGEST_ANSWER_SECONDS)
            begin = max(0.0, turn.end - 5.0, turn.resumed)
            heard_again = await talk.read_back(tools.read, begin) if tools.read is not None else None
            answers.append(_answer(system, run, question.number, number, turn, heard_again))
    return answers


def _answer(system: System, run: int, question: int, number: int, turn: Turn, read_back: str | None) -> Answer:
    log = RevisionLog()
    for event in turn.events:
        log.apply(event)
    last = next((one for one in reversed(log.revisions) if not one.secondary and one.text.strip()), None)
    # From the app's voice, words without a revision are openings and error messages; from a model that speaks, content.
    content = [word for word in turn.words if word.revision or system.kind in MODELS_THAT_SPEAK]
    share, late = adoption(last.text, turn.events, last.number) if last is not None else (None, None)
    too_long = "" if turn.over else f"The answer took longer than {LONGEST_ANSWER_SECONDS:.0f} s."
    return Answer(
        system=system.name,
        run=run,
        question=question,
        turn=number,
        heard=heard_in(turn.events),
        said="".join(word.text if word.glued else f" {word.text}" for word in content).strip(),
        oracle=last.text.strip() if last is not None else "",
        first_sound=turn.first_sound,
        first_content=content[0].at - turn.end if content else None,
        requests=sum(not event.secondary for event in turn.of(e.OracleRequested)),
        taken_back=turn.corrections,
        adopted=share,
        adoption_seconds=late,
        cost=sum(event.cost or 0.0 for event in turn.of(e.OracleCounted)),
        read_back=read_back,
        cut_off=any(at < 0.0 for at in turn.starts),
        failure=next(iter(turn.failures), too_long),
    )


async def ask_typed(tools: Tools, system: System, run: int, question: Question) -> list[Answer]:
    """Asks both turns as text, with the prompt that a session sends to the back-end. Raises BackendError."""
    async with opened(tools.make_backend(system.backend)) as backend:
        traits = backend.traits
        messages = [ChatMessage("system", system_prompt(traits.persona))]
        answers = []
        for turn, text in enumerate(question.turns, 1):
            messages.append(ChatMessage("user", text))
            request = ChatRequest(tuple(messages), max(traits.max_tokens, TYPED_TOKENS), traits.temperature)
            failure, said, spent = "", "", 0.0
            try:
                said, usage = await complete(backend, request)
                spent = (tools.cost(backend, usage) or 0.0) if usage is not None else 0.0
            except BackendError as error:
                failure = str(error)
            messages.append(ChatMessage("assistant", said or "I have no answer."))
            answers.append(
                Answer(system.name, run, question.number, turn, text, said, requests=1, cost=spent, failure=failure)
            )
    return answers


@asynccontextmanager
async def opened(backend: Backend) -> Any:
    """Keeps a back-end open inside the block. Raises BackendError."""
    await backend.open()
    try:
        yield backend
    finally:
        await backend.close()


async def complete(backend: Backend, request: ChatRequest) -> tuple[str, Usage | None]:
    """Returns the whole answer to a request, and its usage. Raises BackendError."""
    text, usage = "", None
    async with backend.stream(request) as items:
        async for item in items:
            if isinstance(item, str):
                text += item
            elif isinstance(item, Usage):
                usage = item
    return text.strip(), usage
