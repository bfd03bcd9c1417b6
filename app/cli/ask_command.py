"""The command `ask`: sends a text question to a back-end and prints the answer, without a session or audio."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from app.cli.arguments import add_backend, choice_of, read_standard_input, temperature
from app.cli.output import OutputLost, Terminal
from app.session.control import UserError

if TYPE_CHECKING:
    from app.backend.base import Backend, ChatRequest, Usage

COMMANDS = ("ask",)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
    ask = commands.add_parser("ask", parents=[common], help="ask a model: text in, text out")
    add_backend(ask)
    ask.add_argument("--persona", default="", metavar="TEXT", help="who answers; how to speak is added to it")
    ask.add_argument("--temperature", type=temperature, default=None, metavar="T", help="0 to 2")
    ask.add_argument("--max-tokens", type=_tokens, default=0, metavar="N", help="the longest answer")
    ask.add_argument("text", metavar="TEXT", help="the question; “-” reads it from standard input")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Asks the question and prints the answer; returns the exit code. Raises UserError."""
    question = (read_standard_input() if args.text == "-" else args.text).strip()
    if not question:
        raise UserError("There is no question. Write it after the options, or give “-” and pipe it in.")
    return asyncio.run(_ask(args, question, terminal))


@dataclass(slots=True)
class _Answer:
    """An answer that is being received. Times are in seconds since the request."""

    parts: list[str] = field(default_factory=list)
    usage: Usage | None = None
    first: float = 0.0
    seconds: float = 0.0

    @property
    def text(self) -> str:
        return "".join(self.parts).rstrip()

    @property
    def words(self) -> int:
        return len(self.text.split())

    @property
    def pace(self) -> float | None:
        """The rate in words per second since the first word arrived; None if there are too few words to compute it."""
        return self.words / (self.seconds - self.first) if self.words > 1 and self.seconds > self.first else None


async def _ask(args: argparse.Namespace, question: str, terminal: Terminal) -> int:
    from app.backend.base import BackendError, ChatRequest
    from app.conversation.prompt import ChatMessage, system_prompt
    from app.services.backend_service import BackendService

    terminal.progress("Asking …")
    backend = await BackendService().make(choice_of(args))
    answer, failure = _Answer(), ""
    try:
        await backend.open()
        traits = backend.traits
        request = ChatRequest(
            (ChatMessage("system", system_prompt(traits.persona, args.persona)), ChatMessage("user", question)),
            max_tokens=args.max_tokens or traits.max_tokens,
            temperature=traits.temperature if args.temperature is None else args.temperature,
        )
        await _stream(backend, request, answer, terminal, limited=bool(args.max_tokens))
    except BackendError as error:
        failure = str(error)
    finally:
        if answer.parts:
            with contextlib.suppress(OutputLost):
                terminal.end()
        await backend.close()
    if not answer.text and not failure:
        failure = f"{backend.name} answered without a word. Ask in other words, or choose another model."
    if failure:
        terminal.progress("")
        raise UserError(failure)
    _tell(answer, backend, choice_of(args).provider, terminal)
    return 0


async def _stream(
    backend: Backend, request: ChatRequest, answer: _Answer, terminal: Terminal, *, limited: bool
) -> None:
    """Streams the answer to the terminal and records it in `answer`.

    `limited`: only the request's token limit ends the answer; otherwise, streaming also stops once the answer is long
    enough according to the back-end's traits.
    """
    from app.backend.base import Usage

    started = time.monotonic()
    async with backend.stream(request) as items:
        async for item in items:
            if isinstance(item, Usage):
                answer.usage = item
            if not isinstance(item, str) or not (item if answer.parts else item.lstrip()):
                continue
            if not answer.parts:
                item, answer.first = item.lstrip(), time.monotonic() - started
                terminal.progress("")
            answer.parts.append(item)
            terminal.write(item)
            if not limited and backend.traits.is_enough(item, answer.words):
                break
    answer.seconds = time.monotonic() - started


def _tell(answer: _Answer, backend: Backend, provider: str, terminal: Terminal) -> None:
    usage, pace = answer.usage, answer.pace
    said = [f"first word after {answer.first:.2f} s"]
    if usage is not None:
        about = "" if usage.counted else "about "
        said.append(f"{about}{usage.tokens_in} tokens in, {usage.tokens_out} out")
    if pace is not None:
        said.append(f"{pace:.1f} words/s")
    terminal.note(f"{backend.model} at {backend.name}: {'; '.join(said)}.")
    terminal.document(
        {
            "ok": True,
            "answer": answer.text,
            "provider": provider,
            "model": backend.model,
            "first_seconds": round(answer.first, 3),
            "seconds": round(answer.seconds, 3),
            "words": answer.words,
            "words_per_second": None if pace is None else round(pace, 1),
            "tokens_in": usage and usage.tokens_in,
            "tokens_out": usage and usage.tokens_out,
            "tokens_cached": usage and usage.tokens_cached,
            "tokens_counted": usage and usage.counted,
        }
    )


def _tokens(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value
