"""Finds the back-ends and front-end that the demo can use on this machine, and starts its sessions.

Contacts no other machine until a session starts.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from app.audio.devices.loudspeaker import StereoClip
from app.audio.io.base import AudioError
from app.backend import PROVIDERS
from app.demo.base import SIDES, DemoBackend, DemoFigure, DemoOffer, DemoQuestion, DemoResult
from app.frontend import free_card_bytes
from app.models.catalogue import ModelError, find_model, models_of
from app.models.fit import PRECISIONS, judge
from app.models.layout import read_layout
from app.models.locations import folder_of, is_here
from app.models.selection import language_model_here
from app.platform.installation import resource
from app.services import backends
from app.services.backend_service import BackendService
from app.session.control import BackendChoice, SessionChoice, SessionFactory, UserError
from app.untrusted.proxies import on_this_machine


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


def document(result: DemoResult) -> dict[str, Any]:
    """Returns the result as JSON-compatible data; times are in seconds, rounded to the millisecond."""
    return {
        "ok": result.whole and bool(result.counted),
        "whole": result.whole,
        "backend": result.backend,
        "median_seconds": {side: _rounded(result.median(side)) for side in SIDES},
        "questions": [_figure(figure) for figure in result.figures],
    }


def lines(result: DemoResult) -> list[str]:
    """Returns one line per question and one for the medians."""
    out = []
    for figure in result.figures:
        sides = (
            f"{side} {_seconds(seconds)} ({trouble or said})"
            for side, seconds, said, trouble in zip(
                SIDES, (figure.cascade, figure.tandem), figure.said, figure.trouble, strict=True
            )
        )
        out.append(f"{figure.question} {'; '.join(sides)}")
    medians = ", ".join(f"{side} {_seconds(result.median(side))}" for side in SIDES)
    return [*out, f"From the question's end until it was heard, median: {medians}."]


def _figure(figure: DemoFigure) -> dict[str, Any]:
    times = (figure.cascade, figure.tandem)
    sides: dict[str, Any] = {
        side: {"seconds": _rounded(seconds), "said": said, "trouble": trouble}
        for side, seconds, said, trouble in zip(SIDES, times, figure.said, figure.trouble, strict=True)
    }
    return {"question": " ".join(figure.question.split()), "own": figure.own, **sides}


def _seconds(seconds: float | None) -> str:
    return "no answer" if seconds is None else f"{seconds:.2f} s"


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, 3)


if TYPE_CHECKING:
    from app.audio.devices.paced import PacedAsker
    from app.session.session import Session

    MakeSession = Callable[..., Session]

# The window creates the service at startup, so modules that only a demo needs are imported when one starts.

QUESTIONS: tuple[tuple[str, str, float], ...] = (
    ("049", "Which desert covers most of northern Africa?", 2.44),
    ("016", "Which month is the last one of the year?", 2.02),
    ("051", "What is the chemical symbol for iron?", 1.86),
)
"""For each question, the file name in `resources/bench/facts`, the text, and the time in seconds at which the speech
ends. Even the smallest models answer these questions correctly, and all recognisers transcribe them correctly.
"""

OLLAMA_MODELS = 2
"""The maximum number of Ollama models offered: each back-end has a keyboard shortcut, and there are only a few."""
OLLAMA_SECONDS = 2.0

KEPT_SECONDS = 60.0
"""How much audio (s) of a recorded session is kept."""


class DemoService:
    """Provides the demo's questions, back-ends, sessions and audio output.

    - `make`: creates a session on a given microphone and loudspeaker, as `app.main.session` does
    - `talk`: creates a session on the machine's audio devices
    - `user_errors`: the exceptions from `make` that users can fix
    - `aloud`: whether audio is played
    """

    def __init__(
        self,
        make: MakeSession,
        talk: SessionFactory,
        service: BackendService,
        user_errors: tuple[type[Exception], ...],
        *,
        aloud: bool = True,
    ) -> None:
        self.talk = talk
        self._make = make
        self._service = service
        self._user_errors = user_errors
        self._aloud = aloud

    @cached_property
    def questions(self) -> tuple[DemoQuestion, ...]:
        """The prepared questions. The first access reads their audio files."""
        from app.audio.io.files import read_frames

        return tuple(
            DemoQuestion(text, read_frames(resource("bench", "facts", f"{name}.ogg")), end)
            for name, text, end in QUESTIONS
        )

    async def offer(self) -> DemoOffer:
        """Returns the back-ends that are available now and the tandem's front-end.

        Back-ends on this machine come first, starting with its default language model.
        """
        usual = await asyncio.to_thread(language_model_here)
        here = sorted((model for model in models_of("llm") if is_here(model.key)), key=lambda model: model.key != usual)
        found = [DemoBackend(BackendChoice("embedded", model.key), model.label) for model in here]
        found += await self._ollamas()
        for key, spec in PROVIDERS.items():
            if spec.wants_key:
                choice = BackendChoice(key, spec.suggestions[0])
                with contextlib.suppress(UserError):
                    place = await self._service.key_place(choice)
                    if place in ("environment", "keyring", "memory"):
                        found.append(DemoBackend(choice, f"{spec.label}: {choice.model}", costs=True))
        return DemoOffer(tuple(found), "kame" if await asyncio.to_thread(_kame_fits) else "cascade")

    async def _ollamas(self) -> list[DemoBackend]:
        if not on_this_machine(PROVIDERS["ollama"].default_url or ""):
            return []
        try:
            offer = await self._service.offer(BackendChoice("ollama"), seconds=OLLAMA_SECONDS)
        except UserError:
            return []  # Ollama isn't running
        if not offer.asked:
            return []
        models = [name for name in offer.models if "embed" not in name and "cloud" not in name]
        return [DemoBackend(BackendChoice("ollama", name), f"Ollama: {name}") for name in models[:OLLAMA_MODELS]]

    async def start(self, choice: SessionChoice) -> tuple[Session, PacedAsker]:
        """Starts a session without audible output, and returns it with its simulated microphone. Raises UserError."""
        from app.audio.devices.paced import PacedAsker, PacedListener

        microphone = PacedAsker()
        try:
            backend = await backends.backend_off_loop(choice.backend)
            session = self._make(
                choice,
                microphone,
                PacedListener(),
                end_with_input=False,
                backend=backend,
                remember_seconds=KEPT_SECONDS,
            )
            await session.__aenter__()
        except self._user_errors as error:
            raise UserError(str(error)) from error
        return session, microphone

    async def warm(self, choice: BackendChoice) -> None:
        """Loads a back-end in advance, so that switching to it during an answer takes no time. Ignores user errors."""
        with contextlib.suppress(*self._user_errors):
            backend = await backends.backend_off_loop(choice)
            try:
                await backend.open()
            finally:
                await backend.close()

    def sound(self, loudspeaker: str) -> DemoSound | None:
        """Returns a player for the named loudspeaker (empty: the default), or None if the demo is silent."""
        return DemoSound(loudspeaker) if self._aloud else None


def _kame_fits() -> bool:
    """Returns whether KAME's weights are installed and fit into the graphics card's free memory."""
    try:
        read_layout(folder_of(find_model("kame")), quickly=True)
    except ModelError:
        return False
    free = free_card_bytes()
    return free is not None and any(judge(free, precision).plan for precision in PRECISIONS)
