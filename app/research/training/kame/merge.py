"""Writes what a run has learnt as a folder of weights that `talk --frontend kame --weights FOLDER` loads."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from safetensors.torch import save_file

from app.frontend.kame.codec.codec_file import is_voice_codec, load_codec, save_codec
from app.frontend.kame.compact import save_compact
from app.frontend.kame.model import KameLM
from app.models.errors import ModelError
from app.models.layout import CONFIG_NAME, LM_NAME, CheckpointFiles, read_layout
from app.research.nano.pieces import PIECES_NAME, unigram
from app.research.training.kame.adapters import fuse_adapters
from app.research.training.kame.checkpoints import checkpoints, load_weights
from app.research.training.kame.run_folder import RunFolder


def merge_run(run: RunFolder, target: Path, *, compact: bool = False) -> Path:
    """Writes the weights of a run's newest checkpoint to `target`; returns the checkpoint. Raises ModelError.

    `compact`: as for `write_weights`.
    """
    found = checkpoints(run.folder)
    if not found:
        raise ModelError(f"The run in {run.folder} has no checkpoint yet. Train it first.")
    lm = run.model()
    load_weights(found[-1], lm)
    if run.start().rank:
        fuse_adapters(lm)
    files = run.files()
    write_weights(target, lm, run.config(), files, files.generation, compact=compact)
    return found[-1]


def write_weights(
    target: Path,
    lm: KameLM,
    config: dict[str, Any],
    files: CheckpointFiles,
    generation: dict[str, Any],
    *,
    compact: bool = False,
) -> None:
    """Writes weights in bfloat16 with their config, and the codec and the vocabulary of `files`.

    `config`: the arguments of the model's class; `generation`: those of the generator. `compact`: in eight bits, which
    only this app reads, and with the vocabulary in a form that needs no package of its own. Raises ModelError when
    what was written can't be read.
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
    written = {**names, **config, "lm_gen_config": generation}
    (target / CONFIG_NAME).write_text(json.dumps(written, indent=1) + "\n", "utf-8")
    read_layout(target)


def write_pieces(model: Path, target: Path) -> None:
    """Writes a SentencePiece vocabulary in the form that `app.research.nano.pieces` reads."""
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.read_bytes())
    scored = [(pieces.id_to_piece(token), pieces.get_score(token)) for token in range(pieces.vocab_size())]
    unigram(scored, pieces.unk_id()).save(str(target / PIECES_NAME), pretty=False)
