"""Measures a run's newest checkpoint on a corpus: the losses, and the right text with and without the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from app.frontend.kame.model import KameLM
from app.models.errors import ModelError
from app.research.corpus.shards import Corpus
from app.research.training.kame.batches import Batches
from app.research.training.kame.checkpoints import checkpoints, load_weights, read_settings
from app.research.training.kame.loss import LossFunction
from app.research.training.kame.run_folder import RunFolder


def evaluate_run(
    run: RunFolder, corpora: Sequence[Corpus], progress: Callable[[str], None] = lambda line: None
) -> dict[str, float]:
    """The mean losses over all dialogues; `…_without` are those with the oracle taken away. Raises ModelError."""
    found = checkpoints(run.folder)
    if not found:
        raise ModelError(f"The run in {run.folder} has no checkpoint yet. Train it first.")
    lm = run.model()
    load_weights(found[-1], lm)
    settings = read_settings(found[-1])
    losses = LossFunction(lm.eval(), settings.weights, run.silence())
    return mean_losses(lm, losses, Batches(corpora, 4, 0), settings.train_audio, progress)


@torch.no_grad()
def mean_losses(
    lm: KameLM, losses: LossFunction, batches: Batches, audio: bool, progress: Callable[[str], None]
) -> dict[str, float]:
    """The mean losses over one epoch."""
    sums: dict[str, float] = {}
    for step in range(len(batches)):
        tokens = batches.at(step).to(lm.device)
        silent = tokens.clone()
        silent[:, -1] = torch.where(silent[:, -1] >= 0, lm.text_padding_token_id, silent[:, -1])
        for name, given in (("", tokens), ("_without", silent)):
            found = losses(given, audio=audio and not name)
            values = {"words": found.words, "padding": found.padding, "right_words": found.right_words}
            if audio and not name:
                values |= {"first_book": found.first_book, "other_books": found.other_books}
            for key, value in values.items():
                sums[key + name] = sums.get(key + name, 0.0) + float(value)
        progress(f"{step + 1} of {len(batches)} batches")
    return {name: total / len(batches) for name, total in sums.items()}
