"""What the machine under the app can do, for whoever offers a user what fits it. Protocol and plain records only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from app.services.graphics_views import GraphicsOffer
from app.session.control import BackendChoice

Topic = Literal["card", "processor", "disk", "microphone", "loudspeaker", "ollama", "keys"]
State = Literal["good", "fair", "missing"]
"""`fair`: it will do, or is not needed; `missing`: something that a talk wants is not there."""


@dataclass(frozen=True, slots=True)
class MachineFinding:
    """One thing that was looked at, in a sentence for the user."""

    topic: Topic
    state: State
    sentence: str


@dataclass(frozen=True, slots=True)
class FrontEndFit:
    """Whether a front-end in a precision (empty for one without weights) runs here, and why, in a sentence.

    `download_bytes`: what has to come before it can; 0 when all of it is here.
    """

    frontend: str
    precision: str
    fits: bool
    sentence: str
    download_bytes: int = 0


@dataclass(frozen=True, slots=True)
class MachineView:
    """All that was found. `advice`: what fits best, in words; the same in `frontend`, `precision` and `backend`.

    `fits`: of each front-end with weights one for each precision, the largest first. `ollama_models`: those that
    converse, of an Ollama that runs here; None: none runs. `keys`: the providers that there is a key for.
    `graphics`: what can be installed so that the card is used.
    """

    findings: tuple[MachineFinding, ...]
    fits: tuple[FrontEndFit, ...]
    advice: str
    frontend: str = "cascade"
    precision: str = ""
    backend: BackendChoice = field(default_factory=BackendChoice)
    ollama_models: tuple[str, ...] | None = None
    keys: tuple[str, ...] = ()
    graphics: GraphicsOffer | None = None

    def fits_of(self, frontend: str) -> tuple[FrontEndFit, ...]:
        """What is known of one front-end."""
        return tuple(fit for fit in self.fits if fit.frontend == frontend)


class MachineService(Protocol):
    """Looks at the machine; the composition root gives the window one."""

    async def look(self, report: Callable[[str, float], None]) -> MachineView:
        """Looks at everything, within seconds, and contacts nobody but a local Ollama.

        Never blocks the loop; cancelling ends it. `report` gets what was looked at in words, and a share done, on the
        loop's thread. What can't be looked at is told as a finding, and is no error.
        """
        ...
