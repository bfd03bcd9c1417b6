"""Conversation settings: front-end, speech, back-end, answers and sound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from app.settings.setting import setting, tr


def _backend(default: str, label: str, help: str) -> Any:
    """Declares a back-end setting, which the user changes in “Models and servers” or in the model list."""
    return setting(default, label, help, "backend", place="file")


@dataclass(slots=True)
class TalkSettings:
    """Conversation settings. `app.settings.declarations.Settings` adds all other settings."""

    frontend: str = setting(
        "cascade",
        tr("Voice engine"),
        tr(
            "What hears and speaks. KAME and Moshi need a graphics card and weights to be downloaded. A voice server "
            "is another machine that runs this app with “kame-desktop serve”, or a server of Moshi or KAME."
        ),
        "frontend",
        effect="restart",
        words={
            "cascade": tr("Built-in voice"),
            "kame": tr("KAME"),
            "moshi": tr("Moshi"),
            "remote": tr("Voice server"),
        },
        other_words=tr("kame, moshi, front-end"),
    )
    voice_server: str = setting(
        "",
        tr("Voice server"),
        tr("The address of the machine that hears and speaks for this one, such as ws://192.168.1.20:8998."),
        "frontend",
        effect="restart",
    )
    answer_mode: str = setting(
        "thinking",
        tr("Answer"),
        tr("When the model starts to work on the answer."),
        "talk",
        words={"thinking": tr("While I speak"), "after": tr("When I finish")},
        other_words=tr("thinking, mode"),
    )
    patience: int = setting(
        5,
        tr("Patience"),
        tr(
            "How long KAME waits in a pause before it treats your turn as finished: 0 answers soonest, 10 waits "
            "longest. It also learns how long your own pauses are."
        ),
        "talk",
        hint="slider",
        lowest=0,
        highest=10,
        other_words=tr("pauses, wait"),
        less=tr("Shorter"),
        more=tr("Longer"),
    )
    openings: bool = setting(
        True,
        tr("Filler phrases"),
        tr(
            "The built-in voice says something short like “Hmm,” or “Let me think.” if its answer takes more than a "
            "second."
        ),
        "talk",
        other_words=tr("hmm, let me think"),
    )
    duplex: bool = setting(
        False,
        tr("Hands-free"),
        tr("Your voice alone starts and ends your turns, without the talk button."),
        "talk",
        other_words=tr("conversation mode, always listening"),
    )
    talk_mode: str = setting(
        "hold",
        tr("Talk button"),
        tr("How the talk button and its keys are used."),
        "talk",
        words={"hold": tr("Hold it while you talk"), "toggle": tr("Press once to talk, once to end")},
        other_words=tr("push to talk"),
    )

    language: str = setting(
        "en",
        tr("Spoken language"),
        tr(
            "The language that you speak and are answered in. KAME and Moshi speak English only. In English your words "
            "help to tell when you have finished; in other languages only sound and silence do."
        ),
        "essentials",
        effect="talk",
        words={
            "en": tr("English"),
            "de": tr("German"),
            "es": tr("Spanish"),
            "fr": tr("French"),
            "it": tr("Italian"),
            "auto": tr("Detect"),
        },
        other_words=tr("translate, translation, deutsch, englisch"),
    )
    recogniser: str = setting(
        "",
        tr("Speech recognition"),
        tr("The model that hears you; empty for the app's choice for your language."),
        "recognition",
        hint="model",
        other_words=tr("transcription, dictation, hearing"),
    )
    voice: str = setting(
        "",
        tr("Spoken voice"),
        tr("The voice that answers; empty for the app's choice for your language."),
        "speech",
        hint="model",
        other_words=tr("speaker, accent"),
    )
    speech_rate: int = setting(
        100,
        tr("Speaking rate"),
        tr("How fast the voice speaks, relative to its own pace."),
        "speech",
        hint="slider",
        lowest=50,
        highest=200,
        step=10,
        unit="%",
        other_words=tr("speed, pace"),
        less=tr("Slower"),
        more=tr("Faster, quicker"),
    )
    speech_volume: int = setting(
        100,
        tr("Speaking volume"),
        tr("How loud the voice is, before the loudspeaker's own volume."),
        "speech",
        hint="slider",
        lowest=10,
        highest=200,
        step=10,
        unit="%",
        other_words=tr("loudness"),
        less=tr("Quieter"),
        more=tr("Louder"),
    )

    provider: str = setting(
        "embedded",
        tr("Model"),
        tr("Which language model answers."),
        "backend",
        words={
            "embedded": tr("Built-in"),
            "ollama": tr("Ollama"),
            "openai": tr("OpenAI"),
            "anthropic": tr("Anthropic"),
            "google": tr("Google"),
            "compatible": tr("Another server"),
        },
        place="file",
    )
    embedded_model: str = _backend(
        "", tr("Built-in model"), tr("The app's own model that answers; empty for the best one that is here.")
    )
    ollama_url: str = _backend("http://127.0.0.1:11434", tr("Ollama server"), tr("Where Ollama listens."))
    ollama_model: str = _backend("", tr("Ollama model"), tr("The model's name; empty for the first one there."))
    openai_model: str = _backend("", tr("OpenAI model"), tr("The model's name; empty for the default one."))
    anthropic_model: str = _backend("", tr("Anthropic model"), tr("The model's name; empty for the default one."))
    google_model: str = _backend("", tr("Google model"), tr("The model's name; empty for the default one."))
    compatible_url: str = _backend(
        "",
        tr("Address of the other server"),
        tr("Any server that speaks the OpenAI protocol, like http://127.0.0.1:8080/v1."),
    )
    compatible_model: str = _backend(
        "", tr("Model on the other server"), tr("The model's name; empty for the server's first.")
    )
    secondary_provider: str = _backend(
        "", tr("Comparison model"), tr("The model whose answers are shown beside the spoken ones; empty for none.")
    )
    secondary_model: str = _backend(
        "", tr("Name of the comparison model"), tr("The model's name; empty for the default one.")
    )
    secondary_url: str = _backend(
        "", tr("Server of the comparison model"), tr("Where it is; empty for the default address.")
    )

    persona: str = setting(
        "",
        tr("Persona"),
        tr("Who answers, in your words: “You are a patient teacher of physics.” Empty for a friendly voice assistant."),
        "answers",
        effect="talk",
        hint="lines",
        other_words=tr("system prompt, instructions, role"),
    )
    temperature: float = setting(
        -1.0,
        tr("Temperature"),
        tr("How freely the model chooses its words: 0 is sober and the same each time, 2 is wild."),
        "answers",
        effect="talk",
        lowest=0,
        highest=2,
        step=0.05,
        special=(-1, tr("the model's own")),
        other_words=tr("creativity"),
    )
    answer_length: str = setting(
        "medium",
        tr("Length"),
        tr("How long answers are."),
        "answers",
        effect="talk",
        words={"short": tr("A sentence or two"), "medium": tr("A few sentences"), "long": tr("As long as it takes")},
        other_words=tr("brief, detailed"),
    )
    tools: str = setting(
        "",
        tr("Tools"),
        tr("What the model may use, one a line: calculator, clock, files, and mcp:NAME for an MCP server."),
        "tools",
        effect="talk",
        hint="lines",
        other_words=tr("functions, calculator, mcp"),
    )
    tool_folders: str = setting(
        "",
        tr("Folders"),
        tr("The folders that the tool “files” may read, one a line."),
        "tools",
        effect="talk",
        hint="folders",
    )
    cap_dollars: float = setting(
        0.0,
        tr("Spending limit"),
        tr("US dollars that a conversation may cost. At the limit, models that cost money are no longer asked."),
        "answers",
        effect="talk",
        highest=1000,
        step=0.1,
        unit="$",
        special=(0, tr("no limit")),
        other_words=tr("cost, money, budget"),
    )

    microphone: str = setting(
        "",
        tr("Microphone"),
        tr("What you speak into. It can be changed during a conversation."),
        "devices",
        hint="device",
        other_words=tr("input"),
    )
    loudspeaker: str = setting(
        "",
        tr("Loudspeaker"),
        tr("What speaks to you. It can be changed during a conversation."),
        "devices",
        hint="device",
        other_words=tr("output, headphones"),
    )
    echo_cancellation: bool = setting(
        True,
        tr("Echo cancellation"),
        tr("Removes the app's own voice from the microphone's sound, so that you can interrupt it on loudspeakers."),
        "processing",
    )
    noise_suppression: bool = setting(
        False,
        tr("Noise suppression"),
        tr("Removes steady noise such as a fan; a voice may lose some brightness."),
        "processing",
    )
    auto_gain: bool = setting(
        False,
        tr("Automatic gain"),
        tr("Makes a quiet voice louder, and all other sounds with it."),
        "processing",
    )
