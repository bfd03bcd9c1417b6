"""`bench reasoning`: questions with one right answer; the same brain typed, as a cascade and in the tandem.

The questions are made by rule and seed, in the four forms of Big Bench Audio and in this project's own words, or they
are that data set's (Artificial Analysis; 1,000 spoken questions in four categories). Its folder holds `metadata.jsonl`
or `metadata.csv`, whose rows name each sound (`file_name`), its `category` and its `official_answer`. An answer in
words is right by the number, the yes or no, or the verdict of valid or invalid in it.
"""

from __future__ import annotations

import asyncio
import csv
import io
import itertools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from app.backend.base import Backend, Usage
from app.diagnostics.tables import Progress, machine, markdown, rounded
from app.research.benches.mtbench.asking import Answer, ask_aloud, ask_typed
from app.research.benches.mtbench.plan import Question, System
from app.research.benches.recordings import MakeSession, RunTalk, clean, normalised, read_sound
from app.research.results import at_share, grouped, report, shown, unreadable
from app.session.control import BackendChoice
from app.session.errors import UserError
from app.untrusted.files import read_json_lines, read_text
from app.untrusted.limits import CORPUS, CORPUS_LINE

FORMS = ("object counting", "navigation", "web of lies", "formal fallacies")

_THINGS = {
    "fruits": ("apple", "banana", "peach", "plum", "lemon", "pear"),
    "animals": ("horse", "rabbit", "goat", "duck", "mouse", "frog"),
    "instruments": ("violin", "drum", "flute", "trumpet", "piano", "guitar"),
    "vegetables": ("carrot", "onion", "potato", "cabbage", "leek", "turnip"),
}
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NAMES = ("Anna", "Boris", "Clara", "David", "Emma", "Felix", "Greta", "Hugo", "Ida", "Jonas", "Karla", "Leo")
_GROUPS = ("bakers", "singers", "sailors", "teachers", "gardeners", "dancers", "painters", "runners")
_IRREGULAR = {"mouse": "mice", "potato": "potatoes", "cabbage": "cabbages", "peach": "peaches"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A question. `text`: empty if it exists as sound only; `samples`: its sound, float32 mono 24 kHz, empty without.

    `answer`: the right one, a number in digits, yes, no, valid or invalid.
    """

    number: int
    form: str
    text: str
    answer: str
    samples: np.ndarray = field(default_factory=lambda: np.zeros(0, np.float32), compare=False)


def generate(count: int, seed: int = 0) -> list[Asked]:
    """Returns the first `count` items for a seed; the forms alternate, and the answers of each form are balanced by
    chance.
    """
    chance = random.Random(seed)
    makers = (_counting, _navigation, _lies, _fallacies)
    items = []
    for number in range(count):
        place = number % len(FORMS)
        text, answer = makers[place](chance)
        items.append(Asked(number + 1, FORMS[place], text, answer))
    return items


def _counting(chance: random.Random) -> tuple[str, str]:
    asked, other = chance.sample(sorted(_THINGS), 2)
    wanted = chance.sample(_THINGS[asked], chance.randint(2, 3))
    things = [(thing, True) for thing in wanted] + [(thing, False) for thing in chance.sample(_THINGS[other], 2)]
    chance.shuffle(things)
    parts, total = [], 0
    for thing, counts in things:
        many = chance.randint(1, 4)
        total += many if counts else 0
        parts.append(f"{_NUMBERS[many - 1]} {thing if many == 1 else _IRREGULAR.get(thing, f'{thing}s')}")
    return f"I have {', '.join(parts[:-1])} and {parts[-1]}. How many {asked} do I have? Say the number.", str(total)


def _navigation(chance: random.Random) -> tuple[str, str]:
    steps = [(chance.choice(("forward", "backward", "left", "right")), chance.randint(1, 6)) for _ in range(3)]
    if chance.random() < 0.5:  # so that it leads back
        across, along = _place(steps)
        steps += [("left" if across > 0 else "right", abs(across))] * bool(across)
        steps += [("backward" if along > 0 else "forward", abs(along))] * bool(along)
    words = [f"take {_count(many)} step{'s' if many > 1 else ''} {way}" for way, many in steps]
    path = ". Then ".join(words)
    text = f"You always face the same way. {path[0].upper()}{path[1:]}. Are you back where you started? Say yes or no."
    return text, "yes" if _place(steps) == (0, 0) else "no"


def _place(steps: list[tuple[str, int]]) -> tuple[int, int]:
    ways = {"forward": (0, 1), "backward": (0, -1), "left": (-1, 0), "right": (1, 0)}
    return sum(ways[way][0] * many for way, many in steps), sum(ways[way][1] * many for way, many in steps)


def _count(many: int) -> str:
    return _NUMBERS[many - 1] if many <= len(_NUMBERS) else str(many)


def _lies(chance: random.Random) -> tuple[str, str]:
    names = chance.sample(_NAMES, 4)
    honest = chance.random() < 0.5
    parts = [f"{names[0]} {'tells the truth' if honest else 'lies'}."]
    for before, name in itertools.pairwise(names):
        says_honest = chance.random() < 0.5
        parts.append(f"{name} says that {before} {'tells the truth' if says_honest else 'lies'}.")
        honest = honest == says_honest
    return f"{' '.join(parts)} Does {names[-1]} tell the truth? Say yes or no.", "yes" if honest else "no"


def _fallacies(chance: random.Random) -> tuple[str, str]:
    a, b, c = chance.sample(_GROUPS, 3)
    valid = (
        (f"All {a} are {b}. All {b} are {c}.", f"All {a} are {c}."),
        (f"No {a} are {b}. All {c} are {b}.", f"No {c} are {a}."),
        (f"Some {a} are {b}. All {b} are {c}.", f"Some {a} are {c}."),
    )
    invalid = (
        (f"All {a} are {b}. All {c} are {b}.", f"All {a} are {c}."),
        (f"Some {a} are {b}. Some {b} are {c}.", f"Some {a} are {c}."),
        (f"All {a} are {b}. No {c} are {a}.", f"No {c} are {b}."),
    )
    is_valid = chance.random() < 0.5
    premises, conclusion = chance.choice(valid if is_valid else invalid)
    text = f"{premises} It follows that {conclusion[0].lower()}{conclusion[1:-1]}. Is this argument valid or invalid?"
    return text, "valid" if is_valid else "invalid"


def load_big_bench_audio(folder: Path, count: int = 0) -> list[Asked]:
    """Loads `count` items, cycling through the categories; 0 loads all.

    Raises UserError, and TranscriberError for unreadable audio.
    """
    sentence = (
        f"{folder} can't be read as Big Bench Audio ({{}}). Give the folder with its metadata.jsonl, whose rows have "
        "file_name, category and official_answer."
    )
    with unreadable(UserError, sentence):
        items = [
            (number, str(row["category"]).replace("_", " "), str(row["official_answer"]), str(row["file_name"]))
            for number, row in enumerate(_in_turn(_rows(folder))[: count or None], 1)
        ]
    for _, _, _, name in items:
        if not (folder / name).resolve().is_relative_to(folder.resolve()):
            raise UserError(f"The sound {name} would lie outside of {folder}. Correct the metadata.")
    return [Asked(number, kind, "", answer, read_sound(folder / name)) for number, kind, answer, name in items]


def _in_turn(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Interleaves the rows by category."""
    kinds = grouped(rows, lambda row: str(row["category"])).values()
    return [row for same in itertools.zip_longest(*kinds) for row in same if row is not None]


def _rows(folder: Path) -> list[Mapping[str, Any]]:
    if (folder / "metadata.jsonl").is_file():
        return list(read_json_lines(folder / "metadata.jsonl", CORPUS, CORPUS_LINE))
    text = read_text(folder / "metadata.csv", CORPUS)
    return list(csv.DictReader(io.StringIO(text)))


_VERDICT = re.compile(r"\b(?:in)?valid\b")
_NEGATIONS = frozenset(("not", "no", "isn't", "isnt", "never", "cannot", "can't"))
NEGATION_REACH = 4
"""Number of words before a verdict that are searched for a negation: “is not a logically valid”."""


def is_right(answer: str, right: str) -> bool:
    """Whether `answer` states `right`."""
    return found_in(answer, right) == right.lower()


def found_in(answer: str, right: str) -> str:
    """Returns what `answer` states, of the kind of `right`; an empty string if nothing.

    Of several verdicts the last counts, as when an answer reasons aloud; of yes and no, the first. Of several numbers
    the last counts, except that a number before a colon, which introduces a list, takes precedence over those in the
    list.
    """
    right = right.lower()
    if right in ("valid", "invalid"):
        return _verdict(answer)
    if right in ("yes", "no"):
        return next((word for word in normalised(answer) if word in ("yes", "no")), "")
    head, colon, _ = answer.partition(":")
    return (_number(head) if colon else "") or _number(answer)


def _verdict(answer: str) -> str:
    text = answer.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    found = list(_VERDICT.finditer(text))
    if not found:
        return ""
    clause = re.split(r"[.,;:!?]", text[: found[-1].start()])[-1]
    negations = sum(word in _NEGATIONS for word in clause.split()[-NEGATION_REACH:])
    return "valid" if (found[-1][0] == "valid") == (negations % 2 == 0) else "invalid"


def _number(text: str) -> str:
    """Returns the last number in a text, as digits."""
    return next((word for word in reversed(normalised(text)) if word.isdigit()), "")


@dataclass(slots=True)
class ReasoningResult:
    """Answers by system, in the order of `asked`."""

    asked: Sequence[Asked]
    costs: str
    """What the stages cost in simulated time; empty in real time."""
    answers: dict[str, list[Answer]] = field(default_factory=dict)

    def figures(self, system: str) -> dict[str, Any]:
        """Returns a system's counts of answers, of right ones also by form, and its median latency in seconds."""
        answers = self.answers[system]
        by_form = dict.fromkeys((one.form for one in self.asked), 0)
        for one, answer in zip(self.asked, answers, strict=True):
            by_form[one.form] += is_right(answer.said, one.answer)
        return {
            "right": sum(by_form.values()),
            "asked": len(answers),
            "right_share": sum(by_form.values()) / max(1, len(answers)),
            "unanswered": sum(not answer.said for answer in answers),
            "failures": sum(bool(answer.failure) for answer in answers),
            "first_sound_p50": at_share(answer.first_sound for answer in answers),
            "by_form": by_form,
        }

    def table(self) -> str:
        """Returns the result as a Markdown table."""
        rows = []
        for system in self.answers:
            f = self.figures(system)
            counts = (*f["by_form"].values(), f["unanswered"], f["failures"])
            rows.append((system, f["right"], f"{100 * f['right_share']:.0f}", *counts, shown(f["first_sound_p50"])))
        forms = dict.fromkeys(one.form for one in self.asked)
        head = ("", "right", "%", *forms, "no answer", "failures", "first sound p50, s")
        return report(f"{len(self.asked)} reasoning questions", self.costs, markdown(head, rows))

    def document(self) -> dict[str, Any]:
        """Returns the result for JSON."""
        systems = []
        for system, answers in self.answers.items():
            each = [
                {"said": answer.said, "heard": answer.heard, "right_answer": one.answer, "first": answer.first_sound}
                for one, answer in zip(self.asked, answers, strict=True)
            ]
            systems.append({"name": system, **self.figures(system), "answers": each})
        head = {"bench": "reasoning", "machine": machine(), "simulated": bool(self.costs), "costs": self.costs}
        return {**head, "systems": rounded(systems)}


def run_reasoning(
    systems: Sequence[System],
    asked: Sequence[Asked],
    make_session: MakeSession,
    make_backend: Callable[[BackendChoice], Backend],
    cost: Callable[[Backend, Usage], float | None],
    run_talk: RunTalk,
    progress: Progress,
    *,
    costs: str = "",
) -> ReasoningResult:
    """Asks every system every question in a session of its own. `costs`: time is simulated, with these costs.

    Raises what opening a session raises.
    """
    result = ReasoningResult(asked, costs)
    for system in systems:
        answers = result.answers[system.name] = []
        for place, one in enumerate(asked, 1):
            progress(f"{system.name}: question {place} of {len(asked)}")
            question = Question(one.number, one.form, (one.text,))
            if system.speaks:
                spoken = clean("", one.text, one.samples)
                answers += run_talk(ask_aloud(make_session, system, 0, question, [spoken], simulated=bool(costs)))
            else:
                answers += asyncio.run(ask_typed(make_backend, cost, system, 0, question))
    return result
