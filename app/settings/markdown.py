"""Formats the settings as a Markdown table, for the guide."""

from __future__ import annotations

from app.settings.declarations import declarations
from app.settings.setting import Setting


def settings_markdown() -> str:
    """The settings that people change, in the dialog or in the file, as a Markdown table."""
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
    """The values that a setting may have, as a further sentence; empty for switches and free text."""
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
