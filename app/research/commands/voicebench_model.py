"""Makes the assistant that VoiceBench asks.

In VoiceBench's `src/models/__init__.py`, with this app's folder on the path:

    from app.research.commands.voicebench_model import kame_assistant
    model_cls_mapping["kame"] = kame_assistant

The environment variable KAME_BENCH_SYSTEM names the system as `bench mtbench` does, such as `tandem=ollama:gemma3:4b`;
by default it is the tandem with the embedded model.
"""

from __future__ import annotations

import os

from app.research.benches.mtbench.systems import System
from app.research.benches.voicebench import SpokenAssistant

VARIABLE = "KAME_BENCH_SYSTEM"


def kame_assistant() -> SpokenAssistant:
    """The assistant of the system that the environment names.

    Raises ArgumentTypeError for one that there is not, and ValueError for one that does not speak.
    """
    from app import main as compose
    from app.research.commands.bench_mtbench import systems
    from app.services import backends

    system = systems(os.environ.get(VARIABLE, "tandem"))[0]
    if not isinstance(system, System) or not system.speaks:
        raise ValueError(f"{VARIABLE} must name a system that hears and speaks, such as tandem.")
    return SpokenAssistant(system, compose.session, backends.backend, backends.cost)


if __name__ == "__main__":
    print(__doc__)
