"""Opens WebSockets to voice servers."""

from __future__ import annotations

from typing import Any

from app.frontend.remote.address import ServerAddress
from app.frontend.remote.protocol import EVENTS
from app.untrusted.limits import VOICE_EVENT


def connect_to(address: ServerAddress, key: str, session: str, after: int) -> Any:
    """Returns a context manager that opens a WebSocket and closes it.

    `session`: the token of the conversation to go on with, or empty; `after`: how many of its events have come. It
    sends no pings: Moshi's own server reads nothing, and so answers none, until it is ready.
    """
    from websockets.asyncio.client import connect

    class Connect(connect):  # type: ignore[misc,unused-ignore]
        """Follows no redirect, which could lead the key to another server."""

        def process_redirect(self, exc: Exception) -> Exception | str:
            return exc

    return Connect(
        address.url(session, after),
        subprotocols=[EVENTS],
        additional_headers={"Authorization": f"Bearer {key}"} if key else None,
        user_agent_header="KAME Desktop",
        proxy=True if address.secure and not address.local else None,  # without TLS a proxy would see the key
        compression=None,
        max_size=VOICE_EVENT.bytes,
        open_timeout=10,
        ping_interval=None,
        close_timeout=1,
    )
