"""The loss of KAME's training, as published, over all frames of a batch of dialogues.

mean(text, words) + 0.5 mean(text, padding) + audio (100 Σ first codebook + Σ others) / (100 n_first + n_others)

Moshi's public trainer has (Σ words + 0.5 Σ padding) / (n_words + 0.5 n_padding) in place of the first two. The oracle
is only read: there is no loss on it, nor on the user's codes. All means are over the dialogues of all processes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from moshi.models.lm_utils import _delay_sequence
from torch import distributed, nn
from torch.nn import functional as F

from app.frontend.kame.model import KameLM
from app.research.training.kame.run_folder import LossWeights

_LEAST = 1e-6  # in place of a count of none
SPEECH_WEIGHT = 10.0
"""How much likelier a frame of speech takes part in the audio's loss than a silent one, where not all do."""

OWN_TEMPERATURE = 0.7
"""Temperature at which the model chooses codes in training in place of the true ones."""


@dataclass(slots=True)
class Losses:
    """The parts of a step's loss. `total` has the graph; all others are detached means."""

    total: torch.Tensor
    words: torch.Tensor
    padding: torch.Tensor
    first_book: torch.Tensor
    other_books: torch.Tensor
    right_words: torch.Tensor
    """Share of the words' tokens that were the most likely."""


@dataclass(slots=True)
class Inputs:
    """A batch as the model sees it: what it is given at each step, and what it should choose there."""

    given: torch.Tensor
    oracle: torch.Tensor
    wanted: torch.Tensor


def inputs_of(lm: KameLM, tokens: torch.Tensor) -> Inputs:
    """Splits `tokens`, `[B, text + own + user + oracle, T]` with -1 where there is none, into inputs and targets.

    At each step the model gets the columns before it, and at the first step the start tokens; the oracle's first is
    padding, as in a session (the package's `forward` would give it a start token).
    """
    codes, oracle = tokens[:, :-1], tokens[:, -1:]
    initial = lm._get_initial_token().expand(len(codes), -1, -1)
    delayed = _delay_sequence(lm.delays, codes, initial)
    given = torch.cat([initial, delayed[:, :, :-1]], dim=2)
    first = torch.full_like(oracle[:, :, :1], lm.text_padding_token_id)
    return Inputs(given, torch.cat([first, oracle[:, :, :-1]], dim=2), delayed)


class LossFunction(nn.Module):
    """Computes the losses of batches of dialogues, `[B, text + own + user + oracle, T]`.

    `silence`: the own codes of a silent frame, which `audio_share` below 1 needs. `compiled`: with torch's compiler.
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
        """The losses of a batch. `audio`: off, only the text is trained. `seed` draws the frames of `audio_share`."""
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
        """The means of the first codebook's and of the others' losses, and both as the loss weighs them."""
        lm, weights = self.lm, self._weights
        batch, streams, steps = wanted.shape
        columns = wanted.transpose(1, 2).reshape(batch * steps, streams)
        out = out.reshape(batch * steps, -1)
        if weights.audio_share < 1:
            places = self._places(columns, weights.audio_share, seed)
            columns, out = columns[places], out[places]
        own = columns[:, 1 : 1 + lm.dep_q]
        # A delayed codebook starts with the initial token, which is no code; -1 is none either.
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
        """Puts the codes that the model would have chosen in place of a share of the own codes that it is given.

        All are chosen at once after the true ones before them (parallel scheduled sampling, Duckworth et al., 2019).
        """
        lm = self.lm
        batch, streams, steps = inputs.wanted.shape
        columns = inputs.wanted.transpose(1, 2).reshape(batch * steps, streams)
        places = self._places(columns, share, seed + 1)
        out, _ = self._temporal(inputs.given, oracle_tokens=inputs.oracle)
        logits = self._depth(columns[places].T[None], out.reshape(batch * steps, -1)[places][None])[0].float()
        # Autocast keeps the weights that it cast here, without a graph: they would get no gradient from the loss.
        torch.clear_autocast_cache()
        numbers = torch.Generator().manual_seed(seed)
        # The largest of logits with Gumbel's noise on them is a draw by their softmax.
        noise = torch.rand(logits.shape, generator=numbers).clamp(min=1e-9).log().neg().log().neg().to(logits.device)
        chosen = (logits + OWN_TEMPERATURE * noise).argmax(-1).T
        own = columns[places, 1 : 1 + lm.dep_q]
        columns[places, 1 : 1 + lm.dep_q] = torch.where((own >= 0) & (own < lm.card), chosen, own)
        given = columns.reshape(batch, steps, streams)[:, :-1, 1 : 1 + lm.dep_q].transpose(1, 2)
        inputs.given[:, 1 : 1 + lm.dep_q, 1:] = given

    def _places(self, columns: torch.Tensor, share: float, seed: int) -> torch.Tensor:
        """The places of a share of the frames, drawn so that frames of speech are likelier than silent ones.

        The largest of u^(1/w) for random u are a draw with weights w (Efraimidis and Spirakis, 2006).
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
    """The mean of a count over all processes: their gradients are averaged, so this makes one mean of all dialogues."""
    if not distributed.is_initialized():
        return count
    count = count.clone()
    distributed.all_reduce(count)
    return count / distributed.get_world_size()
