"""Creates the folder that training a Nano KAME starts from: a voice's codec, a vocabulary, and a model shape.

The codec's quantisers are fitted by principal components, then by k-means on the residual for each codebook. The shape
has KAME's streams and parts, small enough for two cores.
"""

from __future__ import annotations

import io
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sentencepiece
import torch
from safetensors.torch import save_file

from app.frontend.kame.engine.checkpoint import build_lm
from app.frontend.kame.engine.random_weights import TINY_LM
from app.models.layout import CONFIG_NAME, LM_NAME
from app.research.nano.latents import LatentVoice
from app.research.nano.voice_codec import (
    LATENTS,
    MelState,
    ResidualQuantiser,
    VoiceCodec,
    decoder_weights,
    save_codec,
)
from app.research.training.nano.answers import CORRECTIONS, FILLERS, UNKNOWN, WAITING
from app.research.training.nano.dialogues import Speaker, speak_questions
from app.research.training.nano.facts import CITIES, NAMES, draw_fact

NANO_LM: dict[str, Any] = {
    **TINY_LM,
    "dim": 384,
    "text_card": 2000,
    "n_q": 12,
    "card": 1024,
    "num_heads": 6,
    "num_layers": 8,
    "hidden_scale": 4.0,
    "context": 384,
    "depformer_dim": 192,
    "depformer_dim_feedforward": 768,
    "depformer_num_heads": 3,
    "depformer_num_layers": 3,
    "delays": [0] * 13,
}
"""Twelve streams of codes: eight of the model's own voice, four of the user's. No stream is delayed: a voice's codec
yields all codes of a frame together, and a delay would be audible."""

GENERATION: dict[str, Any] = {"temp": 0.0, "temp_text": 0.3, "top_k": 50, "top_k_text": 10}
"""Sampling parameters: text at a lower temperature than Moshi's, audio codes greedily, since a small model's
unlikely tokens are mistakes. Of the facts in the oracle, 95 % were recognised in the speech, against 88 % at a
temperature of 0.3."""


ROUNDS = 30
"""Iterations of Lloyd's algorithm per codebook."""
_CHUNK = 16_384


def fit_quantiser(
    quantiser: ResidualQuantiser, vectors: torch.Tensor, report: Callable[[int, float], None] = lambda book, left: None
) -> list[float]:
    """Fits `quantiser` to `vectors`, `[N, size]`, and returns the share of variance left after each codebook.

    `report` is called after each codebook with its index and that share.
    """
    random = torch.Generator().manual_seed(0)
    components = quantiser.basis.shape[1]
    quantiser.mean.copy_(vectors.mean(0))
    centred = vectors - quantiser.mean
    variance = centred.square().sum(1).mean()
    # eigh gives the largest eigenvalues last.
    basis = torch.linalg.eigh(centred.T @ centred / len(centred)).eigenvectors.flip(1)[:, :components]
    quantiser.basis.copy_(basis)
    rest = centred @ basis
    lost = variance - rest.square().sum(1).mean()
    left = []
    for index, book in enumerate(quantiser.books):
        entries = book[quantiser.reserved :] if index == 0 else book
        entries.copy_(_k_means(rest, len(entries), random))
        rest = rest - entries[_nearest(rest, entries)]
        left.append(float((lost + rest.square().sum(1).mean()) / variance))
        report(index, left[-1])
    return left


def _k_means(points: torch.Tensor, entries: int, random: torch.Generator) -> torch.Tensor:
    """Returns `entries` centres of `points` by Lloyd's algorithm from random ones; empty centres move to distant
    points.
    """
    centres = points[torch.randperm(len(points), generator=random)[:entries]].clone()
    for _ in range(ROUNDS):
        nearest = _nearest(points, centres)
        counts = torch.bincount(nearest, minlength=entries)
        sums = torch.zeros_like(centres).index_add_(0, nearest, points)
        centres = torch.where(counts[:, None] > 0, sums / counts[:, None].clamp(min=1), centres)
        empty = (counts == 0).nonzero()[:, 0]
        if len(empty):
            far = (points - centres[nearest]).square().sum(1).topk(len(empty)).indices
            centres[empty] = points[far]
    return centres


def _nearest(points: torch.Tensor, centres: torch.Tensor) -> torch.Tensor:
    squares = centres.square().sum(1)
    return torch.cat([(squares - 2 * chunk @ centres.T).argmin(1) for chunk in points.split(_CHUNK)])


CODEC_NAME, PIECES_NAME = "codec.safetensors", "pieces.model"
FACTS = 600
"""Number of answers the codec is fitted to, in addition to the texts."""
QUESTIONS = 400
"""Number of spoken questions that the codec of the user's audio is fitted to."""

LONGEST_PIECE = 4
"""Maximum characters per piece, including a leading space. A piece arrives as it is spoken, so short pieces indicate
the next sounds; with long ones the model would have to memorise the sound of whole words."""

Progress = Callable[[str], None]


def make_start(
    folder: Path,
    voice: Path,
    texts: Sequence[str],
    speakers: Sequence[tuple[float, Speaker]],
    progress: Progress = lambda line: None,
) -> dict[str, list[float]]:
    """Writes the folder and returns the shares of variance left by the codec's codebooks. Raises VoiceError.

    - `voice`: the model file of a Piper voice
    - `texts`: sentences the codec and the vocabulary are fitted to, in addition to the facts
    - `speakers`: speakers of the user's questions
    """
    folder.mkdir(parents=True, exist_ok=True)
    draw = random.Random(0)
    answers = [draw_fact(draw, test=False).answer for _ in range(12_000)]
    codec = VoiceCodec()
    codec.load_state_dict({**codec.state_dict(), **decoder_weights(voice)})
    with torch.no_grad():
        spoken = _latents(voice, [*texts, *answers[:FACTS], *FILLERS, *WAITING, *UNKNOWN, *CORRECTIONS], progress)
        left = {"own": fit_quantiser(codec.own, spoken, lambda book, rest: progress(f"own codebook {book + 1}"))}
        facts = [draw_fact(draw, test=False) for _ in range(QUESTIONS)]
        heard = _features(codec, [question.samples for question in speak_questions(facts, speakers, 1, progress)])
        left["heard"] = fit_quantiser(codec.heard, heard, lambda book, rest: progress(f"heard codebook {book + 1}"))
    save_codec(codec, folder / CODEC_NAME)
    (folder / PIECES_NAME).write_bytes(_pieces([*answers, *texts, *texts, *texts]))
    torch.manual_seed(0)
    lm = build_lm(dict(NANO_LM), torch.device("cpu"), torch.float32)
    with torch.no_grad():
        # Oracle, input and output share one embedding at the start. This makes copying, which is all that the model has
        # to do with words, easy to learn.
        lm.oracle_emb.weight.copy_(lm.text_emb.weight)
        lm.text_linear.weight.copy_(lm.text_emb.weight[: lm.text_linear.out_features])
    save_file({name: value.bfloat16() for name, value in lm.state_dict().items()}, folder / LM_NAME)
    names = {"model_type": "kame", "moshi_name": LM_NAME, "mimi_name": CODEC_NAME, "tokenizer_name": PIECES_NAME}
    config = {**names, **NANO_LM, "lm_gen_config": GENERATION}
    (folder / CONFIG_NAME).write_text(json.dumps(config, indent=1) + "\n", "utf-8")
    return left


def _latents(voice: Path, texts: Sequence[str], progress: Progress) -> torch.Tensor:
    """Returns the voice's latents by frame, `[frames, 7 x 192]`."""
    rows = []
    with LatentVoice(voice) as speaking:
        for number, text in enumerate(texts):
            latents, _ = speaking.speak(text)
            padded = np.pad(latents, ((0, -len(latents) % LATENTS), (0, 0)))
            rows.append(padded.reshape(-1, LATENTS * latents.shape[1]))
            if number % 50 == 0:
                progress(f"latents: {number} of {len(texts)}")
    return torch.from_numpy(np.concatenate(rows))


def _features(codec: VoiceCodec, sounds: Sequence[np.ndarray]) -> torch.Tensor:
    """Returns the mel features of sounds at many levels, with noise, `[frames, 512]`."""
    random_numbers = np.random.default_rng(0)
    rows = []
    for samples in sounds:
        whole = np.pad(samples, (1920, -len(samples) % 1920 + 1920))
        gain, noise = 10 ** (random_numbers.uniform(-14, 4) / 20), 10 ** (random_numbers.uniform(-75, -45) / 20)
        mixed = whole * gain + random_numbers.standard_normal(len(whole), np.float32) * noise
        state = MelState.initial(1, torch.device("cpu"))
        rows.append(codec.mel(torch.from_numpy(mixed.astype(np.float32))[None], state)[0])
    return torch.cat(rows)


def _pieces(texts: Sequence[str]) -> bytes:
    """Trains a SentencePiece vocabulary of at most the model's size, with short pieces and single digits."""
    out = io.BytesIO()
    phrases = [*FILLERS, *WAITING, *UNKNOWN, *CORRECTIONS] * 20
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*texts, *NAMES, *CITIES, *phrases]),
        model_writer=out,
        vocab_size=NANO_LM["text_card"],
        model_type="unigram",
        split_digits=True,
        max_sentencepiece_length=LONGEST_PIECE,
        byte_fallback=True,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=NANO_LM["existing_text_padding_id"],
        character_coverage=1.0,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return out.getvalue()
