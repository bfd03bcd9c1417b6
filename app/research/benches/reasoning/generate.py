"""Makes reasoning questions in the four forms of Big Bench Audio, in this project's own words, by rule and seed."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from typing import Literal

Form = Literal["object counting", "navigation", "web of lies", "formal fallacies"]
FORMS: tuple[Form, ...] = ("object counting", "navigation", "web of lies", "formal fallacies")

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
class Item:
    """One question of a form, and its right `answer`: a number in digits, yes, no, valid or invalid."""

    number: int
    form: Form
    text: str
    answer: str


def generate(count: int, seed: int = 0) -> list[Item]:
    """The first `count` items of a seed; their forms take turns, and each form's answers are balanced by chance."""
    chance = random.Random(seed)
    makers = (_counting, _navigation, _lies, _fallacies)
    items = []
    for number in range(count):
        place = number % len(FORMS)
        text, answer = makers[place](chance)
        items.append(Item(number + 1, FORMS[place], text, answer))
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
