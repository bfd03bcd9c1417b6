"""Small checkpoints in the hub's layout, made on the spot: random weights, the true files and names."""

import json
from pathlib import Path
from typing import Any

from app.frontend.kame.engine.card_steps.checkpoint import pieces_model
from app.frontend.kame.engine.random_weights import TINY_LM as LM
from app.frontend.kame.engine.random_weights import TINY_MIMI as MIMI

SMALL_MIMI: dict[str, Any] = {
    **MIMI,
    "seanet": {**MIMI["seanet"], "n_residual_layers": 0},
    "quantizer": {**MIMI["quantizer"], "n_q": 2},
}
"""A codec with the fewest parts that its rates allow."""
SMALL_LM: dict[str, Any] = {
    "n_q": 2,
    "dep_q": 1,
    "delays": [0, 0, 1],
    "num_layers": 1,
    "depformer_num_layers": 1,
    "dim": 64,
    "depformer_dim": 32,
    "depformer_dim_feedforward": 132,
    "depformer_context": 1,
}
"""One code a side: where the streams' number doesn't matter, since a processor counts every call."""


def make_checkpoint(
    folder: Path,
    *,
    oracle: bool = True,
    seed: int = 0,
    config: bool = True,
    lm: dict[str, Any] | None = None,
    mimi: dict[str, Any] | None = None,
    dtype: str = "float32",
) -> Path:
    """A folder like `SakanaAI/kame`'s (or, without `oracle`, like Moshi's), with random weights."""
    import torch
    from moshi.models import loaders
    from moshi.models.lm import LMModel
    from safetensors.torch import save_file

    from app.frontend.kame.engine.model import KameLM

    folder.mkdir(parents=True, exist_ok=True)
    arguments = {**LM, **(lm or {})}
    torch.manual_seed(seed)
    model = (KameLM if oracle else LMModel)(device="cpu", dtype=getattr(torch, dtype), **arguments)
    save_file({name: value.contiguous() for name, value in model.state_dict().items()}, folder / "model.safetensors")
    codec = make_mimi(seed, mimi or MIMI)
    save_file({name: value.contiguous() for name, value in codec.state_dict().items()}, folder / loaders.MIMI_NAME)
    (folder / loaders.TEXT_TOKENIZER_NAME).write_bytes(pieces_model(arguments["text_card"]))
    (folder / "mimi.json").write_text(json.dumps(mimi or MIMI), "utf-8")
    if config:
        (folder / "config.json").write_text(
            json.dumps(
                {
                    **arguments,
                    "moshi_name": "model.safetensors",
                    "mimi_name": loaders.MIMI_NAME,
                    "mimi_config_name": "mimi.json",
                    "tokenizer_name": loaders.TEXT_TOKENIZER_NAME,
                    "lora_name": None,
                    "model_type": "moshi",
                    "lm_gen_config": {"temp": 0.8, "temp_text": 0.7},
                }
            ),
            "utf-8",
        )
    return folder


def make_files(folder: Path) -> Path:
    """A folder with the same files, whole in themselves, without a model in them: for what loads none."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, size in (("model.safetensors", 300_000), ("mimi.safetensors", 90_000)):
        header = json.dumps({"weights": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
        (folder / name).write_bytes(len(header).to_bytes(8, "little") + header + bytes(range(256)) * (size // 256 + 1))
    (folder / "pieces.model").write_bytes(bytes(2500))
    (folder / "mimi.json").write_text(json.dumps(MIMI), "utf-8")
    names = {"mimi_name": "mimi.safetensors", "mimi_config_name": "mimi.json", "tokenizer_name": "pieces.model"}
    (folder / "config.json").write_text(json.dumps({**LM, "moshi_name": "model.safetensors", **names}), "utf-8")
    return folder


def make_mimi(seed: int, config: dict[str, Any]) -> Any:
    """A small codec whose codes depend on what it hears."""
    import torch
    from moshi.models import loaders

    torch.manual_seed(seed)
    mimi = loaders.get_mimi(None, config, device="cpu", num_codebooks=config["quantizer"]["n_q"])
    with torch.no_grad():
        # As in training, the entries are taken from what the encoder gives: so that codes follow the sound.
        sound = torch.randn(1, 1, 1920 * 200) * torch.rand(200).repeat_interleave(1920)
        for name, weight in mimi.encoder.named_parameters():
            weight.mul_(0.0 if name.endswith("bias") else 2.0)
        latent = mimi._encode_to_unquantized_latent(sound)
        for part in (mimi.quantizer.rvq_first, mimi.quantizer.rvq_rest):
            rest = part.input_proj(latent)[0].T
            for layer in part.vq.layers:
                book = layer._codebook
                entries = rest[torch.randperm(len(rest))[: book.embedding_sum.shape[0]]]
                book.embedding_sum.copy_(entries)
                book.cluster_usage.fill_(1.0)
                rest = rest - entries[torch.cdist(rest, entries).argmin(dim=1)]
    return mimi
