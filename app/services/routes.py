"""Reads and writes the router's table: which back-end answers which kind of question, kept as JSON in the settings."""

from __future__ import annotations

import json
from collections.abc import Mapping

from app.session.control import ROUTER, BackendChoice
from app.untrusted.json_text import read_json
from app.untrusted.limits import SETTING_LIST

KINDS = ("everyday", "reasoning", "stem", "humanities", "creative")
"""The kinds of questions that the router tells apart, as in `app.routing.classifier`, which takes long to import."""

UNREADABLE = "The router's table can't be read. Fill it in again, or choose a model."
NAMES_ITSELF = "The router's table names the router itself. Choose a model for each kind of question."
EMPTY = "The router's table is empty. Choose a model for at least one kind of question, or choose one model for all."


def parse_routes(text: str) -> tuple[dict[str, BackendChoice], list[str]]:
    """Returns every row of the table that can be understood, and what is wrong with the table, in sentences.

    Kinds that are unknown, and rows without a provider, are left out without a word.
    """
    try:
        rows = read_json(text, SETTING_LIST) if text.strip() else {}
    except ValueError:
        return {}, [UNREADABLE]
    if not isinstance(rows, dict):
        return {}, [UNREADABLE]
    known = {kind: row for kind, row in rows.items() if kind in KINDS}
    routes = {
        kind: BackendChoice(*(str(row.get(key, "")) for key in ("provider", "model", "base_url")))
        for kind, row in known.items()
        if isinstance(row, dict) and row.get("provider")
    }
    problems = []
    if not all(isinstance(row, dict) for row in known.values()):
        problems.append(UNREADABLE)
    if any(choice.provider == ROUTER for choice in routes.values()):
        problems.append(NAMES_ITSELF)
    if not routes and not problems:
        problems.append(EMPTY)
    return routes, problems


def write_routes(routes: Mapping[str, BackendChoice]) -> str:
    """Returns the table as the settings keep it."""
    rows = {
        kind: {"provider": choice.provider, "model": choice.model, "base_url": choice.base_url}
        for kind, choice in routes.items()
    }
    return json.dumps(rows, ensure_ascii=False)
