"""The last known state of the sound server, and whether one is expected at all."""

from __future__ import annotations

import contextlib
import time
from typing import Self

from app.audio.devices import listing
from app.audio.devices.pulse import PulseServer, PulseState
from app.audio.io.errors import DeviceError

ABSENT_SECONDS = 20.0
"""A sound server that has been away for so long won't come back: PortAudio's own devices are used from then on."""


class ServerMonitor:
    """Queries the sound server, if there is one that PortAudio can reach. For one thread."""

    def __init__(self) -> None:
        self._server = PulseServer()
        self._has_gateway = False
        self.state: PulseState | None = None
        """Its answer to the last query; None: no server."""
        self.expected = False
        """Whether there is a server, or was until lately."""
        self.queried_at = 0.0
        self._answered_at = 0.0

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *exc: object) -> None:
        self._server.__exit__(*exc)

    def query(self) -> None:
        """Updates the state."""
        now = self.queried_at = time.monotonic()
        state = self._server.query()
        if state is not None and not self._has_gateway:
            with contextlib.suppress(DeviceError):  # PortAudio isn't available at the moment
                self._has_gateway = listing.pulse_gateway(listing.own_devices()) is not None
        self.state = state if self._has_gateway else None
        if self.state is not None:
            self.expected, self._answered_at = True, now
        elif now - self._answered_at > ABSENT_SECONDS:
            self.expected = False
