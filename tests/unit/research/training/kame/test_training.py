"""Training: the published loss, exact resuming, adapters, several processes, and weights that the app loads."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from app.cli.parser import main
from app.frontend.kame.engine.checkpoint import build_lm, load
from app.frontend.kame.engine.generator import KameGen
from app.frontend.kame.oracle_feed import OracleQueue
from app.models.catalogue import ModelError
from app.models.layout import read_layout
from app.research.corpus.tokens import Corpus, Layout, open_corpus
from app.research.training.kame.report import mean_losses, read_curves
from app.research.training.kame.run import (
    LossFunction,
    LossWeights,
    TrainSettings,
    add_adapters,
    fuse_adapters,
    inputs_of,
)
from app.research.training.kame.trainer import CURVES, Batches, Trainer, checkpoints
from tests.support.closed_network import run_closed, why_not
from tests.support.tables import cases
from tests.support.tiny_kame import LM, make_checkpoint

pytestmark = pytest.mark.slow
SHAPE = {**LM, "num_layers": 1, "depformer_num_layers": 1}


def model(adapters: int = 0):
    torch.manual_seed(0)
    lm = build_lm(dict(SHAPE), torch.device("cpu"), torch.float32)
    if adapters:
        add_adapters(lm, adapters, 2.0)
    return lm


def write_corpus(folder: Path, dialogues: int = 12, frames: int = 24, seed: int = 0, *, uneven: bool = False) -> Corpus:
    """Dialogues in which the text repeats the oracle three frames later. `uneven`: some have few words, some many."""
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    corpus = Corpus(folder, Layout(8, 8, 3, SHAPE["text_card"]))
    rows = []
    for number in range(dialogues):
        tokens = np.full((18, frames), 7)  # the sound tells nothing
        oracle = np.where(
            random.random(frames) < (0.1 + 0.8 * (number % 2) if uneven else 0.5), random.integers(10, 30, frames), 3
        )
        tokens[-1], tokens[0] = oracle, np.concatenate([[3, 3, 3], oracle[:-3]])
        rows.append(tokens)
    corpus.add("00000", rows)
    return corpus


SETTINGS = TrainSettings(steps=6, batch=3, rate=1e-3, warm_up=2, save_every=3, precision="fp32")


def numpy_loss(lm, tokens: torch.Tensor, weights: LossWeights) -> float:
    """The loss by its formulas, in float64 and loops, from the model's logits."""
    with torch.no_grad():
        inputs = inputs_of(lm, tokens)
        out, text = lm.forward_text(inputs.given, oracle_tokens=inputs.oracle)
        sound = lm.forward_depformer_training(inputs.wanted, out)

    def entropy(logits: torch.Tensor, target: int) -> float:
        values = logits.double().numpy()
        return float(np.log(np.exp(values - values.max()).sum()) + values.max() - values[target])

    words, padding, first, others = [], [], [], []
    wanted = inputs.wanted.numpy()
    for item, step in np.ndindex(wanted.shape[0], wanted.shape[2]):
        token = int(wanted[item, 0, step])
        if token >= 0:
            silent = token == 3 or (weights.one_text_mean and token == 0)
            (padding if silent else words).append(entropy(text[item, 0, step], token))
        for book in range(8):
            code = int(wanted[item, 1 + book, step])
            if 0 <= code < lm.card:
                (others if book else first).append(entropy(sound[item, book, step], code))
    assert len(first) == 18 and len(others) == 7 * 17, "a delayed codebook has no code in its first frame"
    spoken = np.mean(words) + weights.padding * np.mean(padding)
    if weights.one_text_mean:
        spoken = (sum(words) + weights.padding * sum(padding)) / (len(words) + weights.padding * len(padding))
    audio = (weights.first_book * sum(first) + sum(others)) / (weights.first_book * len(first) + len(others))
    return float(spoken + weights.audio * audio)


def random_tokens() -> torch.Tensor:
    tokens = torch.randint(4, 60, (2, 18, 10), generator=torch.Generator().manual_seed(3))
    tokens[:, 0, ::2] = 3
    tokens[:, 0, 5] = 0
    tokens[1, :, 8:] = -1  # shorter than the other
    return tokens


@cases("weights", LossWeights(), LossWeights(audio=1.5), LossWeights(one_text_mean=True, first_book=4.0))
def test_the_loss_is_the_published_one(weights: LossWeights) -> None:
    lm, tokens = model().eval(), random_tokens()
    with torch.no_grad():
        found = float(LossFunction(lm, weights)(tokens).total)
    assert found == pytest.approx(numpy_loss(lm, tokens, weights), rel=1e-6)


def test_a_share_of_its_own_codes_is_given_as_the_model_would_choose_them() -> None:
    lm, tokens = model(), random_tokens()
    plain, mixed = LossFunction(lm, LossWeights()), LossFunction(lm, LossWeights(own_share=0.5))
    before, given, true = tokens.clone(), inputs_of(lm, tokens), inputs_of(lm, tokens)
    mixed._give_own(given, 1.0, seed=1)
    own = given.given[:, 1:9] != true.given[:, 1:9]
    known = (true.given[:, 1:9] >= 0) & (true.given[:, 1:9] < lm.card)
    assert own[known].float().mean() > 0.8 and not own[~known].any(), "only codes, and nothing that is no code"
    others = [0, *range(9, 17)]
    assert torch.equal(given.given[:, others], true.given[:, others]) and torch.equal(given.wanted, true.wanted)
    assert torch.equal(tokens, before)
    with torch.no_grad():
        lm.train()
        first, second = float(mixed(tokens, seed=1).total), float(mixed(tokens, seed=2).total)
        assert len({first, second, float(plain(tokens).total)}) == 3
        assert float(mixed(tokens, seed=1).total) == first, "the seed draws the frames and the codes"
        lm.eval()
        assert float(mixed(tokens).total) == float(plain(tokens).total), "where nothing is learnt all codes are true"


def test_every_weight_is_trained_in_bf16_too_where_its_own_codes_are_given() -> None:
    lm = model().train()
    with torch.autocast("cpu", torch.bfloat16):
        LossFunction(lm, LossWeights(own_share=0.5))(random_tokens()).total.backward()
    assert [name for name, value in lm.named_parameters() if value.grad is None] == []


@torch.no_grad()
def test_a_session_gives_the_logits_that_were_trained() -> None:
    lm = model().eval()
    tokens = torch.randint(4, 60, (1, 18, 30), generator=torch.Generator().manual_seed(4))
    tokens[:, -1, :6] = 3
    tokens[:, -1, 6] = lm.text_initial_token_id
    tokens[:, -1, 20:] = 3
    inputs = inputs_of(lm, tokens)
    _, trained = lm.forward_text(inputs.given, oracle_tokens=inputs.oracle)
    seen: list[torch.Tensor] = []
    step = 0

    def choose(text: torch.Tensor) -> None:
        text.copy_(inputs.wanted[:, 0, step])

    def speak(codes: torch.Tensor) -> None:
        codes.copy_(inputs.wanted[:, 1:9, step])

    generator = KameGen(
        lm,
        use_sampling=False,
        support_out_of_sync=True,
        on_text_logits_hook=lambda logits: seen.append(logits[0, 0, 0].clone()),
        on_text_hook=choose,
        on_audio_hook=speak,
    )
    padding, start = lm.text_padding_token_id, lm.text_initial_token_id
    queue = OracleQueue(start=start, padding=padding, vocabulary=lm.text_card)
    with generator.streaming(1):
        for step in range(30):
            if step == 7:  # what a column was trained with, a session gives in the step after it
                queue.push(tokens[0, -1, 7:20].tolist(), reset=True)
            codes = tokens[:, 9:17, max(0, step - 1)][..., None]
            generator.step_with(codes, torch.full((1, 1, 1), queue.take()))
    assert (torch.stack(seen) - trained[0, 0]).abs().max() < 1e-4


@pytest.mark.parametrize("adapters", [0, 4])
def test_a_run_that_was_stopped_goes_on_to_the_bit(tmp_path: Path, adapters: int) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    whole, first, second = model(adapters), model(adapters), model(adapters)
    Trainer(whole, Batches([corpus], 3, 0), SETTINGS, tmp_path / "whole").run()
    stopped = Trainer(first, Batches([corpus], 3, 0), SETTINGS, tmp_path / "stopped")
    stopped.run(lambda: stopped.step == 4)
    resumed = Trainer(second, Batches([open_corpus(corpus.folder)], 3, 0), SETTINGS, tmp_path / "stopped")
    resumed.resume()
    assert resumed.step == 4
    resumed.run()
    weights = (one.state_dict().values() for one in (whole, second))
    assert all(torch.equal(a, b) for a, b in zip(*weights, strict=True))
    losses = [[line["loss"] for line in read_curves(tmp_path / name / CURVES)] for name in ("whole", "stopped")]
    assert losses[0] == losses[1]
    assert len(checkpoints(tmp_path / "stopped")) == 2


def test_adapters_change_nothing_at_first_train_nothing_else_and_are_fused(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    tokens = Batches([corpus], 3, 0).at(0)
    plain, adapted = model(), model(4)
    before = adapted.state_dict()
    frozen = {name: value.clone() for name, value in before.items() if "lora" not in name and "oracle" not in name}
    with torch.no_grad():
        first, second = (LossFunction(one, LossWeights())(tokens).total for one in (plain, adapted))
        assert torch.equal(first, second)
    Trainer(adapted, Batches([corpus], 3, 0), SETTINGS, tmp_path / "run").run()
    after = adapted.state_dict()
    assert all(torch.equal(value, after[name]) for name, value in frozen.items())
    assert not torch.equal(after["oracle_emb.weight"], plain.state_dict()["oracle_emb.weight"])
    with torch.no_grad():
        learnt = LossFunction(adapted, LossWeights())(tokens).total
        fuse_adapters(adapted)
        assert float(LossFunction(adapted, LossWeights())(tokens).total) == pytest.approx(float(learnt), rel=1e-5)
    assert set(adapted.state_dict()) == set(plain.state_dict())


def test_it_learns_to_say_what_the_oracle_says(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus", dialogues=60, frames=40)
    lm = model()
    settings = TrainSettings(
        steps=150, batch=12, rate=5e-3, final_rate=0.1, warm_up=10, precision="fp32", train_audio=False, save_every=1000
    )
    Trainer(lm, Batches([corpus], 12, 0), settings, tmp_path / "run").run()
    losses = LossFunction(lm.eval(), LossWeights())
    others = write_corpus(tmp_path / "others", dialogues=24, frames=40, seed=1)
    found = mean_losses(lm, losses, Batches([others], 12, 1), False, lambda line: None)
    assert found["right_words"] > 0.9 and found["right_words_without"] < 0.3


def test_damaged_shards_and_missing_corpora_are_named(tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    shard = corpus.folder / "00000.npz"
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(ModelError, match=r"00000\.npz"):
        Batches([corpus], 1, 0)
    with pytest.raises(ModelError, match="no corpus"):
        open_corpus(tmp_path)


def run_app(capsys: pytest.CaptureFixture[str], words: str) -> str:
    capsys.readouterr()
    code = main(words.split())
    said = capsys.readouterr()
    assert code == 0, said.err
    return said.out


@pytest.mark.parametrize("options", ["--fresh", "--lora 2"])
def test_the_commands_train_what_the_app_loads(
    tmp_path: Path, options: str, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = make_checkpoint(tmp_path / "weights", lm={"num_layers": 1, "depformer_num_layers": 1})
    write_corpus(tmp_path / "corpus")
    run, corpus = tmp_path / "run", tmp_path / "corpus"
    run_app(capsys, f"train init {run} --from {weights} {options}")
    run_app(capsys, f"train run {run} --corpus {corpus} --steps 4 --batch 2 --save-every 2 --device cpu")
    run_app(capsys, f"train merge {run} {tmp_path / 'merged'}")
    measured = json.loads(run_app(capsys, f"train eval {run} --corpus {corpus} --json"))
    assert measured["ok"] and measured["words"] > 0
    assert (tmp_path / "run" / "curves.svg").exists()
    loaded = load(read_layout(tmp_path / "merged"), device="cpu", dtype=torch.float32)
    assert loaded.learnt_oracle and loaded.pieces.vocab_size() > 0
    run_app(capsys, f"train merge {run} {tmp_path / 'compact'} --compact")
    sizes = [(tmp_path / name / "model.safetensors").stat().st_size for name in ("merged", "compact")]
    assert sizes[1] < 0.6 * sizes[0]
    small = load(read_layout(tmp_path / "compact"), device="cpu", dtype=torch.float32).lm.state_dict()
    for name, value in loaded.lm.state_dict().items():
        assert (small[name] - value).abs().max() <= 0.01 * value.abs().max() + 1e-6, name


@pytest.mark.skipif(sys.platform == "win32", reason="torchrun needs Linux here")
def test_two_processes_learn_what_one_learns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = make_checkpoint(tmp_path / "weights", lm={"num_layers": 1, "depformer_num_layers": 1})
    corpus = write_corpus(tmp_path / "corpus", uneven=True).folder
    words = f"--corpus {corpus} --steps 4 --rate 0.01 --warm-up 1 --precision fp32 --device cpu"
    for name in ("one", "two"):
        run_app(capsys, f"train init {tmp_path / name} --from {weights}")
    run_app(capsys, f"train run {tmp_path / 'one'} {words} --batch 4")
    launcher = f"{sys.executable} -m torch.distributed.run --nproc-per-node 2 -m app"
    _run_apart(f"{launcher} train run {tmp_path / 'two'} {words} --batch 2".split())
    assert [line["step"] for line in read_curves(tmp_path / "two" / CURVES)] == [1, 2, 3, 4]
    one, two = (
        json.loads(run_app(capsys, f"train eval {tmp_path / name} --corpus {corpus} --json")) for name in ("one", "two")
    )
    for name in ("words", "padding", "first_book", "other_books"):
        assert two[name] == pytest.approx(one[name], rel=1e-4), name
    run_app(capsys, f"train merge {tmp_path / 'two'} {tmp_path / 'merged'}")
    assert load(read_layout(tmp_path / "merged"), device="cpu", dtype=torch.float32).learnt_oracle


def _run_apart(command: list[str]) -> None:
    """Runs torchrun in a network of its own where there can be one: it asks the name server for loopback's name."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    if not why_not():
        closed = run_closed(command, environment, timeout=300)
        assert closed.code == 0, closed.output[-2000:]
        return
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
