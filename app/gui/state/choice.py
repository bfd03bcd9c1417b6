"""What the user can choose from, and the settings as a choice that builds a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from app.conversation.events import Processing
from app.conversation.frame import as_frames
from app.conversation.prompt import Length
from app.services.backend_service import ProviderView
from app.session.control import BackendChoice, ModelChoice, SessionChoice, SpeechChoice, Style, ToolChoice
from app.settings.declarations import Settings, patience_of
from app.settings.paths import recordings_folder

SERVER_PREFIX = "mcp:"
"""Before the name of an MCP server, where it stands among the names of tools."""

MODELLED = ("ollama", "openai", "anthropic", "google", "compatible")
"""The back-ends that are asked for by a model's name."""

LOCATED = ("ollama", "compatible")
"""Those of them that the user says the place of."""


@dataclass(frozen=True, slots=True)
class WindowChoices:
    """What the pickers offer; front-ends as (key, label). The composition root knows what is there."""

    frontends: tuple[tuple[str, str], ...] = (("cascade", "Cascade"),)
    weighty: tuple[str, ...] = ()
    """The front-ends that have weights of their own."""
    backends: tuple[ProviderView, ...] = (
        ProviderView("embedded", "Built-in"),
        ProviderView("ollama", "Ollama", url="http://127.0.0.1:11434", can_pull=True),
        ProviderView("openai", "OpenAI", wants_key=True, key_name="OPENAI_API_KEY"),
    )
    mcp_servers: tuple[str, ...] = ()
    """Servers of tools, by name."""


def backend_choice(settings: Settings, provider: str = "") -> BackendChoice:
    """The back-end in the settings; with `provider`, the one that the settings keep for that provider."""
    provider = provider or settings.provider
    if provider == "embedded":
        return BackendChoice(provider, settings.embedded_model)
    if provider not in MODELLED:
        return BackendChoice(provider)
    url = getattr(settings, f"{provider}_url") if provider in LOCATED else ""
    return BackendChoice(provider, getattr(settings, f"{provider}_model"), url)


def keep_backend(settings: Settings, choice: BackendChoice) -> None:
    """Writes a back-end into the settings."""
    settings.provider = choice.provider
    if choice.provider == "embedded" or choice.provider in MODELLED:
        setattr(settings, f"{choice.provider}_model", choice.model)
    if choice.provider in LOCATED:
        setattr(settings, f"{choice.provider}_url", choice.base_url)


def secondary_choice(settings: Settings) -> BackendChoice | None:
    """Returns the last comparison model; None before any, and if this version doesn't know its provider."""
    if settings.secondary_provider not in ("embedded", *MODELLED):
        return None
    return BackendChoice(settings.secondary_provider, settings.secondary_model, settings.secondary_url)


def keep_secondary(settings: Settings, choice: BackendChoice) -> None:
    """Writes the back-end at the side into the settings."""
    settings.secondary_provider, settings.secondary_model = choice.provider, choice.model
    settings.secondary_url = choice.base_url


def style_choice(settings: Settings) -> Style:
    """How new conversations are held."""
    length: Length = next((known for known in get_args(Length) if known == settings.answer_length), "medium")
    temperature = None if settings.temperature < 0 else settings.temperature
    return Style(settings.persona, temperature, length)


def tool_choice(settings: Settings) -> ToolChoice:
    """The tools of new conversations."""
    folders = (line.strip() for line in settings.tool_folders.splitlines())
    names = settings.tools.splitlines() if "\n" in settings.tools else settings.tools.split()
    return ToolChoice(tuple(name for name in names if name), tuple(folder for folder in folders if folder))


def keep_tools(settings: Settings, tools: ToolChoice) -> None:
    """Writes the tools of new conversations into the settings."""
    # A server's name may hold spaces.
    plain = not any(letter.isspace() for name in tools.names for letter in name)
    settings.tools = " ".join(tools.names) if plain else "".join(f"{name}\n" for name in tools.names)
    settings.tool_folders = "\n".join(tools.folders)


def with_servers_moved(choice: ToolChoice, moved: Mapping[str, str]) -> ToolChoice:
    """A choice after tool servers were renamed, from a name to another, or removed, from a name to an empty one."""
    names = []
    for name in choice.names:
        server = name.removeprefix(SERVER_PREFIX)
        if name.startswith(SERVER_PREFIX) and server in moved:
            name = f"{SERVER_PREFIX}{moved[server]}" if moved[server] else ""
        if name:
            names.append(name)
    return ToolChoice(tuple(names), choice.folders)


def keep_style(settings: Settings, style: Style, tools: ToolChoice, cap: float) -> None:
    """Writes how new conversations are held into the settings."""
    settings.persona, settings.answer_length = style.persona, style.length
    if style.voice:
        settings.voice = style.voice
    settings.temperature = -1.0 if style.temperature is None else float(style.temperature)
    keep_tools(settings, tools)
    settings.cap_dollars = float(cap)


def model_choice(settings: Settings) -> ModelChoice:
    """Returns how a front-end with weights runs."""
    return ModelChoice(
        weights=settings.weights_folder,
        precision=settings.precision,
        context=0 if settings.memory == "auto" else as_frames(1000 * int(settings.memory)),
        delay=as_frames(settings.answer_delay_ms),
        lead=as_frames(settings.oracle_lead_ms),
    )


def processing_choice(settings: Settings) -> Processing:
    """What is done to the microphone's sound."""
    return Processing(settings.echo_cancellation, settings.noise_suppression, settings.auto_gain)


def keep_processing(settings: Settings, processing: Processing) -> None:
    """Writes it into the settings."""
    settings.echo_cancellation, settings.noise_suppression = processing.echo, processing.noise
    settings.auto_gain = processing.gain


def speech_choice(settings: Settings) -> SpeechChoice:
    """The settings as how a conversation is heard and spoken."""
    return SpeechChoice(
        settings.language,
        settings.recogniser,
        settings.voice,
        settings.speech_rate / 100,
        settings.speech_volume / 100,
    )


LIVE_PARTS = (
    "frontend",
    "model",
    "speech",
    "answer_mode",
    "patience",
    "openings",
    "duplex",
    "microphone",
    "loudspeaker",
    "processing",
    "server",
)
"""The fields of a `SessionChoice` that always are as the settings say; the others belong to the conversation."""


def live_parts(settings: Settings) -> dict[str, Any]:
    """Return the `LIVE_PARTS` of the settings."""
    choice = session_choice(settings)
    return {name: getattr(choice, name) for name in LIVE_PARTS}


def session_choice(settings: Settings) -> SessionChoice:
    """Return what a new session of these settings should be. It has no secondary back-end."""
    return SessionChoice(
        frontend=settings.frontend,
        backend=backend_choice(settings),
        model=model_choice(settings),
        speech=speech_choice(settings),
        style=style_choice(settings),
        tools=tool_choice(settings),
        cap=max(0.0, settings.cap_dollars),
        answer_mode="after" if settings.answer_mode == "after" else "thinking",
        patience=patience_of(settings.patience),
        openings=settings.openings,
        duplex=settings.duplex,
        microphone=settings.microphone,
        loudspeaker=settings.loudspeaker,
        processing=processing_choice(settings),
        record_folder=str(recordings_folder()) if settings.keep_recordings else "",
        server=settings.voice_server,
    )


def may_have_key(view: ProviderView) -> bool:
    """Whether a key can be kept for a back-end: also for a server of the user's own, which has no name for it."""
    return bool(view.key_name) or view.url == ""
