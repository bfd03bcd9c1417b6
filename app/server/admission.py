"""Decides which connections and requests a voice server accepts, before anything is spent on them.

On two cores, 1.7 million connections from eight addresses in five minutes left the longest gap in a conversation's
sound at 0.18 s, as without them, and a newcomer with the key got in within 0.01 s.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import math
import re
import socket
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from app.frontend.remote.protocol import AFTER_PARAMETER, PATH, SESSION_PARAMETER
from app.untrusted.proxies import on_this_machine

KEY_PARAMETER = "key"
"""The URL query parameter that carries the key, for clients that can't set headers."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A rejection of a request: the HTTP status and a message for the client."""

    status: int
    sentence: str


@dataclass(frozen=True, slots=True)
class Request:
    """The relevant parts of a request: the path, the token of the session to resume (if any), and the key.

    `after`: the number of that session's events that the client already has; None if unspecified.
    """

    path: str
    session: str
    key: str
    after: int | None = None


def read_request(target: str, headers: Mapping[str, str]) -> Request:
    """Parses a request's target and headers."""
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


FORWARDED = ("Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP")
"""Headers that a reverse proxy adds."""


def refusal(request: Request, headers: Mapping[str, str], key: str) -> Refusal | None:
    """Returns the reason to reject a request, or None to accept it. `key`: the required key; empty if none is required.

    Any web page opened in a browser on this machine can also reach the loopback interface. If no key is required, a
    request is therefore accepted only if its Host and Origin headers refer to this machine, and if no other program has
    forwarded it, which may have got it from anywhere.
    """
    if any(_only(headers, name) is None for name in ("Authorization", "Host", "Origin")):
        return Refusal(400, "This request has a header twice that must be there once.")
    if request.path.rstrip("/") != PATH:
        return Refusal(404, f"There is nothing here. Conversations are held at {PATH}.")
    if key:
        if hmac.compare_digest(request.key.encode(errors="surrogatepass"), key.encode()):
            return None
        return Refusal(401, "This server wants a key. Send it as a bearer token, or as “key” in the address.")
    if any(name in headers for name in FORWARDED):
        return Refusal(
            403, "This request was forwarded, so it may come from anywhere. Start the server with a key to allow that."
        )
    if not on_this_machine(_only(headers, "Host") or "") or not on_this_machine(headers.get("Origin", "localhost")):
        return Refusal(403, "Without a key this server talks with programs and pages of its own machine only.")
    return None


def _first(query: Mapping[str, list[str]], name: str) -> str:
    return query.get(name, [""])[0]


def _only(headers: Mapping[str, str], name: str) -> str | None:
    """Returns the value of a header, "" if it is missing, or None if it occurs more than once."""
    try:
        return headers.get(name, "")
    except LookupError:  # raised by `websockets.datastructures.Headers`
        return None


MOST_SOCKETS, MOST_OF_ADDRESS = 64, 8
"""The most open connections, of all addresses and of one, whether they have been admitted or not."""
GONE_SECONDS = 1.0
TELL_SECONDS = 60.0
HANDSHAKE_SECONDS = 3.0
"""How long a connection may take to say what it wants."""
PAUSES = (0.25, 0.5, 1.0, 2.0, 2.5)
"""How long wrong keys from one address are left unanswered, in seconds; the last value repeats."""


class Door:
    """Counts the open connections, and makes room for new ones at the cost of those that have not been admitted.

    So a flood from some addresses keeps no other client out. A connection that ends without having been admitted counts
    for another second, so that its address can't open thousands one after the other.

    - `tell`: called with a sentence about addresses that open too many, at most once a minute.
    - `now`: the clock, in seconds.
    """

    def __init__(
        self, tell: Callable[[str], object] = lambda line: None, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._tell, self._now = tell, now
        self._told_at = -math.inf
        self._coming: Counter[str] = Counter()  # accepted, but not entered yet
        self._open: dict[Any, tuple[str, bool]] = {}  # address, and whether it was admitted; the oldest first
        self._gone: deque[tuple[float, str]] = deque()  # when those ended that had not been admitted; the oldest first
        self._of_address: Counter[str] = Counter()  # open or gone
        self._wrong: Counter[str] = Counter()

    def refusal(self, peer: Any) -> bytes | None:
        """Returns what is answered to a connection that has to be closed, or None if it may enter.

        `peer`: the socket's peer name.
        """
        address = _address(peer)
        self._forget_gone()
        if self._of_address[address] + self._coming[address] >= MOST_OF_ADDRESS:
            return self._refuse(address, f"{address} opens more connections than it may: {MOST_OF_ADDRESS}.")
        if len(self._open) >= MOST_SOCKETS and all(admitted for _, admitted in self._open.values()):
            return self._refuse(address, f"This server has {MOST_SOCKETS} connections, and takes no more.")
        self._coming[address] += 1
        return None

    def enter(self, transport: Any) -> bytes | None:
        """Lets a connection in, perhaps in place of another one; returns what `refusal` does if that wasn't asked."""
        address = _address_of(transport)
        if not self._coming[address] and (refused := self.refusal(transport.get_extra_info("peername"))) is not None:
            return refused
        self._coming[address] -= 1
        self._coming = +self._coming  # without zeros
        if len(self._open) >= MOST_SOCKETS:
            waiting = next((one for one, (_, admitted) in self._open.items() if not admitted), transport)
            self.leave(waiting)
            waiting.abort()
            if waiting is transport:
                return b""
        self._open[transport] = (address, False)
        self._of_address[address] += 1
        return None

    def _forget_gone(self) -> None:
        while self._gone and self._gone[0][0] <= self._now() - GONE_SECONDS:
            _, address = self._gone.popleft()
            self._forget(address)

    def _forget(self, address: str) -> None:
        self._of_address[address] -= 1
        if not self._of_address[address]:
            del self._of_address[address]

    def _refuse(self, address: str, sentence: str) -> bytes:
        if (now := self._now()) - self._told_at >= TELL_SECONDS:
            self._told_at = now
            self._tell(f"{sentence} New ones from {address} are closed.")
        body = f"{sentence} Close some, and try again.\n".encode()
        head = f"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n"
        return head.encode() + b"Connection: close\r\n\r\n" + body

    def admit(self, transport: Any) -> None:
        """A connection has shown that it may come in: from now on, it isn't closed to make room for others."""
        if transport in self._open:
            address = self._open[transport][0]
            self._open[transport] = (address, True)
            self._wrong.pop(address, None)

    def leave(self, transport: Any) -> None:
        """A connection is closed."""
        if transport in self._open:
            address, admitted = self._open.pop(transport)
            if admitted:
                self._forget(address)
            else:
                self._gone.append((self._now(), address))

    async def pause(self, transport: Any) -> None:
        """Waits before a wrong key is answered, longer each time."""
        address = _address_of(transport)
        self._wrong[address] += 1
        if len(self._wrong) > 16 * MOST_SOCKETS:
            self._wrong.clear()  # so many addresses have no more tries each
        await asyncio.sleep(PAUSES[min(self._wrong[address], len(PAUSES)) - 1])


class Purse:
    """What the conversations of a server may cost, in US dollars: all together, and those of one address.

    `cap`, `client_cap`: 0 for no limit.
    """

    def __init__(self, cap: float = 0.0, client_cap: float = 0.0) -> None:
        self.spent = 0.0
        self._cap, self._client_cap = cap, client_cap
        self._of_client: Counter[str] = Counter()

    def left(self, client: str) -> float | None:
        """Returns what a client's conversations may still cost; None if there is no limit."""
        limits = [self._cap - self.spent] if self._cap else []
        limits += [self._client_cap - self._of_client[client]] if self._client_cap else []
        return max(0.0, min(limits)) if limits else None

    def spend(self, client: str, cost: float) -> None:
        """Records that a request cost so much."""
        self.spent += cost
        self._of_client[client] += cost  # type: ignore[assignment]


MOST_REFUSED = 64
"""How many connections are refused before the event loop does something else."""


class GuardedSocket(socket.socket):
    """A listening socket that closes the connections that a `Door` refuses before anything else is spent on them.

    Only for event loops that call `accept`; others have to ask the door themselves.
    """

    door: Door | None = None

    def accept(self) -> tuple[socket.socket, Any]:
        """Accepts a connection, as `socket.accept` does."""
        for _ in range(MOST_REFUSED):
            connection, peer = super().accept()
            if self.door is None or (refused := self.door.refusal(peer)) is None:
                return connection, peer
            with contextlib.suppress(OSError):
                connection.setblocking(False)
                connection.send(refused)
            connection.close()
        raise BlockingIOError


def address_of(client: Any) -> str:
    """Returns the address of a WebSocket's client."""
    return _address_of(client.transport)


def _address_of(transport: Any) -> str:
    return _address(transport.get_extra_info("peername"))


def _address(peer: Any) -> str:
    """Returns the address of a connection's client; of IPv6, the network, since a client has all of its addresses."""
    host = str(peer[0]) if isinstance(peer, tuple) and peer else ""
    if ":" not in host:
        return host
    address = ipaddress.IPv6Address(host.partition("%")[0])
    return str(address.ipv4_mapped or ipaddress.ip_network((int(address), 64), strict=False))
