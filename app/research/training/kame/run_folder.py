"""A run's folder: what it starts from, its settings, checkpoints and curves.

The settings of a training run.

Low-rank adapters (LoRA, arXiv 2106.09685) on a model's matrices, by the layers of the package moshi.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from moshi.modules.lora import LoRALinear, replace_all_linear_with_lora, replace_lora_with_linear
from torch import nn

from app.frontend.kame.checkpoint import build_lm, load
from app.frontend.kame.codec.voice_codec import is_voice_codec, load_codec
from app.frontend.kame.model import KameLM
from app.models.catalogue import ModelError
from app.models.layout import CheckpointFiles, read_layout


@dataclass(frozen=True, slots=True)
class LossWeights:
    """Weights of the loss. The defaults are the public trainer's; the paper tells of a factor of 1.5 on `audio`.

    `padding`: of the text's padding. `first_book`: of the first codebook, against 1 for each other. `audio_share`:
    share of a batch's frames that take part in the audio's loss, mostly those in which the model speaks; 1 takes all.
    `one_text_mean`: words and padding share one weighted mean, as in Moshi's public trainer, where KAME's has two; the
    token before a word then counts as padding. `own_share`: share of the frames, mostly of speech, whose own codes the
    model is given as it would have chosen them: in a session it follows its own sound, mistakes and all.
    """

    padding: float = 0.5
    first_book: float = 100.0
    audio: float = 1.0
    audio_share: float = 1.0
    one_text_mean: bool = False
    own_share: float = 0.0


@dataclass(frozen=True, slots=True)
class TrainSettings:
    """The settings of a run. The defaults are KAME's, as published: AdamW, constant after the warm-up.

    `batch`: dialogues a step. `final_rate`: share of the rate at the last step, reached along a cosine; 1 keeps it.
    `precision`: "bf16" computes in bfloat16 with weights in float32; "fp32". `compile`: with torch's compiler, which
    needs a C compiler on a processor, takes a minute to begin, and is about 1.7 times as fast.
    """

    steps: int = 1000
    batch: int = 1
    rate: float = 3e-5
    final_rate: float = 1.0
    warm_up: int = 100
    decay: float = 0.1
    betas: tuple[float, float] = (0.9, 0.95)
    clip: float = 1.0
    precision: str = "bf16"
    seed: int = 0
    save_every: int = 500
    weights: LossWeights = LossWeights()
    train_audio: bool = True
    compile: bool = False


_PARTS = ("lora_A.weight", "lora_B.weight")
_ALSO = "oracle_emb."
"""Trained whole beside the adapters: it is what a model that starts as Moshi has to learn."""


def add_adapters(lm: KameLM, rank: int, scaling: float) -> None:
    """Puts an adapter on each matrix, and freezes all else but the oracle's embedding. At first they change nothing."""
    replace_all_linear_with_lora(lm, rank, scaling)
    for layer in lm.modules():
        if isinstance(layer, LoRALinear):
            nn.init.kaiming_uniform_(layer.lora_A.weight, a=5**0.5)
            nn.init.zeros_(layer.lora_B.weight)
    for name, value in lm.named_parameters():
        value.requires_grad_(is_trained(name))


def is_trained(name: str) -> bool:
    """Whether a weight of a model with adapters is trained."""
    return name.endswith(_PARTS) or name.startswith(_ALSO)


def fuse_adapters(lm: KameLM) -> None:
    """Adds the adapters to their matrices, in place: a model of the plain class with what was learnt."""
    with torch.no_grad():
        replace_lora_with_linear(lm)


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
