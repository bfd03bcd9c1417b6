"""Asks a system one question of two turns in a fresh session, and keeps what it heard, thought and said."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from app.audio.devices.loudspeaker import PREBUFFER_SECONDS
from app.audio.devices.paced import PacedAsker, PacedListener
from app.backend.base import Backend, BackendError, ChatRequest, Usage
from app.conversation import events as e
from app.conversation.prompt import ChatMessage, system_prompt
from app.conversation.revisions import Revision, RevisionLog
from app.research.benches.mtbench.answer import Answer
from app.research.benches.mtbench.measures import adoption
from app.research.benches.mtbench.questions import Question
from app.research.benches.mtbench.speech import SpokenTurn
from app.research.benches.mtbench.systems import MODELS_THAT_SPEAK, System
from app.research.benches.questions import MakeSession, until_answered
from app.session.control import BackendChoice

SETTLE_SECONDS = 1.0
"""Silence after an answer before the next turn is spoken: it begins when the voice has stopped."""
LONGEST_ANSWER_SECONDS = 180.0
"""After the question's end. An answer that still sounds then is cut off by the next turn, and counts as a failure."""
REMEMBERED_SECONDS = 240.0
TYPED_TOKENS = 1024

Read = Callable[[np.ndarray], str]
"""Understands the words of a sound: float32 24 kHz."""


async def ask_aloud(
    make: MakeSession,
    system: System,
    run: int,
    question: Question,
    sounds: Sequence[SpokenTurn],
    *,
    weights: str = "",
    read: Read | None = None,
    simulated: bool = False,
) -> list[Answer]:
    """Asks both turns in one session. Raises what opening a session raises."""
    asker = PacedAsker(paced=not simulated)
    listener = PacedListener(asyncio.get_running_loop().time if simulated else time.perf_counter)
    talk = make(
        system.choice(weights),
        asker,
        listener,
        end_with_input=False,
        remember_seconds=REMEMBERED_SECONDS if read is not None else 0.0,
    )
    answers = []
    async with talk:
        events: list[e.Event] = []
        talk.add_listener(events.append)
        await asyncio.sleep(SETTLE_SECONDS)
        for turn, sound in enumerate(sounds, 1):
            events.clear()
            end = asker.ask(sound) + sound.end
            over = await until_answered(talk, events, end, SETTLE_SECONDS, LONGEST_ANSWER_SECONDS)
            heard_again = None
            if read is not None:
                played = talk.sound_of("assistant", max(0.0, end - 5.0, _resumed(events)), talk.clock())
                # In simulated time the loop must not wait for a thread, whose time isn't simulated.
                if played is not None:
                    heard_again = read(played) if simulated else await asyncio.to_thread(read, played)
            answer = _answer(system, run, question.number, turn, events, end, heard_again)
            if not over and not answer.failure:
                answer = replace(answer, failure=f"The answer took longer than {LONGEST_ANSWER_SECONDS:.0f} s.")
            answers.append(answer)
    return answers


def _resumed(events: Sequence[e.Event]) -> float:
    """When the user last went on after a pause; -1 if never. What was said before that did sound, but is no answer."""
    return max((event.at for event in events if isinstance(event, e.UserResumed)), default=-1.0)


def _answer(
    system: System, run: int, question: int, turn: int, events: Sequence[e.Event], end: float, read_back: str | None
) -> Answer:
    log = RevisionLog(Revision)
    for event in events:
        log.apply(event)
    driving = [revision for revision in log.revisions if not revision.secondary and revision.text.strip()]
    last = driving[-1] if driving else None
    finals = {event.turn: event.text for event in events if isinstance(event, e.TranscriptFinal)}
    resumed = _resumed(events)
    words = [event for event in events if isinstance(event, e.AssistantSaid) and event.at > resumed]
    # The app's voice says nothing of its own but openings and why there is no answer; a model that speaks does.
    content = [event for event in words if event.revision or system.kind in MODELS_THAT_SPEAK]
    starts = [event.at + PREBUFFER_SECONDS for event in events if isinstance(event, e.AssistantStarted)]
    after = [at for at in starts if at > resumed]
    share, late = adoption(last.text, events, last.number) if last is not None else (None, None)
    return Answer(
        system=system.name,
        run=run,
        question=question,
        turn=turn,
        heard=" ".join(finals[number] for number in sorted(finals)),
        said=_joined(content),
        oracle=last.text.strip() if last is not None else "",
        first_sound=after[0] - end if after else None,
        first_content=content[0].at - end if content else None,
        requests=sum(isinstance(event, e.OracleRequested) and not event.secondary for event in events),
        taken_back=sum(isinstance(event, e.AssistantCorrected) and event.how == "corrected" for event in events),
        adopted=share,
        adoption_seconds=late,
        cost=sum(event.cost or 0.0 for event in events if isinstance(event, e.OracleCounted)),
        read_back=read_back,
        cut_off=any(at < end for at in starts),
        failure=next((event.sentence for event in events if isinstance(event, e.Failure)), ""),
    )


def _joined(words: Sequence[e.AssistantSaid]) -> str:
    return "".join(word.text if word.glued else f" {word.text}" for word in words).strip()


async def ask_typed(
    make_backend: Callable[[BackendChoice], Backend],
    cost: Callable[[Backend, Usage], float | None],
    system: System,
    run: int,
    question: Question,
) -> list[Answer]:
    """Asks both turns as text, with the prompt that a session gives the back-end. Raises BackendError."""
    async with opened(make_backend(system.backend)) as backend:
        traits = backend.traits
        messages = [ChatMessage("system", system_prompt(traits.persona))]
        answers = []
        for turn, text in enumerate(question.turns, 1):
            messages.append(ChatMessage("user", text))
            request = ChatRequest(tuple(messages), max(traits.max_tokens, TYPED_TOKENS), traits.temperature)
            failure, said, spent = "", "", 0.0
            try:
                said, usage = await complete(backend, request)
                spent = (cost(backend, usage) or 0.0) if usage is not None else 0.0
            except BackendError as error:
                failure = str(error)
            messages.append(ChatMessage("assistant", said or "I have no answer."))
            answers.append(
                Answer(system.name, run, question.number, turn, text, said, requests=1, cost=spent, failure=failure)
            )
    return answers


@asynccontextmanager
async def opened(backend: Backend) -> Any:
    """Opens a back-end for the block. Raises BackendError."""
    await backend.open()
    try:
        yield backend
    finally:
        await backend.close()


async def complete(backend: Backend, request: ChatRequest) -> tuple[str, Usage | None]:
    """Returns the whole answer to a request, and its usage. Raises BackendError."""
    text, usage = "", None
    async with backend.stream(request) as items:
        async for item in items:
            if isinstance(item, str):
                text += item
            elif isinstance(item, Usage):
                usage = item
    return text.strip(), usage
