"""Decides from the request that opens a connection whether a client may talk."""

from __future__ import annotations

import hmac
import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs, urlsplit

from app.frontend.remote.protocol import AFTER_PARAMETER, PATH, SESSION_PARAMETER

KEY_PARAMETER = "key"
"""The key in the address, for clients that can send no header."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is refused: an HTTP status, and a sentence for the client."""

    status: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Request:
    """What counts of a request: its path, the session that it asks for, and the key that it gives.

    `after`: how many of that session's events the client has, None if it does not say.
    """

    path: str
    session: str
    key: str
    after: int | None = None


def read_request(target: str, headers: Mapping[str, str]) -> Request:
    """Returns what a request's target and headers hold."""
    try:
        parts = urlsplit(target)
        query = parse_qs(parts.query, max_num_fields=16)
    except ValueError:
        return Request("", "", "")
    scheme, _, bearer = (_only(headers, "Authorization") or "").partition(" ")
    key = bearer.strip() if scheme.lower() == "bearer" else ""
    after = _first(query, AFTER_PARAMETER)
    return Request(
        parts.path,
        _first(query, SESSION_PARAMETER)[:200],
        key or _first(query, KEY_PARAMETER),
        int(after) if re.fullmatch("[0-9]{1,15}", after) else None,
    )


def refusal(request: Request, headers: Mapping[str, str], key: str) -> Refusal | None:
    """Returns why a request is refused; None if it is not. `key`: what clients must give, empty for none.

    A web page in a browser on this machine may reach loopback, too: without a key, requests are taken only if the
    page, where there is one, and the name that the server was called by are this machine's own.
    """
    if any(_only(headers, name) is None for name in ("Authorization", "Host", "Origin")):
        return Refusal(400, "This request has a header twice that must be there once.")
    if request.path.rstrip("/") != PATH:
        return Refusal(404, f"There is nothing here. Conversations are held at {PATH}.")
    if key:
        if hmac.compare_digest(request.key.encode(errors="surrogatepass"), key.encode()):
            return None
        return Refusal(401, "This server wants a key. Send it as a bearer token, or as “key” in the address.")
    if not is_this_machine(_only(headers, "Host") or "") or not is_this_machine(headers.get("Origin", "localhost")):
        return Refusal(403, "Without a key this server talks with programs and pages of its own machine only.")
    return None


def is_this_machine(address: str) -> bool:
    """Whether a host, with or without port and scheme, is loopback."""
    try:
        host = urlsplit(address if "://" in address else f"//{address}").hostname or ""
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _first(query: Mapping[str, list[str]], name: str) -> str:
    return query.get(name, [""])[0]


def _only(headers: Mapping[str, str], name: str) -> str | None:
    """Returns the one header of this name, "" if there is none, and None if there are several."""
    try:
        return headers.get(name, "")
    except LookupError:  # `websockets.datastructures.Headers` raises it
        return None
