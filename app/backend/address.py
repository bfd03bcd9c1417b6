"""Addresses of servers: their parts, whose machine they are on, and themselves without what is secret in them."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit


def split_address(url: str) -> SplitResult:
    """The parts of an address; all empty when it is none, whatever was typed."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port  # these raise only when they are asked for
    except ValueError:
        return urlsplit("")
    return parts if url.isprintable() else urlsplit("")


def on_this_machine(url: str) -> bool:
    """Whether a server is reached by loopback: then no proxy of the environment is to be asked for it."""
    host = split_address(url if "://" in url else f"//{url}").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def in_own_network(url: str) -> bool:
    """Whether a server is on this machine or in its own network, where asking costs no money."""
    host = split_address(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost"


def without_secrets(url: str) -> str:
    """An address without a user, a password, a query or a fragment: they may hold keys.

    Rather too little of it than a password's end: whatever stands before an “@” counts as a user's.
    """
    scheme, separator, rest = url.rpartition("://") if url.count("://") == 1 else ("", "", url)
    return scheme + separator + re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]
