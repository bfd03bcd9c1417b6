"""What can be done so that a graphics card is used: what to offer the user, and who does it. Plain records only."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

GraphicsState = Literal["offered", "waiting", "by hand"]
"""It can be fetched here; it is here from the app's next start on; the user has to type a command."""


@dataclass(frozen=True, slots=True)
class GraphicsOffer:
    """What a card still needs, in a sentence; sizes in bytes, 0 if they aren't known.

    `estimated`: the sizes are about right. `free`: of the disk. `command`: what does it by hand.
    """

    state: GraphicsState
    sentence: str
    download: int = 0
    room: int = 0
    free: int = 0
    estimated: bool = False
    command: str = ""


class GraphicsService(Protocol):
    """Installs what a graphics card needs. Its methods block, but for `restart`."""

    def offer(self) -> GraphicsOffer | None:
        """Return what there is to offer; None without a card that KAME can run on, or if all is there."""
        ...

    def install(self, report: Callable[[str, float], None], cancelled: threading.Event) -> None:
        """Fetch and install it beside the app that runs, which changes nothing until the next start.

        `report` gets words and the share done, -1 where that isn't known. Raise UserError with a sentence if it fails
        or was cancelled.
        """
        ...

    def restart(self) -> None:
        """Have the app started anew as soon as this process has ended. Raise UserError if that can't be arranged."""
        ...
