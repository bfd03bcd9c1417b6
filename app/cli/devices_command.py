"""The command `devices`: lists microphones and loudspeakers."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from app.cli.output import Terminal

COMMANDS = ("devices",)


def add_commands(commands: Any, common: argparse.ArgumentParser) -> None:
    """Adds `COMMANDS` to the subparsers `commands`; `common` holds the options shared by all commands."""
    commands.add_parser("devices", parents=[common], help="list microphones and loudspeakers")


def run(args: argparse.Namespace, terminal: Terminal) -> int:
    """Lists the devices; returns the exit code. Raises AudioError."""
    from app.audio.devices.listing import list_devices

    devices = list_devices()
    if not devices:
        terminal.say("There is no sound device. Plug in a microphone and a loudspeaker, and try again.")
    for device in devices:
        channels = [f"{device.inputs} in" if device.inputs else "", f"{device.outputs} out" if device.outputs else ""]
        marks = [
            "default microphone" if device.is_default_input else "",
            "default loudspeaker" if device.is_default_output else "",
        ]
        chosen = ", ".join(filter(None, marks))
        terminal.say(
            f"{device.name}  ({device.host_api}; {', '.join(filter(None, channels))}; {device.default_rate:.0f} Hz)"
            + (f"  ← {chosen}" if chosen else "")
        )
    terminal.document({"ok": True, "devices": [dataclasses.asdict(device) for device in devices]})
    return 0
