"""Every setting of the app, declared once: type, default, label, help and choices.

The window, the table in the README and the file on disk all derive from the declaration. A leaf: knows
nothing of sessions or windows. Holds no secrets; API keys live elsewhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, get_type_hints

import platformdirs

from app.jsonfile import write_json

APP_NAME = "kame-desktop"


def _setting(default: Any, label: str, help: str, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"label": label, "help": help, "choices": choices})


@dataclass(slots=True)
class Settings:
    """The settings in force. `notice` tells, in a sentence, what was wrong with the file, if anything."""

    frontend: str = _setting("cascade", "Voice", "What hears and speaks.", ("cascade", "kame", "moshi"))
    manner: str = _setting(
        "thinking",
        "Manner",
        "When the answer begins: `thinking` works on it while you still talk, `after` waits for the end.",
        ("thinking", "after"),
    )
    provider: str = _setting(
        "embedded",
        "Brain",
        "Which language model thinks; `router` chooses one by the kind of question.",
        ("embedded", "ollama", "openai", "anthropic", "google", "compatible", "router"),
    )
    ollama_model: str = _setting("", "Ollama model", "The model's name; empty for the first one there.")
    ollama_url: str = _setting("http://127.0.0.1:11434", "Ollama server", "Where Ollama listens.")
    openai_model: str = _setting("", "OpenAI model", "The model's name; empty for the default one.")
    anthropic_model: str = _setting("", "Anthropic model", "The model's name; empty for the default one.")
    google_model: str = _setting("", "Google model", "The model's name; empty for the default one.")
    compatible_model: str = _setting("", "Model elsewhere", "The model's name; empty for the server's first.")
    compatible_url: str = _setting(
        "", "Another server", "Any server that speaks the OpenAI protocol, like http://127.0.0.1:8080/v1."
    )
    routes: str = _setting("", "Router's table", "Which brain answers which kind of question, as JSON.")
    aside_provider: str = _setting("", "Second brain", "The brain at the side of the one that speaks; empty for none.")
    aside_model: str = _setting("", "Second brain's model", "The model's name; empty for the default one.")
    aside_url: str = _setting("", "Second brain's server", "Where it is; empty for the default place.")
    persona: str = _setting("", "Persona", "Who answers, in your words; empty for a friendly voice assistant.")
    temperature: float = _setting(
        -1.0, "Temperature", "How freely the brain chooses its words, 0 to 2; -1 for its own choice."
    )
    answer_length: str = _setting("medium", "Length", "How long answers are.", ("short", "medium", "long"))
    tools: str = _setting(
        "", "Tools", "What the brain may use: `calculator`, `clock`, `files`, `mcp:NAME`; with spaces between."
    )
    tool_folders: str = _setting("", "Folders", "The folders that the tool `files` may read, one a line.")
    cap_dollars: float = _setting(0.0, "Cap", "US dollars that a conversation may cost; 0 for no cap.")
    precision: str = _setting(
        "auto",
        "Precision",
        "How the weights of KAME and Moshi are kept: bf16 for a card of 24 GB, int8 for 12 to 16, int4 for 8.",
        ("auto", "bf16", "int8", "int4"),
    )
    answer_delay_ms: int = _setting(
        0, "Answer delay", "Milliseconds of silence that KAME or Moshi keeps after you have spoken."
    )
    oracle_lead_ms: int = _setting(
        0, "Oracle lead", "Milliseconds by which KAME or Moshi hears you later than the transcriber does."
    )
    context_frames: int = _setting(
        0, "Memory", "Frames of 80 ms that KAME or Moshi remembers; 0 for as many as fit the card, 3,000 at most."
    )
    weights_folder: str = _setting(
        "", "Weights", "A folder that holds the weights already; empty for the app's own downloads."
    )
    weights_mirror: str = _setting("", "Weights mirror", "A mirror of the hub for downloads; empty for the hub itself.")
    microphone: str = _setting("", "Microphone", "The device's name; empty for the system's default.")
    loudspeaker: str = _setting("", "Loudspeaker", "The device's name; empty for the system's default.")
    duplex: bool = _setting(False, "Full duplex", "The voice alone opens and closes turns, without the button.")
    echo_cancellation: bool = _setting(
        True, "Echo cancellation", "Takes the app's own voice out of the microphone's sound."
    )
    noise_suppression: bool = _setting(False, "Noise suppression", "Takes steady noise out of the microphone's sound.")
    auto_gain: bool = _setting(False, "Automatic gain", "Makes a quiet voice louder.")
    talk_mode: str = _setting(
        "hold",
        "Talk button",
        "Whether the talk button and its keys are held, or pressed once to talk and once to end.",
        ("hold", "toggle"),
    )
    talk_hotkey: str = _setting(
        "Ctrl+Alt+Space", "Talk hotkey", "Talks while another window has the focus; empty for none."
    )
    mute_hotkey: str = _setting(
        "Ctrl+Alt+Shift+M", "Mute hotkey", "Mutes the microphone while another window has the focus; empty for none."
    )
    keep_recordings: bool = _setting(False, "Keep recordings", "Saves each talk's sound and events on disk.")

    path: Path | None = field(default=None, compare=False)
    notice: str = field(default="", compare=False)

    @classmethod
    def load(cls, path: Path | None = None) -> Settings:
        """The settings in the file at `path` (None: the user's own), defaults for what isn't in it.

        Never raises: a file that can't be understood is set aside as `*.broken`, and `notice` says so.
        """
        settings = cls(path=path or default_path())
        try:
            values = json.loads(settings.path.read_text("utf-8"))
            if not isinstance(values, dict):
                raise ValueError("not an object")
        except FileNotFoundError:
            return settings
        except ValueError:
            settings.notice = _set_aside(settings.path)
            return settings
        except OSError as error:
            settings.notice = (
                f"The settings could not be read ({error.strerror}), so the defaults are in use. "
                f"Check the file {settings.path}."
            )
            return settings
        old_url = values.pop("openai_url", "")  # one place for all servers, before they were told apart
        if values.get("provider") == "openai" and old_url and "api.openai.com" not in str(old_url):
            values.setdefault("compatible_url", old_url)
            values.setdefault("compatible_model", values.pop("openai_model", ""))
            values["provider"] = "compatible"
        wrong = [declared for declared in declarations() if not settings._take(declared, values)]
        if wrong:
            names = ", ".join(f"“{declared.metadata['label']}”" for declared in wrong)
            settings.notice = f"Some saved settings were not usable and are back at their defaults: {names}."
        return settings

    def save(self) -> None:
        """Writes the file whole or not at all. Raises OSError."""
        path = self.path or default_path()
        write_json(path, {declared.name: getattr(self, declared.name) for declared in declarations()})

    def _take(self, declared: Field[Any], values: dict[str, Any]) -> bool:
        """Takes one value of the file over; False when it isn't of the declared type and choices."""
        if declared.name not in values:
            return True
        value = values[declared.name]
        if isinstance(declared.default, float) and type(value) is int:
            value = float(value)
        choices = declared.metadata["choices"]
        if type(value) is not type(declared.default) or (choices and value not in choices):
            return False
        setattr(self, declared.name, value)
        return True


def declarations() -> Iterator[Field[Any]]:
    """The declared settings, in order: name, default, and `metadata` with label, help and choices."""
    return (declared for declared in fields(Settings) if declared.metadata)


def choices_of(key: str) -> tuple[str, ...]:
    """What the setting `key` may be; empty when it is free text or a switch."""
    return next(declared.metadata["choices"] for declared in declarations() if declared.name == key)


def default_path() -> Path:
    """The user's own settings file."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "settings.json"


def prices_path() -> Path:
    """The user's own price table, which may not be there."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "prices.json"


def servers_path() -> Path:
    """The user's list of MCP servers, which may not be there."""
    return platformdirs.user_config_path(APP_NAME, appauthor=False) / "mcp.json"


def recordings_folder() -> Path:
    """Where talks are kept when the user asks for it."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "recordings"


def settings_markdown() -> str:
    """The settings as a Markdown table, for the README."""
    types = get_type_hints(Settings)
    rows = ["| Setting | Key | Default | Meaning |", "| --- | --- | --- | --- |"]
    for declared in declarations():
        meta = declared.metadata
        if types[declared.name] is bool:
            default = "on" if declared.default else "off"
        elif types[declared.name] in (int, float):
            default = f"`{declared.default}`"
        else:
            default = f"`{declared.default}`" if declared.default else "empty"
        meaning = meta["help"]
        if meta["choices"]:
            meaning += " One of " + ", ".join(f"`{choice}`" for choice in meta["choices"]) + "."
        rows.append(f"| {meta['label']} | `{declared.name}` | {default} | {meaning} |")
    return "\n".join(rows) + "\n"


def _set_aside(path: Path) -> str:
    broken = path.with_name(path.name + ".broken")
    try:
        os.replace(path, broken)
    except OSError as error:
        return (
            f"The settings file {path} is damaged and could not be set aside ({error.strerror}); "
            "the defaults are in use."
        )
    return f"The settings file was damaged, so the defaults are in use. The damaged file is kept as {broken}."
