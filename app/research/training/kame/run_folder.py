"""A run's folder: what it starts from, its settings, checkpoints and curves."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from app.frontend.kame.checkpoint import build_lm, load
from app.frontend.kame.codec.codec_file import is_voice_codec, load_codec
from app.frontend.kame.model import KameLM
from app.models.errors import ModelError
from app.models.layout import CheckpointFiles, read_layout
from app.research.training.kame.adapters import add_adapters

_RUN = "run.json"


@dataclass(frozen=True, slots=True)
class Start:
    """What a run starts from. `weights`: a folder of weights, whose codec and vocabulary it keeps.

    `fresh`: of the folder only codec, vocabulary and shape are used, and the weights start at random. `rank`: of the
    adapters; 0 trains all weights.
    """

    weights: str
    fresh: bool = False
    rank: int = 0
    scaling: float = 2.0
    seed: int = 0


class RunFolder:
    """One run in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, start: Start) -> None:
        """Writes what the run starts from. Raises ModelError where the weights or the folder won't do."""
        if (self.folder / _RUN).exists():
            raise ModelError(f"There is a run in {self.folder} already. Go on with it, or choose another folder.")
        read_layout(start.weights)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / _RUN).write_text(json.dumps(asdict(start), indent=1) + "\n", "utf-8")

    def start(self) -> Start:
        """What the run starts from. Raises ModelError."""
        try:
            return Start(**json.loads((self.folder / _RUN).read_text("utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise ModelError(f"There is no run in {self.folder}. Begin one with “train init”.") from error

    def files(self) -> CheckpointFiles:
        """The files that the run starts from. Raises ModelError."""
        return read_layout(self.start().weights, quickly=True)

    def model(self) -> KameLM:
        """The model as the run starts it, on the processor in float32, with adapters if it has any."""
        start, files = self.start(), self.files()
        if start.fresh:
            torch.manual_seed(start.seed)
            lm = build_lm(files.lm_config, torch.device("cpu"), torch.float32)
        else:
            lm = load(files, device="cpu", dtype=torch.float32).lm
        lm.requires_grad_(True)
        if start.rank:
            add_adapters(lm, start.rank, start.scaling)
        return lm

    def silence(self) -> tuple[int, ...] | None:
        """The own codes of a silent frame, for a codec that has fixed ones."""
        path = self.files().mimi
        return load_codec(path).silence if is_voice_codec(path) else None

    def config(self) -> dict[str, Any]:
        """The arguments of the model's class."""
        return dict(self.files().lm_config or {})
