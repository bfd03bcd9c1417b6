"""`bench remote`: the same spoken questions here, and by a voice server on this machine: what the way costs.

Both run in real time with the same models. The server is in a process of its own, as on another machine.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import subprocess
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from typing import Any

from app.audio.devices.loudspeaker import PREBUFFER_SECONDS
from app.audio.devices.paced import PacedAsker, PacedListener
from app.conversation import events as e
from app.conversation.words import fold
from app.diagnostics.tables import Progress, machine, markdown, quantile, rounded
from app.platform.children import end_child, python_module_command, quiet_child
from app.research.benches.reader import word_distance
from app.research.benches.recordings import MakeSession, load_questions, until_answered
from app.session.control import SessionChoice
from app.session.errors import UserError

SETTLE_SECONDS = 1.5
"""Silence after an answer before the next question: a server's answer is known to be over a second later."""
START_SECONDS = 120.0


@dataclass(slots=True)
class Way:
    """One way's figures: seconds from the end of each question to the first sound; words heard wrong, and all."""

    first_sound: list[float] = field(default_factory=list)
    wrong: int = 0
    words: int = 0
    unanswered: int = 0


@dataclass(frozen=True, slots=True)
class RemoteResult:
    """The figures of both ways."""

    here: Way
    there: Way

    def table(self) -> str:
        """The result as a Markdown table."""
        head = ("", "questions", "first sound p50, s", "worst", "words heard wrong", "of", "no answer")
        rows = [
            (
                name,
                len(way.first_sound) + way.unanswered,
                f"{quantile(way.first_sound, 0.5):.2f}",
                f"{quantile(way.first_sound, 1.0):.2f}",
                *(way.wrong, way.words, way.unanswered),
            )
            for name, way in (("here", self.here), ("by a server", self.there))
        ]
        return "\n".join([f"Spoken questions in real time, {machine()}", "", *markdown(head, rows)])

    def document(self) -> dict[str, Any]:
        """The result for JSON."""
        ways = [
            {
                "name": name,
                "first_sound_p50": quantile(way.first_sound, 0.5),
                "first_sound": way.first_sound,
                "wrong": way.wrong,
                "words": way.words,
                "unanswered": way.unanswered,
            }
            for name, way in (("here", self.here), ("server", self.there))
        ]
        document: dict[str, Any] = rounded({"bench": "remote", "machine": machine(), "ways": ways})
        return document


async def run_remote(make: MakeSession, choice: SessionChoice, count: int, progress: Progress) -> RemoteResult:
    """Asks `count` questions in each way. Raises what opening a session raises, and UserError."""
    here = await _ask(make, choice, count, "here", progress)
    async with _server(choice) as url:
        there = await _ask(make, replace(choice, frontend="remote", server=url), count, "by a server", progress)
    return RemoteResult(here, there)


@contextlib.asynccontextmanager
async def _server(choice: SessionChoice) -> AsyncIterator[str]:
    """A running `serve` with the same back-end; its address."""
    backend = choice.backend
    options = ["--backend", backend.provider, "--model", backend.model, "--base-url", backend.base_url]
    command = python_module_command("app", "serve", "--port", "0", "--no-openings", *options)
    child = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **quiet_child()
    )
    assert child.stdout is not None
    try:
        try:
            async with asyncio.timeout(START_SECONDS):
                line = (await asyncio.to_thread(child.stdout.readline)).decode("utf-8", "replace")
        except TimeoutError:
            line = ""
        found = re.search(r"Serving at (ws://\S+?)\.\s", line)
        if found is None:
            raise UserError("The voice server did not start. Try “kame-desktop serve” by itself: it says why.")
        yield found[1]
    finally:
        child.terminate()
        await asyncio.to_thread(end_child, child, 10.0)
        child.stdout.close()


async def _ask(make: MakeSession, choice: SessionChoice, count: int, way: str, progress: Progress) -> Way:
    out, asker = Way(), PacedAsker()
    questions = load_questions(max(1, count))
    talk = make(choice, asker, PacedListener(), end_with_input=False)
    async with talk:
        events: list[e.Event] = []
        talk.add_listener(events.append)
        await asyncio.sleep(1.0)
        for number, question in enumerate(questions, 1):
            progress(f"{way}: question {number} of {len(questions)}")
            events.clear()
            end = asker.ask(question) + question.end
            await until_answered(talk, events, end, SETTLE_SECONDS)
            resumed = max((x.at for x in events if isinstance(x, e.UserResumed)), default=-1.0)
            starts = [x.at for x in events if isinstance(x, e.AssistantStarted) and x.at > resumed]
            if starts:
                out.first_sound.append(round(starts[0] + PREBUFFER_SECONDS - end, 3))
            else:
                out.unanswered += 1
            # What the server heard is what it asked its back-end.
            asked = [x.words for x in events if isinstance(x, e.OracleRequested)]
            reference = fold(question.text)
            out.wrong += word_distance(reference, fold(asked[-1] if asked else ""))
            out.words += len(reference)
    return out
