"""Plans a run: the questions and their audio, the systems, a cost estimate, and the folder with the results.

The thirty two-turn questions are those of MT-Bench that the KAME paper uses: reasoning, STEM and humanities (from
lm-sys/FastChat, Apache-2.0; Zheng et al., 2023, arXiv 2306.05685). Systems are given on the command line as KIND,
KIND=BACKEND:MODEL or KIND=…@URL. Each result is written immediately as a line of JSON, so that an interrupted run can
be resumed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar, get_args

from app.backend.base import Backend, Usage
from app.conversation.frame import as_frames
from app.conversation.speaking.clauses import spoken
from app.diagnostics.tables import Progress
from app.platform.installation import resource
from app.research.benches.recordings import SUFFIXES, MakeSession, Read, Recording, RunTalk, clean, read_sound
from app.research.results import known
from app.session.control import BackendChoice, ModelChoice, SessionChoice, UserError
from app.untrusted.files import read_json_lines
from app.untrusted.json_text import read_json
from app.untrusted.limits import CORPUS, CORPUS_LINE


def speak(
    questions: Iterable[Question], folder: Path | None, voice: str, progress: Progress
) -> dict[tuple[int, int], Recording]:
    """Returns the audio of the turns, keyed by question and turn (from 1). Raises TranscriberError and VoiceError.

    `folder`: recordings named QUESTION_TURN.flac, or subfolders of them by voice. Missing ones are synthesized with the
    app's voice `voice` (empty: the default).
    """
    from app.tts.voices import make_voice

    texts = {(one.number, turn): text for one in questions for turn, text in enumerate(one.turns, 1)}
    files = {key: file for key in texts if (file := _recording(folder, *key)) is not None}
    out = {key: clean("", texts[key], read_sound(file)) for key, file in files.items()}
    missing = [key for key in texts if key not in files]
    if missing:
        with make_voice(voice) as speaker:
            for place, key in enumerate(missing, 1):
                progress(f"the voice says question {place} of {len(missing)}")
                out[key] = clean("", texts[key], speaker.synthesize(spoken(texts[key])).result().samples)
    return out


def _recording(folder: Path | None, number: int, turn: int) -> Path | None:
    if folder is None or not folder.is_dir():
        return None
    places = [folder, *sorted(path for path in folder.iterdir() if path.is_dir())]
    files = (place / f"{number}_{turn}{suffix}" for place in places for suffix in SUFFIXES)
    return next((file for file in files if file.is_file()), None)


CATEGORIES = ("reasoning", "stem", "humanities")
LONG = (105, 106, 110, 157)
"""Questions that take more than a minute to speak; the paper does not say how it read them."""
TURNS = 2


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its `turns`. `references`: a correct answer to each turn, empty if unknown."""

    number: int
    category: str
    turns: tuple[str, ...]
    references: tuple[str, ...] = ()


def load_questions(numbers: Sequence[int] = ()) -> list[Question]:
    """Loads the questions with these numbers, or all if `numbers` is empty. Raises UserError."""
    folder = resource("bench", "mt_bench")
    asked, answered = (
        read_json_lines(folder / name, CORPUS, CORPUS_LINE)
        for name in ("question.jsonl", "reference_answer_gpt4.jsonl")
    )
    references = {row["question_id"]: tuple(row["turns"]) for row in answered}
    questions = [
        Question(row["question_id"], row["category"], tuple(row["turns"]), references.get(row["question_id"], ()))
        for row in asked
        if row["category"] in CATEGORIES
    ]
    there = {question.number for question in questions}
    if unknown := [number for number in numbers if number not in there]:
        raise UserError(f"There is no question {unknown[0]}. There are: {', '.join(map(str, sorted(there)))}.")
    return [question for question in questions if not numbers or question.number in numbers]


REQUESTS_A_TURN = {"typed": 1.0, "cascade": 3.0, "tandem": 8.0, "kame": 8.0, "nano": 8.0, "moshi": 0.0}
"""Measured with the embedded models (`bench mtbench`). A tandem sends further requests as the transcript grows."""
PROMPT_TOKENS, ANSWER_TOKENS, TYPED_ANSWER_TOKENS = 450, 160, 600
JUDGE_PROMPT_TOKENS, JUDGE_ANSWER_TOKENS = 900, 250
CALIBRATION_CALLS = 20
SECONDS_A_QUESTION = 60.0
"""Real time for one question, with both turns and their answers."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """The estimated back-end requests, judge calls, dollars (None if a price is unknown) and hours of a run."""

    requests: int
    judge_calls: int
    dollars: float | None
    hours: float

    def check(self, cap: float) -> None:
        """Raises UserError if the cost exceeds `cap` dollars or is unknown. A cap of 0 allows any cost."""
        too_much = f"That is more than its cap of ${cap:.2f}. Give a higher --cap."
        unknown = "A cap can't be kept then. Give --cap 0 to run it all the same."
        if cap and (self.dollars is None or self.dollars > cap):
            raise UserError(f"{self.sentence} {unknown if self.dollars is None else too_much}")

    @property
    def sentence(self) -> str:
        """The estimate as a user-facing message."""
        money = "an unknown sum: a model has no price" if self.dollars is None else f"about ${self.dollars:.2f}"
        return (
            f"This run takes about {self.hours:.1f} hours in real time, {self.requests:,} requests and "
            f"{self.judge_calls:,} calls of the judge, and costs {money}."
        )


def estimate(
    systems: Sequence[System],
    runs: int,
    questions: Sequence[Question],
    judge: BackendChoice | None,
    price: Callable[[BackendChoice, Usage], float | None],
    *,
    last_oracle: bool = False,
) -> Estimate:
    """Estimates a run.

    `price`: returns the cost of a request in US dollars, None if unknown; `last_oracle`: whether the last oracles are
    judged too.
    """
    turns = len(questions) * TURNS * runs
    requests = [REQUESTS_A_TURN[system.kind] * turns for system in systems]
    usages = [Usage(PROMPT_TOKENS, ANSWER_TOKENS if one.speaks else TYPED_ANSWER_TOKENS) for one in systems]
    costs = [
        (asked, price(system.backend, usage))
        for asked, system, usage in zip(requests, systems, usages, strict=True)
        if asked
    ]
    judged = 0
    if judge is not None:
        judged = sum(turns * (2 if last_oracle and one.has_oracle else 1) for one in systems) + CALIBRATION_CALLS
        costs.append((judged, price(judge, Usage(JUDGE_PROMPT_TOKENS, JUDGE_ANSWER_TOKENS))))
    dollars = [None if one is None else asked * one for asked, one in costs]
    hours = sum(SECONDS_A_QUESTION if system.speaks else 10.0 for system in systems) * len(questions) * runs / 3600
    return Estimate(round(sum(requests)), judged, None if None in dollars else sum(known(dollars)), hours)


Kind = Literal["moshi", "kame", "nano", "tandem", "cascade", "typed"]
KINDS: tuple[Kind, ...] = get_args(Kind)
LAST_ORACLE = "last-oracle"
"""Not a system of its own: judges the last oracle's text of every system that has one, as if it were the answer."""
MODELS_THAT_SPEAK = ("moshi", "kame", "nano")
"""The kinds whose front-end has an adjustable delay."""


@dataclass(frozen=True, slots=True)
class System:
    """A system under test. `delay`: seconds of silence forced before each answer.

    - `moshi`: the model alone
    - `kame`, `nano`: the model with an oracle
    - `tandem`: the embedded voice, thinking while the user speaks
    - `cascade`: the same voice, waiting for the whole turn
    - `typed`: the back-end alone
    """

    kind: Kind
    backend: BackendChoice = field(default_factory=BackendChoice)
    delay: float = 0.0

    @property
    def name(self) -> str:
        """The system's name, as used in tables and files."""
        return self.base + (f"+{self.delay:g}s" if self.delay else "")

    @property
    def base(self) -> str:
        """The name without the delay."""
        return self.kind if self.kind == "moshi" else f"{self.kind}={self.model}"

    @property
    def model(self) -> str:
        """The name of the back-end's model; empty if there is none."""
        return "" if self.kind == "moshi" else name_of(self.backend)

    @property
    def speaks(self) -> bool:
        """Whether the system's input and output are speech."""
        return self.kind != "typed"

    @property
    def has_oracle(self) -> bool:
        """Whether a back-end's text and the spoken answer are distinct."""
        return self.kind not in ("moshi", "typed")

    def choice(self, weights: str = "") -> SessionChoice:
        """Returns the session choice for the system."""
        return SessionChoice(
            frontend=self.kind if self.kind in MODELS_THAT_SPEAK else "cascade",
            backend=self.backend,
            model=ModelChoice(weights=weights, delay=as_frames(1000 * self.delay)),
            answer_mode="after" if self.kind == "cascade" else "thinking",
            openings=False,
            duplex=True,
        )


def check_systems(systems: Sequence[System], *, simulated: bool) -> None:
    """Raises UserError if two systems have the same name, or if one can't run in simulated time."""
    names = [system.name for system in systems]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise UserError(f"Two systems are called {twice}, and their results would be mixed. Run one of them by itself.")
    if simulated and (real := next((one.kind for one in systems if one.kind in MODELS_THAT_SPEAK), "")):
        raise UserError(f"{real} hears and speaks in real time only. Leave --simulated out, or leave {real} out.")


def with_delays(systems: list[System], delays: list[float]) -> list[System]:
    """Combines each system with each delay; systems without a delay setting stay single.

    Raises UserError if none has one.
    """
    if any(delays) and not any(system.kind in MODELS_THAT_SPEAK for system in systems):
        raise UserError(
            "A delay can be forced on kame, moshi and nano only: the other systems have none to be set. Leave --delays "
            "out."
        )
    return [
        System(system.kind, system.backend, delay)
        for system in systems
        for delay in (delays if system.kind in MODELS_THAT_SPEAK else [0.0])
    ]


_T = TypeVar("_T")


class Lines(Generic[_T]):
    """An append-only file of records. `read` converts a JSON value to a record, `write` the reverse.

    A last line that is incomplete because the process was killed is removed.
    """

    def __init__(self, path: Path, read: Callable[[Any], _T], write: Callable[[_T], Any]) -> None:
        self._path = path
        self._read = read
        self._write = write
        self.records: list[_T] = list(self._values())

    def add(self, *records: _T) -> None:
        """Appends records, with rounded numbers, and flushes them to disk.

        Raises UserError.
        """
        lines = [json.dumps(self._write(record), ensure_ascii=False, sort_keys=True) + "\n" for record in records]
        try:
            with self._path.open("ab") as file:
                file.write("".join(lines).encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise UserError(
                f"{self._path} can't be written ({error.strerror or error}). What there is stays: make room, then "
                "start the command again, and it goes on from there."
            ) from error
        self.records += [self._read(json.loads(line)) for line in lines]

    def _values(self) -> Iterator[_T]:
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            return
        whole, newline, rest = data.rpartition(b"\n")
        if rest:
            with self._path.open("r+b") as file:
                file.truncate(len(whole) + len(newline))
        for number, line in enumerate(whole.splitlines(), 1):
            try:
                yield self._read(read_json(line, CORPUS_LINE))
            except (ValueError, TypeError) as error:
                raise UserError(
                    f"Line {number} of {self._path} can't be read ({error}). Remove it, or give another folder."
                ) from error


def once_for_all(path: Path, described: dict[str, Any]) -> None:
    """Writes a description of the results to a folder, or compares it with an existing one.

    Raises UserError if they differ.
    """
    text = json.dumps(described, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    try:
        before = path.read_text("utf-8")
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
        return
    if before != text:
        raise UserError(
            f"The results in {path.parent} are of other questions, sounds or settings than this command's (see "
            f"{path.name}). Give another --out, or the same options."
        )


@dataclass(slots=True)
class Spending:
    """The money spent, in US dollars. `cap`: the maximum, 0 for any amount; `out`: the run's folder."""

    cap: float
    out: Path
    dollars: float = 0.0

    def add(self, dollars: float | None) -> None:
        """Adds the cost of a request. None, which means that the price is unknown, counts as 0."""
        self.dollars += dollars or 0.0

    def check(self) -> None:
        """Raises UserError once the cap is reached."""
        if self.cap and self.dollars >= self.cap:
            raise UserError(
                f"This run has cost ${self.dollars:.2f}, and its cap is ${self.cap:.2f}. What was answered stays in "
                f"{self.out}: start the command again with a higher --cap, and it goes on from there."
            )


@dataclass(frozen=True, slots=True)
class Plan:
    """A planned run.

    - `runs`: how often each question is asked
    - `cap`: the maximum cost in US dollars, 0 for any amount
    - `last_oracle`: whether the last oracle's text is judged too
    - `costs`: describes the stage delays of simulated time; empty in real time
    - `sounds`: the spoken turns, keyed by question and turn, for systems that take speech
    """

    systems: Sequence[System]
    questions: Sequence[Question]
    runs: int
    judge: BackendChoice | None
    out: Path
    cap: float = 0.0
    last_oracle: bool = False
    weights: str = ""
    costs: str = ""
    sounds: Mapping[tuple[int, int], Recording] = field(default_factory=dict)

    @property
    def simulated(self) -> bool:
        """Whether the conversations run in simulated time."""
        return bool(self.costs)


@dataclass(frozen=True, slots=True)
class Tools:
    """The functions with which a bench creates sessions and back-ends, prices requests, and runs conversations.

    `read`: transcribes spoken answers. `simulated`: whether `run_talk` uses simulated time.
    """

    make_session: MakeSession
    make_backend: Callable[[BackendChoice], Backend]
    cost: Callable[[Backend, Usage], float | None]
    run_talk: RunTalk
    read: Read | None = None
    simulated: bool = False


def name_of(choice: BackendChoice) -> str:
    """Returns the name of a back-end with its model, if it has one."""
    return f"{choice.provider}:{choice.model}" if choice.model else choice.provider


def write_down(plan: Plan, tools: Tools) -> None:
    """Writes descriptions of the run and of each system to the plan's folder, or compares them with existing ones.

    Systems may be added. Raises UserError if anything differs.
    """
    texts = hashlib.sha256("\n".join(text for question in plan.questions for text in question.turns).encode())
    run = {
        "questions": [question.number for question in plan.questions],
        "texts": texts.hexdigest(),
        "simulated": plan.simulated,
        "costs": plan.costs,
        "judge": None if plan.judge is None else _choice(plan.judge),
    }
    once_for_all(plan.out / "run.json", run)
    sounds = hashlib.sha256()
    for key in itertools.product((question.number for question in plan.questions), range(1, TURNS + 1)):
        if key in plan.sounds:
            sounds.update(plan.sounds[key].samples.tobytes())
    for system in plan.systems:
        spoken = {"sounds": sounds.hexdigest(), "read_back": tools.read is not None, "weights": plan.weights}
        what = {"name": system.name, **_choice(system.backend), **(spoken if system.speaks else {})}
        file = "".join(char if char.isalnum() or char in "+-." else "-" for char in system.name)
        once_for_all(plan.out / "systems" / f"{file}.json", what)


def _choice(choice: BackendChoice) -> dict[str, str]:
    # An address may contain a password.
    address = hashlib.sha256(choice.base_url.encode()).hexdigest() if choice.base_url else ""
    return {"backend": name_of(choice), "address_sha256": address}
