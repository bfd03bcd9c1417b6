"""What a run trains and how: its folder and settings, adapters, and the loss published for KAME.

Adapters are low-rank (LoRA, arXiv 2106.09685) and use the layers of the moshi package. The loss is computed over all
frames of a batch of dialogues:

mean(text, words) + 0.5 mean(text, padding) + audio (100 Σ first codebook + Σ others) / (100 n_first + n_others)

Moshi's public trainer has (Σ words + 0.5 Σ padding) / (n_words + 0.5 n_padding) in place of the first two terms. The
oracle and the user's codes are inputs only and have no loss. All means are over the dialogues of all processes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import torch
from moshi.models.lm_utils import _delay_sequence
from moshi.modules.lora import LoRALinear, replace_all_linear_with_lora, replace_lora_with_linear
from torch import distributed, nn
from torch.nn import functional as F

from app.frontend.kame.engine.checkpoint import build_lm, load
from app.frontend.kame.engine.model import KameLM
from app.models.catalogue import ModelError
from app.models.layout import CheckpointFiles, read_layout
from app.platform.files import write_json
from app.research.nano.voice_codec import is_voice_codec, load_codec
from app.research.results import unreadable


@dataclass(frozen=True, slots=True)
class LossWeights:
    """Weights of the loss. The defaults are the public trainer's; the paper reports a factor of 1.5 for `audio`.

    - `padding`: weight of text padding
    - `first_book`: weight of the first codebook, against 1 for each other one
    - `audio_share`: share of a batch's frames in the audio loss, preferring speech; 1 takes all
    - `one_text_mean`: words and padding share one weighted mean, as in Moshi's public trainer (KAME's has two); the
      token before a word then counts as padding
    - `own_share`: share of frames, mostly speech, whose own codes are replaced by the model's choices, since in a
      session it conditions on its own output, mistakes included
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

    - `batch`: dialogues per step
    - `final_rate`: share of the rate at the last step, reached along a cosine; 1 keeps it constant
    - `precision`: "bf16" computes in bfloat16 with float32 weights; "fp32" computes in float32
    - `compile`: uses torch's compiler, which is about 1.7 times as fast but takes a minute to start and on a CPU needs
      a C compiler
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
"""Trained in full in addition to the adapters: a model initialised from Moshi has to learn it."""


def add_adapters(lm: KameLM, rank: int, scaling: float) -> None:
    """Adds an adapter to each matrix and freezes the rest except the oracle's embedding.

    Initially, outputs are unchanged.
    """
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
    """Merges the adapters into their matrices in place, which restores the plain model class."""
    with torch.no_grad():
        replace_lora_with_linear(lm)


_RUN = "run.json"


@dataclass(frozen=True, slots=True)
class Start:
    """The starting point of a run. `weights`: a folder of weights, whose codec and vocabulary are kept.

    `fresh`: uses only codec, vocabulary and shape of the folder, with random weights. `rank`: the rank of the adapters;
    0 trains all weights.
    """

    weights: str
    fresh: bool = False
    rank: int = 0
    scaling: float = 2.0
    seed: int = 0


class RunFolder:
    """A run stored in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self, start: Start) -> None:
        """Creates the run. Raises ModelError if the weights are unusable or the folder already has a run."""
        if (self.folder / _RUN).exists():
            raise ModelError(f"There is a run in {self.folder} already. Go on with it, or choose another folder.")
        read_layout(start.weights)
        write_json(self.folder / _RUN, asdict(start), indent=1)

    def start(self) -> Start:
        """Reads the run's starting point. Raises ModelError."""
        with unreadable(ModelError, f"There is no run in {self.folder}. Begin one with “train init”."):
            return Start(**json.loads((self.folder / _RUN).read_text("utf-8")))

    def files(self) -> CheckpointFiles:
        """Returns the files that the run starts from. Raises ModelError."""
        return read_layout(self.start().weights, quickly=True)

    def model(self) -> KameLM:
        """Returns the initial model of the run, on the CPU in float32, with adapters if it has any."""
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
        """Returns the own codes of a silent frame; None if the codec has no fixed ones."""
        path = self.files().mimi
        return load_codec(path).silence if is_voice_codec(path) else None


_LEAST = 1e-6  # replaces a count of 0
SPEECH_WEIGHT = 10.0
"""How much likelier a speech frame is to be sampled than a silent one, when only a share of the frames is used."""

OWN_TEMPERATURE = 0.7
"""Sampling temperature of the model's own codes under `own_share`."""


@dataclass(slots=True)
class Losses:
    """The parts of a step's loss. `total` has the graph; all others are detached means."""

    total: torch.Tensor
    words: torch.Tensor
    padding: torch.Tensor
    first_book: torch.Tensor
    other_books: torch.Tensor
    right_words: torch.Tensor
    """Share of word tokens predicted correctly."""

    def parts(self) -> dict[str, float]:
        """Returns all parts, including the total, keyed by name."""
        return {field.name: float(getattr(self, field.name).detach()) for field in fields(self)}


@dataclass(slots=True)
class Inputs:
    """A batch as the model sees it: the inputs and the target of each step."""

    given: torch.Tensor
    oracle: torch.Tensor
    wanted: torch.Tensor


def inputs_of(lm: KameLM, tokens: torch.Tensor) -> Inputs:
    """Splits `tokens`, `[B, text + own + user + oracle, T]` with -1 for missing tokens, into inputs and targets.

    At each step the model gets the preceding column; at the first step, it gets start tokens, except for the oracle,
    whose first token is padding as in a session (the package's `forward` would use a start token).
    """
    codes, oracle = tokens[:, :-1], tokens[:, -1:]
    initial = lm._get_initial_token().expand(len(codes), -1, -1)
    delayed = _delay_sequence(lm.delays, codes, initial)
    given = torch.cat([initial, delayed[:, :, :-1]], dim=2)
    first = torch.full_like(oracle[:, :, :1], lm.text_padding_token_id)
    return Inputs(given, torch.cat([first, oracle[:, :, :-1]], dim=2), delayed)


class LossFunction(nn.Module):
    """Computes the losses of batches of dialogues, `[B, text + own + user + oracle, T]`.

    `silence`: the own codes of a silent frame, required for an `audio_share` below 1. `compiled`: uses torch's
    compiler.
    """

    def __init__(
        self, lm: KameLM, weights: LossWeights, silence: tuple[int, ...] | None = None, *, compiled: bool = False
    ) -> None:
        super().__init__()
        self.lm = lm
        self._weights, self._silence = weights, silence
        self._temporal: Callable[..., Any] = lm.forward_text
        self._depth: Callable[..., Any] = lm.forward_depformer_training
        if compiled:
            self._temporal = torch.compile(self._temporal, dynamic=False)
            self._depth = torch.compile(self._depth, dynamic=False)

    def forward(self, tokens: torch.Tensor, *, audio: bool = True, seed: int = 0) -> Losses:
        """Returns the losses of a batch. `audio`: if False, only the text is trained.

        `seed`: for sampling the frames of `audio_share` and `own_share`.
        """
        lm, weights = self.lm, self._weights
        inputs = inputs_of(lm, tokens)
        if audio and weights.own_share and lm.training:
            self._give_own(inputs, weights.own_share, seed)
        out, text_logits = self._temporal(inputs.given, oracle_tokens=inputs.oracle)
        text = inputs.wanted[:, 0]
        logits = text_logits[:, 0].float()
        entropy = F.cross_entropy(logits.transpose(1, 2), text.clamp(min=0), reduction="none")
        known = text >= 0
        silent = text == lm.text_padding_token_id
        if weights.one_text_mean:
            silent |= text == lm.end_of_text_padding_id
        word, padding = known & ~silent, known & silent
        words, pads = _mean(entropy, word), _mean(entropy, padding)
        total = words + weights.padding * pads
        if weights.one_text_mean:
            weight = word + weights.padding * padding
            total = (entropy * weight).sum() / _over_processes(weight.sum())
        first = others = torch.zeros((), device=total.device)
        if audio:
            first, others, sound = self._audio(inputs.wanted, out, seed)
            total = total + weights.audio * sound
        with torch.no_grad():
            right = _mean((logits.argmax(-1) == text).float(), word)
        return Losses(total, words.detach(), pads.detach(), first.detach(), others.detach(), right)

    def _audio(
        self, wanted: torch.Tensor, out: torch.Tensor, seed: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Returns the mean losses of the first codebook and of the others, and their weighted combination."""
        lm, weights = self.lm, self._weights
        batch, streams, steps = wanted.shape
        columns = wanted.transpose(1, 2).reshape(batch * steps, streams)
        out = out.reshape(batch * steps, -1)
        if weights.audio_share < 1:
            places = self._places(columns, weights.audio_share, seed)
            columns, out = columns[places], out[places]
        own = columns[:, 1 : 1 + lm.dep_q]
        # Neither the initial token of a delayed codebook nor -1 is a code.
        known = (own >= 0) & (own < lm.card)
        logits = self._depth(columns.T[None], out[None])  # [1, books, places, card]
        entropy = F.cross_entropy(logits[0].float().permute(1, 2, 0), own.clamp(0, lm.card - 1), reduction="none")
        entropy = entropy * known
        counts = _over_processes(known.sum(0).float())
        first, others = entropy[:, 0].sum(), entropy[:, 1:].sum()
        n_first, n_others = counts[0], counts[1:].sum()
        sound = (weights.first_book * first + others) / (weights.first_book * n_first + n_others).clamp(min=_LEAST)
        return first / n_first.clamp(min=_LEAST), others / n_others.clamp(min=_LEAST), sound

    @torch.no_grad()
    def _give_own(self, inputs: Inputs, share: float, seed: int) -> None:
        """Replaces a share of the own input codes by the model's own choices.

        All are sampled in one pass from the true history (parallel scheduled sampling, Duckworth et al., 2019).
        """
        lm = self.lm
        batch, streams, steps = inputs.wanted.shape
        columns = inputs.wanted.transpose(1, 2).reshape(batch * steps, streams)
        places = self._places(columns, share, seed + 1)
        out, _ = self._temporal(inputs.given, oracle_tokens=inputs.oracle)
        logits = self._depth(columns[places].T[None], out.reshape(batch * steps, -1)[places][None])[0].float()
        # Autocast caches the weights cast here without a graph; the loss would give them no gradient.
        torch.clear_autocast_cache()
        numbers = torch.Generator().manual_seed(seed)
        # The argmax of logits with Gumbel noise is a sample from their softmax.
        noise = torch.rand(logits.shape, generator=numbers).clamp(min=1e-9).log().neg().log().neg().to(logits.device)
        chosen = (logits + OWN_TEMPERATURE * noise).argmax(-1).T
        own = columns[places, 1 : 1 + lm.dep_q]
        columns[places, 1 : 1 + lm.dep_q] = torch.where((own >= 0) & (own < lm.card), chosen, own)
        given = columns.reshape(batch, steps, streams)[:, :-1, 1 : 1 + lm.dep_q].transpose(1, 2)
        inputs.given[:, 1 : 1 + lm.dep_q, 1:] = given

    def _places(self, columns: torch.Tensor, share: float, seed: int) -> torch.Tensor:
        """Samples the indices of a share of the frames, with speech likelier than silence.

        The indices of the largest u^(1/w), for uniform u, are a sample with weights w (Efraimidis and Spirakis, 2006).
        """
        own = columns[:, 1 : 1 + self.lm.dep_q]
        quiet = (own < 0).all(1)
        if self._silence is not None:
            quiet |= (own == torch.tensor(self._silence, device=own.device)).all(1)
        random = torch.rand(len(columns), generator=torch.Generator().manual_seed(seed)).to(columns.device)
        order = random ** torch.where(quiet, 1.0, 1 / SPEECH_WEIGHT)
        return order.topk(max(1, round(len(columns) * share))).indices


def _mean(values: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
    return (values * where).sum() / _over_processes(where.sum().float()).clamp(min=_LEAST)


def _over_processes(count: torch.Tensor) -> torch.Tensor:
    """Returns the mean of a count over all processes.

    Gradients are averaged, so this gives one mean over all dialogues.
    """
    if not distributed.is_initialized():
        return count
    count = count.clone()
    distributed.all_reduce(count)
    return count / distributed.get_world_size()
