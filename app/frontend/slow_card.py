"""Why a front-end's model on a graphics card is too slow, as far as that is known, and what helps."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from app.platform.nvidia import CardUse, Program
from app.untrusted.text import harmless

PAGED_FACTOR, FULL = 3.0, 0.95
"""Steps that are this much slower than predicted, while so much of the card's memory is taken, are read from the
machine's own memory: the Windows driver moves there what doesn't fit."""
SLOWED_FACTOR, LOW_CLOCK = 1.2, 0.6
"""Steps that are this much slower than predicted may be due to heat, or to a clock below this share of the highest."""
TOO_SLOW_SECONDS = 0.06
"""A card on which steps took this long when the model was loaded has no time to spare in frames of 0.08 s."""
BUSY_PERCENT, MUCH_MEMORY = 10, 500_000_000
"""A program that takes this much of the card's time or memory is named."""
LEAST_CONTEXT_SECONDS = 60
LONGEST_NAME = 40
SERVERS = ("ollama", "llama", "lm studio", "lms", "vllm", "koboldcpp", "localai", "sglang")
"""How the names of the processes of language model servers begin."""
DESKTOP = frozenset(
    "xorg xwayland gnome-shell kwin_wayland kwin_x11 plasmashell cinnamon sway hyprland weston dwm explorer csrss "
    "searchhost startmenuexperiencehost shellexperiencehost textinputhost applicationframehost".split()
)
"""Programs that can't be closed."""
_PYTHON = re.compile(r"pythonw?[0-9.]*")


@dataclass(frozen=True, slots=True)
class CardModel:
    """A model on this machine's graphics card.

    - `label`: its user-facing name
    - `precision`, `context_seconds`: how it was loaded
    - `predicted`, `latest`: how long (s) a step took when the model was loaded, and the latest ones in the median
    - `pid`: the process that runs it
    """

    label: str
    precision: str
    context_seconds: float
    predicted: float
    latest: float
    pid: int


@runtime_checkable
class RunsOnCard(Protocol):
    """A front-end whose model may be on this machine's graphics card."""

    def on_card(self) -> CardModel | None:
        """Returns the model, or None if it isn't there. Any thread may call it."""
        ...


def explain(what: str, seconds: float, model: CardModel, cards: Sequence[CardUse], server: str = "") -> str:
    """Returns the user-facing message about a model that is too slow.

    - `what`: what happened in the last `seconds`, as a clause.
    - `cards`: what this machine's cards are doing; empty if unknown.
    - `server`: the server on this machine that answers, as a user-facing name; empty if there is none.
    """
    card = next(
        (card for card in cards if _has(card, model.pid)), max(cards, key=lambda card: card.total, default=None)
    )
    # Where process numbers differ, as in a container, the model's own process can't be told from other programs.
    programs = card.programs if card is not None and _has(card, model.pid) else ()
    others = [program for program in programs if program.pid != model.pid and _name(program).lower() not in DESKTOP]
    serves = any(_name(program).lower().startswith(SERVERS) for program in others)
    cause, advice = _cause(model, card, _heaviest(others), server if serves or not programs else "", sure=serves)
    return " ".join(filter(None, (f"{model.label} can't keep up: {what} in the last {seconds:.0f} s.", cause, advice)))


def _cause(
    model: CardModel, card: CardUse | None, program: Program | None, server: str, *, sure: bool
) -> tuple[str, str]:
    """Returns the likeliest cause, empty if unknown, and the advice. `program`: another one that uses the card."""
    smaller = _smaller(model)
    slower = model.latest / model.predicted if model.predicted else 0.0
    if program is not None and program.pid == os.getpid():
        own = f"The app's speech recognition runs on the same graphics card and takes time from {model.label}."
        return own, f"Choose a smaller recogniser, or {smaller}, in the settings."
    close = f"Close other programs that use the graphics card, or choose {smaller} in the settings."
    if program is not None and _name(program):
        close = f"Close {_name(program)}, or choose {smaller} in the settings."
    elsewhere = f"Choose a back-end on another machine or in the cloud, or {smaller}, in the settings."
    if card is not None and card.used >= FULL * card.total and slower >= PAGED_FACTOR:
        cause = (
            "The graphics card's memory is full, and the driver has moved part of it to the machine's own, which is "
            "much slower."
        )
        return cause, elsewhere if server and sure else close
    if server and sure:
        return f"{server} runs on the same graphics card, and its answers take time from {model.label}.", elsewhere
    if program is not None and program.busy >= BUSY_PERCENT:
        return _shared(program), close
    if card is not None and slower >= SLOWED_FACTOR:
        clocks = f"{card.clock} of {card.fastest} MHz"
        if "heat" in card.slowed:
            return (
                f"The graphics card is too hot and has slowed down to {clocks}.",
                f"Let it cool down and look whether its fans work, or choose {smaller} in the settings.",
            )
        if card.clock < LOW_CLOCK * card.fastest:
            return (
                f"The graphics card runs at only {clocks}.",
                "Connect the machine to its power supply, and choose the highest performance in the driver's settings; "
                f"or choose {smaller} in the app's.",
            )
    if program is not None:
        return _shared(program), close
    if server:
        return (
            f"{server} may run on the same graphics card, and its answers would take time from {model.label}.",
            elsewhere,
        )
    if model.predicted >= TOO_SLOW_SECONDS:
        return (
            f"This graphics card is too slow for {model.label} as it is set now.",
            f"Choose {smaller} in the settings.",
        )
    return "", close


def _smaller(model: CardModel) -> str:
    """Returns what takes less of the card than `model`."""
    smaller = {"bf16": "int8", "int8": "int4"}.get(model.precision, "")
    if model.context_seconds <= LEAST_CONTEXT_SECONDS:
        return smaller or "the built-in voice"
    return f"{smaller} or a shorter memory" if smaller else "a shorter memory"


def _shared(program: Program) -> str:
    name = _name(program) or "Another program"
    if program.memory >= MUCH_MEMORY:
        return f"{name} uses the graphics card, too, with {program.memory / 1e9:.1f} GB of its memory."
    return f"{name} uses the graphics card, too."


def _heaviest(programs: Sequence[Program]) -> Program | None:
    """Returns the program that takes the most of the card, if any takes much."""
    heavy = [one for one in programs if one.busy >= BUSY_PERCENT or one.memory >= MUCH_MEMORY]
    return max(heavy, key=lambda one: (one.busy >= BUSY_PERCENT, one.busy, one.memory), default=None)


def _has(card: CardUse, pid: int) -> bool:
    return any(program.pid == pid for program in card.programs)


def _name(program: Program) -> str:
    name = " ".join(harmless(program.name).split())[:LONGEST_NAME].removesuffix(".exe")
    return f"{name} (PID {program.pid})" if _PYTHON.fullmatch(name.lower()) else name
