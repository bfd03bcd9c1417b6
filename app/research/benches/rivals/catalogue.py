"""Who takes part in the comparison."""

from __future__ import annotations

from dataclasses import dataclass

from app.session.errors import UserError


@dataclass(frozen=True, slots=True)
class Assistant:
    """A voice assistant. `lock`: its packages, empty for this app's own; `driver`: its program in `drivers`."""

    name: str
    what: str
    lock: str = ""
    driver: str = ""


ASSISTANTS = (
    Assistant("tandem", "this app: it thinks while the user speaks"),
    Assistant("cascade", "this app, waiting for the whole turn"),
    Assistant("pipecat", "Pipecat 1.14: Silero, Smart Turn, faster-whisper, Piper", "pipecat.txt", "pipecat_driver.py"),
    Assistant("livekit", "LiveKit Agents 1.8: Silero, faster-whisper, Piper", "livekit.txt", "livekit_driver.py"),
    Assistant("realtime", "RealtimeSTT 1.1 and RealtimeTTS 0.8 with Piper", "realtime.txt", "realtime_driver.py"),
)


def chosen(names: list[str]) -> list[Assistant]:
    """The assistants with these names, all without any. Raises UserError."""
    known = {one.name: one for one in ASSISTANTS}
    if unknown := [name for name in names if name not in known]:
        raise UserError(f"There is no assistant “{unknown[0]}”. There are: {', '.join(known)}.")
    return [known[name] for name in names] or list(ASSISTANTS)
