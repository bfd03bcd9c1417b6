"""Asks a back-end many things at once: a few at a time, each only once, and again after a fault that passes."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from app.backend.base import Backend, BackendError, ChatRequest
from app.backend.base import Usage as TokenUsage
from app.backend.prices import Price
from app.conversation.prompt import ChatMessage
from app.session.oracle_stream import CHARS_PER_TOKEN

T = TypeVar("T")

TRIES = 4
"""Tries for one prompt: faults that pass and answers that `check` refuses."""
_WAIT_SECONDS = 2.0
_TOKENS_A_WORD = 1.4


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked. `clean` makes of an answer what is kept of it.

    `check` tells what makes that unusable, in a few words, or nothing.
    """

    text: str
    check: Callable[[str], str] = lambda answer: ""
    clean: Callable[[str], str] = str.strip
    words: int = 40
    """The longest answer that is wanted, about."""


@dataclass(slots=True)
class AskReport:
    """What the asking came to. `refused`: by what was wrong with the last try; `cached`: known from before."""

    asked: int = 0
    cached: int = 0
    refused: dict[str, int] | None = None

    def refuse(self, fault: str) -> None:
        """Counts one prompt without a usable answer."""
        self.refused = self.refused or {}
        self.refused[fault] = self.refused.get(fault, 0) + 1


class Asker:
    """Asks `backend`, which is open. Answers are kept in `cache`, so that a run that was stopped goes on for free."""

    def __init__(self, backend: Backend, cache: Path, at_once: int = 8, temperature: float = 0.7) -> None:
        self.report = AskReport()
        self._backend, self._cache = backend, cache
        self._places = asyncio.Semaphore(at_once)
        self._temperature = temperature
        self._known = _read(cache)

    async def ask(self, prompt: Prompt) -> str:
        """A usable answer, or nothing when there is none after some tries. Raises BackendError for faults that stay."""
        key = _key(self._backend.model, prompt.text)
        if key in self._known:
            self.report.cached += 1
            return self._known[key]
        fault = ""
        async with self._places:
            for attempt in range(TRIES):
                try:
                    answer = prompt.clean(await self._once(prompt))
                except BackendError as error:
                    if error.kind in ("key", "setup", "model", "request") or attempt == TRIES - 1:
                        raise
                    await asyncio.sleep(error.retry_after or _WAIT_SECONDS * 2**attempt)
                    continue
                fault = prompt.check(answer)
                if not fault:
                    self._keep(key, answer)
                    return answer
        self.report.refuse(fault)
        return ""

    async def ask_all(self, prompts: Sequence[Prompt], progress: Callable[[int, int], None]) -> list[str]:
        """The answers to all prompts, in their order."""
        done = 0

        async def one(prompt: Prompt) -> str:
            nonlocal done
            answer = await self.ask(prompt)
            done += 1
            progress(done, len(prompts))
            return answer

        return await together([one(prompt) for prompt in prompts])

    async def _once(self, prompt: Prompt) -> str:
        self.report.asked += 1
        request = ChatRequest(
            (ChatMessage("user", prompt.text),),
            max_tokens=round(prompt.words * _TOKENS_A_WORD * 1.5) + 16,
            temperature=self._temperature,
        )
        parts: list[str] = []
        async with self._backend.stream(request) as items:
            async for item in items:
                if isinstance(item, str):
                    parts.append(item)
        return "".join(parts)

    def _keep(self, key: str, answer: str) -> None:
        self._known[key] = answer
        self._cache.parent.mkdir(parents=True, exist_ok=True)
        with self._cache.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"key": key, "answer": answer}, ensure_ascii=False) + "\n")


async def together(work: Sequence[Coroutine[Any, Any, T]]) -> list[T]:
    """Runs all at once and returns their results in order; the first error ends the others and is raised as it is."""
    tasks = [asyncio.create_task(one) for one in work]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def price_of(prompts: Sequence[Prompt], price: Price | None) -> float | None:
    """About what the prompts cost in US dollars; None where the model's price is not known."""
    if price is None:
        return None
    tokens_in = sum(len(prompt.text) / CHARS_PER_TOKEN for prompt in prompts)
    tokens_out = sum(prompt.words * _TOKENS_A_WORD for prompt in prompts)
    return price.of(TokenUsage(round(tokens_in), round(tokens_out)))


def _key(model: str, text: str) -> str:
    return hashlib.sha256(f"{model}\n{text}".encode()).hexdigest()


def _read(cache: Path) -> dict[str, str]:
    known: dict[str, str] = {}
    if cache.exists():
        for line in cache.read_text("utf-8").splitlines():
            try:
                entry = json.loads(line)
                known[entry["key"]] = entry["answer"]
            except (ValueError, KeyError, TypeError):
                continue  # cut short when the run was stopped
    return known
