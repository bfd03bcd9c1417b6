"""Tests the parser of the router's table: what it understands, and what it reports as wrong."""

from __future__ import annotations

import json

import pytest

from app.routing.classifier import KINDS as CLASSIFIED
from app.services.backends import EMPTY, KINDS, NAMES_ITSELF, UNREADABLE, parse_routes, write_routes
from app.session.control import BackendChoice

STEM = {"provider": "ollama", "model": "gemma3:4b"}
CHOICE = BackendChoice("ollama", "gemma3:4b")


def test_the_kinds_are_those_of_the_classifier() -> None:
    assert KINDS == CLASSIFIED


def test_what_is_written_is_understood() -> None:
    routes = {"stem": CHOICE, "creative": BackendChoice("compatible", "m", "http://127.0.0.1:8080/v1")}
    assert parse_routes(write_routes(routes)) == (routes, [])


@pytest.mark.parametrize(
    ("text", "routes", "problems"),
    [
        ("", {}, [EMPTY]),
        ("{}", {}, [EMPTY]),
        ("not JSON", {}, [UNREADABLE]),
        ("[1]", {}, [UNREADABLE]),
        (json.dumps({"stem": STEM, "everyday": 3}), {"stem": CHOICE}, [UNREADABLE]),
        (json.dumps({"stem": STEM, "unknown": 3, "creative": {"model": "m"}}), {"stem": CHOICE}, []),
        (json.dumps({"stem": {"provider": "router"}}), {"stem": BackendChoice("router")}, [NAMES_ITSELF]),
    ],
)
def test_what_is_wrong_is_told_and_the_rest_understood(
    text: str, routes: dict[str, BackendChoice], problems: list[str]
) -> None:
    assert parse_routes(text) == (routes, problems)
