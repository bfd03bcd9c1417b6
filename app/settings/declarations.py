"""Every setting of the app, declared once: type, default, words, group, range, and when a change takes effect.

The window's dialog, the table in the README and the file on disk all derive from the declaration. A leaf: knows
nothing of sessions or windows. Holds no secrets; API keys live elsewhere.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar, Literal

import platformdirs

from app.platform.atomic_files import move_file, write_json

APP_NAME = "kame-desktop"
APP_ID = "org.kame_desktop.KameDesktop"
"""What a Linux desktop knows the app by: its menu entry's name (`<id>.desktop`), and who asks for hotkeys."""

Effect = Literal["now", "anew", "talk", "start"]
"""When a change takes effect: at once, at once in that a running talk begins anew, with the next talk, or at the next
start of the app.
"""
Kind = Literal["switch", "choice", "device", "number", "line", "lines", "folder", "folders", "keys"]
"""What is edited. `device`: a name out of those that are there; `keys`: Qt's portable text, like `Ctrl+Alt+M`."""
Place = Literal["dialog", "file", "app"]
"""Where a setting is changed: in the dialog of settings, by hand in the file only, or by the app itself alone."""


def tr(text: str) -> str:
    """Marks a text that users see: by this name Qt's tools find it for the translators, in the empty context."""
    return text


@dataclass(frozen=True, slots=True)
class Setting:
    """What is declared of one setting.

    `words`: what each choice is called, if it has choices; `lowest`, `highest`, `step` and `unit` are of numbers;
    `special`: a number (at or below `lowest`) that stands for something else, and what for.
    """

    default: Any
    label: str
    help: str
    group: str
    effect: Effect = "now"
    hint: Kind | None = None
    words: Mapping[str, str] = field(default_factory=dict)
    lowest: float = 0
    highest: float = 0
    step: float = 1
    unit: str = ""
    special: tuple[float, str] | None = None
    place: Place = "dialog"
    name: str = ""

    @property
    def choices(self) -> tuple[str, ...]:
        """What it may be; empty when it is a number, a switch or free text."""
        return tuple(self.words)

    @property
    def live(self) -> bool:
        """Whether a change takes effect at once."""
        return self.effect in ("now", "anew")

    @property
    def kind(self) -> Kind:
        """What is edited."""
        if isinstance(self.default, bool):
            return "switch"
        if isinstance(self.default, int | float):
            return "number"
        return "choice" if self.words else self.hint or "line"

    def usable(self, value: Any) -> Any:
        """`value` as it is kept: a number beyond the range becomes the nearest in it. Raises ValueError."""
        if isinstance(self.default, float) and type(value) is int and abs(value) < 1e9:
            value = float(value)
        if type(value) is not type(self.default) or (self.words and value not in self.words):
            raise ValueError(f"{self.name} can't be {value!r}")
        if self.kind != "number":
            return value
        if isinstance(value, float) and not math.isfinite(value):
            raise ValueError(f"{self.name} can't be {value!r}")
        if self.special is not None and value < self.lowest:
            return type(self.default)(self.special[0])
        return min(max(value, type(self.default)(self.lowest)), type(self.default)(self.highest))


def _setting(default: Any, label: str, help: str, group: str, **more: Any) -> Any:
    return field(default=default, metadata={"declared": Setting(default, label, help, group, **more)})


def patience_of(steps: float) -> float:
    """The setting `patience`, 0 to 10, as sessions take it: -1 to 1."""
    return (steps - 5) / 5


RENAMED = {
    "manner": "answer_mode",
    "aside_provider": "secondary_provider",
    "aside_model": "secondary_model",
    "aside_url": "secondary_url",
    "favourite_brains": "favourite_backends",
}
"""Keys in settings files of older versions, and what they are called now."""


@dataclass(slots=True)
class Settings:
    """The settings in force. `notice` tells, in a sentence, what was wrong with the file, if anything."""

    groups: ClassVar[Mapping[str, str]] = {
        "talk": tr("Talk"),
        "speech": tr("Speech"),
        "backend": tr("Brain"),
        "conversation": tr("Conversation"),
        "sound": tr("Sound"),
        "keys": tr("Keys"),
        "window": tr("Window"),
        "model": tr("KAME and Moshi"),
        "history": tr("History"),
        "advanced": tr("Advanced"),
    }
    """The groups in order, and what they are called."""

    frontend: str = _setting(
        "cascade",
        tr("Voice"),
        tr("What hears and speaks. KAME and Moshi need a graphics card and weights to be downloaded."),
        "talk",
        effect="anew",
        words={"cascade": tr("Cascade"), "kame": tr("KAME"), "moshi": tr("Moshi")},
    )
    answer_mode: str = _setting(
        "thinking",
        tr("Manner"),
        tr("When the brain begins to work on the answer."),
        "talk",
        words={"thinking": tr("While you talk"), "after": tr("When you have finished")},
    )
    patience: int = _setting(
        5,
        tr("Patience"),
        tr(
            "How long KAME waits when you pause, before it takes your turn for finished: 0 answers soonest, 10 waits "
            "longest. It also learns how long your own pauses are."
        ),
        "talk",
        lowest=0,
        highest=10,
    )
    openings: bool = _setting(
        True,
        tr("Openings"),
        tr(
            "The cascade says something short like “Let me think.” where its answer takes longer than half a second, or "
            "three quarters of one hands-free, since you may go on."
        ),
        "talk",
    )
    duplex: bool = _setting(
        False, tr("Full duplex"), tr("Your voice alone opens and closes your turns, without the talk button."), "talk"
    )
    talk_mode: str = _setting(
        "hold",
        tr("Talk button"),
        tr("How the talk button and its keys are used."),
        "talk",
        words={"hold": tr("Hold it while you talk"), "toggle": tr("Press once to talk, once to end")},
    )

    language: str = _setting(
        "en",
        tr("Language"),
        tr(
            "What you speak, and are answered in. KAME and Moshi speak English only. Only in English do your words tell "
            "when you have finished; in other languages the sound and the silence do."
        ),
        "speech",
        effect="talk",
        words={
            "en": tr("English"),
            "de": tr("German"),
            "es": tr("Spanish"),
            "fr": tr("French"),
            "it": tr("Italian"),
            "auto": tr("What is heard"),
        },
    )
    recogniser: str = _setting(
        "",
        tr("Speech recognition"),
        tr("The model that hears you; empty for the app's choice for your language."),
        "speech",
        place="app",
    )
    voice: str = _setting(
        "",
        tr("Spoken voice"),
        tr("The voice that answers; empty for the app's choice for your language."),
        "speech",
        place="app",
    )
    persona_voice: str = _setting(
        "",
        tr("Voice of new conversations"),
        tr("The voice that goes with the persona; empty for the spoken voice."),
        "conversation",
        effect="talk",
        place="app",
    )
    speech_rate: int = _setting(
        100,
        tr("Speaking rate"),
        tr("How fast the voice speaks, of its own pace."),
        "speech",
        lowest=50,
        highest=200,
        step=10,
        unit="%",
    )
    speech_volume: int = _setting(
        100,
        tr("Speaking volume"),
        tr("How loud the voice is, before the loudspeaker's own volume."),
        "speech",
        lowest=10,
        highest=200,
        step=10,
        unit="%",
    )

    provider: str = _setting(
        "embedded",
        tr("Brain"),
        tr("Which language model thinks. The router chooses one by the kind of question."),
        "backend",
        words={
            "embedded": tr("Built in"),
            "ollama": tr("Ollama"),
            "openai": tr("OpenAI"),
            "anthropic": tr("Anthropic"),
            "google": tr("Google"),
            "compatible": tr("Another server"),
            "router": tr("Router"),
        },
    )
    embedded_model: str = _setting(
        "",
        tr("Built-in model"),
        tr("The app's own model that answers; empty for the best one that is here."),
        "backend",
        place="app",
    )
    ollama_model: str = _setting(
        "", tr("Ollama model"), tr("The model's name; empty for the first one there."), "backend"
    )
    ollama_url: str = _setting("http://127.0.0.1:11434", tr("Ollama server"), tr("Where Ollama listens."), "backend")
    openai_model: str = _setting("", tr("OpenAI model"), tr("The model's name; empty for the default one."), "backend")
    anthropic_model: str = _setting(
        "", tr("Anthropic model"), tr("The model's name; empty for the default one."), "backend"
    )
    google_model: str = _setting("", tr("Google model"), tr("The model's name; empty for the default one."), "backend")
    compatible_url: str = _setting(
        "",
        tr("Another server"),
        tr("Any server that speaks the OpenAI protocol, like http://127.0.0.1:8080/v1."),
        "backend",
    )
    compatible_model: str = _setting(
        "", tr("Model on the other server"), tr("The model's name; empty for the server's first."), "backend"
    )
    routes: str = _setting(
        "", tr("Router's table"), tr("Which brain answers which kind of question, as JSON."), "backend", place="file"
    )
    secondary_provider: str = _setting(
        "",
        tr("Second brain"),
        tr("The brain at the side of the one that speaks; empty for none."),
        "backend",
        place="file",
    )
    secondary_model: str = _setting(
        "", tr("Second brain's model"), tr("The model's name; empty for the default one."), "backend", place="file"
    )
    secondary_url: str = _setting(
        "", tr("Second brain's server"), tr("Where it is; empty for the default place."), "backend", place="file"
    )
    favourite_backends: str = _setting(
        "", tr("Favourite brains"), tr("The brains that are offered first, as JSON."), "backend", place="app"
    )

    persona: str = _setting(
        "",
        tr("Persona"),
        tr("Who answers, in your words: “You are a patient teacher of physics.” Empty for a friendly voice assistant."),
        "conversation",
        effect="talk",
        hint="lines",
    )
    temperature: float = _setting(
        -1.0,
        tr("Temperature"),
        tr("How freely the brain chooses its words: 0 is sober and the same each time, 2 is wild."),
        "conversation",
        effect="talk",
        lowest=0,
        highest=2,
        step=0.05,
        special=(-1, tr("the brain's own")),
    )
    answer_length: str = _setting(
        "medium",
        tr("Length"),
        tr("How long answers are."),
        "conversation",
        effect="talk",
        words={"short": tr("A sentence or two"), "medium": tr("A few sentences"), "long": tr("As long as it takes")},
    )
    tools: str = _setting(
        "",
        tr("Tools"),
        tr("What the brain may use, one a line: calculator, clock, files, and mcp:NAME for a server of tools."),
        "conversation",
        effect="talk",
        hint="lines",
    )
    tool_folders: str = _setting(
        "",
        tr("Folders"),
        tr("The folders that the tool “files” may read, one a line."),
        "conversation",
        effect="talk",
        hint="folders",
    )
    cap_dollars: float = _setting(
        0.0,
        tr("Cap"),
        tr("US dollars that a conversation may cost. At the cap, brains that cost are not asked any more."),
        "conversation",
        effect="talk",
        highest=1000,
        step=0.1,
        unit="$",
        special=(0, tr("no cap")),
    )

    microphone: str = _setting(
        "", tr("Microphone"), tr("What you speak into. It can be changed in mid-talk."), "sound", hint="device"
    )
    loudspeaker: str = _setting(
        "", tr("Loudspeaker"), tr("What speaks to you. It can be changed in mid-talk."), "sound", hint="device"
    )
    echo_cancellation: bool = _setting(
        True,
        tr("Echo cancellation"),
        tr("Takes the app's own voice out of the microphone's sound, so that you can interrupt on loudspeakers."),
        "sound",
    )
    noise_suppression: bool = _setting(
        False,
        tr("Noise suppression"),
        tr("Takes out what sounds on and on, such as a fan; a voice may lose some brightness."),
        "sound",
    )
    auto_gain: bool = _setting(
        False,
        tr("Automatic gain"),
        tr("Makes a quiet voice louder, and with it whatever else there is to hear."),
        "sound",
    )

    talk_hotkey: str = _setting(
        "Ctrl+Alt+Space",
        tr("Talk hotkey"),
        tr("Talks while another window has the keyboard; empty for none."),
        "keys",
        hint="keys",
    )
    mute_hotkey: str = _setting(
        "Ctrl+Alt+Shift+M",
        tr("Mute hotkey"),
        tr("Mutes the microphone while another window has the keyboard; empty for none."),
        "keys",
        hint="keys",
    )

    window_language: str = _setting(
        "system",
        tr("Window language"),
        tr("The language of the window's words, not of the talk."),
        "window",
        effect="start",
        words={"system": tr("Like the system"), "en": tr("English"), "de": tr("German")},
    )
    theme: str = _setting(
        "system",
        tr("Theme"),
        tr("Light or dark colours."),
        "window",
        words={"system": tr("Like the system"), "light": tr("Light"), "dark": tr("Dark")},
    )
    font_scale: int = _setting(
        100,
        tr("Text size"),
        tr("How large all text is, of the system's own size."),
        "window",
        lowest=80,
        highest=200,
        step=10,
        unit="%",
    )
    reduced_motion: bool = _setting(
        False, tr("Reduced motion"), tr("Nothing slides, pulses or fades: what changes is there at once."), "window"
    )
    oracle_quiet: bool = _setting(
        False,
        tr("Quiet oracle"),
        tr("Shows only the answer that counts now, not those that it has overtaken."),
        "window",
    )

    precision: str = _setting(
        "auto",
        tr("Precision"),
        tr("How the weights of KAME and Moshi are kept on the graphics card."),
        "model",
        effect="anew",
        words={
            "auto": tr("Automatic"),
            "bf16": tr("bf16, for 24 GB"),
            "int8": tr("int8, for 12 to 16 GB"),
            "int4": tr("int4, for 8 GB"),
        },
    )
    answer_delay_ms: int = _setting(
        0,
        tr("Answer delay"),
        tr("How long KAME or Moshi keeps silent after you have spoken."),
        "model",
        highest=5000,
        step=80,
        unit="ms",
    )
    oracle_lead_ms: int = _setting(
        0,
        tr("Oracle lead"),
        tr("By how much KAME or Moshi hears you later than the transcriber does."),
        "model",
        highest=5000,
        step=80,
        unit="ms",
    )
    context_frames: int = _setting(
        0,
        tr("Memory"),
        tr("How many frames of 80 ms KAME or Moshi remembers."),
        "model",
        effect="anew",
        highest=3000,
        step=100,
        unit=tr("frames"),
        special=(0, tr("as many as fit")),
    )

    keep_history: bool = _setting(
        True,
        tr("Keep conversations"),
        tr("Keeps conversations on this machine: what was said, not its sound."),
        "history",
        effect="talk",
    )
    keep_recordings: bool = _setting(
        False,
        tr("Keep recordings"),
        tr("Saves the sound and the events of each talk on this machine, too. Only then is any sound kept."),
        "history",
        effect="talk",
    )

    weights_folder: str = _setting(
        "",
        tr("Weights"),
        tr("A folder that holds the weights already; empty for the app's own downloads."),
        "advanced",
        effect="anew",
        hint="folder",
    )
    weights_mirror: str = _setting(
        "", tr("Weights mirror"), tr("A mirror of the hub for downloads; empty for the hub itself."), "advanced"
    )
    first_run_done: bool = _setting(
        False, tr("First run done"), tr("Whether the app has introduced itself."), "advanced", place="app"
    )

    path: Path | None = field(default=None, compare=False)
    notice: str = field(default="", compare=False)
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """What the file holds beside: settings of other versions, and values that can't be used here."""
    _unread: bool = field(default=False, compare=False, repr=False)
    """There is a file, and nobody knows what is in it."""

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
            settings.notice = _back_up(settings.path)
            return settings
        except OSError as error:
            settings._unread = True
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
        for old, new in RENAMED.items():
            if old in values:
                values.setdefault(new, values.pop(old))
        wrong = []
        for declared in declarations():
            try:
                setattr(settings, declared.name, declared.usable(values.get(declared.name, declared.default)))
                values.pop(declared.name, None)
            except ValueError:
                wrong.append(f"“{declared.label}”")
        settings._kept = values  # a newer version may know better
        if wrong:
            names = ", ".join(wrong)
            settings.notice = f"Some saved settings were not usable and are back at their defaults: {names}."
        return settings

    def save(self) -> None:
        """Writes the file whole or not at all. What this version did not understand stays in it, until that setting is
        changed; a file that could not be read is set aside. Raises OSError.
        """
        path = self.path or default_path()
        values = {one.name: getattr(self, one.name) for one in declarations()}
        kept = {
            name: value
            for name, value in self._kept.items()
            if name not in values or values[name] == declaration(name).default
        }
        backup = path.with_name(path.name + ".unread") if self._unread and path.exists() else None
        write_json(path, {**values, **kept}, backup=backup)
        self._unread = False


@cache
def _declared() -> Mapping[str, Setting]:
    return {one.name: replace(one.metadata["declared"], name=one.name) for one in fields(Settings) if one.metadata}


def declarations() -> Iterator[Setting]:
    """The declared settings, in order."""
    return iter(_declared().values())


def declaration(key: str) -> Setting:
    """What is declared of the setting `key`. Raises KeyError."""
    return _declared()[key]


def choices_of(key: str) -> tuple[str, ...]:
    """What the setting `key` may be; empty when it is free text, a number or a switch."""
    return declaration(key).choices


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


def echoes_path() -> Path:
    """What was learned of the echoes of this machine's devices, which may not be there."""
    return platformdirs.user_data_path(APP_NAME, appauthor=False) / "echoes.npz"


def settings_markdown() -> str:
    """The settings that people change, in the dialog or in the file, as a Markdown table for the README."""
    rows = ["| Setting | Key | Default | Meaning |", "| --- | --- | --- | --- |"]
    for declared in declarations():
        if declared.place == "app":
            continue
        if declared.kind == "switch":
            default = "on" if declared.default else "off"
        else:
            default = f"`{declared.default}`" if declared.default != "" else "empty"
        meaning = f"{declared.help}{_range_in_words(declared)}"
        rows.append(f"| {declared.label} | `{declared.name}` | {default} | {meaning} |")
    return "\n".join(rows) + "\n"


def _range_in_words(declared: Setting) -> str:
    """What a setting may be, as a sentence to go on with; empty for switches and free text."""
    if declared.words:
        named = (
            f"`{choice}`" if word.casefold() == choice else f"`{choice}` (“{word}”)"
            for choice, word in declared.words.items()
        )
        return f" One of {', '.join(named)}."
    if declared.kind == "device":
        return " The device's name; empty for the system's default."
    if declared.kind != "number":
        return ""
    special = f"; {declared.special[0]:g}: {declared.special[1]}" if declared.special is not None else ""
    return f" From {declared.lowest:g} to {_with_unit(declared.highest, declared.unit)}{special}."


def _with_unit(number: float, unit: str) -> str:
    return f"${number:g}" if unit == "$" else f"{number:g} {unit}".strip()


def _back_up(path: Path) -> str:
    broken = path.with_name(path.name + ".broken")
    try:
        move_file(path, broken)
    except OSError as error:
        return (
            f"The settings file {path} is damaged and could not be set aside ({error.strerror}); "
            "the defaults are in use."
        )
    return f"The settings file was damaged, so the defaults are in use. The damaged file is kept as {broken}."
