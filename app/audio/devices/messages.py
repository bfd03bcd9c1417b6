"""What users are told about devices that come and go: what happened, what it means, what to do.

Knows nothing of how it was found out.
"""

from __future__ import annotations

from typing import Literal

from app.conversation.sound_processing import DeviceChange, DeviceKind, DeviceNotice

Cause = Literal["gone", "default", "mixer", "chosen", "returned", "absent", "refused", "slow"]
"""Why a device is no longer, or now, in use: it went; the system's default changed; somebody moved the app in the
system's sound settings; the user chose; the chosen one came back, was never there, or couldn't be opened; or (not
told) it is the same device, opened anew."""

NARROW_RATE = 16_000
"""Hertz. What works at this rate or below hears like a telephone: mostly a Bluetooth headset in a call."""

_PLUG = {
    "microphone": "Plug one in, or allow the app to use it in the system's privacy settings",
    "loudspeaker": "Plug in a loudspeaker or headphones",
}
_MEANS = {
    "microphone": "you aren't heard",
    "loudspeaker": "the app makes no sound",
}


def lost(kind: DeviceKind, name: str, problem: str = "") -> DeviceNotice:
    """There is no device of this kind any more. `problem`: the sentence of why none can be opened, if one says."""
    sentence = (
        f"The {kind} “{name}” is gone, and no other can be used: {_MEANS[kind]} for now. {_PLUG[kind]}; the talk goes "
        "on by itself then."
    )
    return DeviceNotice(kind, "lost", "", sentence if not problem else f"{sentence} ({problem})")


def changed(
    kind: DeviceKind, old: str, new: str, cause: Cause, wanted: str, problem: str = "", refused: bool = False
) -> DeviceNotice:
    """The device `new` is in use instead of `old` (empty: of none). `wanted`: the chosen one; empty: the default.

    `problem`: the sentence of why it can't be opened, where that is the cause; `refused`: that was told before.
    """
    yours = bool(wanted) and wanted != new
    again = f" “{wanted}” is taken when it is there." if yours and not refused else ""
    what: DeviceChange = "moved"
    if cause == "refused":
        sentence = (
            f"{problem} The talk goes on with the {kind} “{new}” meanwhile. “{wanted}” is tried once more when you "
            "choose it again, or when it was unplugged and is plugged in again."
        )
    elif cause == "chosen":
        sentence = f"The {kind} is now “{new}”."
    elif cause == "absent":
        sentence = f"The {kind} “{wanted}” isn't there. The talk goes on with “{new}”;{again[:-1]}."
    elif cause == "mixer":
        sentence = f"In the system's sound settings “{new}” was made this app's {kind}: the talk goes on with it."
    elif wanted and wanted == new:
        what = "back"
        sentence = f"The {kind} “{new}” is back, and in use again."
    elif not old:
        sentence = f"There is a {kind} again: the talk goes on with “{new}”.{again}"
    elif cause == "default":
        sentence = f"The system's {kind} is now “{new}”: the talk goes on with it."
    elif yours and wanted == old:
        sentence = f"The {kind} “{old}” is gone. The talk goes on with “{new}”; yours is taken again when it is back."
    else:
        sentence = f"The {kind} “{old}” is gone. The talk goes on with “{new}”.{again}"
    return DeviceNotice(kind, what, new, sentence)


def back(kind: DeviceKind, name: str) -> DeviceNotice:
    """The device that was lost is in use again."""
    return DeviceNotice(kind, "back", name, f"The {kind} “{name}” is back, and in use again.")


def deaf(kind: DeviceKind, name: str) -> str:
    """Why a device that can be opened is of no use."""
    what = "gives no sound" if kind == "microphone" else "takes no sound"
    return f"The {kind} “{name}” {what}. See that it is switched on, and that no other program has it for itself."


def suspended(kind: DeviceKind, name: str, is_suspended: bool) -> DeviceNotice:
    """The system has stopped the device for a while, or lets it go on."""
    sentence = (
        f"The {kind} “{name}” is suspended in the system, so {_MEANS[kind]}. It goes on by itself when the system lets "
        f"it; if it doesn't, choose another {kind}."
        if is_suspended
        else f"The {kind} “{name}” is no longer suspended, and in use again."
    )
    return DeviceNotice(kind, "note" if is_suspended else "back", name, sentence)


def narrow(name: str, rate: int) -> DeviceNotice:
    """A microphone that hears like a telephone; `rate` in hertz."""
    return DeviceNotice(
        "microphone",
        "note",
        name,
        f"The microphone “{name}” works at {rate / 1000:g} kHz, as Bluetooth headsets do in calls, so you are "
        "understood less well. Another microphone helps, such as the computer's own.",
    )


def muted(name: str, is_muted: bool) -> DeviceNotice:
    """The microphone was muted in the system, or is so no longer."""
    sentence = (
        f"The microphone “{name}” is muted in the system, so you aren't heard. Unmute it in the system's sound "
        "settings, or with its own switch."
        if is_muted
        else f"The microphone “{name}” is no longer muted in the system: you are heard again."
    )
    return DeviceNotice("microphone", "note" if is_muted else "back", name, sentence)
