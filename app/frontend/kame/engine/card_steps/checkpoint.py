"""Writes checkpoints with random weights in the hub's layout, one tensor at a time, so that the published size needs
little memory."""

from __future__ import annotations

import io
import json
import math
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import torch
from safetensors.torch import save_file

from app.frontend.kame.engine.checkpoint import build_lm
from app.frontend.kame.engine.random_weights import TINY_LM, TINY_MIMI, Size, random_mimi
from app.models.layout import CONFIG_NAME, LM_NAME, MIMI_NAME, TOKENIZER_NAME

BLOCK = 1 << 22
"""The number of random values that are drawn for each deviation, and then repeated."""
SENTENCES = """
The capital of France is Paris, and it lies on the river Seine.
Hello there! How can I help you today? I would say that it depends.
Plants turn light, water and air into sugar; we call it photosynthesis.
Seven times eight is fifty-six, and 5,895 metres is the height of Kilimanjaro.
The Fitzwilliam Museum is in Cambridge. Its doors open at ten o'clock.
Quick brown foxes jump over lazy dogs because nobody vexes the wizard's ox.
""".strip().splitlines()
"""The sentences that the vocabulary is made of."""


def write_checkpoint(folder: Path, size: Size) -> Path:
    """Writes KAME's files with random bf16 weights; returns `folder`. Raises OSError, for example on a full disk."""
    folder.mkdir(parents=True, exist_ok=True)
    config = dict(TINY_LM) if size == "tiny" else None
    _write_lm(folder / LM_NAME, config)
    mimi = random_mimi(size, torch.device("cpu"), 8)
    save_file({name: value.contiguous() for name, value in mimi.state_dict().items()}, folder / MIMI_NAME)
    (folder / TOKENIZER_NAME).write_bytes(pieces_model())
    if config is not None:
        (folder / "mimi.json").write_text(json.dumps(TINY_MIMI), "utf-8")
        (folder / CONFIG_NAME).write_text(json.dumps({**config, "mimi_config_name": "mimi.json"}), "utf-8")
    return folder


def checkpoint_bytes(size: Size) -> int:
    """Returns the size of the language model's file, in bytes."""
    return sum(2 * math.prod(shape) for shape in _shapes(dict(TINY_LM) if size == "tiny" else None).values())


def pieces_model(vocabulary: int = 400, kind: str = "unigram") -> bytes:
    """Returns a small SentencePiece model, with Moshi's numbers for padding and the like. `kind`: unigram or bpe."""
    import sentencepiece

    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES * 3),
        model_writer=out,
        vocab_size=vocabulary,
        model_type=kind,
        byte_fallback=True,
        hard_vocab_limit=False,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=3,
        minloglevel=2,
        num_threads=1,
    )
    return out.getvalue()


def _shapes(config: dict[str, Any] | None) -> dict[str, tuple[int, ...]]:
    lm = build_lm(config, torch.device("meta"), torch.bfloat16)
    return {name: tuple(value.shape) for name, value in lm.state_dict().items()}


def _write_lm(path: Path, config: dict[str, Any] | None) -> None:
    shapes = _shapes(config)
    header: dict[str, Any] = {}
    at = 0
    for name, shape in shapes.items():
        end = at + 2 * math.prod(shape)
        header[name] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, end]}
        at = end
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = torch.Generator().manual_seed(0)
    blocks: dict[float, memoryview] = {}
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for shape in shapes.values():
            # As `random_models` does: so that all values of a step stay finite.
            deviation = shape[-1] ** -0.5 if len(shape) > 1 else 0.0
            if deviation not in blocks:
                values = torch.empty(BLOCK).normal_(0, deviation, generator=random) if deviation else torch.ones(BLOCK)
                blocks[deviation] = memoryview(values.bfloat16().view(torch.uint8).numpy())
            _write_repeated(file, blocks[deviation], 2 * math.prod(shape))


def _write_repeated(file: BinaryIO, block: memoryview, count: int) -> None:
    for size in _parts(count, len(block)):
        file.write(block[:size])


def _parts(count: int, most: int) -> Iterator[int]:
    while count > 0:
        yield min(count, most)
        count -= most
