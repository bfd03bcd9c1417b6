"""Parses large input on a worker thread, so that the event loop keeps running.

Each parsing step holds the GIL: measured on 2 cores, for about 20 ms per MB of ordinary responses, and 100 ms per MB
if there are only small values. Limits on input that arrives during a conversation are therefore small.
"""

from __future__ import annotations

import asyncio
from typing import Any

from app.untrusted.json_text import read_json
from app.untrusted.limits import Limits
from app.untrusted.line_scanner import LineScanner

SMALL_BYTES = 32 * 1024
"""Input up to this size is parsed on the event loop, in less than 1 ms."""


async def read_json_aside(data: bytes | str, limits: Limits) -> Any:
    """Parses JSON like `read_json`, without blocking the event loop. Raises Refused."""
    if len(data) <= SMALL_BYTES:
        return read_json(data, limits)
    return await asyncio.to_thread(read_json, data, limits)


async def push_aside(scanner: LineScanner, block: bytes) -> list[bytes]:
    """Calls `LineScanner.push`, or `flush` for an empty block, without blocking the event loop.

    Raises Refused.
    """
    if len(block) + scanner.held_bytes <= SMALL_BYTES:
        return list(scanner.push(block) if block else scanner.flush())
    return await asyncio.to_thread(lambda: list(scanner.push(block) if block else scanner.flush()))
