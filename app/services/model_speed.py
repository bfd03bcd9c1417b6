"""The `models bench` command, which measures a model's speed on this machine with a short task."""

from __future__ import annotations

import asyncio
import time

import numpy as np
import soxr

from app.audio.io.files import read_frames
from app.conversation.frame import SAMPLE_RATE
from app.diagnostics.tables import Progress, no_progress
from app.models.catalogue import Model, ModelError
from app.models.locations import is_here
from app.models.selection import Speed
from app.platform.installation import resource

WARM_UP = "Good morning."
QUESTIONS = (
    "Why does bread become hard when it lies open for some days?",
    "Which rivers flow through the south of France?",
    "How do bees find their way back to the hive?",
)
"""Asked after a warm-up, since in a conversation the system prompt has already been processed when the user speaks."""
TOKENS = 60
SENTENCE = "It is a short walk from the station to the old town, and there is a good view from the bridge."
SPOKEN = ("016", "049")
"""Two recorded questions of the `facts` benchmark, about five seconds in all."""
LOOK_SECONDS = 5.0
LOOKS = 4


def measure_speed(model: Model, progress: Progress = no_progress) -> Speed:
    """Measures the speed of a language model, a voice or a speech recogniser.

    Raises ModelError, BackendError, VoiceError and TranscriberError.
    """
    if not is_here(model.key):
        raise ModelError(f"{model.label} is not on this machine. Get it first: models get {model.key}.")
    measures = {"llm": lambda model: asyncio.run(_answer(model.key)), "tts": _voice, "stt": _recogniser}
    if model.kind not in measures:
        raise ModelError(f"{model.label} is measured otherwise: “bench card” measures the front-ends.")
    progress(f"Measuring {model.label} …")
    return measures[model.kind](model)


async def _answer(key: str) -> Speed:
    from app.backend import make_backend
    from app.backend.base import ChatRequest
    from app.conversation.prompt import ChatMessage, system_prompt

    backend = make_backend("embedded", model=key)
    try:
        await backend.open()
        persona = ChatMessage("system", system_prompt(backend.traits.persona, ""))
        firsts: list[float] = []
        words, seconds = 0, 0.0
        for question in (WARM_UP, *QUESTIONS):
            began = time.perf_counter()
            first, text = 0.0, ""
            request = ChatRequest((persona, ChatMessage("user", question)), max_tokens=TOKENS, temperature=0.0)
            async with backend.stream(request) as items:
                async for item in items:
                    if isinstance(item, str) and (text or item.strip()):
                        first = first or time.perf_counter()
                        text += item
            if not text or question is WARM_UP:
                continue
            firsts.append(first - began)
            words += len(text.split()) - 1
            seconds += time.perf_counter() - first
    finally:
        await backend.close()
    if not firsts or seconds <= 0:
        raise ModelError(f"The model {key} gave no answer, so its speed is not known. Check it: models check {key}.")
    return Speed(round(float(np.median(firsts)), 3), round(words / seconds, 2))


def _voice(model: Model) -> Speed:
    from app.tts.voices import make_voice

    with make_voice(model.key, "auto") as voice:
        voice.synthesize(SENTENCE).result()
        began = time.perf_counter()
        voice.synthesize(SENTENCE.partition(",")[0] + ",").result()
        first = time.perf_counter() - began
        began = time.perf_counter()
        clip = voice.synthesize(SENTENCE).result()
        seconds = time.perf_counter() - began
    return Speed(round(first, 3), round(len(clip.samples) / SAMPLE_RATE / seconds, 2))


def _recogniser(model: Model) -> Speed:
    from app.stt import open_decoder
    from app.stt.streaming import RATE

    decoder = open_decoder(model)
    spoken = np.concatenate([read_frames(resource("bench", "facts", f"{name}.ogg")) for name in SPOKEN])
    sound = soxr.resample(spoken, SAMPLE_RATE, RATE)[: int(LOOK_SECONDS * RATE)].astype(np.float32)
    times = []
    try:
        decoder.decode(sound)
        for _ in range(LOOKS):
            began = time.perf_counter()
            decoder.decode(sound)
            times.append(time.perf_counter() - began)
    finally:
        decoder.close()
    look = float(np.median(times))
    return Speed(round(look, 3), round(len(sound) / RATE / look, 2))
