"""Builds a corpus in four steps: scripts, speech, oracle, tokens. All but the last resume where they stopped.

A back-end writes the scripts and the oracle, a few requests at a time. Transient errors and unusable answers are
retried, and usable answers are cached on disk.
"""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import random
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from app.backend.base import Backend, BackendError, ChatRequest
from app.backend.base import Usage as TokenUsage
from app.backend.prices import Price
from app.conversation.languages import ENGLISH
from app.conversation.prompt import ChatMessage
from app.diagnostics.tables import Progress
from app.models.catalogue import ModelError
from app.research.benches.mtbench.asking import complete
from app.research.benches.mtbench.plan import Lines
from app.research.benches.recordings import normalised, word_distance
from app.research.corpus.dialogue import CorpusFolder, Dialogue, OracleEvent, exchanges, utterances
from app.research.corpus.oracle import HintRequest, cleaned, fault_of, request_times
from app.research.corpus.oracle import prompt_of as oracle_prompt
from app.research.corpus.scripts import (
    MOST_ANSWER_WORDS,
    MOST_QUESTION_WORDS,
    Item,
    Script,
    SpeakingOptions,
    fault_in,
    script_of,
    speak_script,
)
from app.research.corpus.scripts import fault_of as fault_of_script
from app.research.corpus.scripts import prompt_of as script_prompt
from app.research.results import unreadable
from app.session.oracle_stream import CHARS_PER_TOKEN
from app.tts.base import Voice
from app.untrusted.files import read_json_lines
from app.untrusted.limits import CORPUS, CORPUS_LINE
from app.untrusted.records import build

if TYPE_CHECKING:
    from app.research.corpus.tokens import Tokeniser


T = TypeVar("T")

TRIES = 4
"""Maximum tries per prompt, counting transient errors and answers that `check` rejects."""
_WAIT_SECONDS = 2.0
_TOKENS_A_WORD = 1.4


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt, with the post-processing of its answer.

    `clean` converts an answer to the form that is kept. `check` returns why a cleaned answer is unusable, in a few
    words, or an empty string.
    """

    text: str
    check: Callable[[str], str] = lambda answer: ""
    clean: Callable[[str], str] = str.strip
    words: int = 40
    """Approximate length of the longest wanted answer, in words."""


class Asker:
    """Sends prompts to `backend`, which must be open. Answers are cached in a file, for runs that are resumed.

    Raises UserError if the cache can't be read or written.
    """

    def __init__(self, backend: Backend, cache: Path, at_once: int = 8, temperature: float = 0.7) -> None:
        self._backend = backend
        self._kept: Lines[dict[str, str]] = Lines(cache, dict, dict)
        self._places = asyncio.Semaphore(at_once)
        self._temperature = temperature
        self._known = {entry["key"]: entry["answer"] for entry in self._kept.records}

    async def ask(self, prompt: Prompt) -> str:
        """Returns a usable answer, or "" after `TRIES` tries. Raises BackendError if retries don't help."""
        key = hashlib.sha256(f"{self._backend.model}\n{prompt.text}".encode()).hexdigest()
        if key in self._known:
            return self._known[key]
        async with self._places:
            for attempt in range(TRIES):
                try:
                    answer = prompt.clean(await self._once(prompt))
                except BackendError as error:
                    if error.kind in ("key", "setup", "model", "request") or attempt == TRIES - 1:
                        raise
                    await asyncio.sleep(error.retry_after or _WAIT_SECONDS * 2**attempt)
                    continue
                if not prompt.check(answer):
                    self._known[key] = answer
                    self._kept.add({"key": key, "answer": answer})
                    return answer
        return ""

    async def ask_all(self, prompts: Sequence[Prompt], progress: Callable[[int, int], None]) -> list[str]:
        """Returns the answers to all prompts, in order. `progress` gets the numbers of finished and of all prompts."""
        done = itertools.count(1)

        async def one(prompt: Prompt) -> str:
            answer = await self.ask(prompt)
            progress(next(done), len(prompts))
            return answer

        return await together([one(prompt) for prompt in prompts])

    async def _once(self, prompt: Prompt) -> str:
        request = ChatRequest(
            (ChatMessage("user", prompt.text),),
            max_tokens=round(prompt.words * _TOKENS_A_WORD * 1.5) + 16,
            temperature=self._temperature,
        )
        return (await complete(self._backend, request))[0]


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs coroutines concurrently; returns their results in order. The first error cancels the rest and is raised."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def price_of(prompts: Sequence[Prompt], price: Price | None) -> float | None:
    """Estimates the cost of the prompts in US dollars; None if `price` is None."""
    if price is None:
        return None
    tokens_in = sum(len(prompt.text) / CHARS_PER_TOKEN for prompt in prompts)
    tokens_out = sum(prompt.words * _TOKENS_A_WORD for prompt in prompts)
    return price.of(TokenUsage(round(tokens_in), round(tokens_out)))


SCRIPTS, ANSWERS, SHARDS = "scripts.jsonl", "answers.jsonl", "shards"
SHARD_DIALOGUES = 200
_DIALOGUES_AT_ONCE = 16
MOST_MISHEARD = 0.4
"""Maximum word error rate of a dialogue read back by the recogniser; above it, its speech counts as broken."""


@dataclass(slots=True)
class MakeReport:
    """The number of items made, of items that already existed, and of items left out, by reason."""

    made: int = 0
    there: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def sentence(self, what: str) -> str:
        """Returns the report as a one-line message; `what` names the items."""
        left = ", ".join(f"{count} {reason}" for reason, count in sorted(self.left_out.items()))
        return f"{self.made:,} {what} made, {self.there:,} were there" + (f"; left out: {left}." if left else ".")


def script_prompts(items: Sequence[Item], language: str = ENGLISH) -> list[Prompt]:
    """Returns the prompts for the scripts of all items."""
    words = MOST_QUESTION_WORDS + MOST_ANSWER_WORDS
    return [Prompt(script_prompt(item, language), partial(fault_in, item), words=words) for item in items]


async def make_scripts(
    items: Sequence[Item], asker: Asker, folder: Path, progress: Progress, language: str = ENGLISH
) -> MakeReport:
    """Requests a script for each item and writes the usable ones to `folder`. Raises BackendError."""
    prompts = script_prompts(items, language)
    answers = await asker.ask_all(prompts, lambda done, of: progress(f"scripts: {done} of {of}"))
    scripts = [script_of(item, answer) for item, answer in zip(items, answers, strict=True) if answer]
    report = MakeReport(len(scripts))
    if missing := len(items) - len(scripts):
        report.left_out["no usable script"] = missing
    _write_scripts(scripts, folder)
    return report


def keep_scripts(items: Sequence[Item], folder: Path) -> MakeReport:
    """Writes scripts that use the items' questions and answers verbatim."""
    scripts = [Script(item.name, (item.question, item.answer)) for item in items]
    faults = [fault_of_script(script) for script in scripts]
    kept = [script for script, fault in zip(scripts, faults, strict=True) if not fault]
    _write_scripts(kept, folder)
    return MakeReport(len(kept), left_out=Counter(filter(None, faults)))


def _write_scripts(scripts: Sequence[Script], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps(asdict(script), ensure_ascii=False) for script in scripts]
    (folder / SCRIPTS).write_text("".join(f"{line}\n" for line in lines), "utf-8")


def read_scripts(folder: Path) -> list[Script]:
    """Reads the scripts of a corpus. Raises ModelError."""
    with unreadable(ModelError, f"There are no scripts in {folder} ({{}}). Make them first."):
        return [build(Script, entry) for entry in read_json_lines(folder / SCRIPTS, CORPUS, CORPUS_LINE)]


def make_speech(
    scripts: Sequence[Script],
    folder: CorpusFolder,
    model: Voice,
    users: Mapping[str, Voice],
    options: SpeakingOptions,
    read_back: Callable[[np.ndarray], str] | None,
    progress: Progress,
    seed: int = 0,
) -> MakeReport:
    """Synthesizes each script; leaves out those that the recogniser `read_back` misrecognises. Raises VoiceError."""
    report = MakeReport()
    for number, script in enumerate(scripts, 1):
        progress(f"speech: {number} of {len(scripts)}")
        if folder.has(script.name):
            report.there += 1
            continue
        spoken = speak_script(script, model, users, options, _draw(seed, script.name))
        if read_back is not None and _misheard(spoken.dialogue, spoken.samples, read_back) > MOST_MISHEARD:
            report.left_out["not understood when read back"] += 1
            continue
        folder.write(spoken.dialogue, spoken.samples)
        report.made += 1
    return report


def oracle_prompts(dialogue: Dialogue, seed: int, language: str = ENGLISH) -> list[tuple[Prompt | None, OracleEvent]]:
    """Returns the prompts for a dialogue's oracle, each with the event to fill in; None for true answers."""
    out: list[tuple[Prompt | None, OracleEvent]] = []
    draw = _draw(seed, dialogue.name)
    for question, answer in exchanges(dialogue.words):
        spoken = utterances([word for word in dialogue.words if word.end <= question.start])
        before = "\n".join(f"{'They' if one.speaker == 'user' else 'You'}: {one.text}" for one in spoken)
        for at, share, heard in request_times(question, draw):
            if share >= 1:
                out.append((None, OracleEvent(at, answer.text, 1.0, True)))
                continue
            words = " ".join(word.text for word in question.words[:heard])
            request = HintRequest(words, share, answer.text, before, language)
            check = partial(fault_of, request=request)
            out.append((Prompt(oracle_prompt(request), check, cleaned, 30), OracleEvent(at, "", share)))
    return out


async def make_oracle(
    folder: CorpusFolder, asker: Asker, progress: Progress, seed: int = 0, language: str = ENGLISH
) -> MakeReport:
    """Requests and stores the oracle of each dialogue that has none. Raises BackendError."""
    report = MakeReport()
    names = folder.names()
    at_once = asyncio.Semaphore(_DIALOGUES_AT_ONCE)

    async def one(name: str) -> None:
        async with at_once:
            dialogue = folder.read(name)
            if dialogue.events:
                report.there += 1
                return
            wanted = oracle_prompts(dialogue, seed, language)
            prompts = [prompt for prompt, _ in wanted if prompt is not None]
            answers = iter(await asker.ask_all(prompts, lambda done, of: None))
            for prompt, event in wanted:
                text = event.text if prompt is None else next(answers)
                if text:
                    dialogue.events.append(replace(event, text=" ".join(text.split())))
                else:
                    report.left_out["guesses without a usable answer"] += 1
            folder.write(dialogue)
            report.made += 1
            progress(f"oracle: {report.made + report.there} of {len(names)}")

    await together([one(name) for name in names])
    return report


def make_tokens(
    folder: CorpusFolder, tokeniser: Tokeniser, target: Path, progress: Progress, seed: int = 0
) -> MakeReport:
    """Converts all dialogues into shards of tokens, overwriting the shards of an earlier run."""
    from app.research.corpus.tokens import MANIFEST, Corpus  # imports torch, which the other steps don't need

    report = MakeReport()
    target.mkdir(parents=True, exist_ok=True)
    (target / MANIFEST).unlink(missing_ok=True)
    corpus = Corpus(target, tokeniser.layout)
    names = folder.names()
    random.Random(seed).shuffle(names)
    for start in range(0, len(names), SHARD_DIALOGUES):
        rows = []
        for name in names[start : start + SHARD_DIALOGUES]:
            dialogue = folder.read(name)
            rows.append(tokeniser.tokens(dialogue, folder.sound(dialogue), _draw(seed, name)))
            report.made += 1
            progress(f"tokens: {report.made} of {len(names)}")
        corpus.add(f"{start // SHARD_DIALOGUES:05d}", rows)
    return report


def _draw(seed: int, name: str) -> random.Random:
    """Returns a generator seeded per dialogue, so that a resumed run gives the same results as an uninterrupted one."""
    return random.Random(int.from_bytes(hashlib.sha256(f"{seed} {name}".encode()).digest()[:8], "big"))


def _misheard(dialogue: Dialogue, samples: np.ndarray, read_back: Callable[[np.ndarray], str]) -> float:
    """Returns the word error rate of the speech when read back, the higher of the two speakers'."""
    worst = 0.0
    for channel, speaker in enumerate(("model", "user")):
        said = normalised(" ".join(word.text for word in dialogue.words if word.speaker == speaker))
        heard = normalised(read_back(np.ascontiguousarray(samples[:, channel])))
        worst = max(worst, word_distance(said, heard) / max(1, len(said)))
    return worst
