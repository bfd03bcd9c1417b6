"""Emits events about the sound devices: changes at once, their state about once a second."""

from __future__ import annotations

from app.audio.io.base import DuplexAudio
from app.conversation import events as e
from app.conversation.frame import Frame

GAUGE_FRAMES = 12
"""Gauges are told about once a second."""

ECHO_TOLD_SECONDS = 300.0
"""How often the user is told that echo remains."""

ECHO_REMAINS = (
    "The microphone hears the app's own voice from the loudspeaker, so it may interrupt itself. Use headphones, turn "
    "the loudspeaker down or move it away from the microphone, or switch hands-free off and hold the button to talk."
)


class EdgeEvents:
    """Events of one edge; all calls on the frame thread."""

    def __init__(self, edge: DuplexAudio) -> None:
        self._edge = edge
        self._muted = False
        self._echo_told_at = float("-inf")

    def after(self, frame: Frame, *, duplex: bool) -> list[e.Event]:
        """Return what happened up to this frame."""
        edge, at = self._edge, frame.at
        events: list[e.Event] = [
            e.DeviceChanged(at, notice.kind, notice.change, notice.name, notice.sentence) for notice in edge.notices()
        ]
        # Muting is told once it is in force: the frame itself is the proof.
        if edge.muted != self._muted and not (edge.muted and frame.samples.any()):
            self._muted = edge.muted
            events.append(e.MicrophoneMuted(at, self._muted))
        if frame.index % GAUGE_FRAMES == 0:
            health = edge.health()
            events.append(
                e.SoundMeasured(
                    at, health.erle_db, health.echo_remains, health.drift_ppm, health.overrun_ms, health.underruns
                )
            )
            if health.echo_remains and duplex and at - self._echo_told_at > ECHO_TOLD_SECONDS:
                self._echo_told_at = at
                events.append(e.Failure(at, "audio", ECHO_REMAINS, about="echo"))
        return events
