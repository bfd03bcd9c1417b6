"""What the sound's edge is asked, and what it tells: plain data that every layer may know.

The edge is microphone and loudspeaker with what stands between them and the frames: echo cancellation, clocks,
devices that come and go. Knows nothing of how any of it is done.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DeviceKind = Literal["microphone", "loudspeaker"]

DeviceChange = Literal["lost", "moved", "back", "note"]
"""`lost`: nothing hears, or sounds, until there is a device again; `moved`: the talk goes on with another device;
`back`: the device that was wanted is in use again; `note`: something about the device that the user should know."""


@dataclass(frozen=True, slots=True)
class Processing:
    """What is done to the microphone's sound. `echo`: the app's own voice is taken out; `noise`: steady noise is
    suppressed; `gain`: quiet voices are made louder.
    """

    echo: bool = True
    noise: bool = False
    gain: bool = False


USUAL_PROCESSING = Processing()
"""What nobody has to think about."""


@dataclass(frozen=True, slots=True)
class DeviceNotice:
    """Something that happened to a device. `name`: the device in use from now on, empty for none."""

    kind: DeviceKind
    change: DeviceChange
    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class SoundHealth:
    """How the edge does, measured over the last seconds; counts are since the talk began.

    `erle_db`: echo return loss enhancement, how much quieter the canceller makes the app's own voice (None: not
    measured yet, or there is no echo to be measured). `echo_remains`: what is left of it may be taken for the user.
    `drift_ppm`: how much faster the loudspeaker's clock runs than the microphone's (None: not known yet).
    `overrun_ms`: sound of the microphone that was lost; `underruns`: gaps in what was played.
    """

    erle_db: float | None = None
    echo_remains: bool = False
    drift_ppm: float | None = None
    overrun_ms: int = 0
    underruns: int = 0
