"""Research: benches, corpora and training. The product imports none of it, and installed apps leave it out.

- `benches/`: measurements of single properties of the app (`python -m app bench NAME`)
- `corpus/`, `training/`: build corpora and train KAME-style models (`corpus`, `train`)
- `nano/`: a KAME small enough for a CPU, trained by `training/nano` (`talk --frontend nano`)
- `window.py`: measurements of the real window, run by `bench window` in a child process
- `commands/`: the commands for all of these, which `app.__main__` finds by name
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from app.frontend import OTHER_CODECS


def _load_codec(file: Path, device: Any, own: int, heard: int) -> Any:
    from app.research.nano.voice_codec import load_codec_for  # imports torch

    return load_codec_for(file, device, own, heard)


OTHER_CODECS.append(_load_codec)
