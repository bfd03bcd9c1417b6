"""Nano KAME's engine in numpy chooses the same tokens as the engine in torch, and makes the same sound."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from app.frontend.kame.checkpoint import build_lm, load_whole
from app.frontend.kame.engine import Engine
from app.models.catalogue import ModelError
from app.models.locations import model_path
from app.research.nano.codec_layout import CODEC_VOICE
from app.research.nano.frontend import PIECES_NAME, NanoEngine, Sampling, read_pieces
from app.research.nano.model import CodeVoice, Hearing, NanoModel, read_weights
from app.research.nano.voice_codec import VoiceCodec, load_codec, save_codec
from app.research.training.kame.report import save_compact, write_pieces
from app.research.training.nano.start import NANO_LM
from tests.support.tiny_kame import pieces_model

pytestmark = pytest.mark.slow

FRAMES = 40
SHAPE = {
    **NANO_LM,
    "dim": 64,
    "num_heads": 2,
    "num_layers": 2,
    "text_card": 300,
    "context": 24,
    "depformer_dim": 64,
    "depformer_dim_feedforward": 128,
    "depformer_num_heads": 2,
    "depformer_num_layers": 2,
}
GREEDY = Sampling(temp=0.0, temp_text=0.0)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model and a codec with random weights, as `train merge --compact` writes them."""
    folder = tmp_path_factory.mktemp("nano")
    torch.manual_seed(0)
    lm = build_lm(dict(SHAPE), torch.device("cpu"), torch.float32)
    save_compact(lm.state_dict(), folder / "model.safetensors")
    codec = VoiceCodec()
    with torch.no_grad():
        for quantiser in (codec.own, codec.heard):
            quantiser.basis.normal_(0, 0.05)
            quantiser.books.normal_()
    save_codec(codec, folder / "codec.safetensors", decoder=False)
    return folder


def nano_engine(files: Path, sampling: Sampling = GREEDY) -> NanoEngine:
    weights, codec = read_weights(files / "model.safetensors"), read_weights(files / "codec.safetensors")
    return NanoEngine(NanoModel(weights, SHAPE), Hearing(codec), CodeVoice(codec, model_path(CODEC_VOICE)), sampling)


def sounds() -> np.ndarray:
    return (np.random.default_rng(1).standard_normal((FRAMES, 1920)) * 0.05).astype(np.float32)


def test_it_steps_as_torch_does_beyond_the_end_of_its_context(files: Path) -> None:
    lm = build_lm(dict(SHAPE), torch.device("cpu"), torch.float32)
    lm.load_state_dict(load_whole(files / "model.safetensors"))
    codec = load_codec(files / "codec.safetensors")
    nano = nano_engine(files)
    with Engine(lm.float().eval(), codec, sampling={"use_sampling": False}) as engine:
        assert engine.silence == nano.silence and engine.tokens == nano.tokens
        spoke = 0
        for number, samples in enumerate(sounds()):
            if number in (5, 20):
                engine.oracle.push([7, 8, 9], reset=True)
                nano.oracle.push([7, 8, 9], reset=True)
            if number == 30:
                engine.force_silence()
                nano.force_silence()
            ours, theirs = nano.step(samples), engine.step(samples)
            assert ours.column == theirs.column, number
            assert np.abs(ours.samples - theirs.samples).max() < 1e-3, number
            assert nano.oracle.taken == engine.oracle.taken and nano.oracle.rest == engine.oracle.rest
            spoke += bool(np.abs(ours.samples).max() > 0)
        assert spoke > 20 and not ours.samples.any(), "silence was forced"
        assert nano.full == engine.full and nano.steps == engine.steps


def test_replayed_columns_leave_the_stream_as_if_they_had_been_said(files: Path) -> None:
    first, again = nano_engine(files), nano_engine(files)
    steps = [first.step(samples) for samples in sounds()]
    for step, samples in zip(steps[:20], sounds(), strict=False):
        assert again.encode(samples) == step.column.user
        again.replay(step.column)
    assert [again.step(samples).column for samples in sounds()[20:]] == [step.column for step in steps[20:]]
    first.restart()
    assert first.step(sounds()[0]).column == steps[0].column


def test_weights_for_a_card_are_refused_with_a_sentence(files: Path, tmp_path: Path) -> None:
    weights = read_weights(files / "model.safetensors")
    with pytest.raises(ModelError, match="graphics card"):
        NanoModel(weights, {**SHAPE, "delays": [0, *[1] * 12]})
    lm = build_lm(dict(SHAPE), torch.device("cpu"), torch.bfloat16)
    from safetensors.torch import save_file

    save_file(dict(lm.state_dict()), tmp_path / "model.safetensors")
    with pytest.raises(ModelError, match="--compact"):
        read_weights(tmp_path / "model.safetensors")


def test_the_vocabulary_without_sentencepiece_gives_the_same_tokens(tmp_path: Path) -> None:
    import sentencepiece

    model = tmp_path / "pieces.model"
    model.write_bytes(pieces_model())
    theirs = sentencepiece.SentencePieceProcessor(model_proto=model.read_bytes())
    write_pieces(model, tmp_path)
    ours = read_pieces(tmp_path)
    assert ours.vocab_size() == theirs.vocab_size()
    texts = ["Anna lives in Rome.", "  The  code is four, seven!", "Zoë pays 12€ — naïve?", "日本", "", "x"]
    for text in texts:
        tokens = theirs.encode(text)
        assert ours.encode(text) == tokens
        assert ours.decode(tokens).strip() == theirs.decode(tokens).strip()
        assert [ours.id_to_piece(token) for token in tokens] == [theirs.id_to_piece(token) for token in tokens]
    (tmp_path / PIECES_NAME).write_text("{}")
    with pytest.raises(ModelError, match=PIECES_NAME):
        read_pieces(tmp_path)
