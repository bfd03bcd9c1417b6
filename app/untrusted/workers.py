"""Runs the reading of large input on a worker thread, so that the event loop gets its turns meanwhile.

A step of the reading holds the interpreter: on the 2 cores where it was measured, for some 20 ms a MB of ordinary
answers, and 100 ms a MB of nothing but small values. The bounds of what comes during a talk are therefore small.
"""

from __future__ import annotations

import asyncio
from typing import Any

from app.untrusted.json_text import read_json
from app.untrusted.limits import Limits
from app.untrusted.line_scanner import LineScanner

SMALL_BYTES = 32 * 1024
"""Read at once: less than 1 ms."""


async def read_json_aside(data: bytes | str, limits: Limits) -> Any:
    """Returns the value of a JSON text as `read_json` does, without holding up the event loop. Raises Refused."""
    if len(data) <= SMALL_BYTES:
        return read_json(data, limits)
    return await asyncio.to_thread(read_json, data, limits)


async def push_aside(scanner: LineScanner, block: bytes) -> list[bytes]:
    """Returns what `LineScanner.push` gives, or `flush` for an empty block, without holding up the event loop.

    Raises Refused.
    """
    if len(block) + scanner.held_bytes <= SMALL_BYTES:
        return list(scanner.push(block) if block else scanner.flush())
    return await asyncio.to_thread(lambda: list(scanner.push(block) if block else scanner.flush()))
