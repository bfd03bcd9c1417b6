"""The sentences for users about devices that come and go: what happened, what it means, what to do."""

from __future__ import annotations

from typing import Literal

from app.conversation.sound_processing import DeviceKind, DeviceNotice

Cause = Literal["gone", "default", "mixer", "chosen", "returned", "absent", "refused", "slow"]
"""Why another device is in use: the old one went; the system's default changed; the app was moved in the system's
sound settings; the user chose; the preferred one came back, was never there, or couldn't be opened; or (not reported)
it is the same device, opened again."""

NARROWBAND_RATE = 16_000
"""Hertz. A microphone of this rate or below has telephone quality: mostly a Bluetooth headset in a call."""

_REMEDY = {
    "microphone": "Plug one in, or allow the app to use it in the system's privacy settings",
    "loudspeaker": "Plug in a loudspeaker or headphones",
}
_EFFECT = {
    "microphone": "you aren't heard",
    "loudspeaker": "the app makes no sound",
}


def absent(kind: DeviceKind, problem: str = "") -> DeviceNotice:
    """The conversation begins without a device of this kind. `problem`: the sentence why none can be opened; empty:
    there is none.
    """
    without = {"microphone": "You can type", "loudspeaker": "You can read the answers"}[kind]
    if problem:
        return DeviceNotice(kind, "absent", "", f"{problem} {without} meanwhile.")
    sentence = f"No {kind} was found. {without}; KAME notices one that you plug in."
    return DeviceNotice(kind, "absent", "", sentence)


def found(kind: DeviceKind, name: str) -> DeviceNotice:
    """The conversation began without a device of this kind, and there is one now."""
    return DeviceNotice(kind, "back", name, f"The {kind} “{name}” is there now, and in use.")


def lost(kind: DeviceKind, name: str, problem: str = "") -> DeviceNotice:
    """There is no device of this kind any more. `problem`: the sentence why none can be opened, if known."""
    sentence = (
        f"The {kind} “{name}” is gone, and no other can be used: {_EFFECT[kind]} for now. {_REMEDY[kind]}; the "
        "conversation goes on by itself then."
    )
    return DeviceNotice(kind, "lost", "", sentence if not problem else f"{sentence} ({problem})")


def changed(
    kind: DeviceKind, old: str, new: str, cause: Cause, preferred: str, problem: str = "", refused: bool = False
) -> DeviceNotice:
    """The device `new` is in use instead of `old` (empty: none). `preferred`: the user's choice; empty: the default.

    `problem`: the sentence why the preferred one can't be opened, if that is the cause; `refused`: it was reported
    before.
    """
    is_substitute = bool(preferred) and preferred != new
    later = f" “{preferred}” is taken when it is there." if is_substitute and not refused else ""
    if cause == "refused":
        sentence = (
            f"{problem} The conversation goes on with the {kind} “{new}” meanwhile. “{preferred}” is tried once more "
            "when you choose it again, or when it was unplugged and is plugged in again."
        )
    elif cause == "chosen":
        sentence = f"The {kind} is now “{new}”."
    elif cause == "absent":
        sentence = f"The {kind} “{preferred}” isn't there. The conversation goes on with “{new}”;{later[:-1]}."
    elif cause == "mixer":
        sentence = (
            f"In the system's sound settings “{new}” was made this app's {kind}: the conversation goes on with it."
        )
    elif preferred and preferred == new:
        return back(kind, new)
    elif not old:
        sentence = f"There is a {kind} again: the conversation goes on with “{new}”.{later}"
    elif cause == "default":
        sentence = f"The system's {kind} is now “{new}”: the conversation goes on with it."
    elif is_substitute and preferred == old:
        sentence = (
            f"The {kind} “{old}” is gone. The conversation goes on with “{new}”; yours is taken again when it is back."
        )
    else:
        sentence = f"The {kind} “{old}” is gone. The conversation goes on with “{new}”.{later}"
    return DeviceNotice(kind, "moved", new, sentence)


def back(kind: DeviceKind, name: str) -> DeviceNotice:
    """The device that was lost is in use again."""
    return DeviceNotice(kind, "back", name, f"The {kind} “{name}” is back, and in use again.")


def silent(kind: DeviceKind, name: str) -> str:
    """The problem with a device that can be opened and then delivers, or requests, nothing."""
    what = "gives no sound" if kind == "microphone" else "takes no sound"
    return f"The {kind} “{name}” {what}. See that it is switched on, and that no other program has it for itself."


def suspended(kind: DeviceKind, name: str, is_suspended: bool) -> DeviceNotice:
    """The system has suspended the device, or resumed it."""
    sentence = (
        f"The {kind} “{name}” is suspended in the system, so {_EFFECT[kind]}. It goes on by itself when the system "
        f"lets it; if it doesn't, choose another {kind}."
        if is_suspended
        else f"The {kind} “{name}” is no longer suspended, and in use again."
    )
    return DeviceNotice(kind, "note" if is_suspended else "back", name, sentence)


def narrowband(name: str, rate: int) -> DeviceNotice:
    """The microphone has telephone quality; `rate` in hertz."""
    return DeviceNotice(
        "microphone",
        "note",
        name,
        f"The microphone “{name}” works at {rate / 1000:g} kHz, as Bluetooth headsets do in calls, so you are "
        "understood less well. Another microphone helps, such as the computer's own.",
    )


def muted(name: str, is_muted: bool) -> DeviceNotice:
    """The microphone was muted, or unmuted, in the system."""
    sentence = (
        f"The microphone “{name}” is muted in the system, so you aren't heard. Unmute it in the system's sound "
        "settings, or with its own switch."
        if is_muted
        else f"The microphone “{name}” is no longer muted in the system: you are heard again."
    )
    return DeviceNotice("microphone", "note" if is_muted else "back", name, sentence)
