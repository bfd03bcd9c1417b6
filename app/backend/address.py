"""Server addresses: their parts, whether they are on this machine, and how to show them without secrets."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import SplitResult, urlsplit


def split_address(url: str) -> SplitResult:
    """Returns the parts of an address; all of them are empty when `url` is not one."""
    try:
        parts = urlsplit(url)
        _ = parts.hostname, parts.port  # these raise ValueError only when they are read
    except ValueError:
        return urlsplit("")
    return parts if url.isprintable() else urlsplit("")


def on_this_machine(url: str) -> bool:
    """Returns whether a server is reached by loopback, so that no proxy of the environment may be used for it."""
    host = split_address(url if "://" in url else f"//{url}").hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def in_own_network(url: str) -> bool:
    """Returns whether a server is on this machine or in its private network, where requests cost no money."""
    host = split_address(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return host == "localhost"


def without_secrets(url: str) -> str:
    """Returns an address without user, password, query and fragment, all of which may hold keys.

    All that stands before the last “@” counts as user and password, so that no part of a password is left.
    """
    scheme, separator, rest = url.rpartition("://") if url.count("://") == 1 else ("", "", url)
    return scheme + separator + re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]
