"""The declarations of all settings, and the class that loads and saves them.

The settings dialog, the tables in the guide and the file format are derived from the declarations. Settings contain no
secrets; API keys are stored elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from app.settings.paths import default_path
from app.settings.setting import Page, Setting, setting, tr
from app.settings.storage import read_stored, write_stored
from app.settings.talk_settings import TalkSettings


def patience_of(steps: float) -> float:
    """Converts the setting `patience` (0 to 10) to a session's patience (-1 to 1)."""
    return (steps - 5) / 5


@dataclass(slots=True)
class Settings(TalkSettings):
    """All settings. `notice`: a user-facing message about problems with the file, or empty."""

    pages: ClassVar[Mapping[str, Page]] = {
        "general": Page(
            tr("General"),
            {
                "essentials": tr("Essentials"),
                "look": tr("Appearance"),
                "start": tr("Start and end"),
                "keys": tr("Global hotkeys"),
            },
        ),
        "voice": Page(
            tr("Voice"),
            {"speech": tr("The voice"), "talk": tr("Taking turns"), "recognition": tr("Speech recognition")},
        ),
        "models": Page(
            tr("Models"), {"backend": tr("Models and servers"), "answers": tr("Answers"), "tools": tr("Tools")}
        ),
        "sound": Page(
            tr("Sound"), {"devices": tr("Devices"), "processing": tr("Processing of the microphone's sound")}
        ),
        "privacy": Page(tr("Privacy"), {"history": tr("Conversations"), "updates": tr("New versions")}),
        "advanced": Page(
            tr("Advanced"),
            {"frontend": tr("Voice engine"), "model": tr("KAME and Moshi"), "downloads": tr("Downloads")},
        ),
    }
    """The pages of the settings dialog, keyed by name, in display order."""

    talk_hotkey: str = setting(
        "Ctrl+Alt+Space",
        tr("Talk hotkey"),
        tr("Talks while another window has the keyboard; empty for none."),
        "keys",
        hint="keys",
        other_words=tr("shortcut, push to talk"),
    )
    mute_hotkey: str = setting(
        "Ctrl+Alt+Shift+M",
        tr("Mute hotkey"),
        tr("Mutes the microphone while another window has the keyboard; empty for none."),
        "keys",
        hint="keys",
        other_words=tr("shortcut"),
    )

    window_language: str = setting(
        "system",
        tr("Window language"),
        tr("The language of the window's words, not of the conversation."),
        "look",
        effect="start",
        words={"system": tr("Like the system"), "en": tr("English"), "de": tr("German")},
        native={"en": "englisch", "de": "deutsch"},
        other_words=tr("interface, locale, deutsch, englisch"),
    )
    theme: str = setting(
        "system",
        tr("Theme"),
        tr("Light or dark colours, or black and white with strong contrast."),
        "look",
        words={
            "system": tr("Like the system"),
            "light": tr("Light"),
            "dark": tr("Dark"),
            "contrast": tr("High contrast"),
        },
        other_words=tr("colours, appearance, mode, night"),
    )
    accent: str = setting(
        "teal",
        tr("Accent"),
        tr("The colour of what is chosen, and of the main buttons."),
        "look",
        hint="colour",
        words={
            "teal": tr("Teal"),
            "blue": tr("Blue"),
            "violet": tr("Violet"),
            "rose": tr("Rose"),
            "orange": tr("Orange"),
            "green": tr("Green"),
            "graphite": tr("Graphite"),
        },
        other_words=tr("colours"),
    )
    font_scale: int = setting(
        100,
        tr("Text size"),
        tr("The size of all text, relative to the system's."),
        "look",
        lowest=80,
        highest=200,
        step=10,
        unit="%",
        other_words=tr("font, letters, zoom, percent"),
        presets=(90, 100, 110, 125, 150, 175, 200),
        less=tr("Smaller, decrease, zoom out"),
        more=tr("Larger, bigger, increase, zoom in"),
    )
    reduced_motion: bool = setting(
        False,
        tr("Reduced motion"),
        tr("Nothing slides, pulses or fades: changes appear immediately."),
        "look",
        other_words=tr("animations"),
    )
    oracle_earlier: bool = setting(
        False,
        tr("Earlier thoughts"),
        tr("The oracle shows the earlier answers, too, not only the current one."),
        "look",
    )
    oracle_details: bool = setting(
        False,
        tr("Request details"),
        tr("The oracle shows what was asked, how fast each answer came, and what it cost."),
        "look",
    )

    launch_at_login: bool = setting(
        False,
        tr("Start at login"),
        tr("KAME starts when you log in: in the tray where its icon is switched on, else with its window minimised."),
        "start",
        other_words=tr("autostart, boot"),
    )

    tray_icon: bool = setting(
        True,
        tr("Icon in the tray"),
        tr("Shows whether KAME listens, speaks or is muted, and has a menu to talk and to mute."),
        "start",
        other_words=tr("menu bar, background"),
    )
    close_to_tray: bool = setting(
        False,
        tr("Stay in the tray"),
        tr("Closing the window hides it, and the conversation continues. The icon's menu shows it again, or quits."),
        "start",
        other_words=tr("background, hide"),
    )
    notify_answers: bool = setting(
        True,
        tr("Notify me about answers"),
        tr(
            "A notification shows the first words of an answer while the window is hidden or minimised; never those of "
            "a conversation that is not kept. It needs the icon in the tray."
        ),
        "start",
        other_words=tr("notifications, alerts"),
    )

    precision: str = setting(
        "auto",
        tr("Precision"),
        tr("How the weights of KAME and Moshi are stored on the graphics card."),
        "model",
        effect="restart",
        words={
            "auto": tr("Automatic"),
            "bf16": tr("bf16, for 24 GB"),
            "int8": tr("int8, for 12 to 16 GB"),
            "int4": tr("int4, for 8 GB"),
        },
    )
    memory: str = setting(
        "auto",
        tr("Memory"),
        tr(
            "How much of a conversation KAME and Moshi remember. A shorter memory takes less of the graphics card's "
            "own, and of its time."
        ),
        "model",
        effect="restart",
        words={"auto": tr("As much as fits"), "120": tr("Two minutes"), "60": tr("One minute")},
    )
    answer_delay_ms: int = setting(
        0,
        tr("Answer delay"),
        tr("How long KAME or Moshi waits after you have spoken."),
        "model",
        highest=5000,
        step=80,
        unit="ms",
    )
    oracle_lead_ms: int = setting(
        0,
        tr("Oracle lead"),
        tr("How much later than the transcriber KAME or Moshi hears you."),
        "model",
        highest=5000,
        step=80,
        unit="ms",
    )

    keep_history: bool = setting(
        True,
        tr("Keep conversations"),
        tr("Keeps conversations on this machine: what was said, not its sound."),
        "history",
        effect="talk",
        other_words=tr("history, private, incognito"),
    )
    model_titles: bool = setting(
        True,
        tr("Titles by the model"),
        tr("The model that answers also names each new conversation, in one short request. Very small models don't."),
        "history",
        effect="talk",
        other_words=tr("name, rename, heading"),
    )
    keep_recordings: bool = setting(
        False,
        tr("Keep recordings"),
        tr("Also saves the sound and the events of each conversation on this machine. Otherwise no sound is kept."),
        "history",
        effect="talk",
        other_words=tr("record, sound"),
    )

    check_updates: bool = setting(
        False,
        tr("Check for new versions"),
        tr(
            "Asks one address once a day which version is the newest. Nothing about you, this machine or this version "
            "is sent. While this is off, nothing is asked."
        ),
        "updates",
        other_words=tr("updates, upgrade"),
    )

    weights_folder: str = setting(
        "",
        tr("Weights"),
        tr("A folder that already holds the weights; empty for the app's own downloads."),
        "downloads",
        effect="restart",
        hint="folder",
    )
    weights_mirror: str = setting(
        "", tr("Weights mirror"), tr("A mirror of the hub for downloads; empty for the hub itself."), "downloads"
    )

    path: Path | None = field(default=None, compare=False)
    notice: str = field(default="", compare=False)
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)
    """Unknown and invalid values from the file, which `save` preserves."""
    _unread: bool = field(default=False, compare=False, repr=False)
    """Whether the file exists but could not be read."""

    @classmethod
    def load(cls, path: Path | None = None) -> Settings:
        """Loads the settings from `path` (default: the user's file), with defaults for missing and invalid values."""
        settings = cls(path=path or default_path())
        assert settings.path is not None
        stored = read_stored(settings.path)
        settings.notice, settings._unread = stored.notice, stored.unread
        values = dict(stored.values)
        wrong = []
        for declared in declarations():
            try:
                setattr(settings, declared.name, declared.usable(values.get(declared.name, declared.default)))
                values.pop(declared.name, None)
            except ValueError:
                wrong.append(f"“{declared.label}”")
        settings._kept = values
        if wrong:
            names = ", ".join(wrong)
            settings.notice = f"Some saved settings were not usable and are back at their defaults: {names}."
        return settings

    def save(self) -> None:
        """Writes the file atomically. Invalid values in it are preserved until their setting is changed.

        Raises OSError.
        """
        values = {one.name: getattr(self, one.name) for one in declarations()}
        kept = {
            name: value
            for name, value in self._kept.items()
            if name not in values or values[name] == declaration(name).default
        }
        write_stored(self.path or default_path(), {**values, **kept}, unread=self._unread)
        self._unread = False


@cache
def _declared() -> Mapping[str, Setting]:
    sections = [section for page in Settings.pages.values() for section in page.sections]
    declared = [replace(one.metadata["declared"], name=one.name) for one in fields(Settings) if one.metadata]
    return {one.name: one for one in sorted(declared, key=lambda one: sections.index(one.section))}


def declarations() -> Iterator[Setting]:
    """Iterates over all declarations, ordered by page and section."""
    return iter(_declared().values())


def page_of(section: str) -> str:
    """Returns the key of the page that contains a section. Raises KeyError."""
    for key, page in Settings.pages.items():
        if section in page.sections:
            return key
    raise KeyError(section)


def declaration(key: str) -> Setting:
    """Returns the declaration of the setting `key`. Raises KeyError."""
    return _declared()[key]
