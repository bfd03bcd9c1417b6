"""Finds what the swap demo can use on this machine, and starts its sessions.

Contacts no other machine before a session starts.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import cached_property

from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.io.base import AudioSink
from app.audio.io.errors import AudioError
from app.backend import PROVIDERS
from app.backend.address import on_this_machine
from app.demo.base import DemoBackend, DemoFrontEnd, DemoQuestion
from app.demo.microphone import DemoMicrophone
from app.evaluation.spoken_questions import MakeSession, PacedListener, load_questions
from app.frontend import PROVIDERS as FRONT_ENDS
from app.frontend import free_card_bytes
from app.models.catalogue import find_model, models_of
from app.models.errors import ModelError
from app.models.fit import PRECISIONS, judge
from app.models.layout import read_layout
from app.models.locations import folder_of, is_here
from app.services import backends
from app.services.backend_service import BackendService
from app.session.control import BackendChoice, SessionChoice, SessionControl
from app.session.errors import UserError

QUESTIONS = ("144_1", "103_2", "149_1")
"""Of the bench: the first needs no turn before it, the second follows on it, and the last has the longest answer."""

OLLAMA_MODELS = 2
"""A tour of all models that somebody has ever pulled would take too long."""

OLLAMA_SECONDS = 2.0


class DemoService:
    """`make` makes a session, as `app.main.session` does; `user_errors`: those of its errors that users can fix.

    `aloud` False: nothing is played, whatever loudspeaker there is.
    """

    def __init__(
        self,
        make: MakeSession,
        service: BackendService,
        user_errors: tuple[type[Exception], ...],
        *,
        aloud: bool = True,
    ) -> None:
        self._make = make
        self._service = service
        self._user_errors = user_errors
        self._aloud = aloud

    @cached_property
    def questions(self) -> tuple[DemoQuestion, ...]:
        """All that may be asked; the last one has the longest answer."""
        return tuple(DemoQuestion(q.name, q.text, q.samples, q.end) for q in load_questions(names=QUESTIONS))

    async def backends(self) -> tuple[DemoBackend, ...]:
        """Lists the back-ends that can be used as they are now, those on this machine first."""
        found = [
            DemoBackend(BackendChoice("embedded", model.key), model.label)
            for model in models_of("llm")
            if is_here(model.key)
        ]
        found += await self._ollamas()
        for key, spec in PROVIDERS.items():
            if spec.wants_key:
                choice = BackendChoice(key, spec.suggestions[0])
                with contextlib.suppress(UserError):
                    place = await self._service.key_place(choice)
                    if place in ("environment", "keyring", "memory"):
                        found.append(DemoBackend(choice, f"{spec.label}: {choice.model}", costs=True))
        return tuple(found)

    async def _ollamas(self) -> list[DemoBackend]:
        if not on_this_machine(PROVIDERS["ollama"].default_url or ""):
            return []
        try:
            offer = await self._service.offer(BackendChoice("ollama"), seconds=OLLAMA_SECONDS)
        except UserError:
            return []  # it doesn't run here
        if not offer.asked:
            return []
        models = [name for name in offer.models if "embed" not in name and "cloud" not in name]
        return [DemoBackend(BackendChoice("ollama", name), f"Ollama: {name}") for name in models[:OLLAMA_MODELS]]

    async def frontends(self) -> tuple[DemoFrontEnd, ...]:
        """Lists the front-ends that are here and fit the machine; the first always does."""
        found = [DemoFrontEnd("cascade", "Cascade", ("after", "thinking"))]
        found += await asyncio.to_thread(_weighted_frontends)
        return tuple(found)

    async def start(
        self, choice: SessionChoice, progress: Callable[[str], None]
    ) -> tuple[SessionControl, DemoMicrophone]:
        """Starts a session that hears only the demo's questions. Raises UserError.

        Its voice and the questions are played on the loudspeaker, if there is one.
        """
        progress("speech recognition, voice and model are loading")
        sink = await asyncio.to_thread(_loudspeaker, self._aloud)
        microphone = DemoMicrophone()
        try:
            backend = await backends.backend_off_loop(choice.backend)
            session = self._make(choice, microphone, sink, end_with_input=False, backend=backend)
            await session.__aenter__()
        except self._user_errors as error:
            raise UserError(str(error)) from error
        if isinstance(sink, Loudspeaker):
            # After the session's own: where the system allows only one stream, the answers are heard.
            await asyncio.to_thread(microphone.open_loudspeaker)
        return session, microphone


def _loudspeaker(aloud: bool) -> AudioSink:
    """The default loudspeaker, not open yet, or a silent one where none can be opened."""
    if aloud:
        with contextlib.suppress(AudioError), Loudspeaker():
            return Loudspeaker()
    return PacedListener()


def _weighted_frontends() -> list[DemoFrontEnd]:
    """Front-ends with weights that are here and fit the card."""
    found = []
    for key, spec in FRONT_ENDS.items():
        if not spec.weights:
            continue
        try:
            read_layout(folder_of(find_model(key)), quickly=True)
        except ModelError:
            continue
        free = free_card_bytes()
        if free is not None and any(judge(free, precision).plan for precision in PRECISIONS):
            found.append(DemoFrontEnd(key, spec.label.partition(" (")[0], ("thinking",), backends=key == "kame"))
    return found
