"""Tells the first run's user what the probes found, in a sentence each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from app.backend import PROVIDERS
from app.diagnostics.machine import Card, Machine, OllamaModel, Sound, System
from app.models.catalogue import find_model

Topic = Literal["card", "processor", "disk", "microphone", "loudspeaker", "ollama", "keys"]
State = Literal["good", "fair", "missing"]
"""`fair`: it will do, or is not needed; `missing`: a conversation needs something that is not there."""

ROOM_LEFT = 1_000_000_000
EMBEDDED_ROOM = 2_000_000_000
"""Free bytes of the disk that conversations with the embedded voice need for what they keep."""
ENOUGH_CORES, ENOUGH_MEMORY = 4, 7 * 10**9
"""With less than this the embedded voice works, and answers late."""


@dataclass(frozen=True, slots=True)
class MachineFinding:
    """One thing that was probed, in a sentence for the user."""

    topic: Topic
    state: State
    sentence: str


def findings_of(machine: Machine) -> tuple[MachineFinding, ...]:
    """All findings, in the order in which they are shown."""
    return (
        _card(machine.card),
        _processor(machine.system),
        _disk(machine.disk_free, machine.card),
        *_sound(machine.sound),
        _ollama(machine.ollama),
        _keys(machine.keys),
    )


def gigabytes(size: int) -> str:
    """Memory as it is sold: by powers of two."""
    return f"{size / 2**30:.0f} GB"


def _card(card: Card | None) -> MachineFinding:
    if card is None:
        return MachineFinding("card", "fair", "No NVIDIA card. The embedded voice needs none.")
    name = f"{card.name}, {gigabytes(card.total)}" if card.name else ""
    if card.trouble:
        return MachineFinding("card", "fair", ". ".join(filter(None, (name, card.trouble))))
    return MachineFinding("card", "good", f"{name}, of which {gigabytes(card.free)} are free.")


def _processor(system: System) -> MachineFinding:
    words = f"{system.cores} cores" if system.cores > 1 else "One core"
    if system.memory:
        words += f", {gigabytes(system.memory)} of memory"
    if system.cores >= ENOUGH_CORES and (system.memory >= ENOUGH_MEMORY or not system.memory):
        return MachineFinding("processor", "good", f"{words}.")
    return MachineFinding("processor", "fair", f"{words}: enough, if not quick.")


def _disk(free: int | None, card: Card | None) -> MachineFinding:
    if free is None:
        return MachineFinding("disk", "fair", "The free disk space could not be determined.")
    needed = find_model("kame").bytes
    words = f"{free / 1e9:.0f} GB are free"
    if free < EMBEDDED_ROOM:
        return MachineFinding("disk", "missing", f"Only {free / 1e9:.1f} GB are free. Make room for what talks keep.")
    if card is not None and not card.trouble and free < needed + ROOM_LEFT:
        return MachineFinding("disk", "fair", f"{words}; KAME's weights take {needed / 1e9:.0f} GB.")
    return MachineFinding("disk", "good", f"{words}.")


def _sound(sound: Sound) -> tuple[MachineFinding, MachineFinding]:
    return (
        _devices(
            "microphone", sound.microphones, sound.trouble or "No microphone. Plug one in to talk; you can always type."
        ),
        _devices(
            "loudspeaker",
            sound.loudspeakers,
            sound.trouble or "No loudspeaker. Plug one in, or headphones; you can always read.",
        ),
    )


def _devices(topic: Topic, names: tuple[str, ...], missing: str) -> MachineFinding:
    if not names:
        return MachineFinding(topic, "missing", missing)
    return MachineFinding(topic, "good", f"{_first_and_more(names)}.")


def _ollama(models: tuple[OllamaModel, ...] | None) -> MachineFinding:
    if models is None:
        return MachineFinding("ollama", "fair", "Ollama does not run here. Nothing needs it.")
    if not models:
        return MachineFinding("ollama", "fair", "Ollama runs, and has no model yet.")
    return MachineFinding("ollama", "good", f"Ollama runs, with {_first_and_more([m.name for m in models])}.")


def _keys(keys: tuple[str, ...] | None) -> MachineFinding:
    if keys is None:
        return MachineFinding("keys", "fair", "The system's keyring does not answer. It may be locked.")
    if not keys:
        return MachineFinding("keys", "fair", "No API key for a model in the cloud. Nothing needs one.")
    labels = [PROVIDERS[name].label for name in keys]
    listed = " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
    return MachineFinding("keys", "good", f"There is a key for {listed}.")


def _first_and_more(names: tuple[str, ...] | list[str]) -> str:
    return f"{names[0]}, and {len(names) - 1} more" if len(names) > 1 else names[0]
