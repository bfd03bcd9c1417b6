"""Finds the back-ends and front-end that the demo can use on this machine, and starts its sessions.

Contacts no other machine until a session starts.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from app.audio.devices.loudspeaker import StereoClip
from app.audio.io.base import AudioError
from app.backend import PROVIDERS
from app.demo.base import DemoBackend, DemoOffer, DemoQuestion
from app.demo.record import Pair
from app.demo.shipped import load_pairs, load_questions
from app.frontend import free_card_bytes
from app.models.catalogue import ModelError, find_model, models_of
from app.models.fit import judge
from app.models.layout import read_layout
from app.models.locations import folder_of, is_here
from app.models.pool import MODELS
from app.models.selection import language_model_here
from app.platform.installation import resource
from app.services import backends
from app.services.backend_service import BackendService
from app.services.provider_keys import display_name
from app.session.control import BackendChoice, SessionChoice, SessionFactory, UserError
from app.untrusted.proxies import on_this_machine

if TYPE_CHECKING:
    from app.audio.devices.paced import PacedAsker
    from app.session.session import Session

    MakeSession = Callable[..., Session]

# The window creates the service at startup, so modules that only a demo needs are imported when one starts.

SERVER_MODELS = 2
"""The maximum number of models offered of a server: each has a keyboard shortcut, and there are only a few."""
SERVER_SECONDS = 2.0

KEPT_SECONDS = 60.0
"""How much audio (s) of a recorded session is kept."""


class DemoSound:
    """Plays one clip at a time on the named loudspeaker, or on the system's default if the name is empty.

    Does nothing if the device is unavailable.
    """

    def __init__(self, loudspeaker: str = "") -> None:
        self._loudspeaker = loudspeaker
        self._clip: StereoClip | None = None
        self._turn = asyncio.Lock()

    async def play(self, samples: np.ndarray) -> float:
        """Plays float32 (n, 2) samples at 24 kHz, replacing the current clip; returns the output latency in seconds."""
        await self.stop()
        async with self._turn:
            clip = StereoClip(samples, self._loudspeaker or None)
            with contextlib.suppress(AudioError):
                await asyncio.to_thread(clip.__enter__)
                self._clip = clip
            return clip.latency

    async def stop(self) -> None:
        """Stops playback; a no-op if nothing is playing."""
        async with self._turn:
            clip, self._clip = self._clip, None
            if clip is not None:
                await asyncio.to_thread(clip.close)


@dataclass(eq=False)
class DemoService:
    """Provides the demo's questions, back-ends, sessions and audio output.

    - `make`: creates a session on a given microphone and loudspeaker, as `app.main.session` does
    - `talk`: creates a session on the machine's audio devices
    - `user_errors`: the exceptions from `make` that users can fix
    - `aloud`: whether audio is played
    """

    make: MakeSession
    talk: SessionFactory
    service: BackendService
    user_errors: tuple[type[Exception], ...]
    aloud: bool = True

    @cached_property
    def questions(self) -> tuple[DemoQuestion, ...]:
        """The prepared questions. The first access reads their audio files."""
        return load_questions(resource("demo"))

    @cached_property
    def shipped(self) -> tuple[Pair, ...]:
        """The recordings that come with the app. The first access reads their files."""
        return load_pairs(resource("demo"), self.questions)

    async def offer(self, known: Iterable[BackendChoice] = ()) -> DemoOffer:
        """Returns the back-ends that can answer now and the tandem's front-end.

        The user's own (`known`) come first, then those on this machine, starting with its default language model, and
        those that cost money. A choice without a model stands for the first models of its server.
        """
        usual = await asyncio.to_thread(language_model_here)
        here = sorted((model for model in models_of("llm") if is_here(model.key)), key=lambda model: model.key != usual)
        labels = {BackendChoice("embedded", model.key): model.label for model in here}
        clouds = [BackendChoice(key, spec.suggestions[0]) for key, spec in PROVIDERS.items() if spec.wants_key]
        servers = [server.choice for server in await self.service.servers_here()]
        mine = [BackendChoice("embedded", one.model or usual) if one.provider == "embedded" else one for one in known]
        places = [*mine, *labels, BackendChoice("ollama"), *servers, *clouds]
        found: dict[tuple[str, ...], DemoBackend] = {}
        for place, models in zip(places, await asyncio.gather(*map(self._models, places)), strict=True):
            for choice in (replace(place, model=model) for model in models):
                label = labels.get(choice) or f"{display_name(choice)}: {choice.model}"
                backend = DemoBackend(choice, label, costs=place in clouds and place not in mine)
                found.setdefault((choice.provider, choice.model, _address(choice)), backend)
        return DemoOffer(tuple(found.values()), "kame" if await asyncio.to_thread(_kame_fits) else "cascade")

    async def _models(self, choice: BackendChoice) -> Sequence[str]:
        """Returns the model of a choice if it can answer, or the first models of its server. Asks only this machine."""
        spec = PROVIDERS[choice.provider]
        with contextlib.suppress(UserError):  # the server isn't running
            if choice.provider == "embedded":
                return [choice.model] if is_here(choice.model) else []
            if spec.wants_key:
                return [choice.model] if await self.service.key_place(choice) != "none" else []
            if not on_this_machine(_address(choice)):
                return [choice.model] if choice.model else []
            offer = await self.service.offer(choice, seconds=SERVER_SECONDS)
            names = offer.models if offer.asked else ()
            if choice.model:
                return [choice.model] if choice.model in names else []
            return [name for name in names if "embed" not in name and "cloud" not in name][:SERVER_MODELS]
        return []

    async def start(self, choice: SessionChoice) -> tuple[Session, PacedAsker]:
        """Starts a session without audible output, and returns it with its simulated microphone. Raises UserError."""
        from app.audio.devices.paced import PacedAsker, PacedListener

        microphone = PacedAsker()
        try:
            backend = await backends.backend_off_loop(choice.backend)
            options = {"end_with_input": False, "remember_seconds": KEPT_SECONDS}
            session = self.make(choice, microphone, PacedListener(), backend=backend, **options)
            await session.__aenter__()
        except self.user_errors as error:
            raise UserError(str(error)) from error
        return session, microphone

    def sound(self, loudspeaker: str) -> DemoSound | None:
        """Returns a player for the named loudspeaker (empty: the default), or None if the demo is silent."""
        return DemoSound(loudspeaker) if self.aloud else None


def _address(choice: BackendChoice) -> str:
    return choice.base_url or PROVIDERS[choice.provider].default_url or ""


def _kame_fits() -> bool:
    """Returns whether KAME's weights are installed and fit into the graphics card's free memory."""
    try:
        read_layout(folder_of(find_model("kame")), quickly=True)
    except ModelError:
        return False
    if MODELS.holds("engine"):  # it is loaded, and has taken most of the memory
        return True
    free = free_card_bytes()
    fit = judge(free, "bf16") if free is not None else None
    return fit is not None and bool(fit.plan or fit.offers)
