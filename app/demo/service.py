"""The desk for the swap demo: real questions, the brains and front-ends that are here, and sessions with a script for
a microphone. See `DemoService`. Asks no address but this machine's, and knows nothing of windows.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import cached_property

import numpy as np

from app.audio.devices.loudspeaker import Loudspeaker
from app.audio.io.base import AudioSink
from app.audio.io.errors import AudioError
from app.backend import PROVIDERS
from app.backend.address import on_this_machine
from app.conversation.frame import SAMPLE_RATE
from app.demo.base import DemoBackend, DemoFrontEnd, DemoMicrophone, DemoQuestion
from app.evaluation.spoken_questions import LEAD_SECONDS, MakeSession, PacedAsker, PacedListener, Spoken, load_questions
from app.frontend import PROVIDERS as FRONT_ENDS
from app.frontend import free_card_bytes
from app.models.catalogue import find_model, models_of
from app.models.errors import ModelError
from app.models.fit import PRECISIONS, judge
from app.models.layout import read_layout
from app.models.locations import folder_of, is_here
from app.services import backends
from app.services.backend_service import ProviderDirectory
from app.session.control import BackendChoice, SessionChoice, SessionControl
from app.session.errors import UserError

QUESTIONS = ("144_1", "103_2", "149_1")
"""Of the bench: the first one needs no turn before it, the second one follows on it, and the last one asks for most."""

MOST_OF_OLLAMA = 2
"""A tour of all models that somebody has ever fetched would have no end."""

LOOK_SECONDS = 2.0


class LocalDemoService:
    """`make` makes a session, as `app.main.session` does; `user_errors`: what the user can put right of what it
    raises; `service` knows keys and models. `aloud` False: nothing is played, whatever loudspeaker there is.
    """

    def __init__(
        self,
        make: MakeSession,
        service: ProviderDirectory,
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
        """See `DemoService.questions`."""
        return tuple(DemoQuestion(q.name, q.text, q.samples, q.end) for q in load_questions(names=QUESTIONS))

    async def backends(self) -> tuple[DemoBackend, ...]:
        """See `DemoService.backends`."""
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
            offer = await self._service.offer(BackendChoice("ollama"), seconds=LOOK_SECONDS)
        except UserError:
            return []  # it doesn't run here
        if not offer.asked:
            return []
        models = [name for name in offer.models if "embed" not in name and "cloud" not in name]
        return [DemoBackend(BackendChoice("ollama", name), f"Ollama: {name}") for name in models[:MOST_OF_OLLAMA]]

    async def frontends(self) -> tuple[DemoFrontEnd, ...]:
        """See `DemoService.frontends`."""
        found = [DemoFrontEnd("cascade", "Cascade", ("after", "thinking"))]
        found += await asyncio.to_thread(_heavy_frontends)
        return tuple(found)

    async def start(
        self, choice: SessionChoice, progress: Callable[[str], None]
    ) -> tuple[SessionControl, DemoMicrophone]:
        """See `DemoService.start`."""
        progress("the ears, the voice and the brain are loading")
        sink = await asyncio.to_thread(_loudspeaker, self._aloud)
        microphone = ScriptMicrophone()
        try:
            backend = await backends.backend_off_loop(choice.backend)
            session = self._make(choice, microphone, sink, end_with_input=False, backend=backend)
            await session.__aenter__()
        except self._user_errors as error:
            raise UserError(str(error)) from error
        if isinstance(sink, Loudspeaker):
            # Behind the session's own: where the system lets only one at it, the answers are heard.
            await asyncio.to_thread(microphone.open_loudspeaker)
        return session, microphone


class ScriptMicrophone(PacedAsker):
    """A microphone that the script speaks into, and that those in the room hear too where there is a loudspeaker."""

    name = "the demo"

    def __init__(self) -> None:
        super().__init__()
        self._aloud: Loudspeaker | None = None

    def ask(self, question: Spoken) -> float:
        """See `DemoMicrophone.ask`."""
        asked_at = super().ask(question)
        if self._aloud is not None:
            with contextlib.suppress(AudioError):
                self._aloud.write(np.zeros(round(LEAD_SECONDS * SAMPLE_RATE), np.float32))
                self._aloud.write(question.samples)
        return asked_at

    def open_loudspeaker(self) -> None:
        """Has the questions heard in the room, if that can be; blocks for a moment."""
        with contextlib.suppress(AudioError):
            aloud = Loudspeaker()
            aloud.__enter__()
            self._aloud = aloud

    def __exit__(self, *exc: object) -> None:
        aloud, self._aloud = self._aloud, None
        if aloud is not None:
            with contextlib.suppress(AudioError):
                aloud.close()
        super().__exit__(*exc)


def _loudspeaker(aloud: bool) -> AudioSink:
    """The default loudspeaker, not open yet, or one that plays to nobody where none can be opened."""
    if aloud:
        with contextlib.suppress(AudioError), Loudspeaker():
            return Loudspeaker()
    return PacedListener()


def _heavy_frontends() -> list[DemoFrontEnd]:
    """Front-ends with weights of their own that are here and fit the card."""
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
