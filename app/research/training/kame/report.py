"""The outputs of a training run: weights for the app, losses on held-out dialogues, curves, and a cost estimate.

`merge_run` writes a folder of weights that `talk --frontend kame --weights FOLDER` loads. `evaluate_run` measures the
newest checkpoint on a corpus: losses, and text accuracy with and without the oracle. Curves are shown as a terminal
line and as a figure. Memory and operations are estimated before a run starts.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
from safetensors.torch import save_file

from app.diagnostics.tables import progress_bar
from app.frontend.kame.engine.model import KameLM
from app.models.catalogue import ModelError
from app.models.layout import CONFIG_NAME, LM_NAME, SCALE, CheckpointFiles, read_layout
from app.research.corpus.tokens import Corpus
from app.research.nano.frontend import PIECES_NAME, unigram
from app.research.nano.voice_codec import is_voice_codec, load_codec, save_codec
from app.research.results import draw
from app.research.training.kame.run import LossFunction, RunFolder, TrainSettings, fuse_adapters
from app.research.training.kame.trainer import Batches, checkpoints, load_weights, read_settings


def merge_run(run: RunFolder, target: Path, *, compact: bool = False) -> Path:
    """Writes the weights of a run's newest checkpoint to `target` and returns the checkpoint. Raises ModelError.

    `compact`: as for `write_weights`.
    """
    checkpoint, lm = _newest(run)
    if run.start().rank:
        fuse_adapters(lm)
    write_weights(target, lm, run.files(), compact=compact)
    return checkpoint


def _newest(run: RunFolder) -> tuple[Path, KameLM]:
    """Returns a run's newest checkpoint and the model with its weights. Raises ModelError."""
    found = checkpoints(run.folder)
    if not found:
        raise ModelError(f"The run in {run.folder} has no checkpoint yet. Train it first.")
    lm = run.model()
    load_weights(found[-1], lm)
    return found[-1], lm


_LEAST_COLUMNS = 64


def save_compact(state: Mapping[str, torch.Tensor], path: Path) -> None:
    """Writes weights to `path`: wide matrices as int8, everything else as float16."""
    out: dict[str, torch.Tensor] = {}
    for name, value in state.items():
        value = value.detach().float()
        if value.dim() == 2 and value.shape[1] >= _LEAST_COLUMNS:
            scale = (value.abs().amax(1) / 127).clamp(min=1e-8).half().float().clamp(min=2**-24)
            out[name] = (value / scale[:, None]).round().clamp(-127, 127).to(torch.int8)
            out[name + SCALE] = scale.half()
        else:
            out[name] = value.half()
    save_file({name: value.contiguous() for name, value in out.items()}, path)


def write_weights(target: Path, lm: KameLM, files: CheckpointFiles, *, compact: bool = False) -> None:
    """Writes weights in bfloat16, with the config, codec and vocabulary of `files`.

    `compact`: writes eight-bit weights, readable only by this app, and a vocabulary that does not need sentencepiece.
    Raises ModelError if the result can't be read back.
    """
    target.mkdir(parents=True, exist_ok=True)
    if compact:
        save_compact(lm.state_dict(), target / LM_NAME)
        write_pieces(files.tokenizer, target)
    else:
        state = {name: value.detach().to(torch.bfloat16).contiguous() for name, value in lm.state_dict().items()}
        save_file(state, target / LM_NAME)
    copied = [files.mimi, files.tokenizer]
    if compact and is_voice_codec(files.mimi):
        save_codec(load_codec(files.mimi), target / files.mimi.name, decoder=False)
        copied.remove(files.mimi)
    for path in copied:
        if path.resolve() != (target / path.name).resolve():
            shutil.copyfile(path, target / path.name)
    names = {
        "model_type": "kame",
        "moshi_name": LM_NAME,
        "mimi_name": files.mimi.name,
        "tokenizer_name": files.tokenizer.name,
    }
    if files.mimi_config is not None:
        names["mimi_config_name"] = "codec.json"
        (target / "codec.json").write_text(json.dumps(files.mimi_config, indent=1) + "\n", "utf-8")
    written = {**names, **(files.lm_config or {}), "lm_gen_config": files.generation}
    (target / CONFIG_NAME).write_text(json.dumps(written, indent=1) + "\n", "utf-8")
    read_layout(target)


def write_pieces(model: Path, target: Path) -> None:
    """Converts a SentencePiece vocabulary to the format that `app.research.nano.frontend` reads."""
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.read_bytes())
    scored = [(pieces.id_to_piece(token), pieces.get_score(token)) for token in range(pieces.vocab_size())]
    unigram(scored, pieces.unk_id()).save(str(target / PIECES_NAME), pretty=False)


def evaluate_run(
    run: RunFolder, corpora: Sequence[Corpus], progress: Callable[[str], None] = lambda line: None
) -> dict[str, float]:
    """Returns the mean losses over all dialogues; `…_without` are those with the oracle removed. Raises ModelError."""
    checkpoint, lm = _newest(run)
    settings = read_settings(checkpoint)
    losses = LossFunction(lm.eval(), settings.weights, run.silence())
    return mean_losses(lm, losses, Batches(corpora, 4, 0), settings.train_audio, progress)


@torch.no_grad()
def mean_losses(
    lm: KameLM, losses: LossFunction, batches: Batches, audio: bool, progress: Callable[[str], None]
) -> dict[str, float]:
    """Returns the mean losses over one epoch."""
    sums: dict[str, float] = {}
    for step in range(len(batches)):
        tokens = batches.at(step).to(lm.device)
        silent = tokens.clone()
        silent[:, -1] = torch.where(silent[:, -1] >= 0, lm.text_padding_token_id, silent[:, -1])
        for name, given in (("", tokens), ("_without", silent)):
            found = losses(given, audio=audio and not name).parts()
            sound = ("first_book", "other_books") if audio and not name else ()
            for key in ("words", "padding", "right_words", *sound):
                sums[key + name] = sums.get(key + name, 0.0) + found[key]
        progress(f"{step + 1} of {len(batches)} batches")
    return {name: total / len(batches) for name, total in sums.items()}


SHOWN = ("words", "padding", "first_book", "other_books")
"""The losses in the figure."""
POINTS = 300
"""Maximum number of points per curve; each point is the mean over consecutive steps."""


def read_curves(path: Path) -> list[dict[str, float]]:
    """Reads the lines of a run's curves, skipping any that was truncated when the run stopped."""
    lines = []
    for text in path.read_text("utf-8").splitlines():
        try:
            lines.append(json.loads(text))
        except ValueError:
            continue
    return lines


def bar(line: dict[str, float], steps: int, seconds_left: float) -> str:
    """Formats one step as a terminal line with a progress bar."""
    hours, minutes = divmod(round(seconds_left / 60), 60)
    return (
        f"{progress_bar(int(line['step']), steps)} {line['step']:,.0f}/{steps:,}  loss {line['loss']:.3f}  words "
        f"{line['words']:.3f} ({line['right_words']:.0%} right)  first {line['first_book']:.2f}  others "
        f"{line['other_books']:.2f}  {line['frames_per_second']:,.0f} frames/s  {hours} h {minutes:02} min left"
    )


def figure(lines: Sequence[dict[str, float]], file: Path) -> bool:
    """Plots the losses over the steps into an SVG file. Returns False without matplotlib."""

    def plot(axes: Any) -> None:
        groups = np.array_split(np.arange(len(lines)), min(POINTS, len(lines)) or 1)
        for name in SHOWN if lines else ():
            means = [[np.mean([lines[place][key] for place in group]) for group in groups] for key in ("step", name)]
            axes.plot(*means, label=f"{name.replace('_', ' ')} {means[1][-1]:.3f}", gid=name)
        axes.set(xlabel="step", ylabel="loss", ylim=(0, None))

    return draw(file, "Losses", plot)


_ACTIVATIONS = {"bf16": 130.0, "fp32": 180.0}
"""Bytes of activations per unit of layer width and position, with adapters. Measured on a CPU with the 7B model's
shape at a quarter of its width, rank 32, 128 and 256 frames."""
_BESIDE = 1.15
"""Factor for the additional memory of a step beyond weights and moments, from the same measurement."""


@dataclass(frozen=True, slots=True)
class Cost:
    """A cost estimate.

    - `weights`, `trained`: the number of all weights, and of those that are trained
    - `memory`: bytes per process
    - `operations`: total for the run
    """

    weights: int
    trained: int
    memory: float
    operations: float

    def sentence(self) -> str:
        """Returns the estimate as text."""
        return (
            f"{self.weights / 1e6:,.1f} M weights, {self.trained / 1e6:,.1f} M of them trained; about "
            f"{self.memory / 1e9:.1f} GB of memory in each process, {self.operations:.1e} operations in all."
        )


def cost_of(lm: KameLM, settings: TrainSettings, frames: int, processes: int = 1) -> Cost:
    """Estimates a run over dialogues of `frames` frames.

    Memory consists of the weights in float32 (in bf16 also a bfloat16 copy) and a gradient and two moments for the
    trained ones, all divided among the processes, plus the activations. Operations are six per trained weight and
    frame, and four per frozen one.
    """
    weights = sum(value.numel() for value in lm.parameters())
    trained = sum(value.numel() for value in lm.parameters() if value.requires_grad)
    layers, depth_layers = len(lm.transformer.layers), len(lm.depformer.layers) if lm.depformer is not None else 0
    positions = settings.batch * frames
    depth_width = lm.depformer_text_emb.embedding_dim if lm.depformer_text_emb is not None else 0
    bf16 = settings.precision == "bf16"
    share = settings.weights.audio_share if settings.train_audio else 0.0
    activations = _ACTIVATIONS[settings.precision] * positions
    activations *= layers * lm.dim + share * depth_layers * lm.dep_q * depth_width
    activations += 4.0 * positions * (lm.text_card + share * lm.dep_q * lm.card) * 2
    copies = 2.0 * weights if bf16 else 0.0
    memory = _BESIDE * ((4.0 * weights + 12.0 * trained + copies) / processes) + activations
    used = sum(value.numel() for name, value in lm.named_parameters() if "emb" not in name)
    operations = (4.0 * used + 2.0 * min(used, trained)) * positions * settings.steps * processes
    return Cost(weights, trained, memory, operations)
