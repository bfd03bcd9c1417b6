"""Invented facts: questions whose answers change with each dialogue, so that only the oracle can know them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

NAMES = """
Adam Alice Amir Amy Anna Arthur Ava Ben Bella Carl Carmen Chloe Clara Daisy Daniel David Diana Dora Edgar Ella Emil
Emma Eric Eva Felix Flora Frank Fred Gary George Grace Greta Hannah Harry Hector Helen Henry Hugo Ian Ida Igor Iris
Isaac Ivan Jack Jacob James Jane Jason Jenny Joan Joel John Julia Karen Karl Kate Kevin Kim Lara Laura Lena Leo Lily
Linda Louis Lucas Lucy Luke Maria Marco Mark Martha Martin Mary Max Maya Mia Michael Mike Mina Monica Nadia Nancy
Nathan Neil Nick Nina Noah Nora Oliver Oscar Otto Pablo Paul Peter Philip Quinn Rachel Ralph Rita Robert Robin Rosa
Ruby Ruth Sam Sandra Sara Simon Sofia Stella Steven Susan Tara Thomas Tim Tina Tom Tony Vera Victor Walter Wendy
Will Zoe
""".split()
CITIES = """
Amsterdam Athens Atlanta Austin Baghdad Bangkok Barcelona Beijing Bergen Berlin Bogota Bombay Boston Bristol
Brussels Budapest Cairo Calgary Cardiff Chicago Cologne Copenhagen Dallas Delhi Denver Detroit Dublin Dresden
Edinburgh Florence Frankfurt Geneva Glasgow Granada Hamburg Hanoi Havana Helsinki Houston Istanbul Jakarta Jerusalem
Kingston Kyoto Lagos Lima Lisbon Liverpool London Lyon Madrid Manchester Manila Marseille Melbourne Memphis Miami
Milan Montreal Moscow Mumbai Munich Nairobi Naples Nashville Odessa Orlando Osaka Oslo Ottawa Oxford Paris Perth
Philadelphia Phoenix Pittsburgh Porto Portland Prague Quebec Reykjavik Riga Rome Rotterdam Salzburg Seattle Seville
Shanghai Singapore Sofia Stockholm Sydney Tehran Tokyo Toledo Toronto Tunis Turin Utrecht Valencia Vancouver Venice
Vienna Warsaw Washington Zurich
""".split()
COLOURS = "red blue green yellow black white brown orange purple silver golden grey pink turquoise".split()
ANIMALS = "cat dog horse parrot rabbit turtle hamster goat donkey snake pony duck goose sheep lizard fish".split()
FOODS = """
apples bananas bread butter carrots cheese cherries chicken chocolate coffee grapes honey lemons mushrooms noodles
olives onions oranges pancakes pasta peaches pears pizza potatoes rice salad salmon soup spinach tomatoes
""".split()
JOBS = "baker butcher carpenter cook dentist doctor driver farmer gardener lawyer nurse painter pilot singer".split()
DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
MONTHS = "January February March April May June July August September October November December".split()
DIGITS = "zero one two three four five six seven eight nine".split()

Draw = Callable[[random.Random], str]


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of fact. `{s}` is its subject, `{v}` its value."""

    subjects: Sequence[str]
    value: Draw
    questions: Sequence[str]
    answers: Sequence[str]


@dataclass(frozen=True, slots=True)
class Fact:
    """One question with the answer that holds in one dialogue."""

    question: str
    answer: str
    value: str
    relation: Relation | None = field(default=None, compare=False, repr=False)
    subject: str = ""

    def changed(self, draw: random.Random) -> Fact:
        """Returns the same question with a different answer, in the same or other words."""
        assert self.relation is not None
        while (value := self.relation.value(draw)) == self.value:
            pass
        return self._said(value, draw)

    def with_value(self, value: str) -> str:
        """Returns the answer with another value."""
        return self.answer.replace(self.value, value)

    def paraphrased(self, draw: random.Random) -> Fact:
        """Returns the same fact in a random wording."""
        return self._said(self.value, draw)

    def _said(self, value: str, draw: random.Random) -> Fact:
        assert self.relation is not None
        answer = draw.choice(self.relation.answers).format(s=self.subject, v=value)
        return Fact(self.question, answer, value, self.relation, self.subject)


def _one_of(values: Sequence[str]) -> Draw:
    return lambda draw: draw.choice(values)


def _digits(least: int, most: int) -> Draw:
    return lambda draw: " ".join(draw.choice(DIGITS) for _ in range(draw.randint(least, most)))


def _number(most: int) -> Draw:
    return lambda draw: str(draw.randint(2, most))


def _time(draw: random.Random) -> str:
    minutes = draw.choice(["", " fifteen", " thirty", " forty five", " twenty", " ten"])
    return f"{draw.choice([*DIGITS[1:], 'ten', 'eleven', 'twelve'])}{minutes}"


_VALUES: dict[str, Draw] = {
    "name": _one_of(NAMES),
    "city": _one_of(CITIES),
    "food": _one_of(FOODS),
    "colour": _one_of(COLOURS),
    "animal": _one_of(ANIMALS),
    "day": _one_of(DAYS),
    "job": _one_of([f"a {job}" for job in JOBS]),
    "date": lambda draw: f"{draw.choice(MONTHS)} {draw.randint(1, 28)}",
    "dollars": lambda draw: f"{draw.randint(2, 30)} dollars",
    "time": _time,
}
_SUBJECTS = {"name": NAMES, "city": CITIES, "food": FOODS}
_TABLE = """
name | digits 2 4 | What is the code of {s}? What's {s}'s code? Tell me the code of {s}. Do you know {s}'s code?
  | {s}'s code is {v}. The code of {s} is {v}. The code is {v}.
name | digits 3 4 | What is {s}'s phone number? Can you give me the number of {s}? Which number does {s} have?
  | {s}'s number is {v}. The number of {s} is {v}. You can call {v}.
name | city | Where does {s} live? In which city does {s} live? Do you know where {s} lives?
  | {s} lives in {v}. {s} has a house in {v}. {s} is at home in {v}.
name | city | Where was {s} born? Which city was {s} born in? Tell me where {s} was born.
  | {s} was born in {v}. {s} comes from {v}. It was in {v}.
city | time | When does the train to {s} leave? What time is the train to {s}? When is the next train to {s}?
  | The train to {s} leaves at {v}. It leaves at {v}. The next train to {s} goes at {v}.
city | number 24 | From which platform does the train to {s} go? Which platform is the train to {s}?
  | The train to {s} goes from platform {v}. It goes from platform {v}. Platform {v}.
name | number 99 | How old is {s}? What is the age of {s}? Do you know how old {s} is?
  | {s} is {v} years old. {s} is {v}. {s} turned {v} this year.
name | number 900 | Which room is {s} in? What is the room of {s}? Where can I find {s}?
  | {s} is in room {v}. You find {s} in room {v}. The room of {s} is {v}.
name | colour | What is {s}'s favourite colour? Which colour does {s} like best? What colour is {s}'s car?
  | It is {v}. {s} likes {v} best. The colour is {v}.
name | animal | What kind of pet does {s} have? Which animal does {s} own? Does {s} have a pet?
  | {s} has a {v}. {s} owns a {v}. It is a {v}.
name | food | What does {s} like to eat? What is {s}'s favourite food? What should I cook for {s}?
  | {s} likes {v}. {s} loves {v}. You could make {v}.
name | day | When does {s} come back? On which day is {s} free? When can I meet {s}?
  | {s} is back on {v}. You can meet {s} on {v}. On {v}.
name | date | When is {s}'s birthday? When was {s} born? On which date is {s}'s birthday?
  | {s}'s birthday is on {v}. It is on {v}. {s} was born on {v}.
name | name | Who is the boss of {s}? What's the name of {s}'s best friend? Who lives with {s}?
  | It is {v}. The name is {v}. That is {v}.
city | number 40 | How warm is it in {s}? What's the temperature in {s}? How is the weather in {s}?
  | It is {v} degrees in {s}. In {s} it is {v} degrees. It has {v} degrees.
food | dollars | How much do the {s} cost? What is the price of the {s}? What do I have to pay for the {s}?
  | That costs {v}. The price is {v}. You have to pay {v}.
name | job | What does {s} do for a living? What is {s}'s job? What's the profession of {s}?
  | {s} is {v}. {s} works as {v}. I think {s} is {v}.
"""
"""One relation per entry: kind of subject, kind of value, questions, and on the next line answers."""


def _relation(entry: str) -> Relation:
    subject, kind, questions, answers = (" ".join(cell.split()) for cell in entry.split("|"))
    value, *bounds = kind.split()
    makers: dict[str, Callable[..., Draw]] = {"digits": _digits, "number": _number}
    draw = makers[value](*map(int, bounds)) if bounds else _VALUES[value]
    return Relation(_SUBJECTS[subject], draw, *(re.split(r"(?<=[.?]) ", cell) for cell in (questions, answers)))


RELATIONS = tuple(map(_relation, re.split(r"\n(?=\w)", _TABLE.strip())))


def held_out(relation: Relation, subject: str) -> bool:
    """Whether questions about this subject are reserved for the test, about one in ten of each kind."""
    return sum(map(ord, subject)) % 10 == RELATIONS.index(relation) % 10


def draw_fact(draw: random.Random, *, test: bool) -> Fact:
    """Draws a question and an answer from the training or the test part."""
    while True:
        relation = draw.choice(RELATIONS)
        subject = draw.choice(relation.subjects)
        if held_out(relation, subject) == test:
            break
    question = draw.choice(relation.questions).format(s=subject)
    return Fact(question, "", "", relation, subject).changed(draw)
