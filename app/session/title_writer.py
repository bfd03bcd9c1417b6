"""Has the model name the conversation, in the background, once there is something to name.

The request is the conversation so far and one more turn, so that a server's prompt cache serves it, and the next
question after it. It ends as soon as the user speaks.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import re

from app.backend.base import Backend, BackendError, Notice
from app.conversation import events as e
from app.conversation.languages import ENGLISH, language
from app.conversation.prompt import PERSONA
from app.conversation.record.transcript import Transcript
from app.conversation.words import fold
from app.session.backend_pool import Prompts
from app.session.oracle_stream import OracleContext, OracleStream, count, run
from app.session.parts import LatestTask

LEAST_WORDS = 4
"""How many words the user must have said."""
MOST_WORDS = 8
"""Longer answers aren't titles."""
MOST_TRIES = 2

_LABEL = re.compile(r"^[\w ]{1,24}:\s+", re.UNICODE)

_log = logging.getLogger(__name__)


class TitleWriter:
    """Writes at most one title in a session, in the language of `prompts`."""

    secondary = True  # it may not change anything, and nothing of it is spoken

    def __init__(self, context: OracleContext, transcript: Transcript, prompts: Prompts) -> None:
        self._context = context
        self._transcript = transcript
        self._prompts = prompts
        self._work = LatestTask("write a title")
        self._tries_left = MOST_TRIES

    def begin(self, backend: Backend, turn: int) -> None:
        """Asks for a title if there is none yet and the model can write one. `turn`: the last one answered."""
        said = sum(len(t.text.split()) for t in self._transcript.turns if t.speaker == "user" and not t.backchannel)
        small = backend.traits.persona != PERSONA  # only small models have a prompt of their own
        clock = asyncio.get_running_loop().time()
        allowed = self._context.allowed(backend) and self._context.pace(backend).budget.allows("partial", clock)
        if self._tries_left and said >= LEAST_WORDS and not small and allowed:
            self._tries_left -= 1
            self._work.start(functools.partial(self._write, backend, turn))

    def cancel(self) -> None:
        """Ends a request: the user speaks."""
        self._work.cancel()

    async def stop(self) -> None:
        """Ends a request and waits for its end."""
        await self._work.stop()

    async def _write(self, backend: Backend, turn: int) -> None:
        context = self._context
        context.pace(backend).budget.sent(asyncio.get_running_loop().time())
        words = language(self._prompts.language or ENGLISH).asks_title
        await run(OracleStream(self, next(context.numbers), turn + 1, words, False, backend, context.now()), context)

    # -- what its stream calls

    def deliver(self, stream: OracleStream, text: str) -> None:
        stream.text += text
        stream.count += len(fold(text))
        stream.enough = "\n" in stream.text.strip() or stream.count > MOST_WORDS

    def notify(self, stream: OracleStream, notice: Notice) -> None:
        pass

    def fail(self, stream: OracleStream, error: BackendError) -> None:
        _log.info("The conversation gets no title (%s)", error.kind)

    def end(self, stream: OracleStream, reason: e.EndReason) -> None:
        now, backend = self._context.now(), stream.backend
        if stream.count or reason != "failed":
            count(stream, self._context, now)
        title = title_in(stream.text) if reason == "complete" else ""
        if title:
            self._tries_left = 0
            self._context.emit(e.ConversationTitled(now, title, backend.name, backend.model))


def title_in(answer: str) -> str:
    """Returns the title in a model's answer, without a label, quotes and Markdown; empty if it isn't a title."""
    line = next((one for one in answer.strip().split("\n") if one.strip()), "")
    title = _LABEL.sub("", line.strip().strip("*#_`\"“”„'«» ")).strip("*#_`\"“”„'«» .:;")
    return title if 0 < len(title.split()) <= MOST_WORDS else ""
