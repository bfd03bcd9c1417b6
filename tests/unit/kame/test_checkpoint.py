"""Checkpoints in the hub's layout: what loads, and what is said of what doesn't."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from moshi.models import loaders
from moshi.models.lm import LMGen
from moshi.modules.lora import replace_all_linear_with_lora
from safetensors.torch import load_file, save_file

from app.frontend.kame.engine.checkpoint import Loaded, build_lm, load
from app.frontend.kame.engine.generator import KameGen
from app.frontend.kame.engine.model import KameLM
from app.models.catalogue import ModelError
from app.models.fit import shape_of
from app.models.layout import read_layout
from app.models.manifest import MANIFEST_NAME, sha256_of
from tests.support.tiny_kame import LM, make_checkpoint

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("made")
    return {
        "kame": make_checkpoint(root / "kame"),
        "moshi": make_checkpoint(root / "moshi", oracle=False, dtype="bfloat16"),
    }


@pytest.fixture
def folder(made: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(made["kame"], tmp_path / "weights"))


def load_cpu(folder: Path, **more: Any) -> Loaded:
    return load(read_layout(folder), device="cpu", **{"dtype": torch.float32, **more})


def steps(gen: LMGen, count: int = 30) -> list[torch.Tensor | None]:
    torch.manual_seed(0)
    user = torch.randint(0, 64, (1, 8, count))
    with gen.streaming(1):
        return [gen.step(user[:, :, i : i + 1]) for i in range(count)]


def same(a: list[torch.Tensor | None], b: list[torch.Tensor | None]) -> bool:
    return [None if t is None else t.tolist() for t in a] == [None if t is None else t.tolist() for t in b]


def test_kames_layout_loads_with_all_its_weights(made: dict[str, Path]) -> None:
    loaded = load_cpu(made["kame"])
    assert loaded.learnt_oracle and not loaded.lm.training and loaded.generation == {"temp": 0.8, "temp_text": 0.7}
    saved = load_file(made["kame"] / "model.safetensors")
    assert saved.keys() == loaded.lm.state_dict().keys()
    assert all(torch.equal(value, saved[name]) for name, value in loaded.lm.state_dict().items())
    assert loaded.mimi.num_codebooks == 8 and loaded.pieces.vocab_size() <= LM["text_card"]
    assert not any(p.is_meta or p.requires_grad for p in loaded.lm.parameters())


@pytest.mark.parametrize("sampling", [False, True])
def test_moshis_layout_is_moshi_token_for_token(made: dict[str, Path], sampling: bool) -> None:
    stock = loaders.get_moshi_lm(
        made["moshi"] / "model.safetensors", lm_kwargs=dict(LM), device="cpu", dtype=torch.bfloat16
    )
    ours = load_cpu(made["moshi"], dtype=torch.bfloat16)
    assert not ours.learnt_oracle
    a = steps(LMGen(stock, use_sampling=sampling))
    assert same(a, steps(KameGen(ours.lm, use_sampling=sampling)))


def test_without_a_config_it_is_moshis(made: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    legacy = Path(shutil.copytree(made["moshi"], tmp_path / "legacy"))
    (legacy / "config.json").unlink()
    state = load_file(legacy / "model.safetensors")
    # The oldest files keep a layer's projections for all steps in one matrix.
    for name in [name for name in state if ".in_projs.0." in name or ".out_projs.0." in name]:
        parts = [
            state.pop(name.replace("projs.0", f"projs.{i}"))
            for i in range(8)
            if name.replace("projs.0", f"projs.{i}") in state
        ]
        old = name.replace("in_projs.0.weight", "in_proj_weight").replace("out_projs.0.", "out_proj.")
        state[old] = torch.cat(parts)
    save_file(state, legacy / "model.safetensors")
    files = read_layout(legacy)
    assert files.lm_config is None
    with pytest.raises(ModelError, match=r"doesn't fit its config: .* should be \["):
        load(files, device="cpu")  # the published 7B's shape, which these aren't
    monkeypatch.setattr(loaders, "_lm_kwargs", LM)
    monkeypatch.setattr(loaders, "_mimi_config", json.loads((legacy / "mimi.json").read_text()))
    new = load_cpu(made["moshi"], dtype=torch.bfloat16).lm.state_dict()
    old_way = load(files, device="cpu", dtype=torch.bfloat16).lm.state_dict()
    assert all(torch.equal(value, old_way[name]) for name, value in new.items())


def test_a_lora_is_fused(folder: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config |= {"lora": True, "lora_rank": 4, "lora_scaling": 2.0, "lora_name": "lora.safetensors"}
    (folder / "config.json").write_text(json.dumps(config))
    base = load_cpu_plain(folder)
    torch.manual_seed(5)
    replace_all_linear_with_lora(base, 4, 2.0)
    lora = {name: torch.randn_like(value) * 0.05 for name, value in base.state_dict().items() if "lora_" in name}
    save_file(lora, folder / "lora.safetensors")
    loaded = load_cpu(folder)
    assert not any("lora_A" in name for name in loaded.lm.state_dict())
    base.load_state_dict(lora, strict=False)
    codes = torch.randint(0, 64, (1, 17, 10))
    with torch.no_grad():
        wanted, got = base.eval()(codes).text_logits, loaded.lm(codes).text_logits
    assert torch.allclose(wanted, got, atol=1e-4)


def load_cpu_plain(folder: Path) -> torch.nn.Module:
    lm = build_lm(dict(LM), torch.device("cpu"), torch.float32)
    lm.load_state_dict(load_file(folder / "model.safetensors"))
    return lm


def test_a_shorter_context_and_smaller_matrices_can_be_had(made: dict[str, Path]) -> None:
    loaded = load_cpu(made["kame"], context=100, precision="int8")
    assert loaded.lm.context == 100
    assert steps(KameGen(loaded.lm, use_sampling=False))[-1] is not None


def _edit_config(**changes: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **changes}))

    return edit


def _edit_tensors(change: Callable[[dict[str, torch.Tensor]], None], name: str = "model.safetensors") -> Any:
    def edit(folder: Path) -> None:
        state = load_file(folder / name)
        change(state)
        save_file(state, folder / name)

    return edit


def _cut(name: str, to: float) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        data = (folder / name).read_bytes()
        (folder / name).write_bytes(data[: int(len(data) * to)])

    return edit


def _wrong_hash(folder: Path) -> None:
    path = folder / "model.safetensors"
    known = {path.name: {"size": path.stat().st_size, "sha256": sha256_of(path), "mtime_ns": 1}}
    (folder / MANIFEST_NAME).write_text(json.dumps({"files": known}))
    data = bytearray(path.read_bytes())
    data[-5] ^= 1
    path.write_bytes(data)


MIMI = loaders.MIMI_NAME
FAULTS: dict[str, tuple[Callable[[Path], None], str]] = {
    "no weights": (lambda f: (f / "model.safetensors").unlink(), r"model\.safetensors is missing"),
    "no codec": (lambda f: (f / MIMI).unlink(), rf"{MIMI} is missing"),
    "no pieces": (lambda f: (f / loaders.TEXT_TOKENIZER_NAME).unlink(), r"tokenizer_spm_32k_3\.model is missing"),
    "cut weights": (_cut("model.safetensors", 0.7), r"model\.safetensors is cut short: it has [\d,]+ of [\d,]+ bytes"),
    "cut header": (_cut("model.safetensors", 0.001), r"model\.safetensors is cut short"),
    "empty": (_cut("model.safetensors", 0), r"model\.safetensors is cut short"),
    "cut codec": (_cut(MIMI, 0.5), rf"{MIMI} is cut short"),
    "cut pieces": (_cut(loaders.TEXT_TOKENIZER_NAME, 0.3), r"is damaged: it is no SentencePiece model"),
    "noise": (lambda f: (f / "model.safetensors").write_bytes(b"\x10\0\0\0\0\0\0\0" + b"x" * 99), r"header can't be"),
    "wrong shape": (
        _edit_tensors(lambda s: s.update({"oracle_emb.weight": torch.zeros(7, 128)})),
        r"model\.safetensors doesn't fit its config: oracle_emb\.weight is \[7, 128\] and should be \[401, 128\]",
    ),
    "lacking": (_edit_tensors(lambda s: s.pop("text_linear.weight")), r"lacks text_linear\.weight"),
    "too many": (_edit_tensors(lambda s: s.update(other=torch.zeros(1))), r"holds what the model doesn't know: other"),
    "codec's shape": (
        _edit_tensors(lambda s: s.update({next(iter(s)): torch.zeros(1)}), MIMI),
        rf"{MIMI} doesn't fit its config",
    ),
    "wrong hash": (_wrong_hash, r"model\.safetensors is not the file that was downloaded"),
    "pickle": (_edit_config(moshi_name="model.pt"), r"model\.pt is not a safetensors file"),
    "outside": (_edit_config(moshi_name="../../etc/passwd.safetensors"), r"points to a file outside"),
    "absolute": (_edit_config(mimi_name="C:\\x.safetensors"), r"points to a file outside"),
    "no name": (_edit_config(moshi_name=7), r"which is no name"),
    "translator": (_edit_config(model_type="hibiki"), r"“hibiki” model, which doesn't converse"),
    "quantised": (_edit_config(quantize=True), r"is quantised already"),
    "unknown argument": (_edit_config(gating="sparkling"), r"describes no model that this app can build"),
    "no json": (lambda f: (f / "config.json").write_text("{"), r"config\.json in .* can't be read as JSON"),
    "a list": (lambda f: (f / "config.json").write_text("[]"), r"not of the form that is expected"),
    "no folder": (shutil.rmtree, r"is not there, so no weights can be loaded"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named_in_a_sentence_and_nothing_is_half_loaded(fault: str, folder: Path) -> None:
    break_it, sentence = FAULTS[fault]
    if fault == "pickle":
        torch.save({"model": {}}, folder / "model.pt")
    break_it(folder)
    with pytest.raises(ModelError, match=sentence) as caught:
        load_cpu(folder)
    words = str(caught.value)
    assert words.endswith(".") and "\n" not in words


def test_a_pickle_is_never_opened(folder: Path, tmp_path: Path) -> None:
    class Bomb:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "exploded",))

    torch.save({"model": Bomb()}, folder / "bomb.pt")
    _edit_config(moshi_name="bomb.pt")(folder)
    with pytest.raises(ModelError, match="pickles"):
        load_cpu(folder)
    assert not (tmp_path / "exploded").exists()


def test_the_published_shape_is_built_with_the_published_number_of_parameters() -> None:
    model = build_lm(None, torch.device("meta"), torch.bfloat16)
    assert sum(p.numel() for p in model.parameters()) == 7_818_805_248
    counted = sum(p.numel() for name, p in model.named_parameters() if "norm" not in name)
    assert shape_of(None).parameters == counted


def test_the_arithmetic_is_that_of_a_real_model() -> None:
    model = KameLM(device="meta", dtype=torch.bfloat16, **LM)
    counted = sum(p.numel() for name, p in model.named_parameters() if "norm" not in name)
    assert shape_of(LM).parameters == counted
