"""Turns items into short spoken dialogues: what the user asks in their own words, and what the assistant answers."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from app.conversation.languages import ENGLISH, language
from app.research.corpus.items import Item

MOST_QUESTION_WORDS = 90
MOST_ANSWER_WORDS = 60


@dataclass(frozen=True, slots=True)
class Script:
    """A dialogue to be spoken. `turns`: the user's and the assistant's words in turn, the user's first."""

    name: str
    turns: tuple[str, ...]


def prompt_of(item: Item, code: str = ENGLISH) -> str:
    """The prompt that asks for a dialogue about an item, in the language `code`."""
    lines = [
        "Write a short spoken dialogue between a user and an assistant, about this question.",
        f"Question: {item.question}",
    ]
    if code != ENGLISH:
        lines.append(f"The dialogue is in {language(code).name}.")
    if item.choices:
        lines.append("Choices: " + "; ".join(item.choices))
    lines.append(f"Right answer: {item.answer}")
    if item.reason:
        lines.append(f"Why: {item.reason[:600]}")
    lines.append(
        "The user asks aloud, in one or two natural sentences that hold all that is needed to answer; choices are "
        "named in the sentence. The assistant gives the right answer and the reason in at most two sentences. Write "
        "numbers, symbols and formulas as they are spoken. No lists, no markup. You may add one follow-up question "
        "with its answer.\n"
        'Write only JSON: {"turns": ["the user\'s words", "the assistant\'s words", …]}'
    )
    return "\n\n".join(lines)


def script_of(item: Item, answer: str) -> Script:
    """The dialogue in a back-end's answer. Raises ValueError with what is wrong, in a few words."""
    found = re.search(r"\{.*\}", answer, re.DOTALL)
    if found is None:
        raise ValueError("no JSON")
    try:
        turns = json.loads(found[0])["turns"]
    except (ValueError, KeyError, TypeError):
        raise ValueError("no JSON of that form") from None
    if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        raise ValueError("turns are no strings")
    script = Script(item.name, tuple(" ".join(turn.split()) for turn in turns))
    if fault := fault_of(script, item):
        raise ValueError(fault)
    return script


def fault_of(script: Script, item: Item | None = None) -> str:
    """What makes a dialogue unusable, in a few words; empty if it is fine."""
    turns = script.turns
    if len(turns) < 2 or len(turns) % 2:
        return "no question with an answer"
    for place, turn in enumerate(turns):
        words = turn.split()
        most = MOST_ANSWER_WORDS if place % 2 else MOST_QUESTION_WORDS
        if not words:
            return "an empty turn"
        if len(words) > most:
            return "too long a turn"
        if re.search(r"[*#_<>\[\]{}|`\\=^]", turn):
            return "not spoken words"
        if re.match(r"(user|assistant)\s*:", turn, re.IGNORECASE):
            return "names the speaker"
    if len(set(turns)) < len(turns):
        return "repeats a turn"
    if item is not None and not _holds(turns[1], item.answer):
        return "without the right answer"
    return ""


def _holds(text: str, answer: str) -> bool:
    """Whether a text may hold an answer: most of its words, or, where it has digits, none that could contradict."""
    have, wanted = (set(re.findall(r"[\w']+", part.lower())) for part in (text, answer))
    if any(word.isdigit() for word in wanted):
        digits = {word for word in have if word.isdigit()}
        return not digits or bool(digits & wanted)  # numbers may be written as words
    content = {word for word in wanted if len(word) > 3} or wanted
    return len(content & have) * 2 >= len(content)
