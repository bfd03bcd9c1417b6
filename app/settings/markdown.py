"""Formats the settings as Markdown tables, one a page of the dialog, for the guide."""

from __future__ import annotations

from app.settings.declarations import Settings, declarations, page_of
from app.settings.setting import Setting


def settings_markdown() -> str:
    """Returns all settings as Markdown."""
    parts = []
    for key, page in Settings.pages.items():
        rows = [_row(one) for one in declarations() if page_of(one.section) == key]
        head = [f"### {page.label}", "", "| Setting | Key | Default | Meaning |", "| --- | --- | --- | --- |"]
        parts.append("\n".join([*head, *rows]) + "\n")
    return "\n".join(parts)


def _row(declared: Setting) -> str:
    if declared.kind == "switch":
        default = "on" if declared.default else "off"
    else:
        default = f"`{declared.default}`" if declared.default != "" else "empty"
    return f"| {declared.label} | `{declared.name}` | {default} | {declared.help}{_range_in_words(declared)} |"


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
    if declared.kind == "model":
        return " Its key, as `kame-desktop models list` names it."
    if not declared.is_number:
        return ""
    special = f"; {declared.special[0]:g}: {declared.special[1]}" if declared.special is not None else ""
    return f" From {declared.lowest:g} to {_with_unit(declared.highest, declared.unit)}{special}."


def _with_unit(number: float, unit: str) -> str:
    return f"${number:g}" if unit == "$" else f"{number:g} {unit}".strip()
