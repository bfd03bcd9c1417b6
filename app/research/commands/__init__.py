"""The research commands: `corpus`, `train`, and the benches added to the product's own."""

from __future__ import annotations

from app.frontend import PROVIDERS, FrontEndOptions, FrontEndSpec
from app.frontend.base import FrontEnd
from app.models.locations import model_path
from app.platform.installation import resource
from app.research.commands import bench_mtbench, benches, corpus_command, train_command

__all__ = ["BENCHES", "COMMANDS", "make_nano"]

BENCHES = (*benches.BENCHES, *bench_mtbench.BENCHES)
COMMANDS = (corpus_command, train_command)
"""Command modules, in the form `app.cli.parser` expects."""


def make_nano(options: FrontEndOptions) -> FrontEnd:
    """Creates Nano KAME with the weights in `options`, or with those of the checkout."""
    from app.research.nano.codec_layout import CODEC_VOICE
    from app.research.nano.frontend import PIECES_NAME, NanoFrontEnd

    own = options.weights
    if own is None or not (own / PIECES_NAME).exists():  # the settings name KAME's folder
        own = resource("nano")
    return NanoFrontEnd(own, model_path(CODEC_VOICE), options.dials)


PROVIDERS["nano"] = FrontEndSpec("Nano KAME (CPU): an experiment", make=make_nano)
