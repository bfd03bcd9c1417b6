"""What the user can choose from, and the settings as a choice that builds a session."""

from __future__ import annotations

from dataclasses import dataclass

from app.conversation.frame import as_frames
from app.session.control import BackendChoice, ModelChoice, SessionChoice
from app.settings import Settings, recordings_folder


@dataclass(frozen=True, slots=True)
class WindowChoices:
    """What the pickers offer, as (key, label): the composition root knows what is there."""

    frontends: tuple[tuple[str, str], ...] = (("cascade", "Cascade"),)
    weighty: tuple[str, ...] = ()
    """The front-ends that have weights of their own."""
    brains: tuple[tuple[str, str], ...] = (
        ("embedded", "Built in"),
        ("ollama", "Ollama"),
        ("openai", "OpenAI"),
    )


NAMED_BRAINS = ("ollama", "openai")
"""The brains that are reached at a URL and asked for by a model's name."""


def backend_choice(settings: Settings, provider: str = "") -> BackendChoice:
    """The brain in the settings; with `provider`, the one that the settings keep for that provider."""
    provider = provider or settings.provider
    if provider not in NAMED_BRAINS:
        return BackendChoice(provider)
    model = getattr(settings, f"{provider}_model")
    return BackendChoice(provider, model, getattr(settings, f"{provider}_url"))


def keep_backend(settings: Settings, choice: BackendChoice) -> None:
    """Writes a brain into the settings."""
    settings.provider = choice.provider
    if choice.provider in NAMED_BRAINS:
        setattr(settings, f"{choice.provider}_model", choice.model)
        setattr(settings, f"{choice.provider}_url", choice.base_url)


def model_choice(settings: Settings) -> ModelChoice:
    """How a front-end with weights runs, from the settings."""
    return ModelChoice(
        weights=settings.weights_folder,
        precision=settings.precision,
        context=max(0, settings.context_frames),
        delay=as_frames(settings.answer_delay_ms),
        lead=as_frames(settings.oracle_lead_ms),
    )


def session_choice(settings: Settings) -> SessionChoice:
    """The settings as what a session is made of."""
    return SessionChoice(
        frontend=settings.frontend,
        backend=backend_choice(settings),
        model=model_choice(settings),
        manner="after" if settings.manner == "after" else "thinking",
        duplex=settings.duplex,
        microphone=settings.microphone,
        loudspeaker=settings.loudspeaker,
        record_folder=str(recordings_folder()) if settings.keep_recordings else "",
    )
