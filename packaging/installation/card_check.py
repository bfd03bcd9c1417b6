"""Check that torch works on the graphics card, in the new environment's own Python."""

from __future__ import annotations

from collections.abc import Mapping

from installation.installed_places import InstalledPlaces
from installation.problems import Problem, ToolFailed
from installation.steps import Steps

NO_CARD_SEEN, WRONG_SUM, TOO_LATE = 3, 4, 5

# Runs in the environment. A timer thread ends it if the driver hangs.
CHECK = """
import os, threading
stuck = threading.Timer(240, os._exit, [5])
stuck.daemon = True
stuck.start()
import torch, safetensors, sentencepiece
print("torch", torch.__version__, "CUDA", torch.version.cuda, flush=True)
if not torch.cuda.is_available():
    os._exit(3)
one = torch.ones(1000, device="cuda")
os._exit(0 if float((one + one).sum().cpu()) == 2000.0 else 4)
"""

MEANINGS = {
    NO_CARD_SEEN: "The packages are fine, but they can't use the card with its present driver.",
    WRONG_SUM: "The card has added two numbers wrongly.",
    TOO_LATE: "The card's driver did not answer within four minutes.",
}


class CardFailed(Problem):
    """The packages are installed, but the card doesn't work with them; `may_work`: another driver may help."""

    may_work = False


def check_card(places: InstalledPlaces, steps: Steps, env: Mapping[str, str], hold: int) -> None:
    """Add two tensors on the card. Raise CardFailed if that doesn't work."""
    try:
        with steps.step("Checking that the graphics card works"):
            steps.run([places.new.python, "-I", "-c", CHECK], env, hold, str(places.venv.parent))
    except ToolFailed as failure:
        problem = CardFailed(
            "The graphics card could not be used.",
            MEANINGS.get(failure.code, "torch does not start, or ends with an error on this card."),
            f"Install NVIDIA's newest driver and restart the machine, then try again. All output is in {places.log}.",
        )
        problem.may_work = failure.code in (NO_CARD_SEEN, TOO_LATE)
        raise problem from failure
