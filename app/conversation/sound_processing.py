"""Settings and reports of the audio path between the devices and the frames, as plain data for every layer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

DeviceKind = Literal["microphone", "loudspeaker"]

DeviceChange = Literal["absent", "lost", "moved", "back", "note"]
"""`absent`: there has been no such device so far; `lost`: there is none until one appears; `moved`: the conversation
goes on with another device; `back`: the chosen device is in use again, or the first one has appeared; `note`: something
about the device that the user should know."""


@dataclass(frozen=True, slots=True)
class Processing:
    """How the microphone's sound is processed. `echo`: cancel the app's own voice; `noise`: suppress steady noise;
    `gain`: amplify quiet voices.
    """

    echo: bool = True
    noise: bool = False
    gain: bool = False


USUAL_PROCESSING = Processing()
"""The default."""


@dataclass(frozen=True, slots=True)
class DeviceNotice:
    """A change of a device, with a sentence for the user. `name`: the device in use from now on, empty for none."""

    kind: DeviceKind
    change: DeviceChange
    name: str
    sentence: str


@dataclass(frozen=True, slots=True)
class SoundHealth:
    """State of the audio path, measured over the last seconds; counts are since the conversation began.

    `erle_db`: echo return loss enhancement, by how much the canceller reduces the app's own voice (None: not measured
    yet, or no echo). `echo_remains`: the residual echo may be mistaken for the user. `drift_ppm`: how much faster the
    loudspeaker's clock runs than the microphone's (None: not known yet). `overrun_ms`: sound of the microphone that was
    lost; `underruns`: gaps in what was played.
    """

    erle_db: float | None = None
    echo_remains: bool = False
    drift_ppm: float | None = None
    overrun_ms: int = 0
    underruns: int = 0
